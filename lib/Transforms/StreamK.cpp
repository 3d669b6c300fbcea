//===- StreamK.cpp - Equal shares of a product's iterations ---------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that sums over one loop becomes two. In the first the iterations of
// all tiles are numbered one tile behind the other, and W workgroups take equal
// runs of them: workgroup w those from floor(w I / W) on. A tile that lies whole
// in a run is finished there. Of the others a run has two at most, the one it
// begins in and the one it ends in; their sums go to a workspace, into slot 0 or
// slot 1 of the workgroup. The second kernel adds the parts of each such tile, in
// the order of the workgroups, and finishes it. Nobody waits for anybody, and
// the order of the sum depends on sizes only.
//
//===----------------------------------------------------------------------===//

#include "KernelGrid.h"
#include "OperatorExtents.h"
#include "atrex/Target/Chip.h"
#include "atrex/Transforms/SchedulingPasses.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace atrex {
#define GEN_PASS_DEF_STREAMKPASS
#include "atrex/Transforms/SchedulingPasses.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class StreamK : public atrex::impl::StreamKPassBase<StreamK> {
public:
  using StreamKPassBase::StreamKPassBase;

  void runOnOperation() override;

private:
  /// The loop of a kernel that can be divided; null, with a remark, if it cannot.
  scf::ForOp match(func::FuncOp kernel);
  LogicalResult divide(func::FuncOp kernel, scf::ForOp loop);
  func::FuncOp makePlan(func::FuncOp kernel);
};

/// One copy of a kernel, with what its code needs.
struct Copy {
  func::FuncOp kernel;
  scf::ForOp loop;
  SmallVector<Operation *> before, behind;
  /// Workspaces, one for each sum.
  SmallVector<Value> workspaces;
  Value tiles, workgroups, iterations, one, zero;
  SmallVector<Value> extents;
};

} // namespace

scf::ForOp StreamK::match(func::FuncOp kernel) {
  auto refuse = [&](Location loc, const Twine &why) {
    emitRemark(loc) << "kernel '" << kernel.getName() << "' is not divided along its sum: " << why;
    return scf::ForOp();
  };
  Block &entry = kernel.getBody().front();
  scf::ForOp loop;
  for (Operation &op : entry) {
    if (auto candidate = dyn_cast<scf::ForOp>(op)) {
      if (loop)
        return refuse(op.getLoc(), "it has more than one loop");
      loop = candidate;
    }
  }
  if (!loop)
    return refuse(kernel.getLoc(), "it has no loop");
  if (loop.getNumResults() == 0)
    return refuse(loop.getLoc(), "its loop carries no sum");
  DenseSet<Value> written;
  WalkResult walked = kernel.walk([&](Operation *op) {
    if (isa<atx::TileSharedOp, gpu::BarrierOp, scf::WhileOp>(op)) {
      (void)refuse(op->getLoc(), "its workgroups use shared memory, barriers or loops of unknown length");
      return WalkResult::interrupt();
    }
    if (auto store = dyn_cast<atx::TileStoreOp>(op))
      written.insert(store.getMemory());
    else if (auto atomic = dyn_cast<atx::TileAtomicOp>(op))
      written.insert(atomic.getMemory());
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return {};
  Operation *bad = nullptr;
  StringRef why;
  auto check = [&](Operation *op, StringRef message) {
    if (!bad) {
      bad = op;
      why = message;
    }
  };
  for (Operation &op : entry) {
    bool inLoop = &op == loop, isBefore = op.isBeforeInBlock(loop);
    op.walk([&](Operation *inner) {
      if ((inLoop || isBefore) && isa<atx::TileStoreOp, atx::TileAtomicOp>(inner))
        check(inner, "memory is written before the sum is complete");
      if (auto load = dyn_cast<atx::TileLoadOp>(inner))
        if ((inLoop || isBefore) && written.contains(load.getMemory()))
          check(inner, "what it sums may have been written by another workgroup");
      // Rows in any order: a second reading behind the first kernel must agree.
      if (!inLoop && !isBefore)
        if (auto load = dyn_cast<atx::TileLoadOp>(inner); load && written.contains(load.getMemory()))
          check(inner, "it reads what it writes");
    });
  }
  for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<VectorType>(arg.getType());
    Attribute init;
    if (!type || !isa<FloatType>(type.getElementType()) || type.getElementTypeBitWidth() < 32) {
      check(loop, "a carried value is no tile of f32 or f64");
      break;
    }
    if (!matchPattern(loop.getInitArgs()[i], m_Constant(&init)) || !isa<SplatElementsAttr>(init) ||
        !cast<SplatElementsAttr>(init).getSplatValue<APFloat>().isPosZero()) {
      check(loop, "a sum does not start at zero");
      break;
    }
    // The carried value only ever has something added to it.
    Value value = arg;
    while (value) {
      if (!value.hasOneUse()) {
        check(loop, "a sum is used inside of the loop");
        break;
      }
      OpOperand &use = *value.use_begin();
      Operation *user = use.getOwner();
      if (user == loop.getBody()->getTerminator()) {
        if (use.getOperandNumber() != i)
          check(loop, "carried values change places");
        break;
      }
      auto contract = dyn_cast<vector::ContractionOp>(user);
      bool isSum = (contract && use.getOperandNumber() == 2 && contract.getKind() == vector::CombiningKind::ADD) ||
                   (isa<arith::AddFOp>(user) && user->getBlock() == loop.getBody());
      if (!isSum) {
        check(user, "a carried value is not only added to");
        break;
      }
      value = user->getResult(0);
    }
  }
  // The same number of iterations for all tiles.
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (Operation *def = bound.getDefiningOp()) {
      (void)getBackwardSlice(bound, &slice, options);
      slice.insert(def);
    }
  for (Operation *op : slice)
    if (isa<gpu::BlockIdOp, atx::TileLoadOp>(op) || op->getNumRegions() != 0)
      check(op, "the number of iterations differs between tiles");
  if (bad)
    return refuse(bad->getLoc(), why);
  return loop;
}

/// The tensor argument and the axis whose extent is run-time dimension `name`.
static std::optional<std::pair<unsigned, int64_t>> findExtent(func::FuncOp kernel, StringAttr name) {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto shape = kernel.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName);
        shape && isa<MemRefType>(kernel.getArgumentTypes()[i]))
      for (auto [axis, extent] : llvm::enumerate(shape))
        if (extent == name)
          return std::pair(i, int64_t(axis));
  return std::nullopt;
}

/// A plan with one launch of the kernel. A plan has its dimensions from tensors.
func::FuncOp StreamK::makePlan(func::FuncOp kernel) {
  OpBuilder b(kernel);
  std::string name = kernel.getName().str();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  DenseMap<unsigned, unsigned> positions;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (kernel.getArgumentTypes()[i].isIndex())
      continue;
    positions[i] = types.size();
    types.push_back(kernel.getArgumentTypes()[i]);
    DictionaryAttr own = kernel.getArgAttrDict(i);
    attrs.push_back(own ? own : b.getDictionaryAttr({}));
  }
  auto plan = func::FuncOp::create(b, kernel.getLoc(), name, b.getFunctionType(types, TypeRange()),
                                   ArrayRef<NamedAttribute>(), attrs);
  plan->setAttr(atx::planAttrName, b.getUnitAttr());
  for (StringRef attr : {StringRef(atx::dimsAttrName), StringRef("atx.constraints")})
    if (Attribute value = kernel->getAttr(attr))
      plan->setAttr(attr, value);
  Block *entry = plan.addEntryBlock();
  b.setInsertionPointToStart(entry);
  kernel.setName(name + ".whole");
  SmallVector<Value> args;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (auto position = positions.find(i); position != positions.end()) {
      args.push_back(entry->getArgument(position->second));
      continue;
    }
    auto [tensor, axis] = *findExtent(kernel, kernel.getArgAttrOfType<StringAttr>(i, atx::nameAttrName));
    Value at = arith::ConstantIndexOp::create(b, kernel.getLoc(), axis);
    args.push_back(memref::DimOp::create(b, kernel.getLoc(), entry->getArgument(positions[tensor]), at));
  }
  atx::LaunchOp::create(b, kernel.getLoc(), kernel.getName(), args, Value(), ValueRange());
  func::ReturnOp::create(b, kernel.getLoc());
  return plan;
}

LogicalResult StreamK::divide(func::FuncOp kernel, scf::ForOp loop) {
  ModuleOp module = getOperation();
  Location loc = loop.getLoc();
  FailureOr<std::array<DimExpr, 3>> grid = getGridExprs(kernel);
  if (failed(grid))
    return failure();
  using Kind = DimExpr::Kind;
  DimExpr tiles = foldExpr(Kind::Mul, foldExpr(Kind::Mul, (*grid)[0], (*grid)[1]), (*grid)[2]);
  int64_t fixed = workgroups;
  if (fixed == -1) {
    const ChipInfo *chip = lookupChip(arch);
    if (!chip || !chip->isAMDGPU())
      return kernel.emitError() << "'" << arch << "' is not an architecture code can be generated for; known are "
                                << getArchList();
    fixed = chip->computeUnits;
  }
  DimExpr count = splits > 0 ? foldExpr(Kind::Mul, tiles, DimExpr::constant(splits)) : DimExpr::constant(fixed);

  // The launch that both kernels take the place of.
  atx::LaunchOp launch;
  func::FuncOp plan;
  module.walk([&](atx::LaunchOp op) {
    if (op.getKernel() == kernel.getName())
      launch = op;
  });
  if (!launch) {
    plan = makePlan(kernel);
    launch = *plan.getOps<atx::LaunchOp>().begin();
  } else {
    plan = launch->getParentOfType<func::FuncOp>();
  }

  // Workspaces of [workgroups, 2, tile].
  std::string base = kernel.getName().str();
  StringRef stem = StringRef(base).ends_with(".whole") ? StringRef(base).drop_back(6) : StringRef(base);
  SmallVector<MemRefType> types;
  SmallVector<ArrayAttr> shapes;
  std::optional<int64_t> constantCount = count.getConstant();
  for (Value result : loop.getResults()) {
    auto tile = cast<VectorType>(result.getType());
    SmallVector<int64_t> shape = {constantCount ? *constantCount : ShapedType::kDynamic, 2};
    SmallVector<DimExpr> exprs = {count, DimExpr::constant(2)};
    for (int64_t extent : tile.getShape()) {
      shape.push_back(extent);
      exprs.push_back(DimExpr::constant(extent));
    }
    types.push_back(MemRefType::get(shape, tile.getElementType()));
    shapes.push_back(getShapeAttr(&getContext(), exprs));
  }
  SymbolTable symbols(module);
  auto makeCopy = [&](StringRef suffix) -> FailureOr<Copy> {
    Copy copy;
    // The number of the loop among the operations of the entry finds it again.
    unsigned position = std::distance(kernel.getBody().front().begin(), loop->getIterator());
    copy.kernel = kernel.clone();
    copy.kernel.setName((stem + suffix).str());
    symbols.insert(copy.kernel, kernel->getIterator());
    Block &entry = copy.kernel.getBody().front();
    copy.loop = cast<scf::ForOp>(*std::next(entry.begin(), position));
    for (Operation &op : entry.without_terminator())
      if (&op != copy.loop)
        (op.isBeforeInBlock(copy.loop) ? copy.before : copy.behind).push_back(&op);
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    for (auto [i, type] : llvm::enumerate(types)) {
      unsigned index = copy.kernel.getNumArguments();
      auto attrs = b.getDictionaryAttr({b.getNamedAttr(atx::nameAttrName, b.getStringAttr("parts." + Twine(i))),
                                        b.getNamedAttr(atx::shapeAttrName, shapes[i]),
                                        b.getNamedAttr(atx::workspaceAttrName, b.getUnitAttr())});
      if (failed(copy.kernel.insertArgument(index, type, attrs, loc)))
        return failure();
      copy.workspaces.push_back(copy.kernel.getArgument(index));
    }
    SmallVector<DimExpr> needed(grid->begin(), grid->end());
    needed.push_back(count);
    FailureOr<llvm::StringMap<Value>> dims = emitDims(copy.kernel, needed, b);
    if (failed(dims))
      return failure();
    auto emit = [&](const DimExpr &expr) -> FailureOr<Value> {
      if (std::optional<int64_t> constant = expr.getConstant())
        return Value(arith::ConstantIndexOp::create(b, loc, *constant));
      return emitExpr(expr, *dims, b, loc);
    };
    for (const DimExpr &extent : *grid) {
      FailureOr<Value> value = emit(extent);
      if (failed(value))
        return failure();
      copy.extents.push_back(*value);
    }
    FailureOr<Value> tileCount = emit(tiles), groupCount = emit(count);
    if (failed(tileCount) || failed(groupCount))
      return failure();
    copy.tiles = *tileCount;
    copy.workgroups = *groupCount;
    copy.one = arith::ConstantIndexOp::create(b, loc, 1);
    copy.zero = arith::ConstantIndexOp::create(b, loc, 0);
    // Iterations of a tile, 1 at least: an empty one finishes its tile too.
    IRMapping same;
    SmallVector<Value> bounds;
    for (Value bound : {copy.loop.getLowerBound(), copy.loop.getUpperBound(), copy.loop.getStep()}) {
      SetVector<Operation *> slice;
      BackwardSliceOptions options;
      options.omitBlockArguments = true;
      options.inclusive = true;
      // Of an argument it would be the kernel itself.
      if (bound.getDefiningOp())
        (void)getBackwardSlice(bound, &slice, options);
      for (Operation *op : slice)
        if (!same.contains(op->getResult(0)))
          b.clone(*op, same);
      Value value = same.lookupOrDefault(bound);
      if (!value.getType().isIndex())
        value = b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), value);
      bounds.push_back(value);
    }
    Value range = b.createOrFold<arith::SubIOp>(loc, bounds[1], bounds[0]);
    Value trips = b.createOrFold<arith::CeilDivSIOp>(loc, range, bounds[2]);
    copy.iterations = b.createOrFold<arith::MaxSIOp>(loc, trips, copy.one);
    return copy;
  };
  // Number of the first iteration of a workgroup.
  auto emitFirst = [&](OpBuilder &b, const Copy &copy, Value workgroup) {
    Value all = b.createOrFold<arith::MulIOp>(loc, copy.tiles, copy.iterations);
    return b.createOrFold<arith::DivUIOp>(loc, b.createOrFold<arith::MulIOp>(loc, workgroup, all), copy.workgroups);
  };
  // Indices of a tile in a workspace.
  auto emitIndices = [&](OpBuilder &b, VectorType type, Value workgroup, Value slot) {
    SmallVector<Value> indices = {workgroup, slot};
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      SmallVector<int64_t> shape(type.getRank(), 1);
      shape[dim] = type.getDimSize(dim);
      Value iota = atx::TileIotaOp::create(b, loc, VectorType::get({type.getDimSize(dim)}, b.getI32Type()));
      indices.push_back(b.createOrFold<vector::ShapeCastOp>(loc, VectorType::get(shape, b.getI32Type()), iota));
    }
    return indices;
  };
  auto replaceIds = [&](Operation *root, ArrayRef<Value> at, ArrayRef<Value> extents) {
    root->walk([&](Operation *op) {
      if (auto id = dyn_cast<gpu::BlockIdOp>(op); id && !at.empty())
        id.replaceAllUsesWith(at[unsigned(id.getDimension())]);
      else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
        dim.replaceAllUsesWith(extents[unsigned(dim.getDimension())]);
      else
        return;
      op->erase();
    });
  };

  // The parts.
  FailureOr<Copy> parts = makeCopy(".parts");
  if (failed(parts))
    return failure();
  {
    Copy &copy = *parts;
    OpBuilder b(&getContext());
    Operation *first = copy.before.empty() ? copy.loop.getOperation() : copy.before.front();
    b.setInsertionPoint(first);
    Value workgroup = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value begin = emitFirst(b, copy, workgroup);
    Value end = emitFirst(b, copy, b.createOrFold<arith::AddIOp>(loc, workgroup, copy.one));
    Value firstTile = b.createOrFold<arith::DivUIOp>(loc, begin, copy.iterations);
    // Rounded up, in a way that the analysis of ranges follows.
    Value rest = b.createOrFold<arith::SubIOp>(loc, copy.iterations, copy.one);
    Value lastTile =
        b.createOrFold<arith::DivUIOp>(loc, b.createOrFold<arith::AddIOp>(loc, end, rest), copy.iterations);
    auto tileLoop = scf::ForOp::create(b, loc, firstTile, lastTile, copy.one);
    Operation *terminator = tileLoop.getBody()->getTerminator();
    b.setInsertionPoint(terminator);
    Value tile = tileLoop.getInductionVar();
    std::array<Value, 3> at = emitCoordinates(tile, copy.extents, b, loc);
    Value start = b.createOrFold<arith::MulIOp>(loc, tile, copy.iterations);
    Value low = arith::MaxSIOp::create(b, loc, b.createOrFold<arith::SubIOp>(loc, begin, start), copy.zero);
    Value high = arith::MinSIOp::create(b, loc, b.createOrFold<arith::SubIOp>(loc, end, start), copy.iterations);
    for (Operation *op : copy.before)
      op->moveBefore(terminator);
    copy.loop->moveBefore(terminator);
    // The run's part of the loop.
    b.setInsertionPoint(copy.loop);
    Value lower = copy.loop.getLowerBound(), upper = copy.loop.getUpperBound(), step = copy.loop.getStep();
    auto toBound = [&](Value number) {
      if (!lower.getType().isIndex())
        number = arith::IndexCastOp::create(b, loc, lower.getType(), number);
      return b.createOrFold<arith::AddIOp>(loc, lower, b.createOrFold<arith::MulIOp>(loc, number, step));
    };
    Value from = toBound(low);
    Value to = arith::MinSIOp::create(b, loc, toBound(high), upper);
    copy.loop.setLowerBound(from);
    copy.loop.setUpperBound(to);
    b.setInsertionPointAfter(copy.loop);
    Value startsWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, copy.zero);
    Value endsWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, high, copy.iterations);
    Value isWhole = arith::AndIOp::create(b, loc, startsWhole, endsWhole);
    auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
    for (Operation *op : copy.behind)
      op->moveBefore(branch.thenBlock()->getTerminator());
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    Value slot = arith::SelectOp::create(b, loc, startsWhole, copy.one, copy.zero);
    for (auto [sum, memory] : llvm::zip_equal(copy.loop.getResults(), copy.workspaces))
      atx::TileStoreOp::create(b, loc, sum, memory, emitIndices(b, cast<VectorType>(sum.getType()), workgroup, slot),
                               Value());
    replaceIds(tileLoop, at, copy.extents);
    copy.kernel->setAttr(atx::gridAttrName, b.getStrArrayAttr({count.str(), "1", "1"}));
    copy.kernel->setAttr(reorderedAttrName, b.getUnitAttr());
    // floor(w I / S) is a multiple of I for multiples of S: workgroups of one tile follow one another.
    if (splits > 0)
      copy.kernel->setAttr(feedsAttrName, b.getI64IntegerAttr(splits));
  }

  // Their sums.
  FailureOr<Copy> sums = makeCopy(".sum");
  if (failed(sums))
    return failure();
  {
    Copy &copy = *sums;
    OpBuilder b(&getContext());
    Operation *first = copy.before.empty() ? copy.loop.getOperation() : copy.before.front();
    b.setInsertionPoint(first);
    std::array<Value, 3> id;
    for (unsigned axis = 0; axis < 3; ++axis)
      id[axis] = (*grid)[axis].getConstant() == 1
                     ? copy.zero
                     : Value(gpu::BlockIdOp::create(b, loc, gpu::Dimension(axis)).getResult());
    Value tile = id[2];
    for (unsigned axis : {1u, 0u})
      tile = b.createOrFold<arith::AddIOp>(loc, b.createOrFold<arith::MulIOp>(loc, tile, copy.extents[axis]), id[axis]);
    Value all = b.createOrFold<arith::MulIOp>(loc, copy.tiles, copy.iterations);
    // The last workgroup whose run starts no later than iteration i:
    // floor(w I / W) <= i exactly when w I < (i + 1) W.
    auto emitOwner = [&](Value next) {
      Value scaled = b.createOrFold<arith::MulIOp>(loc, next, copy.workgroups);
      return b.createOrFold<arith::DivUIOp>(loc, b.createOrFold<arith::SubIOp>(loc, scaled, copy.one), all);
    };
    Value start = b.createOrFold<arith::MulIOp>(loc, tile, copy.iterations);
    Value firstOwner = emitOwner(b.createOrFold<arith::AddIOp>(loc, start, copy.one));
    Value lastOwner = emitOwner(b.createOrFold<arith::AddIOp>(loc, start, copy.iterations));
    Value isCut = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, firstOwner, lastOwner);
    auto branch = scf::IfOp::create(b, loc, isCut, /*withElseRegion=*/false);
    Operation *terminator = branch.thenBlock()->getTerminator();
    for (Operation *op : copy.before)
      op->moveBefore(terminator);
    b.setInsertionPoint(terminator);
    Value behindLast = b.createOrFold<arith::AddIOp>(loc, lastOwner, copy.one);
    auto adder =
        scf::ForOp::create(b, loc, firstOwner, behindLast, copy.one, copy.loop.getInitArgs(),
                           [&](OpBuilder &inner, Location, Value workgroup, ValueRange carried) {
                             Value begin = emitFirst(inner, copy, workgroup);
                             Value isLater = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ugt, begin, start);
                             Value slot = arith::SelectOp::create(inner, loc, isLater, copy.zero, copy.one);
                             SmallVector<Value> next;
                             for (auto [sum, memory] : llvm::zip_equal(carried, copy.workspaces)) {
                               auto type = cast<VectorType>(sum.getType());
                               Value part = atx::TileLoadOp::create(inner, loc, type, memory,
                                                                    emitIndices(inner, type, workgroup, slot), Value());
                               next.push_back(arith::AddFOp::create(inner, loc, sum, part));
                             }
                             scf::YieldOp::create(inner, loc, next);
                           });
    copy.loop.replaceAllUsesWith(adder.getResults());
    copy.loop.erase();
    for (Operation *op : copy.behind)
      op->moveBefore(terminator);
    replaceIds(branch, {}, copy.extents);
  }

  // The plan.
  OpBuilder b(launch);
  SmallVector<Value> args(launch.getArgs());
  std::optional<Value> dynamicCount;
  if (!constantCount) {
    // From the sizes of what is passed, as the kernel has them from its arguments.
    std::set<std::string> names;
    count.collectDims(names);
    llvm::StringMap<Value> dims;
    for (auto [i, arg] : llvm::enumerate(args)) {
      if (arg.getType().isIndex()) {
        if (auto name = kernel.getArgAttrOfType<StringAttr>(i, atx::nameAttrName))
          dims.try_emplace(name.getValue(), arg);
        continue;
      }
      auto shape = kernel.getArgAttrOfType<ArrayAttr>(i, atx::shapeAttrName);
      if (!shape)
        continue;
      for (auto [axis, extent] : llvm::enumerate(shape))
        if (auto text = dyn_cast<StringAttr>(extent);
            text && names.count(text.getValue().str()) && !dims.count(text.getValue())) {
          Value at = arith::ConstantIndexOp::create(b, launch.getLoc(), int64_t(axis));
          dims.try_emplace(text.getValue(), memref::DimOp::create(b, launch.getLoc(), arg, at));
        }
    }
    FailureOr<Value> value = emitExpr(count, dims, b, launch.getLoc());
    if (failed(value))
      return failure();
    dynamicCount = *value;
  }
  unsigned number = 0;
  plan.walk([&](memref::AllocOp) { ++number; });
  for (MemRefType type : types) {
    auto alloc =
        memref::AllocOp::create(b, launch.getLoc(), type, dynamicCount ? ValueRange{*dynamicCount} : ValueRange());
    alloc->setAttr(atx::nameAttrName, b.getStringAttr("parts." + Twine(number++)));
    args.push_back(alloc);
  }
  for (Copy *copy : {&*parts, &*sums})
    atx::LaunchOp::create(b, launch.getLoc(), copy->kernel.getName(), args, Value(), ValueRange());
  launch.erase();
  kernel.erase();
  ++numDivided;
  return success();
}

void StreamK::runOnOperation() {
  ModuleOp module = getOperation();
  if (workgroups == 0 && splits == 0)
    return;
  auto fail = [&](const Twine &message) {
    module.emitError() << message;
    signalPassFailure();
  };
  if (workgroups < -1 || workgroups > 65536)
    return fail("option 'workgroups' is " + Twine(int64_t(workgroups)) +
                "; it must be -1 (chosen), 0 (off) or up to 65536");
  if (splits < 0 || splits > 1024)
    return fail("option 'splits' is " + Twine(int64_t(splits)) + "; it must be from 0 (off) to 1024");
  if (workgroups != 0 && splits != 0)
    return fail("options 'workgroups' and 'splits' exclude one another");
  SmallVector<func::FuncOp> kernels;
  unsigned others = 0;
  bool hasPlan = false;
  for (auto func : module.getOps<func::FuncOp>()) {
    hasPlan |= func->hasAttr(atx::planAttrName);
    if (func->hasAttr(atx::kernelAttrName) && !func.isExternal())
      kernels.push_back(func);
    else if (func->hasAttr(atx::operatorAttrName))
      ++others;
  }
  for (func::FuncOp kernel : kernels) {
    SmallVector<atx::LaunchOp> launches;
    module.walk([&](atx::LaunchOp launch) {
      if (launch.getKernel() == kernel.getName())
        launches.push_back(launch);
    });
    if (hasPlan ? launches.size() != 1 || launches.front().getCountMemory() : kernels.size() + others != 1) {
      kernel.emitRemark() << "kernel '" << kernel.getName() << "' is not divided along its sum: "
                          << (hasPlan ? "it is not launched exactly once without a count"
                                      : "the module has other kernels; choose one with '--op'");
      continue;
    }
    bool followsFromTensors = true;
    for (unsigned i = 0; !hasPlan && i < kernel.getNumArguments(); ++i)
      if (kernel.getArgumentTypes()[i].isIndex()) {
        auto name = kernel.getArgAttrOfType<StringAttr>(i, atx::nameAttrName);
        followsFromTensors &= name && findExtent(kernel, name).has_value();
      }
    if (!followsFromTensors) {
      kernel.emitRemark() << "kernel '" << kernel.getName()
                          << "' is not divided along its sum: a dimension is no extent of its tensors";
      continue;
    }
    if (scf::ForOp loop = match(kernel))
      if (failed(divide(kernel, loop)))
        return signalPassFailure();
  }
}
