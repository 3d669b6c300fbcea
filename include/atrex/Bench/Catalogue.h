//===- Catalogue.h - Operators and shapes -----------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 30 operators and 440 shapes the bench knows, read from the embedded files
// of bench/catalogue.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_CATALOGUE_H
#define ATREX_BENCH_CATALOGUE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atrex::bench {

/// An error with a formatted message.
llvm::Error makeError(const std::string &message);

/// Parameters of one shape, by name, with the operator's defaults filled in.
class Params {
public:
  Params() = default;
  /// `owner` names the operator in messages.
  Params(std::string owner, llvm::json::Object values) : owner(std::move(owner)), values(std::move(values)) {}

  const llvm::json::Object &getValues() const { return values; }
  const std::string &getOwner() const { return owner; }

  /// An integer from 1 to 2^40.
  llvm::Expected<int64_t> getInt(llvm::StringRef name) const;
  /// A number, or `fallback` where the parameter is absent.
  llvm::Expected<double> getNumber(llvm::StringRef name, double fallback) const;
  llvm::Expected<bool> getBool(llvm::StringRef name, bool fallback) const;
  llvm::Expected<std::string> getString(llvm::StringRef name, llvm::StringRef fallback) const;
  /// A list of integers of at least `low`; `{"rle": [[value, count], ...]}`
  /// stands for a run-length coded list.
  llvm::Expected<std::vector<int64_t>> getInts(llvm::StringRef name, int64_t low) const;

  /// "token_count=3 hidden_size=128", for lists and messages.
  std::string str() const;

private:
  std::string owner;
  llvm::json::Object values;
};

struct CatalogueShape {
  int64_t id = 0;
  Params params;
  /// Published work and traffic.
  double flops = 0, readBytes = 0, writeBytes = 0;
  /// Published roofline time by device, milliseconds.
  std::map<std::string, double> solMs;
  /// Measured time of the production kernel by device, microseconds.
  std::map<std::string, double> productionUs;
  /// Quantities of one random draw inside the published figures; see
  /// bench/catalogue/README.md.
  std::map<std::string, double> realised;
};

struct CatalogueOperator {
  std::string name;
  std::string id;
  /// "prefill", "decode" or "prefill/decode".
  std::string phase;
  double importance = 0;
  /// Type under which all work is booked: bf16, fp16, fp8_e4m3, fp32 or int32.
  std::string dtype;
  /// Name and element type, in the order of the arguments.
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
  llvm::json::Object defaults;
  std::vector<CatalogueShape> shapes;

  const CatalogueShape *lookupShape(int64_t id) const;
  /// Fills in the defaults.
  Params makeParams(const llvm::json::Object &given) const;
};

class Catalogue {
public:
  /// Parses the embedded files; in the order of the operators' names.
  static llvm::Expected<Catalogue> load();
  static llvm::Expected<CatalogueOperator> parse(llvm::StringRef text, llvm::StringRef fileName);

  const std::vector<CatalogueOperator> &getOperators() const { return operators; }
  /// The error suggests the nearest name.
  llvm::Expected<const CatalogueOperator *> lookup(llvm::StringRef name) const;
  size_t getShapeCount() const;
  /// Sum of the published importances (1.09478; they do not sum to one).
  double getTotalImportance() const;

private:
  std::vector<CatalogueOperator> operators;
};

/// The candidate nearest to `name` by edit distance, empty when none is near.
std::string findNearest(llvm::StringRef name, const std::vector<std::string> &candidates);

/// Parses "0,3-5"; ids are checked against `op`. An empty text selects all.
llvm::Expected<std::vector<int64_t>> parseShapeList(llvm::StringRef text, const CatalogueOperator &op);

} // namespace atrex::bench

#endif // ATREX_BENCH_CATALOGUE_H
