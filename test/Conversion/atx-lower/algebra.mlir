// RUN: atrex-opt %s -atx-lower -canonicalize -cse -split-input-file | FileCheck %s

// Dynamic leaves become i64 values; static ones disappear.

// CHECK-LABEL: func @coordinate
// CHECK-SAME: (%[[I:.*]]: index)
func.func @coordinate(%i: index) -> index {
  // CHECK: %[[X:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK: %[[M:.*]] = arith.muli %[[X]], %c8_i64
  // CHECK: %[[R:.*]] = arith.addi %[[M]], %c12_i64
  // CHECK: %[[O:.*]] = arith.index_cast %[[R]] : i64 to index
  // CHECK: return %[[O]]
  %c = atx.make %i : index -> !atx.int_tuple<(?,3)>
  %l = atx.static : !atx.layout<(4,8):(8,4)>
  %x = atx.crd2idx %c, %l : !atx.int_tuple<(?,3)>, !atx.layout<(4,8):(8,4)>
  %r = atx.get_scalar %x : !atx.int_tuple<?{div=4}>
  return %r : index
}

// -----

// A 1-D coordinate is split with unsigned arithmetic; the last digit is free.

// CHECK-LABEL: func @digits
func.func @digits(%i: index) -> index {
  // CHECK: arith.remui
  // CHECK: arith.divui
  // CHECK-NOT: arith.remui
  %c = atx.make %i : index -> !atx.int_tuple<?>
  %l = atx.static : !atx.layout<(4,8):(8,1)>
  %x = atx.crd2idx %c, %l : !atx.int_tuple<?>, !atx.layout<(4,8):(8,1)>
  %r = atx.get_scalar %x : !atx.int_tuple<?>
  return %r : index
}

// -----

// What divisors prove needs no arithmetic.

// CHECK-LABEL: func @proved
func.func @proved(%i: index) -> index {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-NEXT: return %[[ZERO]]
  %a = atx.make %i : index -> !atx.int_tuple<?{div=8}>
  %b = atx.static : !atx.int_tuple<4>
  %m = atx.mod %a, %b : !atx.int_tuple<?{div=8}>, !atx.int_tuple<4>
  %r = atx.get_scalar %m : !atx.int_tuple<0>
  return %r : index
}

// -----

// Layouts cross function boundaries and loops as their leaves.

// CHECK-LABEL: func private @callee(i64, i64) -> (i64, i64)
func.func private @callee(!atx.layout<(?,8):(?,1)>) -> !atx.layout<(?,8):(?,1)>
// CHECK-LABEL: func @caller
// CHECK-SAME: (%[[M:.*]]: i64, %[[D:.*]]: i64, %{{.*}}: index)
func.func @caller(%l: !atx.layout<(?,8):(?,1)>, %n: index) -> !atx.layout<(?,8):(?,1)> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[M]], %[[B:.*]] = %[[D]]) -> (i64, i64)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %l) -> (!atx.layout<(?,8):(?,1)>) {
    // CHECK: %[[C:.*]]:2 = func.call @callee(%[[A]], %[[B]])
    // CHECK: scf.yield %[[C]]#0, %[[C]]#1
    %y = func.call @callee(%x) : (!atx.layout<(?,8):(?,1)>) -> !atx.layout<(?,8):(?,1)>
    scf.yield %y : !atx.layout<(?,8):(?,1)>
  }
  return %r : !atx.layout<(?,8):(?,1)>
}

// -----

// A promise that is checked traps when it is broken.

// CHECK-LABEL: func @checked
func.func @checked(%i: index) -> index {
  // CHECK: %[[REST:.*]] = arith.remsi %{{.*}}, %c8_i64
  // CHECK: %[[BAD:.*]] = arith.cmpi ne, %[[REST]], %c0_i64
  // CHECK: scf.if %[[BAD]]
  // CHECK-NEXT: llvm.intr.trap
  %a = atx.make %i : index -> !atx.int_tuple<?{div=8}> {checked}
  %r = atx.get_scalar %a : !atx.int_tuple<?{div=8}>
  return %r : index
}
