// RUN: atrex-opt %s -split-input-file -verify-diagnostics --atx-bufferize

// expected-error @below {{operator has no body}}
func.func private @external(%o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32> attributes {atx.operator}

// -----

func.func @blocks(%o: tensor<?x8xf32> {atx.output, bufferization.writable = true}, %c: i1) attributes {atx.operator} {
  cf.cond_br %c, ^one, ^two
^one:
  return
^two:
  return
}
// expected-error @-7 {{operator needs a body of one block}}

// -----

func.func @input(%x: tensor<?x8xf32>, %o: tensor<?x8xf32> {atx.output}) -> tensor<?x8xf32> attributes {atx.operator} {
  // expected-error @below {{result 0 of the operator is not computed in an argument marked 'atx.output'}}
  return %x : tensor<?x8xf32>
}

// -----

func.func @new(%o: tensor<?x8xf32> {atx.output}, %n: index) -> tensor<?x8xf32> attributes {atx.operator} {
  %e = bufferization.alloc_tensor(%n) : tensor<?x8xf32>
  // expected-error @below {{result 0 of the operator is not computed in an argument marked 'atx.output'}}
  return %e : tensor<?x8xf32>
}

// -----

func.func @scalar(%o: tensor<?x8xf32> {atx.output}, %n: f32) -> f32 attributes {atx.operator} {
  // expected-error @below {{result 0 of the operator is not computed in an argument marked 'atx.output'}}
  return %n : f32
}
