//===- DimAlgebra.cpp - Reasoning about dimension expressions -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/DimAlgebra.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace atrex;

namespace {
/// Factors of a product, sorted: names of dimensions and texts of what could
/// not be taken apart.
using Monomial = std::vector<std::string>;
/// Coefficients by product; no coefficient is 0.
using Polynomial = std::map<Monomial, int64_t>;

/// Beyond these sizes an expression stays as it is.
constexpr size_t maxTerms = 64;
constexpr size_t maxDegree = 16;

/// Takes expressions apart. The factors met are remembered, so that a
/// polynomial can be turned back.
class Normalizer {
public:
  std::optional<Polynomial> normalize(const DimExpr &expr);
  DimExpr rebuild(const Polynomial &polynomial) const;
  bool isDim(const std::string &factor) const { return factors.at(factor).getKind() == DimExpr::Kind::Dim; }

private:
  Polynomial makeFactor(const DimExpr &expr) {
    std::string text = expr.str();
    factors.try_emplace(text, expr);
    return {{{text}, 1}};
  }
  std::optional<Polynomial> divide(DimExpr::Kind kind, const Polynomial &lhs, const Polynomial &rhs);

  std::map<std::string, DimExpr> factors;
};
} // namespace

static Polynomial makeConstant(int64_t value) { return value == 0 ? Polynomial() : Polynomial{{Monomial(), value}}; }

/// Adds `coefficient * monomial`; false on overflow or when it grows too big.
static bool addTerm(Polynomial &polynomial, const Monomial &monomial, int64_t coefficient) {
  int64_t &sum = polynomial[monomial];
  if (llvm::AddOverflow(sum, coefficient, sum))
    return false;
  if (sum == 0)
    polynomial.erase(monomial);
  return polynomial.size() <= maxTerms;
}

std::optional<Polynomial> Normalizer::divide(DimExpr::Kind kind, const Polynomial &lhs, const Polynomial &rhs) {
  bool isMod = kind == DimExpr::Kind::Mod;
  // The quotient is exact when the divisor is one product that is a factor of
  // every term. Products of dimensions are positive, never zero.
  if (rhs.size() == 1 && rhs.begin()->second != -1 &&
      llvm::all_of(rhs.begin()->first, [&](const std::string &f) { return isDim(f); })) {
    const auto &[divisor, coefficient] = *rhs.begin();
    Polynomial quotient;
    bool isExact = true;
    for (const auto &[monomial, c] : lhs) {
      if (c % coefficient != 0 || !std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end())) {
        isExact = false;
        break;
      }
      Monomial rest;
      std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(), std::back_inserter(rest));
      if (!addTerm(quotient, rest, c / coefficient))
        return std::nullopt;
    }
    if (isExact)
      return isMod ? Polynomial() : quotient;
  }
  DimExpr whole = DimExpr::binary(kind, rebuild(lhs), rebuild(rhs));
  if (std::optional<int64_t> value = whole.getConstant())
    return makeConstant(*value);
  return makeFactor(whole);
}

std::optional<Polynomial> Normalizer::normalize(const DimExpr &expr) {
  switch (expr.getKind()) {
  case DimExpr::Kind::Constant:
    return makeConstant(expr.getValue());
  case DimExpr::Kind::Dim:
    return makeFactor(expr);
  default:
    break;
  }
  std::optional<Polynomial> lhs = normalize(expr.getLhs()), rhs = normalize(expr.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case DimExpr::Kind::Add:
  case DimExpr::Kind::Sub:
    for (const auto &[monomial, c] : *rhs) {
      int64_t coefficient = c;
      if (expr.getKind() == DimExpr::Kind::Sub && llvm::SubOverflow<int64_t>(0, c, coefficient))
        return std::nullopt;
      if (!addTerm(*lhs, monomial, coefficient))
        return std::nullopt;
    }
    return lhs;
  case DimExpr::Kind::Mul: {
    Polynomial product;
    for (const auto &[left, a] : *lhs) {
      for (const auto &[right, b] : *rhs) {
        Monomial monomial;
        std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(monomial));
        int64_t coefficient;
        if (monomial.size() > maxDegree || llvm::MulOverflow(a, b, coefficient) ||
            !addTerm(product, monomial, coefficient))
          return std::nullopt;
      }
    }
    return product;
  }
  default:
    return divide(expr.getKind(), *lhs, *rhs);
  }
}

DimExpr Normalizer::rebuild(const Polynomial &polynomial) const {
  std::optional<DimExpr> result;
  auto append = [&](const Monomial &monomial, int64_t coefficient) {
    std::optional<DimExpr> term;
    // The smallest value has no magnitude; it stays a negative factor.
    bool isNegative = coefficient < 0 && result && coefficient != std::numeric_limits<int64_t>::min();
    int64_t magnitude = isNegative ? -coefficient : coefficient;
    if (magnitude != 1 || monomial.empty())
      term = DimExpr::constant(magnitude);
    for (const std::string &name : monomial)
      term = term ? DimExpr::binary(DimExpr::Kind::Mul, *term, factors.at(name)) : factors.at(name);
    if (!result)
      result = term;
    else
      result = DimExpr::binary(isNegative ? DimExpr::Kind::Sub : DimExpr::Kind::Add, *result, *term);
  };
  // Products before the constant, what is added before what is subtracted.
  for (bool isNegative : {false, true}) {
    for (const auto &[monomial, coefficient] : polynomial)
      if (!monomial.empty() && (coefficient < 0) == isNegative)
        append(monomial, coefficient);
    if (auto constant = polynomial.find({}); constant != polynomial.end() && (constant->second < 0) == isNegative)
      append({}, constant->second);
  }
  return result.value_or(DimExpr::constant(0));
}

DimExpr atrex::frontend::simplify(const DimExpr &expr) {
  Normalizer normalizer;
  std::optional<Polynomial> polynomial = normalizer.normalize(expr);
  return polynomial ? normalizer.rebuild(*polynomial) : expr;
}

std::optional<bool> atrex::frontend::isNonNegative(const DimExpr &expr) {
  Normalizer normalizer;
  std::optional<Polynomial> polynomial = normalizer.normalize(expr);
  if (!polynomial)
    return std::nullopt;
  // Every product of dimensions is at least 1, so the value at 1 bounds a
  // polynomial whose products all have the same sign.
  int64_t atOne = 0;
  bool hasPositive = false, hasNegative = false;
  for (const auto &[monomial, coefficient] : *polynomial) {
    if (llvm::AddOverflow(atOne, coefficient, atOne))
      return std::nullopt;
    if (monomial.empty())
      continue;
    if (!llvm::all_of(monomial, [&](const std::string &factor) { return normalizer.isDim(factor); }))
      return std::nullopt;
    (coefficient > 0 ? hasPositive : hasNegative) = true;
  }
  if (!hasNegative && atOne >= 0)
    return true;
  if (!hasPositive && atOne < 0)
    return false;
  return std::nullopt;
}
