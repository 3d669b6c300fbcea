//===- OutlineTileKernels.cpp - GPU kernels from programs on tiles --------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelGrid.h"
#include "RowOwnership.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace atrex {
#define GEN_PASS_DEF_OUTLINETILEKERNELSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class OutlineTileKernels : public atrex::impl::OutlineTileKernelsPassBase<OutlineTileKernels> {
public:
  using OutlineTileKernelsPassBase::OutlineTileKernelsPassBase;

  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func->hasAttr(atx::kernelAttrName) && failed(outline(func)))
        return signalPassFailure();
  }

private:
  LogicalResult outline(func::FuncOp func);
  gpu::GPUModuleOp module;
};

/// Strides of an argument as expressions: stated ones, else those of a
/// contiguous tensor.
FailureOr<SmallVector<DimExpr>> getStrideExprs(func::FuncOp func, unsigned index, ArrayRef<DimExpr> shape) {
  SmallVector<DimExpr> strides(shape.size(), DimExpr::constant(1));
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim) {
    strides[dim] = DimExpr::binary(DimExpr::Kind::Mul, strides[dim + 1], shape[dim + 1]);
    if (std::optional<int64_t> constant = strides[dim].substitute({}).getConstant())
      strides[dim] = DimExpr::constant(*constant);
  }
  auto attr = func.getArgAttrOfType<ArrayAttr>(index, "atx.strides");
  if (!attr)
    return strides;
  if (attr.size() != shape.size())
    return func.emitError() << "argument " << index << " has " << attr.size() << " strides for " << shape.size()
                            << " dimensions";
  for (auto [dim, element] : llvm::enumerate(attr)) {
    auto text = dyn_cast<StringAttr>(element);
    if (!text)
      return func.emitError() << "stride " << dim << " of argument " << index << " must be a string";
    llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
    if (!expr)
      return func.emitError() << "stride " << dim << " of argument " << index << ": "
                              << llvm::toString(expr.takeError());
    strides[dim] = *expr;
  }
  return strides;
}

} // namespace

LogicalResult OutlineTileKernels::outline(func::FuncOp func) {
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return func.emitError() << "kernel needs a body of one block";
  if (func.getNumResults() != 0)
    return func.emitError() << "kernel returns " << func.getNumResults()
                            << " values; it must store them into its arguments";
  auto threads = func->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
  if (!threads || threads.getInt() < 64 || threads.getInt() > 1024 || !llvm::isPowerOf2_64(threads.getInt()))
    return func.emitError() << "kernel has "
                            << (threads ? std::to_string(threads.getInt()) : std::string("no number of"))
                            << " work-items in '" << atx::threadsAttrName
                            << "'; it must be a power of two from 64 to 1024";
  auto grid = func->getAttrOfType<ArrayAttr>(atx::gridAttrName);
  if (!grid || grid.empty() || grid.size() > 3 || !llvm::all_of(grid, llvm::IsaPred<StringAttr>))
    return func.emitError() << "kernel needs 1 to 3 extents as texts in '" << atx::gridAttrName << "'";
  auto dimNames = func->getAttrOfType<ArrayAttr>(atx::dimsAttrName);
  if (dimNames && !llvm::all_of(dimNames, llvm::IsaPred<StringAttr>))
    return func.emitError() << "'" << atx::dimsAttrName << "' must hold names";

  Builder attrs(func.getContext());
  SmallVector<Type> argTypes;
  SmallVector<Attribute> argInfo;
  SmallVector<SmallVector<DimExpr>> shapes(func.getNumArguments()), strides(func.getNumArguments());
  llvm::StringSet<> passed;
  auto addDim = [&](StringAttr name) {
    argTypes.push_back(attrs.getI64Type());
    argInfo.push_back(attrs.getDictionaryAttr({attrs.getNamedAttr("name", name),
                                               attrs.getNamedAttr("kind", attrs.getStringAttr("dim")),
                                               attrs.getNamedAttr("type", TypeAttr::get(attrs.getI64Type()))}));
  };
  for (BlockArgument arg : func.getArguments()) {
    unsigned index = arg.getArgNumber();
    auto name = func.getArgAttrOfType<StringAttr>(index, atx::nameAttrName);
    if (!name)
      return func.emitError() << "argument " << index << " has no '" << atx::nameAttrName << "'";
    SmallVector<NamedAttribute> info = {attrs.getNamedAttr("name", name)};
    auto sourceType = func.getArgAttrOfType<TypeAttr>(index, atx::typeAttrName);
    if (auto type = dyn_cast<MemRefType>(arg.getType())) {
      FailureOr<SmallVector<DimExpr>> exprs = getShapeExprs(func, index);
      if (failed(exprs))
        return failure();
      shapes[index] = *exprs;
      FailureOr<SmallVector<DimExpr>> steps = getStrideExprs(func, index, *exprs);
      if (failed(steps))
        return failure();
      strides[index] = *steps;
      info.push_back(attrs.getNamedAttr("kind", attrs.getStringAttr("tensor")));
      info.push_back(attrs.getNamedAttr("type", sourceType ? sourceType : TypeAttr::get(type.getElementType())));
      info.push_back(attrs.getNamedAttr("shape", func.getArgAttr(index, atx::shapeAttrName)));
      if (Attribute stated = func.getArgAttr(index, "atx.strides"))
        info.push_back(attrs.getNamedAttr("strides", stated));
      if (func.getArgAttr(index, atx::outputAttrName))
        info.push_back(attrs.getNamedAttr("output", attrs.getUnitAttr()));
      if (func.getArgAttr(index, atx::workspaceAttrName))
        info.push_back(attrs.getNamedAttr("workspace", attrs.getUnitAttr()));
      // What the bench may execute in part.
      if (type.getRank() != 0 && !func->hasAttr(reorderedAttrName))
        if (std::optional<tile::RowOwnership> owned = tile::findRowOwnership(func, arg)) {
          SmallVector<int64_t> axes;
          for (unsigned axis = 0; axis < 3; ++axis)
            if (owned->axes & (1u << axis))
              axes.push_back(axis);
          if (axes.size() < 3)
            info.push_back(attrs.getNamedAttr("row_axes", attrs.getDenseI64ArrayAttr(axes)));
          if (owned->extent) {
            info.push_back(attrs.getNamedAttr("tile", attrs.getStringAttr(std::to_string(*owned->extent))));
            info.push_back(attrs.getNamedAttr("tile_axis", attrs.getI64IntegerAttr(owned->axis)));
          }
        }
      argTypes.push_back(
          MemRefType::get({}, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace()));
    } else if (arg.getType().isIndex()) {
      passed.insert(name.getValue());
      addDim(name);
      continue;
    } else if (!arg.getType().isIntOrFloat()) {
      return func.emitError() << "argument " << index << " of type " << arg.getType()
                              << " is neither a buffer nor a scalar";
    } else {
      info.push_back(attrs.getNamedAttr("kind", attrs.getStringAttr("scalar")));
      info.push_back(attrs.getNamedAttr("type", sourceType ? sourceType : TypeAttr::get(arg.getType())));
      if (Attribute value = func.getArgAttr(index, atx::defaultAttrName))
        info.push_back(attrs.getNamedAttr("default", value));
      argTypes.push_back(arg.getType());
    }
    argInfo.push_back(attrs.getDictionaryAttr(info));
  }
  SmallVector<StringAttr> moreDims;
  if (dimNames)
    for (auto name : dimNames.getAsRange<StringAttr>())
      if (passed.insert(name.getValue()).second) {
        moreDims.push_back(name);
        addDim(name);
      }

  OpBuilder builder(func);
  if (!module) {
    module = gpu::GPUModuleOp::create(builder, func.getLoc(), (func.getName() + "_kernels").str());
  }
  builder.setInsertionPointToEnd(module.getBody());
  auto kernel =
      gpu::GPUFuncOp::create(builder, func.getLoc(), func.getName(), attrs.getFunctionType(argTypes, TypeRange()));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), attrs.getUnitAttr());
  kernel.setKnownBlockSizeAttr(attrs.getDenseI32ArrayAttr({int32_t(threads.getInt()), 1, 1}));
  kernel->setAttr(atx::kernelAttrName, attrs.getUnitAttr());
  kernel->setAttr(atx::kernelArgsAttrName, attrs.getArrayAttr(argInfo));
  kernel->setAttr(atx::threadsAttrName, attrs.getI64IntegerAttr(threads.getInt()));
  SmallVector<Attribute> extents(grid.begin(), grid.end());
  extents.resize(3, attrs.getStringAttr("1"));
  kernel->setAttr(atx::gridAttrName, attrs.getArrayAttr(extents));
  if (Attribute constraints = func->getAttr("atx.constraints"))
    kernel->setAttr("atx.constraints", constraints);
  for (StringRef name : {StringRef("atx.knobs"), StringRef(feedsAttrName)})
    if (Attribute value = func->getAttr(name))
      kernel->setAttr(name, value);

  Block &entry = kernel.getBody().front();
  builder.setInsertionPointToStart(&entry);
  Location loc = func.getLoc();
  IRMapping values;
  llvm::StringMap<Value> dims;
  for (BlockArgument arg : func.getArguments()) {
    BlockArgument kernelArg = entry.getArgument(arg.getArgNumber());
    if (arg.getType().isIndex()) {
      Value dim = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), kernelArg);
      values.map(arg, dim);
      dims[func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), atx::nameAttrName).getValue()] = dim;
    } else if (!isa<MemRefType>(arg.getType())) {
      values.map(arg, kernelArg);
    }
  }
  for (auto [i, name] : llvm::enumerate(moreDims))
    dims[name.getValue()] =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry.getArgument(func.getNumArguments() + i));
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type)
      continue;
    unsigned index = arg.getArgNumber();
    SmallVector<int64_t> typeStrides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(typeStrides, offset)) || offset != 0)
      return func.emitError() << "argument " << index << " of type " << type << " must have strides and start at 0";
    auto emitAll = [&](ArrayRef<DimExpr> exprs, ArrayRef<int64_t> known,
                       SmallVectorImpl<OpFoldResult> &result) -> LogicalResult {
      for (auto [expr, number] : llvm::zip_equal(exprs, known)) {
        if (!ShapedType::isDynamic(number)) {
          result.push_back(builder.getIndexAttr(number));
          continue;
        }
        FailureOr<Value> value = emitExpr(expr, dims, builder, loc);
        if (failed(value))
          return failure();
        result.push_back(*value);
      }
      return success();
    };
    SmallVector<OpFoldResult> sizes, steps;
    if (failed(emitAll(shapes[index], type.getShape(), sizes)) || failed(emitAll(strides[index], typeStrides, steps)))
      return failure();
    auto cast = memref::ReinterpretCastOp::create(builder, loc, type, entry.getArgument(index),
                                                  OpFoldResult(builder.getIndexAttr(0)), sizes, steps);
    values.map(arg, cast.getResult());
    ++numArguments;
  }
  for (Operation &op : func.getBody().front().without_terminator())
    builder.clone(op, values);
  // The number of workgroups follows from the dimensions, without asking the dispatch.
  SmallVector<gpu::GridDimOp> counts;
  kernel.walk([&](gpu::GridDimOp op) { counts.push_back(op); });
  for (gpu::GridDimOp op : counts) {
    builder.setInsertionPoint(op);
    auto text = cast<StringAttr>(extents[unsigned(op.getDimension())]);
    llvm::Expected<DimExpr> expr = DimExpr::parse(text.getValue());
    if (!expr)
      return func.emitError() << "grid '" << text.getValue() << "': " << llvm::toString(expr.takeError());
    FailureOr<Value> value = emitExpr(*expr, dims, builder, op.getLoc());
    if (failed(value))
      return failure();
    op.replaceAllUsesWith(*value);
    op.erase();
  }
  builder.setInsertionPointToEnd(&entry);
  gpu::ReturnOp::create(builder, loc);

  auto parent = getOperation();
  if (!parent->hasAttr(gpu::GPUDialect::getContainerModuleAttrName()))
    parent->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), attrs.getUnitAttr());
  func.erase();
  return success();
}
