//===- AtxDialect.cpp - Target-neutral kernel dialect ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Atx/AtxDialect.h"
#include "atrex/Target/Chip.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex::atx;

#include "dialects/Atx/AtxDialect.cpp.inc"
#include "dialects/Atx/AtxEnums.cpp.inc"
#include "dialects/Atx/AtxOpInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Keywords in the assembly of operations
//===----------------------------------------------------------------------===//

/// A keyword of an enum attribute, with one error that lists those there are.
template <typename AttrT, typename Enum>
static ParseResult parseEnumKeyword(OpAsmParser &parser, AttrT &attr, std::optional<Enum> (*symbolize)(StringRef),
                                    StringRef what, StringRef known) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  std::optional<Enum> value;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    value = symbolize(keyword);
  if (!value)
    return parser.emitError(loc) << "expected " << what << ": " << known;
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseOperandKeyword(OpAsmParser &parser, MmaOperandAttr &operand) {
  return parseEnumKeyword<MmaOperandAttr, MmaOperand>(parser, operand, symbolizeMmaOperand,
                                                      "an operand of the matrix product", "a, b, c or d");
}

static void printOperandKeyword(OpAsmPrinter &printer, Operation *, MmaOperandAttr operand) {
  printer << stringifyMmaOperand(operand.getValue());
}

/// `order mnk`; nothing for the default.
static ParseResult parseLoopOrder(OpAsmParser &parser, TraversalOrderAttr &order) {
  if (failed(parser.parseOptionalKeyword("order")))
    return success();
  return parseEnumKeyword<TraversalOrderAttr, TraversalOrder>(parser, order, symbolizeTraversalOrder,
                                                              "an order of loops", "mnk, mkn, nmk, nkm, kmn or knm");
}

static void printLoopOrder(OpAsmPrinter &printer, Operation *, TraversalOrderAttr order) {
  if (order && order.getValue() != TraversalOrder::KMN)
    printer << "order " << stringifyTraversalOrder(order.getValue());
}

static ParseResult parseTileAtomicKind(OpAsmParser &parser, TileAtomicKindAttr &kind) {
  return parseEnumKeyword<TileAtomicKindAttr, TileAtomicKind>(
      parser, kind, symbolizeTileAtomicKind, "what is done",
      "add, max, min, umax, umin, and, or, xor, exchange or cas");
}

static void printTileAtomicKind(OpAsmPrinter &printer, Operation *, TileAtomicKindAttr kind) {
  printer << stringifyTileAtomicKind(kind.getValue());
}

static ParseResult parseTileReduceKind(OpAsmParser &parser, TileReduceKindAttr &kind) {
  return parseEnumKeyword<TileReduceKindAttr, TileReduceKind>(
      parser, kind, symbolizeTileReduceKind, "what is done",
      "sum, prod, max, min, umax, umin, argmax, argmin, any or all");
}

static void printTileReduceKind(OpAsmPrinter &printer, Operation *, TileReduceKindAttr kind) {
  printer << stringifyTileReduceKind(kind.getValue());
}

static ParseResult parseTileScanKind(OpAsmParser &parser, TileScanKindAttr &kind) {
  return parseEnumKeyword<TileScanKindAttr, TileScanKind>(parser, kind, symbolizeTileScanKind, "what is done",
                                                          "sum, prod, max, min, umax or umin");
}

static void printTileScanKind(OpAsmPrinter &printer, Operation *, TileScanKindAttr kind) {
  printer << stringifyTileScanKind(kind.getValue());
}

#define GET_OP_CLASSES
#include "dialects/Atx/AtxOps.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Atx/AtxAttrs.cpp.inc"

void AtxDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Atx/AtxAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Atx/AtxOps.cpp.inc"
      >();
  registerTypes();
}

LogicalResult AtxDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == layoutAttrName) {
    auto layout = dyn_cast<TVAttr>(attr.getValue());
    if (!layout)
      return op->emitOpError() << "'" << name << "' must be a thread-value layout, got " << attr.getValue();
    Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
    auto vector = dyn_cast_if_present<VectorType>(type);
    // A write has no result; its layout is that of the vector it stores.
    if (!vector)
      for (Value operand : op->getOperands())
        if ((vector = dyn_cast<VectorType>(operand.getType())))
          break;
    if (!vector)
      return op->emitOpError() << "'" << name << "' stands on an operation without a vector";
    if (!layout.covers(vector.getShape()))
      return op->emitOpError() << "layout " << layout << " does not cover " << vector << " exactly once";
    return success();
  }
  if (name == targetAttrName) {
    auto target = dyn_cast<StringAttr>(attr.getValue());
    if (!target)
      return op->emitOpError() << "'" << name << "' must be the name of an architecture or a chip";
    const ChipInfo *chip = lookupChip(target);
    if (!chip || !chip->isAMDGPU())
      return op->emitOpError() << "'" << name << "': unknown target '" << target.getValue() << "'; known are "
                               << getArchList();
    return success();
  }
  if (name == mappingAttrName && !isa<MappingAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be a mapping, got " << attr.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// TVAttr
//===----------------------------------------------------------------------===//

/// Parses `(e, ...):(sEd, ...)`.
static ParseResult parseModes(AsmParser &parser, SmallVectorImpl<int64_t> &shape, SmallVectorImpl<int64_t> &steps,
                              SmallVectorImpl<int64_t> &dims) {
  auto parseExtent = [&]() { return parser.parseInteger(shape.emplace_back()); };
  auto parseStride = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t step = 0;
    if (parser.parseInteger(step))
      return failure();
    steps.push_back(step);
    dims.push_back(0);
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword(&keyword))) {
      unsigned dim;
      if (!keyword.consume_front("E") || keyword.getAsInteger(10, dim))
        return parser.emitError(loc) << "expected a basis element such as '8E1' or the broadcast stride '0'";
      // A repeating mode moves along no dimension: one spelling, one attribute.
      dims.back() = step == 0 ? 0 : dim;
    } else if (step != 0) {
      return parser.emitError(loc) << "stride " << step << " names no dimension; write it as '" << step << "E<dim>'";
    }
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseExtent) || parser.parseColon() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseStride))
    return failure();
  if (shape.size() != steps.size())
    return parser.emitError(loc) << shape.size() << " extents meet " << steps.size() << " strides";
  return success();
}

static void printModes(AsmPrinter &printer, ArrayRef<int64_t> shape, ArrayRef<int64_t> steps, ArrayRef<int64_t> dims) {
  printer << "(";
  llvm::interleaveComma(shape, printer);
  printer << "):(";
  llvm::interleaveComma(llvm::zip_equal(steps, dims), printer, [&](auto pair) {
    auto [step, dim] = pair;
    printer << step;
    if (step != 0)
      printer << "E" << dim;
  });
  printer << ")";
}

Attribute TVAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape[2], steps[2], dims[2];
  if (parser.parseLess() || parseModes(parser, shape[0], steps[0], dims[0]) || parser.parseComma() ||
      parseModes(parser, shape[1], steps[1], dims[1]) || parser.parseGreater())
    return {};
  return parser.getChecked<TVAttr>(parser.getContext(), shape[0], steps[0], dims[0], shape[1], steps[1], dims[1]);
}

void TVAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printModes(printer, getThreadShape(), getThreadSteps(), getThreadDims());
  printer << ", ";
  printModes(printer, getValueShape(), getValueSteps(), getValueDims());
  printer << ">";
}

LogicalResult TVAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> threadShape,
                             ArrayRef<int64_t> threadSteps, ArrayRef<int64_t> threadDims, ArrayRef<int64_t> valueShape,
                             ArrayRef<int64_t> valueSteps, ArrayRef<int64_t> valueDims) {
  auto check = [&](StringRef side, ArrayRef<int64_t> shape, ArrayRef<int64_t> steps, ArrayRef<int64_t> dims,
                   bool allowBroadcast) -> LogicalResult {
    if (shape.size() != steps.size() || shape.size() != dims.size())
      return emitError() << side << " side has " << shape.size() << " extents and " << steps.size() << " strides";
    int64_t product = 1;
    for (auto [mode, extent, step, dim] : llvm::enumerate(shape, steps, dims)) {
      if (extent < 1)
        return emitError() << side << " mode " << mode << " has extent " << extent << ", which must be positive";
      if (step < 0 || (step == 0 && !allowBroadcast))
        return emitError() << side << " mode " << mode << " has stride " << step << ", which must be positive";
      if (dim < 0 || dim > 15)
        return emitError() << side << " mode " << mode << " names dimension " << dim << "; a tile has at most 16";
      int64_t span;
      if (llvm::MulOverflow(product, extent, product) || llvm::MulOverflow(extent, step, span) ||
          product > (int64_t(1) << 31) || span > (int64_t(1) << 31))
        return emitError() << side << " side spans more than 2^31 elements";
    }
    return success();
  };
  if (failed(check("thread", threadShape, threadSteps, threadDims, /*allowBroadcast=*/true)) ||
      failed(check("value", valueShape, valueSteps, valueDims, /*allowBroadcast=*/false)))
    return failure();
  return success();
}

int64_t TVAttr::getNumThreads() const { return llvm::product_of(getThreadShape()); }
int64_t TVAttr::getNumValues() const { return llvm::product_of(getValueShape()); }

SmallVector<int64_t> TVAttr::getTileShape(unsigned rank) const {
  SmallVector<int64_t> shape(rank, 1);
  auto add = [&](ArrayRef<int64_t> extents, ArrayRef<int64_t> steps, ArrayRef<int64_t> dims) {
    for (auto [extent, step, dim] : llvm::zip_equal(extents, steps, dims))
      if (dim < rank)
        shape[dim] += (extent - 1) * step;
  };
  add(getThreadShape(), getThreadSteps(), getThreadDims());
  add(getValueShape(), getValueSteps(), getValueDims());
  return shape;
}

SmallVector<int64_t> TVAttr::getFragmentShape() const {
  SmallVector<int64_t> shape(llvm::reverse(getValueShape()));
  if (shape.empty())
    shape.push_back(1);
  return shape;
}

TVAttr TVAttr::project(const llvm::SmallBitVector &dropped) const {
  SmallVector<int64_t> renumbered(dropped.size(), 0);
  for (unsigned dim = 0, next = 0; dim < dropped.size(); ++dim)
    renumbered[dim] = dropped.test(dim) ? 0 : next++;
  SmallVector<int64_t> tSteps(getThreadSteps()), tDims(getThreadDims());
  for (auto [step, dim] : llvm::zip_equal(tSteps, tDims)) {
    if (step != 0 && dropped.test(dim))
      step = 0;
    dim = step == 0 ? 0 : renumbered[dim];
  }
  SmallVector<int64_t> vShape, vSteps, vDims;
  for (auto [extent, step, dim] : llvm::zip_equal(getValueShape(), getValueSteps(), getValueDims())) {
    if (dropped.test(dim))
      continue;
    vShape.push_back(extent);
    vSteps.push_back(step);
    vDims.push_back(renumbered[dim]);
  }
  return TVAttr::get(getContext(), getThreadShape(), tSteps, tDims, vShape, vSteps, vDims);
}

bool TVAttr::covers(ArrayRef<int64_t> shape) const {
  // Per dimension the modes, sorted by stride, must count through the extent
  // like digits of a mixed-radix number: then each element has one (thread,
  // value) pair, up to repeating thread modes.
  SmallVector<SmallVector<std::pair<int64_t, int64_t>>> modes(shape.size());
  auto collect = [&](ArrayRef<int64_t> extents, ArrayRef<int64_t> steps, ArrayRef<int64_t> dims) {
    for (auto [extent, step, dim] : llvm::zip_equal(extents, steps, dims)) {
      if (step == 0)
        continue;
      if (size_t(dim) >= shape.size())
        return false;
      if (extent == 1)
        continue;
      modes[dim].push_back({step, extent});
    }
    return true;
  };
  if (!collect(getThreadShape(), getThreadSteps(), getThreadDims()) ||
      !collect(getValueShape(), getValueSteps(), getValueDims()))
    return false;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    llvm::sort(modes[dim]);
    int64_t reached = 1;
    for (auto [step, count] : modes[dim]) {
      if (step != reached)
        return false;
      reached *= count;
    }
    if (reached != extent)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// MappingAttr
//===----------------------------------------------------------------------===//

Attribute MappingAttr::parse(AsmParser &parser, Type) {
  // By hand: the parsers that ODS generates report a fault twice.
  SmallVector<int64_t> tile, extent;
  int64_t threads = 0;
  auto parseList = [&](StringRef name, SmallVectorImpl<int64_t> &numbers) -> ParseResult {
    return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                   parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                                  [&] { return parser.parseInteger(numbers.emplace_back()); }) ||
                   parser.parseComma());
  };
  if (parser.parseLess() || parseList("tile", tile) || parseList("extent", extent) || parser.parseKeyword("threads") ||
      parser.parseEqual() || parser.parseInteger(threads) || parser.parseComma() || parser.parseKeyword("layout") ||
      parser.parseEqual())
    return {};
  auto layout = dyn_cast_if_present<TVAttr>(TVAttr::parse(parser, Type()));
  if (!layout || parser.parseGreater())
    return {};
  return parser.getChecked<MappingAttr>(parser.getContext(), tile, extent, threads, layout);
}

void MappingAttr::print(AsmPrinter &printer) const {
  printer << "<tile = [";
  llvm::interleaveComma(getTile(), printer);
  printer << "], extent = [";
  llvm::interleaveComma(getExtent(), printer);
  printer << "], threads = " << getThreads() << ", layout = ";
  getLayout().print(printer);
  printer << ">";
}

LogicalResult MappingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
                                  ArrayRef<int64_t> extent, int64_t threads, TVAttr layout) {
  if (tile.size() != extent.size())
    return emitError() << "tile has rank " << tile.size() << ", extent has rank " << extent.size();
  for (auto [dim, padded, used] : llvm::enumerate(tile, extent))
    if (used < 1 || used > padded)
      return emitError() << "dimension " << dim << " uses " << used << " of " << padded << " elements";
  if (layout.getNumThreads() != threads)
    return emitError() << "layout " << layout << " has " << layout.getNumThreads() << " threads, the mapping "
                       << threads;
  if (!layout.covers(tile))
    return emitError() << "layout " << layout << " does not cover the tile exactly once";
  return success();
}
