//===- LowerScan.cpp - Prefix scans of tiles ------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane holds a run of the axis: the run is scanned in registers, the sums of the
// runs across lanes, the sums of waves through shared memory.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atrex;
using namespace atrex::tile;

LogicalResult tile::lowerScan(TileEmitter &e, Operation *op) {
  auto scan = cast<atx::TileScanOp>(op);
  OpBuilder &b = e.b;
  Location loc = e.loc;
  TileValue input = e.getTile(scan.getInput());
  unsigned axis = scan.getAxis();
  int64_t threads = input.layout.getThreads();
  TileLayout layout = getScanLayout(input.shape, threads, axis);
  FailureOr<Value> converted = e.convertLayout(input, layout, op);
  if (failed(converted))
    return failure();
  input.vector = *converted;
  input.layout = layout;
  Type element = input.getElementType();
  CombineKind kind = CombineKind::Sum;
  switch (scan.getKind()) {
  case atx::TileScanKind::Sum:
    kind = CombineKind::Sum;
    break;
  case atx::TileScanKind::Prod:
    kind = CombineKind::Prod;
    break;
  case atx::TileScanKind::Max:
    kind = CombineKind::Max;
    break;
  case atx::TileScanKind::Min:
    kind = CombineKind::Min;
    break;
  case atx::TileScanKind::UMax:
    kind = CombineKind::UMax;
    break;
  case atx::TileScanKind::UMin:
    kind = CombineKind::UMin;
    break;
  }
  Value neutral = getNeutral(e, kind, element);
  input.vector = e.maskDead(input, neutral);
  bool reverse = scan.getReverse(), exclusive = scan.getExclusive();

  // The run of a lane and the lanes that share the axis: registers and threads with
  // stride 1, by getScanLayout().
  int64_t run = 1, along = 1;
  for (const Mode &mode : layout.getModes(axis))
    (mode.isThread ? along : run) = mode.size;
  int64_t count = layout.getNumRegisters(), columns = count / run;
  SmallVector<SmallVector<Value>> prefix(columns);
  SmallVector<Value> total(columns);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t i = 0; i < run; ++i) {
      Value value = e.extract(input.vector, column * run + (reverse ? run - 1 - i : i));
      prefix[column].push_back(i == 0 ? value : combine(e, kind, prefix[column].back(), value));
    }
    total[column] = prefix[column].back();
  }
  SmallVector<Value> before(columns, neutral);
  if (along > 1) {
    int64_t group = std::min<int64_t>(along, 64);
    Value lane = arith::AndIOp::create(b, loc, e.getThread(), e.i32(63));
    Value position = arith::AndIOp::create(b, loc, e.getThread(), e.i32(group - 1));
    if (reverse)
      position = arith::SubIOp::create(b, loc, e.i32(group - 1), position);
    auto earlier = [&](Value value, int64_t distance) {
      Value from = reverse ? Value(arith::AddIOp::create(b, loc, lane, e.i32(distance)))
                           : Value(arith::SubIOp::create(b, loc, lane, e.i32(distance)));
      return e.shuffle(value, from);
    };
    for (int64_t distance = 1; distance < group; distance *= 2) {
      Value has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, position, e.i32(distance));
      for (Value &value : total) {
        Value other = earlier(value, distance);
        value = arith::SelectOp::create(b, loc, has, combine(e, kind, other, value), value);
      }
    }
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position, e.i32(0));
    for (int64_t column = 0; column < columns; ++column)
      before[column] = arith::SelectOp::create(b, loc, first, neutral, earlier(total[column], 1));
    if (along > 64) {
      int64_t waves = along / 64, rows = threads / along;
      Type storage = e.getStorageType(element);
      int64_t bytes = storage.getIntOrFloatBitWidth() / 8;
      FailureOr<int64_t> scratch = e.acquireScratch(columns * rows * waves * bytes, op);
      if (failed(scratch))
        return failure();
      Value wave = arith::ShRUIOp::create(b, loc, e.getThread(), e.i32(6));
      Value own = arith::AndIOp::create(b, loc, wave, e.i32(waves - 1));
      Value at = arith::MulIOp::create(b, loc, wave, e.i32(bytes));
      Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position, e.i32(group - 1));
      e.emitIf(last, [&] {
        for (int64_t column = 0; column < columns; ++column)
          e.storeLDS(e.toStorage(e.splat(total[column], 1)), e.getLDS(*scratch + column * rows * waves * bytes, at),
                     bytes);
      });
      e.ldsBarrier();
      Value row = arith::SubIOp::create(b, loc, wave, own);
      Value rowAt = arith::MulIOp::create(b, loc, row, e.i32(bytes));
      for (int64_t column = 0; column < columns; ++column) {
        Value sum = neutral;
        for (int64_t i = 0; i < waves; ++i) {
          int64_t w = reverse ? waves - 1 - i : i;
          Value part = e.loadLDS(storage, 1, e.getLDS(*scratch + (column * rows * waves + w) * bytes, rowAt), bytes);
          part = e.extract(e.fromStorage(part, element), 0);
          Value isBefore = arith::CmpIOp::create(
              b, loc, reverse ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, own, e.i32(w));
          sum = arith::SelectOp::create(b, loc, isBefore, combine(e, kind, sum, part), sum);
        }
        before[column] = combine(e, kind, sum, before[column]);
      }
    }
  }
  SmallVector<Value> elements(count);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t i = 0; i < run; ++i) {
      int64_t reg = column * run + (reverse ? run - 1 - i : i);
      Value value;
      if (exclusive)
        value = i == 0 ? before[column] : combine(e, kind, before[column], prefix[column][i - 1]);
      else
        value = along == 1 ? prefix[column][i] : combine(e, kind, before[column], prefix[column][i]);
      // A sum of nothing is +0.
      if (exclusive && kind == CombineKind::Sum && isa<FloatType>(element))
        value = arith::AddFOp::create(b, loc, value, e.zero(element));
      elements[reg] = value;
    }
  FailureOr<Value> result = e.convertLayout({e.pack(elements), layout, input.shape}, e.getLayout(scan.getResult()), op);
  if (failed(result))
    return failure();
  e.setTile(scan.getResult(), *result);
  return success();
}
