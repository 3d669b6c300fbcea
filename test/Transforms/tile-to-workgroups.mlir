// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(atx-tile-to-workgroups,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>

// Two results, one computed from the other, share one loop; the conversion of the weight does not depend on the row
// and is computed whole, by every workgroup for itself. Nothing is left outside.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16> {atx.shape{{.*}}, %[[W:.*]]: tensor<64xbf16>, %[[A:.*]]: tensor<?x64xf32> {atx.output, {{.*}}, %[[B:.*]]: tensor<?x64xf32> {atx.output
// CHECK-NOT: linalg.
// CHECK: %[[R:.*]]:2 = scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (32) shared_outs(%[[AI:.*]] = %[[A]], %[[BI:.*]] = %[[B]])
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<64xbf16>) outs(%{{.*}} : tensor<64xf32>)
// CHECK: %[[S:.*]] = affine.min #{{.*}}(%[[I]])[%{{.*}}]
// CHECK: tensor.extract_slice %[[X]][%[[I]], 0] [%[[S]], 64] [1, 1]
// CHECK: scf.forall.in_parallel
// CHECK-DAG: tensor.parallel_insert_slice %{{.*}} into %[[AI]][%[[I]], 0] [%[[S]], 64] [1, 1]
// CHECK-DAG: tensor.parallel_insert_slice %{{.*}} into %[[BI]][%[[I]], 0] [%{{.*}}, 64] [1, 1]
// CHECK-NOT: scf.forall (
// CHECK-NOT: linalg.
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two(%x: tensor<?x64xbf16> {atx.shape = ["T", "64"]}, %w: tensor<64xbf16>,
               %a: tensor<?x64xf32> {atx.output, atx.shape = ["T", "64"]}, %b: tensor<?x64xf32> {atx.output, atx.shape = ["T", "64"]})
    -> (tensor<?x64xf32>, tensor<?x64xf32>)
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [32, 64], extent = [32, 64], threads = 64, layout = <(2, 32):(8E1, 1E0), (8, 4):(1E1, 16E1)>>} {
  %e = tensor.empty() : tensor<64xf32>
  %wf = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%w : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %first = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xbf16>) outs(%a : tensor<?x64xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<?x64xf32>
  %second = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%first, %wf : tensor<?x64xf32>, tensor<64xf32>) outs(%b : tensor<?x64xf32>) {
  ^bb0(%in: f32, %in1: f32, %out: f32):
    %0 = arith.mulf %in, %in1 : f32
    linalg.yield %0 : f32
  } -> tensor<?x64xf32>
  return %first, %second : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// One operation with two results is one loop; a result of lower rank (the sums of the rows) shares it.
// CHECK-LABEL: func.func @sums
// CHECK: scf.forall {{.*}} step (16) shared_outs(
// CHECK: linalg.fill
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: tensor.parallel_insert_slice
// CHECK-SAME: tensor<?x8xf32>
// CHECK: tensor.parallel_insert_slice
// CHECK-SAME: tensor<?xf32>
// CHECK-NOT: scf.forall (
func.func @sums(%x: tensor<?x8xf32> {atx.shape = ["T", "8"]}, %a: tensor<?x8xf32> {atx.output, atx.shape = ["T", "8"]},
                %b: tensor<?xf32> {atx.output, atx.shape = ["T"]}) -> (tensor<?x8xf32>, tensor<?xf32>)
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [16, 8], extent = [16, 8], threads = 16, layout = <(16):(1E0), (8):(1E1)>>} {
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%a : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %n, %s : tensor<?x8xf32>, tensor<?xf32>
}

// -----

// What is no operator is left alone.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: scf.forall
func.func @plain(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %f : tensor<?x8xf32>
}
