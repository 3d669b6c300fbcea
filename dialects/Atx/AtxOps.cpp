//===- AtxOps.cpp - Operations of the layout algebra ----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Text.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::atx;

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

InFlightDiagnostic atx::emitFault(Location loc, StringRef opName, const layout::Fault &fault) {
  InFlightDiagnostic diag = mlir::emitError(loc) << "'" << opName << "' op ";
  if (fault.constraint)
    diag << "C" << fault.constraint << ": ";
  diag << fault.text;
  if (!fault.note.empty())
    diag.attachNote(loc) << fault.note;
  return diag;
}

std::function<InFlightDiagnostic()> atx::detail::errorsOf(std::optional<Location> location, StringRef opName) {
  // Without a location the question is whether, not why: an inactive diagnostic.
  return [location, opName]() -> InFlightDiagnostic {
    if (!location)
      return InFlightDiagnostic();
    return mlir::emitError(*location) << "'" << opName << "' op ";
  };
}

/// Attributes of an operation as the algebra reads them.
static layout::Attributes convertAttributes(layout::Algebra &algebra, DictionaryAttr attributes) {
  layout::Attributes converted;
  for (NamedAttribute attribute : attributes) {
    StringRef name = attribute.getName();
    // Discardable attributes have nothing to say here.
    if (name.contains('.'))
      continue;
    if (auto number = dyn_cast<IntegerAttr>(attribute.getValue())) {
      converted.try_emplace(name, number.getInt());
    } else if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue())) {
      converted.try_emplace(name, SmallVector<int64_t, 4>(list.asArrayRef()));
    } else if (isa<UnitAttr>(attribute.getValue())) {
      converted.try_emplace(name, std::string("true"));
    } else {
      algebra.fail(0, "attribute '" + name + "' has an unknown kind");
    }
  }
  return converted;
}

/// `1-leaf identity o offset o layout` as its two parts.
static layout::Results splitOffset(const layout::Value &value) {
  if (auto *map = std::get_if<layout::Map>(&value))
    if (const layout::Composed *composed = map->getComposed())
      return {composed->outer, composed->offset};
  return {value, layout::IntTuple(0)};
}

std::optional<layout::Results> atx::detail::evaluate(StringRef opName, layout::Algebra &algebra,
                                                     ArrayRef<layout::Value> operands, DictionaryAttr attributes,
                                                     bool onView) {
  StringRef name = opName;
  name.consume_front("atx.");
  const layout::Operation *operation = layout::findOperation(name);
  if (!operation) {
    algebra.fail(0, "unknown operation '" + opName + "'");
    return std::nullopt;
  }
  layout::Attributes converted = convertAttributes(algebra, attributes);
  if (!onView)
    return layout::evaluate(algebra, *operation, operands, converted);
  // A slice of a plain layout forgets the fixed coordinates; under an identity
  // they become an offset.
  SmallVector<layout::Value> wrapped(operands);
  if (name == "slice") {
    const layout::Layout &layout = *std::get<layout::Map>(operands[0]).getLayout();
    layout::Map identity = layout::Layout(1, 1);
    if (layout.hasBasis())
      identity = algebra.makeIdentityLayout(algebra.coshape(layout::Map(layout)));
    wrapped[0] = layout::Map(layout::Composed{identity, 0, layout});
  }
  std::optional<layout::Results> results = layout::evaluate(algebra, *operation, wrapped, converted);
  if (!results)
    return std::nullopt;
  return splitOffset(results->front());
}

/// A view whose layout is `partition.layout`, moved by `partition.offset`.
Type atx::detail::movedType(Type viewType, const layout::Partition &partition,
                            function_ref<InFlightDiagnostic()> emitError) {
  layout::Value stripped = layout::stripHandles(layout::Map(partition.layout));
  const layout::Layout &layout = *std::get<layout::Map>(stripped).getLayout();
  if (auto view = dyn_cast<ViewType>(viewType)) {
    int64_t align = partition.offset.isLeaf()
                        ? getAlignAfter(view.getAlign(), partition.offset.getLeaf(), view.getElementType())
                        : 1;
    return ViewType::getChecked(emitError, view.getContext(), view.getElementType(), view.getSpace(), layout, align,
                                view.getSwizzle());
  }
  auto coord = cast<CoordViewType>(viewType);
  layout::Algebra algebra;
  layout::IntTuple start = algebra.addOffset(coord.getStart(), partition.offset, /*coordinate=*/true);
  if (algebra.failed()) {
    emitError() << layout::toString(*algebra.getFault());
    return Type();
  }
  return CoordViewType::getChecked(emitError, viewType.getContext(),
                                   std::get<layout::IntTuple>(layout::stripHandles(start)), layout);
}

LogicalResult atx::detail::inferTypes(StringRef opName, MLIRContext *context, std::optional<Location> location,
                                      ValueRange operands, DictionaryAttr attributes, SmallVectorImpl<Type> &inferred) {
  Location loc = location.value_or(UnknownLoc::get(context));
  SmallVector<layout::Value> values;
  for (Value operand : operands) {
    std::optional<layout::Value> value = getAlgebraValue(operand.getType());
    if (!value)
      return location ? mlir::emitError(loc) << "'" << opName << "' op operand of type " << operand.getType()
                                             << " is not a value of the layout algebra"
                      : LogicalResult(failure());
    values.push_back(*value);
  }
  Type viewType = operands.empty() ? Type() : operands[0].getType();
  bool onView = isa_and_present<ViewType, CoordViewType>(viewType);
  layout::Algebra algebra;
  std::optional<layout::Results> results = evaluate(opName, algebra, values, attributes, onView);
  // The algebra allows coordinates past the end, memory does not.
  if (results && isa_and_present<ViewType>(viewType)) {
    const auto *coord = std::get_if<layout::IntTuple>(&values.back());
    if (opName == "atx.slice" && coord) {
      algebra.requireInside(*coord, algebra.getShape(values[0]));
    } else if (opName == "atx.local_tile" && coord) {
      layout::Map divided = algebra.zippedDivide(std::get<layout::Map>(values[0]), values[1]);
      algebra.requireInside(*coord, algebra.getShape(layout::Value(divided))[1]);
    }
  }
  if (!results || algebra.failed()) {
    if (location)
      emitFault(loc, opName, *algebra.getFault());
    return failure();
  }
  // A view stays a view when the result is a layout of its elements.
  auto *map = std::get_if<layout::Map>(&results->front());
  if (onView && map && map->getLayout() && opName != "atx.make_fragment_like") {
    layout::Partition partition{*map->getLayout(), std::get<layout::IntTuple>(results->back())};
    Type moved = movedType(viewType, partition, errorsOf(location, opName));
    if (!moved)
      return failure();
    inferred.push_back(moved);
    return success();
  }
  // What operands allow may be too large for a result.
  algebra.check(results->front());
  if (algebra.failed()) {
    if (location)
      emitFault(loc, opName, *algebra.getFault());
    return failure();
  }
  inferred.push_back(getAlgebraType(context, results->front()));
  return success();
}

//===----------------------------------------------------------------------===//
// Constants and scalars
//===----------------------------------------------------------------------===//

LogicalResult StaticOp::verify() {
  if (!detail::isStaticType(getType()))
    return emitOpError("C13: ") << getType() << " is not static";
  return success();
}

Operation *AtxDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (isa<TypeAttr>(value) && detail::isStaticType(type))
    return StaticOp::create(builder, loc, type);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult MakeOp::verify() {
  unsigned count = 0;
  layout::walkDynamic(*getAlgebraValue(getType()), [&](const layout::Int &) { ++count; });
  if (count != getLeaves().size())
    return emitOpError() << getType() << " has " << count << " dynamic leaves but " << getLeaves().size()
                         << " operands are given";
  return success();
}

LogicalResult GetScalarOp::verify() {
  const layout::IntTuple &value = getValue().getType().getValue();
  if (value.isTuple() || value.getLeaf().isStar() || value.getLeaf().isBasis())
    return emitOpError() << "expected a single integer, got '" << layout::toString(value) << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Divides
//===----------------------------------------------------------------------===//

/// A tiler that never visits some elements is legal and rarely meant.
static LogicalResult warnLossy(Operation *op) {
  std::optional<layout::Value> layout = getAlgebraValue(op->getOperand(0).getType());
  std::optional<layout::Value> tiler = getAlgebraValue(op->getOperand(1).getType());
  layout::Algebra algebra;
  if (layout && tiler && std::holds_alternative<layout::Map>(*layout) &&
      algebra.divideLossy(std::get<layout::Map>(*layout), *tiler))
    mlir::emitWarning(op->getLoc()) << "'" << op->getName() << "' op the tiler '" << layout::toString(*tiler)
                                    << "' never visits some elements of '" << layout::toString(*layout) << "'";
  return success();
}

LogicalResult LogicalDivideOp::verify() { return warnLossy(*this); }
LogicalResult ZippedDivideOp::verify() { return warnLossy(*this); }
LogicalResult TiledDivideOp::verify() { return warnLossy(*this); }
LogicalResult FlatDivideOp::verify() { return warnLossy(*this); }
LogicalResult LocalTileOp::verify() { return warnLossy(*this); }
LogicalResult LocalPartitionOp::verify() { return warnLossy(*this); }
