// RUN: atrex-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{2 extents meet 1 strides}}
func.func private @count() attributes {layout = #atx.tv<(2, 2):(1E0), ():()>}

// -----

// expected-error @below {{stride 8 names no dimension; write it as '8E<dim>'}}
func.func private @no_dim() attributes {layout = #atx.tv<(4):(8), ():()>}

// -----

// expected-error @below {{expected a basis element such as '8E1' or the broadcast stride '0'}}
func.func private @basis() attributes {layout = #atx.tv<(4):(1Q0), ():()>}

// -----

// expected-error @below {{thread mode 0 has extent 0, which must be positive}}
func.func private @extent() attributes {layout = #atx.tv<(0):(1E0), ():()>}

// -----

// expected-error @below {{value mode 0 has stride 0, which must be positive}}
func.func private @stride() attributes {layout = #atx.tv<(4):(1E0), (2):(0)>}

// -----

// expected-error @below {{thread mode 0 has stride -1, which must be positive}}
func.func private @negative() attributes {layout = #atx.tv<(4):(-1E0), ():()>}

// -----

// expected-error @below {{thread mode 0 names dimension 16; a tile has at most 16}}
func.func private @dim() attributes {layout = #atx.tv<(4):(1E16), ():()>}

// -----

// expected-error @below {{value side spans more than 2^31 elements}}
func.func private @span() attributes {layout = #atx.tv<(4):(1E0), (65536, 65536):(1E0, 1E0)>}

// -----

// expected-error @below {{tile has rank 2, extent has rank 1}}
func.func private @rank() attributes {atx.mapping = #atx.mapping<tile = [4, 1], extent = [4], threads = 4, layout = <(4):(1E0), ():()>>}

// -----

// expected-error @below {{dimension 0 uses 5 of 4 elements}}
func.func private @uses() attributes {atx.mapping = #atx.mapping<tile = [4], extent = [5], threads = 4, layout = <(4):(1E0), ():()>>}

// -----

// expected-error @below {{has 4 threads, the mapping 8}}
func.func private @threads() attributes {atx.mapping = #atx.mapping<tile = [4], extent = [4], threads = 8, layout = <(4):(1E0), ():()>>}

// -----

// Two values of one thread meet.
// expected-error @below {{does not cover the tile exactly once}}
func.func private @overlap() attributes {atx.mapping = #atx.mapping<tile = [4], extent = [4], threads = 4, layout = <(4):(1E0), (2):(1E0)>>}

// -----

// Every second element is missed.
// expected-error @below {{does not cover the tile exactly once}}
func.func private @gap() attributes {atx.mapping = #atx.mapping<tile = [8], extent = [8], threads = 4, layout = <(4):(2E0), ():()>>}

// -----

// expected-error @below {{'atx.mapping' must be a mapping, got 3 : i64}}
func.func private @kind() attributes {atx.mapping = 3 : i64}

// -----

func.func @layout_kind(%a: vector<4xf32>) {
  // expected-error @below {{'atx.layout' must be a thread-value layout, got 3 : i64}}
  %0 = arith.negf %a {atx.layout = 3 : i64} : vector<4xf32>
  return
}

// -----

func.func @layout_scalar(%a: f32) {
  // expected-error @below {{'atx.layout' stands on an operation without a vector}}
  %0 = arith.negf %a {atx.layout = #atx.tv<(4):(1E0), ():()>} : f32
  return
}

// -----

func.func @layout_shape(%a: vector<8xf32>) {
  // expected-error @below {{layout #atx.tv<(4):(1E0), ():()> does not cover 'vector<8xf32>' exactly once}}
  %0 = arith.negf %a {atx.layout = #atx.tv<(4):(1E0), ():()>} : vector<8xf32>
  return
}

// -----

// A mode of one element names a dimension, too.
// expected-error @below {{does not cover the tile exactly once}}
func.func private @unit_mode() attributes {atx.mapping = #atx.mapping<tile = [4], extent = [4], threads = 4, layout = <(4, 1):(1E0, 1E9), ():()>>}
