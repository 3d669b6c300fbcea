//===- AtxAMDGPUMatrixAtoms.cpp - Matrix instructions as atoms ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/AtxAMDGPU/AtomSupport.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;
using namespace atrex::atx_amdgpu;
using namespace atrex::atx_amdgpu::detail;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<MatrixType> atx_amdgpu::getMatrixType(Type type) {
  if (type.isInteger(8))
    return MatrixType::I8;
  if (type.isInteger(32))
    return MatrixType::I32;
  if (type.isF64())
    return MatrixType::F64;
  if (type.isF32())
    return MatrixType::F32;
  if (type.isTF32())
    return MatrixType::XF32;
  if (type.isF16())
    return MatrixType::F16;
  if (type.isBF16())
    return MatrixType::BF16;
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType>(type))
    return MatrixType::FP8;
  if (isa<Float8E5M2Type, Float8E5M2FNUZType>(type))
    return MatrixType::BF8;
  if (isa<Float6E2M3FNType>(type))
    return MatrixType::FP6;
  if (isa<Float6E3M2FNType>(type))
    return MatrixType::BF6;
  if (isa<Float4E2M1FNType>(type))
    return MatrixType::FP4;
  return std::nullopt;
}

Type atx_amdgpu::getTypeOn(const ChipInfo &chip, Type type) {
  MLIRContext *context = type.getContext();
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType>(type))
    return chip.fp8IsFNUZ ? Type(Float8E4M3FNUZType::get(context)) : Type(Float8E4M3FNType::get(context));
  if (isa<Float8E5M2Type, Float8E5M2FNUZType>(type))
    return chip.fp8IsFNUZ ? Type(Float8E5M2FNUZType::get(context)) : Type(Float8E5M2Type::get(context));
  return type;
}

/// The format code of an f8f6f4 operand.
static std::optional<unsigned> getF8F6F4Code(MatrixType type) {
  for (unsigned code = 0; std::optional<MatrixType> format = getF8F6F4Type(code); ++code)
    if (*format == type)
      return code;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Instructions of an atom
//===----------------------------------------------------------------------===//

namespace {

/// What an atom asks for.
struct Request {
  MatrixKind kind;
  int64_t m, n, k, blocks;
  Type a, b, c;

  /// "16x16x32 bf16", "sparse 16x16x32 f16", "scaled 16x16x128 f8E4M3FN x f4E2M1FN".
  std::string str() const;
};

} // namespace

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

static std::string typesToString(Type a, Type b) { return a == b ? toString(a) : toString(a) + " x " + toString(b); }

static StringRef getKindName(MatrixKind kind) {
  return kind == MatrixKind::Dense ? "" : kind == MatrixKind::Sparse ? "sparse " : "scaled ";
}

std::string Request::str() const {
  return (getKindName(kind) + Twine(m) + "x" + Twine(n) + "x" + Twine(k) + " " + typesToString(a, b) +
          (blocks == 1 ? "" : ", blocks = " + std::to_string(blocks)))
      .str();
}

/// Whether the instruction takes elements of these types.
static bool takesTypes(const MatrixInstruction &inst, const Request &request) {
  std::optional<MatrixType> a = getMatrixType(request.a), b = getMatrixType(request.b), c = getMatrixType(request.c);
  if (inst.kind != request.kind || !a || !b || !c || inst.c != *c)
    return false;
  if (inst.isF8F6F4())
    return getF8F6F4Code(*a) && getF8F6F4Code(*b);
  return inst.a == *a && inst.b == *b;
}

/// Whether the chip has the instruction and the encodings of the types.
static bool isAvailable(const MatrixInstruction &inst, const Request &request, const ChipInfo &chip) {
  return inst.isAvailable(chip.arch) && getTypeOn(chip, request.a) == request.a &&
         getTypeOn(chip, request.b) == request.b;
}

static const MatrixInstruction *lookup(const Request &request) {
  for (const MatrixInstruction &inst : getMatrixInstructions())
    if (inst.m == request.m && inst.n == request.n && inst.k == request.k && inst.blocks == request.blocks &&
        takesTypes(inst, request))
      return &inst;
  return nullptr;
}

/// The instruction of the same kind and types on one of the chips whose shape is
/// closest, as text; empty when there is none.
static std::string findNearest(const Request &request, ArrayRef<const ChipInfo *> chips) {
  auto distance = [](int64_t x, int64_t y) {
    return std::fabs(std::log2(double(std::max<int64_t>(x, 1)) / double(y)));
  };
  double best = 0;
  std::string nearest;
  for (const ChipInfo *chip : chips) {
    Request there = request;
    there.a = getTypeOn(*chip, request.a);
    there.b = getTypeOn(*chip, request.b);
    for (const MatrixInstruction &inst : getMatrixInstructions()) {
      if (!takesTypes(inst, there) || !isAvailable(inst, there, *chip))
        continue;
      double cost = distance(request.m, inst.m) + distance(request.n, inst.n) + distance(request.k, inst.k) +
                    distance(request.blocks, inst.blocks);
      // Of types that the chip encodes otherwise only if there is nothing else.
      if (there.a != request.a || there.b != request.b)
        cost += 100;
      if (!nearest.empty() && cost >= best)
        continue;
      best = cost;
      there.m = inst.m, there.n = inst.n, there.k = inst.k, there.blocks = inst.blocks;
      nearest = there.str();
    }
  }
  return nearest;
}

/// An atom exists if some chip has its instruction.
static LogicalResult verifyExists(EmitError emitError, const Request &request) {
  for (auto [name, type] : {std::pair("A", request.a), std::pair("B", request.b), std::pair("C", request.c)})
    if (!getMatrixType(type))
      return emitError() << "operand " << name << " has elements of " << type
                         << ", which no matrix instruction takes; they take f64, f32, tf32, f16, bf16, i8, "
                            "f8E4M3FNUZ, f8E5M2FNUZ, f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN and f4E2M1FN";
  SmallVector<const ChipInfo *> chips = getAMDChips();
  if (const MatrixInstruction *inst = lookup(request)) {
    if (llvm::any_of(chips, [&](const ChipInfo *chip) { return isAvailable(*inst, request, *chip); }))
      return success();
    std::string nearest = findNearest(request, chips);
    return emitError() << "no chip has " << request.str() << " with these encodings; nearest: " << nearest;
  }
  std::string nearest = findNearest(request, chips);
  if (!nearest.empty())
    return emitError() << "no matrix instruction " << request.str() << "; nearest: " << nearest;
  // The types do not go together. Name the instructions that take A.
  SmallVector<std::string> partners;
  for (const MatrixInstruction &inst : getMatrixInstructions()) {
    if (inst.kind != request.kind ||
        (inst.isF8F6F4() ? !getF8F6F4Code(*getMatrixType(request.a)) : inst.a != *getMatrixType(request.a)))
      continue;
    std::string partner = (getName(inst.b) + " into " + getName(inst.c)).str();
    if (!llvm::is_contained(partners, partner))
      partners.push_back(partner);
  }
  InFlightDiagnostic diag = emitError() << "no " << getKindName(request.kind) << "matrix instruction multiplies "
                                        << request.a << " by " << request.b << " into " << request.c;
  if (partners.empty())
    return diag << "; none takes " << request.a << " as A";
  return diag << "; " << request.a << " is multiplied by " << llvm::join(partners, ", by ");
}

static LogicalResult verifyOn(EmitError emitError, const Request &request, StringRef target) {
  // The attribute's own verifier has found a chip.
  const MatrixInstruction *inst = lookup(request);
  if (target.empty())
    return success();
  FailureOr<const ChipInfo *> chip = getAMDChip(target, emitError);
  if (failed(chip))
    return failure();
  if (isAvailable(*inst, request, **chip))
    return success();
  SmallVector<StringRef> needs;
  for (const ChipInfo *other : getAMDChips())
    if (isAvailable(*inst, request, *other))
      needs.push_back(other->arch);
  InFlightDiagnostic diag = emitError() << request.str() << " needs " << llvm::join(needs, " or ") << "; target is "
                                        << target;
  std::string nearest = findNearest(request, *chip);
  if (nearest.empty())
    diag.attachNote() << target << " has no matrix instruction of these types";
  else
    diag.attachNote() << "nearest: " << nearest;
  return diag;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static layout::Layout toLayout(const ThreadValueLayout &tv) {
  auto modes = [](ArrayRef<LayoutMode> list, bool strides) {
    std::vector<layout::IntTuple> elements;
    for (const LayoutMode &mode : list)
      elements.push_back(int64_t(strides ? mode.stride : mode.extent));
    return layout::IntTuple::tuple(std::move(elements));
  };
  return layout::Layout(layout::IntTuple::tuple({modes(tv.thread, false), modes(tv.value, false)}),
                        layout::IntTuple::tuple({modes(tv.thread, true), modes(tv.value, true)}));
}

static MatrixOperand toMatrixOperand(MmaOperand operand) {
  switch (operand) {
  case MmaOperand::A:
    return MatrixOperand::A;
  case MmaOperand::B:
    return MatrixOperand::B;
  case MmaOperand::C:
    return MatrixOperand::C;
  case MmaOperand::D:
    break;
  }
  return MatrixOperand::D;
}

static ThreadValueLayout getLayout(const MatrixInstruction &inst, MmaOperand operand, Type a, Type b) {
  MatrixType type = operand == MmaOperand::A   ? *getMatrixType(a)
                    : operand == MmaOperand::B ? *getMatrixType(b)
                                               : inst.c;
  ThreadValueLayout tv = getThreadValueLayout(inst, toMatrixOperand(operand), type);
  // Values of C are runs of four rows; there is one run in 16 rows.
  bool isResult = operand == MmaOperand::C || operand == MmaOperand::D;
  if (isResult && inst.m == 16 && inst.blocks == 1 && inst.c != MatrixType::F64)
    tv.value.push_back({1, 16});
  return tv;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Type of an operand as the instruction's intrinsic wants it.
static Type getOperandType(const MatrixInstruction &inst, MatrixOperand operand, Type element, Builder &builder) {
  bool isFactor = operand == MatrixOperand::A || operand == MatrixOperand::B;
  MatrixType type = *getMatrixType(element);
  unsigned registers = getNumRegisters(inst, operand, type);
  auto vectorOf = [&](unsigned elements, Type elementType) -> Type {
    return elements == 1 ? elementType : VectorType::get(elements, elementType);
  };
  switch (type) {
  case MatrixType::F64:
    return vectorOf(registers / 2, builder.getF64Type());
  case MatrixType::F32:
  case MatrixType::XF32:
    return vectorOf(registers, builder.getF32Type());
  case MatrixType::F16:
    return vectorOf(registers * 2, builder.getF16Type());
  case MatrixType::BF16:
    // Intrinsics that are older than the type take integers.
    return vectorOf(registers * 2, inst.passesGfx942 ? Type(builder.getI16Type()) : Type(builder.getBF16Type()));
  default:
    break;
  }
  if (isFactor && inst.kind == MatrixKind::Dense && registers == 2)
    return builder.getI64Type();
  return vectorOf(registers, builder.getI32Type());
}

/// The operation of the ROCDL dialect. Its name follows the mnemonic, apart from
/// blocks, which it leaves out, and from the older shapes, which have no dot
/// before the type: v_mfma_f32_16x16x16_bf16 is mfma.f32.16x16x16bf16.1k.
static StringRef getOperationName(const MatrixInstruction &inst, MLIRContext *context) {
  SmallVector<StringRef> parts;
  inst.mnemonic.split(parts, '_');
  // v, mfma, [scale,] type, shape, [blocks,] types...
  std::string name = "rocdl.mfma";
  unsigned next = 2;
  if (inst.kind == MatrixKind::Sparse)
    name = "rocdl.smfmac";
  else if (inst.isF8F6F4())
    name += ".scale";
  if (inst.kind == MatrixKind::Scaled)
    ++next;
  name += ("." + parts[next] + "." + parts[next + 1]).str();
  next += inst.blocks > 1 ? 3 : 2;
  std::string types = llvm::join(ArrayRef(parts).drop_front(next), ".");
  // Without `.1k` there is an instruction of gfx908 with half the K.
  for (std::string candidate : {name + "." + types, name + types + ".1k", name + types})
    if (auto registered = RegisteredOperationName::lookup(candidate, context))
      return registered->getStringRef();
  return StringRef();
}

/// A, B and C as the intrinsic wants them; false after an error.
static bool emitOperands(OpBuilder &builder, Location loc, const MatrixInstruction &inst, Type a, Type b, Type c,
                         ValueRange values, SmallVectorImpl<Value> &operands) {
  auto add = [&](MatrixOperand operand, StringRef name, Type type, Value value) {
    Type wanted = getOperandType(inst, operand, type, builder);
    int64_t bits = int64_t(getNumRegisters(inst, operand, *getMatrixType(type))) * 32;
    if (getVectorBits(value.getType()) != bits) {
      emitError(loc) << "operand " << name << " of " << inst.mnemonic << " has " << bits << " bits per lane, got "
                     << value.getType();
      return false;
    }
    operands.push_back(emitBitcast(builder, loc, value, wanted));
    return true;
  };
  return add(MatrixOperand::A, "A", a, values[0]) && add(MatrixOperand::B, "B", b, values[1]) &&
         add(MatrixOperand::C, "C", c, values[2]);
}

/// Creates the operation and turns its result into the type of `like`.
static Value emitInstruction(OpBuilder &builder, Location loc, const MatrixInstruction &inst, ValueRange operands,
                             Value like) {
  OperationState state(loc, getOperationName(inst, builder.getContext()));
  state.addOperands(operands);
  state.addTypes(operands[2].getType());
  return emitBitcastFrom(builder, loc, builder.create(state)->getResult(0), cast<VectorType>(like.getType()));
}

/// An extra operand as i32; null after an error.
static Value emitExtra(OpBuilder &builder, Location loc, Value value, StringRef name, bool acceptByte) {
  Type type = value.getType();
  if (type.isInteger(32))
    return value;
  if (getVectorBits(type) == 32)
    return emitBitcast(builder, loc, value, builder.getI32Type());
  if (acceptByte && type.isInteger(8))
    return LLVM::ZExtOp::create(builder, loc, builder.getI32Type(), value);
  emitError(loc) << name << " must be an i32" << (acceptByte ? ", an i8" : "") << " or a vector of 32 bits, got "
                 << type;
  return Value();
}

//===----------------------------------------------------------------------===//
// mfma
//===----------------------------------------------------------------------===//

static Request getRequest(MfmaAttr attr) {
  return {MatrixKind::Dense, attr.getM(), attr.getN(), attr.getK(),
          attr.getBlocks(),  attr.getA(), attr.getB(), attr.getC()};
}

/// What blgp makes of the blocks of B: the number that read one block.
static int64_t getSharedBlocksOfB(int64_t blocks, int64_t blgp) {
  if (blocks == 2 && (blgp == 1 || blgp == 2))
    return 2;
  return blocks == 4 && blgp >= 4 ? 4 : 1;
}

LogicalResult MfmaAttr::verify(EmitError emitError, int64_t m, int64_t n, int64_t k, Type a, Type b, Type c,
                               int64_t blocks, int64_t cbsz, int64_t abid, int64_t blgp) {
  Request request = {MatrixKind::Dense, m, n, k, blocks, a, b, c};
  if (failed(verifyExists(emitError, request)))
    return failure();
  const MatrixInstruction &inst = *lookup(request);
  int64_t groups = llvm::Log2_64(inst.blocks);
  if ((cbsz != 0 || abid != 0) && !inst.hasBroadcast)
    return emitError() << request.str() << " does not broadcast blocks of A; 'cbsz' and 'abid' must be 0";
  if (cbsz < 0 || cbsz > groups)
    return emitError() << "'cbsz' is " << cbsz << "; with " << blocks << " blocks it lies from 0 to " << groups;
  if (abid < 0 || abid >= (int64_t(1) << cbsz))
    return emitError() << "'abid' is " << abid << "; it names one of the " << (int64_t(1) << cbsz)
                       << " blocks of a group, 2^cbsz";
  if (blgp < 0 || blgp > 7)
    return emitError() << "'blgp' is " << blgp << "; it lies from 0 to 7";
  if (blgp != 0 && !inst.hasLaneGroups && !inst.hasNegation)
    return emitError() << request.str() << " has no lane permutation of B; 'blgp' must be 0";
  if (inst.hasLaneGroups && blocks > 1 && cbsz == groups && getSharedBlocksOfB(blocks, blgp) == blocks)
    return emitError() << "all " << blocks << " blocks compute the same product: 'cbsz' = " << cbsz
                       << " shares A and 'blgp' = " << blgp << " shares B";
  return success();
}

const MatrixInstruction &MfmaAttr::getInstruction() const { return *lookup(getRequest(*this)); }

bool MfmaAttr::sharesA() const {
  return getBlocks() > 1 && getInstruction().hasBroadcast && getCbsz() == int64_t(llvm::Log2_64(getBlocks()));
}

bool MfmaAttr::sharesB() const {
  return getBlocks() > 1 && getInstruction().hasLaneGroups && getSharedBlocksOfB(getBlocks(), getBlgp()) == getBlocks();
}

SmallVector<int64_t, 3> MfmaAttr::getShape() const {
  return {sharesB() ? getM() * getBlocks() : getM(), sharesA() ? getN() * getBlocks() : getN(), getK()};
}

int64_t MfmaAttr::getNumLanes() const { return 64; }

Type MfmaAttr::getElementType(MmaOperand operand) const {
  Type type = operand == MmaOperand::A ? getA() : operand == MmaOperand::B ? getB() : getC();
  return type.isTF32() ? Type(Float32Type::get(getContext())) : type;
}

layout::Layout MfmaAttr::getOperandLayout(MmaOperand operand) const {
  const MatrixInstruction &inst = getInstruction();
  ThreadValueLayout tv = getLayout(inst, operand, getA(), getB());
  unsigned m = inst.m, n = inst.n, blocks = inst.blocks;
  if (sharesA()) {
    // Lanes of a block hold the same A, and columns of B and C go on from block
    // to block; C is that way already.
    if (operand == MmaOperand::A)
      tv.thread[1].stride = 0;
    else if (operand == MmaOperand::B)
      tv.thread[1].stride = n, tv.value[0].stride = n * blocks;
  } else if (sharesB()) {
    if (operand == MmaOperand::B)
      tv.thread[1].stride = 0;
    else if (operand == MmaOperand::A)
      tv.thread[1].stride = m, tv.value[0].stride = m * blocks;
    else
      tv.thread[0].stride = m * blocks, tv.value.back().stride = m;
  }
  return toLayout(tv);
}

LogicalResult MfmaAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getRequest(*this), arch);
}

Value MfmaAttr::emitMma(OpBuilder &builder, Location loc, Value a, Value b, Value c, ValueRange) const {
  const MatrixInstruction &inst = getInstruction();
  SmallVector<Value> operands;
  if (!emitOperands(builder, loc, inst, getA(), getB(), getC(), {a, b, c}, operands))
    return Value();
  if (inst.isF8F6F4()) {
    // Scales that are zero constants stand for none.
    Value zero = emitI32(builder, loc, 0);
    operands.append({emitI32(builder, loc, *getF8F6F4Code(*getMatrixType(getA()))),
                     emitI32(builder, loc, *getF8F6F4Code(*getMatrixType(getB()))), zero, zero, zero, zero});
  } else {
    for (int64_t field : {getCbsz(), getAbid(), getBlgp()})
      operands.push_back(emitI32(builder, loc, field));
  }
  return emitInstruction(builder, loc, inst, operands, c);
}

//===----------------------------------------------------------------------===//
// scaled_mfma
//===----------------------------------------------------------------------===//

static Request getRequest(ScaledMfmaAttr attr) {
  return {MatrixKind::Scaled, attr.getM(), attr.getN(), attr.getK(), 1, attr.getA(), attr.getB(), attr.getC()};
}

LogicalResult ScaledMfmaAttr::verify(EmitError emitError, int64_t m, int64_t n, int64_t k, Type a, Type b, Type c,
                                     int64_t selectA, int64_t selectB) {
  if (failed(verifyExists(emitError, {MatrixKind::Scaled, m, n, k, 1, a, b, c})))
    return failure();
  for (auto [name, value] : {std::pair("selectA", selectA), std::pair("selectB", selectB)})
    if (value < 0 || value > 3)
      return emitError() << "'" << name << "' is " << value << "; it names one of the bytes 0 to 3 of the scales";
  return success();
}

const MatrixInstruction &ScaledMfmaAttr::getInstruction() const { return *lookup(getRequest(*this)); }
SmallVector<int64_t, 3> ScaledMfmaAttr::getShape() const { return {getM(), getN(), getK()}; }
int64_t ScaledMfmaAttr::getNumLanes() const { return 64; }
unsigned ScaledMfmaAttr::getNumExtraOperands() const { return 2; }

Type ScaledMfmaAttr::getElementType(MmaOperand operand) const {
  return operand == MmaOperand::A ? getA() : operand == MmaOperand::B ? getB() : getC();
}

layout::Layout ScaledMfmaAttr::getOperandLayout(MmaOperand operand) const {
  return toLayout(getLayout(getInstruction(), operand, getA(), getB()));
}

layout::Layout ScaledMfmaAttr::getScaleLayout(MmaOperand operand) const {
  return toLayout(atrex::getScaleLayout(getInstruction(), toMatrixOperand(operand)));
}

LogicalResult ScaledMfmaAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getRequest(*this), arch);
}

Value ScaledMfmaAttr::emitMma(OpBuilder &builder, Location loc, Value a, Value b, Value c, ValueRange extra) const {
  const MatrixInstruction &inst = getInstruction();
  if (extra.size() != 2) {
    emitError(loc) << "a scaled product takes the scales of A and of B, got " << extra.size() << " extra operands";
    return Value();
  }
  SmallVector<Value> operands;
  if (!emitOperands(builder, loc, inst, getA(), getB(), getC(), {a, b, c}, operands))
    return Value();
  Value scaleA = emitExtra(builder, loc, extra[0], "the scale of A", true);
  Value scaleB = scaleA ? emitExtra(builder, loc, extra[1], "the scale of B", true) : Value();
  if (!scaleB)
    return Value();
  operands.append({emitI32(builder, loc, *getF8F6F4Code(*getMatrixType(getA()))),
                   emitI32(builder, loc, *getF8F6F4Code(*getMatrixType(getB()))), emitI32(builder, loc, getSelectA()),
                   scaleA, emitI32(builder, loc, getSelectB()), scaleB});
  return emitInstruction(builder, loc, inst, operands, c);
}

//===----------------------------------------------------------------------===//
// smfmac
//===----------------------------------------------------------------------===//

static Request getRequest(SmfmacAttr attr) {
  return {MatrixKind::Sparse, attr.getM(), attr.getN(), attr.getK(), 1, attr.getA(), attr.getB(), attr.getC()};
}

LogicalResult SmfmacAttr::verify(EmitError emitError, int64_t m, int64_t n, int64_t k, Type a, Type b, Type c,
                                 int64_t cbsz, int64_t abid) {
  Request request = {MatrixKind::Sparse, m, n, k, 1, a, b, c};
  if (failed(verifyExists(emitError, request)))
    return failure();
  if (cbsz < 0 || cbsz > 7)
    return emitError() << "'cbsz' is " << cbsz << "; it lies from 0 to 7";
  int64_t sets = cbsz == 0 ? getSparseIndexInfo(*lookup(request)).sets : 1;
  if (abid < 0 || abid >= sets)
    return emitError() << "'abid' is " << abid << "; " << request.str() << " with 'cbsz' = " << cbsz << " has " << sets
                       << (sets == 1 ? " index set" : " index sets") << " in the register";
  return success();
}

const MatrixInstruction &SmfmacAttr::getInstruction() const { return *lookup(getRequest(*this)); }
SmallVector<int64_t, 3> SmfmacAttr::getShape() const { return {getM(), getN(), getK()}; }
int64_t SmfmacAttr::getNumLanes() const { return 64; }
unsigned SmfmacAttr::getNumExtraOperands() const { return 1; }

Type SmfmacAttr::getElementType(MmaOperand operand) const {
  return operand == MmaOperand::A ? getA() : operand == MmaOperand::B ? getB() : getC();
}

layout::Layout SmfmacAttr::getOperandLayout(MmaOperand operand) const {
  return toLayout(getLayout(getInstruction(), operand, getA(), getB()));
}

LogicalResult SmfmacAttr::verifyTarget(StringRef arch, EmitError emitError) const {
  return verifyOn(emitError, getRequest(*this), arch);
}

Value SmfmacAttr::emitMma(OpBuilder &builder, Location loc, Value a, Value b, Value c, ValueRange extra) const {
  const MatrixInstruction &inst = getInstruction();
  if (extra.size() != 1) {
    emitError(loc) << "a sparse product takes the index register, got " << extra.size() << " extra operands";
    return Value();
  }
  SmallVector<Value> operands;
  if (!emitOperands(builder, loc, inst, getA(), getB(), getC(), {a, b, c}, operands))
    return Value();
  Value index = emitExtra(builder, loc, extra[0], "the index", false);
  if (!index)
    return Value();
  operands.append({index, emitI32(builder, loc, getCbsz()), emitI32(builder, loc, getAbid())});
  return emitInstruction(builder, loc, inst, operands, c);
}
