//===- AtxTileOps.cpp - Operations on a workgroup's tiles -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool atx::isTileType(Type type) {
  auto tile = dyn_cast<VectorType>(type);
  if (!tile || tile.getRank() == 0 || tile.isScalable())
    return false;
  int64_t elements = 1;
  for (int64_t extent : tile.getShape())
    if (llvm::MulOverflow(elements, extent, elements) || elements > maxTileElements)
      return false;
  return true;
}

bool atx::isTileArithmeticFloat(Type type) { return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type); }

bool atx::isTileStorageFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type, Float8E5M2FNUZType, Float6E2M3FNType,
             Float6E3M2FNType, Float4E2M1FNType>(type);
}

bool atx::isTileIndexType(Type type) {
  return type.isIndex() || type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

bool atx::isTileIntegerType(Type type) {
  return isTileIndexType(type) || type.isSignlessInteger(8) || type.isSignlessInteger(16);
}

bool atx::isTileElementType(Type type) {
  return type.isSignlessInteger(1) || isTileIntegerType(type) || isTileArithmeticFloat(type) ||
         isTileStorageFloat(type);
}

bool atx::isTileMemoryType(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory || memory.getElementType().isIndex() || !isTileElementType(memory.getElementType()))
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(memory.getStridesAndOffset(strides, offset)) && offset == 0;
}

/// Shape of a tile; empty for a scalar.
static ArrayRef<int64_t> getShape(Type type) {
  auto tile = dyn_cast<VectorType>(type);
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

/// `16x64`.
static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text;
}

/// Whether `part` is a scalar, or has the rank of `whole` and extents that are
/// those of `whole` or 1.
static bool stretchesTo(Type part, Type whole) {
  if (!isa<VectorType>(part))
    return true;
  ArrayRef<int64_t> from = getShape(part), to = getShape(whole);
  return from.size() == to.size() && llvm::all_of(llvm::zip(from, to), [](auto pair) {
           return std::get<0>(pair) == std::get<1>(pair) || std::get<0>(pair) == 1;
         });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

OpFoldResult TileIotaOp::fold(FoldAdaptor) {
  VectorType type = getResult().getType();
  return type.getNumElements() == 1 ? Builder(getContext()).getZeroAttr(type) : Attribute();
}

LogicalResult TileIotaOp::verify() {
  VectorType type = getResult().getType();
  if (type.getRank() != 1)
    return emitOpError() << "counts along one axis, but the result has rank " << type.getRank();
  Type element = type.getElementType();
  if (!element.isIndex() && type.getNumElements() - 1 > llvm::maxIntN(element.getIntOrFloatBitWidth()))
    return emitOpError() << "the last number, " << type.getNumElements() - 1 << ", does not fit " << element
                         << " as a signed integer";
  return success();
}

/// The rules that accesses share: `value` is what is read or written.
static LogicalResult verifyAccess(Operation *op, Type value, MemRefType memory, OperandRange indices, StringRef what) {
  if (getElementTypeOrSelf(value) != memory.getElementType())
    return op->emitOpError() << what << " has elements of type " << getElementTypeOrSelf(value)
                             << ", the memory of type " << memory.getElementType();
  if (static_cast<int64_t>(indices.size()) != memory.getRank())
    return op->emitOpError() << "needs one index for each of the " << memory.getRank() << " dimensions of " << memory
                             << ", got " << indices.size();
  bool anyTile = false;
  for (auto [number, index] : llvm::enumerate(indices)) {
    anyTile |= isa<VectorType>(index.getType());
    if (!stretchesTo(index.getType(), value))
      return op->emitOpError() << "index " << number << " of type " << index.getType()
                               << " does not stretch to the shape of " << what << " of type " << value
                               << ": it needs the same rank, and extents that are equal or 1";
  }
  if (isa<VectorType>(value) && !anyTile)
    return op->emitOpError() << what << " is a tile, but every index is a scalar";
  return success();
}

static LogicalResult verifyMask(Operation *op, Value mask, Type value, StringRef what) {
  if (mask && !stretchesTo(mask.getType(), value))
    return op->emitOpError() << "mask of type " << mask.getType() << " does not stretch to the shape of " << what
                             << " of type " << value << ": it needs the same rank, and extents that are equal or 1";
  return success();
}

LogicalResult TileLoadOp::verify() {
  return verifyAccess(*this, getResult().getType(), getMemory().getType(), getIndices(), "the result");
}

LogicalResult TileStoreOp::verify() {
  if (failed(verifyAccess(*this, getValue().getType(), getMemory().getType(), getIndices(), "the value")))
    return failure();
  return verifyMask(*this, getMask(), getValue().getType(), "the value");
}

LogicalResult TileAtomicOp::verify() {
  if (failed(verifyAccess(*this, getValue().getType(), getMemory().getType(), getIndices(), "the value")) ||
      failed(verifyMask(*this, getMask(), getValue().getType(), "the value")))
    return failure();
  Type element = getElementTypeOrSelf(getValue().getType());
  TileAtomicKind kind = getKind();
  bool isInteger = element.isInteger(32) || element.isInteger(64);
  bool isHalf = element.isF16() || element.isBF16();
  if (!isInteger && !isHalf && !element.isF32() && !element.isF64())
    return emitOpError() << "there is no atomic operation on elements of type " << element
                         << ": they are i32, i64, f32, f64, f16 or bf16";
  if (isHalf && kind != TileAtomicKind::Add)
    return emitOpError() << "'" << stringifyTileAtomicKind(kind) << "' has no form for " << element << ", only 'add'";
  switch (kind) {
  case TileAtomicKind::UMax:
  case TileAtomicKind::UMin:
  case TileAtomicKind::And:
  case TileAtomicKind::Or:
  case TileAtomicKind::Xor:
    if (!isInteger)
      return emitOpError() << "'" << stringifyTileAtomicKind(kind) << "' needs integers, got " << element;
    break;
  default:
    break;
  }
  if ((kind == TileAtomicKind::Cas) != static_cast<bool>(getCompare()))
    return emitOpError() << (getCompare() ? "'cmp' belongs to 'cas' only"
                                          : "'cas' needs a value to compare with, 'cmp'");
  return success();
}

LogicalResult TileSharedOp::verify() {
  MemRefType type = getResult().getType();
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  if (!space || space.getValue() != gpu::AddressSpace::Workgroup)
    return emitOpError() << "memory of a workgroup has the space '#gpu.address_space<workgroup>', got " << type;
  if (!type.hasStaticShape())
    return emitOpError() << "memory of a workgroup has a static shape, got " << type;
  if (!type.getLayout().isIdentity())
    return emitOpError() << "memory of a workgroup is contiguous and row-major, got " << type;
  int64_t elements = 1;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(elements, extent, elements) || elements > maxTileElements)
      return emitOpError() << "has more than " << maxTileElements << " elements: " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

static LogicalResult verifyAxis(Operation *op, int64_t axis, VectorType type) {
  if (axis < 0 || axis >= type.getRank())
    return op->emitOpError() << "axis " << axis << " is not one of the " << type.getRank() << " axes of " << type;
  return success();
}

/// What `sum`, `max` and the like need of their elements.
static LogicalResult verifyElements(Operation *op, StringRef kind, bool isUnsigned, Type element) {
  bool isInteger = isTileIntegerType(element);
  if (isUnsigned && !isInteger)
    return op->emitOpError() << "'" << kind << "' compares unsigned integers, got " << element;
  if (!isInteger && !isTileArithmeticFloat(element))
    return op->emitOpError() << "'" << kind << "' has no form for elements of type " << element
                             << ": they are i8, i16, i32, i64, index, f16, bf16, f32 or f64";
  return success();
}

Type TileReduceOp::getResultType(VectorType input, TileReduceKind kind, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (int64_t axis = 0; axis < input.getRank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      shape.push_back(input.getDimSize(axis));
  Type element = input.getElementType();
  if (kind == TileReduceKind::ArgMax || kind == TileReduceKind::ArgMin)
    element = IntegerType::get(input.getContext(), 32);
  return shape.empty() ? element : VectorType::get(shape, element);
}

LogicalResult TileReduceOp::verify() {
  VectorType input = getInput().getType();
  TileReduceKind kind = getKind();
  StringRef name = stringifyTileReduceKind(kind);
  if (getAxes().empty())
    return emitOpError() << "reduces along no axis";
  llvm::SmallBitVector seen(input.getRank());
  for (int64_t axis : getAxes()) {
    if (failed(verifyAxis(*this, axis, input)))
      return failure();
    if (seen.test(axis))
      return emitOpError() << "axis " << axis << " stands twice";
    seen.set(axis);
  }
  Type element = input.getElementType();
  bool isArg = kind == TileReduceKind::ArgMax || kind == TileReduceKind::ArgMin;
  if (isArg && getAxes().size() != 1)
    return emitOpError() << "'" << name << "' finds a position along one axis, got " << getAxes().size();
  if (getIsUnsigned() && !isArg)
    return emitOpError() << "'is_unsigned' belongs to 'argmax' and 'argmin'; '" << name << "' has none";
  if (kind == TileReduceKind::Any || kind == TileReduceKind::All) {
    if (!element.isInteger(1))
      return emitOpError() << "'" << name << "' needs elements of type i1, got " << element;
  } else if (failed(verifyElements(*this, name,
                                   getIsUnsigned() || kind == TileReduceKind::UMax || kind == TileReduceKind::UMin,
                                   element))) {
    return failure();
  }
  Type expected = getResultType(input, kind, getAxes());
  if (getResult().getType() != expected)
    return emitOpError() << "gives " << expected << ", not " << getResult().getType();
  return success();
}

OpFoldResult TileScanOp::fold(FoldAdaptor) {
  if (!getExclusive() && getInput().getType().getDimSize(getAxis()) == 1)
    return getInput();
  return {};
}

LogicalResult TileScanOp::verify() {
  VectorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  return verifyElements(*this, stringifyTileScanKind(getKind()),
                        getKind() == TileScanKind::UMax || getKind() == TileScanKind::UMin, input.getElementType());
}

LogicalResult TileTopkOp::verify() {
  VectorType input = getInput().getType();
  int64_t axis = getAxis(), k = getK();
  if (failed(verifyAxis(*this, axis, input)))
    return failure();
  if (failed(verifyElements(*this, "topk", getIsUnsigned(), input.getElementType())))
    return failure();
  if (k < 1 || k > input.getDimSize(axis))
    return emitOpError() << "k is at least 1 and at most the extent " << input.getDimSize(axis) << " of axis " << axis
                         << ", got " << k;
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = k;
  VectorType values = VectorType::get(shape, input.getElementType());
  VectorType indices = VectorType::get(shape, IntegerType::get(getContext(), 32));
  if (getValues().getType() != values || getIndices().getType() != indices)
    return emitOpError() << "gives " << values << " and " << indices << ", not " << getValues().getType() << " and "
                         << getIndices().getType();
  return success();
}

LogicalResult TileRankOp::verify() {
  VectorType input = getInput().getType();
  if (failed(verifyAxis(*this, getAxis(), input)))
    return failure();
  if (getResult().getType().getShape() != input.getShape())
    return emitOpError() << "the result has the shape of the input, " << formatShape(input.getShape()) << ", not "
                         << formatShape(getResult().getType().getShape());
  return success();
}

LogicalResult TileHistogramOp::verify() {
  if (failed(verifyMask(*this, getMask(), getInput().getType(), "the input")))
    return failure();
  if (getResult().getType().getRank() != 1)
    return emitOpError() << "counts into a tile of rank 1, got " << getResult().getType();
  return success();
}

OpFoldResult TileConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  return {};
}

LogicalResult TileConcatOp::verify() {
  VectorType result = getResult().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, result)))
    return failure();
  if (getInputs().empty())
    return emitOpError() << "needs at least one input";
  int64_t extent = 0;
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    auto type = cast<VectorType>(input.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (shape.size() == result.getShape().size()) {
      extent += shape[axis];
      shape[axis] = result.getDimSize(axis);
    }
    if (type.getElementType() != result.getElementType() || ArrayRef<int64_t>(shape) != result.getShape())
      return emitOpError() << "input " << number << " of type " << type << " does not fit " << result
                           << ": element type, rank and extents except along axis " << axis << " are the result's";
  }
  if (extent != result.getDimSize(axis))
    return emitOpError() << "the inputs have " << extent << " elements along axis " << axis << " together, the result "
                         << result.getDimSize(axis);
  return success();
}

LogicalResult TileTakeOp::verify() {
  VectorType input = getInput().getType(), index = getIndex().getType(), result = getResult().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, input)))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  bool fits = index.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i)
    fits = i == axis || index.getDimSize(i) == shape[i] || index.getDimSize(i) == 1;
  if (!fits)
    return emitOpError() << "index tile of type " << index << " does not fit " << input
                         << ": it needs the same rank, and extents that are equal or 1 except along axis " << axis;
  shape[axis] = index.getDimSize(axis);
  VectorType expected = VectorType::get(shape, input.getElementType());
  if (result != expected)
    return emitOpError() << "gives " << expected << ", not " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

LogicalResult TileConvertOp::verify() {
  Type from = getElementTypeOrSelf(getInput().getType()), to = getElementTypeOrSelf(getResult().getType());
  if (!isTileArithmeticFloat(from))
    return emitOpError() << "converts from f16, bf16, f32 or f64, got " << from;
  bool toInteger = to.isSignlessInteger() && !to.isInteger(1);
  if (!toInteger && !isTileStorageFloat(to))
    return emitOpError() << "converts to an 8-, 6- or 4-bit float, i8, i16, i32 or i64, got " << to;
  if (toInteger && getSaturate())
    return emitOpError() << "'saturate' belongs to floats; a conversion to " << to << " is always clamped";
  if (!toInteger && getIsUnsigned())
    return emitOpError() << "'is_unsigned' belongs to integers, not to " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

OpFoldResult TilePinOp::fold(FoldAdaptor) {
  auto first = getInput().getDefiningOp<TilePinOp>();
  if (first && first.getLayout() == getLayout())
    return getInput();
  return {};
}

FailureOr<PinnedLayout> atx::parsePinnedLayout(StringRef text, VectorType tile,
                                               llvm::function_ref<InFlightDiagnostic()> emitError) {
  llvm::Expected<layout::Value> parsed = layout::parse(text);
  if (!parsed) {
    emitError() << "cannot read the layout '" << text << "': " << llvm::toString(parsed.takeError());
    return failure();
  }
  auto *map = std::get_if<layout::Map>(&*parsed);
  const layout::Layout *value = map ? map->getLayout() : nullptr;
  if (!value || !value->isStatic() || value->hasBasis()) {
    emitError() << "'" << text << "' is not a layout with integer shape and stride";
    return failure();
  }
  if (value->getRank() != 2 || value->getMode(0).getRank() != 2) {
    emitError() << "the layout '" << text << "' is not of the form ((lane, wave), value)";
    return failure();
  }
  PinnedLayout result;
  int64_t total = 1;
  auto read = [&](const layout::Layout &mode, SmallVectorImpl<std::pair<int64_t, int64_t>> &modes) -> int64_t {
    int64_t size = 1;
    for (auto [extent, stride] : mode.getLeaves()) {
      modes.push_back({extent.value, stride.value});
      // At most 1024 times as many places as there can be elements.
      if (extent.value < 1 || llvm::MulOverflow(total, extent.value, total) || total > maxTileElements * 1024)
        return 0;
      size *= extent.value;
    }
    return size;
  };
  int64_t lanes = read(value->getMode(0).getMode(0), result.threads);
  int64_t waves = lanes ? read(value->getMode(0).getMode(1), result.threads) : 0;
  int64_t values = waves ? read(value->getMode(1), result.values) : 0;
  if (!values) {
    emitError() << "the layout '" << text << "' has an extent below 1 or more places than a tile can have";
    return failure();
  }
  result.lanes = lanes;
  result.waves = waves;
  result.numValues = values;
  if (lanes * waves > 1024) {
    emitError() << "the layout '" << text << "' has " << lanes * waves << " lanes, a workgroup at most 1024";
    return failure();
  }
  int64_t elements = tile.getNumElements();
  llvm::BitVector reached(elements);
  for (int64_t thread = 0; thread < lanes * waves; ++thread) {
    llvm::SmallDenseSet<int64_t> own;
    for (int64_t index = 0; index < values; ++index) {
      int64_t element = result.getElement(thread, index);
      if (element < 0 || element >= elements) {
        emitError() << "the layout '" << text << "' puts element " << element << " into value " << index << " of lane "
                    << thread % lanes << " in wave " << thread / lanes << "; " << tile << " has elements 0 to "
                    << elements - 1;
        return failure();
      }
      if (!own.insert(element).second) {
        emitError() << "the layout '" << text << "' puts element " << element << " into lane " << thread % lanes
                    << " of wave " << thread / lanes << " twice";
        return failure();
      }
      reached.set(element);
    }
  }
  if (int missing = reached.find_first_unset(); missing >= 0) {
    emitError() << "the layout '" << text << "' reaches " << reached.count() << " of the " << elements
                << " elements of " << tile << "; the first missing is " << missing;
    return failure();
  }
  return result;
}

int64_t PinnedLayout::getElement(int64_t thread, int64_t value) const {
  // Sums wrap: strides of a wrong text may be of any size.
  uint64_t element = 0;
  for (auto [extent, stride] : threads) {
    element += static_cast<uint64_t>(thread % extent) * static_cast<uint64_t>(stride);
    thread /= extent;
  }
  for (auto [extent, stride] : values) {
    element += static_cast<uint64_t>(value % extent) * static_cast<uint64_t>(stride);
    value /= extent;
  }
  return static_cast<int64_t>(element);
}

LogicalResult TilePinOp::verify() {
  FailureOr<PinnedLayout> layout = parsePinnedLayout(getLayout(), getInput().getType(), [&] { return emitOpError(); });
  if (failed(layout))
    return failure();
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp())
    if (auto threads = op->getAttrOfType<IntegerAttr>(threadsAttrName)) {
      if (threads.getInt() != layout->lanes * layout->waves)
        return emitOpError() << "the layout '" << getLayout() << "' has " << layout->lanes << " lanes in "
                             << layout->waves << " waves, the kernel " << threads.getInt() << " threads";
      break;
    }
  return success();
}

void TileYieldOp::build(OpBuilder &, OperationState &) {}

/// What a lane sees of a tile or scalar, described for an error.
static bool isFragmentOf(Type fragment, Type whole) {
  auto tile = dyn_cast<VectorType>(whole);
  if (!tile)
    return fragment == whole;
  auto vector = dyn_cast<VectorType>(fragment);
  return vector && vector.getRank() == 1 && !vector.isScalable() && vector.getElementType() == tile.getElementType();
}

LogicalResult TileRawOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " operands, but its region " << block.getNumArguments()
                         << " arguments";
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    Type argument = block.getArgument(number).getType();
    if (!isFragmentOf(argument, input.getType()))
      return emitOpError() << "argument " << number << " of the region has type " << argument
                           << "; for an operand of type " << input.getType() << " it is "
                           << (isa<VectorType>(input.getType()) ? "a vector of rank 1 with the same elements"
                                                                : "the same type");
    auto pin = input.getDefiningOp<TilePinOp>();
    if (!pin)
      continue;
    FailureOr<PinnedLayout> layout =
        parsePinnedLayout(pin.getLayout(), pin.getInput().getType(), [] { return InFlightDiagnostic(); });
    if (succeeded(layout) && layout->numValues != cast<VectorType>(argument).getDimSize(0))
      return emitOpError() << "argument " << number << " of the region has " << cast<VectorType>(argument).getDimSize(0)
                           << " values, but a lane has " << layout->numValues << " in the layout '" << pin.getLayout()
                           << "'";
  }
  auto yield = cast<TileYieldOp>(block.getTerminator());
  if (yield.getValues().size() != getNumResults())
    return emitOpError() << "has " << getNumResults() << " results, but its region yields " << yield.getValues().size()
                         << " values";
  for (auto [number, value] : llvm::enumerate(yield.getValues()))
    if (!isFragmentOf(value.getType(), getResult(number).getType()))
      return emitOpError() << "the region yields " << value.getType() << " for result " << number << " of type "
                           << getResult(number).getType();
  return success();
}
