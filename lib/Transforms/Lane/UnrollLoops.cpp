//===- UnrollLoops.cpp - Unrolling by cost --------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneOps.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

namespace atrex {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;
using namespace atrex::lane;

namespace {

/// A loop of this many iterations disappears.
constexpr int64_t tinyTrips = 4;
/// Instructions that straight-line code may have, of 8 bytes: half of the 64 KB
/// instruction cache, which two compute units share.
constexpr int64_t maxInstructions = 4096;
/// Add, compare and branch of a loop.
constexpr int64_t controlInstructions = 3;

std::optional<int64_t> getTrips(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  return *upper <= *lower ? 0 : (*upper - *lower + *step - 1) / *step;
}

/// The constant that is added to `arg` to give `value`.
std::optional<int64_t> getOffset(Value value, Value arg) {
  int64_t sum = 0;
  while (value != arg) {
    Operation *op = value.getDefiningOp();
    std::optional<int64_t> by =
        op && isa<arith::AddIOp, arith::SubIOp>(op) ? getConstantIntValue(op->getOperand(1)) : std::nullopt;
    if (!by)
      return std::nullopt;
    sum += isa<arith::AddIOp>(op) ? *by : -*by;
    value = op->getOperand(0);
  }
  return sum;
}

/// Iterations after which values that change places are back: a multi-buffered
/// loop unrolled by it addresses its buffers by constants.
int64_t getRotation(scf::ForOp loop) {
  int64_t period = 1;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  unsigned count = loop.getNumRegionIterArgs();
  for (unsigned start = 0; start < count; ++start) {
    Value value = yield.getOperand(start);
    if (Operation *op = value.getDefiningOp()) {
      Value arg = loop.getRegionIterArg(start);
      // Slots in a circle: x + c, less the number of slots from there on.
      if (auto select = dyn_cast<arith::SelectOp>(op)) {
        std::optional<int64_t> over = getOffset(select.getTrueValue(), arg),
                               under = getOffset(select.getFalseValue(), arg);
        int64_t slots = over && under ? *under - *over : 0;
        if (slots > 1 && *under != 0)
          period = std::lcm(period, slots / std::gcd(slots, *under));
        continue;
      }
      // Two values in turn: x = c - x, x = x ^ c.
      bool toggles = (isa<arith::XOrIOp>(op) && (op->getOperand(0) == arg || op->getOperand(1) == arg)) ||
                     (isa<arith::SubIOp>(op) && op->getOperand(1) == arg);
      Value other = op->getNumOperands() == 2 ? op->getOperand(op->getOperand(0) == arg ? 1 : 0) : Value();
      if (toggles && other && loop.isDefinedOutsideOfLoop(other))
        period = std::lcm(period, int64_t(2));
      continue;
    }
    int64_t length = 0;
    unsigned at = start;
    do {
      auto arg = dyn_cast<BlockArgument>(yield.getOperand(at));
      if (!arg || arg.getOwner() != loop.getBody() || arg == loop.getInductionVar()) {
        length = 0;
        break;
      }
      at = arg.getArgNumber() - 1;
      ++length;
    } while (at != start && length <= count);
    if (length > 1 && at == start)
      period = std::lcm(period, length);
  }
  return period;
}

class UnrollLoops : public atrex::impl::UnrollLoopsPassBase<UnrollLoops> {
public:
  using UnrollLoopsPassBase::UnrollLoopsPassBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (factor == -1)
      return;
    if (factor < -1 || factor > 64) {
      kernel.emitError() << "option 'factor' is " << int64_t(factor)
                         << "; it must be -1 (loops are left alone), 0 (chosen), or from 1 to 64";
      return signalPassFailure();
    }
    if (maxRegisters < 0) {
      kernel.emitError() << "option 'max-registers' is " << int64_t(maxRegisters) << "; it must not be negative";
      return signalPassFailure();
    }
    // A loop that disappears may leave an innermost one around it.
    DenseSet<Operation *> seen;
    for (bool changed = true; changed;) {
      changed = false;
      for (scf::ForOp loop : getInnermostLoops(kernel))
        if (seen.insert(loop).second && unroll(loop, seen)) {
          changed = true;
          break;
        }
    }
  }

private:
  /// True when the loop is gone.
  bool unroll(scf::ForOp loop, DenseSet<Operation *> &seen);
  /// Unrolling is decided here, not again behind.
  void pin(scf::ForOp loop) {
    MLIRContext *context = &getContext();
    auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
    loop->setAttr("llvm.loop_annotation", LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {},
                                                                        {}, {}, {}, {}, {}, {}));
  }
};

} // namespace

bool UnrollLoops::unroll(scf::ForOp loop, DenseSet<Operation *> &seen) {
  int64_t body = 0, loaded = 0;
  for (Operation &op : *loop.getBody()) {
    body += countInstructions(&op);
    Unit unit = getUnit(&op);
    if (unit == Unit::LDSRead || unit == Unit::GlobalRead)
      loaded += 4 * countInstructions(&op);
  }
  body = std::max<int64_t>(body, 1);
  std::optional<int64_t> trips = getTrips(loop);
  Location loc = loop.getLoc();
  if (trips && (*trips <= tinyTrips || (factor > 1 && *trips <= factor)) && *trips * body <= maxInstructions) {
    emitRemark(loc) << "loop is unrolled fully: " << *trips << " iterations of about " << body << " instructions";
    if (failed(loopUnrollFull(loop)))
      return false;
    ++numFull;
    return true;
  }
  int64_t by = factor;
  std::string reason = "as the option says";
  if (factor == 0) {
    int64_t rotation = getRotation(loop);
    by = 1;
    reason = "its " + std::to_string(body) + " instructions hide the loop's own " + std::to_string(controlInstructions);
    // The loop's own instructions should be no more than a twentieth.
    while (by < 8 && by * body < 20 * controlInstructions)
      by *= 2;
    if (by > 1)
      reason = "the loop's own " + std::to_string(controlInstructions) + " instructions are many beside " +
               std::to_string(body);
    if (rotation > 1 && rotation <= 8) {
      by = std::lcm(by, rotation);
      reason = "its values change places with period " + std::to_string(rotation);
    }
    // What is loaded may be live for all copies at once.
    if (loaded > 0 && by * loaded > maxRegisters && by > rotation) {
      by = std::max<int64_t>(rotation, maxRegisters / loaded);
      reason = std::to_string(loaded) + " registers are loaded in each iteration, and " +
               std::to_string(int64_t(maxRegisters)) + " may be";
    }
    if (trips)
      by = std::min(by, std::max<int64_t>(*trips, 1));
  }
  while (by > 1 && by * body > maxInstructions) {
    by /= 2;
    reason = "more than " + std::to_string(maxInstructions) + " instructions do not stay in the cache";
  }
  if (by <= 1) {
    if (factor == 0)
      emitRemark(loc) << "loop is not unrolled: " << reason;
    pin(loop);
    return false;
  }
  // The utility counts upper - lower as unsigned: a range that may run backwards has to be empty first.
  if (!trips) {
    OpBuilder b(loop);
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    loop.setUpperBound(loop.getUnsignedCmp() ? Value(arith::MaxUIOp::create(b, loc, lower, upper))
                                             : Value(arith::MaxSIOp::create(b, loc, lower, upper)));
  }
  FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, by);
  if (failed(unrolled)) {
    emitRemark(loc) << "loop is not unrolled: its bounds do not allow it";
    pin(loop);
    return false;
  }
  emitRemark(loc) << "loop is unrolled by " << by << ": " << reason;
  ++numUnrolled;
  for (std::optional<scf::ForOp> part : {unrolled->mainLoopOp, unrolled->epilogueLoopOp})
    if (part) {
      pin(*part);
      seen.insert(*part);
    }
  return false;
}
