//===- AtxAMDGPUCopyAtoms.cpp - Copies and atomics as atoms ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Target/CopyInstructions.h"
#include "dialects/AtxAMDGPU/AtomSupport.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;
using namespace atrex::atx_amdgpu;
using namespace atrex::atx_amdgpu::detail;

//===----------------------------------------------------------------------===//
// Shared with matrix atoms
//===----------------------------------------------------------------------===//

SmallVector<const ChipInfo *> atx_amdgpu::detail::getAMDChips() {
  SmallVector<const ChipInfo *> chips;
  for (const ChipInfo &chip : getChips())
    if (chip.isAMDGPU() && llvm::none_of(chips, [&](const ChipInfo *other) { return other->arch == chip.arch; }))
      chips.push_back(&chip);
  return chips;
}

FailureOr<const ChipInfo *> atx_amdgpu::detail::getAMDChip(StringRef target, EmitError emitError) {
  const ChipInfo *chip = lookupChip(target);
  if (chip && chip->isAMDGPU())
    return chip;
  return emitError() << "'" << target << "' is not a chip with AMD instructions; known are " << getArchList();
}

Value atx_amdgpu::detail::emitI32(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(int32_t(value)));
}

int64_t atx_amdgpu::detail::getVectorBits(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable() || !vector.getElementType().isIntOrFloat())
    return 0;
  int64_t bits;
  if (llvm::MulOverflow(vector.getNumElements(), int64_t(vector.getElementTypeBitWidth()), bits))
    return 0;
  return bits;
}

Value atx_amdgpu::detail::emitBitcast(OpBuilder &builder, Location loc, Value vector, Type type) {
  auto wanted = dyn_cast<VectorType>(type);
  bool isScalar = !wanted;
  if (isScalar)
    wanted = VectorType::get({1}, type);
  if (vector.getType() != wanted)
    vector = vector::BitCastOp::create(builder, loc, wanted, vector);
  if (!isScalar)
    return vector;
  return vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{0});
}

Value atx_amdgpu::detail::emitBitcastFrom(OpBuilder &builder, Location loc, Value value, VectorType type) {
  if (!isa<VectorType>(value.getType()))
    value = vector::BroadcastOp::create(builder, loc, VectorType::get({1}, value.getType()), value);
  return value.getType() == type ? value : Value(vector::BitCastOp::create(builder, loc, type, value));
}

//===----------------------------------------------------------------------===//
// Instructions of an atom
//===----------------------------------------------------------------------===//

/// What an atom of the path is called in diagnostics.
static StringRef describe(CopyPath path) {
  switch (path) {
  case CopyPath::Buffer:
    return "buffer copy";
  case CopyPath::Global:
    return "global copy";
  case CopyPath::Lds:
    return "LDS copy";
  case CopyPath::BufferToLds:
    return "copy from a buffer to LDS";
  case CopyPath::GlobalToLds:
    return "copy from global memory to LDS";
  case CopyPath::LdsTranspose:
    return "transposing read of LDS";
  }
  return "";
}

static std::string listWidths(CopyPath path, StringRef arch) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::interleaved(getCopyWidths(path, arch));
  return text;
}

/// An atom exists if some chip has its instruction.
static LogicalResult verifyExists(EmitError emitError, CopyPath path, int64_t bits) {
  if (bits > 0 && bits <= 128 && lookupCopyInstruction(path, unsigned(bits)))
    return success();
  return emitError() << "no " << describe(path) << " of " << bits << " bits; there are " << listWidths(path, "");
}

static const CopyInstruction &getInstruction(CopyPath path, int64_t bits, int64_t elementBits = 0) {
  return *lookupCopyInstruction(path, unsigned(bits), unsigned(elementBits));
}

static LogicalResult verifyOn(EmitError emitError, const CopyInstruction &copy, StringRef target) {
  if (target.empty())
    return success();
  FailureOr<const ChipInfo *> chip = getAMDChip(target, emitError);
  if (failed(chip))
    return failure();
  if (copy.isAvailable((*chip)->arch))
    return success();
  SmallVector<StringRef> needs;
  for (const ChipInfo *other : getAMDChips())
    if (copy.isAvailable(other->arch))
      needs.push_back(other->arch);
  InFlightDiagnostic diag = emitError() << "a " << describe(copy.path) << " of " << copy.bits << " bits needs "
                                        << llvm::join(needs, " or ") << "; target is " << target;
  std::string widths = listWidths(copy.path, (*chip)->arch);
  if (widths.empty())
    diag.attachNote() << target << " has none";
  else
    diag.attachNote() << target << " has " << widths << " bits";
  return diag;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// The type an instruction moves for a vector: words, or one small integer.
static Type getTransferType(int64_t bits, Builder &builder) {
  if (bits <= 32)
    return builder.getIntegerType(unsigned(bits));
  return VectorType::get(bits / 32, builder.getI32Type());
}

/// The offset of a buffer access in bytes; null after an error. The constant is
/// added last, so that the backend moves it into the instruction.
static Value emitBufferOffset(OpBuilder &builder, Location loc, const Address &address) {
  if (!llvm::isInt<32>(address.constant)) {
    emitError(loc) << "an offset of " << address.constant << " bytes is beyond what a buffer can address";
    return Value();
  }
  if (!address.offset)
    return emitI32(builder, loc, address.constant);
  if (address.constant == 0)
    return address.offset;
  return LLVM::AddOp::create(builder, loc, address.offset, emitI32(builder, loc, address.constant));
}

/// The LDS address of lane 0, given that of each lane, which is `bytes` times the
/// lane further. Lanes that are switched off do not matter.
static Value emitWaveAddress(OpBuilder &builder, Location loc, const Address &destination, int64_t bytes) {
  if (!destination.offset) {
    emitError(loc) << "all lanes have the same destination; direct copies need " << bytes
                   << " consecutive bytes of LDS per lane";
    return Value();
  }
  Type i32 = builder.getI32Type();
  Value lane = ROCDL::MbcntLoOp::create(builder, loc, i32, emitI32(builder, loc, -1), emitI32(builder, loc, 0),
                                        ArrayAttr(), ArrayAttr());
  lane = ROCDL::MbcntHiOp::create(builder, loc, i32, emitI32(builder, loc, -1), lane, ArrayAttr(), ArrayAttr());
  Value before = LLVM::MulOp::create(builder, loc, lane, emitI32(builder, loc, bytes));
  Value first = LLVM::SubOp::create(builder, loc, destination.offset, before);
  Address uniform = destination;
  uniform.offset = ROCDL::ReadfirstlaneOp::create(builder, loc, i32, first);
  return emitPointer(builder, loc, uniform);
}

/// Words, so that any element type is one instruction.
static Value emitPlainLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type, bool nonTemporal) {
  Value loaded = LLVM::LoadOp::create(builder, loc, getTransferType(getVectorBits(type), builder),
                                      emitPointer(builder, loc, source), unsigned(source.align), /*isVolatile=*/false,
                                      nonTemporal);
  return emitBitcastFrom(builder, loc, loaded, type);
}

static void emitPlainStore(OpBuilder &builder, Location loc, Value value, const Address &destination,
                           bool nonTemporal) {
  Type type = getTransferType(getVectorBits(value.getType()), builder);
  LLVM::StoreOp::create(builder, loc, emitBitcast(builder, loc, value, type), emitPointer(builder, loc, destination),
                        unsigned(destination.align), /*isVolatile=*/false, nonTemporal);
}

Value atx_amdgpu::emitMakeBuffer(OpBuilder &builder, Location loc, const Address &source, Value bytes) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), getAddressSpace(MemorySpace::Buffer));
  Value stride = LLVM::ConstantOp::create(builder, loc, builder.getI16Type(), builder.getI16IntegerAttr(0));
  return ROCDL::MakeBufferRsrcOp::create(builder, loc, type, emitPointer(builder, loc, source), stride, bytes,
                                         emitI32(builder, loc, rawBufferDescriptorFlags));
}

//===----------------------------------------------------------------------===//
// buffer_copy
//===----------------------------------------------------------------------===//

/// Whether a copy between `memory` and registers is meant.
static bool connectsRegisters(MemorySpace memory, MemorySpace source, MemorySpace destination) {
  return (source == memory && destination == MemorySpace::Register) ||
         (source == MemorySpace::Register && destination == memory);
}

LogicalResult BufferCopyAttr::verify(EmitError emitError, int64_t bits, CachePolicy) {
  return verifyExists(emitError, CopyPath::Buffer, bits);
}

int64_t BufferCopyAttr::getAccessBits() const { return getBits(); }
int64_t BufferCopyAttr::getAlignment() const { return getInstruction(CopyPath::Buffer, getBits()).alignment; }
bool BufferCopyAttr::connects(MemorySpace source, MemorySpace destination) const {
  return connectsRegisters(MemorySpace::Buffer, source, destination);
}
LogicalResult BufferCopyAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::Buffer, getBits()), arch);
}

Value BufferCopyAttr::emitLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type) const {
  Value offset = emitBufferOffset(builder, loc, source);
  if (!offset)
    return Value();
  Value loaded = ROCDL::RawPtrBufferLoadOp::create(
      builder, loc, getTransferType(getBits(), builder), source.base, offset, emitI32(builder, loc, 0),
      emitI32(builder, loc, int64_t(getCache())), ArrayAttr(), ArrayAttr(), ArrayAttr());
  return emitBitcastFrom(builder, loc, loaded, type);
}

bool BufferCopyAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  Value offset = emitBufferOffset(builder, loc, destination);
  if (!offset)
    return false;
  Value words = emitBitcast(builder, loc, value, getTransferType(getBits(), builder));
  ROCDL::RawPtrBufferStoreOp::create(builder, loc, words, destination.base, offset, emitI32(builder, loc, 0),
                                     emitI32(builder, loc, int64_t(getCache())), ArrayAttr(), ArrayAttr(), ArrayAttr());
  return true;
}

//===----------------------------------------------------------------------===//
// global_copy
//===----------------------------------------------------------------------===//

LogicalResult GlobalCopyAttr::verify(EmitError emitError, int64_t bits, CachePolicy cache) {
  if (failed(verifyExists(emitError, CopyPath::Global, bits)))
    return failure();
  if (cache != CachePolicy::Cached && cache != CachePolicy::NonTemporal)
    return emitError() << "a global copy is 'cached' or 'nt', got '" << stringifyCachePolicy(cache)
                       << "'; coherence bits need a buffer copy";
  return success();
}

int64_t GlobalCopyAttr::getAccessBits() const { return getBits(); }
int64_t GlobalCopyAttr::getAlignment() const { return getInstruction(CopyPath::Global, getBits()).alignment; }
bool GlobalCopyAttr::connects(MemorySpace source, MemorySpace destination) const {
  return connectsRegisters(MemorySpace::Global, source, destination);
}
LogicalResult GlobalCopyAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::Global, getBits()), arch);
}
Value GlobalCopyAttr::emitLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type) const {
  return emitPlainLoad(builder, loc, source, type, getCache() == CachePolicy::NonTemporal);
}
bool GlobalCopyAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  emitPlainStore(builder, loc, value, destination, getCache() == CachePolicy::NonTemporal);
  return true;
}

//===----------------------------------------------------------------------===//
// lds_copy
//===----------------------------------------------------------------------===//

LogicalResult LdsCopyAttr::verify(EmitError emitError, int64_t bits) {
  return verifyExists(emitError, CopyPath::Lds, bits);
}

int64_t LdsCopyAttr::getAccessBits() const { return getBits(); }
int64_t LdsCopyAttr::getAlignment() const { return getInstruction(CopyPath::Lds, getBits()).alignment; }
bool LdsCopyAttr::connects(MemorySpace source, MemorySpace destination) const {
  return connectsRegisters(MemorySpace::Shared, source, destination);
}
LogicalResult LdsCopyAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::Lds, getBits()), arch);
}
Value LdsCopyAttr::emitLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type) const {
  return emitPlainLoad(builder, loc, source, type, /*nonTemporal=*/false);
}
bool LdsCopyAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  emitPlainStore(builder, loc, value, destination, /*nonTemporal=*/false);
  return true;
}

//===----------------------------------------------------------------------===//
// buffer_copy_lds, global_copy_lds
//===----------------------------------------------------------------------===//

// The offset field of these instructions moves the LDS address as well as that
// of the source, so constants are added to the addresses instead.

LogicalResult BufferCopyLdsAttr::verify(EmitError emitError, int64_t bits, CachePolicy) {
  return verifyExists(emitError, CopyPath::BufferToLds, bits);
}

int64_t BufferCopyLdsAttr::getAccessBits() const { return getBits(); }
int64_t BufferCopyLdsAttr::getNumLanes() const { return 64; }
int64_t BufferCopyLdsAttr::getAlignment() const { return getInstruction(CopyPath::BufferToLds, getBits()).alignment; }
bool BufferCopyLdsAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Buffer && destination == MemorySpace::Shared;
}
LogicalResult BufferCopyLdsAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::BufferToLds, getBits()), arch);
}

bool BufferCopyLdsAttr::emitMove(OpBuilder &builder, Location loc, const Address &source,
                                 const Address &destination) const {
  Value offset = emitBufferOffset(builder, loc, source);
  Value lds = offset ? emitWaveAddress(builder, loc, destination, getBits() / 8) : Value();
  if (!lds)
    return false;
  Value zero = emitI32(builder, loc, 0);
  ROCDL::RawPtrBufferLoadLdsOp::create(builder, loc, source.base, lds, emitI32(builder, loc, getBits() / 8), offset,
                                       zero, zero, emitI32(builder, loc, int64_t(getCache())), ArrayAttr(), ArrayAttr(),
                                       ArrayAttr());
  return true;
}

LogicalResult GlobalCopyLdsAttr::verify(EmitError emitError, int64_t bits, CachePolicy) {
  return verifyExists(emitError, CopyPath::GlobalToLds, bits);
}

int64_t GlobalCopyLdsAttr::getAccessBits() const { return getBits(); }
int64_t GlobalCopyLdsAttr::getNumLanes() const { return 64; }
int64_t GlobalCopyLdsAttr::getAlignment() const { return getInstruction(CopyPath::GlobalToLds, getBits()).alignment; }
bool GlobalCopyLdsAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Global && destination == MemorySpace::Shared;
}
LogicalResult GlobalCopyLdsAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::GlobalToLds, getBits()), arch);
}

bool GlobalCopyLdsAttr::emitMove(OpBuilder &builder, Location loc, const Address &source,
                                 const Address &destination) const {
  Value lds = emitWaveAddress(builder, loc, destination, getBits() / 8);
  if (!lds)
    return false;
  ROCDL::GlobalLoadLDSOp::create(builder, loc, emitPointer(builder, loc, source), lds, uint32_t(getBits() / 8), 0,
                                 uint32_t(getCache()), ArrayAttr(), ArrayAttr(), ArrayAttr());
  return true;
}

//===----------------------------------------------------------------------===//
// lds_read_trans
//===----------------------------------------------------------------------===//

LogicalResult LdsReadTransAttr::verify(EmitError emitError, int64_t bits, int64_t elementBits) {
  if (bits > 0 && bits <= 128 && elementBits > 0 && elementBits <= bits &&
      lookupCopyInstruction(CopyPath::LdsTranspose, unsigned(bits), unsigned(elementBits)))
    return success();
  SmallVector<std::string> forms;
  for (const CopyInstruction &copy : getCopyInstructions())
    if (copy.path == CopyPath::LdsTranspose)
      forms.push_back((Twine(unsigned(copy.bits)) + " of " + Twine(unsigned(copy.elementBits))).str());
  return emitError() << "no " << describe(CopyPath::LdsTranspose) << " of " << bits << " bits with elements of "
                     << elementBits << " bits; there are " << llvm::join(forms, ", ");
}

int64_t LdsReadTransAttr::getAccessBits() const { return getBits(); }
int64_t LdsReadTransAttr::getNumLanes() const { return 64; }
int64_t LdsReadTransAttr::getAlignment() const {
  return getInstruction(CopyPath::LdsTranspose, getBits(), getElementBits()).alignment;
}
bool LdsReadTransAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Shared && destination == MemorySpace::Register;
}
LogicalResult LdsReadTransAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getInstruction(CopyPath::LdsTranspose, getBits(), getElementBits()), arch);
}

layout::Layout LdsReadTransAttr::getExchangeLayout() const {
  int64_t values = getBits() / getElementBits();
  return layout::Layout(layout::IntTuple::tuple({layout::IntTuple::tuple({16, 4}), values}),
                        layout::IntTuple::tuple({layout::IntTuple::tuple({1, 16 * values}), 16}));
}

Value LdsReadTransAttr::emitLoad(OpBuilder &builder, Location loc, const Address &source, VectorType type) const {
  Type words = getElementBits() == 16 ? Type(VectorType::get(getBits() / 16, builder.getI16Type()))
                                      : getTransferType(getBits(), builder);
  std::string name = "rocdl.ds.read.tr" + std::to_string(getElementBits()) + ".b" + std::to_string(getBits());
  OperationState state(loc, name);
  state.addOperands(emitPointer(builder, loc, source));
  state.addTypes(words);
  return emitBitcastFrom(builder, loc, builder.create(state)->getResult(0), type);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static std::optional<AtomicType> getAtomicType(Type type) {
  if (type.isInteger(32))
    return AtomicType::I32;
  if (type.isInteger(64))
    return AtomicType::I64;
  if (type.isF32())
    return AtomicType::F32;
  if (type.isF64())
    return AtomicType::F64;
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable() || vector.getDimSize(0) != 2)
    return std::nullopt;
  if (vector.getElementType().isF16())
    return AtomicType::PackedF16;
  if (vector.getElementType().isBF16())
    return AtomicType::PackedBF16;
  return std::nullopt;
}

static AtomicOperation getOperation(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::Add:
    return AtomicOperation::Add;
  case AtomicKind::Max:
    return AtomicOperation::Max;
  case AtomicKind::Min:
    return AtomicOperation::Min;
  case AtomicKind::UMax:
    return AtomicOperation::UMax;
  case AtomicKind::UMin:
    return AtomicOperation::UMin;
  }
  return AtomicOperation::Add;
}

static StringRef describe(AtomicMemory memory) {
  return memory == AtomicMemory::Buffer   ? "buffer atomic"
         : memory == AtomicMemory::Global ? "global atomic"
                                          : "LDS atomic";
}

static LogicalResult verifyAtomic(EmitError emitError, AtomicMemory memory, AtomicKind kind, Type type) {
  std::optional<AtomicType> atomicType = getAtomicType(type);
  if (atomicType && lookupAtomicInstruction(memory, getOperation(kind), *atomicType))
    return success();
  SmallVector<StringRef> types;
  for (const AtomicInstruction &atomic : getAtomicInstructions())
    if (atomic.memory == memory && atomic.operation == getOperation(kind))
      types.push_back(getName(atomic.type));
  return emitError() << "no " << describe(memory) << " '" << stringifyAtomicKind(kind) << "' of " << type
                     << "; it is there for " << llvm::join(types, ", ");
}

static LogicalResult verifyAtomicOn(EmitError emitError, AtomicMemory memory, AtomicKind kind, Type type,
                                    StringRef target) {
  if (target.empty())
    return success();
  FailureOr<const ChipInfo *> chip = getAMDChip(target, emitError);
  if (failed(chip))
    return failure();
  const AtomicInstruction &atomic = *lookupAtomicInstruction(memory, getOperation(kind), *getAtomicType(type));
  if (atomic.isAvailable((*chip)->arch))
    return success();
  SmallVector<StringRef> needs, types;
  for (const ChipInfo *other : getAMDChips())
    if (atomic.isAvailable(other->arch))
      needs.push_back(other->arch);
  for (const AtomicInstruction &other : getAtomicInstructions())
    if (other.memory == memory && other.operation == atomic.operation && other.isAvailable((*chip)->arch))
      types.push_back(getName(other.type));
  InFlightDiagnostic diag = emitError() << describe(memory) << " '" << stringifyAtomicKind(kind) << "' of " << type
                                        << " needs " << llvm::join(needs, " or ") << "; target is " << target;
  diag.attachNote() << target << " has it for " << llvm::join(types, ", ");
  return diag;
}

/// The value as the instruction takes it: a scalar or a packed pair.
static Value emitAtomicValue(OpBuilder &builder, Location loc, Value value, Type type) {
  return emitBitcast(builder, loc, value, type);
}

static bool emitAtomicRMW(OpBuilder &builder, Location loc, AtomicKind kind, Type type, Value value,
                          const Address &destination, StringRef scope) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(type));
  LLVM::AtomicBinOp op = LLVM::AtomicBinOp::add;
  switch (kind) {
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
  LLVM::AtomicRMWOp::create(builder, loc, op, emitPointer(builder, loc, destination),
                            emitAtomicValue(builder, loc, value, type), LLVM::AtomicOrdering::monotonic, scope,
                            unsigned(destination.align));
  return true;
}

LogicalResult BufferAtomicAttr::verify(EmitError emitError, AtomicKind kind, Type type) {
  return verifyAtomic(emitError, AtomicMemory::Buffer, kind, type);
}
int64_t BufferAtomicAttr::getAccessBits() const { return getBitWidth(*getAtomicType(getType())); }
bool BufferAtomicAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Register && destination == MemorySpace::Buffer;
}
LogicalResult BufferAtomicAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyAtomicOn(emitError, AtomicMemory::Buffer, getKind(), getType(), arch);
}

bool BufferAtomicAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  Value offset = emitBufferOffset(builder, loc, destination);
  if (!offset)
    return false;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(getType()));
  StringRef operation = getName(getOperation(getKind()));
  // Signed integers are marked, floats as well: smax, fmax; umax as it is.
  std::string name = "llvm.amdgcn.raw.ptr.buffer.atomic.";
  if (isFloat)
    name += "f";
  else if (getKind() == AtomicKind::Max || getKind() == AtomicKind::Min)
    name += "s";
  name += operation;
  Value zero = emitI32(builder, loc, 0);
  LLVM::CallIntrinsicOp::create(
      builder, loc, getType(), builder.getStringAttr(name),
      ValueRange{emitAtomicValue(builder, loc, value, getType()), destination.base, offset, zero, zero});
  return true;
}

LogicalResult GlobalAtomicAttr::verify(EmitError emitError, AtomicKind kind, Type type) {
  return verifyAtomic(emitError, AtomicMemory::Global, kind, type);
}
int64_t GlobalAtomicAttr::getAccessBits() const { return getBitWidth(*getAtomicType(getType())); }
bool GlobalAtomicAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Register && destination == MemorySpace::Global;
}
LogicalResult GlobalAtomicAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyAtomicOn(emitError, AtomicMemory::Global, getKind(), getType(), arch);
}
bool GlobalAtomicAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  return emitAtomicRMW(builder, loc, getKind(), getType(), value, destination, "agent");
}

LogicalResult LdsAtomicAttr::verify(EmitError emitError, AtomicKind kind, Type type) {
  return verifyAtomic(emitError, AtomicMemory::Lds, kind, type);
}
int64_t LdsAtomicAttr::getAccessBits() const { return getBitWidth(*getAtomicType(getType())); }
bool LdsAtomicAttr::connects(MemorySpace source, MemorySpace destination) const {
  return source == MemorySpace::Register && destination == MemorySpace::Shared;
}
LogicalResult LdsAtomicAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyAtomicOn(emitError, AtomicMemory::Lds, getKind(), getType(), arch);
}
bool LdsAtomicAttr::emitStore(OpBuilder &builder, Location loc, Value value, const Address &destination) const {
  return emitAtomicRMW(builder, loc, getKind(), getType(), value, destination, "workgroup");
}
