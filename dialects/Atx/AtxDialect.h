//===- AtxDialect.h - Target-neutral kernel dialect -------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DIALECTS_ATX_ATXDIALECT_H
#define ATREX_DIALECTS_ATX_ATXDIALECT_H

#include "atrex/Layout/Operations.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

#include "dialects/Atx/AtxDialect.h.inc"
#include "dialects/Atx/AtxEnums.h.inc"

namespace atrex::atx {

/// Names of the discardable attributes.
constexpr llvm::StringLiteral operatorAttrName = "atx.operator";
constexpr llvm::StringLiteral dimsAttrName = "atx.dims";
constexpr llvm::StringLiteral nameAttrName = "atx.name";
constexpr llvm::StringLiteral shapeAttrName = "atx.shape";
constexpr llvm::StringLiteral typeAttrName = "atx.type";
constexpr llvm::StringLiteral outputAttrName = "atx.output";
constexpr llvm::StringLiteral defaultAttrName = "atx.default";
constexpr llvm::StringLiteral mappingAttrName = "atx.mapping";
constexpr llvm::StringLiteral layoutAttrName = "atx.layout";
/// On operations with tile results: an array with a layout for each result,
/// `unit` for scalars.
constexpr llvm::StringLiteral tileLayoutsAttrName = "atx.tile_layouts";
/// On `scf.while`: layouts of the arguments of the first region.
constexpr llvm::StringLiteral beforeLayoutsAttrName = "atx.before_layouts";
constexpr llvm::StringLiteral kernelArgsAttrName = "atx.args";
constexpr llvm::StringLiteral targetAttrName = "atx.target";
constexpr llvm::StringLiteral kernelAttrName = "atx.kernel";
constexpr llvm::StringLiteral gridAttrName = "atx.grid";
constexpr llvm::StringLiteral threadsAttrName = "atx.threads";
constexpr llvm::StringLiteral workspaceAttrName = "atx.workspace";
constexpr llvm::StringLiteral planAttrName = "atx.plan";

/// Where an access goes once types are lowered: `base` plus `offset` plus
/// `constant` bytes. Swizzles have been applied.
struct Address {
  /// A pointer, or the resource of a buffer.
  mlir::Value base;
  /// Bytes that are known at run time only: i64 for generic and global memory,
  /// i32 for shared memory and buffers; may be null.
  mlir::Value offset;
  /// Bytes known now.
  int64_t constant = 0;
  MemorySpace space = MemorySpace::Generic;
  /// Alignment in bytes of the whole address.
  int64_t align = 1;
};

/// Address space of the LLVM pointer that holds the base of a memory space.
unsigned getAddressSpace(MemorySpace space);

/// Base, offset and constant of an address as one LLVM pointer; not for buffers.
mlir::Value emitPointer(mlir::OpBuilder &builder, mlir::Location loc, const Address &address);

/// Plain loads and stores of a vector of one lane, of any element type.
mlir::Value emitVectorLoad(mlir::OpBuilder &builder, mlir::Location loc, const Address &address, mlir::VectorType type);
void emitVectorStore(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const Address &address);

// Parameters of types and attributes.
mlir::FailureOr<layout::IntTuple> parseIntTuple(mlir::AsmParser &parser);
mlir::FailureOr<layout::Layout> parseLayout(mlir::AsmParser &parser);
mlir::FailureOr<layout::Map> parseMap(mlir::AsmParser &parser);
mlir::FailureOr<layout::Tile> parseTile(mlir::AsmParser &parser);
mlir::FailureOr<layout::Swizzle> parseSwizzle(mlir::AsmParser &parser);

// One fault, one error: the same for assembly formats (`custom<Value>`).
mlir::ParseResult parseValue(mlir::AsmParser &parser, layout::IntTuple &value);
mlir::ParseResult parseValue(mlir::AsmParser &parser, layout::Layout &value);
mlir::ParseResult parseValue(mlir::AsmParser &parser, layout::Map &value);
mlir::ParseResult parseValue(mlir::AsmParser &parser, layout::Tile &value);
mlir::ParseResult parseValue(mlir::AsmParser &parser, mlir::Type &type);
mlir::ParseResult parseValue(mlir::AsmParser &parser, mlir::FloatType &type);
mlir::ParseResult parseValue(mlir::AsmParser &parser, mlir::Attribute &atom);
mlir::ParseResult parseValue(mlir::AsmParser &parser, int64_t &number);
mlir::ParseResult parseValue(mlir::AsmParser &parser, MemorySpace &space);
mlir::ParseResult parseValue(mlir::AsmParser &parser, AtomicKind &kind);
void printValue(mlir::AsmPrinter &printer, const layout::IntTuple &value);
void printValue(mlir::AsmPrinter &printer, const layout::Layout &value);
void printValue(mlir::AsmPrinter &printer, const layout::Map &value);
void printValue(mlir::AsmPrinter &printer, const layout::Tile &value);
void printValue(mlir::AsmPrinter &printer, mlir::Type type);
void printValue(mlir::AsmPrinter &printer, mlir::Attribute atom);
void printValue(mlir::AsmPrinter &printer, int64_t number);
void printValue(mlir::AsmPrinter &printer, MemorySpace space);
void printValue(mlir::AsmPrinter &printer, AtomicKind kind);
/// `, align = 16, swizzle = S<3,4,3>`, in any order, what is not the default.
mlir::ParseResult parsePlacement(mlir::AsmParser &parser, int64_t &align, layout::Swizzle &swizzle);
void printPlacement(mlir::AsmPrinter &printer, int64_t align, const layout::Swizzle &swizzle);
/// `, permute = [...]`, or nothing.
mlir::ParseResult parsePermutation(mlir::AsmParser &parser, layout::Tile &permutation);
void printPermutation(mlir::AsmPrinter &printer, const layout::Tile &permutation);

} // namespace atrex::atx

#include "dialects/Atx/AtxAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Atx/AtxAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Atx/AtxTypes.h.inc"

namespace atrex::atx {

/// The value of the algebra that a type stands for; a view stands for its
/// layout. Nothing for other types.
std::optional<layout::Value> getAlgebraValue(mlir::Type type);
/// The type of a value of the algebra, without handles.
mlir::Type getAlgebraType(mlir::MLIRContext *context, const layout::Value &value);

/// Architecture or chip that the code around `op` is for: the nearest
/// `atx.target`, or the chip of a ROCDL target. Empty when none is named.
llvm::StringRef getTargetName(mlir::Operation *op);

/// Widest element of a view, pointer or fragment.
constexpr int64_t maxElementBits = 128;
/// Bits an element occupies in memory.
int64_t getElementBits(mlir::Type type);
/// Largest power of two that divides the offset, in bytes, and `align`.
int64_t getAlignAfter(int64_t align, const layout::Int &offset, mlir::Type elementType);

/// Emits the fault as `Cn: text` with its note.
mlir::InFlightDiagnostic emitFault(mlir::Location loc, llvm::StringRef opName, const layout::Fault &fault);

//===----------------------------------------------------------------------===//
// Tiles (AtxTileOps.td)
//===----------------------------------------------------------------------===//

/// Elements of the largest tile.
constexpr int64_t maxTileElements = int64_t(1) << 22;

/// A fixed vector of rank 1 or more with at most `maxTileElements` elements.
bool isTileType(mlir::Type type);
/// i1, an integer or a float of the language, for memory and values.
bool isTileElementType(mlir::Type type);
/// f16, bf16, f32, f64.
bool isTileArithmeticFloat(mlir::Type type);
/// The floats of 8, 6 and 4 bits, which can only be moved and converted.
bool isTileStorageFloat(mlir::Type type);
/// i32, i64, index.
bool isTileIndexType(mlir::Type type);
/// i8, i16 and those.
bool isTileIntegerType(mlir::Type type);
/// A tensor or shared memory that tile operations access.
bool isTileMemoryType(mlir::Type type);

/// The layout text of `atx.tile_pin`, read: leaves as (extent, stride), the
/// first varying fastest.
struct PinnedLayout {
  llvm::SmallVector<std::pair<int64_t, int64_t>> threads, values;
  int64_t lanes = 1, waves = 1, numValues = 1;

  /// Row-major index of an element in its tile.
  int64_t getElement(int64_t thread, int64_t value) const;
};

/// Reads a layout and verifies that it spreads the elements of a tile over
/// lanes as `atx.tile_pin` demands; failure after an error that `emitError`
/// starts.
mlir::FailureOr<PinnedLayout> parsePinnedLayout(llvm::StringRef text, mlir::VectorType tile,
                                                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

namespace detail {
std::optional<layout::Results> evaluate(llvm::StringRef opName, layout::Algebra &algebra,
                                        llvm::ArrayRef<layout::Value> operands, mlir::DictionaryAttr attributes,
                                        bool onView);
llvm::LogicalResult inferTypes(llvm::StringRef opName, mlir::MLIRContext *context,
                               std::optional<mlir::Location> location, mlir::ValueRange operands,
                               mlir::DictionaryAttr attributes, llvm::SmallVectorImpl<mlir::Type> &inferred);
mlir::OpFoldResult fold(mlir::Operation *op);

/// Attributes whether they come as a dictionary or as properties.
template <typename OpTy>
mlir::DictionaryAttr mergeProperties(mlir::MLIRContext *context, mlir::DictionaryAttr attributes,
                                     mlir::OpaqueProperties properties) {
  if constexpr (!std::is_same_v<typename OpTy::Properties, mlir::EmptyProperties>) {
    if (properties)
      if (auto dict = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(
              OpTy::getPropertiesAsAttr(context, *properties.as<typename OpTy::Properties *>())))
        return dict;
  }
  return attributes ? attributes : mlir::DictionaryAttr::get(context);
}

/// Offset and layout of the partition of a view; used by inference and by
/// lowering.
std::optional<layout::Partition> evaluatePartition(layout::Algebra &algebra, TiledCopyAttr tiled,
                                                   mlir::Type elementType, const layout::Layout &tensor,
                                                   const layout::Int &thread);
std::optional<layout::Partition> evaluatePartition(layout::Algebra &algebra, TiledMmaAttr tiled, MmaOperand operand,
                                                   const layout::Layout &tensor, const layout::Int &thread);
/// The type of a view or coordinate view moved by `partition.offset`. Null
/// after an error when no such type exists.
mlir::Type movedType(
    mlir::Type viewType, const layout::Partition &partition,
    llvm::function_ref<mlir::InFlightDiagnostic()> emitError = [] { return mlir::InFlightDiagnostic(); });
/// Starts errors `'opName' op ...` at a location; none without one.
std::function<mlir::InFlightDiagnostic()> errorsOf(std::optional<mlir::Location> location, llvm::StringRef opName);
/// Whether the type says everything about its values, so that `atx.static` makes
/// them.
bool isStaticType(mlir::Type type);
/// Attributes that belong to the operation itself, not to its users.
mlir::DictionaryAttr getInherentAttributes(mlir::Operation *op);
} // namespace detail

/// An atom attribute in the assembly of copy and gemm.
mlir::ParseResult parseAtom(mlir::OpAsmParser &parser, mlir::Attribute &atom);
void printAtom(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Attribute atom);

} // namespace atrex::atx

#include "dialects/Atx/AtxOpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Atx/AtxOps.h.inc"

#endif // ATREX_DIALECTS_ATX_ATXDIALECT_H
