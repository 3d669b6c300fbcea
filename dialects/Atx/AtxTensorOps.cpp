//===- AtxTensorOps.cpp - Operators on whole tensors, plans ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

static LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType type) {
  if (axis < 0 || axis >= type.getRank())
    return op->emitOpError() << "axis " << axis << " is not one of the " << type.getRank() << " axes of " << type;
  return success();
}

/// Whether values of the type have an order.
static LogicalResult verifyOrder(Operation *op, Type element, bool isUnsigned) {
  if (isUnsigned && !isTileIntegerType(element))
    return op->emitOpError() << "'is_unsigned' belongs to integers, got elements of type " << element;
  if (!isTileIntegerType(element) && !isTileArithmeticFloat(element))
    return op->emitOpError() << "elements of type " << element
                             << " have no order: they are i8, i16, i32, i64, index, f16, bf16, f32 or f64";
  return success();
}

/// Fails unless a result has the shape that follows from the operands. Extents
/// that one of the two does not know agree.
static LogicalResult verifyResult(Operation *op, RankedTensorType result, ArrayRef<int64_t> shape, Type element) {
  bool fits = result.getElementType() == element && result.getRank() == int64_t(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = result.getDimSize(i) == shape[i] || ShapedType::isDynamic(shape[i]) || result.isDynamicDim(i);
  if (fits)
    return success();
  return op->emitOpError() << "gives " << RankedTensorType::get(shape, element) << ", not " << result;
}

LogicalResult TensorArgOp::verify() {
  RankedTensorType input = getInput().getType();
  if (getKind() != TileReduceKind::ArgMax && getKind() != TileReduceKind::ArgMin)
    return emitOpError() << "finds 'argmax' or 'argmin', not '" << stringifyTileReduceKind(getKind())
                         << "'; other reductions are 'linalg.generic'";
  if (failed(verifyAxis(*this, getAxis(), input)) ||
      failed(verifyOrder(*this, input.getElementType(), getIsUnsigned())))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape.erase(shape.begin() + getAxis());
  return verifyResult(*this, getResult().getType(), shape, IntegerType::get(getContext(), 32));
}

LogicalResult TensorScanOp::verify() {
  RankedTensorType input = getInput().getType();
  bool isUnsigned = getKind() == TileScanKind::UMax || getKind() == TileScanKind::UMin;
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  return verifyOrder(*this, input.getElementType(), isUnsigned);
}

LogicalResult TensorTopkOp::verify() {
  RankedTensorType input = getInput().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, input)) || failed(verifyOrder(*this, input.getElementType(), getIsUnsigned())))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = ShapedType::kDynamic;
  IntegerAttr k;
  if (matchPattern(getK(), m_Constant(&k))) {
    if (k.getInt() < 1 || (!input.isDynamicDim(axis) && k.getInt() > input.getDimSize(axis)))
      return emitOpError() << "k is at least 1 and at most the extent of axis " << axis << " of " << input << ", got "
                           << k.getInt();
    shape[axis] = k.getInt();
  } else if (!getValues().getType().isDynamicDim(axis)) {
    return emitOpError() << "k is not constant, but the results have " << getValues().getType().getDimSize(axis)
                         << " elements along axis " << axis;
  }
  if (failed(verifyResult(*this, getValues().getType(), shape, input.getElementType())))
    return failure();
  return verifyResult(*this, getIndices().getType(), shape, IntegerType::get(getContext(), 32));
}

LogicalResult TensorRankOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  return verifyResult(*this, getResult().getType(), input.getShape(), IntegerType::get(getContext(), 32));
}

LogicalResult TensorHistogramOp::verify() {
  if (Value mask = getMask()) {
    auto type = cast<RankedTensorType>(mask.getType());
    if (failed(verifyCompatibleShape(type, getInput().getType())))
      return emitOpError() << "the mask of type " << type << " does not have the shape of " << getInput().getType();
  }
  RankedTensorType result = getResult().getType();
  IntegerAttr bins;
  bool isConstant = matchPattern(getBins(), m_Constant(&bins));
  if (result.getRank() != 1)
    return emitOpError() << "counts into a tensor of rank 1, got " << result;
  if (isConstant ? bins.getInt() < 1 || (!result.isDynamicDim(0) && bins.getInt() != result.getDimSize(0))
                 : !result.isDynamicDim(0))
    return emitOpError() << "the number of bins "
                         << (isConstant ? "is " + std::to_string(bins.getInt()) : std::string("is not constant"))
                         << ", but the result is " << result;
  return success();
}

LogicalResult TensorTakeOp::verify() {
  RankedTensorType input = getInput().getType(), index = getIndex().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, input)))
    return failure();
  bool fits = index.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i)
    fits = i == axis || index.getDimSize(i) == 1 || index.getDimSize(i) == input.getDimSize(i) ||
           index.isDynamicDim(i) || input.isDynamicDim(i);
  if (!fits)
    return emitOpError() << "index tensor of type " << index << " does not fit " << input
                         << ": it needs the same rank, and extents that are equal or 1 except along axis " << axis;
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = index.getDimSize(axis);
  return verifyResult(*this, getResult().getType(), shape, input.getElementType());
}

//===----------------------------------------------------------------------===//
// Launch plans
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  auto memory = getCountMemory();
  if (!memory)
    return success();
  auto type = cast<MemRefType>(memory.getType());
  if (!type.getElementType().isInteger(32) || type.getRank() != int64_t(getCountIndices().size()))
    return emitOpError() << "'count' is one element of a tensor of i32, got " << getCountIndices().size()
                         << " indices of " << type;
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernelAttr());
  if (!kernel || !(kernel->hasAttr(kernelAttrName) || kernel->hasAttr(operatorAttrName)))
    return emitOpError() << "'@" << getKernel() << "' is no function marked '" << kernelAttrName << "' or '"
                         << operatorAttrName << "'";
  // Operators work on tensors, of which the plan has the memory.
  SmallVector<Type> expected;
  for (Type type : kernel.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    expected.push_back(tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : type);
  }
  if (!llvm::equal(expected, getArgs().getTypes()))
    return emitOpError() << "passes (" << getArgs().getTypes() << "), but '@" << getKernel() << "' takes (" << expected
                         << ")";
  return success();
}
