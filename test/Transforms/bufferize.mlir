// RUN: atrex-opt %s --atx-bufferize --cse --canonicalize | FileCheck %s

// Tensors become contiguous buffers in global memory, the result is written in place; nothing is returned, allocated or
// copied.
// CHECK-LABEL: func.func @tile
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}
// CHECK-SAME: %[[O:[a-z0-9]+]]: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}
// CHECK-SAME: attributes {atx.operator}
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (16) {
// CHECK: %[[XS:.*]] = memref.subview %[[X]][%[[I]], 0]
// CHECK: %[[V:.*]] = vector.transfer_read %[[XS]]
// CHECK: %[[OS:.*]] = memref.subview %[[O]][%[[I]], 0]
// CHECK: vector.transfer_write %[[V]], %[[OS]]
// CHECK-NOT: memref.copy
// CHECK: return{{$}}
func.func @tile(%x: tensor<?x64xbf16> {atx.name = "x", atx.shape = ["T", "64"], bufferization.writable = false},
                %o: tensor<?x64xbf16> {atx.name = "o", atx.output, atx.shape = ["T", "64"], bufferization.writable = true}) -> tensor<?x64xbf16> attributes {atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %r = scf.forall (%i) = (0) to (%n) step (16) shared_outs(%out = %o) -> (tensor<?x64xbf16>) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = tensor.extract_slice %x[%i, 0] [%size, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : tensor<?x64xbf16>, vector<16x64xbf16>
    %os = tensor.extract_slice %out[%i, 0] [%size, 64] [1, 1] : tensor<?x64xbf16> to tensor<?x64xbf16>
    %w = vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, tensor<?x64xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %out[%i, 0] [%size, 64] [1, 1] : tensor<?x64xbf16> into tensor<?x64xbf16>
    }
  }
  return %r : tensor<?x64xbf16>
}

// What is no operator keeps its results.
// CHECK-LABEL: func.func @plain
// CHECK: return %{{.*}} : memref<8xf32, #gpu.address_space<global>>
func.func @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
