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
#include "lib/Transforms/Tile/ContractPlan.h"
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

/// Registers of a work-item for addresses, masks and counters beside its tiles, in
/// the upper bound. Observed: up to 35 in products of 16 to 256 rows.
constexpr int64_t besideTiles = 40;
/// Up to here the backend has the architectural registers, which every instruction
/// can use; beyond, it moves values to accumulation registers and back, and how
/// well that goes cannot be foreseen.
constexpr int64_t plainRegisters = 256;
/// What layouts and exchanges take of the LDS beside the staged tiles.
constexpr int64_t exchangeBytes = 24576;

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
  /// 32-bit registers that a tile takes of a work-item at least.
  int64_t getRegisters(Type type) const;
  int64_t getRegisters(Value value) const;
  int64_t getCarried(scf::ForOp loop) const;
  int64_t findPeak(Block &block, llvm::SetVector<Value> live);
  void collectStaged(scf::ForOp loop, SmallVectorImpl<Value> &tiles) const;
  /// Whether a factor of products may be loaded in their layout: no other wave needs what a wave has of it.
  bool mayBeDirect(Value factor) const;
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
  llvm::DenseMap<Operation *, ContractPlan> plans;
  /// Value with the most registers at the highest peak.
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
  auto read = [&](StringRef pass, StringRef option, int64_t &value) -> llvm::Error {
    size_t at = schedule.find(pass);
    if (at == StringRef::npos)
      return llvm::Error::success();
    StringRef rest = schedule.drop_front(at + pass.size());
    if (!rest.consume_front("{"))
      return llvm::Error::success();
    for (StringRef part : llvm::split(rest.take_until([](char c) { return c == '}'; }), ' ')) {
      auto [name, text] = part.trim().split('=');
      if (name != option)
        continue;
      if (text.getAsInteger(10, value) || value < -1)
        return llvm::createStringError(llvm::inconvertibleErrorCode(), "option '" + option + "' of '" + pass +
                                                                           "' is '" + text + "', which is no number");
    }
    return llvm::Error::success();
  };
  for (auto [pass, option, value] :
       {std::tuple<StringRef, StringRef, int64_t *>{"atx-stage-operands", "stages", &result.stages},
        {"atx-stage-operands", "prefetch", &result.prefetch},
        {"atx-assign-tile-layouts", "mfma-rows", &result.mfmaRows},
        {"atx-assign-tile-layouts", "waves-m", &result.wavesM},
        {"atx-stream-k", "workgroups", &result.workgroups},
        {"atx-stream-k", "splits", &result.splits}})
    if (llvm::Error error = read(pass, option, *value))
      return std::move(error);
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
        chooseContract(op, report.threads, chip, ContractOptions{options.mfmaRows, options.wavesM});
    if (failed(choice))
      return;
    FailureOr<ContractPlan> plan = planContract(op, report.threads, chip, *choice);
    if (succeeded(plan))
      plans[op] = *plan;
  });
}

int64_t KernelChecker::getRegisters(Type type) const {
  auto tile = dyn_cast<VectorType>(type);
  if (!tile || tile.isScalable())
    return 0;
  return llvm::divideCeil(llvm::divideCeil(tile.getNumElements(), report.threads) * getBits(tile.getElementType()), 32);
}

int64_t KernelChecker::getRegisters(Value value) const {
  // Numbers of elements and copies of a scalar take no registers of their own.
  if (Operation *op = value.getDefiningOp()) {
    if (matchPattern(op, m_Constant()) || isa<atx::TileIotaOp>(op))
      return 0;
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
      if (!isa<VectorType>(broadcast.getSourceType()))
        return 0;
    if (auto plan = plans.find(op); plan != plans.end() && plan->second.acc.getRank())
      return llvm::divideCeil(plan->second.acc.getNumRegisters() * getBits(getElementTypeOrSelf(value.getType())), 32);
  }
  return getRegisters(value.getType());
}

int64_t KernelChecker::getCarried(scf::ForOp loop) const {
  int64_t sum = 0;
  for (Value arg : loop.getRegionIterArgs())
    if (!arg.use_empty())
      sum += getRegisters(arg.getType());
  return sum;
}

/// Most registers that tiles take at one place of a block, those in `live` being
/// used behind it.
int64_t KernelChecker::findPeak(Block &block, llvm::SetVector<Value> live) {
  int64_t peak = 0;
  auto note = [&](const llvm::SetVector<Value> &values, int64_t more) {
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
    }
    peak = std::max(peak, sum);
  };
  for (Operation &op : llvm::reverse(block)) {
    int64_t fragments = 0;
    if (auto plan = plans.find(&op); plan != plans.end() && plan->second.instruction) {
      auto contract = cast<vector::ContractionOp>(op);
      fragments =
          llvm::divideCeil(plan->second.lhs.getNumRegisters() * getBits(contract.getLhsType().getElementType()) +
                               plan->second.rhs.getNumRegisters() * getBits(contract.getRhsType().getElementType()),
                           32);
    }
    llvm::SetVector<Value> here = live;
    for (Value result : op.getResults())
      if (isa<VectorType>(result.getType()))
        here.insert(result);
    for (Value operand : op.getOperands())
      if (isa<VectorType>(operand.getType()))
        here.insert(operand);
    note(here, fragments);
    for (Value result : op.getResults())
      live.remove(result);
    for (Region &region : op.getRegions()) {
      llvm::SetVector<Value> behind = live;
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isa<VectorType>(operand.getType()) && !region.isAncestor(operand.getParentRegion()))
            behind.insert(operand);
      });
      for (Block &inner : region)
        peak = std::max(peak, findPeak(inner, behind));
    }
    for (Value operand : op.getOperands())
      if (isa<VectorType>(operand.getType()))
        live.insert(operand);
  }
  return peak;
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
      // Through what changes elements one by one, or their order.
      Value value = factor;
      while (Operation *op = value.getDefiningOp()) {
        if (isa<atx::TileLoadOp>(op) || op->getBlock() != loop.getBody() || op->getNumOperands() != 1)
          break;
        value = op->getOperand(0);
      }
      auto load = value.getDefiningOp<atx::TileLoadOp>();
      if (load && load->getBlock() == loop.getBody() && isa<VectorType>(factor.getType()) &&
          !llvm::is_contained(tiles, factor))
        tiles.push_back(factor);
    }
  }
}

bool KernelChecker::mayBeDirect(Value factor) const {
  return llvm::all_of(factor.getUses(), [&](OpOperand &use) {
    auto plan = plans.find(use.getOwner());
    return plan != plans.end() && plan->second.instruction && use.getOperandNumber() < 2 &&
           isOwnFactor(use.getOperandNumber() == 0 ? plan->second.lhs : plan->second.rhs);
  });
}

void KernelChecker::checkTiles() {
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<VectorType>(result.getType());
      if (!type || getRegisters(result) == 0)
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
  // At least: what loops carry at the same time, and the factors of one instruction.
  int64_t low = 0;
  scf::ForOp tightest;
  kernel.walk([&](scf::ForOp loop) {
    int64_t sum = getCarried(loop), factors = 0;
    for (auto around = loop->getParentOfType<scf::ForOp>(); around; around = around->getParentOfType<scf::ForOp>())
      for (Value arg : around.getRegionIterArgs()) {
        // What the inner loop continues is the same registers.
        bool continued = llvm::is_contained(loop.getInitArgs(), arg);
        bool usedBehind = llvm::any_of(arg.getUsers(), [&](Operation *user) {
          return !loop->isAncestor(user) && loop->getBlock() == user->getBlock() && loop->isBeforeInBlock(user);
        });
        if (!continued && usedBehind)
          sum += getRegisters(arg.getType());
      }
    for (auto contract : loop.getBody()->getOps<vector::ContractionOp>())
      if (auto plan = plans.find(contract); plan != plans.end() && plan->second.instruction)
        factors = std::max<int64_t>(factors, getNumRegisters(*plan->second.instruction, MatrixOperand::A) +
                                                 getNumRegisters(*plan->second.instruction, MatrixOperand::B));
    if (sum + factors > low) {
      low = sum + factors;
      tightest = loop;
    }
  });
  // The work-item's number.
  report.registersLow = low ? low + 1 : 0;

  int64_t ahead = 0;
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<Value> tiles;
    collectStaged(loop, tiles);
    int64_t sum = 0;
    for (Value tile : tiles)
      sum += getRegisters(tile.getType());
    // Left to itself, one slot waits for one trip in registers, several for none.
    sum *= options.prefetch >= 0 ? options.prefetch : options.stages > 1 ? 0 : 1;
    // Tiles that go without shared memory wait in registers.
    for (Value tile : tiles)
      sum += mayBeDirect(tile) ? getRegisters(tile.getType()) : 0;
    ahead = std::max(ahead, sum);
  });
  int64_t peak = 0;
  for (Block &block : kernel.getBody())
    peak = std::max(peak, findPeak(block, {}));
  report.registersHigh = peak + ahead + besideTiles;

  if (report.registersLow > report.registerLimit) {
    Value most;
    for (Value arg : tightest.getRegionIterArgs())
      if (!most || getRegisters(arg.getType()) > getRegisters(most.getType()))
        most = arg;
    std::string tile = most ? debugString(most.getType()) : "";
    add("registers", ResourceVerdict::Exceeds, tightest.getLoc(), tile, report.registersLow, report.registerLimit,
        "the loop carries tiles that take {0} registers of each of {1} work-items, {2} more than the {3} there are for "
        "{4} "
        "waves on a SIMD; the largest is {5} ({6} registers)",
        report.registersLow, report.threads, report.registersLow - report.registerLimit, report.registerLimit,
        llvm::divideCeil(report.threads, int64_t(chip.waveSize) * chip.simdsPerCU), tile,
        most ? getRegisters(most.getType()) : 0);
  } else if (report.registersHigh > std::min(report.registerLimit, plainRegisters)) {
    std::string tile = largest ? debugString(largest.getType()) : "";
    int64_t available = std::min(report.registerLimit, plainRegisters);
    add("registers", ResourceVerdict::Close, largest ? largest.getLoc() : kernel.getLoc(), tile, report.registersHigh,
        available,
        "tiles may take {0} registers of each work-item, {1} more than {2}; the largest is {3} ({4} registers)",
        report.registersHigh, report.registersHigh - available, available, tile, largest ? getRegisters(largest) : 0);
  }
}

void KernelChecker::checkLds() {
  int64_t held = 0;
  kernel.walk([&](atx::TileSharedOp op) {
    auto type = cast<MemRefType>(op.getType());
    if (type.hasStaticShape())
      held += llvm::alignTo(type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8), 16);
  });
  report.ldsLow = report.ldsHigh = held;
  if (held > report.ldsLimit)
    add("lds", ResourceVerdict::Exceeds, kernel.getLoc(), "", held, report.ldsLimit,
        "shared memory of {0} bytes is {1} more than the {2} of {3}", held, held - report.ldsLimit, report.ldsLimit,
        chip.arch);
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<Value> tiles;
    collectStaged(loop, tiles);
    if (tiles.empty())
      return;
    const int64_t stages = std::max<int64_t>(1, options.stages);
    int64_t bytes = 0, most = 0, direct = 0;
    bool allPowers = true;
    Value largestTile;
    for (Value tile : tiles) {
      auto type = cast<VectorType>(tile.getType());
      int64_t size = type.getNumElements() * std::max<int64_t>(1, getBits(type.getElementType()) / 8);
      allPowers &= llvm::isPowerOf2_64(uint64_t(size));
      // A factor that only one wave needs may go without.
      (mayBeDirect(tile) ? direct : bytes) += stages * llvm::alignTo(size, 4 * int64_t(chip.ldsBanks));
      if (size > most) {
        most = size;
        largestTile = tile;
      }
      int64_t row = type.getShape().back() * getBits(type.getElementType()) / 8;
      if (row % 16 != 0)
        add("alignment", ResourceVerdict::Fits, tile.getLoc(), debugString(type), row, 16,
            "rows of a tile of type {0} are {1} bytes; with a multiple of 16 shared memory is accessed by 16 bytes",
            debugString(type), row);
    }
    // Other operations of the body exchange values in shared memory too.
    bool isPlain = true;
    for (Operation &op : loop.getBody()->without_terminator())
      isPlain &= isa<atx::TileLoadOp, atx::TileIotaOp, vector::ContractionOp, vector::BroadcastOp, vector::ShapeCastOp,
                     vector::TransposeOp>(op) ||
                 op.getName().getDialectNamespace() == "arith";
    // Padding, where no swizzle does: a swizzle moves elements within whole powers of two.
    int64_t all = bytes + direct, high = all + (allPowers ? 0 : all / 8) + (isPlain ? 0 : exchangeBytes);
    report.ldsLow = std::max(report.ldsLow, held + bytes);
    report.ldsHigh = std::max(report.ldsHigh, held + high);
    // Left to itself, the compiler takes fewer stages, or none.
    if (options.stages == 0)
      return;
    int64_t room = report.ldsLimit - held;
    if (bytes > room)
      add("lds", ResourceVerdict::Exceeds, loop.getLoc(), debugString(largestTile.getType()), held + bytes,
          report.ldsLimit,
          "'stages={0}' of the loop's tiles take {1} bytes of shared memory beside the {2} of the kernel, {3} more "
          "than "
          "the {4} of {5}; the largest is {6} ({7} bytes a stage)",
          stages, bytes, held, bytes - room, report.ldsLimit, chip.arch, debugString(largestTile.getType()), most);
    else if (high > room)
      add("lds", ResourceVerdict::Close, loop.getLoc(), debugString(largestTile.getType()), held + high,
          report.ldsLimit,
          "'stages={0}' of the loop's tiles take {1} bytes of shared memory, and with padding and exchanges perhaps "
          "{2}, "
          "{3} more than the {4} of {5}",
          stages, bytes, high, high - room, report.ldsLimit, chip.arch);
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
