// RUN: atrex-opt %s --split-input-file --pass-pipeline='builtin.module(atx-record-plan)' --verify-diagnostics | FileCheck %s

// A dimension that is passed by itself is what its name says.
// CHECK: atx.plan = {dims = ["N"]
// CHECK-SAME: {expr = "N"}, {expr = "N + 1"}]
// CHECK-SAME: dims = {N = "N"}
func.func private @double(memref<?xf32> {atx.name = "x", atx.shape = ["N"]}, index {atx.name = "N"}, index {atx.name = "O"}) attributes {atx.kernel, atx.dims = ["N"]}
func.func @plan(%x: memref<?xf32> {atx.name = "x", atx.shape = ["N"], atx.output}, %n: index {atx.name = "N"}) attributes {atx.plan, atx.dims = ["N"]} {
  %one = arith.constant 1 : index
  %m = arith.addi %n, %one : index
  atx.launch @double(%x, %n, %m) : memref<?xf32>, index, index
  return
}

// -----

func.func private @double(memref<?xf32> {atx.name = "x", atx.shape = ["N"]}, index {atx.name = "O"}) attributes {atx.kernel, atx.dims = ["N"]}
// expected-error @+1 {{an extent of operator 'plan' is an argument that names none of its dimensions}}
func.func @plan(%x: memref<?xf32> {atx.name = "x", atx.shape = ["N"], atx.output}, %o: index {atx.name = "O"}) attributes {atx.plan, atx.dims = ["N"]} {
  atx.launch @double(%x, %o) : memref<?xf32>, index
  return
}
