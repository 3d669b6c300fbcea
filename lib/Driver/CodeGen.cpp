//===- CodeGen.cpp - LLVM's code generation, mended -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM 22.1 leaves wait states out behind matrix instructions, which hardware does
// not make up for:
//
// * Its hazard recognizer counts the pseudo instructions that direct the scheduler
//   (sched_group_barrier and its kin) as one each, though none is emitted. They are
//   removed once scheduling is done.
// * Where control flow joins it follows every block once, along the first path that
//   leads there, which need not be the shortest. The shortest is found here, and
//   s_nop added where it is too short.
// * It asks for one too few behind 16 passes on gfx950.
//
// And it keeps an address register for each access of a loop whose offsets differ in
// nothing but what the instruction adds itself: see splitOffsets.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "atrex/Target/MatrixWaitStates.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSchedule.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace atrex;

namespace {

/// Number of the operand of a buffer access that is its offset, where it has one.
std::optional<unsigned> getOffsetOperand(const IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::amdgcn_raw_ptr_buffer_load:
    return 1;
  case Intrinsic::amdgcn_raw_ptr_buffer_store:
    return 2;
  case Intrinsic::amdgcn_raw_ptr_buffer_load_lds:
    return 3;
  default:
    return std::nullopt;
  }
}

/// Offsets of buffer accesses that do not change in a loop are computed in front of it, each in a register of its own,
/// though the instruction adds 12 bits for nothing: selection looks no further than a block. Splits them, so that
/// those which differ in these bits share a register.
bool splitOffsets(Function &function) {
  constexpr uint64_t inInstruction = 4095;
  DenseMap<std::pair<Value *, uint64_t>, Instruction *> parts;
  bool changed = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    std::optional<unsigned> number = call ? getOffsetOperand(*call) : std::nullopt;
    if (!number)
      continue;
    auto *offset = dyn_cast<BinaryOperator>(call->getArgOperand(*number));
    if (!offset || offset->getParent() == call->getParent())
      continue;
    auto *added = dyn_cast<ConstantInt>(offset->getOperand(1));
    bool isDisjoint = offset->getOpcode() == Instruction::Or && cast<PossiblyDisjointInst>(offset)->isDisjoint();
    if (!added || added->getBitWidth() != 32 || added->isNegative() ||
        (offset->getOpcode() != Instruction::Add && !isDisjoint))
      continue;
    uint64_t high = added->getZExtValue() & ~inInstruction, low = added->getZExtValue() & inInstruction;
    if (low == 0)
      continue;
    Value *base = offset->getOperand(0);
    auto create = [&](Value *value, uint64_t more, BasicBlock::iterator at) {
      auto *result =
          BinaryOperator::Create(offset->getOpcode(), value, ConstantInt::get(offset->getType(), more), "", at);
      result->copyIRFlags(offset);
      result->setDebugLoc(offset->getDebugLoc());
      return result;
    };
    if (high != 0) {
      Instruction *&part = parts[{base, high | isDisjoint}];
      // It stands where it serves all.
      if (!part)
        part = create(base, high,
                      isa<Instruction>(base) ? *cast<Instruction>(base)->getInsertionPointAfterDef()
                                             : function.getEntryBlock().getFirstInsertionPt());
      base = part;
    }
    call->setArgOperand(*number, create(base, low, call->getIterator()));
    if (offset->use_empty())
      offset->eraseFromParent();
    changed = true;
  }
  return changed;
}

class SplitOffsets : public FunctionPass {
public:
  static char ID;
  SplitOffsets() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Split offsets of buffer accesses"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesCFG(); }
  bool runOnFunction(Function &function) override { return splitOffsets(function); }
};

char SplitOffsets::ID = 0;

class DropSchedulerPseudos : public MachineFunctionPass {
public:
  static char ID;
  DropSchedulerPseudos() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Drop what directs the scheduler"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &info = *function.getSubtarget().getInstrInfo();
    // By opcode: 1 unknown, 2 kept, 3 dropped. Names are looked up once each.
    SmallVector<uint8_t> verdicts(info.getNumOpcodes(), 1);
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &inst : make_early_inc_range(block.instrs())) {
        uint8_t &verdict = verdicts[inst.getOpcode()];
        if (verdict == 1)
          verdict = StringSwitch<uint8_t>(info.getName(inst.getOpcode()))
                        .Cases({"SCHED_GROUP_BARRIER", "SCHED_BARRIER", "IGLP_OPT"}, 3)
                        .Default(2);
        if (verdict != 3)
          continue;
        if (inst.isBundled())
          inst.eraseFromBundle();
        else
          inst.eraseFromParent();
        changed = true;
      }
    return changed;
  }
};

char DropSchedulerPseudos::ID = 0;

/// A matrix instruction, and the fewest wait states since it on any path.
struct InFlight {
  const MachineInstr *inst;
  unsigned age;
  bool operator==(const InFlight &other) const { return inst == other.inst && age == other.age; }
};
using State = SmallVector<InFlight, 8>;

class AddMatrixWaitStates : public MachineFunctionPass {
public:
  static char ID;
  AddMatrixWaitStates() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Add wait states behind matrix instructions"; }

  bool runOnMachineFunction(MachineFunction &function) override;

private:
  struct Matrix {
    MatrixProducer producer;
    Register result, c;
  };
  const Matrix *getMatrix(const MachineInstr &inst);
  unsigned getNeed(const InFlight &earlier, const MachineInstr &inst);
  /// `state` behind the block; with `insert` adds what is missing.
  void visit(MachineBasicBlock &block, State &state, bool insert);

  const TargetInstrInfo *info = nullptr;
  const TargetRegisterInfo *registers = nullptr;
  TargetSchedModel model;
  bool isGfx950 = false, changed = false;
  DenseMap<const MachineInstr *, Matrix> matrices;
};

char AddMatrixWaitStates::ID = 0;

/// Wait states that an instruction takes.
unsigned getWaitStates(const MachineInstr &inst, StringRef name) {
  if (inst.isBundle() || inst.isMetaInstruction() || inst.isInlineAsm())
    return 0;
  return name == "S_NOP" ? unsigned(inst.getOperand(0).getImm()) + 1 : 1;
}

/// By LLVM's name of the instruction: V_MFMA_F64_16X16X4F64, V_MFMA_F32_32X32X1F32; V_MFMA_F32_16X16X8XF32 is XDL.
MatrixUnit getUnit(StringRef name) {
  if (name.starts_with("V_MFMA_F64_"))
    return name.contains("_4X4X4") ? MatrixUnit::Dgemm4 : MatrixUnit::Dgemm16;
  if (!name.consume_front("V_MFMA_F32_"))
    return MatrixUnit::Xdl;
  StringRef shape = name.take_until([](char c) { return c == '_'; });
  return shape.consume_back("F32") && isDigit(shape.back()) ? MatrixUnit::Sgemm : MatrixUnit::Xdl;
}

} // namespace

const AddMatrixWaitStates::Matrix *AddMatrixWaitStates::getMatrix(const MachineInstr &inst) {
  if (auto it = matrices.find(&inst); it != matrices.end())
    return &it->second;
  StringRef name = info->getName(inst.getOpcode());
  if (!name.starts_with("V_MFMA_") && !name.starts_with("V_SMFMAC_"))
    return nullptr;
  Matrix matrix;
  matrix.producer = {getUnit(name), model.computeInstrLatency(&inst)};
  matrix.result = inst.getOperand(0).getReg();
  // C is the last register that is read and no index: a result of its size, or the result itself where it is tied.
  TypeSize size = registers->getRegSizeInBits(*registers->getMinimalPhysRegClass(matrix.result));
  for (const MachineOperand &operand : inst.explicit_uses())
    if (operand.isReg() && operand.getReg() &&
        registers->getRegSizeInBits(*registers->getMinimalPhysRegClass(operand.getReg())) == size)
      matrix.c = operand.getReg();
  return &matrices.try_emplace(&inst, matrix).first->second;
}

unsigned AddMatrixWaitStates::getNeed(const InFlight &earlier, const MachineInstr &inst) {
  const Matrix &source = matrices.find(earlier.inst)->second;
  const MatrixProducer &producer = source.producer;
  const Matrix *target = getMatrix(inst);
  unsigned need = 0;
  for (const MachineOperand &operand : inst.operands()) {
    if (!operand.isReg() || !operand.getReg() || operand.isImplicit())
      continue;
    Register reg = operand.getReg();
    bool meets = registers->regsOverlap(reg, source.result);
    if (operand.isDef()) {
      if (target)
        continue;
      if (meets)
        need = std::max(need, getOverwriteWaitStates(producer, isGfx950));
      if (source.c && registers->regsOverlap(reg, source.c))
        need = std::max(need, getReadCWaitStates(producer));
      continue;
    }
    if (!meets)
      continue;
    if (target && reg == target->c && operand.isUse())
      need = std::max(need, reg == source.result ? getExactCWaitStates(producer, target->producer.unit)
                                                 : getPartCWaitStates(producer, target->producer.unit, isGfx950));
    else
      need = std::max(need, getResultWaitStates(producer, inst.mayLoadOrStore(), isGfx950));
  }
  return need;
}

void AddMatrixWaitStates::visit(MachineBasicBlock &block, State &state, bool insert) {
  for (auto it = block.instr_begin(), end = block.instr_end(); it != end; ++it) {
    MachineInstr &inst = *it;
    if (inst.isBundle() || inst.isMetaInstruction())
      continue;
    unsigned missing = 0;
    for (const InFlight &earlier : state)
      if (unsigned need = getNeed(earlier, inst); need > earlier.age)
        missing = std::max(missing, need - earlier.age);
    if (missing && insert) {
      // s_nop stands before a bundle.
      MachineBasicBlock::iterator at(getBundleStart(it));
      info->insertNoops(block, at, missing);
      changed = true;
    }
    unsigned passed = missing + getWaitStates(inst, info->getName(inst.getOpcode()));
    for (InFlight &earlier : state)
      earlier.age += passed;
    erase_if(state,
             [&](const InFlight &earlier) { return earlier.age >= maxMatrixWaitStates || earlier.inst == &inst; });
    if (getMatrix(inst))
      state.push_back({&inst, 0});
  }
}

bool AddMatrixWaitStates::runOnMachineFunction(MachineFunction &function) {
  const TargetSubtargetInfo &target = function.getSubtarget();
  info = target.getInstrInfo();
  registers = target.getRegisterInfo();
  model.init(&target);
  isGfx950 = target.getCPU() == "gfx950";
  matrices.clear();
  changed = false;
  bool any = false;
  for (MachineBasicBlock &block : function)
    for (MachineInstr &inst : block.instrs())
      any |= getMatrix(inst) != nullptr;
  if (!any)
    return false;

  DenseMap<const MachineBasicBlock *, State> entries;
  SetVector<MachineBasicBlock *> work;
  ReversePostOrderTraversal<MachineFunction *> order(&function);
  for (MachineBasicBlock *block : order)
    work.insert(block);
  auto take = [&](const State &from, State &to) {
    bool grown = false;
    for (const InFlight &earlier : from) {
      auto known = find_if(to, [&](const InFlight &other) { return other.inst == earlier.inst; });
      if (known == to.end())
        to.push_back(earlier);
      else if (earlier.age < known->age)
        known->age = earlier.age;
      else
        continue;
      grown = true;
    }
    return grown;
  };
  // Ages only shrink, so this ends.
  while (!work.empty()) {
    MachineBasicBlock *block = work.front();
    work.erase(work.begin());
    State state = entries[block];
    visit(*block, state, /*insert=*/false);
    for (MachineBasicBlock *next : block->successors())
      if (take(state, entries[next]))
        work.insert(next);
  }
  for (MachineBasicBlock *block : order) {
    State state = entries[block];
    visit(*block, state, /*insert=*/true);
  }
  return changed;
}

bool atrex::addCodeGenPasses(legacy::PassManager &passes, TargetMachine &machine, raw_pwrite_stream &os,
                             CodeGenFileType type) {
  // As TargetMachine::addPassesToEmitFile, with a few passes more.
  auto *info = new MachineModuleInfoWrapperPass(&machine);
  TargetPassConfig *config = machine.createPassConfig(passes);
  if (!config)
    return false;
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  bool schedules = machine.getOptLevel() != CodeGenOptLevel::None;
  // Behind it nothing moves computations out of loops any more. LLVM does not export its number.
  std::unique_ptr<Pass> prepare(createCodeGenPrepareLegacyPass());
  config->insertPass(prepare->getPassID(), new SplitOffsets());
  config->insertPass(schedules ? &PostMachineSchedulerID : &ExpandPostRAPseudosID, new DropSchedulerPseudos());
  config->insertPass(&PostRAHazardRecognizerID, new AddMatrixWaitStates());
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, os, nullptr, type, info->getMMI().getContext()))
    return false;
  passes.add(createFreeMachineFunctionPass());
  return true;
}
