//===- AtxServer.cpp - Language server for the kernel language ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtxServer.h"
#include "AtxIndex.h"
#include "atrex/Frontend/Format.h"
#include "atrex/Frontend/Frontend.h"
#include "atrex/Frontend/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace atrex;
using namespace atrex::lsp;
using llvm::StringRef;
namespace json = llvm::json;
namespace protocol = llvm::lsp;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Characters of the protocol are UTF-16 units, columns of the compiler bytes.
static unsigned countUnits(StringRef text) {
  unsigned units = 0;
  for (unsigned char c : text)
    units += (c & 0xC0) == 0x80 ? 0 : c >= 0xF0 ? 2 : 1;
  return units;
}

namespace {
/// The lines of a text.
class Lines {
public:
  explicit Lines(StringRef text) : text(text) {
    starts.push_back(0);
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n')
        starts.push_back(i + 1);
  }

  protocol::Position getPosition(size_t offset) const {
    offset = std::min(offset, text.size());
    size_t line = llvm::upper_bound(starts, offset) - starts.begin() - 1;
    return {int(line), int(countUnits(text.slice(starts[line], offset)))};
  }
  /// Nothing outside of the text; the end of the line for a character behind it.
  std::optional<size_t> getOffset(int64_t line, int64_t character) const {
    if (line < 0 || character < 0 || line >= int64_t(starts.size()))
      return std::nullopt;
    size_t offset = starts[line], end = line + 1 < int64_t(starts.size()) ? starts[line + 1] - 1 : text.size();
    for (int64_t units = 0; offset < end && units < character;) {
      unsigned char c = text[offset];
      units += c >= 0xF0 ? 2 : 1;
      ++offset;
      while (offset < end && (text[offset] & 0xC0) == 0x80)
        ++offset;
    }
    return offset;
  }
  /// Line and column count from 1, columns in bytes.
  size_t getOffsetOfColumn(unsigned line, unsigned column) const {
    if (line == 0 || line > starts.size())
      return 0;
    return std::min(starts[line - 1] + std::max(column, 1u) - 1, text.size());
  }
  protocol::Range getRange(size_t begin, size_t end) const { return {getPosition(begin), getPosition(end)}; }

private:
  StringRef text;
  std::vector<size_t> starts;
};

/// Text that JSON can hold.
std::string toUTF8(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

std::string toURI(StringRef path) {
  if (llvm::Expected<protocol::URIForFile> uri = protocol::URIForFile::fromFile(path))
    return uri->uri().str();
  else
    llvm::consumeError(uri.takeError());
  return toUTF8(path);
}

/// Types of expressions by their place in the main source.
class TypeTable : public frontend::SemaListener {
public:
  struct Entry {
    const char *begin, *end;
    std::string type;
  };
  void onExpression(const frontend::ast::Expr &expr, StringRef type) override {
    entries.push_back({expr.range.Start.getPointer(), expr.range.End.getPointer(), type.str()});
  }
  std::vector<Entry> entries;
};
} // namespace

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

class AtxServer::Document {
public:
  Document(StringRef uri, StringRef text) : uri(uri.str()), path(getPath(uri)), index(text, path), lines(getText()) {
    check();
  }

  json::Array takeDiagnostics() { return std::move(diagnostics); }
  json::Value hover(size_t offset) const;
  json::Value definition(size_t offset) const;
  json::Value references(size_t offset, bool withDeclaration) const;
  json::Array symbols() const;
  json::Value format() const;
  const Lines &getLines() const { return lines; }

private:
  static std::string getPath(StringRef uri) {
    if (llvm::Expected<protocol::URIForFile> parsed = protocol::URIForFile::fromURI(uri))
      return parsed->file().str();
    else
      llvm::consumeError(parsed.takeError());
    return uri.str();
  }
  StringRef getText() const { return index.getText(); }
  const char *at(size_t offset) const { return getText().data() + offset; }
  protocol::Range getRange(const char *begin, const char *end) const {
    return lines.getRange(begin - getText().data(), end - getText().data());
  }
  bool contains(const char *position) const { return position >= getText().begin() && position <= getText().end(); }
  void check();
  void addDiagnostic(mlir::Diagnostic &diagnostic);
  json::Object getLocation(mlir::Location location) const;
  json::Object getLocation(const Definition &definition) const;
  StringRef getType(const frontend::ast::Expr *expr) const;
  /// The innermost expression at a position that has a type.
  const TypeTable::Entry *findExpression(const char *position) const;

  std::string uri, path;
  Index index;
  Lines lines;
  json::Array diagnostics;
  /// By position in the text of the index.
  std::vector<TypeTable::Entry> types;
};

void AtxServer::Document::check() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sourceMgr;
  // The name is what imports are relative to.
  unsigned buffer = sourceMgr.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(getText(), path, /*RequiresNullTerminator=*/false), llvm::SMLoc());
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    addDiagnostic(diagnostic);
    return mlir::success();
  });
  TypeTable table;
  frontend::FrontendOptions options;
  options.isCheckOnly = true;
  options.listener = &table;
  (void)frontend::importAtx(sourceMgr, context, options);
  StringRef text = sourceMgr.getMemoryBuffer(buffer)->getBuffer();
  for (TypeTable::Entry &entry : table.entries)
    if (entry.begin >= text.begin() && entry.end <= text.end())
      types.push_back(std::move(entry));
}

json::Object AtxServer::Document::getLocation(mlir::Location location) const {
  auto place = llvm::dyn_cast<mlir::FileLineColLoc>(location);
  if (place && place.getFilename().getValue() != path)
    return json::Object{{"uri", toURI(place.getFilename().getValue())},
                        {"range", protocol::Range(protocol::Position(std::max(int(place.getLine()) - 1, 0),
                                                                     std::max(int(place.getColumn()) - 1, 0)))}};
  size_t begin = place ? lines.getOffsetOfColumn(place.getLine(), place.getColumn()) : 0, end = begin;
  StringRef text = getText();
  // To the end of the word, or one character.
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (end < text.size() && isWord(text[end]))
    ++end;
  if (end == begin && end < text.size() && text[end] != '\n')
    do
      ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80);
  return json::Object{{"uri", uri}, {"range", lines.getRange(begin, end)}};
}

void AtxServer::Document::addDiagnostic(mlir::Diagnostic &diagnostic) {
  protocol::DiagnosticSeverity severity = protocol::DiagnosticSeverity::Information;
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
    severity = protocol::DiagnosticSeverity::Error;
  else if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
    severity = protocol::DiagnosticSeverity::Warning;
  std::string message = toUTF8(diagnostic.str());
  json::Object location = getLocation(diagnostic.getLocation());
  json::Array related;
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    related.push_back(json::Object{{"location", getLocation(note.getLocation())}, {"message", toUTF8(note.str())}});
  json::Value range = *location.get("range");
  if (location.getString("uri") != uri) {
    // The error is in an imported file; it is shown where that is imported.
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
    range = lines.getRange(0, 0);
    for (const Reference &reference : index.getReferences()) {
      const Definition &definition = index.getDefinition(reference);
      if (definition.kind == Definition::Kind::File && place &&
          llvm::sys::path::filename(definition.detail) == llvm::sys::path::filename(place.getFilename()))
        range = getRange(reference.begin, reference.end);
    }
    related.insert(related.begin(), json::Object{{"location", std::move(location)}, {"message", "reported here"}});
  }
  diagnostics.push_back(json::Object{{"range", std::move(range)},
                                     {"severity", int(severity)},
                                     {"source", "atrex"},
                                     {"message", std::move(message)},
                                     {"relatedInformation", std::move(related)}});
}

StringRef AtxServer::Document::getType(const frontend::ast::Expr *expr) const {
  if (expr)
    for (const TypeTable::Entry &entry : llvm::reverse(types))
      if (entry.begin == expr->range.Start.getPointer() && entry.end == expr->range.End.getPointer())
        return entry.type;
  return {};
}

const TypeTable::Entry *AtxServer::Document::findExpression(const char *position) const {
  const TypeTable::Entry *best = nullptr;
  for (const TypeTable::Entry &entry : types)
    if (position >= entry.begin && position < entry.end &&
        (!best || entry.end - entry.begin <= best->end - best->begin))
      best = &entry;
  return best;
}

static StringRef describe(Definition::Kind kind) {
  switch (kind) {
  case Definition::Kind::Operator:
    return "operator";
  case Definition::Kind::Kernel:
    return "kernel";
  case Definition::Kind::Function:
    return "function";
  case Definition::Kind::Constant:
    return "constant";
  case Definition::Kind::Parameter:
    return "parameter";
  case Definition::Kind::Result:
    return "result";
  case Definition::Kind::Dimension:
    return "dimension";
  case Definition::Kind::Knob:
    return "knob";
  case Definition::Kind::Value:
    return "value";
  case Definition::Kind::Variable:
    return "variable";
  case Definition::Kind::LoopVariable:
    return "loop variable";
  case Definition::Kind::Builtin:
    return "function of the language";
  case Definition::Kind::File:
    return "file";
  }
  return "";
}

json::Value AtxServer::Document::hover(size_t offset) const {
  const char *position = at(offset);
  std::string text;
  const char *begin, *end;
  if (const Reference *reference = index.find(position)) {
    const Definition &definition = index.getDefinition(*reference);
    begin = reference->begin;
    end = reference->end;
    StringRef type = getType(definition.value);
    const TypeTable::Entry *use = findExpression(reference->begin);
    // A variable has the type of the place, a value the one of its definition.
    if (type.empty() && use && use->begin == begin && use->end == end)
      type = use->type;
    text = describe(definition.kind).str() + "\n```atx\n";
    bool isTyped = definition.kind == Definition::Kind::Value || definition.kind == Definition::Kind::Variable ||
                   definition.kind == Definition::Kind::LoopVariable;
    text += isTyped && !type.empty() ? definition.name + ": " + type.str() : definition.declaration;
    text += "\n```";
    if (isTyped && !type.empty())
      text += "\n`" + definition.declaration + "`";
    else if (!definition.detail.empty())
      text += "\n" + definition.detail;
    if (definition.kind == Definition::Kind::Builtin || definition.kind == Definition::Kind::Function)
      if (const TypeTable::Entry *call = findExpression(reference->begin))
        text += "\n\nhere `" + call->type + "`";
  } else if (const TypeTable::Entry *entry = findExpression(position)) {
    begin = entry->begin;
    end = entry->end;
    text = "expression\n```atx\n" + entry->type + "\n```";
  } else {
    return nullptr;
  }
  return json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", toUTF8(text)}}},
                      {"range", getRange(begin, end)}};
}

json::Object AtxServer::Document::getLocation(const Definition &definition) const {
  if (definition.kind == Definition::Kind::File)
    return json::Object{{"uri", toURI(definition.detail)}, {"range", protocol::Range(protocol::Position(0, 0))}};
  if (contains(definition.loc))
    return json::Object{{"uri", uri}, {"range", getRange(definition.loc, definition.loc + definition.name.size())}};
  auto [text, file] = index.getBuffer(definition.loc);
  size_t offset = definition.loc - text.data();
  return json::Object{{"uri", toURI(file)}, {"range", Lines(text).getRange(offset, offset + definition.name.size())}};
}

json::Value AtxServer::Document::definition(size_t offset) const {
  const Reference *reference = index.find(at(offset));
  if (!reference || index.getDefinition(*reference).kind == Definition::Kind::Builtin)
    return json::Array();
  return json::Array{getLocation(index.getDefinition(*reference))};
}

json::Value AtxServer::Document::references(size_t offset, bool withDeclaration) const {
  json::Array result;
  if (const Reference *reference = index.find(at(offset)))
    for (const Reference &other : index.getReferences())
      if (other.definition == reference->definition &&
          (withDeclaration || other.begin != index.getDefinition(other).loc))
        result.push_back(json::Object{{"uri", uri}, {"range", getRange(other.begin, other.end)}});
  return result;
}

json::Array AtxServer::Document::symbols() const {
  json::Array result;
  auto make = [&](StringRef name, protocol::SymbolKind kind, StringRef detail, llvm::SMLoc loc, const char *end) {
    const char *begin = loc.getPointer();
    // The range holds the whole definition, from its keyword on.
    const char *first = begin;
    while (first > getText().begin() && first[-1] != '\n')
      --first;
    end = std::max(end, begin + name.size());
    return json::Object{{"name", toUTF8(name)},
                        {"kind", int(kind)},
                        {"detail", toUTF8(detail)},
                        {"range", getRange(first, std::min(end, getText().end()))},
                        {"selectionRange", getRange(begin, begin + name.size())}};
  };
  auto addStatements = [&](const frontend::ast::Block &block, json::Array &children) {
    for (const frontend::ast::Stmt *stmt : block.stmts)
      if (auto *bind = llvm::dyn_cast<frontend::ast::BindStmt>(stmt))
        for (const frontend::ast::Binding &name : bind->names)
          if (name.name != "_")
            children.push_back(make(name.name,
                                    bind->kind == frontend::ast::Stmt::Kind::Const ? protocol::SymbolKind::Constant
                                                                                   : protocol::SymbolKind::Variable,
                                    bind->isTuple ? StringRef() : getType(bind->value), name.loc,
                                    bind->range.End.getPointer()));
  };
  const frontend::ast::File &file = index.getFile();
  for (const frontend::ast::ConstDecl *decl : file.consts)
    result.push_back(
        make(decl->name, protocol::SymbolKind::Constant, "const", decl->loc, decl->value->range.End.getPointer()));
  for (const frontend::ast::FnDecl *fn : file.fns) {
    json::Object symbol =
        make(fn->name, protocol::SymbolKind::Function, "fn", fn->loc, fn->body.range.End.getPointer());
    json::Array children;
    addStatements(fn->body, children);
    symbol["children"] = std::move(children);
    result.push_back(std::move(symbol));
  }
  for (const frontend::ast::OpDecl *op : file.ops) {
    json::Object symbol = make(op->name, protocol::SymbolKind::Function, op->isKernel ? "kernel" : "op", op->loc,
                               op->body.range.End.getPointer());
    json::Array children;
    for (const frontend::ast::KnobDecl &knob : op->knobs)
      children.push_back(
          make(knob.name, protocol::SymbolKind::Constant, "knob", knob.loc, knob.range.End.getPointer()));
    addStatements(op->body, children);
    symbol["children"] = std::move(children);
    result.push_back(std::move(symbol));
  }
  return result;
}

json::Value AtxServer::Document::format() const {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // The errors are published already.
  mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(getText(), path, /*RequiresNullTerminator=*/false),
                               llvm::SMLoc());
  frontend::Diagnostics diags(sourceMgr, context);
  std::optional<std::string> text = frontend::formatSource(getText(), diags);
  if (!text)
    return nullptr;
  if (*text == getText())
    return json::Array();
  return json::Array{json::Object{{"range", lines.getRange(0, getText().size())}, {"newText", toUTF8(*text)}}};
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

AtxServer::AtxServer(Publish publish) : publish(std::move(publish)) {}
AtxServer::~AtxServer() = default;

json::Object AtxServer::getCapabilities() {
  return json::Object{{"textDocumentSync", json::Object{{"openClose", true}, {"change", 1}}},
                      {"hoverProvider", true},
                      {"definitionProvider", true},
                      {"referencesProvider", true},
                      {"documentSymbolProvider", true},
                      {"documentFormattingProvider", true}};
}

bool AtxServer::owns(StringRef uri) const { return uri.ends_with(".atx") || documents.contains(uri); }

void AtxServer::update(StringRef uri, StringRef text, std::optional<int64_t> version) {
  auto document = std::make_unique<Document>(uri, text);
  json::Object params{{"uri", uri}, {"diagnostics", document->takeDiagnostics()}};
  if (version)
    params["version"] = *version;
  documents[uri] = std::move(document);
  publish(std::move(params));
}

void AtxServer::notify(StringRef method, const json::Object &params) {
  const json::Object *document = params.getObject("textDocument");
  std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  if (!uri)
    return;
  std::optional<int64_t> version = document->getInteger("version");
  if (method == "textDocument/didOpen") {
    if (std::optional<StringRef> text = document->getString("text"))
      update(*uri, *text, version);
  } else if (method == "textDocument/didChange") {
    // The whole text, as the capabilities say; the last one counts.
    const json::Array *changes = params.getArray("contentChanges");
    const json::Object *change = changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
    if (change && !change->get("range"))
      if (std::optional<StringRef> text = change->getString("text"))
        update(*uri, *text, version);
  } else if (method == "textDocument/didClose") {
    documents.erase(*uri);
    publish(json::Object{{"uri", *uri}, {"diagnostics", json::Array()}});
  }
}

llvm::Expected<json::Value> AtxServer::request(StringRef method, const json::Object &params) {
  auto fail = [](protocol::ErrorCode code, const llvm::Twine &message) {
    return llvm::make_error<protocol::LSPError>(message.str(), code);
  };
  const json::Object *document = params.getObject("textDocument");
  std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  if (!uri)
    return fail(protocol::ErrorCode::InvalidParams, "the parameters have no 'textDocument.uri'");
  auto found = documents.find(*uri);
  if (found == documents.end())
    return fail(protocol::ErrorCode::InvalidParams, "document '" + *uri + "' is not open");
  const Document &open = *found->second;
  if (method == "textDocument/documentSymbol")
    return open.symbols();
  if (method == "textDocument/formatting")
    return open.format();
  if (method != "textDocument/hover" && method != "textDocument/definition" && method != "textDocument/references") {
    // What the other server offers for its documents.
    if (method.starts_with("textDocument/"))
      return nullptr;
    return fail(protocol::ErrorCode::MethodNotFound, "there is no method '" + method + "'");
  }
  const json::Object *position = params.getObject("position");
  std::optional<int64_t> line = position ? position->getInteger("line") : std::nullopt;
  std::optional<int64_t> character = position ? position->getInteger("character") : std::nullopt;
  if (!line || !character)
    return fail(protocol::ErrorCode::InvalidParams, "the parameters have no 'position' with line and character");
  std::optional<size_t> offset = open.getLines().getOffset(*line, *character);
  if (!offset)
    return nullptr;
  if (method == "textDocument/hover")
    return open.hover(*offset);
  if (method == "textDocument/definition")
    return open.definition(*offset);
  const json::Object *context = params.getObject("context");
  return open.references(*offset, context && context->getBoolean("includeDeclaration").value_or(false));
}
