//===- Verdict.h - Is an output right? --------------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two verdicts per output. `upstream` is the published rule. `strict` relates
// errors to the size of the output and decides whether a kernel counts. Both
// are computed in one pass over row ranges, so that large outputs need not be
// held twice.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_BENCH_VERDICT_H
#define ATREX_BENCH_VERDICT_H

#include "atrex/Support/DataType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace atrex::bench {

/// Strict rule for one output.
struct Rule {
  enum class Kind : uint8_t {
    /// Equal values; +0 equals -0, NaN equals NaN.
    Exact,
    /// |d| <= e |ref| + f rms per element, ||d|| <= tau ||ref|| per unit.
    Near,
    /// fp8: at most one code apart, at most `share` of the elements different.
    Codes,
    /// fp8: one code apart or |d| <= f rms; `share` different; tau per row; NaN
    /// moved at most 1 + lost * (number of NaN) times.
    CodesOrNear,
    /// Relative error at most e, or at most `rare` in `share` of the elements.
    Scale,
  };
  /// What rms and ||.|| are taken over.
  enum class Unit : uint8_t {
    /// The last axis.
    Row,
    /// The last two axes.
    Matrix,
    /// Axes -3 and -1: one head, all tokens.
    Head,
  };
  Kind kind = Kind::Exact;
  Unit unit = Unit::Row;
  double e = 0, f = 0;
  /// Negative: no bound on units.
  double tau = -1;
  double share = 0, rare = 0, lost = 0;

  /// The rule as text: "near(2^-6, 1e-06, -)".
  std::string str() const;
};

/// The strict rule of an output; std::nullopt for unknown names. `fp8Inside`
/// selects the looser grade for kernels that quantise between two products.
std::optional<Rule> getStrictRule(llvm::StringRef op, llvm::StringRef output, bool fp8Inside = false);

struct VerdictDetail {
  bool passes = true;
  /// Elements beyond the limit of a single element.
  uint64_t bad = 0;
  /// Largest error in units of its limit, and where it is.
  double worst = 0;
  uint64_t worstIndex = 0;
  double worstReference = 0, worstCandidate = 0;
  /// Largest ||d|| / ||ref|| of a unit (strict rules with units).
  double worstUnit = 0;
  std::string message;
};

struct OutputVerdict {
  uint64_t elements = 0;
  /// Elements of one row, to tell where an element is.
  uint64_t rowElements = 1;
  std::string rule;
  VerdictDetail upstream, strict;
  llvm::json::Object toJSON() const;
};

/// Judges one output piece by piece.
class OutputJudge {
public:
  /// `unitElements` is the number of elements of one unit; units are
  /// contiguous in what `add` gets.
  OutputJudge(const Rule &rule, DataType type, uint64_t unitElements);

  /// Adds whole units. `firstIndex` is the position of the first element in the
  /// whole tensor, for messages.
  void add(const void *reference, const void *candidate, uint64_t elements, uint64_t firstIndex);

  OutputVerdict finish();

private:
  void addUpstream(uint64_t firstIndex);
  void addExact(uint64_t firstIndex);
  void addNear(uint64_t firstIndex);
  void addCodes(const uint8_t *reference, const uint8_t *candidate, uint64_t firstIndex);
  void addScale(uint64_t firstIndex);
  static void note(VerdictDetail &detail, double ratio, uint64_t index, double reference, double candidate);

  Rule rule;
  DataType type;
  uint64_t unitElements;
  OutputVerdict verdict;
  /// Counts over everything added so far.
  uint64_t different = 0, far = 0, notFinite = 0, nanCount = 0, nanMoved = 0, beyondCommon = 0, beyondRare = 0;
  /// The unit at hand.
  std::vector<double> ref, cand;
};

/// Judges a whole tensor, whatever its units.
OutputVerdict judgeTensor(const Rule &rule, DataType type, llvm::ArrayRef<int64_t> shape, const void *reference,
                          const void *candidate);

/// Elements of one unit of a tensor (Head units are not contiguous; see
/// judgeTensor).
uint64_t getUnitElements(Rule::Unit unit, llvm::ArrayRef<int64_t> shape);

} // namespace atrex::bench

#endif // ATREX_BENCH_VERDICT_H
