//===- Program.h - Random well-typed programs -------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_FUZZ_PROGRAM_H
#define ATREX_TOOLS_ATREX_FUZZ_PROGRAM_H

#include "atrex/Interpreter/Judge.h"
#include <random>
#include <set>
#include <string>
#include <vector>

namespace atrex::fuzz {

/// How a program is written.
enum class Form : uint8_t {
  /// `.atx`, an operator on whole tensors.
  Operator,
  /// `.atx`, a kernel on tiles.
  Kernel,
  /// MLIR in tile form.
  Tile,
};
std::optional<Form> parseForm(llvm::StringRef text);
llvm::StringRef getName(Form form);

/// A group of constructs that can be left out as a whole.
struct Feature {
  const char *name;
  /// An operator that needs it and nothing else; null for tile form only.
  const char *probe;
};
llvm::ArrayRef<Feature> getFeatures();

struct TensorType {
  DataType element = DataType::F32;
  std::vector<int64_t> shape;
  bool operator==(const TensorType &other) const = default;
};

/// One value: a parameter, or what a template computes from others.
///
/// Templates: `$0` names operand 0, `$0t` its type, `$r` the value itself (for
/// names of temporaries), `$t` its type, `$s` its element type, `$b` the type
/// with elements i1, `$e` its element in the language, `$x0` the tensor of
/// operand 0, a parameter of a kernel. An empty template means the construct does not exist in
/// the form.
struct Node {
  TensorType type;
  std::vector<unsigned> operands;
  std::string atx;
  /// Lines; the last one is the operation that gives the value.
  std::vector<std::string> tile;
  bool isParameter = false;
  /// No value, but a result that the program adds to in memory.
  bool isResult = false;
  /// Parameters: rows of a tensor that the grid runs over, else the whole.
  bool byRow = false;
  interp::ValueClass values = interp::ValueClass::SmallInt;
  std::optional<std::pair<int64_t, int64_t>> range;
};

class Program {
public:
  /// Draws a program; `features` are the groups that may be used.
  static Program generate(uint64_t seed, Form form, const std::set<std::string> &features);

  std::string print() const;
  /// Options to judge it: inputs and sizes.
  interp::JudgeOptions getOptions() const;

  /// Smaller programs that may still fail in the same way.
  std::vector<Program> shrink() const;
  size_t countLive() const;

  Form form = Form::Operator;
  uint64_t seed = 0;
  std::vector<Node> nodes;
  std::vector<unsigned> results;
  /// Rows of a tile, rows of the tensors, threads.
  int64_t tileRows = 1, rows = 1, threads = 256;

private:
  std::vector<bool> getLive() const;
  std::string printAtx() const;
  std::string printTile() const;
};

} // namespace atrex::fuzz

#endif // ATREX_TOOLS_ATREX_FUZZ_PROGRAM_H
