// Operators on tensors and launch plans: custom form, generic form and bytecode
// are read back.
//
// RUN: atrex-opt %s | FileCheck %s
// RUN: atrex-opt %s | atrex-opt | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s
// RUN: atrex-opt %s -emit-bytecode | atrex-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<?x64xf32>, %u: tensor<8xi8>, %i: tensor<?x1xi32>, %m: tensor<8xi1>, %k: index) {
  // CHECK: atx.tensor_arg argmax %{{.*}} axis 1 : tensor<?x64xf32> -> tensor<?xi32>
  %0 = atx.tensor_arg argmax %x axis 1 : tensor<?x64xf32> -> tensor<?xi32>
  // CHECK: atx.tensor_arg argmin %{{.*}} axis 0 {is_unsigned} : tensor<8xi8> -> tensor<i32>
  %1 = atx.tensor_arg argmin %u axis 0 {is_unsigned} : tensor<8xi8> -> tensor<i32>
  // CHECK: atx.tensor_scan prod %{{.*}} axis 0 {exclusive, reverse} : tensor<?x64xf32>
  %2 = atx.tensor_scan prod %x axis 0 {exclusive, reverse} : tensor<?x64xf32>
  // CHECK: atx.tensor_scan umax %{{.*}} axis 0 : tensor<8xi8>
  %3 = atx.tensor_scan umax %u axis 0 : tensor<8xi8>
  // CHECK: atx.tensor_topk %{{.*}}, %{{.*}} axis 1 {smallest} : tensor<?x64xf32> -> tensor<?x?xf32>, tensor<?x?xi32>
  %4:2 = atx.tensor_topk %x, %k axis 1 {smallest} : tensor<?x64xf32> -> tensor<?x?xf32>, tensor<?x?xi32>
  // CHECK: atx.tensor_rank %{{.*}} axis 0 : tensor<8xi8> -> tensor<8xi32>
  %5 = atx.tensor_rank %u axis 0 : tensor<8xi8> -> tensor<8xi32>
  // CHECK: atx.tensor_histogram %{{.*}} mask %{{.*}} bins %{{.*}} {is_unsigned} : tensor<8xi8> mask tensor<8xi1> -> tensor<?xi32>
  %6 = atx.tensor_histogram %u mask %m bins %k {is_unsigned} : tensor<8xi8> mask tensor<8xi1> -> tensor<?xi32>
  // CHECK: atx.tensor_take %{{.*}}, %{{.*}} axis 0 : tensor<?x64xf32>, tensor<?x1xi32> -> tensor<?x64xf32>
  %7 = atx.tensor_take %x, %i axis 0 : tensor<?x64xf32>, tensor<?x1xi32> -> tensor<?x64xf32>
  return
}

func.func private @kernel(memref<?xf32>, f32, index) attributes {atx.kernel}

// CHECK-LABEL: func.func @plan
func.func @plan(%x: memref<?xf32>, %c: memref<2x2xi32>, %s: f32, %n: index) attributes {atx.plan} {
  // CHECK: atx.launch @kernel(%{{.*}}, %{{.*}}, %{{.*}}) : memref<?xf32>, f32, index
  atx.launch @kernel(%x, %s, %n) : memref<?xf32>, f32, index
  // CHECK: atx.launch @kernel(%{{.*}}, %{{.*}}, %{{.*}}) count %{{.*}}[%{{.*}}, %{{.*}}] : memref<?xf32>, f32, index count memref<2x2xi32>
  atx.launch @kernel(%x, %s, %n) count %c[%n, %n] : memref<?xf32>, f32, index count memref<2x2xi32>
  return
}
