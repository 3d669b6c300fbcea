//===- Analyzer.h - Semantic analysis, shared by its files ------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_FRONTEND_ANALYZER_H
#define ATREX_LIB_FRONTEND_ANALYZER_H

#include "Library.h"
#include "atrex/Frontend/Builtins.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lexer.h"
#include "atrex/Frontend/Sema.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace atrex::frontend {
/// Operators a dimension expression may have; longer ones come from chains of
/// `let` that double.
inline constexpr unsigned maxDimExprSize = 500;
/// Operations of one program, after inlining and unrolling.
inline constexpr size_t maxProgramNodes = 200000;
/// Calls of helpers in one program.
inline constexpr size_t maxHelperCalls = 20000;

inline constexpr llvm::StringRef typeNames[] = {
    "i1",  "i8",  "i16",      "i32",        "i64",    "u8",         "u32",      "bf16",     "f16",
    "f32", "f64", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f6e2m3fn", "f6e3m2fn", "f4e2m1fn"};

/// An element type by its name in the language.
inline std::optional<DataType> lookupType(llvm::StringRef name) {
  std::optional<DataType> type = parseDataType(name);
  return type && getName(*type) == name ? type : std::nullopt;
}

inline bool isInteger(DataType type) { return !isFloat(type) && type != DataType::I1; }
inline bool isUnsigned(DataType type) { return type == DataType::U8 || type == DataType::U32; }
inline unsigned getBits(DataType type) { return type == DataType::I1 ? 1 : getSizeInBits(type); }
/// Floats of at most 8 bits hold values but do not compute.
inline bool isStorageOnly(DataType type) { return isFloat(type) && getSizeInBits(type) <= 8; }
/// Floats of less than a byte: packed in memory, without infinity and NaN.
inline bool isPacked(DataType type) { return getElementsPerUnit(type) != 1; }

inline const llvm::fltSemantics &getSemantics(DataType type) {
  switch (type) {
  case DataType::BF16:
    return llvm::APFloat::BFloat();
  case DataType::F16:
    return llvm::APFloat::IEEEhalf();
  case DataType::F64:
    return llvm::APFloat::IEEEdouble();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

/// Names of the functions, for messages.
std::vector<llvm::StringRef> getFunctionNames();
/// `lhs op rhs` for a comparison.
bool compareNumbers(ast::BinaryOp op, int64_t lhs, int64_t rhs);

/// A tensor parameter, a result or a shared tile of a kernel.
struct MemoryInfo {
  MemoryRef ref;
  DataType type = DataType::F32;
  Shape shape;
};

/// What an expression denotes.
struct Value {
  enum class Kind : uint8_t {
    /// Already reported; everything made of it is silent.
    Poison,
    /// A floating-point constant without a type of its own.
    Float,
    /// An integer constant or an expression over dimensions.
    Dim,
    Node,
    /// Several values: what `topk` gives, what a helper returns.
    Tuple,
    /// Kernels: a tensor parameter, a result or a shared tile; loads and stores
    /// reach its elements.
    Memory,
  };
  Kind kind = Kind::Poison;
  double number = 0;
  DimExpr dim;
  unsigned dimSize = 0;
  Node *node = nullptr;
  /// Tuple.
  std::vector<Value> elements;
  /// Memory.
  std::shared_ptr<const MemoryInfo> memory;
  /// The expression, for messages.
  const ast::Expr *expr = nullptr;

  bool isPoison() const { return kind == Kind::Poison; }
  bool isFloat() const { return kind == Kind::Float; }
  bool isDim() const { return kind == Kind::Dim; }
  bool isNode() const { return kind == Kind::Node; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isMemory() const { return kind == Kind::Memory; }
  /// An integer without a dimension in it.
  std::optional<int64_t> getInteger() const { return isDim() ? dim.getConstant() : std::nullopt; }
};

/// A name of the program.
struct Symbol {
  enum class Kind : uint8_t { Param, Let, Dim, Var, Const, Knob, Result, Counter };
  Kind kind;
  llvm::SMLoc loc;
  Value value;
  bool isUsed = false;
};

class Analyzer {
public:
  Analyzer(const ast::OpDecl &decl, const AnalyzeOptions &options, Diagnostics &diags)
      : decl(decl), dims(options.dims), options(options), diags(diags), isKernel(decl.isKernel) {}

  std::unique_ptr<Operator> run();
  /// Gives the constants of the library their values.
  void evaluateConstants();
  /// Checks the knobs and nothing else.
  std::vector<Knob> takeKnobs();

private:
  //===--- Declarations ---------------------------------------------------===//

  void declareDims();
  void collectDims(const ast::Expr *expr);
  void declare(const ast::ValueDecl &value, bool isResult);
  bool checkLayout(const ast::ValueDecl &value, Variable &variable);
  Value makeMemory(const Variable &variable, MemoryRef::Kind kind);
  void checkDefault(const ast::ValueDecl &value, Variable &variable);
  /// Both sides of a comparison, or sums with the dimensions of what `&&` and `||`
  /// join, and whether it holds where that is known.
  struct Constraint {
    DimExpr lhs, rhs;
    std::optional<bool> holds;
  };
  std::optional<Constraint> evaluateConstraint(const ast::Expr *expr);
  void checkConstraint(const ast::Expr *expr);
  void checkRuntimeDims();
  void checkStmt(const ast::Stmt &stmt);
  void checkBinding(const ast::BindStmt &stmt);
  /// Whether `value` has the type written for it; constants take it.
  bool checkAnnotation(Value &value, const ast::TypeSpec &spec, const ast::Binding &name);
  void checkLet(const ast::Binding &stmt, const Value &value);
  void checkAssign(const ast::Binding &stmt, const ast::Expr *source, const Value &value);
  void checkResultsAssigned();
  void warnUnused();
  /// Remembers whether a name that goes out of scope was used.
  void recordUse(llvm::StringRef name, const Symbol &symbol);

  //===--- Dimension expressions ------------------------------------------===//

  std::optional<Extent> makeExtent(const DimExpr &expr, llvm::SMLoc loc);
  Value makeDim(DimExpr expr, unsigned size, const ast::Expr *source);
  Value makeDimBinary(DimExpr::Kind kind, const Value &lhs, const Value &rhs, const ast::Expr *source);
  /// Evaluates an expression that must be an integer or over dimensions.
  std::optional<DimExpr> evaluateDim(const ast::Expr *expr, llvm::StringRef what);
  void require(const DimExpr &lhs, llvm::StringRef op, const DimExpr &rhs);
  std::string describeDims(const DimExpr &expr) const;

  //===--- Expressions ----------------------------------------------------===//

  /// Evaluates an expression that stands for one value.
  Value evaluate(const ast::Expr *expr);
  /// The same, or several values; in kernels before the rules for values. Tells
  /// the listener the type.
  Value evaluateAny(const ast::Expr *expr);
  Value evaluateExpr(const ast::Expr *expr);
  Value evaluateName(const ast::NameExpr &expr);
  Value evaluateUnary(const ast::UnaryExpr &expr);
  Value evaluateBinary(const ast::BinaryExpr &expr);
  Value evaluateCall(const ast::CallExpr &expr);
  Value evaluateCast(const ast::CallExpr &expr, DataType type);
  bool checkPacked(DataType type, const DimExpr &count, const llvm::Twine &what, llvm::SMLoc loc);
  Value evaluateReduction(const ast::CallExpr &expr, Reduction reduction);
  Value evaluateIndex(const ast::IndexExpr &expr);
  bool evaluateAxes(const ast::Argument &arg, unsigned rank, llvm::SmallVectorImpl<unsigned> &axes);
  /// Whether a reduction or scan combines values of the type of `operand`.
  bool checkReduces(const Value &operand, Reduction reduction, llvm::StringRef name);
  /// Whether values of the type of `operand` have an order.
  bool checkOrdered(const Value &operand, llvm::StringRef what);
  bool evaluateArgs(const ast::CallExpr &expr, unsigned count, llvm::SmallVectorImpl<Value> &values);

  /// Gives constants among `values` the type of the others and checks that all
  /// types agree. False after an error.
  bool unify(llvm::MutableArrayRef<Value> values, llvm::StringRef what, llvm::SMLoc loc);
  /// Makes a constant a node of `type`.
  bool adapt(Value &value, DataType type, llvm::StringRef what, llvm::SMLoc loc);
  bool requireTyped(const Value &value, llvm::StringRef what);
  bool checkComputes(const Value &value, llvm::StringRef what);
  Value makeElementwise(Elementwise op, DataType type, llvm::ArrayRef<Value> operands, llvm::StringRef what,
                        const ast::Expr *source);
  bool broadcast(Shape &shape, const Value *&shapeOwner, const Value &operand, llvm::StringRef what, llvm::SMLoc loc);

  //===--- Functions of SemaBuiltins.cpp ----------------------------------===//

  /// Null: not one of these.
  std::optional<Value> evaluateShapedCall(const ast::CallExpr &expr);
  /// Binds arguments to the parameters of `builtin`; null for one left out.
  bool bindArgs(const ast::CallExpr &expr, const Builtin &builtin, llvm::SmallVectorImpl<const ast::Expr *> &bound);
  Value evaluateTensor(const ast::Expr *expr, llvm::StringRef what);
  std::optional<bool> evaluateFlag(const ast::Expr *expr, llvm::StringRef what);
  std::optional<unsigned> evaluateAxis(const ast::Expr *expr, unsigned rank);
  bool evaluateShape(const ast::Expr *expr, Shape &shape);
  std::optional<DataType> evaluateAccumulator(const ast::Expr *expr, const Value &operand, llvm::StringRef what);
  void requirePositions(const Extent &extent);
  Value convert(const Value &value, DataType type, const ast::Expr *source);
  Value makeContract(llvm::ArrayRef<Value> operands, llvm::ArrayRef<std::string> letters, llvm::StringRef output,
                     DataType acc, llvm::StringRef what, const ast::Expr *source);
  Value makeTranspose(const Value &x, llvm::ArrayRef<unsigned> axes, const ast::Expr *source);
  Value makeBroadcast(const Value &x, Shape shape, const ast::Expr *source);
  Value evaluateScan(const ast::CallExpr &expr, const Builtin &builtin, Reduction reduction);
  Value evaluateTopK(const ast::CallExpr &expr, const Builtin &builtin, bool isSort);
  Value evaluateRank(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateHistogram(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateEinsum(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateDot(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateReshape(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateTranspose(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateBroadcast(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateConcat(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateTake(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateIota(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateFillCall(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateBitcast(const ast::CallExpr &expr, const Builtin &builtin);
  Value evaluateMember(const ast::MemberExpr &expr);

  /// What a launch gives: one value, several, or none (SemaLaunch.cpp).
  Value evaluateLaunch(const ast::LaunchExpr &expr);
  bool checkCountIndex(const DimExpr &written, const DimExpr &value, const Value &tensor, unsigned axis,
                       llvm::SMLoc loc);
  /// Kernels of the result with the values of dimensions and knobs, as texts.
  std::vector<std::string> launchKeys;

  Node *makeNode(decltype(Node::op) op, DataType type, llvm::SMLoc loc) {
    auto node = std::make_unique<Node>();
    node->op = std::move(op);
    node->type = type;
    node->loc = loc;
    node->callSite = callSite;
    result->nodes.push_back(std::move(node));
    if (block)
      block->nodes.push_back(result->nodes.back().get());
    return result->nodes.back().get();
  }
  static Value makeValue(Node *node, const ast::Expr *source) {
    Value value;
    value.kind = Value::Kind::Node;
    value.node = node;
    value.expr = source;
    return value;
  }
  static Value makeTuple(std::vector<Value> elements, const ast::Expr *source) {
    Value value;
    value.kind = Value::Kind::Tuple;
    value.elements = std::move(elements);
    value.expr = source;
    return value;
  }
  Node *makeLiteral(decltype(Node::Literal::value) literal, DataType type, llvm::SMLoc loc) {
    Node *node = makeNode(Node::Literal{literal}, type, loc);
    node->isScalar = true;
    return node;
  }

  //===--- Names of the library (SemaLibrary.cpp) -------------------------===//

  /// Constants of the file and its imports. Null: no such name.
  std::optional<Value> lookupConstant(const ast::NameExpr &expr);
  void evaluateConstant(Library::Constant &constant);
  void declareKnobs();
  std::optional<int64_t> evaluateNumber(const ast::Expr *expr, llvm::StringRef what);
  /// Null: no helper has this name.
  std::optional<Value> evaluateHelperCall(const ast::CallExpr &expr);
  Value inlineHelper(const ast::CallExpr &expr, const ast::FnDecl &fn);
  /// Checks that a value has the type written for it and gives constants that
  /// type. Names in extents that are unknown are bound if `bindsNames`.
  bool checkAnnotation(Value &value, const ast::TypeSpec &type, const llvm::Twine &what, llvm::SMLoc loc,
                       bool bindsNames);

  //===--- Statements of both forms and of kernels (SemaKernel.cpp) -------===//

  std::unique_ptr<Operator> runKernel();
  void checkKernelClauses();
  /// False: a statement whose rules depend on the form.
  bool checkCommonStmt(const ast::Stmt &stmt);
  void checkBind(const ast::BindStmt &stmt);
  void checkVarAssign(const ast::AssignStmt &stmt);
  void assignVar(const ast::Binding &binding, Value value, const ast::Expr *source);
  void checkFor(const ast::ForStmt &stmt);
  /// Whether the counter of a loop stays inside of its type where that is known; a
  /// launch checks what depends on dimensions.
  bool checkCounter(const ast::ForStmt &stmt, llvm::ArrayRef<Value> bounds, DataType type);
  void checkUnrolledFor(const ast::ForStmt &stmt, const Value &begin, const Value &end, const Value &step);
  void checkWhile(const ast::WhileStmt &stmt);
  void checkIf(const ast::IfStmt &stmt);
  void checkExprStmt(const ast::ExprStmt &stmt);
  void checkBlock(const ast::Block &body);
  bool requireControlFlow(const ast::Stmt &stmt, llvm::StringRef what);
  /// Ends the scope of the names introduced behind the first `count`.
  void closeScope(size_t count);
  /// Variables of the surrounding statements that `body` assigns, in order of
  /// first assignment.
  llvm::SmallVector<llvm::StringRef> findAssigned(llvm::ArrayRef<const ast::Block *> bodies);
  Node *makeKernelNode(KernelOp::Kind kind, DataType type, llvm::SMLoc loc, llvm::ArrayRef<Node *> operands = {});
  Node *makeLike(KernelOp::Kind kind, const Node &model, unsigned index, llvm::SMLoc loc);
  /// What variables have at the end of a block; null if one has an error.
  bool collectYields(llvm::ArrayRef<llvm::StringRef> names, NodeBlock &target);
  void bindResults(llvm::ArrayRef<llvm::StringRef> names, Node *op, llvm::SMLoc loc);
  /// The truth value of a condition that needs nothing of the run.
  std::optional<bool> getKnownTruth(const Node &node) const;
  void foldTruth(Value &value);
  /// Makes a constant or a dimension a scalar of the type that it has by default:
  /// `i32` (`i64` where it must be), `f32`.
  bool makeTyped(Value &value);
  /// An integer that is the same in every run.
  std::optional<int64_t> getKnownInteger(const Value &value) const {
    return value.isDim() ? value.dim.substitute(dims).getConstant() : std::nullopt;
  }

  //===--- Values and memory of kernels (SemaMemory.cpp) ------------------===//

  /// A part of a tensor or shared tile.
  struct View {
    Value memory;
    /// One per dimension: a scalar, or a tile of the rank of `shape`.
    llvm::SmallVector<Node *> indices;
    Shape shape;
    bool isScalar = false;
    const ast::Expr *expr = nullptr;
  };

  /// A value, several of them, or memory.
  Value evaluateSeveral(const ast::Expr *expr);
  /// Scalars instead of tensors without axes; loads of single elements; extents
  /// that are numbers.
  Value finishKernelValue(Value value, const ast::Expr *source);
  bool checkExtents(const Shape &shape, llvm::SMLoc loc);
  /// Null: no function that only kernels have.
  std::optional<Value> evaluateKernelCall(const ast::CallExpr &expr);
  /// Null: not an access to memory.
  std::optional<Value> evaluateKernelIndex(const ast::IndexExpr &expr);
  /// Operations on dimensions that are values in kernels. Null: none of these.
  std::optional<Value> evaluateKernelBinary(const ast::BinaryExpr &expr, Value &lhs, Value &rhs);
  /// Makes a dimension a scalar. Null: it has no value and `type` cannot hold it.
  Node *makeDimNode(const Value &value, DataType type, llvm::SMLoc loc);
  std::optional<View> evaluateView(const ast::Expr *expr, llvm::StringRef function);
  /// A name of memory, as memory and not as a value.
  std::optional<Value> evaluateMemory(const ast::Expr *expr);
  /// What `view` selects, with `count` positional arguments of a call behind it.
  Node *makeIndex(const Value &value, llvm::StringRef what);
  /// Positions from `begin` on, as many as `length`.
  Node *makeSlice(Node *begin, const Extent &length, const ast::Expr *source);
  Node *makeIota(const Extent &extent, DataType type, llvm::SMLoc loc);
  Node *placeAxis(Node *tile, unsigned axis, unsigned rank, const ast::Expr *source);
  DimExpr getSymbol(const Value &value);
  DimExpr getSymbol(const Node &node, unsigned depth = 0);
  /// Whether `value` may stand for every element of `shape`.
  bool checkFills(const Value &value, const Shape &shape, llvm::StringRef what, const Value &viewed);
  /// Whether `value`, a constant adapted, may be written to elements of `type`.
  bool checkWritten(Value &value, DataType type, const Shape &shape, llvm::StringRef what, const Value &viewed,
                    llvm::SMLoc loc);
  bool checkMask(const Value &mask, const Shape &shape, const Value &viewed, llvm::SMLoc loc);
  bool evaluateTileType(const ast::Expr *expr, DataType &type, Shape &shape, bool &isScalar);
  /// Splits arguments into positional and named ones. False after an error.
  bool splitArgs(const ast::CallExpr &expr, unsigned minimum, unsigned maximum, llvm::ArrayRef<llvm::StringRef> names,
                 llvm::SmallVectorImpl<const ast::Expr *> &positional, llvm::SmallVectorImpl<const ast::Expr *> &named);
  Value makeVoid(const ast::Expr *source) {
    Value value;
    value.kind = Value::Kind::Tuple;
    value.expr = source;
    return value;
  }
  Value evaluateLoad(const ast::CallExpr &expr);
  Value makeLoad(const View &view, Node *fill, const ast::Expr *source);
  Value evaluateStore(const ast::CallExpr &expr);
  Value evaluateAtomic(const ast::CallExpr &expr, AtomicKind kind);
  Value evaluateGrid(const ast::CallExpr &expr, KernelOp::Kind kind);
  Value evaluateShared(const ast::CallExpr &expr);
  Value evaluatePin(const ast::CallExpr &expr);
  Value evaluateRaw(const ast::CallExpr &expr);
  Value evaluateCeilDiv(const ast::CallExpr &expr);
  /// Chooses what of a name is written; false after an error.
  bool selectWritten(View &view, llvm::StringRef function);

  //===--- Messages -------------------------------------------------------===//

  static std::string typeOf(const Value &value);
  /// `a dimension`, `a scalar of type 'f32'`.
  std::string describe(const Value &value) const {
    if (value.isTuple())
      return std::to_string(value.elements.size()) + " values of types '" + typeOf(value) + "'";
    if (value.isMemory())
      return "a tensor in memory of type '" + typeOf(value) + "'";
    if (!value.isNode())
      return (value.getInteger() ? "an " : "a ") + typeOf(value);
    return (value.node->isScalar ? "a scalar of type '"
            : isKernel           ? "a tile of type '"
                                 : "a tensor of type '") +
           typeOf(value) + "'";
  }
  static std::string typeOf(const Variable &variable) {
    return getName(variable.type).str() + (variable.isScalar ? "" : toString(variable.shape));
  }
  void noteType(mlir::InFlightDiagnostic &diagnostic, const Value &value, llvm::StringRef which) {
    diags.note(diagnostic, value.expr->loc) << which << " has type '" << typeOf(value) << "'";
  }
  /// `f32(x)` with the text of an expression, or with dots when it is long.
  static std::string suggestCast(llvm::StringRef type, const Value &value) {
    llvm::StringRef text = value.expr->getText();
    bool isShort = text.size() <= 24 && !text.contains('\n');
    if (isShort && text.starts_with("(") && text.ends_with(")"))
      return (type + text).str();
    return (type + "(" + (isShort ? text : "...") + ")").str();
  }
  std::vector<llvm::StringRef> visibleNames() const;
  /// An element type by its name, type parameters included.
  std::optional<DataType> lookupType(llvm::StringRef name) const {
    auto param = typeParams.find(name);
    return param == typeParams.end() ? frontend::lookupType(name) : std::optional(param->second);
  }
  void declareTypes();

  const ast::OpDecl &decl;
  /// Values of dimensions and knobs.
  DimMap dims;
  const AnalyzeOptions &options;
  Diagnostics &diags;
  /// Kernel form: a value without axes is a scalar, extents are numbers, tensor
  /// parameters are memory.
  const bool isKernel;
  /// Where operations of a kernel go; null in operator form.
  NodeBlock *block = nullptr;
  const CallSite *callSite = nullptr;
  std::unique_ptr<Operator> result;
  /// Element types that parameters stand for, `DTYPE: type`.
  llvm::StringMap<DataType> typeParams;
  llvm::StringMap<Symbol> symbols;
  /// Names of `let`s in order, for warnings.
  std::vector<llvm::StringRef> letNames;
  /// By position of the name: whether one of its values was used.
  std::map<const char *, std::pair<llvm::StringRef, bool>> uses;
  std::vector<llvm::StringRef> dimNames;
  llvm::StringMap<unsigned> resultIndex;
  /// Results whose declaration or value has an error.
  llvm::SmallVector<bool> resultIsPoison;
  /// Helpers that are being inlined, outermost first.
  llvm::SmallVector<const ast::FnDecl *> helperStack;
  /// Expressions made here, for compound assignments.
  ast::File synthetic;
  /// Results that some statement writes.
  std::set<unsigned> writtenResults;
  /// Unrolled statements so far; bounded.
  uint64_t unrolled = 0;
  /// Integer scalars as expressions over unknowns, and how many unknowns.
  llvm::DenseMap<const Node *, DimExpr> nodeSymbols;
  unsigned numUnknowns = 0;
};

} // namespace atrex::frontend

#endif // ATREX_LIB_FRONTEND_ANALYZER_H
