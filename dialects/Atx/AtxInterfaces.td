//===- AtxInterfaces.td - Atoms and algebra operations -----*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXINTERFACES_TD
#define ATREX_DIALECTS_ATX_ATXINTERFACES_TD

include "mlir/IR/OpBase.td"

def Atx_CopyAtomInterface : AttrInterface<"CopyAtomInterface"> {
  let cppNamespace = "::atrex::atx";
  let description = [{
    One instruction that moves data: what a lane moves at once, between which
    memories, and how the instruction is emitted. Registers are the memory space
    `register`; a copy from memory to registers is a load.
  }];
  let methods = [
    InterfaceMethod<"Bits one lane moves.", "int64_t", "getAccessBits", (ins)>,
    InterfaceMethod<"Lanes that act together: 1, or the wave size when the hardware fixes who receives what.",
      "int64_t", "getNumLanes", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<"Whether the atom moves from `source` to `destination`.", "bool", "connects",
      (ins "::atrex::atx::MemorySpace":$source, "::atrex::atx::MemorySpace":$destination)>,
    InterfaceMethod<"Whether a store combines with what memory holds: several lanes may then store to one element.",
      "bool", "isReduction", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"Alignment in bytes that an address needs.", "int64_t", "getAlignment", (ins), [{}],
      [{ return ::llvm::bit_floor(static_cast<uint64_t>($_attr.getAccessBits() < 8 ? 8 : $_attr.getAccessBits())) / 8; }]>,
    InterfaceMethod<[{
        Fails with a diagnostic (C32) when `arch`, an architecture or chip name,
        lacks the instruction. An empty name asks whether any chip has it.
      }], "::llvm::LogicalResult", "verifyTarget",
      (ins "::llvm::StringRef":$arch, "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
        Emits a load of `type`, a vector of `getAccessBits()` bits, from
        `source`. Null when the atom cannot load.
      }], "::mlir::Value", "emitLoad",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "const ::atrex::atx::Address &":$source,
           "::mlir::VectorType":$type), [{}], [{ return ::mlir::Value(); }]>,
    InterfaceMethod<"Emits a store of `value` to `destination`; false when the atom cannot store.", "bool", "emitStore",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$value,
           "const ::atrex::atx::Address &":$destination), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Emits a move from memory to memory that passes no registers; false when
        the atom goes through registers.
      }], "bool", "emitMove",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "const ::atrex::atx::Address &":$source,
           "const ::atrex::atx::Address &":$destination), [{}], [{ return false; }]>
  ];
}

def Atx_MmaAtomInterface : AttrInterface<"MmaAtomInterface"> {
  let cppNamespace = "::atrex::atx";
  let description = [{
    One matrix instruction D = A B + C of a group of lanes: shape, element types,
    where the elements of the operands live, and how it is emitted.
  }];
  let methods = [
    InterfaceMethod<"M, N and K.", "::llvm::SmallVector<int64_t, 3>", "getShape", (ins)>,
    InterfaceMethod<"Lanes that hold the operands together.", "int64_t", "getNumLanes", (ins)>,
    InterfaceMethod<"Element type of an operand.", "::mlir::Type", "getElementType",
      (ins "::atrex::atx::MmaOperand":$operand)>,
    InterfaceMethod<[{
        (lane, value) to m + M*k for A, n + N*k for B, m + M*n for C and D.
      }], "::atrex::layout::Layout", "getOperandLayout", (ins "::atrex::atx::MmaOperand":$operand)>,
    InterfaceMethod<[{
        Fails with a diagnostic (C32) when `arch`, an architecture or chip name,
        lacks the instruction; the message names the chip and the nearest shape
        that exists. An empty name asks whether any chip has it.
      }], "::llvm::LogicalResult", "verifyTarget",
      (ins "::llvm::StringRef":$arch, "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
        Emits the instruction. `a`, `b` and `c` are vectors of one lane's values
        in register order; `extra` holds what the atom needs beyond them (scales,
        sparsity indices).
      }], "::mlir::Value", "emitMma",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$a, "::mlir::Value":$b,
           "::mlir::Value":$c, "::mlir::ValueRange":$extra)>,
    InterfaceMethod<"Number of extra operands.", "unsigned", "getNumExtraOperands", (ins), [{}], [{ return 0; }]>
  ];
}

def Atx_AlgebraOpInterface : OpInterface<"AlgebraOpInterface"> {
  let cppNamespace = "::atrex::atx";
  let description = [{
    An operation of the layout algebra. Type inference, folding and lowering all
    call `evaluateOp`, which calls the one implementation in lib/Layout.
  }];
  let methods = [
    StaticInterfaceMethod<[{
        Evaluates the operation on the values that operand types (or, while code
        is generated, their run-time leaves) stand for. A view is its layout; the
        second result is then the offset of the new view.
      }], "std::optional<::atrex::layout::Results>", "evaluateOp",
      (ins "::atrex::layout::Algebra &":$algebra, "::llvm::ArrayRef<::atrex::layout::Value>":$operands,
           "::mlir::DictionaryAttr":$attributes, "bool":$onView)>
  ];
}

#endif // ATREX_DIALECTS_ATX_ATXINTERFACES_TD
