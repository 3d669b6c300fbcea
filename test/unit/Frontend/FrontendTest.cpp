//===- FrontendTest.cpp - Lexer, parser, dimensions, import ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Frontend.h"
#include "atrex/Frontend/DimAlgebra.h"
#include "atrex/Frontend/Lexer.h"
#include "atrex/Frontend/Parser.h"
#include "atrex/Frontend/Sema.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace atrex;
using namespace atrex::frontend;

namespace {
/// A source with a context that collects what is reported.
class Source {
public:
  explicit Source(llvm::StringRef text)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
          return mlir::success();
        }) {
    sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "test.atx"), llvm::SMLoc());
    diags.emplace(sourceMgr, context);
  }

  llvm::StringRef getText() { return sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID())->getBuffer(); }
  std::vector<TokenKind> lex() {
    Lexer lexer(getText(), *diags);
    std::vector<TokenKind> kinds;
    do
      kinds.push_back(lexer.lex().kind);
    while (kinds.back() != TokenKind::Eof);
    return kinds;
  }

  mlir::MLIRContext context;
  llvm::SourceMgr sourceMgr;
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler;
  std::optional<Diagnostics> diags;
};

std::string simplified(llvm::StringRef text) { return simplify(llvm::cantFail(DimExpr::parse(text))).str(); }
std::optional<bool> nonNegative(llvm::StringRef text) { return isNonNegative(llvm::cantFail(DimExpr::parse(text))); }
} // namespace

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

TEST(DimAlgebra, Simplify) {
  EXPECT_EQ(simplified("2 * I - I"), "I");
  EXPECT_EQ(simplified("T - T + 8"), "8");
  EXPECT_EQ(simplified("T - T"), "0");
  EXPECT_EQ(simplified("(a + b) * (a - b)"), simplified("a * a - b * b"));
  EXPECT_EQ(simplified("1 + 2 * H"), simplified("H + 1 + H"));
  EXPECT_EQ(simplified("8 - T"), "8 - T");
  EXPECT_EQ(simplified("0 - T"), "-1 * T");
}

TEST(DimAlgebra, Quotients) {
  EXPECT_EQ(simplified("8 * K / 8"), "K");
  EXPECT_EQ(simplified("G * D / D"), "G");
  EXPECT_EQ(simplified("(4 * G + 8) / 4"), simplified("G + 2"));
  EXPECT_EQ(simplified("8 * K % 4"), "0");
  EXPECT_EQ(simplified("cdiv(6 * K, 3)"), "2 * K");
  // Not exact: stays whole, but equals itself.
  EXPECT_EQ(simplified("K / 8 * 8"), simplified("8 * (K / 8)"));
  EXPECT_NE(simplified("K / 8 * 8"), "K");
  EXPECT_EQ(simplified("K / 8 - K / 8"), "0");
  EXPECT_EQ(simplified("7 / 2"), "3");
  // No division by zero and no overflow is folded away.
  EXPECT_EQ(simplified("K / 0"), "K / 0");
  EXPECT_EQ(simplified("9223372036854775807 * 2"), "9223372036854775807 * 2");
}

TEST(DimAlgebra, TextParses) {
  for (const char *text :
       {"2 * I - I * J + 3", "0 - T", "K / (0 - 3) * 8 % 5", "cdiv(T, 16) - 4", "(a + b) * (c - 7)"}) {
    DimExpr expr = llvm::cantFail(DimExpr::parse(text));
    DimExpr again = llvm::cantFail(DimExpr::parse(simplify(expr).str()));
    DimMap dims;
    for (auto [name, value] : {std::pair("I", 3), {"J", 5}, {"T", 100}, {"K", 77}, {"a", 2}, {"b", 9}, {"c", 4}})
      dims[name] = value;
    EXPECT_EQ(llvm::cantFail(expr.evaluate(dims)), llvm::cantFail(again.evaluate(dims))) << text;
  }
}

TEST(DimAlgebra, Sign) {
  EXPECT_EQ(nonNegative("T - 1"), true);
  EXPECT_EQ(nonNegative("2 * I - I"), true);
  EXPECT_EQ(nonNegative("0 - T"), false);
  EXPECT_EQ(nonNegative("1 - T"), std::nullopt);
  EXPECT_EQ(nonNegative("T - 2"), std::nullopt);
  EXPECT_EQ(nonNegative("H - K"), std::nullopt);
  EXPECT_EQ(nonNegative("T / 8"), std::nullopt);
  EXPECT_EQ(nonNegative("3"), true);
  EXPECT_EQ(nonNegative("-3"), false);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(Lexer, Tokens) {
  Source source("op x(->- = == != <= >= < > && || ! 12 1.5 2e-6 // comment\n} let");
  std::vector<TokenKind> expected = {
      TokenKind::KwOp,    TokenKind::Identifier, TokenKind::LParen,   TokenKind::Arrow,     TokenKind::Minus,
      TokenKind::Assign,  TokenKind::Equal,      TokenKind::NotEqual, TokenKind::LessEqual, TokenKind::GreaterEqual,
      TokenKind::Less,    TokenKind::Greater,    TokenKind::AndAnd,   TokenKind::OrOr,      TokenKind::Not,
      TokenKind::Integer, TokenKind::Float,      TokenKind::Float,    TokenKind::RBrace,    TokenKind::KwLet,
      TokenKind::Eof};
  EXPECT_EQ(source.lex(), expected);
  EXPECT_TRUE(source.messages.empty());
}

TEST(Lexer, ReportsARunOfBytesOnce) {
  Source source(llvm::StringRef("a \0\xff\xfe b", 7));
  EXPECT_EQ(source.lex(),
            (std::vector{TokenKind::Identifier, TokenKind::Error, TokenKind::Identifier, TokenKind::Eof}));
  EXPECT_EQ(source.messages, std::vector<std::string>{"unexpected characters '\\x00\\xff\\xfe'"});
}

TEST(Diagnostics, Similar) {
  llvm::StringRef names[] = {"weight", "residual", "x", "eps"};
  EXPECT_EQ(findSimilar("wieght", names), "weight");
  EXPECT_EQ(findSimilar("Weight", names), "weight");
  EXPECT_EQ(findSimilar("epz", names), "eps");
  EXPECT_EQ(findSimilar("X", names), "x");
  EXPECT_EQ(findSimilar("y", names), "");
  EXPECT_EQ(findSimilar("bananas", names), "");
}

TEST(Parser, Precedence) {
  Source source("op f(x: f32[T]) -> (out: f32[T]) { out = a || b && -c + d * e < g[:, None] }");
  std::unique_ptr<ast::File> file = parse(source.getText(), *source.diags);
  ASSERT_TRUE(source.messages.empty());
  ASSERT_EQ(file->ops.size(), 1u);
  auto *orExpr = llvm::dyn_cast<ast::BinaryExpr>(llvm::cast<ast::AssignStmt>(file->ops[0]->body.stmts[0])->value);
  ASSERT_TRUE(orExpr && orExpr->op == ast::BinaryOp::Or);
  auto *andExpr = llvm::dyn_cast<ast::BinaryExpr>(orExpr->rhs);
  ASSERT_TRUE(andExpr && andExpr->op == ast::BinaryOp::And);
  auto *less = llvm::dyn_cast<ast::BinaryExpr>(andExpr->rhs);
  ASSERT_TRUE(less && less->op == ast::BinaryOp::Lt);
  EXPECT_EQ(less->lhs->getText(), "-c + d * e");
  EXPECT_EQ(less->rhs->getText(), "g[:, None]");
  EXPECT_EQ(orExpr->getText(), "a || b && -c + d * e < g[:, None]");
}

TEST(Lexer, OperatorsNumbersAndStrings) {
  Source source("+= -= *= . .. ~ & | ^ << >> 0xff_FF 0b1010 1_000 1..4 1.5e3 \"a\\\"b\" \"\"\"x\n\"y\"\"\" _ knobs");
  std::vector<TokenKind> expected = {
      TokenKind::PlusAssign, TokenKind::MinusAssign, TokenKind::StarAssign, TokenKind::Dot,     TokenKind::DotDot,
      TokenKind::Tilde,      TokenKind::Ampersand,   TokenKind::Pipe,       TokenKind::Caret,   TokenKind::ShiftLeft,
      TokenKind::ShiftRight, TokenKind::Integer,     TokenKind::Integer,    TokenKind::Integer, TokenKind::Integer,
      TokenKind::DotDot,     TokenKind::Integer,     TokenKind::Float,      TokenKind::String,  TokenKind::String,
      TokenKind::Identifier, TokenKind::Identifier,  TokenKind::Eof};
  EXPECT_EQ(source.lex(), expected);
  EXPECT_TRUE(source.messages.empty());
}

TEST(Lexer, MalformedNumbersAndStrings) {
  Source source("0xg 1__0 1_ 0b12 1.2.3 \"open\n\"\"\"open");
  source.lex();
  EXPECT_EQ(source.messages,
            (std::vector<std::string>{
                "malformed number '0xg'", "malformed number '1__0'; '_' stands between two digits",
                "malformed number '1_'; '_' stands between two digits", "malformed number '0b12'",
                "malformed number '1.2.3'", "string is not closed; expected '\"' before the end of the line",
                "string is not closed; expected '\"\"\"' before the end of the file"}));
}

TEST(Parser, WholeLanguage) {
  Source source(R"atx(
import "lib/math.atx"
const LOG2E = 1.4426950408889634
fn pair(a, b: f32[N]) -> f32 {
  let c = a * b
  if c > 0.0 { let d = 1 } else if true { let e = 2 } else { let f = nan }
  return c, -a
}
kernel decode(q: bf16[S, D] strides (LD, _) align 16, len: i32[S], eps: f32 = 1e-6) -> (out: bf16[S, D])
  grid (HK, S)
  where D % 8 == 0 && BN <= D, S >= 1
  threads NW * 64
  knobs BN in {32, 64,} = 64, NW in 1..4, ST in 16..128 step 16 = 32
{
  let (h, _) = block_id()   const G = HQ / HK
  var m: f32[G] = fill(f32[G], -inf)
  for j in range(0, len[s], BN) {
    for const i in range(4) { m += x.T[i] }
    while m < 3 || !done { m -= 1 m *= ~a & b ^ c | d << 2 >> 1 }
  }
  barrier()
  store(out[s, h*G : h*G + G, :, None], bf16(acc), mask = a
    == b)
  (a, b) = pair(
    c, d)
}
op plan(x: f32[T]) -> (out: f32[T], n: i32[1]) knobs A in {1} {
  let (t, u) = launch first(x, N = 4) count n[0]
  launch second(t)
  count = 3
  (out, n) = launch third(t, u)
}
)atx");
  std::unique_ptr<ast::File> file = parse(source.getText(), *source.diags);
  EXPECT_EQ(source.messages, std::vector<std::string>());
  ASSERT_EQ(file->ops.size(), 2u);
  ASSERT_EQ(file->fns.size(), 1u);
  ASSERT_EQ(file->imports.size(), 1u);
  EXPECT_EQ(file->imports[0]->path, "lib/math.atx");
  ASSERT_EQ(file->consts.size(), 1u);
  const ast::FnDecl &fn = *file->fns[0];
  EXPECT_EQ(fn.params[0].type.element, "");
  EXPECT_EQ(fn.resultType->element, "f32");
  ASSERT_EQ(fn.body.stmts.size(), 3u);
  auto *branch = llvm::cast<ast::IfStmt>(fn.body.stmts[1]);
  ASSERT_TRUE(branch->elseBlock);
  EXPECT_TRUE(llvm::cast<ast::IfStmt>(branch->elseBlock->stmts[0])->elseBlock);
  EXPECT_EQ(llvm::cast<ast::ReturnStmt>(fn.body.stmts[2])->values.size(), 2u);

  const ast::OpDecl &kernel = *file->ops[0];
  EXPECT_TRUE(kernel.isKernel);
  EXPECT_EQ(kernel.grid.size(), 2u);
  EXPECT_EQ(kernel.threads->getText(), "NW * 64");
  EXPECT_EQ(kernel.constraints.size(), 2u);
  ASSERT_EQ(kernel.knobs.size(), 3u);
  EXPECT_EQ(kernel.knobs[0].values.size(), 2u);
  EXPECT_TRUE(kernel.knobs[1].isRange && !kernel.knobs[1].step);
  EXPECT_EQ(kernel.knobs[2].range.End.getPointer()[-1], '2');
  EXPECT_EQ(kernel.params[0].type.strides.size(), 2u);
  EXPECT_EQ(kernel.params[0].type.strides[1], nullptr);
  EXPECT_EQ(llvm::cast<ast::IntegerExpr>(kernel.params[0].type.alignment)->value, 16);
  EXPECT_EQ(*kernel.endLoc.getPointer(), '}');
  ASSERT_EQ(kernel.body.stmts.size(), 7u);
  EXPECT_TRUE(llvm::cast<ast::BindStmt>(kernel.body.stmts[2])->type->isTensor);
  auto *loop = llvm::cast<ast::ForStmt>(kernel.body.stmts[3]);
  EXPECT_EQ(loop->step->getText(), "BN");
  ASSERT_EQ(loop->body.stmts.size(), 2u);
  EXPECT_TRUE(llvm::cast<ast::ForStmt>(loop->body.stmts[0])->isUnrolled);
  auto *inner = llvm::cast<ast::WhileStmt>(loop->body.stmts[1]);
  ASSERT_EQ(inner->body.stmts.size(), 2u);
  auto *compound = llvm::cast<ast::AssignStmt>(inner->body.stmts[1]);
  EXPECT_EQ(compound->compound, ast::BinaryOp::Mul);
  auto *bitOr = llvm::cast<ast::BinaryExpr>(compound->value);
  EXPECT_EQ(bitOr->op, ast::BinaryOp::BitOr);
  EXPECT_EQ(bitOr->lhs->getText(), "~a & b ^ c");
  EXPECT_EQ(bitOr->rhs->getText(), "d << 2 >> 1");

  const ast::OpDecl &op = *file->ops[1];
  ASSERT_EQ(op.body.stmts.size(), 4u);
  auto *launch = llvm::cast<ast::LaunchExpr>(llvm::cast<ast::BindStmt>(op.body.stmts[0])->value);
  EXPECT_EQ(launch->callee, "first");
  EXPECT_EQ(launch->args[1].name, "N");
  EXPECT_EQ(launch->count->getText(), "n[0]");
  EXPECT_EQ(llvm::cast<ast::AssignStmt>(op.body.stmts[3])->names.size(), 2u);
}

TEST(Parser, ResumesAtTheNextStatement) {
  Source source("op f(x: f32[T]) -> (out: f32[T]) {\n  let a = )\n  let b = x\n  out = b\n}\nop g(\nop h(x: f32[T]) -> "
                "(out: f32[T]) { out = x }");
  std::unique_ptr<ast::File> file = parse(source.getText(), *source.diags);
  EXPECT_EQ(source.messages.size(), 2u);
  ASSERT_EQ(file->ops.size(), 3u);
  EXPECT_EQ(file->ops[0]->body.stmts.size(), 3u);
  EXPECT_TRUE(file->ops[0]->hasErrors);
  EXPECT_TRUE(file->ops[1]->isIncomplete);
  EXPECT_FALSE(file->ops[2]->hasErrors);
}

//===----------------------------------------------------------------------===//
// Checking and import
//===----------------------------------------------------------------------===//

TEST(Sema, Program) {
  Source source(
      "op f(x: bf16[T, 2*I], s: f32 = 0.5) -> (out: f32[T, I]) where I % 8 == 0 { out = f32(x[:, I:2*I]) * s }");
  std::unique_ptr<ast::File> file = parse(source.getText(), *source.diags);
  EXPECT_EQ(collectDimNames(*file->ops[0]), (std::vector<llvm::StringRef>{"T", "I"}));
  AnalyzeOptions options;
  options.dims["I"] = 64;
  options.isSelected = true;
  std::unique_ptr<Operator> op = analyze(*file->ops[0], options, *source.diags);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->runtimeDims, std::vector<std::string>{"T"});
  EXPECT_EQ(op->constraints, std::vector<std::string>{"T >= 1"});
  EXPECT_EQ(toString(op->params[0].shape), "[T, 2 * I]");
  EXPECT_EQ(op->params[0].shape[1].constant, 128);
  EXPECT_EQ(std::get<double>(*op->params[1].defaultValue), 0.5);
  // Operands stand before users.
  for (size_t i = 0; i < op->nodes.size(); ++i)
    for (Node *operand : op->nodes[i]->operands)
      EXPECT_TRUE(std::any_of(op->nodes.begin(), op->nodes.begin() + i, [&](auto &n) { return n.get() == operand; }));
}

TEST(Frontend, Import) {
  Source source("op f(x: f32[T, H]) -> (out: f32[T, H]) { out = x + 1.0 }");
  FrontendOptions options;
  options.dims["H"] = 64;
  mlir::OwningOpRef<mlir::ModuleOp> module = importAtx(source.sourceMgr, source.context, options);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  ASSERT_TRUE(function);
  EXPECT_EQ(function.getNumArguments(), 2u);
  EXPECT_EQ(llvm::cast<mlir::ShapedType>(function.getArgument(0).getType()).getDimSize(1), 64);
  // The same buffer may be imported again, with other dimensions.
  options.dims["H"] = 128;
  EXPECT_TRUE(importAtx(source.sourceMgr, source.context, options));
  EXPECT_TRUE(source.messages.empty());
}

TEST(Frontend, ErrorsGiveNull) {
  Source source("op f(x: f32[T]) -> (out: f32[T]) { out = y + z }");
  EXPECT_FALSE(importAtx(source.sourceMgr, source.context, {}));
  EXPECT_EQ(source.messages, (std::vector<std::string>{"unknown name 'y'", "unknown name 'z'"}));
}
