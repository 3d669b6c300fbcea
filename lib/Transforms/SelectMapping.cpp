//===- SelectMapping.cpp - Map rows to workgroups and lanes -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowAnalysis.h"
#include "atrex/Target/TargetChip.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace atrex {
#define GEN_PASS_DEF_SELECTMAPPINGPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

/// Registers of a lane that a tile may occupy in a workgroup of `threads`: what
/// is left of the SIMD's file once all waves of the workgroup have their share,
/// less what addresses and temporaries need.
int64_t getMaxLiveRegisters(const ChipInfo &chip, int64_t threads) {
  constexpr int64_t reserved = 24, addressable = 256;
  int64_t wavesPerSIMD = llvm::divideCeil(llvm::divideCeil(threads, chip.waveSize), chip.simdsPerCU);
  return std::min<int64_t>(addressable, chip.vgprsPerSIMD / wavesPerSIMD) - reserved;
}

/// What the estimate needs to know about an operator.
struct RowShape {
  /// Elements of a row (last dimension of the results).
  int64_t columns;
  /// Elements between dimension 0 and the last one.
  int64_t middle;
  /// Input elements per element of the result.
  double inputs;
  /// Widest element of a tensor that is accessed by row, bits.
  unsigned elementBits;
  /// Tensors indexed by column only, reused by all rows a lane holds.
  unsigned columnTensors;
  /// Rows are reduced: their lanes have to talk to each other.
  bool reducesRows;
};

struct Candidate {
  int64_t vector, threadsPerRow, runs, rowsPerThread, threads;
  double cost;
};

class SelectMapping : public atrex::impl::SelectMappingPassBase<SelectMapping> {
public:
  using SelectMappingPassBase::SelectMappingPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr(atx::operatorAttrName) || func->hasAttr(atx::mappingAttrName))
      return;
    if (failed(select(func)))
      signalPassFailure();
  }

private:
  LogicalResult checkOptions(func::FuncOp func, const ChipInfo *chip);
  LogicalResult select(func::FuncOp func);
  double estimate(const RowShape &row, const Candidate &c, unsigned waveSize) const;
};

} // namespace

LogicalResult SelectMapping::checkOptions(func::FuncOp func, const ChipInfo *chip) {
  if (!chip || !chip->isAMDGPU())
    return func.emitError() << describeUnknownTarget(arch);
  auto powerOfTwo = [&](StringRef name, int64_t value, int64_t low, int64_t high) -> LogicalResult {
    if (value != 0 && (value < low || value > high || !llvm::isPowerOf2_64(value)))
      return func.emitError() << "option '" << name << "' is " << value << "; it must be a power of two from " << low
                              << " to " << high << ", or 0";
    return success();
  };
  int64_t most = chip->maxWorkgroupSize;
  if (failed(powerOfTwo("threads", threads, chip->waveSize, most)) ||
      failed(powerOfTwo("threads-per-row", threadsPerRow, 1, threads ? threads : most)))
    return failure();
  if (!llvm::is_contained({16, 32, 64, 128}, vectorBits))
    return func.emitError() << "option 'vector-bits' is " << int64_t(vectorBits) << "; it must be 16, 32, 64 or 128";
  if (rowsPerThread < 0 || rowsPerThread > 16)
    return func.emitError() << "option 'rows-per-thread' is " << int64_t(rowsPerThread)
                            << "; it must be from 1 to 16, or 0";
  return success();
}

/// 32-bit registers a lane needs for the tile.
static double getLiveRegisters(const RowShape &row, const Candidate &c) {
  double held = double(c.runs) * double(c.vector) * double(row.middle);
  // Column tensors stay unpacked in registers while a workgroup goes from tile
  // to tile.
  return held * c.rowsPerThread * (1 + row.inputs * row.elementBits / 32) + held * row.columnTensors;
}

/// Vector-ALU cycles per element, relative to the best case of 1.
double SelectMapping::estimate(const RowShape &row, const Candidate &c, unsigned waveSize) const {
  // A streaming row operator spends about this many instructions on an element
  // (unpack, arithmetic, rounding, packing).
  constexpr double perElement = 5;
  double held = double(c.runs * c.vector);
  // Lanes that work on padding.
  double cost = held * c.threadsPerRow / row.columns;
  // Steps of the reduction and of the row's own arithmetic, per row and lane.
  double perRow = 4;
  if (row.reducesRows) {
    perRow += llvm::Log2_64(c.threadsPerRow) + 6;
    // An exchange through LDS: write, barrier, read, combine.
    if (c.threadsPerRow > waveSize)
      perRow += 40;
  }
  cost *= 1 + perRow / (perElement * held);
  // A row group reads whole 64-byte halves of cache lines, better whole lines.
  double bytes = double(c.threadsPerRow * c.vector * row.elementBits) / 8;
  if (bytes < 64)
    cost *= 64 / bytes;
  else if (bytes < 128)
    cost *= 1.02;
  // Registers: the inputs as loaded and one f32 value per element, for all rows
  // of the lane, and the column tensors. With many, occupancy falls and fewer
  // loads are in flight.
  double live = getLiveRegisters(row, c);
  if (live > 200)
    cost *= 1.06;
  else if (live > 150)
    cost *= 1.04;
  else if (live > 110)
    cost *= 1.02;
  return cost;
}

/// Shape and inputs of the rows of an operator whose widest result is `result`.
static RowShape getRowShape(func::FuncOp func, RankedTensorType result) {
  int64_t rowElements = 1;
  for (int64_t extent : result.getShape().drop_front())
    rowElements *= extent;
  RowShape row{result.getShape().back(), rowElements / result.getShape().back(), 0, 8, 0, false};
  for (Type type : func.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0 || !tensor.getElementType().isIntOrFloat())
      continue;
    if (tensor.getRank() >= 2)
      row.elementBits = std::max(row.elementBits, tensor.getElementTypeBitWidth());
    else if (tensor.getShape().front() == row.columns)
      ++row.columnTensors;
  }

  // What is read of the arguments: whole tensors or slices of them, each once.
  SetVector<Value> reads;
  func.walk([&](linalg::LinalgOp op) {
    for (OpOperand *operand : op.getDpsInputOperands())
      if (isa<RankedTensorType>(operand->get().getType()) &&
          (isa<BlockArgument>(operand->get()) || operand->get().getDefiningOp<tensor::ExtractSliceOp>()))
        reads.insert(operand->get());
    for (auto [range, iterator] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      row.reducesRows |= iterator == utils::IteratorType::reduction && range == row.columns;
  });

  for (Value value : reads) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    if (shape.size() >= 2 && llvm::none_of(shape.drop_front(), ShapedType::isDynamic))
      row.inputs += std::accumulate(shape.begin() + 1, shape.end(), 1.0, std::multiplies<>()) / double(rowElements);
  }
  return row;
}

/// The widest run of a lane that divides a row: then no run straddles its end.
static int64_t getRunLength(const RowShape &row, int64_t vectorBits) {
  int64_t vector = std::max<int64_t>(1, llvm::bit_floor(uint64_t(vectorBits / row.elementBits)));
  return std::min<int64_t>(vector, int64_t(1) << llvm::countr_zero(uint64_t(row.columns)));
}

bool atrex::rowFitsRegisters(func::FuncOp func, RankedTensorType result, const ChipInfo &chip) {
  RowShape row = getRowShape(func, result);
  int64_t vector = getRunLength(row, 128), chunks = row.columns / vector;
  for (int64_t tpr = 1; tpr <= int64_t(chip.maxWorkgroupSize); tpr *= 2) {
    Candidate c{vector, tpr, int64_t(llvm::divideCeil(chunks, tpr)), 1, std::max<int64_t>(256, tpr), 0};
    if (getLiveRegisters(row, c) <= getMaxLiveRegisters(chip, c.threads))
      return true;
  }
  return false;
}

LogicalResult SelectMapping::select(func::FuncOp func) {
  const ChipInfo *chip = lookupChip(arch);
  if (failed(checkOptions(func, chip)))
    return failure();

  // The result of highest rank defines the tile.
  RankedTensorType result;
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (func.getArgAttr(index, atx::outputAttrName))
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && (!result || tensor.getRank() > result.getRank()))
        result = tensor;
  if (!result || result.getRank() < 2)
    return func.emitError() << "the row mapping needs a result of rank 2 or more"
                            << (result ? ", the widest has rank " + std::to_string(result.getRank()) : "");
  for (auto [dim, extent] : llvm::enumerate(result.getShape().drop_front()))
    if (ShapedType::isDynamic(extent))
      return func.emitError() << "dimension " << dim + 1 << " of the result is not constant; rows are held in "
                              << "registers, so give its size when compiling (--dim NAME=V)";

  // Layouts name at most 16 dimensions.
  if (result.getRank() > 16)
    return func.emitError() << "the row mapping needs a result of rank 16 or less, the widest has rank "
                            << result.getRank();
  int64_t rowElements = 1;
  for (int64_t extent : result.getShape().drop_front())
    if (llvm::MulOverflow(rowElements, extent, rowElements) || rowElements > INT32_MAX)
      return func.emitError() << "a row of the result has 2^31 elements or more";
  if (rowElements == 0)
    return func.emitError() << "a row of the result has no elements";
  RowShape row = getRowShape(func, result);

  int64_t vector = getRunLength(row, vectorBits);
  int64_t chunks = row.columns / vector;

  std::optional<Candidate> best;
  for (int64_t tpr = 1; tpr <= int64_t(chip->maxWorkgroupSize); tpr *= 2) {
    if (threadsPerRow && tpr != threadsPerRow)
      continue;
    if (threads && tpr > threads)
      continue;
    // Wider groups than the row has runs only idle.
    if (!threadsPerRow && tpr / 2 >= chunks && tpr > 1)
      continue;
    int64_t runs = llvm::divideCeil(chunks, tpr);
    for (int64_t rows = 1; rows <= 16; ++rows) {
      if (rowsPerThread ? rows != rowsPerThread : (rows > 4 || !llvm::isPowerOf2_64(rows)))
        continue;
      Candidate c{vector, tpr, runs, rows, threads ? threads : std::max<int64_t>(256, tpr), 0};
      // A schedule that insists on a width may have what does not spill in the
      // smallest workgroup; the rest is on its own head.
      int64_t limit = getMaxLiveRegisters(*chip, threadsPerRow ? 1 : c.threads);
      if (getLiveRegisters(row, c) > limit)
        continue;
      c.cost = estimate(row, c, chip->waveSize);
      if (!best || c.cost < best->cost)
        best = c;
    }
  }
  if (!best) {
    int64_t most = threads ? threads : int64_t(chip->maxWorkgroupSize);
    return func.emitError() << "a row of " << row.columns * row.middle << " elements"
                            << (row.inputs > 1 ? " and its inputs do" : " does")
                            << " not fit into the registers of one workgroup: "
                            << (threadsPerRow ? threadsPerRow : most) << " work-items with at most "
                            << getMaxLiveRegisters(*chip, threadsPerRow ? 1 : most) << " registers each"
                            << (threadsPerRow ? "" : "; 'threads-per-row' allows more, with spills");
  }

  // Threads: columns first, then rows; values: a run, further runs, the middle
  // dimensions, further rows.
  unsigned rank = result.getRank();
  int64_t rowGroups = best->threads / best->threadsPerRow;
  int64_t last = rank - 1;
  SmallVector<int64_t> tShape, tSteps, tDims, vShape, vSteps, vDims;
  auto mode = [](auto &shape, auto &steps, auto &dims, int64_t extent, int64_t step, int64_t dim) {
    shape.push_back(extent);
    steps.push_back(step);
    dims.push_back(dim);
  };
  if (best->threadsPerRow > 1)
    mode(tShape, tSteps, tDims, best->threadsPerRow, best->vector, last);
  if (rowGroups > 1)
    mode(tShape, tSteps, tDims, rowGroups, 1, 0);
  // A column of one element has no modes; otherwise the run is there even when
  // it holds one element.
  if (row.columns > 1)
    mode(vShape, vSteps, vDims, best->vector, 1, last);
  if (best->runs > 1)
    mode(vShape, vSteps, vDims, best->runs, best->vector * best->threadsPerRow, last);
  for (unsigned dim = rank - 2; dim >= 1; --dim)
    if (result.getDimSize(dim) > 1)
      mode(vShape, vSteps, vDims, result.getDimSize(dim), 1, dim);
  if (best->rowsPerThread > 1)
    mode(vShape, vSteps, vDims, best->rowsPerThread, rowGroups, 0);

  SmallVector<int64_t> tile(result.getShape()), extent(result.getShape());
  tile[0] = extent[0] = rowGroups * best->rowsPerThread;
  tile[last] = best->vector * best->threadsPerRow * best->runs;
  auto layout = atx::TVAttr::get(&getContext(), tShape, tSteps, tDims, vShape, vSteps, vDims);
  func->setAttr(atx::mappingAttrName, atx::MappingAttr::get(&getContext(), tile, extent, best->threads, layout));
  return success();
}
