//===- LossRemarks.cpp - What a kernel on tiles loses ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Said here is what follows from the program's text and its layouts; what only the
// machine code shows is said by lib/Analysis/Remarks.cpp.
//
//===----------------------------------------------------------------------===//

#include "LossRemarks.h"
#include "ContractPlan.h"
#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

bool tile::wantsLossRemarks(Operation *op) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  return op->hasAttr(remarksAttrName);
}

namespace {

/// Bytes of the widest access of a lane.
constexpr int64_t widest = 16;

class LossFinder {
public:
  LossFinder(gpu::GPUFuncOp kernel, int64_t threads, const ChipInfo &chip)
      : kernel(kernel), threads(threads), chip(chip) {}

  void run();

private:
  void checkAccess(Operation *op, Value memory, ValueRange indices, Value mask, VectorType type);
  std::string explain(Value memory, ValueRange indices, Value mask, VectorType type, int64_t vector);
  void checkProduct(vector::ContractionOp op);
  void checkWhile(scf::WhileOp loop);

  gpu::GPUFuncOp kernel;
  int64_t threads;
  const ChipInfo &chip;
  IndexAnalysis analysis;
};

} // namespace

/// Why an access takes no more than `vector` neighbours at a time, and the mend.
std::string LossFinder::explain(Value memoryValue, ValueRange indices, Value mask, VectorType type, int64_t vector) {
  auto memory = cast<MemRefType>(memoryValue.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<unsigned> unit;
  if (succeeded(memory.getStridesAndOffset(strides, offset)))
    for (unsigned i = 0; i < indices.size(); ++i)
      if (strides[i] == 1 && memory.getDimSize(i) != 1)
        unit = i;
  if (!unit)
    return "no dimension of the tensor has neighbours in memory; give the last one the stride 1";
  const AxisInfo &last = analysis.getInfo(indices[*unit]);
  int64_t contiguity = 1, divisibility = 1;
  unsigned along = 0;
  for (unsigned dim = 0; dim < last.contiguity.size(); ++dim)
    if (int64_t run = std::min(last.contiguity[dim], type.getDimSize(dim)); run > contiguity) {
      contiguity = run;
      divisibility = last.divisibility[dim];
      along = dim;
    }
  std::string index = "index " + std::to_string(*unit);
  if (contiguity == 1)
    return index + " does not count along neighbouring elements; read a contiguous range and pick from it, or let the "
                   "tensor's last dimension be the one that is counted";
  if (contiguity <= vector)
    return index + " has runs of " + std::to_string(contiguity) + " neighbours only; make its tile longer";
  if (std::gcd(divisibility, int64_t(4096)) <= vector)
    return index + " is not known to begin at a multiple of more than " +
           std::to_string(std::gcd(divisibility, int64_t(4096))) + "; begin at multiples of the tile";
  if (mask && analyzeAccess(analysis, memoryValue, indices, Value(), type.getShape()).vector > vector)
    return "its mask may differ between neighbours; mask whole rows, or runs of neighbours";
  for (unsigned i = 0; i < indices.size(); ++i) {
    if (i == *unit)
      continue;
    const AxisInfo &info = analysis.getInfo(indices[i]);
    if (along < info.constancy.size() && info.constancy[along] <= vector)
      return "index " + std::to_string(i) +
             " changes between the neighbours; let it depend on other dimensions of the "
             "tile";
  }
  int64_t extent = memory.getDimSize(*unit);
  std::optional<Bounds> range = analysis.getRange(indices[*unit]);
  bool isInside = range && !ShapedType::isDynamic(extent) && range->min >= 0 && range->max < extent;
  std::string name = "dimension " + std::to_string(*unit) + " of the tensor";
  if (ShapedType::isDynamic(extent))
    return "the extent of " + name +
           " is not known to be a multiple of more; state it ('where N % 8 == 0') or fix it "
           "with --dim";
  if (!isInside && (extent & -extent) <= vector)
    return "the extent " + std::to_string(extent) + " of " + name +
           " is no multiple of more, so that single elements may be outside; pad the tensor";
  return "rows of the tensor are not known to be aligned to more; pad them to a multiple of " + std::to_string(widest) +
         " bytes, or state it ('where N % 8 == 0')";
}

void LossFinder::checkAccess(Operation *op, Value memory, ValueRange indices, Value mask, VectorType type) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(cast<MemRefType>(memory.getType()).getMemorySpace());
  if (!type || type.getRank() == 0 || (space && space.getValue() == gpu::AddressSpace::Workgroup) ||
      isPackedType(type.getElementType()))
    return;
  AccessPattern pattern = analyzeAccess(analysis, memory, indices, mask, type.getShape(), getInside(op));
  // What a work-item has to fetch of the tile at all, and what a row has.
  int64_t own = llvm::divideCeil(type.getNumElements(), threads),
          row = *std::max_element(type.getShape().begin(), type.getShape().end());
  int64_t possible = std::min<int64_t>({widest / pattern.bytes, int64_t(llvm::bit_floor(uint64_t(own))), row & -row});
  if (pattern.vector >= possible)
    return;
  op->emitRemark() << "a tile of type " << type << " is " << (isa<atx::TileStoreOp>(op) ? "written" : "read") << " by "
                   << pattern.vector * pattern.bytes << " bytes at a time where " << possible * pattern.bytes
                   << " are possible: " << explain(memory, indices, mask, type, pattern.vector) << " [vectorization]";
}

void LossFinder::checkProduct(vector::ContractionOp op) {
  FailureOr<ContractChoice> choice = getContractChoice(op, threads, chip);
  if (failed(choice))
    return;
  FailureOr<ContractPlan> plan = planContract(op, threads, chip, *choice);
  if (failed(plan))
    return;
  if (!plan->instruction) {
    op.emitRemark() << "a product of " << op.getLhsType() << " and " << op.getRhsType() << " with sums of "
                    << getElementTypeOrSelf(op.getAccType()) << " takes no matrix instruction of " << chip.arch
                    << ": work-items multiply one by one, with both factors in shared memory; sum in f32 (i32 for i8), "
                       "of factors in bf16, f16 or 8-bit floats [scalar-product]";
    return;
  }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents = *op.getShapeForUnroll();
  double work = 1;
  std::string from, to;
  auto look = [&](AffineMap map, const TileLayout &layout, unsigned dim) {
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto expr = dyn_cast<AffineDimExpr>(result); expr && expr.getPosition() == dim) {
        int64_t padded = layout.getPaddedExtent(i);
        work *= double(extents[dim]) / padded;
        from += (from.empty() ? "" : " x ") + std::to_string(extents[dim]);
        to += (to.empty() ? "" : " x ") + std::to_string(padded);
      }
  };
  look(maps[2], plan->acc, plan->mDim);
  look(maps[2], plan->acc, plan->nDim);
  look(maps[0], plan->lhs, plan->kDim);
  if (work < 1)
    op.emitRemark() << "a product of " << from << " is computed as " << to << ", since '" << plan->instruction->mnemonic
                    << "' and the waves take no less: " << int64_t((1 - work) * 100 + 0.5)
                    << " % of the matrix unit's work is lost; use extents that are multiples, or fewer waves along the "
                       "shorter one [padding]";
  if (uint64_t replicas = plan->acc.getReplicaBits())
    op.emitRemark() << "a product of " << from << " is computed " << (int64_t(1) << llvm::popcount(replicas))
                    << " times over, since it is too small for " << threads
                    << " work-items; use fewer of them or a "
                       "larger tile [repeated]";
}

void LossFinder::checkWhile(scf::WhileOp loop) {
  bool loads = false;
  loop->walk([&](Operation *op) {
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      loads |= isa<VectorType>(load->getResult(0).getType());
  });
  if (loads)
    loop.emitRemark() << "nothing is loaded ahead in a 'while' loop, since the number of its trips is not known; use "
                         "'for' where it is [unpipelined]";
}

void LossFinder::run() {
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<atx::TileLoadOp>(op))
      checkAccess(op, load.getMemory(), load.getIndices(), Value(), dyn_cast<VectorType>(load->getResult(0).getType()));
    else if (auto store = dyn_cast<atx::TileStoreOp>(op))
      checkAccess(op, store.getMemory(), store.getIndices(), store.getMask(),
                  dyn_cast<VectorType>(store.getValue().getType()));
    else if (auto contract = dyn_cast<vector::ContractionOp>(op))
      checkProduct(contract);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      checkWhile(loop);
  });
}

void tile::reportLosses(gpu::GPUFuncOp kernel, int64_t threads, const ChipInfo &chip) {
  LossFinder(kernel, threads, chip).run();
}
