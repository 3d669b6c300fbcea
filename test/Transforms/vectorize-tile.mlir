// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(atx-vectorize-tile,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#min = affine_map<(d0)[s0] -> (-d0 + s0, 16)>

// A reduction over 1000 columns held in 1024: reads are not in bounds along what may reach past the tensor, each input is
// read once however often it is used, the padding is replaced by the sum's zero, and the accumulator is one vector.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x1000xf32>, %[[W:[a-z0-9]+]]: tensor<1000xf32>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<16x1024xf32>
// CHECK: scf.forall
// CHECK-NOT: linalg.
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[V:.*]] = vector.transfer_read %[[SLICE]][%{{.*}}, %{{.*}}], %{{.*}} : tensor<?x1000xf32>, vector<16x1024xf32>
// CHECK: %[[SQ:.*]] = arith.mulf %[[V]], %[[V]] fastmath<contract> : vector<16x1024xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [16, 1000] : vector<16x1024xi1>
// CHECK: %[[ONLY:.*]] = arith.select %[[MASK]], %[[SQ]], %[[ZEROS]]
// CHECK: %[[SUM:.*]] = vector.multi_reduction <add>, %[[ONLY]], %{{.*}} [1] : vector<16x1024xf32> to vector<16xf32>
// CHECK: %[[COLUMN:.*]] = vector.shape_cast %[[SUM]] : vector<16xf32> to vector<16x1xf32>
// CHECK: %[[WIDE:.*]] = vector.broadcast %[[COLUMN]] : vector<16x1xf32> to vector<16x1024xf32>
// CHECK: %[[WV:.*]] = vector.transfer_read %[[W]][%{{.*}}], %{{.*}} : tensor<1000xf32>, vector<1024xf32>
// CHECK: vector.broadcast %[[WV]] : vector<1024xf32> to vector<16x1024xf32>
// CHECK: arith.mulf %[[V]], %[[WIDE]]
// CHECK-NOT: vector.transfer_read
// CHECK: vector.transfer_write %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : vector<16x1024xf32>, tensor<?x1000xf32>
// CHECK-NOT: linalg.
func.func @padded(%x: tensor<?x1000xf32>, %w: tensor<1000xf32>, %o: tensor<?x1000xf32> {atx.output}, %n: index) -> tensor<?x1000xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [16, 1024], extent = [16, 1000], threads = 256, layout = <(16, 16):(8E1, 1E0), (8, 8):(1E1, 128E1)>>} {
  %zero = arith.constant 0.0 : f32
  %r = scf.forall (%i) = (0) to (%n) step (16) shared_outs(%out = %o) -> (tensor<?x1000xf32>) {
    %size = affine.min #min(%i)[%n]
    %xs = tensor.extract_slice %x[%i, 0] [%size, 1000] [1, 1] : tensor<?x1000xf32> to tensor<?x1000xf32>
    %os = tensor.extract_slice %out[%i, 0] [%size, 1000] [1, 1] : tensor<?x1000xf32> to tensor<?x1000xf32>
    %e = tensor.empty(%size) : tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<?x1000xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.mulf %a, %a fastmath<contract> : f32
      %1 = arith.addf %0, %b fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%xs, %s, %w : tensor<?x1000xf32>, tensor<?xf32>, tensor<1000xf32>) outs(%os : tensor<?x1000xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.mulf %0, %c fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<?x1000xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [%size, 1000] [1, 1] : tensor<?x1000xf32> into tensor<?x1000xf32>
    }
  }
  return %r : tensor<?x1000xf32>
}

// -----

#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#outer = affine_map<(d0, d1, d2) -> (d0, d2)>
#min = affine_map<(d0)[s0] -> (-d0 + s0, 2)>

// The reduced dimension is no dimension of the result: not padded, in bounds, no mask. Columns fill the tile: in bounds.
// CHECK-LABEL: func.func @middle
// CHECK: vector.transfer_read {{.*}} {in_bounds = [false, true, true]} : tensor<?x5x64xf32>, vector<2x5x64xf32>
// CHECK-NOT: constant_mask
// CHECK: vector.multi_reduction <maximumf>, %{{.*}}, %{{.*}} [1] : vector<2x5x64xf32> to vector<2x64xf32>
// CHECK: vector.transfer_write {{.*}} {in_bounds = [false, true]}
func.func @middle(%x: tensor<?x5x64xf32>, %o: tensor<?x64xf32> {atx.output}, %n: index) -> tensor<?x64xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [2, 64], extent = [2, 64], threads = 16, layout = <(8, 2):(8E1, 1E0), (8):(1E1)>>} {
  %low = arith.constant 0xFF800000 : f32
  %r = scf.forall (%i) = (0) to (%n) step (2) shared_outs(%out = %o) -> (tensor<?x64xf32>) {
    %size = affine.min #min(%i)[%n]
    %xs = tensor.extract_slice %x[%i, 0, 0] [%size, 5, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x5x64xf32>
    %os = tensor.extract_slice %out[%i, 0] [%size, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
    %f = linalg.fill ins(%low : f32) outs(%os : tensor<?x64xf32>) -> tensor<?x64xf32>
    %s = linalg.generic {indexing_maps = [#id3, #outer], iterator_types = ["parallel", "reduction", "parallel"]} ins(%xs : tensor<?x5x64xf32>) outs(%f : tensor<?x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.maximumf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<?x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[%i, 0] [%size, 64] [1, 1] : tensor<?x64xf32> into tensor<?x64xf32>
    }
  }
  return %r : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Padding of other reductions: what does not change them. Constants and scalars from outside become splats. The index
// type has a neutral element, too.
// CHECK-LABEL: func.func @neutral
// CHECK-DAG: arith.constant dense<2147483647> : vector<8x4xi32>
// CHECK-DAG: arith.constant dense<0xFF800000> : vector<8x4xf32>
// CHECK-DAG: arith.constant dense<0> : vector<8x4xindex>
// CHECK: vector.multi_reduction <minsi>
// CHECK: vector.multi_reduction <maximumf>
// CHECK: vector.multi_reduction <add>, {{.*}}vector<8x4xindex>
func.func @neutral(%x: tensor<?x3xi32>, %y: tensor<?x3xf32>, %z: tensor<?x3xindex>, %a: tensor<?xi32> {atx.output}, %b: tensor<?xf32> {atx.output},
                   %c: tensor<?xindex> {atx.output}, %n: index, %k: i32) -> (tensor<?xi32>, tensor<?xf32>, tensor<?xindex>)
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 3], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r:3 = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%ao = %a, %bo = %b, %co = %c) -> (tensor<?xi32>, tensor<?xf32>, tensor<?xindex>) {
    %xs = tensor.extract_slice %x[%i, 0] [%n, 3] [1, 1] : tensor<?x3xi32> to tensor<?x3xi32>
    %ys = tensor.extract_slice %y[%i, 0] [%n, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
    %zs = tensor.extract_slice %z[%i, 0] [%n, 3] [1, 1] : tensor<?x3xindex> to tensor<?x3xindex>
    %as = tensor.extract_slice %ao[%i] [%n] [1] : tensor<?xi32> to tensor<?xi32>
    %bs = tensor.extract_slice %bo[%i] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %cs = tensor.extract_slice %co[%i] [%n] [1] : tensor<?xindex> to tensor<?xindex>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<?x3xi32>) outs(%as : tensor<?xi32>) {
    ^bb0(%p: i32, %q: i32):
      %seven = arith.constant 7 : i32
      %0 = arith.addi %p, %seven : i32
      %1 = arith.muli %0, %k : i32
      %2 = arith.minsi %1, %q : i32
      linalg.yield %2 : i32
    } -> tensor<?xi32>
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%ys : tensor<?x3xf32>) outs(%bs : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.maximumf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%zs : tensor<?x3xindex>) outs(%cs : tensor<?xindex>) {
    ^bb0(%p: index, %q: index):
      %0 = arith.addi %p, %q : index
      linalg.yield %0 : index
    } -> tensor<?xindex>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %ao[%i] [%n] [1] : tensor<?xi32> into tensor<?xi32>
      tensor.parallel_insert_slice %t into %bo[%i] [%n] [1] : tensor<?xf32> into tensor<?xf32>
      tensor.parallel_insert_slice %u into %co[%i] [%n] [1] : tensor<?xindex> into tensor<?xindex>
    }
  }
  return %r#0, %r#1, %r#2 : tensor<?xi32>, tensor<?xf32>, tensor<?xindex>
}

// -----

// Without a mapping or without the operator's mark nothing happens.
// CHECK-LABEL: func.func @unmapped
// CHECK: linalg.fill
func.func @unmapped(%o: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> attributes {atx.operator} {
  %zero = arith.constant 0.0 : f32
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x8xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 8] [1, 1] : tensor<?x8xf32> to tensor<8x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %out[%i, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// A result that copies an argument.
// CHECK-LABEL: func.func @copy
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK: scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %{{[a-z0-9]+}})
// CHECK: %[[XS:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[V:.*]] = vector.transfer_read %[[XS]]{{.*}} : tensor<?x4xf32>, vector<8x4xf32>
// CHECK: %[[OS:.*]] = tensor.extract_slice %[[OUT]]
// CHECK: %[[W:.*]] = vector.transfer_write %[[V]], %[[OS]]
// CHECK: tensor.parallel_insert_slice %[[W]] into %[[OUT]]
func.func @copy(%x: tensor<?x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %size = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %xs = tensor.extract_slice %x[%i, 0] [%size, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %xs into %out[%i, 0] [%size, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}
