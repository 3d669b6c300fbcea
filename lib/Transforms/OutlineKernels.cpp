//===- OutlineKernels.cpp - GPU kernels from bufferized operators -----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "atrex/Support/DimExpr.h"
#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace atrex {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class OutlineKernels : public atrex::impl::OutlineKernelsPassBase<OutlineKernels> {
public:
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    if (workgroups < 0 || workgroups > INT32_MAX) {
      getOperation().emitError() << "option 'workgroups' is " << int64_t(workgroups)
                                 << "; it must be from 0 to 2^31 - 1";
      return signalPassFailure();
    }
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func->hasAttr(atx::operatorAttrName) && failed(outline(func)))
        return signalPassFailure();
  }

private:
  LogicalResult outline(func::FuncOp func);
};

/// Whether the loop touches `arg` only by slices of rows that belong to the tile.
bool isTiled(BlockArgument arg, scf::ForallOp loop) {
  for (Operation *user : arg.getUsers()) {
    if (isa<memref::DimOp>(user))
      continue;
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view || !loop->isAncestor(view))
      return false;
    auto offset = dyn_cast<Value>(view.getMixedOffsets().front());
    if (!offset || offset != loop.getInductionVar(0))
      return false;
  }
  return !arg.use_empty();
}

/// Operations of the loop that every tile computes alike: reads of whole
/// arguments that the kernel does not write, and what follows from them.
SetVector<Operation *> getInvariantOps(func::FuncOp func, scf::ForallOp loop) {
  SetVector<Operation *> invariant;
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool fixed =
        op.getNumRegions() == 0 && llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return operand != loop.getInductionVar(0) && (!def || !loop->isAncestor(def) || invariant.contains(def));
        });
    if (!fixed)
      continue;
    if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      // Arguments do not overlap: an output is a buffer of its own.
      auto arg = dyn_cast<BlockArgument>(read.getBase());
      if (arg && arg.getOwner() == &func.getBody().front() && !func.getArgAttr(arg.getArgNumber(), atx::outputAttrName))
        invariant.insert(&op);
    } else if (isMemoryEffectFree(&op)) {
      invariant.insert(&op);
    }
  }
  return invariant;
}

} // namespace

LogicalResult OutlineKernels::outline(func::FuncOp func) {
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return func.emitError() << "operator needs a body of one block";
  auto loops = llvm::to_vector(func.getOps<scf::ForallOp>());
  if (loops.size() != 1)
    return func.emitError() << "operator has " << loops.size() << " tiled loops; one kernel needs exactly one";
  scf::ForallOp loop = loops.front();
  auto mapping = func->getAttrOfType<atx::MappingAttr>(atx::mappingAttrName);
  if (!mapping)
    return func.emitError() << "operator has no '" << atx::mappingAttrName << "'";
  std::optional<SmallVector<int64_t>> steps;
  if (auto constants = getConstantIntValues(loop.getMixedStep()))
    steps = llvm::to_vector(*constants);
  auto lower = getConstantIntValues(loop.getMixedLowerBound());
  if (loop.getRank() != 1 || !steps || !lower || lower->front() != 0 || steps->front() < 1 ||
      steps->front() > INT32_MAX)
    return loop.emitError() << "must have one dimension that starts at 0 with a constant step";
  if (loop.getNumResults() != 0)
    return loop.emitError() << "computes tensors; run 'atx-bufferize' first";
  int64_t step = steps->front();

  WalkResult buffers = func.walk([&](Operation *op) {
    if (!isa<memref::AllocOp, memref::AllocaOp, memref::CopyOp>(op))
      return WalkResult::advance();
    op->emitError() << "operator needs a buffer beside its arguments, which a kernel does not have; what it computes "
                    << "must stay inside the tiled loop";
    return WalkResult::interrupt();
  });
  if (buffers.wasInterrupted())
    return failure();

  // Signature: the operator's arguments, then run-time dimensions.
  auto dimNames = func->getAttrOfType<ArrayAttr>(atx::dimsAttrName);
  if (dimNames && !llvm::all_of(dimNames, llvm::IsaPred<StringAttr>))
    return func.emitError() << "'" << atx::dimsAttrName << "' must hold names";
  Builder attrs(func.getContext());
  SetVector<Operation *> invariant = getInvariantOps(func, loop);
  // Only what is read once pays for a loop over tiles.
  bool loopOverTiles = workgroups > 0 && llvm::any_of(invariant, llvm::IsaPred<vector::TransferReadOp>);
  SmallVector<Type> argTypes;
  SmallVector<Attribute> argInfo;
  std::optional<DimExpr> rows;
  for (unsigned index = 0; index < func.getNumArguments() && !rows; ++index) {
    if (!func.getArgAttr(index, atx::outputAttrName) || !isa<MemRefType>(func.getArgumentTypes()[index]))
      continue;
    FailureOr<SmallVector<DimExpr>> exprs = getShapeExprs(func, index);
    if (failed(exprs))
      return failure();
    if (exprs->empty())
      return func.emitError() << "result argument " << index << " has no dimension to spread over workgroups";
    rows = exprs->front();
  }
  if (!rows)
    return func.emitError() << "operator has no result";
  // Tiles of one workgroup: as many as it takes to get by with about
  // `workgroups` of them.
  using Kind = DimExpr::Kind;
  DimExpr tiles = DimExpr::constant(1);
  if (loopOverTiles)
    tiles = DimExpr::binary(Kind::Add, DimExpr::constant(1),
                            DimExpr::binary(Kind::FloorDiv, *rows, DimExpr::constant(step * workgroups)));
  DimExpr rowsPerWorkgroup = DimExpr::binary(Kind::Mul, DimExpr::constant(step), tiles);
  if (std::optional<int64_t> constant = rowsPerWorkgroup.substitute({}).getConstant())
    rowsPerWorkgroup = DimExpr::constant(*constant);
  Attribute global = gpu::AddressSpaceAttr::get(func.getContext(), gpu::AddressSpace::Global);
  SmallVector<SmallVector<DimExpr>> shapes(func.getNumArguments());
  for (BlockArgument arg : func.getArguments()) {
    unsigned index = arg.getArgNumber();
    auto name = func.getArgAttrOfType<StringAttr>(index, atx::nameAttrName);
    if (!name)
      return func.emitError() << "argument " << index << " has no '" << atx::nameAttrName << "'";
    SmallVector<NamedAttribute> info = {attrs.getNamedAttr("name", name)};
    if (auto type = dyn_cast<MemRefType>(arg.getType())) {
      FailureOr<SmallVector<DimExpr>> exprs = getShapeExprs(func, index);
      if (failed(exprs))
        return failure();
      shapes[index] = *exprs;
      bool output = func.getArgAttr(index, atx::outputAttrName) != nullptr;
      info.push_back(attrs.getNamedAttr("kind", attrs.getStringAttr("tensor")));
      auto sourceType = func.getArgAttrOfType<TypeAttr>(index, atx::typeAttrName);
      info.push_back(attrs.getNamedAttr("type", sourceType ? sourceType : TypeAttr::get(type.getElementType())));
      info.push_back(attrs.getNamedAttr("shape", func.getArgAttr(index, atx::shapeAttrName)));
      if (output)
        info.push_back(attrs.getNamedAttr("output", attrs.getUnitAttr()));
      if (isTiled(arg, loop))
        info.push_back(attrs.getNamedAttr("tile", attrs.getStringAttr(rowsPerWorkgroup.str())));
      argTypes.push_back(MemRefType::get({}, type.getElementType(), MemRefLayoutAttrInterface(), global));
    } else if (!arg.getType().isIntOrFloat()) {
      return func.emitError() << "argument " << index << " of type " << arg.getType()
                              << " is neither a buffer nor a scalar";
    } else {
      info.push_back(attrs.getNamedAttr("kind", attrs.getStringAttr("scalar")));
      info.push_back(attrs.getNamedAttr("type", TypeAttr::get(arg.getType())));
      if (Attribute value = func.getArgAttr(index, atx::defaultAttrName))
        info.push_back(attrs.getNamedAttr("default", value));
      argTypes.push_back(arg.getType());
    }
    argInfo.push_back(attrs.getDictionaryAttr(info));
  }
  if (dimNames)
    for (Attribute name : dimNames) {
      argTypes.push_back(attrs.getI64Type());
      argInfo.push_back(attrs.getDictionaryAttr({attrs.getNamedAttr("name", name),
                                                 attrs.getNamedAttr("kind", attrs.getStringAttr("dim")),
                                                 attrs.getNamedAttr("type", TypeAttr::get(attrs.getI64Type()))}));
    }

  OpBuilder builder(func);
  // The kernels of a plan are one code object.
  gpu::GPUModuleOp module;
  if (getOperation()->hasAttr(atx::planAttrName) && !getOperation().getOps<gpu::GPUModuleOp>().empty())
    module = *getOperation().getOps<gpu::GPUModuleOp>().begin();
  else
    module = gpu::GPUModuleOp::create(builder, func.getLoc(), (func.getName() + "_kernels").str());
  builder.setInsertionPointToStart(module.getBody());
  auto kernel =
      gpu::GPUFuncOp::create(builder, func.getLoc(), func.getName(), attrs.getFunctionType(argTypes, TypeRange()));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), attrs.getUnitAttr());
  kernel.setKnownBlockSizeAttr(attrs.getDenseI32ArrayAttr({int32_t(mapping.getThreads()), 1, 1}));
  kernel->setAttr(atx::mappingAttrName, mapping);
  kernel->setAttr(atx::kernelArgsAttrName, attrs.getArrayAttr(argInfo));
  DimExpr grid = DimExpr::binary(Kind::CeilDiv, *rows, rowsPerWorkgroup);
  kernel->setAttr("atx.threads", attrs.getI64IntegerAttr(mapping.getThreads()));
  kernel->setAttr("atx.grid", attrs.getStrArrayAttr({grid.str(), "1", "1"}));
  if (Attribute constraints = func->getAttr("atx.constraints"))
    kernel->setAttr("atx.constraints", constraints);

  Block &entry = kernel.getBody().front();
  builder.setInsertionPointToStart(&entry);
  Location loc = func.getLoc();
  llvm::StringMap<Value> dims;
  if (dimNames)
    for (auto [i, name] : llvm::enumerate(dimNames.getAsValueRange<StringAttr>()))
      dims[name] = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                              entry.getArgument(func.getNumArguments() + i));

  // Buffers of the operator, rebuilt from bare pointers and dimensions.
  IRMapping values;
  for (BlockArgument arg : func.getArguments()) {
    BlockArgument kernelArg = entry.getArgument(arg.getArgNumber());
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type) {
      values.map(arg, kernelArg);
      continue;
    }
    SmallVector<OpFoldResult> sizes, strides(type.getRank(), builder.getIndexAttr(1));
    for (auto [dim, expr] : llvm::enumerate(shapes[arg.getArgNumber()])) {
      if (!type.isDynamicDim(dim)) {
        sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
        continue;
      }
      FailureOr<Value> size = emitExpr(expr, dims, builder, loc);
      if (failed(size))
        return failure();
      sizes.push_back(*size);
    }
    for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
      AffineExpr s0 = builder.getAffineSymbolExpr(0), s1 = builder.getAffineSymbolExpr(1);
      strides[dim] = affine::makeComposedFoldedAffineApply(builder, loc, s0 * s1, {strides[dim + 1], sizes[dim + 1]});
    }
    auto cast = memref::ReinterpretCastOp::create(builder, loc, type, kernelArg, OpFoldResult(builder.getIndexAttr(0)),
                                                  sizes, strides);
    values.map(arg, cast.getResult());
  }

  // What precedes the loop is scalar arithmetic on dimensions.
  for (Operation &op : func.getBody().front()) {
    if (&op == loop || isa<func::ReturnOp>(op))
      continue;
    if (!isMemoryEffectFree(&op))
      return op.emitError() << "operator does something outside of its tiled loop";
    builder.clone(op, values);
  }
  auto index = [&](int64_t value) { return Value(arith::ConstantIndexOp::create(builder, loc, value)); };
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  if (!loopOverTiles) {
    values.map(loop.getInductionVar(0), arith::MulIOp::create(builder, loc, block, index(step)));
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, values);
    gpu::ReturnOp::create(builder, loc);
  } else {
    for (Operation *op : invariant)
      builder.clone(*op, values);
    FailureOr<Value> perWorkgroup = emitExpr(tiles, dims, builder, loc);
    FailureOr<Value> numRows = emitExpr(*rows, dims, builder, loc);
    if (failed(perWorkgroup) || failed(numRows))
      return failure();
    Value first = arith::MulIOp::create(builder, loc, block, *perWorkgroup);
    Value all = arith::CeilDivUIOp::create(builder, loc, *numRows, index(step));
    Value count = arith::MinUIOp::create(builder, loc, *perWorkgroup, arith::SubIOp::create(builder, loc, all, first));
    scf::ForOp::create(builder, loc, index(0), count, index(1), ValueRange(),
                       [&](OpBuilder &b, Location l, Value i, ValueRange) {
                         Value tile = arith::AddIOp::create(b, l, first, i);
                         Value row = arith::MulIOp::create(b, l, tile, arith::ConstantIndexOp::create(b, l, step));
                         values.map(loop.getInductionVar(0), row);
                         for (Operation &op : loop.getBody()->without_terminator())
                           if (!invariant.contains(&op))
                             b.clone(op, values);
                         scf::YieldOp::create(b, l);
                       });
    gpu::ReturnOp::create(builder, loc);
  }

  auto parent = getOperation();
  if (!parent->hasAttr(gpu::GPUDialect::getContainerModuleAttrName()))
    parent->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), attrs.getUnitAttr());
  func.erase();
  return success();
}
