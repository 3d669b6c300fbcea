// What the pass takes away without the module losing what the script looks for is
// gone: here an operation that nothing uses.
//
// RUN: atrex-reduce %s -opt-reduction-pass='opt-pass=canonicalize test=%S/Inputs/interesting.sh' | FileCheck %s
//
// A module that the pass would make uninteresting stays as it is.
// RUN: atrex-reduce %S/Inputs/unused.mlir -opt-reduction-pass='opt-pass=canonicalize test=%S/Inputs/interesting.sh' \
// RUN:   | FileCheck %s --check-prefix=STAYS

// CHECK-LABEL: func.func @f
// CHECK-NOT: atx.size
// CHECK: atx.composition
// CHECK-NOT: atx.size
// CHECK: return

// STAYS: atx.size
// STAYS: atx.composition
func.func @f(%a: !atx.layout<(?,?):(?,1)>, %t: !atx.tile<[4|8]>) -> !atx.layout<(4,8):(?,1)> {
  %0 = atx.size %a : !atx.layout<(?,?):(?,1)>
  %1 = atx.composition %a, %t : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  return %1 : !atx.layout<(4,8):(?,1)>
}
