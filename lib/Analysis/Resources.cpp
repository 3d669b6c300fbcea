//===- Resources.cpp - Whether a schedule can fit, before compiling -------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/Resources.h"
#include "atrex/Support/DimExpr.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "lib/Transforms/Tile/AxisInfo.h"
#include "lib/Transforms/Tile/ContractPlan.h"
#include "lib/Transforms/Tile/LoopRegisters.h"
#include "lib/Transforms/Tile/TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

namespace {

/// Registers of a work-item beside its tiles, for addresses, masks, counters and the factors of one matrix instruction.
/// The compiler saves registers where it must, so this is what remains then; see docs/resources.md for how it was
/// measured.
constexpr int64_t besideTiles = 24;
/// The fewest that were ever enough.
constexpr int64_t leastBeside = 8;
/// Addresses of a loop's loads among these.
constexpr int64_t commonAddresses = 8;
/// Registers for strides and for what lies outside, where extents are known when a kernel is launched only.
constexpr int64_t openExtents = 24;
/// Where LLVM's order decides about it so much is left to it: more where half of the registers accumulate.
int64_t getSlack(int64_t limit) { return limit > 256 ? 128 : 16; }

int64_t getBits(Type element);

/// 32-bit registers that a lane holds of a tile in a layout.
int64_t getRegisters(const TileLayout &layout, Value tile) {
  return llvm::divideCeil(layout.getNumRegisters() * getBits(getElementTypeOrSelf(tile.getType())), 32);
}

int64_t getBits(Type element) { return element.isIndex() ? 64 : element.getIntOrFloatBitWidth(); }

class KernelChecker {
public:
  KernelChecker(func::FuncOp kernel, const ChipInfo &chip, const ResourceOptions &options)
      : kernel(kernel), chip(chip), options(options) {
    report.name = kernel.getName().str();
  }

  KernelResourceReport run();

private:
  bool checkThreads();
  void planProducts();
  void checkTiles();
  void checkRegisters();
  void checkLds();
  void findWorkspaces();
  /// Spreads the layouts of products over the values that share them.
  void spreadLayouts();
  bool isDirect(Value factor, const TileLayout &layout);
  /// 32-bit registers of a work-item that a tile takes while all of it is held.
  int64_t getRegisters(Value value) const;
  /// What a loop's staged tiles wait in while they are loaded ahead.
  int64_t getAhead(scf::ForOp loop) const;
  int64_t getFactors(vector::ContractionOp op) const;
  /// Registers of factors that are loaded in the layout of their product, in the loop's own body.
  int64_t getDirect(scf::ForOp loop) const;
  /// Of those, what atx-stage-operands loads an iteration ahead.
  int64_t getDirectAhead(scf::ForOp loop) const;
  /// Registers of the addresses of what the loop's own body loads.
  int64_t getAddresses(scf::ForOp loop) const;
  int64_t getSlotBytes(ArrayRef<Value> tiles) const;
  int64_t getStageBytes(ArrayRef<Value> tiles, int64_t stages) const;
  int64_t getInnerBytes(scf::ForOp loop) const;
  int64_t getStages(scf::ForOp loop) const;
  void note(const llvm::SetVector<Value> &values, int64_t more, Operation *at);
  void findPeak(Block &block, llvm::SetVector<Value> live, int64_t more);
  void collectStaged(scf::ForOp loop, SmallVectorImpl<Value> &tiles) const;
  template <class... Ts>
  void add(StringLiteral resource, ResourceVerdict verdict, Location loc, std::string tile, int64_t needed,
           int64_t available, const char *format, Ts &&...args) {
    report.findings.push_back({resource, verdict, std::move(tile), loc, needed, available,
                               llvm::formatv(format, std::forward<Ts>(args)...).str()});
  }

  func::FuncOp kernel;
  const ChipInfo &chip;
  const ResourceOptions &options;
  KernelResourceReport report;
  ContractPlans plans;
  llvm::DenseMap<Value, TileLayout> layouts;
  IndexAnalysis analysis;
  /// Factors of products that come through shared memory, in parts.
  llvm::SetVector<Value> throughMemory;
  /// Factors that are loaded in the layout of their product, which goes in parts as well.
  llvm::SetVector<Value> direct;
  /// What leads from a load to such factors and to nothing else.
  llvm::DenseSet<Value> inParts;
  /// Bytes of the kernel's own shared memory.
  int64_t heldBytes = 0;
  /// Whether what the order of instructions decides about counts as held.
  bool isCareful = false;
  /// Where tiles take most, and the largest of them.
  Operation *highestAt = nullptr;
  Value largest;
  int64_t highest = 0;
};

} // namespace

StringRef atrex::getName(ResourceVerdict verdict) {
  switch (verdict) {
  case ResourceVerdict::Fits:
    return "fits";
  case ResourceVerdict::Close:
    return "close";
  case ResourceVerdict::Exceeds:
    return "exceeds";
  }
  return "";
}

ResourceVerdict KernelResourceReport::getVerdict() const {
  ResourceVerdict verdict = ResourceVerdict::Fits;
  for (const ResourceFinding &finding : findings)
    verdict = std::max(verdict, finding.verdict);
  return verdict;
}

llvm::Expected<ResourceOptions> atrex::readResourceOptions(StringRef schedule) {
  ResourceOptions result;
  result.isStaged = schedule.contains("atx-stage-operands");
  auto find = [&](StringRef pass, StringRef option) -> StringRef {
    size_t at = schedule.find(pass);
    if (at == StringRef::npos)
      return {};
    StringRef rest = schedule.drop_front(at + pass.size());
    if (!rest.consume_front("{"))
      return {};
    for (StringRef part : llvm::split(rest.take_until([](char c) { return c == '}'; }), ' ')) {
      auto [name, text] = part.trim().split('=');
      if (name == option)
        return text;
    }
    return {};
  };
  for (auto [pass, option, value] :
       {std::tuple<StringRef, StringRef, int64_t *>{"atx-stage-operands", "stages", &result.stages},
        {"atx-stage-operands", "prefetch", &result.prefetch},
        {"atx-stage-operands", "ahead", &result.ahead},
        {"atx-stage-operands", "share", &result.share},
        {"atx-read-ahead", "registers", &result.readAhead},
        {"atx-assign-tile-layouts", "mfma-rows", &result.mfmaRows},
        {"atx-assign-tile-layouts", "waves-m", &result.wavesM},
        {"atx-stream-k", "workgroups", &result.workgroups},
        {"atx-stream-k", "splits", &result.splits}}) {
    StringRef text = find(pass, option);
    if (!text.empty() && text.getAsInteger(10, *value))
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "option '" + option + "' of '" + pass + "' is '" + text + "', which is no number");
  }
  for (auto [pass, option, value] :
       {std::tuple<StringRef, StringRef, std::string *>{"atx-assign-tile-layouts", "direct", &result.direct},
        {"atx-stage-operands", "direct-to-lds", &result.directToLds}})
    if (StringRef text = find(pass, option); !text.empty())
      *value = text.str();
  // The passes refuse others.
  struct Domain {
    StringRef pass, option;
    std::string value;
    bool isPossible;
    StringRef domain;
  };
  auto isPower = [](int64_t value) { return value == 0 || (value > 0 && value <= 16 && llvm::isPowerOf2_64(value)); };
  auto isChoice = [](StringRef text) { return llvm::is_contained({"auto", "never", "always"}, text); };
  for (const Domain &d : {
           Domain{"atx-stage-operands", "stages", std::to_string(result.stages),
                  result.stages >= 0 && result.stages <= 8, "0 to 8"},
           {"atx-stage-operands", "prefetch", std::to_string(result.prefetch), result.prefetch <= 8, "-1 to 8"},
           {"atx-stage-operands", "ahead", std::to_string(result.ahead), result.ahead == 0 || result.ahead == 1,
            "0 or 1"},
           {"atx-stage-operands", "share", std::to_string(result.share), result.share == 0 || result.share == 1,
            "0 or 1"},
           {"atx-stage-operands", "direct-to-lds", result.directToLds, isChoice(result.directToLds),
            "auto, never or always"},
           {"atx-assign-tile-layouts", "direct", result.direct, isChoice(result.direct), "auto, never or always"},
           {"atx-assign-tile-layouts", "mfma-rows", std::to_string(result.mfmaRows),
            result.mfmaRows == 0 || result.mfmaRows == 16 || result.mfmaRows == 32, "0, 16 or 32"},
           {"atx-assign-tile-layouts", "waves-m", std::to_string(result.wavesM), isPower(result.wavesM),
            "0 or a power of two up to 16"},
       })
    if (!d.isPossible)
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "option '" + d.option + "' of '" + d.pass +
                                                                         "' is '" + d.value + "'; it must be " +
                                                                         d.domain);
  if (StringRef text = find("atx-distribute-tiles", "buffer-access"); !text.empty())
    result.bufferAccess = text == "true" || text == "1";
  return result;
}

bool KernelChecker::checkThreads() {
  auto attr = kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName);
  int64_t threads = attr ? attr.getInt() : 0;
  if (threads < 64 || threads > chip.maxWorkgroupSize || !llvm::isPowerOf2_64(threads)) {
    add("threads", ResourceVerdict::Exceeds, kernel.getLoc(), "", threads, chip.maxWorkgroupSize,
        "the workgroup has {0} work-items; a power of two from 64 to {1} is possible", threads, chip.maxWorkgroupSize);
    return false;
  }
  report.threads = threads;
  int64_t wavesPerSIMD = llvm::divideCeil(llvm::divideCeil(threads, chip.waveSize), chip.simdsPerCU);
  report.registerLimit =
      std::min<int64_t>(chip.maxVGPRsPerWave, llvm::alignDown(chip.vgprsPerSIMD / wavesPerSIMD, chip.vgprGranule));
  report.ldsLimit = chip.ldsBytesPerCU;
  return true;
}

void KernelChecker::planProducts() {
  // What cannot be planned is reported when it is compiled, with the same words.
  ScopedDiagnosticHandler silence(kernel.getContext(), [](Diagnostic &) { return success(); });
  kernel.walk([&](vector::ContractionOp op) {
    FailureOr<ContractChoice> choice =
        chooseContract(op, report.threads, chip, ContractOptions{options.mfmaRows, options.wavesM},
                       findHeldLayout(op.getLhs(), plans), findNextProduct(op));
    if (failed(choice))
      return;
    FailureOr<ContractPlan> plan = planContract(op, report.threads, chip, *choice);
    if (succeeded(plan))
      plans[op] = *plan;
  });
}

/// Whether the result of `op` is computed again wherever it is needed, so that no register holds it.
static bool isFree(Operation *op) {
  if (matchPattern(op, m_Constant()) || isa<atx::TileIotaOp>(op))
    return true;
  if (!isa<vector::BroadcastOp, vector::ShapeCastOp, vector::TransposeOp>(op) && !isElementwise(op))
    return false;
  // Indices, mostly: cheap arithmetic of scalars and counters.
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return !isa<VectorType>(operand.getType()) || (operand.getDefiningOp() && isFree(operand.getDefiningOp()));
  });
}

/// The load of the same block whose elements `value` holds, one by one or in another order; null where there is none.
static atx::TileLoadOp findLoad(Value value) {
  Block *block = value.getParentBlock();
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != block)
      return {};
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      return load;
    if (!isElementwise(op) && !isa<vector::TransposeOp, vector::ShapeCastOp, vector::BroadcastOp>(op))
      return {};
    Value next;
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()) && !(operand.getDefiningOp() && isFree(operand.getDefiningOp())))
        next = operand;
    if (!next)
      return {};
    value = next;
  }
  return {};
}

/// Whether a factor is loaded in the layout of its product, as atx-assign-tile-layouts decides.
bool KernelChecker::isDirect(Value factor, const TileLayout &layout) {
  if (options.direct != "auto" && options.direct != "always")
    return false;
  // The layout as the load has its dimensions.
  TileLayout wanted = layout;
  atx::TileLoadOp load = findLoad(factor);
  for (Value value = factor; value != load->getResult(0);) {
    Operation *op = value.getDefiningOp();
    if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
      SmallVector<int64_t> inverse(transpose.getPermutation().size());
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        inverse[dim] = i;
      wanted = wanted.transpose(inverse);
    } else if (!isElementwise(op)) {
      return false;
    }
    Value next;
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()) && findLoad(operand) == load)
        next = operand;
    if (!next)
      return false;
    value = next;
  }
  auto type = cast<VectorType>(load->getResult(0).getType());
  if (wanted.getRank() != unsigned(type.getRank()))
    return false;
  AccessPattern pattern =
      analyzeAccess(analysis, load.getMemory(), load.getIndices(), {}, type.getShape(), getInside(load));
  return isLoadedDirectly(wanted, pattern, options.direct == "always");
}

void KernelChecker::spreadLayouts() {
  SmallVector<Value> work;
  auto give = [&](Value value, const TileLayout &layout) {
    if (layout.getRank() && isa<VectorType>(value.getType()) && layouts.try_emplace(value, layout).second)
      work.push_back(value);
  };
  kernel.walk([&](vector::ContractionOp contract) {
    auto plan = plans.find(contract);
    if (plan == plans.end() || !plan->second.instruction)
      return;
    give(contract.getResult(), plan->second.acc);
    give(contract.getAcc(), plan->second.acc);
    for (auto [factor, layout] :
         {std::pair(contract.getLhs(), &plan->second.lhs), {contract.getRhs(), &plan->second.rhs}})
      if (factor.getParentBlock() != contract->getBlock())
        give(factor, *layout);
      else if (findLoad(factor) && !isDirect(factor, *layout))
        throughMemory.insert(factor);
      else if (findLoad(factor)) {
        direct.insert(factor);
        give(factor, *layout);
      }
  });
  for (Value factor : llvm::concat<const Value>(throughMemory, direct)) {
    atx::TileLoadOp load = findLoad(factor);
    for (Value value = factor; value != load.getResult();) {
      Value next;
      for (Value operand : value.getDefiningOp()->getOperands())
        if (isa<VectorType>(operand.getType()) && findLoad(operand) == load)
          next = operand;
      if (!next || !next.hasOneUse())
        break;
      inParts.insert(next);
      value = next;
    }
  }
  // The results that the branches or trips of `op` give each other.
  auto tie = [&](Operation *op, unsigned number, const TileLayout &layout) {
    give(op->getResult(number), layout);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      give(loop.getInitArgs()[number], layout);
      give(loop.getRegionIterArg(number), layout);
    }
    for (Region &region : op->getRegions())
      if (!region.empty() && isa<scf::YieldOp>(region.front().getTerminator()) && isa<scf::ForOp, scf::IfOp>(op))
        give(region.front().getTerminator()->getOperand(number), layout);
  };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    const TileLayout layout = layouts.lookup(value);
    ArrayRef<int64_t> shape = cast<VectorType>(value.getType()).getShape();
    auto isSame = [&](Type type) { return isa<VectorType>(type) && cast<VectorType>(type).getShape() == shape; };
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()); loop && arg.getArgNumber() > 0)
        tie(loop, arg.getArgNumber() - 1, layout);
    } else {
      Operation *op = value.getDefiningOp();
      if (isa<scf::ForOp, scf::IfOp>(op)) {
        tie(op, cast<OpResult>(value).getResultNumber(), layout);
      } else if (isElementwise(op)) {
        for (Value operand : op->getOperands())
          if (isSame(operand.getType()))
            give(operand, layout);
      } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
        if (auto source = dyn_cast<VectorType>(broadcast.getSourceType()))
          give(broadcast.getSource(), layout.getBroadcastSource(source.getShape()));
      } else if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
        if (auto reshaped = layout.reshape(shape, cast.getSourceVectorType().getShape()))
          give(cast.getSource(), *reshaped);
      }
    }
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isElementwise(user)) {
        for (Value result : user->getResults())
          if (isSame(result.getType()))
            give(result, layout);
      } else if (auto reduce = dyn_cast<atx::TileReduceOp>(user)) {
        SmallVector<bool> dropped(shape.size(), false);
        for (int64_t axis : reduce.getAxes())
          if (axis >= 0 && size_t(axis) < shape.size())
            dropped[axis] = true;
        if (cast<VectorType>(value.getType()).getRank() > int64_t(reduce.getAxes().size()))
          give(reduce->getResult(0), layout.drop(dropped));
      } else if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp())) {
        tie(user->getParentOp(), use.getOperandNumber(), layout);
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.getOperandNumber() >= loop.getNumControlOperands())
          tie(loop, use.getOperandNumber() - loop.getNumControlOperands(), layout);
      } else if (auto cast = dyn_cast<vector::ShapeCastOp>(user)) {
        if (auto reshaped = layout.reshape(shape, cast.getResultVectorType().getShape()))
          give(cast.getResult(), *reshaped);
      }
    }
  }
}

int64_t KernelChecker::getRegisters(Value value) const {
  auto type = dyn_cast<VectorType>(value.getType());
  // Truth values are bits of scalar registers.
  if (!type || type.isScalable() || type.getElementType().isInteger(1) || throughMemory.contains(value) ||
      direct.contains(value) || inParts.contains(value))
    return 0;
  if (Operation *op = value.getDefiningOp(); op && isFree(op))
    return 0;
  auto layout = layouts.find(value);
  int64_t elements = layout != layouts.end() ? layout->second.getNumRegisters()
                                             : llvm::divideCeil(type.getNumElements(), report.threads);
  return llvm::divideCeil(elements * getBits(type.getElementType()), 32);
}

void KernelChecker::note(const llvm::SetVector<Value> &values, int64_t more, Operation *at) {
  int64_t sum = more;
  Value most;
  for (Value value : values) {
    int64_t registers = getRegisters(value);
    sum += registers;
    if (!most || registers > getRegisters(most))
      most = value;
  }
  if (sum > highest) {
    highest = sum;
    largest = most;
    highestAt = at;
  }
}

/// Follows what is held through a block, `live` being used behind it. Between products, reductions and accesses the
/// elements of tiles can be computed one after the other, so that only there all of a tile needs its registers.
void KernelChecker::findPeak(Block &block, llvm::SetVector<Value> live, int64_t more) {
  for (Operation &op : llvm::reverse(block)) {
    bool isPoint = isa<vector::ContractionOp, atx::TileReduceOp, atx::TileStoreOp>(op) || op.getNumRegions() != 0 ||
                   (op.getName().getDialectNamespace() == "atx" && !isa<atx::TileIotaOp>(op));
    // Scalars take nothing, and what is loaded for a product goes on to shared memory at once.
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      isPoint = isa<VectorType>(load->getResult(0).getType()) &&
                llvm::none_of(llvm::concat<const Value>(throughMemory, direct),
                              [&](Value factor) { return findLoad(factor) == load; });
    auto contract = dyn_cast<vector::ContractionOp>(op);
    int64_t factors = contract ? getFactors(contract) : 0;
    if (isPoint) {
      llvm::SetVector<Value> behind = live;
      // A sum that begins at zero here is used as its parts come.
      if (contract && matchPattern(contract.getAcc(), m_Constant()))
        behind.remove(contract.getResult());
      note(behind, more + factors, &op);
    }
    for (Value result : op.getResults())
      live.remove(result);
    for (Region &region : op.getRegions()) {
      llvm::SetVector<Value> behind = live;
      // The next trip needs it again.
      if (isa<LoopLikeOpInterface>(op))
        region.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (isa<VectorType>(operand.getType()) && !region.isAncestor(operand.getParentRegion()))
              behind.insert(operand);
        });
      auto loop = dyn_cast<scf::ForOp>(op);
      for (Block &inner : region)
        findPeak(inner, behind, more + (loop ? getAhead(loop) : 0));
    }
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isa<VectorType>(operand.getType()) && !region.isAncestor(operand.getParentRegion()))
            live.insert(operand);
      });
    for (Value operand : op.getOperands())
      if (isa<VectorType>(operand.getType()))
        live.insert(operand);
    if (isPoint)
      note(live, more + factors, &op);
  }
}

/// Factors that are read from shared memory as a whole: those of a product whose loop is not staged since they are too
/// large for it, so that one must be in registers before the other is written. The last one may be read in parts.
int64_t KernelChecker::getFactors(vector::ContractionOp op) const {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto plan = plans.find(op);
  if (!loop || plan == plans.end() || !plan->second.instruction)
    return 0;
  // Tiles in the same place are read one after the other, too.
  int64_t stages = getStages(loop);
  if (stages != 0 && !(stages == 1 && options.share == 1))
    return 0;
  int64_t registers = 0, largest = 0;
  for (auto [factor, layout] : {std::pair(op.getLhs(), &plan->second.lhs), {op.getRhs(), &plan->second.rhs}})
    if (throughMemory.contains(factor)) {
      int64_t own = ::getRegisters(*layout, factor);
      registers += own;
      largest = std::max(largest, own);
    }
  return isCareful ? registers : registers - largest;
}

/// Bytes of so many slots of all of them; tiles of one slot may lie in the same place.
int64_t KernelChecker::getStageBytes(ArrayRef<Value> tiles, int64_t stages) const {
  int64_t bytes = 0;
  if (options.share == 1 && stages == 1) {
    for (Value tile : tiles)
      bytes = std::max(bytes, getSlotBytes(tile));
    return bytes;
  }
  return stages * getSlotBytes(tiles);
}

/// Bytes of one slot of all of them.
int64_t KernelChecker::getSlotBytes(ArrayRef<Value> tiles) const {
  int64_t bytes = 0;
  for (Value tile : tiles) {
    auto type = cast<VectorType>(tile.getType());
    bytes += llvm::alignTo(type.getNumElements() * std::max<int64_t>(1, getBits(type.getElementType()) / 8),
                           4 * int64_t(chip.ldsBanks));
  }
  return bytes;
}

/// What else the loop's body keeps in shared memory, as atx-stage-operands reckons.
int64_t KernelChecker::getInnerBytes(scf::ForOp loop) const {
  int64_t inner = 0;
  auto getTileBytes = [](Type type) {
    auto tile = cast<VectorType>(type);
    return tile.getNumElements() * std::max<int64_t>(1, getBits(tile.getElementType()) / 8);
  };
  loop.getBody()->walk([&](Operation *op) {
    // Only waves exchange through shared memory.
    auto crossesWaves = [&](Value value, int64_t axis) {
      auto layout = layouts.find(value);
      return layout == layouts.end() || layout->second.getThreadBits(axis) >> 6 != 0;
    };
    if (auto reduce = dyn_cast<atx::TileReduceOp>(op)) {
      if (llvm::any_of(reduce.getAxes(), [&](int64_t axis) { return crossesWaves(reduce.getInput(), axis); }))
        inner = std::max(inner, std::min<int64_t>(getTileBytes(reduce.getInput().getType()), 8192));
    } else if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
      auto plan = plans.find(op);
      if (plan != plans.end() && !plan->second.instruction)
        inner = std::max(inner, getTileBytes(contract.getLhsType()) + getTileBytes(contract.getRhsType()));
      // A factor that another product left in a layout from which elements must move.
      Value lhs = contract.getLhs();
      if (plan != plans.end() && plan->second.instruction && !throughMemory.contains(lhs) && !direct.contains(lhs) &&
          lhs.getParentBlock() == contract->getBlock()) {
        auto layout = layouts.find(lhs);
        if (layout == layouts.end() ||
            !findLocalConversion(layout->second, plan->second.lhs, contract.getLhsType().getShape()))
          inner = std::max(inner, std::min<int64_t>(getTileBytes(lhs.getType()) * 5 / 4, 16384));
      }
    } else if (op->getName().getDialectNamespace() == "atx" &&
               !isa<atx::TileLoadOp, atx::TileStoreOp, atx::TileIotaOp>(op)) {
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
        if (isa<VectorType>(type))
          inner = std::max(inner, std::min<int64_t>(getTileBytes(type), 8192));
    }
  });
  return inner;
}

/// Slots of the loop's tiles; 0 where it is not staged.
int64_t KernelChecker::getStages(scf::ForOp loop) const {
  SmallVector<Value> tiles;
  collectStaged(loop, tiles);
  if (tiles.empty())
    return 0;
  if (options.stages != 0)
    return options.stages;
  // As atx-stage-operands chooses: eight waves of a compute unit hide each other's waits.
  int64_t around = heldBytes + getInnerBytes(loop);
  auto waves = [&](int64_t count) {
    int64_t bytes = getStageBytes(tiles, count);
    return bytes <= report.ldsLimit - around ? report.ldsLimit / (around + bytes) * (report.threads / chip.waveSize)
                                             : 0;
  };
  if (waves(2) >= 8 || (waves(2) >= 1 && waves(1) <= waves(2)))
    return 2;
  return waves(1) >= 1 ? 1 : 0;
}

int64_t KernelChecker::getDirect(scf::ForOp loop) const {
  int64_t registers = 0;
  for (Value factor : direct)
    if (factor.getParentBlock() == loop.getBody())
      registers += ::getRegisters(layouts.lookup(factor), factor);
  return registers;
}

int64_t KernelChecker::getDirectAhead(scf::ForOp loop) const {
  if (!options.isStaged || options.ahead != 1)
    return 0;
  int64_t registers = 0;
  for (auto load : loop.getBody()->getOps<atx::TileLoadOp>())
    for (Value factor : direct)
      if (findLoad(factor) == load) {
        int64_t own = ::getRegisters(layouts.lookup(factor), factor);
        registers += registers + own <= maxAheadRegisters ? own : 0;
        break;
      }
  return registers;
}

int64_t KernelChecker::getAddresses(scf::ForOp loop) const {
  int64_t registers = 0;
  bool isOpen = false;
  for (auto load : loop.getBody()->getOps<atx::TileLoadOp>()) {
    auto type = dyn_cast<VectorType>(load.getResult().getType());
    auto memory = cast<MemRefType>(load.getMemory().getType());
    if (!type || memory.getMemorySpace())
      continue;
    // A lane accesses 16 bytes at once, and instructions add offsets within a row.
    int64_t count =
        llvm::divideCeil(llvm::divideCeil(type.getNumElements(), report.threads) * getBits(type.getElementType()), 128);
    for (Value factor : direct)
      if (findLoad(factor) == load && cast<VectorType>(factor.getType()).getShape() == type.getShape()) {
        TileLayout layout = layouts.lookup(factor);
        int64_t last = type.getRank() - 1;
        int64_t along = type.getShape().back() >> llvm::popcount(layout.getThreadBits(last));
        count = std::max<int64_t>(1, layout.getNumRegisters() / std::max<int64_t>(1, along));
        break;
      }
    // Buffers have offsets of 32 bits; where nothing bounds the strides addresses have 64.
    bool isBuffer = options.bufferAccess && llvm::all_of(memory.getShape().drop_front(),
                                                         [](int64_t extent) { return !ShapedType::isDynamic(extent); });
    registers += count * (isBuffer ? 1 : 2);
    isOpen |= !isBuffer;
  }
  return registers + (isOpen ? openExtents : 0);
}

int64_t KernelChecker::getAhead(scf::ForOp loop) const {
  int64_t ahead = getDirectAhead(loop), stages = getStages(loop), registers = ahead;
  // What is used now lies beside what comes next, and rows have addresses.
  if (isCareful)
    registers += ahead + std::max<int64_t>(0, getAddresses(loop) - commonAddresses);
  // Of the others all in flight at once behind a barrier, half where there is none.
  if (isCareful)
    registers += (getDirect(loop) - ahead) / (stages != 0 ? 1 : 2);
  if (stages == 0)
    return registers;
  SmallVector<Value> tiles;
  collectStaged(loop, tiles);
  int64_t staged = 0;
  for (Value tile : tiles) {
    auto type = cast<VectorType>(findLoad(tile)->getResult(0).getType());
    staged +=
        llvm::divideCeil(llvm::divideCeil(type.getNumElements(), report.threads) * getBits(type.getElementType()), 32);
  }
  // Left to itself, one slot waits for one trip in registers; several do where registers are left, and so do tiles
  // that are read from several slots an iteration ahead.
  int64_t read = 0;
  if (stages > 1 && options.readAhead > 0) {
    for (auto contract : loop.getBody()->getOps<vector::ContractionOp>())
      if (auto plan = plans.find(contract); plan != plans.end() && plan->second.instruction)
        for (auto [factor, layout] :
             {std::pair(contract.getLhs(), &plan->second.lhs), {contract.getRhs(), &plan->second.rhs}})
          if (llvm::is_contained(tiles, factor)) {
            int64_t size = ::getRegisters(*layout, factor);
            read += read + size <= options.readAhead ? size : 0;
          }
  }
  return registers + read + staged * (options.prefetch >= 0 ? options.prefetch : stages > 1 ? 0 : 1);
}

/// Loads of the loop's body that lead to a product: what atx-stage-operands takes.
void KernelChecker::collectStaged(scf::ForOp loop, SmallVectorImpl<Value> &tiles) const {
  bool isBlocked = false;
  loop.getBody()->walk([&](Operation *op) {
    if (isa<gpu::BarrierOp>(op) || isa<atx::TileAtomicOp>(op))
      isBlocked = true;
    if (auto store = dyn_cast<atx::TileStoreOp>(op)) {
      auto space =
          dyn_cast_or_null<gpu::AddressSpaceAttr>(cast<MemRefType>(store.getMemory().getType()).getMemorySpace());
      isBlocked |= !space || space.getValue() != gpu::AddressSpace::Workgroup;
    }
  });
  if (isBlocked || !options.isStaged)
    return;
  for (auto contract : loop.getBody()->getOps<vector::ContractionOp>()) {
    auto plan = plans.find(contract);
    if (plan == plans.end() || !plan->second.instruction)
      continue;
    for (Value factor : {contract.getLhs(), contract.getRhs()}) {
      if (throughMemory.contains(factor) && factor.getParentBlock() == loop.getBody() &&
          !llvm::is_contained(tiles, factor))
        tiles.push_back(factor);
    }
  }
}

void KernelChecker::checkTiles() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<VectorType>(result.getType());
      if (!type || isFree(op))
        continue;
      int64_t elements = llvm::divideCeil(type.getNumElements(), report.threads);
      if (elements > maxRegistersPerTile)
        add("registers", ResourceVerdict::Exceeds, op->getLoc(), debugString(type), elements, maxRegistersPerTile,
            "a tile of type {0} is {1} elements for each of {2} work-items, {3} more than the {4} that are possible",
            debugString(type), elements, report.threads, elements - maxRegistersPerTile, int64_t(maxRegistersPerTile));
    }
  });
  kernel.walk([&](vector::ContractionOp contract) {
    auto plan = plans.find(contract);
    if (plan == plans.end() || plan->second.instruction)
      return;
    add("mfma", ResourceVerdict::Close, contract.getLoc(), debugString(contract.getResultType()), 0, 0,
        "no matrix instruction of {0} multiplies {1} by {2}: work-items multiply one by one, with factors in shared "
        "memory",
        chip.arch, debugString(contract.getLhsType()), debugString(contract.getRhsType()));
  });
}

void KernelChecker::checkRegisters() {
  spreadLayouts();
  for (Block &block : kernel.getBody())
    findPeak(block, {}, 0);
  report.registers = highest + besideTiles;
  bool exceeds = highest + leastBeside > report.registerLimit;
  int64_t beside = exceeds ? leastBeside : besideTiles, held = highest + beside, available = report.registerLimit;
  if (!exceeds) {
    // With everything that the order of instructions decides about.
    isCareful = true;
    for (Block &block : kernel.getBody())
      findPeak(block, {}, 0);
    held = highest + besideTiles;
    // Half of 512 registers accumulate; other instructions do not take them.
    bool hasProducts = llvm::any_of(plans, [](const auto &plan) { return plan.second.instruction != nullptr; });
    available = hasProducts ? available : std::min<int64_t>(available, 256);
    available -= getSlack(available);
    bool isCertain = held == report.registers && held <= report.registerLimit;
    if (held <= available || (isCertain && hasProducts))
      return;
  }
  Location loc = largest ? largest.getLoc() : highestAt ? highestAt->getLoc() : kernel.getLoc();
  std::string tile = largest ? debugString(largest.getType()) : "";
  add("registers", exceeds ? ResourceVerdict::Exceeds : ResourceVerdict::Close, loc, tile, held, available,
      "tiles that {0} held at the same time take {1} registers of each of {2} work-items, with {3} for everything else "
      "{4} more than {5} {6} for {7} waves on a SIMD; the largest is {8} ({9} registers)",
      exceeds ? "are" : "may be", held - beside, report.threads, beside, held - available, available,
      exceeds ? "that there are" : "that surely do",
      llvm::divideCeil(report.threads, int64_t(chip.waveSize) * chip.simdsPerCU), tile,
      largest ? getRegisters(largest) : 0);
}

void KernelChecker::checkLds() {
  report.lds = heldBytes;
  if (heldBytes > report.ldsLimit)
    add("lds", ResourceVerdict::Exceeds, kernel.getLoc(), "", heldBytes, report.ldsLimit,
        "shared memory of {0} bytes is {1} more than the {2} of {3}", heldBytes, heldBytes - report.ldsLimit,
        report.ldsLimit, chip.arch);
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<Value> tiles;
    collectStaged(loop, tiles);
    if (tiles.empty())
      return;
    bool allPowers = true;
    Value largestTile = tiles.front();
    for (Value tile : tiles) {
      auto type = cast<VectorType>(tile.getType());
      allPowers &= llvm::isPowerOf2_64(uint64_t(getSlotBytes(tile)));
      if (getSlotBytes(tile) > getSlotBytes(largestTile))
        largestTile = tile;
      int64_t row = type.getShape().back() * getBits(type.getElementType()) / 8;
      if (row % 16 != 0)
        add("alignment", ResourceVerdict::Fits, tile.getLoc(), debugString(type), row, 16,
            "rows of a tile of type {0} are {1} bytes; with a multiple of 16 shared memory is accessed by 16 bytes",
            debugString(type), row);
    }
    const int64_t stages = getStages(loop), bytes = getStageBytes(tiles, stages),
                  around = heldBytes + getInnerBytes(loop);
    report.lds = std::max(report.lds, around + bytes);
    // Left to itself, the compiler takes fewer stages, or none.
    if (options.stages == 0)
      return;
    // Padding, where no swizzle does: a swizzle moves elements within whole powers of two.
    int64_t most = bytes + (allPowers ? 0 : bytes / 8), room = report.ldsLimit - around;
    if (bytes > room)
      add("lds", ResourceVerdict::Exceeds, loop.getLoc(), debugString(largestTile.getType()), around + bytes,
          report.ldsLimit,
          "'stages={0}' of the loop's tiles take {1} bytes of shared memory beside the {2} of the kernel, {3} more "
          "than the {4} of {5}; the largest is {6} ({7} bytes a stage)",
          stages, bytes, around, bytes - room, report.ldsLimit, chip.arch, debugString(largestTile.getType()),
          getSlotBytes(largestTile));
    else if (most > room)
      add("lds", ResourceVerdict::Close, loop.getLoc(), debugString(largestTile.getType()), around + most,
          report.ldsLimit,
          "'stages={0}' of the loop's tiles take {1} bytes of shared memory, with padding perhaps {2}, {3} more than "
          "the {4} of {5}",
          stages, bytes, most, most - room, report.ldsLimit, chip.arch);
  });
}

LogicalResult atrex::divideSums(ModuleOp module, const ChipInfo &chip, const ResourceOptions &options) {
  if (options.workgroups == 0 && options.splits == 0)
    return success();
  StreamKPassOptions passOptions;
  passOptions.arch = chip.arch.str();
  passOptions.workgroups = options.workgroups;
  passOptions.splits = options.splits;
  PassManager pm(module.getContext());
  pm.addPass(createStreamKPass(passOptions));
  // What is not divided is said when it is compiled.
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  return pm.run(module);
}

void KernelChecker::findWorkspaces() {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto shape = kernel.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName);
    if (!kernel.getArgAttr(i, atx::workspaceAttrName) || !shape)
      continue;
    DimExpr bytes = DimExpr::constant(
        std::max<int64_t>(1, getBits(cast<MemRefType>(kernel.getArgumentTypes()[i]).getElementType()) / 8));
    for (auto extent : shape.getAsRange<StringAttr>()) {
      llvm::Expected<DimExpr> expr = DimExpr::parse(extent.getValue());
      if (!expr)
        return llvm::consumeError(expr.takeError());
      bytes = DimExpr::binary(DimExpr::Kind::Mul, *expr, bytes).substitute({});
    }
    report.workspace += (report.workspace.empty() ? "" : " + ") + bytes.str();
  }
}

KernelResourceReport KernelChecker::run() {
  findWorkspaces();
  if (!checkThreads())
    return std::move(report);
  kernel.walk([&](atx::TileSharedOp op) {
    auto type = cast<MemRefType>(op.getType());
    if (type.hasStaticShape())
      heldBytes += llvm::alignTo(type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8), 16);
  });
  planProducts();
  checkTiles();
  checkRegisters();
  checkLds();
  return std::move(report);
}

std::vector<KernelResourceReport> atrex::checkResources(ModuleOp module, const ChipInfo &chip,
                                                        const ResourceOptions &options) {
  std::vector<KernelResourceReport> reports;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->hasAttr(atx::kernelAttrName) && !func.isExternal())
      reports.push_back(KernelChecker(func, chip, options).run());
  return reports;
}
