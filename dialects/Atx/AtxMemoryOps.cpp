//===- AtxMemoryOps.cpp - Views, fragments, copy and gemm -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

StringRef atx::getTargetName(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (auto name = op->getAttrOfType<StringAttr>(targetAttrName))
      return name;
    if (auto targets = op->getAttrOfType<ArrayAttr>("targets"))
      for (Attribute target : targets)
        if (auto rocdl = dyn_cast<ROCDL::ROCDLTargetAttr>(target))
          return rocdl.getChip();
  }
  return "";
}

unsigned atx::getAddressSpace(MemorySpace space) {
  switch (space) {
  case MemorySpace::Global:
    return 1;
  case MemorySpace::Shared:
    return 3;
  case MemorySpace::Buffer:
    return 8;
  case MemorySpace::Generic:
  case MemorySpace::Register:
    return 0;
  }
  return 0;
}

/// Reports the fault of an inference, if a location is there to report at.
static LogicalResult reportFault(std::optional<Location> location, StringRef opName, const layout::Algebra &algebra) {
  if (location)
    emitFault(*location, opName, *algebra.getFault());
  return failure();
}

/// The type of an operand, or null after an error: inference runs before the
/// operation's verifier has looked at the operands.
template <typename TypeT>
static TypeT getOperandType(std::optional<Location> location, StringRef opName, unsigned index, Value operand,
                            StringRef what) {
  auto type = dyn_cast<TypeT>(operand.getType());
  if (!type && location)
    mlir::emitError(*location) << "'" << opName << "' op operand #" << index << " must be " << what << ", but got "
                               << operand.getType();
  return type;
}

/// The layout of a view or coordinate view.
static std::optional<layout::Layout> getViewLayout(std::optional<Location> location, StringRef opName, Value operand) {
  if (auto view = dyn_cast<ViewType>(operand.getType()))
    return view.getLayout();
  if (auto view = dyn_cast<CoordViewType>(operand.getType()))
    return view.getLayout();
  if (location)
    mlir::emitError(*location) << "'" << opName << "' op operand #0 must be a view or a coordinate view, but got "
                               << operand.getType();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pointers and views
//===----------------------------------------------------------------------===//

LogicalResult MakePtrOp::verify() {
  unsigned have = cast<LLVM::LLVMPointerType>(getBase().getType()).getAddressSpace();
  unsigned want = getAddressSpace(getType().getSpace());
  if (have != want)
    return emitOpError() << "memory space " << stringifyMemorySpace(getType().getSpace())
                         << " needs a pointer in address space " << want << ", got " << have;
  if (int64_t period = getType().getSwizzle().getPeriod(); getType().getAlign() % period != 0)
    return emitOpError() << "C33: alignment " << getType().getAlign() << " is not a multiple of the period " << period
                         << " of swizzle " << layout::toString(getType().getSwizzle());
  if (getElementBits(getType().getElementType()) % 8 != 0)
    return emitOpError() << "elements of " << getElementBits(getType().getElementType())
                         << " bits have no addresses of their own: use a wider type and unpack in registers";
  return success();
}

int64_t AllocSharedOp::getNumBytes() {
  layout::Algebra algebra;
  ViewType type = getType();
  // The view's verifier has computed the same product.
  layout::Int bytes = algebra.mul(algebra.cosize(layout::Map(type.getLayout())),
                                  llvm::divideCeil(getElementBits(type.getElementType()), 8));
  return llvm::alignTo(bytes.value, type.getSwizzle().getBlock());
}

LogicalResult AllocSharedOp::verify() {
  ViewType type = getType();
  if (type.getSpace() != MemorySpace::Shared)
    return emitOpError() << "allocates shared memory, not " << stringifyMemorySpace(type.getSpace());
  if (!type.getLayout().isStatic())
    return emitOpError() << "C13: the layout '" << layout::toString(type.getLayout()) << "' must be static";
  for (auto &[extent, stride] : type.getLayout().getLeaves())
    if (stride.value < 0)
      return emitOpError() << "C15: the layout '" << layout::toString(type.getLayout()) << "' has a negative stride";
  if (getElementBits(type.getElementType()) % 8 != 0)
    return emitOpError() << "elements of " << getElementBits(type.getElementType())
                         << " bits have no addresses of their own: use a wider type and unpack in registers";
  int64_t period = type.getSwizzle().getPeriod();
  if (type.getAlign() % period != 0)
    return emitOpError() << "C33: alignment " << type.getAlign() << " is not a multiple of the period " << period
                         << " of swizzle " << layout::toString(type.getSwizzle());
  // No chip of the table has more than 160 KiB; the exact limit is the chip's
  // and is checked when code is generated.
  if (getNumBytes() > (int64_t(1) << 24))
    return emitOpError() << getNumBytes() << " bytes of shared memory exceed every target";
  return success();
}

LogicalResult MakeViewOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  auto ptr = getOperandType<PtrType>(location, "atx.make_view", 0, adaptor.getPtr(), "a pointer");
  auto layout = getOperandType<LayoutType>(location, "atx.make_view", 1, adaptor.getLayout(), "a layout");
  if (!ptr || !layout)
    return failure();
  ViewType type = ViewType::getChecked(atx::detail::errorsOf(location, "atx.make_view"), context, ptr.getElementType(),
                                       ptr.getSpace(), layout.getLayout(), ptr.getAlign(), ptr.getSwizzle());
  if (!type)
    return failure();
  inferred.push_back(type);
  return success();
}

LogicalResult MakeCoordViewOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &inferred) {
  auto tuple = getOperandType<IntTupleType>(location, "atx.make_coord_view", 0, adaptor.getShape(), "a tuple");
  if (!tuple)
    return failure();
  layout::Algebra algebra;
  const layout::IntTuple &shape = tuple.getValue();
  layout::Layout identity = algebra.makeIdentityLayout(shape);
  if (algebra.failed())
    return reportFault(location, "atx.make_coord_view", algebra);
  layout::IntTuple start = shape.map([](const layout::Int &) { return layout::Int(0); });
  inferred.push_back(CoordViewType::get(context, start, identity));
  return success();
}

LogicalResult GetLayoutOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  std::optional<layout::Layout> layout = getViewLayout(location, "atx.get_layout", adaptor.getView());
  if (!layout)
    return failure();
  inferred.push_back(LayoutType::get(context, *layout));
  return success();
}

LogicalResult GetPtrOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  auto view = getOperandType<ViewType>(location, "atx.get_ptr", 0, adaptor.getView(), "a view");
  if (!view)
    return failure();
  inferred.push_back(view.getPtr());
  return success();
}

LogicalResult AddOffsetOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto ptr = getOperandType<PtrType>(location, "atx.add_offset", 0, adaptor.getPtr(), "a pointer");
  auto tuple = getOperandType<IntTupleType>(location, "atx.add_offset", 1, adaptor.getOffset(), "an integer");
  if (!ptr || !tuple)
    return failure();
  const layout::IntTuple &offset = tuple.getValue();
  if (offset.isTuple() || offset.getLeaf().isStar() || offset.getLeaf().isBasis()) {
    if (location)
      mlir::emitError(*location) << "'atx.add_offset' op offset '" << layout::toString(offset)
                                 << "' must be a single integer";
    return failure();
  }
  inferred.push_back(PtrType::get(context, ptr.getElementType(), ptr.getSpace(),
                                  getAlignAfter(ptr.getAlign(), offset.getLeaf(), ptr.getElementType()),
                                  ptr.getSwizzle()));
  return success();
}

LogicalResult RecastViewOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  auto view = getOperandType<ViewType>(location, "atx.recast_view", 0, adaptor.getView(), "a view");
  if (!view)
    return failure();
  Type element = adaptor.getElementType();
  int64_t from = getElementBits(view.getElementType()), to = getElementBits(element);
  layout::Algebra algebra;
  if (to < 8 || to % 8 != 0)
    algebra.fail(18, "elements of " + Twine(to) + " bits have no addresses of their own");
  layout::Map recast = algebra.recast(layout::Map(view.getLayout()), from, to);
  if (!algebra.failed() && to > from && view.getAlign() % (to / 8) != 0)
    algebra.fail(27, "alignment " + Twine(view.getAlign()) + " does not prove a whole number of " + Twine(to) +
                         "-bit elements");
  if (algebra.failed())
    return reportFault(location, "atx.recast_view", algebra);
  ViewType type = ViewType::getChecked(atx::detail::errorsOf(location, "atx.recast_view"), context, element,
                                       view.getSpace(), *recast.getLayout(), view.getAlign(), view.getSwizzle());
  if (!type)
    return failure();
  inferred.push_back(type);
  return success();
}

/// A coordinate of an access: fits the shape and, as far as it is static, lies
/// inside.
static LogicalResult verifyAccess(Operation *op, ViewType view, const layout::IntTuple &coord) {
  layout::Algebra algebra;
  algebra.crd2idx(coord, layout::Map(view.getLayout()));
  std::function<void(const layout::IntTuple &, const layout::IntTuple &)> checkRange =
      [&](const layout::IntTuple &c, const layout::IntTuple &shape) {
        if (c.isTuple()) {
          for (unsigned i = 0; i < c.getRank(); ++i)
            checkRange(c[i], shape[i]);
          return;
        }
        layout::Int size = algebra.product(shape);
        if (c.getLeaf().isStatic() && size.isStatic() && c.getLeaf().value >= size.value)
          algebra.fail(26, "coordinate " + layout::toString(c) + " is outside of extent " + layout::toString(size));
      };
  if (!algebra.failed())
    checkRange(coord, view.getLayout().shape);
  if (algebra.failed())
    return emitFault(op->getLoc(), op->getName().getStringRef(), *algebra.getFault());
  if (getElementBits(view.getElementType()) % 8 != 0)
    return op->emitOpError() << "elements of " << getElementBits(view.getElementType())
                             << " bits have no addresses of their own";
  return success();
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  auto view = getOperandType<ViewType>(location, "atx.load", 0, adaptor.getView(), "a view");
  if (!view)
    return failure();
  inferred.push_back(view.getElementType());
  return success();
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getView().getType(), getCoord().getType().getValue()); }

LogicalResult StoreOp::verify() {
  if (getValue().getType() != getView().getType().getElementType())
    return emitOpError() << "stores " << getValue().getType() << " into a view of "
                         << getView().getType().getElementType();
  return verifyAccess(*this, getView().getType(), getCoord().getType().getValue());
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

std::optional<layout::Partition> atx::detail::evaluatePartition(layout::Algebra &algebra, TiledCopyAttr tiled,
                                                                Type elementType, const layout::Layout &tensor,
                                                                const layout::Int &thread) {
  int64_t bits = tiled.getCopyAtom().getAccessBits();
  // A coordinate view has no element type: the thread-value layout alone says
  // how the values group.
  int64_t elementBits = elementType ? getElementBits(elementType) : 0;
  if (elementBits && bits % elementBits != 0) {
    algebra.fail(27, "an access of " + Twine(bits) + " bits is not a whole number of " + Twine(elementBits) +
                         "-bit elements");
    return std::nullopt;
  }
  layout::Int values = algebra.product(tiled.getTv().shape[1]);
  int64_t perAccess = elementBits ? bits / elementBits : values.value;
  if (elementBits && values.value % perAccess != 0) {
    algebra.fail(27, Twine(bits) + "-bit access holds " + Twine(perAccess) + " elements, which do not divide the " +
                         Twine(values.value) + " values of a thread");
    return std::nullopt;
  }
  layout::Partition partition = algebra.copyPartition(tensor, tiled.getTv(), tiled.getTile(), perAccess, thread);
  if (algebra.failed())
    return std::nullopt;
  return partition;
}

std::optional<layout::Partition> atx::detail::evaluatePartition(layout::Algebra &algebra, TiledMmaAttr tiled,
                                                                MmaOperand operand, const layout::Layout &tensor,
                                                                const layout::Int &thread) {
  MmaAtomInterface atom = tiled.getMmaAtom();
  char name = operand == MmaOperand::A ? 'A' : operand == MmaOperand::B ? 'B' : 'C';
  const layout::Tile &permutation = tiled.getPermutation();
  layout::Partition partition =
      algebra.mmaPartition(tensor, atom.getOperandLayout(operand), atom.getShape(), tiled.getAtoms(), name, thread,
                           permutation.modes.empty() ? nullptr : &permutation);
  if (algebra.failed())
    return std::nullopt;
  return partition;
}

/// The thread operand as an integer; false after a fault.
static bool getThreadOperand(layout::Algebra &algebra, Type type, layout::Int &thread) {
  auto tuple = dyn_cast<IntTupleType>(type);
  if (!tuple) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    algebra.fail(26, "thread must be a single integer, but got '" + text + "'");
    return false;
  }
  const layout::IntTuple &value = tuple.getValue();
  if (value.isTuple() || value.getLeaf().isStar() || value.getLeaf().isBasis()) {
    algebra.fail(26, "thread '" + layout::toString(value) + "' must be a single integer");
    return false;
  }
  thread = value.getLeaf();
  return true;
}

LogicalResult PartitionCopyOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &inferred) {
  Type type = adaptor.getView().getType();
  auto view = dyn_cast<ViewType>(type);
  std::optional<layout::Layout> tensor = getViewLayout(location, "atx.partition_copy", adaptor.getView());
  if (!tensor)
    return failure();
  layout::Algebra algebra;
  layout::Int thread;
  std::optional<layout::Partition> partition;
  if (getThreadOperand(algebra, adaptor.getThread().getType(), thread))
    partition = atx::detail::evaluatePartition(algebra, adaptor.getTiled(), view ? view.getElementType() : Type(),
                                               *tensor, thread);
  if (!partition)
    return reportFault(location, "atx.partition_copy", algebra);
  Type moved = atx::detail::movedType(type, *partition, atx::detail::errorsOf(location, "atx.partition_copy"));
  if (!moved)
    return failure();
  inferred.push_back(moved);
  return success();
}

LogicalResult PartitionMmaOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &inferred) {
  Type type = adaptor.getView().getType();
  std::optional<layout::Layout> tensor = getViewLayout(location, "atx.partition_mma", adaptor.getView());
  if (!tensor)
    return failure();
  layout::Algebra algebra;
  layout::Int thread;
  std::optional<layout::Partition> partition;
  if (getThreadOperand(algebra, adaptor.getThread().getType(), thread))
    partition = atx::detail::evaluatePartition(algebra, adaptor.getTiled(), adaptor.getOperand(), *tensor, thread);
  if (!partition)
    return reportFault(location, "atx.partition_mma", algebra);
  Type moved = atx::detail::movedType(type, *partition, atx::detail::errorsOf(location, "atx.partition_mma"));
  if (!moved)
    return failure();
  inferred.push_back(moved);
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError() << "value of type " << getValue().getType() << " in a fragment of "
                         << getType().getElementType();
  return success();
}

LogicalResult ToVectorOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  auto type = getOperandType<FragmentType>(location, "atx.to_vector", 0, adaptor.getFragment(), "a fragment");
  if (!type)
    return failure();
  inferred.push_back(VectorType::get({type.getNumElements()}, type.getElementType()));
  return success();
}

LogicalResult FromVectorOp::verify() {
  auto expected = VectorType::get({getType().getNumElements()}, getType().getElementType());
  if (getVector().getType() != expected)
    return emitOpError() << "expected " << expected << " for " << getType() << ", got " << getVector().getType();
  return success();
}

LogicalResult RetileOp::verify() {
  FragmentType from = getFragment().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "cannot turn elements of " << from.getElementType() << " into " << to.getElementType();
  if (from.getNumElements() != to.getNumElements())
    return emitOpError() << "C30: the fragment has " << from.getNumElements() << " registers, the result "
                         << to.getNumElements();
  return success();
}

OpFoldResult RetileOp::fold(FoldAdaptor) {
  return getFragment().getType() == getType() ? OpFoldResult(getFragment()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Copy
//===----------------------------------------------------------------------===//

CopyAtomInterface CopyOp::getCopyAtom() {
  if (auto tiled = dyn_cast<TiledCopyAttr>(getAtom()))
    return tiled.getCopyAtom();
  return dyn_cast<CopyAtomInterface>(getAtom());
}

Type CopyOp::getElementType() {
  if (auto view = dyn_cast<ViewType>(getSource().getType()))
    return view.getElementType();
  return cast<FragmentType>(getSource().getType()).getElementType();
}

int64_t CopyOp::getValuesPerAccess() {
  return std::max<int64_t>(1, getCopyAtom().getAccessBits() / getElementBits(getElementType()));
}

void CopyOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<ViewType>(getSource().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(), SideEffects::DefaultResource::get());
  if (getDestination())
    effects.emplace_back(MemoryEffects::Write::get(), &*getDestinationMutable().begin(),
                         SideEffects::DefaultResource::get());
}

/// The values of one access are contiguous and start aligned (C27).
static LogicalResult verifyContiguous(Operation *op, ViewType view, int64_t values, int64_t alignment) {
  layout::Algebra algebra;
  layout::Int size = algebra.size(layout::Value(layout::Map(view.getLayout())));
  if (!algebra.failed())
    algebra.requireDivides(values, size, 27, "values per access against the elements of a thread");
  if (algebra.failed())
    return emitFault(op->getLoc(), op->getName().getStringRef(), *algebra.getFault());
  int64_t bits = values * getElementBits(view.getElementType());
  auto leaves = view.getLayout().getLeaves();
  // Leaves that make up one access, then those that step between accesses.
  int64_t have = 1;
  for (auto &[extent, stride] : leaves) {
    if (extent.is(1))
      continue;
    if (have < values) {
      // Saturated: an extent may be anything up to 2^63 - 1.
      int64_t after = extent.isStatic() ? llvm::SaturatingMultiply<uint64_t>(have, extent.value) & INT64_MAX : 0;
      bool inside = stride.is(have) && after > 0 && (values % after == 0 || after % values == 0);
      bool dynamicTail = stride.is(have) && extent.isDynamic() && extent.isMultipleOf(values / have);
      if (!inside && !dynamicTail)
        return op->emitOpError() << "C27: " << bits << "-bit access needs " << values << " contiguous elements; '"
                                 << layout::toString(view.getLayout()) << "' steps by " << layout::toString(stride)
                                 << " after " << have;
      have = extent.isStatic() ? after : values;
      continue;
    }
    if (view.getLayout().hasBasis())
      break;
    int64_t step = getAlignAfter(int64_t(1) << 32, stride, view.getElementType());
    if (step < alignment)
      return op->emitOpError() << "C27: " << bits << "-bit access needs an alignment of " << alignment
                               << " bytes; stride " << layout::toString(stride) << " of '"
                               << layout::toString(view.getLayout()) << "' proves " << step;
  }
  if (view.getAlign() < alignment)
    return op->emitOpError() << "C27: " << bits << "-bit access needs an alignment of " << alignment
                             << " bytes; the view has " << view.getAlign();
  const layout::Swizzle &swizzle = view.getSwizzle();
  if (!swizzle.isIdentity() && (int64_t(1) << swizzle.base) < bits / 8)
    return op->emitOpError() << "C27: " << bits << "-bit access is torn apart by swizzle " << layout::toString(swizzle)
                             << ", which keeps " << (int64_t(1) << swizzle.base) << " bytes together";
  return success();
}

LogicalResult CopyOp::verify() {
  CopyAtomInterface atom = getCopyAtom();
  if (!atom)
    return emitOpError() << "expected a copy atom or a tiled copy, got " << getAtom();
  auto sourceView = dyn_cast<ViewType>(getSource().getType());
  auto sourceFragment = dyn_cast<FragmentType>(getSource().getType());
  ViewType destination = getDestination() ? getDestination().getType() : ViewType();
  FragmentType result = getResult() ? cast<FragmentType>(getResult().getType()) : FragmentType();
  if (!destination == !result)
    return emitOpError("needs either a destination or a result");
  if (sourceFragment && result)
    return emitOpError("has no memory on either side; use the source itself");
  if (!getCoords() != !getBounds())
    return emitOpError("a predicate needs coordinates and bounds");

  Type element = getElementType();
  Type other = destination ? destination.getElementType() : result.getElementType();
  if (element != other)
    return emitOpError() << "copies " << element << " to " << other << "; recast one of the views";
  int64_t elementBits = getElementBits(element), bits = atom.getAccessBits();
  if (elementBits % 8 != 0)
    return emitOpError() << "elements of " << elementBits << " bits have no addresses of their own";
  if (bits % elementBits != 0)
    return emitOpError() << "C27: an access of " << bits << " bits is not a whole number of " << elementBits
                         << "-bit elements";
  MemorySpace from = sourceView ? sourceView.getSpace() : MemorySpace::Register;
  MemorySpace to = destination ? destination.getSpace() : MemorySpace::Register;
  bool direct = atom.connects(from, to);
  bool throughRegisters = sourceView && destination && atom.connects(from, MemorySpace::Register) &&
                          atom.connects(MemorySpace::Register, to);
  if (!direct && !throughRegisters)
    return emitOpError() << "C32: atom " << getAtom() << " does not move from " << stringifyMemorySpace(from) << " to "
                         << stringifyMemorySpace(to);
  if (failed(atom.verifyTarget(getTargetName(*this), [&] { return emitOpError("C32: "); })))
    return failure();

  layout::Algebra algebra;
  auto sizeOf = [&](Type type) {
    return algebra.size(layout::Value(
        layout::Map(isa<ViewType>(type) ? cast<ViewType>(type).getLayout() : cast<FragmentType>(type).getLayout())));
  };
  layout::Int sourceSize = sizeOf(getSource().getType());
  layout::Int targetSize = sizeOf(destination ? Type(destination) : Type(result));
  if (algebra.failed())
    return emitFault(getLoc(), getOperationName(), *algebra.getFault());
  if (sourceSize.isStatic() != targetSize.isStatic() || (sourceSize.isStatic() && sourceSize.value != targetSize.value))
    return emitOpError() << "C30: the source has " << layout::toString(sourceSize) << " elements, the destination "
                         << layout::toString(targetSize);
  int64_t values = bits / elementBits;
  for (ViewType view : {sourceView, destination})
    if (view && failed(verifyContiguous(*this, view, values, atom.getAlignment())))
      return failure();
  for (FragmentType fragment : {sourceFragment, result}) {
    if (!fragment)
      continue;
    if (fragment.getNumElements() % values != 0)
      return emitOpError() << "C27: " << values << " values per access do not divide the " << fragment.getNumElements()
                           << " elements of the fragment";
    // The registers of one access follow one another.
    layout::Map access = algebra.composition(layout::Map(fragment.getLayout()), layout::Map(layout::Layout(values, 1)));
    if (algebra.failed() ||
        algebra.maxCommonVector(access, layout::Map(layout::Layout(values, values == 1 ? 0 : 1))) != values)
      return emitOpError() << "C27: the " << values << " values of an access are not consecutive registers in '"
                           << layout::toString(fragment.getLayout()) << "'";
  }
  if (getCoords()) {
    CoordViewType coords = getCoords().getType();
    const layout::IntTuple &bounds = getBounds().getType().getValue();
    layout::Int count = algebra.size(layout::Value(layout::Map(coords.getLayout())));
    if (algebra.failed() || count.isStatic() != sourceSize.isStatic() ||
        (count.isStatic() && count.value != sourceSize.value))
      return emitOpError() << "C30: the predicate has " << layout::toString(count) << " coordinates for "
                           << layout::toString(sourceSize) << " elements";
    bool integers = true;
    bounds.walk([&](const layout::Int &leaf) { integers &= !leaf.isStar() && !leaf.isBasis(); });
    if (!integers)
      return emitOpError() << "C14: bounds '" << layout::toString(bounds) << "' are not integers";
    if (!areCongruent(coords.getStart(), bounds))
      return emitOpError() << "C6: coordinates start at '" << layout::toString(coords.getStart())
                           << "', which is not congruent with the bounds '" << layout::toString(bounds) << "'";
  } else if (getZeroFill()) {
    return emitOpError("'zero_fill' needs a predicate");
  }
  if (getZeroFill() && !destination)
    return emitOpError("'zero_fill' is for destinations in memory; a load is filled with zeros anyway");
  return success();
}

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

MmaAtomInterface GemmOp::getMmaAtom() {
  if (auto tiled = dyn_cast<TiledMmaAttr>(getAtom()))
    return tiled.getMmaAtom();
  return dyn_cast<MmaAtomInterface>(getAtom());
}

void GemmOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<ViewType>(getA().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getAMutable(), SideEffects::DefaultResource::get());
  if (isa<ViewType>(getB().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getBMutable(), SideEffects::DefaultResource::get());
}

LogicalResult GemmOp::verify() {
  MmaAtomInterface atom = getMmaAtom();
  if (!atom)
    return emitOpError() << "expected a matrix atom or a tiled matrix product, got " << getAtom();
  if (failed(atom.verifyTarget(getTargetName(*this), [&] { return emitOpError("C32: "); })))
    return failure();
  if (getExtra().size() != atom.getNumExtraOperands())
    return emitOpError() << "the atom takes " << atom.getNumExtraOperands() << " extra operands, got "
                         << getExtra().size();
  layout::Algebra algebra;
  int64_t extents[3][2];
  MmaOperand operands[3] = {MmaOperand::A, MmaOperand::B, MmaOperand::C};
  Type types[3] = {getA().getType(), getB().getType(), getC().getType()};
  for (int i = 0; i < 3; ++i) {
    auto view = dyn_cast<ViewType>(types[i]);
    auto fragment = dyn_cast<FragmentType>(types[i]);
    StringRef name = stringifyMmaOperand(operands[i]);
    Type element = view ? view.getElementType() : fragment.getElementType();
    if (element != atom.getElementType(operands[i]))
      return emitOpError() << "operand " << name << " has elements of " << element << ", the atom takes "
                           << atom.getElementType(operands[i]);
    const layout::Layout &layout = view ? view.getLayout() : fragment.getLayout();
    if (layout.getRank() != 3)
      return emitOpError() << "C28: operand " << name << " has the layout '" << layout::toString(layout)
                           << "'; three modes (values, rest, rest) are needed";
    layout::Int values = algebra.product(layout.shape[0]);
    layout::Int wanted = algebra.product(atom.getOperandLayout(operands[i]).shape[1]);
    if (!(values == wanted))
      return emitOpError() << "C28: operand " << name << " has " << layout::toString(values)
                           << " values per atom, the atom takes " << layout::toString(wanted);
    for (int j = 0; j < 2; ++j) {
      layout::Int extent = algebra.product(layout.shape[j + 1]);
      if (!extent.isStatic())
        return emitOpError() << "C13: operand " << name << " has the dynamic extent " << layout::toString(extent)
                             << "; loop over it around the product";
      extents[i][j] = extent.value;
    }
    if (view) {
      if (failed(verifyContiguous(*this, view, values.value, 1)))
        return failure();
      continue;
    }
    // The values of one atom are consecutive registers in the atom's order.
    if (!algebra.compact(layout::Map(layout.getMode(0))) ||
        !(*algebra.coalesce(layout::Map(layout.getMode(0))).getLayout() ==
          layout::Layout(values, values.is(1) ? 0 : 1)))
      return emitOpError() << "C28: the values of operand " << name << " are not consecutive registers in '"
                           << layout::toString(layout) << "'";
  }
  auto agree = [&](StringRef dim, int64_t a, StringRef nameA, int64_t b, StringRef nameB) -> LogicalResult {
    if (a == b)
      return success();
    return emitOpError() << "C28: " << dim << " is " << a << " in operand " << nameA << " but " << b << " in operand "
                         << nameB;
  };
  if (failed(agree("m", extents[0][0], "a", extents[2][0], "c")) ||
      failed(agree("n", extents[1][0], "b", extents[2][1], "c")) ||
      failed(agree("k", extents[0][1], "a", extents[1][1], "b")))
    return failure();
  return success();
}
