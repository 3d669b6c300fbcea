//===- ScalarProducts.cpp - Products that end in one number ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No matrix instruction sums over all of its elements: such a product is one of
// elements and a reduction.
//
//===----------------------------------------------------------------------===//

#include "ScalarProducts.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// `value`, whose dimension i is dimension `map[i]` of the product, with the
/// dimensions of the product in order; of extent 1 where it has none.
static Value spread(OpBuilder &b, Location loc, Value value, AffineMap map, ArrayRef<int64_t> extents) {
  auto type = cast<VectorType>(value.getType());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  auto dimOf = [&](int64_t i) { return map.getDimPosition(unsigned(i)); };
  llvm::sort(order, [&](int64_t x, int64_t y) { return dimOf(x) < dimOf(y); });
  if (!llvm::is_sorted(order))
    value = vector::TransposeOp::create(b, loc, value, order);
  if (type.getRank() == int64_t(extents.size()))
    return value;
  SmallVector<int64_t> shape(extents.size(), 1);
  for (int64_t i : order)
    shape[dimOf(i)] = type.getDimSize(i);
  value = vector::ShapeCastOp::create(b, loc, VectorType::get(shape, type.getElementType()), value);
  return vector::BroadcastOp::create(b, loc, VectorType::get(extents, type.getElementType()), value);
}

/// Elements as the sum's type has them.
static Value widen(OpBuilder &b, Location loc, Value value, Type element) {
  auto from = cast<VectorType>(value.getType());
  auto to = VectorType::get(from.getShape(), element);
  if (from == to)
    return value;
  if (isa<IntegerType>(element))
    return arith::ExtSIOp::create(b, loc, to, value);
  if (from.getElementTypeBitWidth() < to.getElementTypeBitWidth())
    return arith::ExtFOp::create(b, loc, to, value);
  return arith::TruncFOp::create(b, loc, to, value);
}

void tile::expandScalarProducts(gpu::GPUFuncOp kernel) {
  SmallVector<vector::ContractionOp> products;
  kernel.walk([&](vector::ContractionOp op) {
    // Others are refused where products are planned.
    if (!isa<VectorType>(op.getAccType()) && op.getKind() == vector::CombiningKind::ADD)
      products.push_back(op);
  });
  for (vector::ContractionOp op : products) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> extents = *op.getShapeForUnroll();
    Type element = op.getAccType();
    Value lhs = widen(b, loc, spread(b, loc, op.getLhs(), maps[0], extents), element);
    Value rhs = widen(b, loc, spread(b, loc, op.getRhs(), maps[1], extents), element);
    bool isFloat = isa<FloatType>(element);
    auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
    Value product = isFloat ? Value(arith::MulFOp::create(b, loc, lhs, rhs, flags))
                            : Value(arith::MulIOp::create(b, loc, lhs, rhs));
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(extents.size())));
    Value sum = atx::TileReduceOp::create(b, loc, element, atx::TileReduceKind::Sum, product, axes);
    Value total = isFloat ? Value(arith::AddFOp::create(b, loc, sum, op.getAcc()))
                          : Value(arith::AddIOp::create(b, loc, sum, op.getAcc()));
    op.replaceAllUsesWith(total);
    op.erase();
  }
}
