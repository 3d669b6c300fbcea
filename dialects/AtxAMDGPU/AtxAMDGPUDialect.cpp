//===- AtxAMDGPUDialect.cpp - AMD operations of fragment form -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx_amdgpu;

#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.cpp.inc"
#include "dialects/AtxAMDGPU/AtxAMDGPUEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

static ParseResult parseMatrixShape(AsmParser &parser, int64_t &m, int64_t &n, int64_t &k) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (shape.size() != 3)
    return parser.emitError(loc) << "expected a shape M x N x K such as 16x16x16, got " << shape.size() << " extents";
  m = shape[0], n = shape[1], k = shape[2];
  return success();
}

static void printMatrixShape(AsmPrinter &printer, int64_t m, int64_t n, int64_t k) {
  printer << m << 'x' << n << 'x' << k;
}

#define GET_ATTRDEF_CLASSES
#include "dialects/AtxAMDGPU/AtxAMDGPUAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/AtxAMDGPU/AtxAMDGPUOps.cpp.inc"

void AtxAMDGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/AtxAMDGPU/AtxAMDGPUAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/AtxAMDGPU/AtxAMDGPUOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult MakeBufferOp::verify() {
  atx::PtrType source = getPtr().getType(), result = getResult().getType();
  if (source.getSpace() != atx::MemorySpace::Global)
    return emitOpError() << "starts at a pointer to global memory, got " << source;
  if (result.getSpace() != atx::MemorySpace::Buffer)
    return emitOpError() << "gives a pointer of the memory space buffer, got " << result;
  if (source.getElementType() != result.getElementType())
    return emitOpError() << "keeps the element type; got " << source.getElementType() << " and "
                         << result.getElementType();
  // A swizzle counts from the base, which may be another one now.
  if (!source.getSwizzle().isIdentity() || !result.getSwizzle().isIdentity())
    return emitOpError() << "takes and gives pointers without a swizzle, got " << source << " and " << result;
  if (result.getAlign() > source.getAlign())
    return emitOpError() << "gives a pointer aligned to " << result.getAlign() << " bytes; the source proves "
                         << source.getAlign();
  IntegerAttr bytes;
  if (matchPattern(getBytes(), m_Constant(&bytes)) &&
      (bytes.getValue().isNegative() || bytes.getValue().getSExtValue() > INT32_MAX))
    return emitOpError() << "holds " << bytes.getValue().getSExtValue() << " bytes; a buffer has from 0 to 2^31 - 1";
  return success();
}

LogicalResult MakeResourceOp::verify() {
  auto type = getView().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitOpError() << "needs a strided view, got " << type;
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8 != 0)
    return emitOpError() << "needs elements of whole bytes, got " << type.getElementType();
  if (type.hasStaticShape()) {
    for (auto [dim, extent, stride] : llvm::enumerate(type.getShape(), strides)) {
      int64_t span;
      if (ShapedType::isDynamic(stride))
        continue;
      if (llvm::MulOverflow(extent, stride, span) || span >= (int64_t(1) << 31) / (type.getElementTypeBitWidth() / 8))
        return emitOpError() << "dimension " << dim << " of the view spans " << extent << " x " << stride
                             << " elements, a buffer resource addresses less than 2^31 bytes";
    }
  }
  return success();
}

/// Widths that a buffer instruction can move.
static LogicalResult verifyAccess(Operation *op, VectorType type, int64_t constOffset) {
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return op->emitOpError() << "needs elements of whole bytes, got " << element;
  if (type.getRank() != 1 || type.isScalable())
    return op->emitOpError() << "needs a vector of rank 1 and fixed size, got " << type;
  int64_t bytes;
  if (llvm::MulOverflow(type.getNumElements(), int64_t(element.getIntOrFloatBitWidth() / 8), bytes))
    return op->emitOpError() << "moves " << type.getNumElements()
                             << " elements; a buffer access is at most 16 bytes wide";
  if (!llvm::is_contained({1, 2, 4, 8, 12, 16}, bytes))
    return op->emitOpError() << "moves " << bytes << " bytes; a buffer access is 1, 2, 4, 8, 12 or 16 bytes wide";
  if (constOffset < 0 || constOffset > INT32_MAX / int64_t(element.getIntOrFloatBitWidth() / 8))
    return op->emitOpError() << "has a constant offset of " << constOffset
                             << " elements; it must lie from 0 to less than 2^31 bytes";
  return success();
}

LogicalResult BufferLoadOp::verify() {
  return verifyAccess(*this, cast<VectorType>(getResult().getType()), int32_t(getConstOffset()));
}
LogicalResult BufferStoreOp::verify() {
  return verifyAccess(*this, cast<VectorType>(getValue().getType()), int32_t(getConstOffset()));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult LaneReduceOp::verify() {
  int64_t lanes = getLanes();
  if (lanes < 1 || lanes > 1024 || !llvm::isPowerOf2_64(lanes))
    return emitOpError() << "reduces over " << lanes << " lanes; it must be a power of two from 1 to 1024";
  int64_t elements = cast<VectorType>(getValue().getType()).getNumElements();
  if (elements > 512)
    return emitOpError() << "reduces " << elements << " elements of a lane, which has 512 registers";
  return success();
}
