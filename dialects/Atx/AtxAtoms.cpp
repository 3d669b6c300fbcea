//===- AtxAtoms.cpp - Universal atoms, tiled copies and products ----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

#include "dialects/Atx/AtxAttrInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value atx::emitPointer(OpBuilder &builder, Location loc, const Address &address) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), getAddressSpace(address.space));
  Type byte = builder.getI8Type();
  // The constant comes last, where instruction selection folds it into the
  // offset field.
  Value pointer = address.base;
  if (address.offset)
    pointer = LLVM::GEPOp::create(builder, loc, type, byte, pointer, ArrayRef<LLVM::GEPArg>{address.offset},
                                  LLVM::GEPNoWrapFlags::inbounds);
  // A GEP index is 32 bits when it is an attribute.
  int64_t constant = address.constant;
  if (!llvm::isInt<31>(constant)) {
    Value wide = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(constant));
    return LLVM::GEPOp::create(builder, loc, type, byte, pointer, ArrayRef<LLVM::GEPArg>{wide},
                               LLVM::GEPNoWrapFlags::inbounds);
  }
  if (constant)
    pointer =
        LLVM::GEPOp::create(builder, loc, type, byte, pointer, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)},
                            LLVM::GEPNoWrapFlags::inbounds);
  return pointer;
}

// Atoms come first in the assembly: an attribute may end in `: type` and would
// take the colon of the operation.
/// LLVM has no 8-bit floating point types: their bits move as integers.
static VectorType getMemoryType(VectorType type) {
  Type element = type.getElementType();
  if (LLVM::isCompatibleType(element))
    return type;
  return VectorType::get(type.getShape(), IntegerType::get(type.getContext(), getElementBits(element)));
}

Value atx::emitVectorLoad(OpBuilder &builder, Location loc, const Address &address, VectorType type) {
  VectorType moved = getMemoryType(type);
  Value value = LLVM::LoadOp::create(builder, loc, moved, emitPointer(builder, loc, address), address.align);
  return moved == type ? value : Value(vector::BitCastOp::create(builder, loc, type, value));
}

void atx::emitVectorStore(OpBuilder &builder, Location loc, Value value, const Address &address) {
  auto type = cast<VectorType>(value.getType());
  VectorType moved = getMemoryType(type);
  if (moved != type)
    value = vector::BitCastOp::create(builder, loc, moved, value);
  LLVM::StoreOp::create(builder, loc, value, emitPointer(builder, loc, address), address.align);
}

ParseResult atx::parseAtom(OpAsmParser &parser, Attribute &atom) { return parser.parseAttribute(atom); }

void atx::printAtom(OpAsmPrinter &printer, Operation *, Attribute atom) { printer << atom; }

//===----------------------------------------------------------------------===//
// Universal copy
//===----------------------------------------------------------------------===//

LogicalResult UniversalCopyAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bits) {
  if (bits < 8 || bits > 128 || bits % 8 != 0 || (bits > 32 && bits % 32 != 0))
    return emitError() << "a copy moves 8, 16, 24, 32, 64, 96 or 128 bits, got " << bits;
  return success();
}

int64_t UniversalCopyAttr::getAccessBits() const { return getBits(); }

bool UniversalCopyAttr::connects(MemorySpace source, MemorySpace destination) const {
  auto memory = [](MemorySpace space) {
    return space == MemorySpace::Generic || space == MemorySpace::Global || space == MemorySpace::Shared;
  };
  return (memory(source) && destination == MemorySpace::Register) ||
         (source == MemorySpace::Register && memory(destination));
}

LogicalResult UniversalCopyAttr::verifyTarget(StringRef, function_ref<InFlightDiagnostic()>) const { return success(); }

Value UniversalCopyAttr::emitLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type) const {
  return emitVectorLoad(builder, loc, source, type);
}

bool UniversalCopyAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  emitVectorStore(builder, loc, value, destination);
  return true;
}

//===----------------------------------------------------------------------===//
// Universal atomic
//===----------------------------------------------------------------------===//

LogicalResult UniversalAtomicAttr::verify(function_ref<InFlightDiagnostic()> emitError, AtomicKind kind,
                                          Type elementType) {
  bool isUnsigned = kind == AtomicKind::UMax || kind == AtomicKind::UMin;
  if (auto type = dyn_cast<IntegerType>(elementType))
    if (type.getWidth() == 32 || type.getWidth() == 64)
      return success();
  if (isa<FloatType>(elementType) && !isUnsigned && (elementType.isF32() || elementType.isF64()))
    return success();
  return emitError() << "no atomic " << stringifyAtomicKind(kind) << " of " << elementType
                     << "; i32, i64 and, for add, max and min, f32 and f64 have one";
}

int64_t UniversalAtomicAttr::getAccessBits() const { return getElementType().getIntOrFloatBitWidth(); }

bool UniversalAtomicAttr::isReduction() const { return true; }

bool UniversalAtomicAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Register && destination != MemorySpace::Register && destination != MemorySpace::Buffer;
}

LogicalResult UniversalAtomicAttr::verifyTarget(StringRef, function_ref<InFlightDiagnostic()>) const {
  return success();
}

bool UniversalAtomicAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  bool isFloat = isa<FloatType>(getElementType());
  LLVM::AtomicBinOp op = LLVM::AtomicBinOp::add;
  switch (getKind()) {
  case AtomicKind::Add:
    op = isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
    break;
  case AtomicKind::Max:
    op = isFloat ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::max;
    break;
  case AtomicKind::Min:
    op = isFloat ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::min;
    break;
  case AtomicKind::UMax:
    op = LLVM::AtomicBinOp::umax;
    break;
  case AtomicKind::UMin:
    op = LLVM::AtomicBinOp::umin;
    break;
  }
  Value element = vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{0});
  LLVM::AtomicRMWOp::create(builder, loc, op, emitPointer(builder, loc, destination), element,
                            LLVM::AtomicOrdering::monotonic, "agent", destination.align);
  return true;
}

//===----------------------------------------------------------------------===//
// Universal fused multiply-add
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 3> UniversalFmaAttr::getShape() const { return {1, 1, 1}; }
int64_t UniversalFmaAttr::getNumLanes() const { return 1; }
Type UniversalFmaAttr::getElementType(MmaOperand) const { return getElementType(); }
layout::Layout UniversalFmaAttr::getOperandLayout(MmaOperand) const {
  return layout::Layout(layout::IntTuple::tuple({1, 1}), layout::IntTuple::tuple({0, 0}));
}
LogicalResult UniversalFmaAttr::verifyTarget(StringRef, function_ref<InFlightDiagnostic()>) const { return success(); }
Value UniversalFmaAttr::emitMma(OpBuilder &builder, Location loc, Value a, Value b, Value c, ValueRange) const {
  return math::FmaOp::create(builder, loc, a, b, c);
}

//===----------------------------------------------------------------------===//
// Tiled copy and product
//===----------------------------------------------------------------------===//

LogicalResult TiledCopyAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute atom, layout::Layout tv,
                                    layout::IntTuple tile) {
  if (!isa_and_present<CopyAtomInterface>(atom))
    return emitError() << "expected a copy atom, got " << atom;
  layout::Algebra algebra;
  algebra.check(layout::Value(layout::Map(tv)));
  if (tv.getRank() != 2)
    algebra.fail(25, "thread-value layout " + layout::toString(tv) + " must have two modes");
  if (!algebra.failed())
    algebra.makeLayout(tile);
  if (!algebra.failed())
    algebra.checkTV(tv, algebra.product(tile));
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  return success();
}

static int64_t staticSize(const layout::IntTuple &shape) {
  int64_t size = 1;
  shape.walk([&](const layout::Int &extent) { size *= extent.value; });
  return size;
}

int64_t TiledCopyAttr::getNumThreads() const { return staticSize(getTv().shape[0]); }

LogicalResult TiledMmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute atom, layout::Layout atoms,
                                   layout::Tile permutation) {
  if (!isa_and_present<MmaAtomInterface>(atom))
    return emitError() << "expected a matrix atom, got " << atom;
  layout::Algebra algebra;
  algebra.check(layout::Value(layout::Map(atoms)));
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  if (atoms.getRank() != 3 || !atoms.isStatic() || atoms.hasBasis())
    return emitError() << "C28: atom layout '" << layout::toString(atoms)
                       << "' must have three static modes over M, N, K";
  int64_t lanes = cast<MmaAtomInterface>(atom).getNumLanes();
  layout::Int threads = algebra.mul(algebra.product(atoms.shape), lanes);
  algebra.check(layout::Value(permutation));
  if (algebra.failed())
    return emitError() << layout::toString(*algebra.getFault());
  if (permutation.modes.size() > 3)
    return emitError() << "C31: the permutation '" << layout::toString(permutation) << "' has more modes than M, N, K";
  if (threads.value > 1024)
    return emitError() << "C28: atom layout '" << layout::toString(atoms) << "' needs " << threads.value
                       << " threads; a workgroup has at most 1024";
  return success();
}

int64_t TiledMmaAttr::getNumThreads() const { return staticSize(getAtoms().shape) * getMmaAtom().getNumLanes(); }
