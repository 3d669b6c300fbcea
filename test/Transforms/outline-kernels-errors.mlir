// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(atx-outline-kernels)'

// expected-error @below {{operator needs a body of one block}}
func.func private @external(%o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.operator}

// -----

// expected-error @below {{operator needs a body of one block}}
func.func @blocks(%o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.operator} {
  cf.br ^b
^b:
  return
}

// -----

// expected-error @below {{operator has 0 tiled loops; one kernel needs exactly one}}
func.func @none(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {

  return
}

// -----

// expected-error @below {{operator has 2 tiled loops; one kernel needs exactly one}}
func.func @two(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %n = arith.constant 8 : index
  scf.forall (%i) = (0) to (%n) step (16) {
  }
  scf.forall (%i) = (0) to (%n) step (16) {
  }
  return
}

// -----

// expected-error @below {{operator has no 'atx.mapping'}}
func.func @nomap(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @rank2(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  // expected-error @below {{must have one dimension that starts at 0 with a constant step}}
  scf.forall (%i, %j) = (0, 0) to (%n, 4) step (16, 1) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @lower(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  // expected-error @below {{must have one dimension that starts at 0 with a constant step}}
  scf.forall (%i) = (16) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @dynamic_step(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  // expected-error @below {{must have one dimension that starts at 0 with a constant step}}
  scf.forall (%i) = (0) to (%n) step (%n) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @dynamic_lower(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  // expected-error @below {{must have one dimension that starts at 0 with a constant step}}
  scf.forall (%i) = (%n) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @step0(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  // expected-error @below {{must have one dimension that starts at 0 with a constant step}}
  scf.forall (%i) = (0) to (%n) step (0) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @tensors(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}, %t: tensor<8xf32> {atx.name = "t"}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  // expected-error @below {{computes tensors; run 'atx-bufferize' first}}
  %r = scf.forall (%i) = (0) to (8) step (1) shared_outs(%s = %t) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
    }
  }
  return
}

// -----

func.func @alloc(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  // expected-error @below {{operator needs a buffer beside its arguments, which a kernel does not have; what it computes must stay inside the tiled loop}}
  %m = memref.alloc() : memref<8xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @alloca(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    // expected-error @below {{operator needs a buffer beside its arguments, which a kernel does not have; what it computes must stay inside the tiled loop}}
    %m = memref.alloca() : memref<8xf32>
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @copy(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  // expected-error @below {{operator needs a buffer beside its arguments, which a kernel does not have; what it computes must stay inside the tiled loop}}
  memref.copy %x, %o : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, #gpu.address_space<global>>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{operator has no result}}
func.func @noresult(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{argument 1 needs 'atx.shape' with 2 extents}}
func.func @noshape(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{argument 0 needs 'atx.shape' with 2 extents}}
func.func @short(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{extent 1 of argument 0 must be a string}}
func.func @number(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", 64]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{extent 0 of argument 0: }}
func.func @syntax(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T +", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{extent 1 of argument 0 is '32', its type says 'memref<}}
func.func @wrong(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "32"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{extent 0 of argument 0 is '16', its type says 'memref<}}
func.func @dynamic(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["16", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{argument 0 has no 'atx.name'}}
func.func @noname(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{'U' is not a run-time dimension of the operator}}
func.func @unknown(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["U", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{'atx.dims' must hold names}}
func.func @dims(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = [3], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{argument 0 of type 'tensor<8xf32>' is neither a buffer nor a scalar}}
func.func @type(%t: tensor<8xf32> {atx.name = "t"}, %x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

// expected-error @below {{result argument 1 has no dimension to spread over workgroups}}
func.func @rank0(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %q: memref<bf16, #gpu.address_space<global>> {atx.name = "q", atx.output, atx.shape = []}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @outside(%x: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "x", atx.shape = ["T", "64"]}, %o: memref<?x64xbf16, #gpu.address_space<global>> {atx.name = "o", atx.output, atx.shape = ["T", "64"]}) attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 64], threads = 128, layout = <(8, 16):(8E1, 1E0), (8):(1E1)>>, atx.dims = ["T"], atx.operator} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = memref.dim %o, %c0 : memref<?x64xbf16, #gpu.address_space<global>>
  scf.forall (%i) = (0) to (%n) step (16) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%i)[%n]
    %xs = memref.subview %x[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    %v = vector.transfer_read %xs[%c0, %c0], %zero {in_bounds = [false, true]} : memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>, vector<16x64xbf16>
    %os = memref.subview %o[%i, 0] [%size, 64] [1, 1] : memref<?x64xbf16, #gpu.address_space<global>> to memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
    vector.transfer_write %v, %os[%c0, %c0] {in_bounds = [false, true]} : vector<16x64xbf16>, memref<?x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<global>>
  }
  // expected-error @below {{operator does something outside of its tiled loop}}
  memref.store %zero, %x[%c0, %c0] : memref<?x64xbf16, #gpu.address_space<global>>
  return
}
