//===- AxisInfo.cpp - What is known about index values --------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisInfo.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// Larger divisors are not told apart.
static constexpr int64_t unbounded = int64_t(1) << 30;

static int64_t pow2Part(int64_t value) { return value == 0 ? unbounded : std::min<int64_t>(unbounded, value & -value); }

static std::optional<int64_t> getSplat(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    if (number.getValue().getSignificantBits() > 64)
      return std::nullopt;
    return number.getValue().getSExtValue();
  }
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    if (isa<IntegerType, IndexType>(splat.getElementType()))
      return splat.getSplatValue<APInt>().getSExtValue();
  return std::nullopt;
}

/// What constraints of the form 'N % 8 == 0', which a launch checks, say about a
/// run-time dimension.
static int64_t getArgumentDivisor(gpu::GPUFuncOp kernel, unsigned number) {
  auto args = kernel->getAttrOfType<ArrayAttr>(atx::kernelArgsAttrName);
  auto constraints = kernel->getAttrOfType<ArrayAttr>("atx.constraints");
  auto info = args && number < args.size() ? dyn_cast<DictionaryAttr>(args[number]) : DictionaryAttr();
  auto name = info ? info.getAs<StringAttr>("name") : StringAttr();
  auto kind = info ? info.getAs<StringAttr>("kind") : StringAttr();
  if (!constraints || !name || !kind || kind != "dim")
    return 1;
  int64_t divisor = 1;
  for (Attribute attr : constraints) {
    auto text = dyn_cast<StringAttr>(attr);
    if (!text)
      continue;
    auto [lhs, rhs] = text.getValue().split("==");
    auto [dividend, by] = lhs.split('%');
    int64_t number;
    if (rhs.trim() == "0" && dividend.trim() == name.getValue() && !by.trim().getAsInteger(10, number) && number > 0)
      divisor = std::max(divisor, pow2Part(number));
  }
  return divisor;
}

/// Bounds of a run-time dimension by constraints of the form 'N <= 4096'; nothing for other arguments.
static std::optional<Bounds> getArgumentBounds(gpu::GPUFuncOp kernel, unsigned number) {
  auto args = kernel->getAttrOfType<ArrayAttr>(atx::kernelArgsAttrName);
  auto info = args && number < args.size() ? dyn_cast<DictionaryAttr>(args[number]) : DictionaryAttr();
  auto name = info ? info.getAs<StringAttr>("name") : StringAttr();
  auto kind = info ? info.getAs<StringAttr>("kind") : StringAttr();
  if (!name || !kind || kind != "dim")
    return std::nullopt;
  Bounds bounds{0, int64_t(1) << 40};
  if (auto constraints = kernel->getAttrOfType<ArrayAttr>("atx.constraints"))
    for (Attribute attr : constraints) {
      auto text = dyn_cast<StringAttr>(attr);
      if (!text)
        continue;
      auto [lhs, rhs] = text.getValue().split("<=");
      int64_t most;
      if (lhs.trim() == name.getValue() && !rhs.trim().getAsInteger(10, most) && most >= 0)
        bounds.max = std::min(bounds.max, most);
    }
  return bounds;
}

const AxisInfo &IndexAnalysis::getInfo(Value value) {
  auto it = infos.find(value);
  if (it != infos.end())
    return it->second;
  AxisInfo info;
  if (depth < 200) {
    ++depth;
    info = compute(value);
    --depth;
  } else {
    unsigned rank = isa<VectorType>(value.getType()) ? cast<VectorType>(value.getType()).getRank() : 0;
    info.contiguity.assign(rank, 1);
    info.constancy.assign(rank, 1);
    info.divisibility.assign(rank, 1);
  }
  return infos[value] = std::move(info);
}

AxisInfo IndexAnalysis::compute(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  unsigned rank = type ? type.getRank() : 0;
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.constancy.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  auto finish = [&]() {
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (type.getDimSize(dim) == 1) {
        info.constancy[dim] = unbounded;
        info.contiguity[dim] = 1;
      }
      // A group of equal elements is no run, and a run starts anew at each element.
      info.divisibility[dim] = std::max(info.divisibility[dim], info.divisor);
    }
    return info;
  };
  if (std::optional<int64_t> constant = getSplat(value)) {
    info.constant = constant;
    info.divisor = pow2Part(*constant);
    info.constancy.assign(rank, unbounded);
    info.divisibility.assign(rank, info.divisor);
    return finish();
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp()); loop && arg == loop.getInductionVar())
      info.divisor = std::gcd(getInfo(loop.getLowerBound()).divisor, getInfo(loop.getStep()).divisor);
    else if (auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(arg.getOwner()->getParentOp()))
      info.divisor = getArgumentDivisor(kernel, arg.getArgNumber());
    // What is read anew in every iteration for the next.
    if (auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp()); loop && rank != 0) {
      Value yielded = loop.getBody()->getTerminator()->getOperand(arg.getArgNumber() - 1);
      if (yielded.getDefiningOp<atx::TileLoadOp>()) {
        const AxisInfo first = getInfo(loop.getInitArgs()[arg.getArgNumber() - 1]), next = getInfo(yielded);
        for (unsigned dim = 0; dim < rank; ++dim)
          info.constancy[dim] = std::min(first.constancy[dim], next.constancy[dim]);
      }
    }
    return finish();
  }
  Operation *op = value.getDefiningOp();
  if (isa<atx::TileIotaOp>(op)) {
    int64_t extent = type.getDimSize(0);
    info.contiguity[0] = pow2Part(extent) == extent ? unbounded : pow2Part(extent);
    // Any aligned group of a run counts up, up to the end of the tile.
    info.contiguity[0] = unbounded;
    info.divisibility[0] = unbounded;
    return finish();
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastUIOp, atx::ConvertLayoutOp>(op)) {
    info = getInfo(op->getOperand(0));
    return finish();
  }
  if (isa<arith::TruncIOp>(op)) {
    info = getInfo(op->getOperand(0));
    info.constant.reset();
    return finish();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    const AxisInfo &source = getInfo(broadcast.getSource());
    info.divisor = source.divisor;
    info.constant = source.constant;
    unsigned leading = rank - source.contiguity.size();
    auto sourceType = dyn_cast<VectorType>(broadcast.getSourceType());
    for (unsigned dim = 0; dim < rank; ++dim) {
      bool stretched = dim < leading || sourceType.getDimSize(dim - leading) != type.getDimSize(dim);
      info.constancy[dim] = stretched ? unbounded : source.constancy[dim - leading];
      info.contiguity[dim] = stretched ? 1 : source.contiguity[dim - leading];
      info.divisibility[dim] = stretched ? source.divisor : source.divisibility[dim - leading];
    }
    return finish();
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    // Unit dimensions come and go.
    const AxisInfo &source = getInfo(cast.getSource());
    info.divisor = source.divisor;
    VectorType from = cast.getSourceVectorType();
    SmallVector<unsigned> fromDims, toDims;
    for (unsigned dim = 0; dim < from.getRank(); ++dim)
      if (from.getDimSize(dim) != 1)
        fromDims.push_back(dim);
    for (unsigned dim = 0; dim < rank; ++dim)
      if (type.getDimSize(dim) != 1)
        toDims.push_back(dim);
    bool same = fromDims.size() == toDims.size();
    for (unsigned i = 0; same && i < fromDims.size(); ++i)
      same = from.getDimSize(fromDims[i]) == type.getDimSize(toDims[i]);
    if (same)
      for (auto [f, t] : llvm::zip_equal(fromDims, toDims)) {
        info.constancy[t] = source.constancy[f];
        info.contiguity[t] = source.contiguity[f];
        info.divisibility[t] = source.divisibility[f];
      }
    return finish();
  }
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    const AxisInfo &source = getInfo(transpose.getVector());
    info.divisor = source.divisor;
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation())) {
      info.constancy[dim] = source.constancy[from];
      info.contiguity[dim] = source.contiguity[from];
      info.divisibility[dim] = source.divisibility[from];
    }
    return finish();
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    AxisInfo lhs = getInfo(op->getOperand(0)), rhs = getInfo(op->getOperand(1));
    info.divisor = std::gcd(lhs.divisor, rhs.divisor);
    if (lhs.constant && rhs.constant)
      info.constant = isa<arith::AddIOp>(op) ? *lhs.constant + *rhs.constant : *lhs.constant - *rhs.constant;
    for (unsigned dim = 0; dim < rank; ++dim) {
      info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
      int64_t left = std::min(lhs.contiguity[dim], rhs.constancy[dim]);
      int64_t right = isa<arith::AddIOp>(op) ? std::min(lhs.constancy[dim], rhs.contiguity[dim]) : 1;
      info.contiguity[dim] = std::max(left, right);
      // The start of a group of g elements is, on the side that counts up, a multiple
      // of what divides that side's start and g.
      int64_t group = info.contiguity[dim];
      int64_t startLeft = left >= right ? std::gcd(lhs.divisibility[dim], group) : lhs.divisor;
      int64_t startRight = left >= right ? rhs.divisor : std::gcd(rhs.divisibility[dim], group);
      info.divisibility[dim] = std::gcd(startLeft, startRight);
    }
    return finish();
  }
  if (isa<arith::MulIOp>(op)) {
    AxisInfo lhs = getInfo(op->getOperand(0)), rhs = getInfo(op->getOperand(1));
    info.divisor = std::min(unbounded, lhs.divisor * rhs.divisor);
    for (unsigned dim = 0; dim < rank; ++dim) {
      info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
      if (rhs.constant == 1) {
        info.contiguity[dim] = lhs.contiguity[dim];
        info.divisibility[dim] = lhs.divisibility[dim];
      }
      if (lhs.constant == 1) {
        info.contiguity[dim] = rhs.contiguity[dim];
        info.divisibility[dim] = rhs.divisibility[dim];
      }
    }
    return finish();
  }
  // Quotients and remainders by a power of two; negative dividends only where the
  // division rounds down.
  bool isDiv = isa<arith::DivUIOp, arith::FloorDivSIOp, arith::DivSIOp, arith::ShRUIOp, arith::ShRSIOp>(op);
  bool isRem = isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op);
  if (isDiv || isRem) {
    AxisInfo lhs = getInfo(op->getOperand(0)), rhs = getInfo(op->getOperand(1));
    std::optional<int64_t> by = rhs.constant;
    if (by && isa<arith::ShRUIOp, arith::ShRSIOp>(op))
      by = *by >= 0 && *by < 30 ? std::optional<int64_t>(int64_t(1) << *by) : std::nullopt;
    if (by && isa<arith::AndIOp>(op))
      by = *by >= 0 && *by < unbounded ? std::optional<int64_t>(*by + 1) : std::nullopt;
    for (unsigned dim = 0; dim < rank; ++dim)
      info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
    std::optional<Bounds> range = getRange(op->getOperand(0));
    bool sign = isa<arith::FloorDivSIOp, arith::ShRSIOp, arith::AndIOp>(op) || (range && range->min >= 0);
    if (by && *by > 0 && llvm::isPowerOf2_64(*by) && sign) {
      for (unsigned dim = 0; dim < rank; ++dim) {
        // Groups that do not cross a multiple of the divisor.
        int64_t group = std::gcd(std::gcd(lhs.contiguity[dim], lhs.divisibility[dim]), *by);
        if (isDiv) {
          info.constancy[dim] = std::max(info.constancy[dim], group);
        } else {
          info.contiguity[dim] = group;
          info.divisibility[dim] = std::gcd(group, lhs.divisibility[dim]);
        }
      }
      if (isDiv)
        info.divisor = lhs.divisor > *by ? lhs.divisor / *by : 1;
      else
        info.divisor = std::gcd(lhs.divisor, *by);
    } else if (isRem && by && *by > 0 && sign) {
      info.divisor = std::gcd(lhs.divisor, pow2Part(*by));
    }
    return finish();
  }
  if (auto shift = dyn_cast<arith::ShLIOp>(op)) {
    AxisInfo lhs = getInfo(shift.getLhs()), rhs = getInfo(shift.getRhs());
    for (unsigned dim = 0; dim < rank; ++dim)
      info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
    if (rhs.constant && *rhs.constant >= 0 && *rhs.constant < 30)
      info.divisor = std::min(unbounded, lhs.divisor << *rhs.constant);
    return finish();
  }
  if (isa<arith::CmpIOp>(op)) {
    AxisInfo lhs = getInfo(op->getOperand(0)), rhs = getInfo(op->getOperand(1));
    auto predicate = cast<arith::CmpIOp>(op).getPredicate();
    for (unsigned dim = 0; dim < rank; ++dim) {
      info.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
      // i < n with groups that start at multiples of their size, and n as well.
      using P = arith::CmpIPredicate;
      auto grouped = [&](const AxisInfo &runs, const AxisInfo &bound) {
        if (bound.constancy[dim] < unbounded)
          return int64_t(1);
        return std::gcd(std::gcd(runs.contiguity[dim], runs.divisibility[dim]), bound.divisor);
      };
      if (predicate == P::slt || predicate == P::ult || predicate == P::sge || predicate == P::uge)
        info.constancy[dim] = std::max(info.constancy[dim], grouped(lhs, rhs));
      if (predicate == P::sgt || predicate == P::ugt || predicate == P::sle || predicate == P::ule)
        info.constancy[dim] = std::max(info.constancy[dim], grouped(rhs, lhs));
    }
    return finish();
  }
  // One of two multiples.
  if (isa<arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::SelectOp>(op)) {
    unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
    info.divisor = std::gcd(getInfo(op->getOperand(first)).divisor, getInfo(op->getOperand(first + 1)).divisor);
  }
  // Equal positions read equal elements.
  if (auto load = dyn_cast<atx::TileLoadOp>(op); load && rank != 0) {
    info.constancy.assign(rank, unbounded);
    for (Value index : load.getIndices())
      if (auto indexType = dyn_cast<VectorType>(index.getType())) {
        const AxisInfo source = getInfo(index);
        for (unsigned dim = 0; dim < rank; ++dim)
          info.constancy[dim] = std::min(info.constancy[dim], indexType.getRank() == rank ? source.constancy[dim] : 1);
      }
    return finish();
  }
  // Everything else element by element: equal operands give equal results.
  if (rank != 0 && OpTrait::hasElementwiseMappableTraits(op)) {
    info.constancy.assign(rank, unbounded);
    for (Value operand : op->getOperands()) {
      const AxisInfo &source = getInfo(operand);
      for (unsigned dim = 0; dim < rank && dim < source.constancy.size(); ++dim)
        info.constancy[dim] = std::min(info.constancy[dim], source.constancy[dim]);
    }
    return finish();
  }
  return finish();
}

std::optional<Bounds> IndexAnalysis::getRange(Value value) {
  auto it = ranges.find(value);
  if (it != ranges.end())
    return it->second;
  if (depth > 100)
    return std::nullopt;
  ++depth;
  std::optional<Bounds> range = computeRange(value);
  --depth;
  // What the type cannot hold has wrapped.
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<IntegerType>(element)) {
    unsigned bits = element.getIntOrFloatBitWidth();
    if (range && bits < 64 && (!llvm::isIntN(bits, range->min) || !llvm::isIntN(bits, range->max)))
      range.reset();
    // Every number is one that the type holds.
    if (!range && bits <= 32 && bits > 1)
      range = Bounds{-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
  }
  return ranges[value] = range;
}

std::optional<Bounds> IndexAnalysis::computeRange(Value value) {
  // Far from overflow of 64 bits, so that sums and products are exact.
  auto bounded = [](Bounds range) -> std::optional<Bounds> {
    constexpr int64_t most = int64_t(1) << 46;
    if (range.min < -most || range.max > most)
      return std::nullopt;
    return range;
  };
  if (std::optional<int64_t> constant = getSplat(value))
    return bounded({*constant, *constant});
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(arg.getOwner()->getParentOp()))
      return getArgumentBounds(kernel, arg.getArgNumber());
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg != loop.getInductionVar())
      return std::nullopt;
    std::optional<Bounds> lower = getRange(loop.getLowerBound()), upper = getRange(loop.getUpperBound());
    if (!lower || !upper)
      return std::nullopt;
    return Bounds{lower->min, std::max(lower->min, upper->max - 1)};
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return getRange(op->getOperand(i)); };
  if (auto iota = dyn_cast<atx::TileIotaOp>(op))
    return Bounds{0, cast<VectorType>(iota.getType()).getDimSize(0) - 1};
  if (auto block = dyn_cast<gpu::BlockIdOp>(op)) {
    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    auto grid = kernel ? kernel->getAttrOfType<ArrayAttr>("atx.grid") : ArrayAttr();
    unsigned axis = unsigned(block.getDimension());
    int64_t extent;
    if (grid && axis < grid.size())
      if (auto text = dyn_cast<StringAttr>(grid[axis]); text && !text.getValue().getAsInteger(10, extent))
        return bounded({0, extent - 1});
    return Bounds{0, UINT32_MAX};
  }
  if (isa<gpu::GridDimOp>(op))
    return Bounds{1, UINT32_MAX};
  if (isa<memref::DimOp>(op))
    return Bounds{0, int64_t(1) << 40};
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, vector::BroadcastOp, vector::ShapeCastOp,
          vector::TransposeOp, atx::ConvertLayoutOp>(op)) {
    // getRange() drops what does not fit behind a truncation.
    return operand(0);
  }
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op)) {
    std::optional<Bounds> range = operand(0);
    return range && range->min >= 0 ? range : std::nullopt;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp>(op)) {
    std::optional<Bounds> lhs = operand(0), rhs = operand(1);
    if (isa<arith::MinSIOp>(op) && lhs && rhs)
      return Bounds{std::min(lhs->min, rhs->min), std::min(lhs->max, rhs->max)};
    if (!lhs || !rhs)
      return std::nullopt;
    if (isa<arith::MaxSIOp>(op))
      return Bounds{std::max(lhs->min, rhs->min), std::max(lhs->max, rhs->max)};
    if (isa<arith::AddIOp>(op))
      return bounded({lhs->min + rhs->min, lhs->max + rhs->max});
    if (isa<arith::SubIOp>(op))
      return bounded({lhs->min - rhs->max, lhs->max - rhs->min});
    int64_t corners[4];
    if (llvm::MulOverflow(lhs->min, rhs->min, corners[0]) || llvm::MulOverflow(lhs->min, rhs->max, corners[1]) ||
        llvm::MulOverflow(lhs->max, rhs->min, corners[2]) || llvm::MulOverflow(lhs->max, rhs->max, corners[3]))
      return std::nullopt;
    return bounded({*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)});
  }
  if (isa<arith::MinUIOp>(op)) {
    // Whatever the other is, the result is no more than a number that is not negative.
    std::optional<Bounds> lhs = operand(0), rhs = operand(1);
    if (lhs && lhs->min >= 0 && rhs && rhs->min >= 0)
      return Bounds{std::min(lhs->min, rhs->min), std::min(lhs->max, rhs->max)};
    if (rhs && rhs->min >= 0)
      return Bounds{0, rhs->max};
    if (lhs && lhs->min >= 0)
      return Bounds{0, lhs->max};
    return std::nullopt;
  }
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op)) {
    std::optional<Bounds> lhs = operand(0), rhs = operand(1);
    if (lhs && rhs && lhs->min >= 0 && rhs->min > 0)
      return Bounds{lhs->min / rhs->max, lhs->max / rhs->min};
    return std::nullopt;
  }
  if (isa<arith::RemUIOp, arith::RemSIOp>(op)) {
    std::optional<Bounds> lhs = operand(0), rhs = operand(1);
    if (rhs && rhs->min > 0 && (isa<arith::RemUIOp>(op) ? true : lhs && lhs->min >= 0))
      return Bounds{0, rhs->max - 1};
    return std::nullopt;
  }
  if (isa<arith::AndIOp>(op)) {
    std::optional<Bounds> rhs = operand(1);
    if (rhs && rhs->min >= 0)
      return Bounds{0, rhs->max};
    return std::nullopt;
  }
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
    std::optional<Bounds> lhs = operand(0), rhs = operand(1);
    if (lhs && rhs && lhs->min >= 0 && rhs->min == rhs->max && rhs->min >= 0 && rhs->min < 63)
      return Bounds{lhs->min >> rhs->min, lhs->max >> rhs->min};
    return std::nullopt;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<Bounds> lhs = getRange(select.getTrueValue()), rhs = getRange(select.getFalseValue());
    if (lhs && rhs)
      return Bounds{std::min(lhs->min, rhs->min), std::max(lhs->max, rhs->max)};
  }
  return std::nullopt;
}
