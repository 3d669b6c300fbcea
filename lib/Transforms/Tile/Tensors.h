//===- Tensors.h - What tells the tensors of a kernel apart -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_TRANSFORMS_TILE_TENSORS_H
#define ATREX_LIB_TRANSFORMS_TILE_TENSORS_H

#include "dialects/Atx/AtxDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace atrex::tile {

/// The tensor that memory is a view of: only a result and the parameter with its name may be one buffer. Null where it
/// is not known, and for shared memory.
inline const void *getTensor(mlir::Value memory) {
  auto cast = memory.getDefiningOp<mlir::memref::ReinterpretCastOp>();
  auto arg = mlir::dyn_cast<mlir::BlockArgument>(cast ? cast.getSource() : memory);
  auto kernel = arg ? mlir::dyn_cast<mlir::gpu::GPUFuncOp>(arg.getOwner()->getParentOp()) : mlir::gpu::GPUFuncOp();
  auto args = kernel ? kernel->getAttrOfType<mlir::ArrayAttr>(atx::kernelArgsAttrName) : mlir::ArrayAttr();
  if (!args || arg.getArgNumber() >= args.size())
    return nullptr;
  auto info = mlir::dyn_cast<mlir::DictionaryAttr>(args[arg.getArgNumber()]);
  mlir::Attribute name = info ? info.get("name") : mlir::Attribute();
  return name ? name.getAsOpaquePointer() : nullptr;
}

/// Tensors that something writes.
class WrittenTensors {
public:
  /// Takes note of a store or atomic operation, and of operations that may write anything.
  void note(mlir::Operation *op) {
    mlir::Value memory;
    if (auto store = mlir::dyn_cast<atx::TileStoreOp>(op))
      memory = store.getMemory();
    else if (auto atomic = mlir::dyn_cast<atx::TileAtomicOp>(op))
      memory = atomic.getMemory();
    else if (mlir::isa<atx::TileRawOp>(op) && !mlir::isMemoryEffectFree(op))
      writesAny = true;
    if (memory && !mlir::cast<mlir::MemRefType>(memory.getType()).getMemorySpace())
      tensors.insert(getTensor(memory));
  }
  bool mayHold(mlir::Value memory) const {
    const void *tensor = getTensor(memory);
    return writesAny || (!tensors.empty() && (!tensor || tensors.contains(nullptr) || tensors.contains(tensor)));
  }

private:
  llvm::SmallPtrSet<const void *, 4> tensors;
  bool writesAny = false;
};

} // namespace atrex::tile

#endif // ATREX_LIB_TRANSFORMS_TILE_TENSORS_H
