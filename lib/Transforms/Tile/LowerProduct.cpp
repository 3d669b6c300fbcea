//===- LowerProduct.cpp - Products of tiles -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vector.contract: by matrix instructions where the chip has one for the types,
// else by multiply-adds of every lane on factors in shared memory.
//
//===----------------------------------------------------------------------===//

#include "ContractPlan.h"
#include "TileLowering.h"
#include "dialects/AtxAMDGPU/AtxAMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

/// What the chip's matrix unit calls the type; nothing for a float in another chip's encoding.
static std::optional<MatrixType> getMatrixType(Type type, const ChipInfo &chip) {
  if (atx_amdgpu::getTypeOn(chip, type) != type)
    return std::nullopt;
  return atx_amdgpu::getMatrixType(type);
}

/// Floats of at most 8 bits are exact in bf16 and f16.
static bool isSmallFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8; }

/// Whether the instruction multiplies these types. The f8f6f4 ones take any of theirs.
static bool takesTypes(const MatrixInstruction &inst, MatrixType a, MatrixType b) {
  if (!inst.isF8F6F4())
    return inst.a == a && inst.b == b;
  auto isOne = [](MatrixType type) {
    return llvm::is_contained({MatrixType::FP8, MatrixType::BF8, MatrixType::FP6, MatrixType::BF6, MatrixType::FP4},
                              type);
  };
  return isOne(a) && isOne(b);
}

namespace {

/// Position of iteration dimension `dim` among an operand's dimensions, or -1.
int64_t positionIn(AffineMap map, unsigned dim) {
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (auto expr = dyn_cast<AffineDimExpr>(result); expr && expr.getPosition() == dim)
      return i;
  return -1;
}

struct WaveSplit {
  int64_t m = 1, n = 1, tilesM = 1, tilesN = 1;
};

/// Waves over rows and columns: least work, then fewest factors in registers.
WaveSplit splitWaves(int64_t waves, int64_t tilesM, int64_t tilesN) {
  WaveSplit best;
  int64_t bestWork = INT64_MAX, bestFactors = INT64_MAX;
  for (int64_t m = 1; m <= waves; m *= 2)
    for (int64_t n = 1; m * n <= waves; n *= 2) {
      if ((m > 1 && m >= 2 * tilesM) || (n > 1 && n >= 2 * tilesN))
        continue;
      int64_t ownM = llvm::divideCeil(tilesM, m), ownN = llvm::divideCeil(tilesN, n);
      if (ownM * ownN < bestWork || (ownM * ownN == bestWork && ownM + ownN < bestFactors)) {
        best = {m, n, ownM, ownN};
        bestWork = ownM * ownN;
        bestFactors = ownM + ownN;
      }
    }
  return best;
}

/// Modes of an instruction's operand by row (stride below `rows`) and column.
void addInstructionModes(const ThreadValueLayout &layout, int64_t rows, SmallVector<Mode> &row,
                         SmallVector<Mode> &column) {
  struct Step {
    int64_t step;
    Mode mode;
  };
  SmallVector<Step> steps[2];
  for (bool isThread : {true, false}) {
    int64_t stride = 1;
    for (const LayoutMode &mode : isThread ? layout.thread : layout.value) {
      bool isRow = mode.stride < rows;
      if (mode.extent > 1)
        steps[isRow ? 0 : 1].push_back(
            {isRow ? int64_t(mode.stride) : int64_t(mode.stride) / rows, {int64_t(mode.extent), isThread, stride}});
      stride *= mode.extent;
    }
  }
  for (unsigned side = 0; side < 2; ++side) {
    llvm::sort(steps[side], [](const Step &a, const Step &b) { return a.step < b.step; });
    for (const Step &step : steps[side])
      (side ? column : row).push_back(step.mode);
  }
}

} // namespace

namespace {
/// Types as the matrix unit sees them.
struct FactorTypes {
  std::optional<MatrixType> lhs, rhs, acc;
  /// Where set, the factor is converted first.
  Type lhsWide, rhsWide;
  bool isKnown() const { return lhs && rhs && acc; }
  // The right factor is the instruction's A: a lane then holds neighbours along the last
  // dimension of the sum, which is what stores, reductions of rows and further products
  // like.
  bool areTakenBy(const MatrixInstruction &inst, const ChipInfo &chip) const {
    return inst.kind == MatrixKind::Dense && inst.blocks == 1 && takesTypes(inst, *rhs, *lhs) && inst.c == *acc &&
           inst.isAvailable(chip.arch);
  }
};
} // namespace

/// As `inst` takes them, where it is given: f32 factors are xf32 to some.
static FactorTypes getFactorTypes(vector::ContractionOp op, const ChipInfo &chip,
                                  const MatrixInstruction *inst = nullptr) {
  FactorTypes types;
  auto accType = dyn_cast<VectorType>(op.getAccType());
  if (!accType)
    return types;
  Type lhsType = op.getLhsType().getElementType(), rhsType = op.getRhsType().getElementType();
  types.lhs = getMatrixType(lhsType, chip);
  types.rhs = getMatrixType(rhsType, chip);
  types.acc = getMatrixType(accType.getElementType(), chip);
  if (inst && inst->a == MatrixType::XF32) {
    if (types.lhs == MatrixType::F32 && types.rhs == MatrixType::F32)
      types.lhs = types.rhs = MatrixType::XF32;
    return types;
  }
  if (types.isKnown() &&
      llvm::any_of(getMatrixInstructions(), [&](const auto &inst) { return types.areTakenBy(inst, chip); }))
    return types;
  Type bf16 = BFloat16Type::get(op.getContext());
  if (isSmallFloat(lhsType))
    types.lhsWide = rhsType.isF16() ? rhsType : bf16;
  if (isSmallFloat(rhsType))
    types.rhsWide = lhsType.isF16() ? lhsType : bf16;
  types.lhs = getMatrixType(types.lhsWide ? types.lhsWide : lhsType, chip);
  types.rhs = getMatrixType(types.rhsWide ? types.rhsWide : rhsType, chip);
  return types;
}

/// The roles of the iteration dimensions, and the layout of a sum without a matrix instruction.
static FailureOr<ContractPlan> analyzeContract(vector::ContractionOp op, int64_t threads) {
  ContractPlan plan;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto accType = dyn_cast<VectorType>(op.getAccType());
  if (!accType)
    return op.emitError() << "a product that ends in one number is a reduction; write sum(a * b)", failure();
  if (op.getKind() != vector::CombiningKind::ADD)
    return op.emitError() << "only sums of products can be distributed", failure();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return op.emitError() << "indexing maps must name each dimension alone", failure();
  SmallVector<int64_t> extents = *op.getShapeForUnroll();
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    bool inLhs = positionIn(maps[0], dim) >= 0, inRhs = positionIn(maps[1], dim) >= 0,
         inAcc = positionIn(maps[2], dim) >= 0;
    if (inAcc && inLhs && inRhs)
      plan.batch.push_back(dim);
    else if (inAcc && inLhs)
      plan.m.push_back(dim);
    else if (inAcc && inRhs)
      plan.n.push_back(dim);
    else if (!inAcc && inLhs && inRhs)
      plan.k.push_back(dim);
    else
      return op.emitError() << "dimension " << dim << " appears in one factor only; sum it before the product",
             failure();
  }
  AccessPattern pattern;
  pattern.contiguousDim = accType.getRank() - 1;
  pattern.bytes = std::max<int64_t>(1, accType.getElementTypeBitWidth() / 8);
  pattern.vector = std::max<int64_t>(1, 16 / pattern.bytes);
  plan.acc = getAccessLayout(accType.getShape(), threads, pattern);
  if (plan.m.empty() || plan.n.empty() || plan.k.empty())
    return plan;
  auto largest = [&](ArrayRef<unsigned> dims) {
    return *std::max_element(dims.begin(), dims.end(), [&](unsigned x, unsigned y) { return extents[x] < extents[y]; });
  };
  plan.mDim = largest(plan.m);
  plan.nDim = largest(plan.n);
  plan.kDim = largest(plan.k);
  return plan;
}

/// Elements along k in one lane for one instruction.
static int64_t getLaneK(const MatrixInstruction &inst) { return std::max<int64_t>(1, int64_t(inst.k) * inst.m / 64); }

/// Whether lanes may hold runs of `run` neighbours along k.
static bool isPossibleRun(const MatrixInstruction &inst, int64_t run, int64_t k) {
  int64_t own = getLaneK(inst);
  if (run == own)
    return true;
  if (run < own)
    return run > 0 && own % run == 0;
  return own > 1 && run % own == 0 && llvm::divideCeil(k, inst.k) % (run / own) == 0;
}

FailureOr<ContractPlan> tile::planContract(vector::ContractionOp op, int64_t threads, const ChipInfo &chip,
                                           const ContractChoice &choice) {
  FailureOr<ContractPlan> analyzed = analyzeContract(op, threads);
  if (failed(analyzed) || !choice.instruction)
    return analyzed;
  ContractPlan plan = *analyzed;
  plan.instruction = choice.instruction;
  const MatrixInstruction &inst = *choice.instruction;
  FactorTypes types = getFactorTypes(op, chip, plan.instruction);
  plan.lhsWide = types.lhsWide;
  plan.rhsWide = types.rhsWide;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents = *op.getShapeForUnroll();
  int64_t m = extents[plan.mDim], n = extents[plan.nDim], k = extents[plan.kDim];

  // By iteration dimension, for each operand.
  unsigned rank = extents.size();
  SmallVector<SmallVector<Mode>> lhs(rank), rhs(rank), acc(rank);
  addInstructionModes(getThreadValueLayout(inst, MatrixOperand::A, *types.rhs), inst.m, rhs[plan.nDim], rhs[plan.kDim]);
  addInstructionModes(getThreadValueLayout(inst, MatrixOperand::B, *types.lhs), inst.n, lhs[plan.mDim], lhs[plan.kDim]);
  addInstructionModes(getThreadValueLayout(inst, MatrixOperand::C), inst.m, acc[plan.nDim], acc[plan.mDim]);
  int64_t nextThread = 64;
  if (choice.wavesM > 1) {
    lhs[plan.mDim].push_back({choice.wavesM, true, nextThread});
    acc[plan.mDim].push_back({choice.wavesM, true, nextThread});
    nextThread *= choice.wavesM;
  }
  if (choice.wavesN > 1) {
    rhs[plan.nDim].push_back({choice.wavesN, true, nextThread});
    acc[plan.nDim].push_back({choice.wavesN, true, nextThread});
    nextThread *= choice.wavesN;
  }
  // Waves that are left take parts of what both factors share.
  SmallVector<int64_t> rest(extents.begin(), extents.end());
  for (unsigned dim : plan.batch) {
    int64_t part = std::min<int64_t>(threads / nextThread, llvm::PowerOf2Ceil(rest[dim]));
    if (part > 1) {
      for (auto *modes : {&lhs, &rhs, &acc})
        (*modes)[dim].push_back({part, true, nextThread});
      nextThread *= part;
      rest[dim] = llvm::divideCeil(rest[dim], part);
    }
  }
  rest[plan.mDim] = llvm::divideCeil(llvm::divideCeil(m, inst.n), choice.wavesM);
  rest[plan.nDim] = llvm::divideCeil(llvm::divideCeil(n, inst.m), choice.wavesN);
  rest[plan.kDim] = llvm::divideCeil(k, inst.k);

  // Registers: those of an instruction first, then its neighbours along k, rows and
  // columns, then everything else.
  auto countRegisters = [](ArrayRef<SmallVector<Mode>> modes) {
    int64_t count = 1;
    for (const SmallVector<Mode> &dim : modes)
      for (const Mode &mode : dim)
        if (!mode.isThread)
          count *= mode.size;
    return count;
  };
  // Any order of k is right as long as both factors use it: neighbouring k of several
  // instructions may go to one lane, for wide reads, and those of one may be spread, to
  // meet the order in which another product left them.
  int64_t own = getLaneK(inst);
  if (choice.run > own) {
    int64_t values = countRegisters(lhs), together = choice.run / own;
    for (auto *modes : {&lhs, &rhs})
      (*modes)[plan.kDim].insert((*modes)[plan.kDim].begin() + 1, Mode{together, false, values});
    rest[plan.kDim] /= together;
  } else if (choice.run < own) {
    for (auto *modes : {&lhs, &rhs}) {
      SmallVector<Mode> &along = (*modes)[plan.kDim];
      if (along.front().isThread || along.front().size != own)
        return op.emitError() << "lanes of '" << inst.mnemonic << "' cannot hold runs of " << choice.run, failure();
      along.front().size = choice.run;
      along.push_back({own / choice.run, false, choice.run});
    }
  }
  auto addRest = [&](SmallVector<SmallVector<Mode>> &modes, AffineMap map) {
    int64_t next = countRegisters(modes);
    SmallVector<unsigned> order = {plan.kDim, plan.mDim, plan.nDim};
    for (unsigned dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(order, dim))
        order.push_back(dim);
    for (unsigned dim : order) {
      if (positionIn(map, dim) < 0 || rest[dim] == 1)
        continue;
      modes[dim].push_back({rest[dim], false, next});
      next *= rest[dim];
    }
    SmallVector<SmallVector<Mode>> dims;
    for (AffineExpr result : map.getResults())
      dims.push_back(modes[cast<AffineDimExpr>(result).getPosition()]);
    return TileLayout(threads, dims);
  };
  plan.lhs = addRest(lhs, maps[0]);
  plan.rhs = addRest(rhs, maps[1]);
  plan.acc = addRest(acc, maps[2]);
  return plan;
}

/// Passes, and something for every instruction and its factors.
static int64_t getCost(const MatrixInstruction &inst, const FactorTypes &types, int64_t tilesM, int64_t tilesN,
                       int64_t k, const ChipInfo &chip) {
  return tilesM * tilesN * llvm::divideCeil(k, inst.k) * (getPasses(inst, chip.arch, *types.rhs, *types.lhs) * 4 + 1) +
         (tilesM * inst.n + tilesN * inst.m) * llvm::divideCeil(k, inst.k) * inst.k / 256;
}

static SmallVector<const MatrixInstruction *> getInstructions(vector::ContractionOp op, const ChipInfo &chip) {
  SmallVector<const MatrixInstruction *> result;
  for (const MatrixInstruction &inst : getMatrixInstructions()) {
    FactorTypes types = getFactorTypes(op, chip, &inst);
    if (types.isKnown() && types.areTakenBy(inst, chip))
      result.push_back(&inst);
  }
  return result;
}

bool tile::isXF32(Value tile) {
  constexpr uint64_t low = (1u << 13) - 1;
  // What only moves elements.
  auto skip = [](Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<vector::BroadcastOp, vector::ShapeCastOp, vector::TransposeOp, atx::ConvertLayoutOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  };
  Value value = skip(tile);
  // At most eleven bits of a number are in these, in any place.
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    return getElementTypeOrSelf(extend.getIn().getType()).getIntOrFloatBitWidth() <= 16;
  auto cast = value.getDefiningOp<arith::BitcastOp>();
  if (!cast)
    return false;
  auto mask = skip(cast.getIn()).getDefiningOp<arith::AndIOp>();
  if (!mask)
    return false;
  for (Value operand : mask->getOperands()) {
    APInt bits;
    if (matchPattern(skip(operand), m_ConstantInt(&bits)) && (bits.getZExtValue() & low) == 0)
      return true;
  }
  return false;
}

/// Leaves the instructions that the factors and the product's demand allow; an error where nothing meets it.
static LogicalResult selectF32(vector::ContractionOp op, const ChipInfo &chip,
                               SmallVectorImpl<const MatrixInstruction *> &instructions) {
  F32Products wanted = F32Products::Auto;
  if (Attribute attr = op->getAttr(f32AttrName)) {
    auto text = dyn_cast<StringAttr>(attr);
    if (!text || (text != "f32" && text != "xf32"))
      return op.emitError() << "'" << f32AttrName << "' is " << attr << "; it is \"f32\" or \"xf32\"";
    wanted = text == "f32" ? F32Products::F32 : F32Products::XF32;
  }
  auto isX = [](const MatrixInstruction *inst) { return inst->a == MatrixType::XF32; };
  FactorTypes types = getFactorTypes(op, chip);
  bool isF32 = types.lhs == MatrixType::F32 && types.rhs == MatrixType::F32 && types.acc == MatrixType::F32;
  bool fits = isXF32(op.getLhs()) && isXF32(op.getRhs());
  if (!isF32 || wanted == F32Products::F32 || (wanted == F32Products::Auto && !fits)) {
    llvm::erase_if(instructions, isX);
    return success();
  }
  if (wanted == F32Products::Auto)
    return success();
  if (llvm::none_of(instructions, isX)) {
    InFlightDiagnostic diag = op.emitError() << "'f32=xf32': " << chip.arch << " has no xf32 matrix instruction";
    SmallVector<StringRef> others;
    for (const ChipInfo &other : getChips())
      if (other.isAMDGPU() &&
          llvm::any_of(getMatrixInstructions(),
                       [&](const MatrixInstruction &inst) { return isX(&inst) && inst.isAvailable(other.arch); }) &&
          !llvm::is_contained(others, other.arch))
        others.push_back(other.arch);
    diag << "; " << llvm::join(others, ", ") << " has";
    if (!instructions.empty())
      diag << ", the nearest here is '" << instructions.front()->mnemonic << "'";
    return diag;
  }
  if (!fits)
    return op.emitError() << "'f32=xf32': the low 13 bits of the " << (isXF32(op.getLhs()) ? "right" : "left")
                          << " factor are not known to be zero; multiply 'bitcast(f32, bitcast(i32, x) & -8192)'";
  llvm::erase_if(instructions, [&](const MatrixInstruction *inst) { return !isX(inst); });
  return success();
}

bool tile::isLoadedDirectly(const TileLayout &factor, const AccessPattern &pattern, bool always) {
  int64_t along = factor.getRunLength(pattern.contiguousDim);
  int64_t bytes = std::min(pattern.vector, along & -along) * pattern.bytes;
  return pattern.unit == 1 && factor.getNumRegisters() <= maxRegistersPerTile &&
         (always ? bytes >= 4 : isOwnFactor(factor) && bytes >= minDirectBytes);
}

static std::optional<TileLayout> findHeld(Value value, const ContractPlans &plans, unsigned depth) {
  if (depth > 50)
    return std::nullopt;
  // A sum that a loop carries is, at first, the one that goes in.
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg.getArgNumber() > 0 ? findHeld(loop.getInitArgs()[arg.getArgNumber() - 1], plans, depth + 1)
                                          : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return findHeld(loop.getInitArgs()[cast<OpResult>(value).getResultNumber()], plans, depth + 1);
  if (isa<vector::ContractionOp>(op)) {
    auto plan = plans.find(op);
    return plan != plans.end() ? std::optional(plan->second.acc) : std::nullopt;
  }
  if (isElementwise(op))
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()))
        if (std::optional<TileLayout> layout = findHeld(operand, plans, depth + 1))
          return layout;
  return std::nullopt;
}

std::optional<TileLayout> tile::findHeldLayout(Value value, const ContractPlans &plans) {
  return findHeld(value, plans, 0);
}

vector::ContractionOp tile::findNextProduct(vector::ContractionOp op) {
  SmallVector<Value> work = {op.getResult()};
  llvm::SmallPtrSet<void *, 16> seen;
  auto follow = [&](Value value) {
    if (seen.insert(value.getAsOpaquePointer()).second)
      work.push_back(value);
  };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto next = dyn_cast<vector::ContractionOp>(user)) {
        if (use.getOperandNumber() == 0 && isa<VectorType>(next.getResult().getType()))
          return next;
      } else if (isElementwise(user)) {
        follow(user->getResult(0));
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        // The sum of one iteration may be multiplied in the next.
        follow(loop.getRegionIterArg(use.getOperandNumber() - loop.getNumControlOperands()));
      } else if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()); loop && isa<scf::YieldOp>(user)) {
        follow(loop.getRegionIterArg(use.getOperandNumber()));
        follow(loop.getResult(use.getOperandNumber()));
      }
    }
  }
  return {};
}

FailureOr<ContractChoice> tile::chooseContract(vector::ContractionOp op, int64_t threads, const ChipInfo &chip,
                                               const ContractOptions &options, const std::optional<TileLayout> &lhsHeld,
                                               vector::ContractionOp next) {
  FailureOr<ContractPlan> analyzed = analyzeContract(op, threads);
  if (failed(analyzed))
    return failure();
  ContractChoice best;
  if (analyzed->m.empty() || analyzed->n.empty() || analyzed->k.empty())
    return best;
  SmallVector<int64_t> extents = *op.getShapeForUnroll();
  int64_t m = extents[analyzed->mDim], n = extents[analyzed->nDim], k = extents[analyzed->kDim];
  int64_t waves = threads / 64;
  int64_t bytes = std::max<int64_t>(1, op.getLhsType().getElementTypeBitWidth() / 8);
  int64_t bestCost = INT64_MAX;
  SmallVector<const MatrixInstruction *> instructions = getInstructions(op, chip);
  if (failed(selectF32(op, chip, instructions)))
    return failure();
  bool hasRows = llvm::any_of(instructions, [&](auto *inst) { return inst->m == options.rows; });
  for (const MatrixInstruction *inst : instructions) {
    if (hasRows && inst->m != options.rows)
      continue;
    int64_t tilesM = llvm::divideCeil(m, inst->n), tilesN = llvm::divideCeil(n, inst->m);
    WaveSplit even = splitWaves(waves, tilesM, tilesN);
    SmallVector<std::pair<int64_t, int64_t>> splits = {{even.m, even.n}};
    // What one product hands to the next stays in its wave when no other holds columns of the same row.
    if ((next || lhsHeld) && tilesM >= waves)
      splits.push_back({waves, 1});
    if (options.wavesM > 0 && options.wavesM <= waves && llvm::isPowerOf2_64(options.wavesM)) {
      int64_t columns = 1;
      while (options.wavesM * columns * 2 <= waves && columns < tilesN)
        columns *= 2;
      splits = {{options.wavesM, columns}};
    }
    for (auto [wavesM, wavesN] : splits) {
      int64_t ownM = llvm::divideCeil(tilesM, wavesM), ownN = llvm::divideCeil(tilesN, wavesN);
      int64_t cost = getCost(*inst, getFactorTypes(op, chip, inst), ownM, ownN, k, chip);
      // Beside products that follow one another the vector unit has work, which waits while it issues a matrix
      // instruction.
      auto getIssue = [&](const MatrixInstruction &inst, int64_t tilesM, int64_t tilesN, int64_t k) {
        return 4 * tilesM * tilesN * llvm::divideCeil(k, inst.k);
      };
      if (next || lhsHeld)
        cost += getIssue(*inst, ownM, ownN, k);
      if (next) {
        // The next product has its rows in the same lanes, or its factor is moved.
        FailureOr<ContractPlan> follower = analyzeContract(next, threads);
        if (failed(follower))
          return failure();
        if (!follower->m.empty() && !follower->n.empty() && !follower->k.empty()) {
          SmallVector<int64_t> nextExtents = *next.getShapeForUnroll();
          int64_t least = INT64_MAX;
          SmallVector<const MatrixInstruction *> nextInstructions = getInstructions(next, chip);
          if (failed(selectF32(next, chip, nextInstructions)))
            return failure();
          for (const MatrixInstruction *nextInst : nextInstructions) {
            int64_t moved = nextInst->n != inst->n || wavesN != 1;
            int64_t nextM = llvm::divideCeil(llvm::divideCeil(nextExtents[follower->mDim], nextInst->n), wavesM);
            int64_t nextN = llvm::divideCeil(nextExtents[follower->nDim], nextInst->m);
            int64_t own = getCost(*nextInst, getFactorTypes(next, chip, nextInst), nextM, nextN,
                                  nextExtents[follower->kDim], chip) +
                          getIssue(*nextInst, nextM, nextN, nextExtents[follower->kDim]);
            least = std::min(least, moved ? own + own / 2 : own);
          }
          if (least != INT64_MAX)
            cost += least;
        }
      }
      // Lanes read 16 bytes of k at once where they can.
      int64_t own = getLaneK(*inst), wide = own;
      while (wide * bytes < 16 && isPossibleRun(*inst, wide * 2, k))
        wide *= 2;
      SmallVector<int64_t> runs = {wide};
      if (lhsHeld)
        for (int64_t run = 1; run < 16; run *= 2)
          if (run != wide && isPossibleRun(*inst, run, k))
            runs.push_back(run);
      for (int64_t run : runs) {
        ContractChoice choice{inst, wavesM, wavesN, run};
        int64_t total = cost;
        if (lhsHeld) {
          FailureOr<ContractPlan> plan = planContract(op, threads, chip, choice);
          if (failed(plan))
            return failure();
          bool isLocal = lhsHeld->getRank() == plan->lhs.getRank() &&
                         findLocalConversion(*lhsHeld, plan->lhs, op.getLhsType().getShape()).has_value();
          total = (isLocal ? cost : cost + cost / 2) * 64 + (wide - run);
        } else {
          total *= 64;
        }
        if (total < bestCost) {
          bestCost = total;
          best = choice;
        }
      }
    }
  }
  if (!best.instruction)
    return best;
  FailureOr<ContractPlan> plan = planContract(op, threads, chip, best);
  if (failed(plan))
    return failure();
  if (plan->lhs.getNumRegisters() > maxRegistersPerTile || plan->rhs.getNumRegisters() > maxRegistersPerTile)
    best.instruction = nullptr;
  return best;
}

static constexpr llvm::StringLiteral contractAttrName = "atx.contract";

void tile::setContractChoice(vector::ContractionOp op, const ContractChoice &choice) {
  Builder b(op.getContext());
  SmallVector<NamedAttribute> fields;
  fields.push_back(b.getNamedAttr(
      "instruction", b.getStringAttr(choice.instruction ? StringRef(choice.instruction->mnemonic) : StringRef("fma"))));
  if (choice.instruction) {
    fields.push_back(b.getNamedAttr("run", b.getI64IntegerAttr(choice.run)));
    fields.push_back(b.getNamedAttr("waves", b.getDenseI64ArrayAttr({choice.wavesM, choice.wavesN})));
  }
  op->setAttr(contractAttrName, b.getDictionaryAttr(fields));
}

FailureOr<ContractChoice> tile::getContractChoice(vector::ContractionOp op, int64_t threads, const ChipInfo &chip) {
  Attribute attr = op->getAttr(contractAttrName);
  if (!attr)
    return chooseContract(op, threads, chip);
  auto fields = dyn_cast<DictionaryAttr>(attr);
  auto name = fields ? fields.getAs<StringAttr>("instruction") : StringAttr();
  if (!name)
    return op.emitError() << "'" << contractAttrName << "' needs an 'instruction'", failure();
  ContractChoice choice;
  if (name == "fma")
    return choice;
  auto run = fields.getAs<IntegerAttr>("run");
  auto waves = fields.getAs<DenseI64ArrayAttr>("waves");
  for (const MatrixInstruction *inst : getInstructions(op, chip))
    if (name == inst->mnemonic)
      choice.instruction = inst;
  if (!choice.instruction)
    return op.emitError() << "'" << name.getValue() << "' does not compute this product on " << chip.arch, failure();
  FailureOr<ContractPlan> analyzed = analyzeContract(op, threads);
  if (failed(analyzed))
    return failure();
  if (analyzed->m.empty() || analyzed->n.empty() || analyzed->k.empty())
    return op.emitError() << "'" << name.getValue() << "' needs rows, columns and a summed dimension", failure();
  int64_t k = (*op.getShapeForUnroll())[analyzed->kDim];
  if (!waves || waves.size() != 2 || waves[0] < 1 || waves[1] < 1 || !llvm::isPowerOf2_64(waves[0]) ||
      !llvm::isPowerOf2_64(waves[1]) || waves[0] > threads / 64 || waves[1] > threads / 64 ||
      waves[0] * waves[1] * 64 > threads)
    return op.emitError() << "'waves' of '" << contractAttrName << "' are two powers of two whose product is at most "
                          << threads / 64,
           failure();
  if (!run || run.getInt() < 1 || run.getInt() > 64 || !llvm::isPowerOf2_64(run.getInt()) ||
      !isPossibleRun(*choice.instruction, run.getInt(), k))
    return op.emitError() << "'run' of '" << contractAttrName << "' is not possible for '" << name.getValue()
                          << "' and " << k << " summed elements",
           failure();
  choice.run = run.getInt();
  choice.wavesM = waves[0];
  choice.wavesN = waves[1];
  return choice;
}

/// Zero beyond the extents of the summed dimensions.
static Value maskSummed(TileEmitter &e, const TileValue &tile, AffineMap map, ArrayRef<unsigned> summed) {
  TileValue bounded = tile;
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (!llvm::is_contained(summed, cast<AffineDimExpr>(result).getPosition()))
      bounded.shape[i] = tile.layout.getPaddedExtent(i);
  bool padded = false;
  for (unsigned dim = 0; dim < tile.layout.getRank(); ++dim)
    padded |= tile.layout.getPaddedExtent(dim) > bounded.shape[dim];
  return padded ? e.maskDead(bounded, e.zero(tile.getElementType())) : tile.vector;
}

static LogicalResult lowerMatrix(TileEmitter &e, vector::ContractionOp op, const ContractPlan &plan) {
  OpBuilder &b = e.b;
  const MatrixInstruction &inst = *plan.instruction;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  TileValue operands[3] = {e.getTile(op.getLhs()), e.getTile(op.getRhs()), e.getTile(op.getAcc())};
  const TileLayout *wanted[3] = {&plan.lhs, &plan.rhs, &plan.acc};
  Type wide[3] = {plan.lhsWide, plan.rhsWide, Type()};
  for (unsigned i = 0; i < 3; ++i) {
    // Where a lane has fewer elements.
    if (wide[i] && operands[i].layout.getNumRegisters() < wanted[i]->getNumRegisters()) {
      operands[i].vector = widenFloat(e, operands[i].vector, wide[i]);
      wide[i] = Type();
    }
    FailureOr<Value> value = e.convertLayout(operands[i], *wanted[i], op);
    if (failed(value))
      return failure();
    operands[i].vector = *value;
    operands[i].layout = *wanted[i];
    if (wide[i])
      operands[i].vector = widenFloat(e, operands[i].vector, wide[i]);
  }
  Type elements[2] = {operands[0].getElementType(), operands[1].getElementType()};
  for (unsigned i = 0; i < 2; ++i)
    operands[i].vector = maskSummed(e, operands[i], maps[i], plan.k);

  // The registers of one instruction lie together; a group is found by the
  // coordinates of its first.
  int64_t sizes[3] = {int64_t(inst.k) * inst.n / 64, int64_t(inst.k) * inst.m / 64, int64_t(inst.m) * inst.n / 64};
  unsigned rank = op.getIteratorTypes().size();
  auto getCoordinates = [&](unsigned operand, int64_t group) {
    SmallVector<int64_t> coordinates(rank, -1);
    for (auto [i, result] : llvm::enumerate(maps[operand].getResults()))
      coordinates[cast<AffineDimExpr>(result).getPosition()] =
          operands[operand].layout.getRegisterCoordinate(i, group * sizes[operand]);
    return coordinates;
  };
  auto only = [&](SmallVector<int64_t> coordinates, unsigned operand) {
    SmallVector<int64_t> result;
    for (AffineExpr expr : maps[operand].getResults())
      result.push_back(coordinates[cast<AffineDimExpr>(expr).getPosition()]);
    return std::vector<int64_t>(result.begin(), result.end());
  };
  std::map<std::vector<int64_t>, Value> pieces[2];
  std::vector<std::vector<int64_t>> steps;
  std::map<std::vector<int64_t>, bool> seen;
  for (unsigned operand = 0; operand < 2; ++operand)
    for (int64_t group = 0; group < operands[operand].layout.getNumRegisters() / sizes[operand]; ++group) {
      SmallVector<int64_t> coordinates = getCoordinates(operand, group);
      SmallVector<int64_t> regs =
          llvm::to_vector(llvm::seq<int64_t>(group * sizes[operand], (group + 1) * sizes[operand]));
      Value piece = e.select(operands[operand].vector, regs);
      if (isPackedType(elements[operand]))
        piece = e.pack(packElements(e, piece, 32));
      pieces[operand][only(coordinates, operand)] = piece;
      if (operand == 0) {
        std::vector<int64_t> step;
        for (unsigned dim : plan.k)
          step.push_back(coordinates[dim]);
        if (!seen[step]) {
          seen[step] = true;
          steps.push_back(step);
        }
      }
    }
  MLIRContext *context = b.getContext();
  if (inst.a == MatrixType::XF32)
    elements[0] = elements[1] = FloatTF32Type::get(context);
  auto atom = atx_amdgpu::MfmaAttr::get(context, inst.m, inst.n, inst.k, elements[1], elements[0],
                                        cast<VectorType>(op.getAccType()).getElementType(), 1, 0, 0, 0);
  int64_t groups = operands[2].layout.getNumRegisters() / sizes[2];
  SmallVector<Value> sums;
  for (int64_t group = 0; group < groups; ++group) {
    SmallVector<int64_t> regs = llvm::to_vector(llvm::seq<int64_t>(group * sizes[2], (group + 1) * sizes[2]));
    sums.push_back(e.select(operands[2].vector, regs));
  }
  for (const std::vector<int64_t> &step : steps)
    for (int64_t group = 0; group < groups; ++group) {
      SmallVector<int64_t> coordinates = getCoordinates(2, group);
      for (auto [dim, at] : llvm::zip_equal(plan.k, step))
        coordinates[dim] = at;
      Value lhs = pieces[0].at(only(coordinates, 0)), rhs = pieces[1].at(only(coordinates, 1));
      Value sum = atom.emitMma(b, e.loc, rhs, lhs, sums[group], {});
      if (!sum)
        return failure();
      sums[group] = sum;
    }
  FailureOr<Value> result = e.convertLayout({e.concat(sums), plan.acc, TileEmitter::getShape(op.getResult())},
                                            e.getLayout(op.getResult()), op);
  if (failed(result))
    return failure();
  e.setTile(op.getResult(), *result);
  return success();
}

/// Factors in shared memory, a loop over what is summed.
static LogicalResult lowerMultiplyAdd(TileEmitter &e, vector::ContractionOp op, const ContractPlan &plan) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents = *op.getShapeForUnroll();
  Type accElement = cast<VectorType>(op.getAccType()).getElementType();
  bool isFloat = isa<FloatType>(accElement);
  LDSArray arrays[2];
  Type elements[2];
  TileValue factors[2] = {e.getTile(op.getLhs()), e.getTile(op.getRhs())};
  TileEmitter::ScratchHold hold(e);
  for (unsigned i = 0; i < 2; ++i) {
    // Narrow floats are widened once.
    Type element = factors[i].getElementType();
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8) {
      factors[i].vector = widenFloat(e, factors[i].vector, b.getF32Type());
      element = b.getF32Type();
    }
    elements[i] = element;
    FailureOr<LDSArray> array = e.acquireArray(factors[i].shape, element, unsigned(factors[i].shape.size()) - 1, op);
    if (failed(array))
      return failure();
    arrays[i] = *array;
  }
  for (unsigned i = 0; i < 2; ++i)
    e.writeArray(arrays[i], factors[i]);
  e.ldsBarrier(2);

  TileValue acc = e.getTile(op.getAcc());
  const TileLayout &layout = acc.layout;
  int64_t count = layout.getNumRegisters();
  auto widen = [&](Value value) -> Value {
    if (value.getType() == accElement)
      return value;
    if (isFloat)
      return value.getType().getIntOrFloatBitWidth() < accElement.getIntOrFloatBitWidth()
                 ? Value(arith::ExtFOp::create(b, loc, accElement, value))
                 : Value(arith::TruncFOp::create(b, loc, accElement, value));
    return arith::ExtSIOp::create(b, loc, accElement, value);
  };
  // Offsets that do not depend on the summed dimensions.
  SmallVector<SmallVector<Value>> bases(2);
  SmallVector<SmallVector<int64_t>> slots(2);
  for (unsigned i = 0; i < 2; ++i) {
    std::map<std::vector<int64_t>, int64_t> known;
    for (int64_t reg = 0; reg < count; ++reg) {
      std::vector<int64_t> key;
      Value offset = e.i32(0);
      for (auto [at, expr] : llvm::enumerate(maps[i].getResults())) {
        int64_t position = positionIn(maps[2], cast<AffineDimExpr>(expr).getPosition());
        if (position >= 0)
          key.push_back(layout.getRegisterCoordinate(position, reg));
      }
      auto [it, isNew] = known.try_emplace(key, bases[i].size());
      slots[i].push_back(it->second);
      if (!isNew)
        continue;
      for (auto [at, expr] : llvm::enumerate(maps[i].getResults())) {
        unsigned dim = cast<AffineDimExpr>(expr).getPosition();
        int64_t position = positionIn(maps[2], dim);
        if (position < 0)
          continue;
        Value coordinate = e.getCoordinate(layout, position, reg);
        if (layout.getPaddedExtent(position) > extents[dim])
          coordinate = arith::MinSIOp::create(b, loc, coordinate, e.i32(extents[dim] - 1));
        offset = arith::AddIOp::create(
            b, loc, offset,
            arith::MulIOp::create(b, loc, coordinate, e.i32(arrays[i].strides[at] * arrays[i].bytes)).getResult());
      }
      bases[i].push_back(offset);
    }
  }
  // One loop for each summed dimension.
  Value sum = acc.vector;
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> counters(extents.size());
  OpBuilder::InsertionGuard guard(b);
  for (unsigned dim : plan.k) {
    auto loop = scf::ForOp::create(b, loc, e.i32(0), e.i32(extents[dim]), e.i32(1), ValueRange{sum});
    sum = loop.getRegionIterArg(0);
    counters[dim] = loop.getInductionVar();
    loops.push_back(loop);
    b.setInsertionPointToEnd(loop.getBody());
  }
  SmallVector<SmallVector<Value>> loaded(2);
  for (unsigned i = 0; i < 2; ++i) {
    Value shift;
    for (auto [at, expr] : llvm::enumerate(maps[i].getResults()))
      if (Value counter = counters[cast<AffineDimExpr>(expr).getPosition()]) {
        Value term = arith::MulIOp::create(b, loc, counter, e.i32(arrays[i].strides[at] * arrays[i].bytes));
        shift = shift ? Value(arith::AddIOp::create(b, loc, shift, term)) : term;
      }
    for (Value base : bases[i]) {
      Value offset = shift ? Value(arith::AddIOp::create(b, loc, base, shift)) : base;
      Value word = e.loadLDS(arrays[i].storage, 1, e.getLDS(arrays[i].offset, offset), arrays[i].bytes);
      loaded[i].push_back(widen(e.extract(e.fromStorage(word, elements[i]), 0)));
    }
  }
  bool fused = accElement.isF32() || accElement.isF64();
  SmallVector<Value> sums;
  for (int64_t reg = 0; reg < count; ++reg) {
    Value x = loaded[0][slots[0][reg]], y = loaded[1][slots[1][reg]], z = e.extract(sum, reg);
    if (fused)
      sums.push_back(math::FmaOp::create(b, loc, x, y, z));
    else if (isFloat)
      sums.push_back(arith::AddFOp::create(b, loc, z, arith::MulFOp::create(b, loc, x, y).getResult()));
    else
      sums.push_back(arith::AddIOp::create(b, loc, z, arith::MulIOp::create(b, loc, x, y).getResult()));
  }
  Value next = e.pack(sums);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    scf::YieldOp::create(b, loc, next);
    next = loop.getResult(0);
    b.setInsertionPointAfter(loop);
  }
  FailureOr<Value> result = e.convertLayout({next, layout, acc.shape}, e.getLayout(op.getResult()), op);
  if (failed(result))
    return failure();
  e.setTile(op.getResult(), *result);
  return success();
}

LogicalResult tile::lowerContract(TileEmitter &e, Operation *op) {
  auto contract = cast<vector::ContractionOp>(op);
  if (isa_and_present<vector::MaskOp>(op->getParentOp()))
    return op->emitError() << "a masked product cannot be distributed";
  int64_t threads = e.kernel->getAttrOfType<IntegerAttr>(atx::threadsAttrName).getInt();
  FailureOr<ContractChoice> choice = getContractChoice(contract, threads, e.chip);
  if (failed(choice))
    return failure();
  FailureOr<ContractPlan> plan = planContract(contract, threads, e.chip, *choice);
  if (failed(plan))
    return failure();
  // The insertion point moves with loops.
  LogicalResult result = plan->instruction ? lowerMatrix(e, contract, *plan) : lowerMultiplyAdd(e, contract, *plan);
  return result;
}
