// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(atx-tile-to-workgroups))'

// expected-error @below {{operator has no 'atx.mapping'; run 'atx-select-mapping' first}}
func.func @mapping(%o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32> attributes {atx.operator} {
  return %o : tensor<?x8xf32>
}

// -----

// expected-error @below {{operator needs a body of one block}}
func.func private @external(%o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>}

// -----

// expected-error @below {{operator needs a body of one block}}
func.func @blocks(%o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  cf.br ^next
^next:
  return %o : tensor<?x8xf32>
}

// -----

func.func @nothing(%o: tensor<?x8xf32> {atx.output, atx.shape = ["T", "8"]})
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  // expected-error @below {{operator has no result to tile}}
  return
}

// -----

func.func @argument(%o: tensor<?x8xf32> {atx.output, atx.shape = ["T", "8"]}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  // expected-error @below {{a result of the operator is not computed by an operation that can be tiled}}
  return %o : tensor<?x8xf32>
}

// -----

func.func @cast(%o: tensor<8x8xf32> {atx.output, atx.shape = ["8", "8"]}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %0 = tensor.cast %o : tensor<8x8xf32> to tensor<?x8xf32>
  // expected-error @below {{a result of the operator is not computed by an operation that can be tiled}}
  return %0 : tensor<?x8xf32>
}

// -----

// expected-error @below {{result argument 0 has no 'atx.shape'}}
func.func @shape(%o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %f : tensor<?x8xf32>
}

// -----

// expected-error @below {{result argument 0 has no 'atx.shape'}}
func.func @empty_shape(%o: tensor<?x8xf32> {atx.output, atx.shape = []}) -> tensor<?x8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %f : tensor<?x8xf32>
}

// -----

// expected-error @below {{two results of the operator have "T" and "S" rows; one loop over workgroups cannot compute both}}
func.func @rows(%a: tensor<?x8xf32> {atx.output, atx.shape = ["T", "8"]}, %b: tensor<?x8xf32> {atx.output, atx.shape = ["S", "8"]}) -> (tensor<?x8xf32>, tensor<?x8xf32>)
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%b : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %f, %g : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// The shapes agree, the types do not.
func.func @types(%a: tensor<?x8xf32> {atx.output, atx.shape = ["T", "8"]}, %b: tensor<16x8xf32> {atx.output, atx.shape = ["T", "8"]}) -> (tensor<?x8xf32>, tensor<16x8xf32>)
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8, 8], extent = [8, 8], threads = 8, layout = <(8):(1E0), (8):(1E1)>>} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error @below {{results of the operator have different numbers of rows; one loop over workgroups cannot compute both}}
  %g = linalg.fill ins(%zero : f32) outs(%b : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %f, %g : tensor<?x8xf32>, tensor<16x8xf32>
}

// -----

func.func @reduction(%x: tensor<?x8xf32>, %o: tensor<8xf32> {atx.output, atx.shape = ["8"]}) -> tensor<8xf32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8], extent = [8], threads = 8, layout = <(8):(1E0), ():()>>} {
  // expected-error @below {{dimension 0 of a result must be parallel to be spread over workgroups}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

func.func @rank0(%o: tensor<f32> {atx.output, atx.shape = ["1"]}) -> tensor<f32>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [8], extent = [8], threads = 8, layout = <(8):(1E0), ():()>>} {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{dimension 0 of a result must be parallel to be spread over workgroups}}
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<f32>) -> tensor<f32>
  return %f : tensor<f32>
}
