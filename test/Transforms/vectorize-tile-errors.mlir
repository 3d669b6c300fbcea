// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(atx-vectorize-tile))'

// Each case is one tile of 8 x 4 elements.

func.func @map(%x: tensor<11xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{indexing map 0 is not a projected permutation, which the row mapping cannot vectorize}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<11xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @transposed_operand(%x: tensor<4x8xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{operand is transposed, which the row mapping does not support}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @transposed_result(%x: tensor<4x8xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{result 0 is written transposed, which the row mapping does not support}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @transposed_reduction(%x: tensor<4x8x2xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{result 0 is written transposed, which the row mapping does not support}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x8x2xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @two_dims(%x: tensor<8xf32>, %o: tensor<?x8xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x8xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 8] [1, 1] : tensor<?x8xf32> to tensor<8x8xf32>
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{operand 0 is used along dimension 1 and along dimension 0 of the results}}
    %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v, %x : tensor<8xf32>, tensor<8xf32>) outs(%os : tensor<8x8xf32>) {
    ^bb0(%a: f32, %c: f32, %b: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
    } -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

func.func @named(%x: tensor<8x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{'linalg.add' is not supported by the row mapping}}
    %y = linalg.add ins(%x, %x : tensor<8x4xf32>, tensor<8x4xf32>) outs(%os : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @no_content(%o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %e = tensor.empty() : tensor<8x4xf32>
    // expected-error @below {{operand 0 reads a tensor without content}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<8x4xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @not_elementwise(%o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%os : tensor<8x4xf32>) {
    ^bb0(%b: f32):
      // expected-error @below {{'linalg.index' cannot be applied to vectors element by element}}
      %j = linalg.index 0 : index
      %j1 = arith.index_cast %j : index to i32
      %j2 = arith.sitofp %j1 : i32 to f32
      linalg.yield %j2 : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @two_combiners(%x: tensor<8x4x2xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{result 0 is not a reduction by one operation}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<8x4x2xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      %t = arith.mulf %s, %a : f32
      linalg.yield %t : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @no_combination(%x: tensor<8x4x2xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<8x4x2xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      // expected-error @below {{'arith.divf' is not a combination of a reduction}}
      %s = arith.divf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @running_value(%x: tensor<8x4x2xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %e = tensor.empty() : tensor<8x4xf32>
    // expected-error @below {{result 0 is not a reduction by one operation}}
    %two:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<8x4x2xf32>) outs(%os, %os : tensor<8x4xf32>, tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.addf %a, %b : f32
      %t = arith.negf %b : f32
      %u = arith.addf %t, %c : f32
      linalg.yield %s, %u : f32, f32
    } -> (tensor<8x4xf32>, tensor<8x4xf32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %two#1 into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @along_rows(%x: tensor<?x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %xs = tensor.extract_slice %x[%i, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @below {{a dimension of the tile has neither a constant extent nor a place in the mapping}}
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%xs : tensor<?x4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<4xf32>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @outside(%x: tensor<8x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>

    scf.forall.in_parallel {
      // expected-error @below {{a result of the tile is not computed in it}}
      tensor.parallel_insert_slice %x into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @rank(%x: tensor<8x4x2xf32>, %o: tensor<?x4x2xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4x2xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4x2xf32>) {
    %os = tensor.extract_slice %out[%i, 0, 0] [8, 4, 2] [1, 1, 1] : tensor<?x4x2xf32> to tensor<8x4x2xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x4x2xf32>) outs(%os : tensor<8x4x2xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x4x2xf32>
    scf.forall.in_parallel {
      // expected-error @below {{a result of rank 3 has no place in a mapping of rank 2}}
      tensor.parallel_insert_slice %y into %out[%i, 0, 0] [8, 4, 2] [1, 1, 1] : tensor<8x4x2xf32> into tensor<?x4x2xf32>
    }
  }
  return %r : tensor<?x4x2xf32>
}

// -----

func.func @buffers(%x: memref<8x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{works on buffers; the row mapping vectorizes tensors}}
    linalg.fill ins(%k : f32) outs(%x : memref<8x4xf32>)
    %y = linalg.fill ins(%k : f32) outs(%os : tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @complex(%x: tensor<8x4xcomplex<f32>>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{elements of type 'complex<f32>' cannot be held in a vector}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xcomplex<f32>>) outs(%os : tensor<8x4xf32>) {
    ^bb0(%a: complex<f32>, %b: f32):
      linalg.yield %k : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @complex_inside(%z: complex<f32>, %p: i1, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%os : tensor<8x4xf32>) {
    ^bb0(%b: f32):
      // expected-error @below {{a value of type 'complex<f32>' cannot be an element of a vector}}
      %q = arith.select %p, %z, %z : complex<f32>
      linalg.yield %k : f32
    } -> tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @no_neutral(%x: tensor<8x3xf4E2M1FN>, %o: tensor<?x3xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x3xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 3], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x3xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 3] [1, 1] : tensor<?x3xf32> to tensor<8x3xf32>
    %e = tensor.empty() : tensor<8xf4E2M1FN>
    %zero = arith.constant 0.0 : f4E2M1FN
    %f = linalg.fill ins(%zero : f4E2M1FN) outs(%e : tensor<8xf4E2M1FN>) -> tensor<8xf4E2M1FN>
    // expected-error @below {{the reduction has no neutral element to fill padding with}}
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x3xf4E2M1FN>) outs(%f : tensor<8xf4E2M1FN>) {
    ^bb0(%a: f4E2M1FN, %b: f4E2M1FN):
      %0 = arith.maximumf %a, %b : f4E2M1FN
      linalg.yield %0 : f4E2M1FN
    } -> tensor<8xf4E2M1FN>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8xf4E2M1FN>) outs(%os : tensor<8x3xf32>) {
    ^bb0(%a: f4E2M1FN, %b: f32):
      %0 = arith.extf %a : f4E2M1FN to f32
      linalg.yield %0 : f32
    } -> tensor<8x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 3] [1, 1] : tensor<8x3xf32> into tensor<?x3xf32>
    }
  }
  return %r : tensor<?x3xf32>
}

// -----

func.func @two_extents(%x: tensor<3xf32>, %o: tensor<?x3xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x3xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 3], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x3xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 3] [1, 1] : tensor<?x3xf32> to tensor<8x3xf32>
    // %x is read whole along the row, padded to 4, and along a dimension of its own, where it has 3 elements.
    %f = linalg.fill ins(%k : f32) outs(%os : tensor<8x3xf32>) -> tensor<8x3xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%os : tensor<8x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x3xf32>
    // expected-error @below {{operand is held with 4 elements along dimension 0 and used with 3}}
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %x : tensor<8x3xf32>, tensor<3xf32>) outs(%f : tensor<8x3xf32>) {
    ^bb0(%a: f32, %c: f32, %b: f32):
      %0 = arith.mulf %a, %c : f32
      %1 = arith.addf %0, %b : f32
      linalg.yield %1 : f32
    } -> tensor<8x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 3] [1, 1] : tensor<8x3xf32> into tensor<?x3xf32>
    }
  }
  return %r : tensor<?x3xf32>
}

// -----

func.func @unused(%x: tensor<8x4xf32>, %o: tensor<?x4xf32> {atx.output}, %n: index, %k: f32) -> tensor<?x4xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xf32>) {
    %os = tensor.extract_slice %out[%i, 0] [8, 4] [1, 1] : tensor<?x4xf32> to tensor<8x4xf32>
    // expected-error @below {{has a use that was not vectorized}}
    %y = linalg.fill ins(%k : f32) outs(%os : tensor<8x4xf32>) -> tensor<8x4xf32>
    %z = arith.constant 0 : index
    %q = tensor.extract %y[%z, %z] : tensor<8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x4xf32>
    }
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @copy_complex(%x: tensor<?x4xcomplex<f32>>, %o: tensor<?x4xcomplex<f32>> {atx.output}, %n: index) -> tensor<?x4xcomplex<f32>>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 4], extent = [8, 4], threads = 8, layout = <(8):(1E0), (4):(1E1)>>} {
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%out = %o) -> (tensor<?x4xcomplex<f32>>) {
    %xs = tensor.extract_slice %x[%i, 0] [8, 4] [1, 1] : tensor<?x4xcomplex<f32>> to tensor<8x4xcomplex<f32>>
    scf.forall.in_parallel {
      // expected-error @below {{elements of type 'complex<f32>' cannot be held in a vector}}
      tensor.parallel_insert_slice %xs into %out[%i, 0] [8, 4] [1, 1] : tensor<8x4xcomplex<f32>> into tensor<?x4xcomplex<f32>>
    }
  }
  return %r : tensor<?x4xcomplex<f32>>
}
