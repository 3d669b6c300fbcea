//===- TileToWorkgroups.cpp - One workgroup per tile of rows ----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Transforms/Passes.h"
#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace atrex {
#define GEN_PASS_DEF_TILETOWORKGROUPSPASS
#include "atrex/Transforms/Passes.h.inc"
} // namespace atrex

using namespace mlir;
using namespace atrex;

namespace {

class TileToWorkgroups : public atrex::impl::TileToWorkgroupsPassBase<TileToWorkgroups> {
public:
  using TileToWorkgroupsPassBase::TileToWorkgroupsPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func->hasAttr(atx::operatorAttrName))
      return;
    auto mapping = func->getAttrOfType<atx::MappingAttr>(atx::mappingAttrName);
    if (!mapping) {
      func.emitError() << "operator has no '" << atx::mappingAttrName << "'; run 'atx-select-mapping' first";
      return signalPassFailure();
    }
    if (failed(tile(func, mapping)))
      return signalPassFailure();
  }

private:
  LogicalResult tile(func::FuncOp func, atx::MappingAttr mapping);
};

} // namespace

/// Replaces every extent of an argument by that of the first argument that has
/// the same expression in `atx.shape`.
static void unifyDims(func::FuncOp func, scf::ForallOp loop, RewriterBase &rewriter) {
  DenseMap<Attribute, Value> known;
  SmallVector<tensor::DimOp> dims;
  func.walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    auto arg = dyn_cast<BlockArgument>(dim.getSource());
    if (arg && arg.getOwner() == loop.getBody())
      if (OpOperand *init = loop.getTiedOpOperand(arg))
        arg = dyn_cast<BlockArgument>(init->get());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!arg || arg.getOwner() != &func.getBody().front() || !index)
      continue;
    auto shape = func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), atx::shapeAttrName);
    if (!shape || *index < 0 || size_t(*index) >= shape.size())
      continue;
    Value &first = known[shape[*index]];
    if (!first) {
      rewriter.setInsertionPointToStart(&func.getBody().front());
      first = tensor::DimOp::create(rewriter, dim.getLoc(), arg, *index);
    }
    rewriter.replaceOp(dim, first);
  }
}

LogicalResult TileToWorkgroups::tile(func::FuncOp func, atx::MappingAttr mapping) {
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "operator needs a body of one block";
  auto returnOp = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  if (mapping.getExtent().empty())
    return func.emitError() << "the operator's mapping has no dimension to spread over workgroups";
  IRRewriter rewriter(func.getContext());

  // One loop per operation that computes a result, in the order of the text.
  SmallVector<Operation *> roots;
  for (Value value : returnOp.getOperands()) {
    Operation *root = value.getDefiningOp();
    if (!root || !isa<TilingInterface>(root))
      return returnOp.emitError() << "a result of the operator is not computed by an operation that can be tiled";
    if (!llvm::is_contained(roots, root))
      roots.push_back(root);
  }
  if (roots.empty())
    return returnOp.emitError() << "operator has no result to tile";
  llvm::sort(roots, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

  // They share one loop, so they must have as many rows.
  Attribute rows;
  for (unsigned index = 0; index < func.getNumArguments(); ++index) {
    if (!func.getArgAttr(index, atx::outputAttrName))
      continue;
    auto shape = func.getArgAttrOfType<ArrayAttr>(index, atx::shapeAttrName);
    if (!shape || shape.empty())
      return func.emitError() << "result argument " << index << " has no '" << atx::shapeAttrName << "'";
    if (rows && rows != shape[0])
      return func.emitError() << "two results of the operator have " << rows << " and " << shape[0]
                              << " rows; one loop over workgroups cannot compute both";
    rows = shape[0];
  }

  SmallVector<Operation *> loops;
  for (Operation *root : roots) {
    auto tileable = cast<TilingInterface>(root);
    unsigned numLoops = tileable.getLoopIteratorTypes().size();
    SmallVector<OpFoldResult> sizes(numLoops, rewriter.getIndexAttr(0));
    if (numLoops == 0 || tileable.getLoopIteratorTypes().front() != utils::IteratorType::parallel)
      return root->emitError() << "dimension 0 of a result must be parallel to be spread over workgroups";
    sizes[0] = rewriter.getIndexAttr(mapping.getExtent()[0]);

    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    options.tilingOptions.setTileSizes(sizes);
    // Besides saying what an iteration is, the mapping keeps a loop of one turn
    // from being folded away.
    options.tilingOptions.setMapping({gpu::GPUBlockMappingAttr::get(func.getContext(), gpu::MappingId::DimX)});
    RewritePatternSet cleanup(func.getContext());
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(cleanup);
    tensor::ExtractSliceOp::getCanonicalizationPatterns(cleanup, func.getContext());
    options.cleanupPatterns = std::move(cleanup);

    rewriter.setInsertionPoint(root);
    FailureOr<scf::SCFTileAndFuseResult> tiled = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, tileable, options);
    if (failed(tiled))
      return root->emitError() << "cannot be tiled along dimension 0";
    numTiled += tiled->tiledAndFusedOps.size();
    if (tiled->loops.empty())
      return root->emitError() << "tiling along dimension 0 left no loop";
    // A result that another result is computed from is computed again in the
    // other's tile, where common subexpressions meet, rather than read back.
    for (auto [original, replacement] : tiled->replacements)
      rewriter.replaceUsesWithIf(original, replacement, [&](OpOperand &use) { return use.getOwner() == returnOp; });
    loops.push_back(tiled->loops.front());
  }

  // Results that share a loop share their inputs.
  auto target = cast<scf::ForallOp>(loops.back());
  for (Operation *loop : llvm::drop_end(loops)) {
    auto source = cast<scf::ForallOp>(loop);
    rewriter.setInsertionPoint(target);
    if (source.getStaticUpperBound() != target.getStaticUpperBound())
      return target.emitError() << "results of the operator have different numbers of rows; one loop over workgroups "
                                << "cannot compute both";
    // The extents are equal expressions (checked above); the loops still take
    // them from different tensors.
    rewriter.modifyOpInPlace(target,
                             [&] { target.getDynamicUpperBoundMutable().assign(source.getDynamicUpperBound()); });
    // Both loops have the same bounds and no dependence; the fused loop stands
    // where the last one does.
    target = fuseIndependentSiblingForallLoops(source, target, rewriter);
  }

  // Equal extents are taken from different tensors; one of them will do, and
  // slices of one tensor become one slice.
  {
    RewritePatternSet patterns(func.getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    if (failed(applyPatternsGreedily(func, std::move(patterns))))
      return func.emitError() << "extents could not be resolved";
  }
  unifyDims(func, target, rewriter);

  // What does not depend on the row (a conversion of a weight, say) was not cut
  // into slices; every workgroup computes it for itself.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front()))) {
    if (!isa<linalg::LinalgOp>(op))
      continue;
    auto usedInside = [&](OpOperand &use) { return target->isProperAncestor(use.getOwner()); };
    if (llvm::any_of(op.getUses(), usedInside)) {
      rewriter.setInsertionPointToStart(target.getBody());
      Operation *copy = rewriter.clone(op);
      for (auto [result, replacement] : llvm::zip_equal(op.getResults(), copy->getResults()))
        rewriter.replaceUsesWithIf(result, replacement, usedInside);
    }
    if (op.use_empty())
      rewriter.eraseOp(&op);
  }
  return success();
}
