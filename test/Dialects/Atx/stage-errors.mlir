// RUN: atrex-opt %s -split-input-file -verify-diagnostics

func.func @scalable(%s: i32) {
  // expected-error @+1 {{a stage holds tiles of rank 1 or more, static shape and at most 4194304 elements, not 'vector<[4]xf32>'}}
  %a = atx.stage_alloc slots 1 order [0] : !atx.stage<vector<[4]xf32>>
  return
}

// -----

func.func @slots() {
  // expected-error @+1 {{a stage has 1 to 8 slots, not 9}}
  %a = atx.stage_alloc slots 9 order [0] : !atx.stage<vector<4xf32>>
  return
}

// -----

func.func @order() {
  // expected-error @+1 {{'order' must name each of the 2 dimensions of 'vector<4x4xf32>' once}}
  %a = atx.stage_alloc slots 1 order [0, 0] : !atx.stage<vector<4x4xf32>>
  return
}

// -----

func.func @pad() {
  // expected-error @+1 {{'pad' must be a multiple of the 4 bytes of an element from 0 to 4096, not 6}}
  %a = atx.stage_alloc slots 1 order [1, 0] pad 6 : !atx.stage<vector<4x4xf32>>
  return
}

// -----

func.func @swizzle() {
  // expected-error @+1 {{'swizzle' is [bits, base, shift], once or twice, with bits 0 to 5, base 0 to 7, shift from bits to 8}}
  %a = atx.stage_alloc slots 1 order [1, 0] swizzle [3, 4, 2] : !atx.stage<vector<4x4xf32>>
  return
}

// -----

func.func @apart() {
  // expected-error @+1 {{'swizzle' with base 0 would take apart elements of 4 bytes}}
  %a = atx.stage_alloc slots 1 order [1, 0] swizzle [2, 0, 3] : !atx.stage<vector<4x4xf32>>
  return
}

// -----

func.func @both() {
  // expected-error @+1 {{a stage is padded or swizzled, not both}}
  %a = atx.stage_alloc slots 1 order [1, 0] pad 16 swizzle [3, 4, 3] : !atx.stage<vector<4x4xf32>>
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @type(%x: vector<8xf32>, %s: i32) {
  %a = atx.stage_alloc slots 1 order [1, 0] : !atx.stage<vector<4x4xf32>>
  // expected-error @+1 {{expects different type}}
  atx.stage_write %x, %a[%s] : !atx.stage<vector<4x4xf32>>
  return
}
