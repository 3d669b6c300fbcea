// Constraints of the operations of the algebra.
//
// RUN: atrex-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// C1: congruence
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<(1,4,8)>) {
  // expected-error @below {{'atx.make_layout' op C1: shape (4,8) and stride (1,4,8) are not congruent}}
  %0 = atx.make_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<(1,4,8)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.make_layout' op C1: shape (4,8) and stride 1 are not congruent}}
  %0 = atx.make_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<(0,1,2)>) {
  // expected-error @below {{'atx.make_ordered_layout' op C1: shape (4,8) and order (0,1,2) are not congruent}}
  %0 = atx.make_ordered_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<(0,1,2)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C2: extents
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(0,8)>) {
  // expected-error @below {{'atx.make_layout' op C2: extent 0 of shape (0,8) is not positive}}
  %0 = atx.make_layout %a : !atx.int_tuple<(0,8)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(-4,8)>, %b: !atx.int_tuple<(1,4)>) {
  // expected-error @below {{'atx.make_layout' op C2: extent -4 of shape (-4,8) is not positive}}
  %0 = atx.make_layout %a, %b : !atx.int_tuple<(-4,8)>, !atx.int_tuple<(1,4)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,0)>) {
  // expected-error @below {{'atx.make_identity_layout' op C2: extent 0 of shape (4,0) is not positive}}
  %0 = atx.make_identity_layout %a : !atx.int_tuple<(4,0)>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>, %b: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.complement' op C2: codomain size 0 is not positive}}
  %0 = atx.complement %a, %b : !atx.layout<4:1>, !atx.int_tuple<0>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.make_fragment_like' op C2: stages must be at least 1, got 0}}
  %0 = atx.make_fragment_like %a {stages = 0 : i64} : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,*)>) {
  // expected-error @below {{'atx.make_layout' op C2: extent * of shape (4,*) is not a positive integer}}
  %0 = atx.make_layout %a : !atx.int_tuple<(4,*)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C3: the coordinate fits the shape
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(1,2,3)>, %b: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.crd2idx' op C3: coordinate has rank 3 but the layout has rank 2}}
  %0 = atx.crd2idx %a, %b : !atx.int_tuple<(1,2,3)>, !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<((1,2),3)>, %b: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.crd2idx' op C3: coordinate (1,2) is deeper than the shape 4}}
  %0 = atx.crd2idx %a, %b : !atx.int_tuple<((1,2),3)>, !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.int_tuple<(*,*,1)>) {
  // expected-error @below {{'atx.slice' op C3: coordinate (*,*,1) has rank 3 but (4,8) has rank 2}}
  %0 = atx.slice %a, %b : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,*,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.int_tuple<(1,(1,1))>) {
  // expected-error @below {{'atx.dice' op C3: coordinate (1,1) is deeper than the shape 8}}
  %0 = atx.dice %a, %b : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(1,(1,1))>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(*,1)>, %b: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.crd2idx' op C3: coordinate * must be an integer here}}
  %0 = atx.crd2idx %a, %b : !atx.int_tuple<(*,1)>, !atx.layout<(4,8):(1,4)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C4: static coordinates are not negative
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(-1,0)>, %b: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.crd2idx' op C4: coordinate -1 is negative}}
  %0 = atx.crd2idx %a, %b : !atx.int_tuple<(-1,0)>, !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<(-1,*)>) {
  // expected-error @below {{'atx.slice' op C4: coordinate -1 is negative}}
  %0 = atx.slice %a, %b : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(-1,*)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (128,64):(64,1)>, %b: !atx.tile<[32|16]>, %c: !atx.int_tuple<(-1,0)>) {
  // expected-error @below {{'atx.local_tile' op C4: coordinate -1 is negative}}
  %0 = atx.local_tile %a, %b, %c : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(-1,0)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C5: modes
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.get' op C5: mode 2 is out of range for rank 2}}
  %0 = atx.get %a {mode = array<i64: 2>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.get' op C5: mode -1 is out of range for rank 2}}
  %0 = atx.get %a {mode = array<i64: -1>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.get' op C5: mode 1 is out of range for rank 1}}
  %0 = atx.get %a {mode = array<i64: 1, 1>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.get' op C5: the mode list of get is empty}}
  %0 = atx.get %a {mode = array<i64>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.get' op C5: mode 9223372036854775807 is out of range for rank 2}}
  %0 = atx.get %a {mode = array<i64: 9223372036854775807>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.take' op C5: range [1,1) is empty or outside rank 2}}
  %0 = atx.take %a {begin = 1 : i64, end = 1 : i64} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.take' op C5: range [0,3) is empty or outside rank 2}}
  %0 = atx.take %a {begin = 0 : i64, end = 3 : i64} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>) {
  // expected-error @below {{'atx.take' op C5: range [-1,1) is empty or outside rank 2}}
  %0 = atx.take %a {begin = -1 : i64, end = 1 : i64} : !atx.int_tuple<(4,8)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.select' op C5: index 2 is out of range for rank 2}}
  %0 = atx.select %a {indices = array<i64: 0, 2>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.select' op C5: the index list of select is empty}}
  %0 = atx.select %a {indices = array<i64>} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.group' op C5: range [0,3) is empty or outside rank 2}}
  %0 = atx.group %a {begin = 0 : i64, end = 3 : i64} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.layout<2:32>) {
  // expected-error @below {{'atx.append' op C5: append: target rank 1 is below the rank 2 of the operand}}
  %0 = atx.append %a, %b {rank = 1 : i64} : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.prepend' op C5: prepend: target rank 0 is below the rank 2 of the operand}}
  %0 = atx.prepend %a, %b {rank = 0 : i64} : !atx.int_tuple<(4,8)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.append' op C5: append: target rank 9223372036854775807 is above the limit of 256}}
  %0 = atx.append %a, %b {rank = 9223372036854775807 : i64} : !atx.int_tuple<(4,8)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.int_tuple<(1,2)>) {
  // expected-error @below {{'atx.slice' op C5: the coordinate keeps no mode: use crd2idx for a full coordinate}}
  %0 = atx.slice %a, %b : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(1,2)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.int_tuple<(*,*)>) {
  // expected-error @below {{'atx.dice' op C5: the coordinate keeps no mode}}
  %0 = atx.dice %a, %b : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,*)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.int_tuple<(1,1,1)>) {
  // expected-error @below {{'atx.coalesce' op C5: profile (1,1,1) has more modes than (4,8):(1,4)}}
  %0 = atx.coalesce %a, %b : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(1,1,1)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C6: congruent operands
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.add' op C6: (1,2) and 1 are not congruent}}
  %0 = atx.add %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<(1,2,3)>) {
  // expected-error @below {{'atx.sub' op C6: (1,2) and (1,2,3) are not congruent}}
  %0 = atx.sub %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<(1,2,3)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,(2,3))>, %b: !atx.int_tuple<((1,2),3)>) {
  // expected-error @below {{'atx.mul' op C6: (1,(2,3)) and ((1,2),3) are not congruent}}
  %0 = atx.mul %a, %b : !atx.int_tuple<(1,(2,3))>, !atx.int_tuple<((1,2),3)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.min' op C6: (1,2) and 1 are not congruent}}
  %0 = atx.min %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<1>, %b: !atx.int_tuple<(1,2)>) {
  // expected-error @below {{'atx.max' op C6: 1 and (1,2) are not congruent}}
  %0 = atx.max %a, %b : !atx.int_tuple<1>, !atx.int_tuple<(1,2)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.div' op C6: (1,2) and 1 are not congruent}}
  %0 = atx.div %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.mod' op C6: (1,2) and 1 are not congruent}}
  %0 = atx.mod %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.elem_less' op C6: (1,2) and 1 are not congruent}}
  %0 = atx.elem_less %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(2,3)>, %b: !atx.int_tuple<(1,1,1)>) {
  // expected-error @below {{'atx.product_like' op C6: guide (1,1,1) does not fit (2,3)}}
  %0 = atx.product_like %a, %b : !atx.int_tuple<(2,3)>, !atx.int_tuple<(1,1,1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(2,3)>, %b: !atx.int_tuple<(2,3,4)>) {
  // expected-error @below {{'atx.shape_div' op C6: shape_div: (2,3) has rank 2 but (2,3,4) has rank 3}}
  %0 = atx.shape_div %a, %b : !atx.int_tuple<(2,3)>, !atx.int_tuple<(2,3,4)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C7: divisors
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<(1,2)>, %b: !atx.int_tuple<(0,1)>) {
  // expected-error @below {{'atx.div' op C7: 1 is divided by zero}}
  %0 = atx.div %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<(0,1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<3>, %b: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.mod' op C7: 3 is divided by zero}}
  %0 = atx.mod %a, %b : !atx.int_tuple<3>, !atx.int_tuple<0>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.ceil_div' op C7: the divisor of ceil_div must be positive, got 0}}
  %0 = atx.ceil_div %a, %b : !atx.int_tuple<4>, !atx.int_tuple<0>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.int_tuple<-2>) {
  // expected-error @below {{'atx.ceil_div' op C7: the divisor of ceil_div must be positive, got -2}}
  %0 = atx.ceil_div %a, %b : !atx.int_tuple<4>, !atx.int_tuple<-2>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.shape_div' op C7: 4 is divided by zero}}
  %0 = atx.shape_div %a, %b : !atx.int_tuple<4>, !atx.int_tuple<0>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C8: 64 bits
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<9223372036854775807>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.add' op C8: 9223372036854775807 + 1 does not fit in 64 bits}}
  %0 = atx.add %a, %b : !atx.int_tuple<9223372036854775807>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<-9223372036854775808>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.sub' op C8: -9223372036854775808 - 1 does not fit in 64 bits}}
  %0 = atx.sub %a, %b : !atx.int_tuple<-9223372036854775808>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4294967296>, %b: !atx.int_tuple<4294967296>) {
  // expected-error @below {{'atx.mul' op C8: 4294967296 * 4294967296 does not fit in 64 bits}}
  %0 = atx.mul %a, %b : !atx.int_tuple<4294967296>, !atx.int_tuple<4294967296>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<-9223372036854775808>, %b: !atx.int_tuple<-1>) {
  // expected-error @below {{'atx.div' op C8: 0 - -9223372036854775808 does not fit in 64 bits}}
  %0 = atx.div %a, %b : !atx.int_tuple<-9223372036854775808>, !atx.int_tuple<-1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4294967296,4294967296)>) {
  // expected-error @below {{'atx.product' op C8: 4294967296 * 4294967296 does not fit in 64 bits}}
  %0 = atx.product %a : !atx.int_tuple<(4294967296,4294967296)>
  return
}

// -----

// expected-error @below {{C8: 4294967296 * 4294967296 does not fit in 64 bits}}
func.func @f(%a: !atx.layout<(4294967296,4294967296):(1,4294967296)>) {
  %0 = atx.cosize %a : !atx.layout<(4294967296,4294967296):(1,4294967296)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4294967296,4294967296,2)>) {
  // expected-error @below {{'atx.make_layout' op C8: 4294967296 * 4294967296 does not fit in 64 bits}}
  %0 = atx.make_layout %a : !atx.int_tuple<(4294967296,4294967296,2)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(9223372036854775807,1)>, %b: !atx.layout<(4,8):(2,1)>) {
  // expected-error @below {{'atx.crd2idx' op C8: 9223372036854775807 * 2 does not fit in 64 bits}}
  %0 = atx.crd2idx %a, %b : !atx.int_tuple<(9223372036854775807,1)>, !atx.layout<(4,8):(2,1)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C9: one of the two divides the other
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<8>, %b: !atx.int_tuple<3>) {
  // expected-error @below {{'atx.shape_div' op C9: shape_div: neither of 8 and 3 divides the other}}
  %0 = atx.shape_div %a, %b : !atx.int_tuple<8>, !atx.int_tuple<3>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<?>, %b: !atx.int_tuple<3>) {
  // expected-error @below {{'atx.shape_div' op C9: shape_div: cannot prove that 3 divides ?}}
  // expected-note @below {{give the dynamic value a divisor, such as '?{div=8}', or ask for a run-time assertion}}
  %0 = atx.shape_div %a, %b : !atx.int_tuple<?>, !atx.int_tuple<3>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C10: composition divides
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,6):(1,7)>, %b: !atx.layout<3:3>) {
  // expected-error @below {{'atx.composition' op C10: cannot compose: stride 3 does not divide extent 4 of leaf 0 of (4,6):(1,7)}}
  %0 = atx.composition %a, %b : !atx.layout<(4,6):(1,7)>, !atx.layout<3:3>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,6):(1,7)>, %b: !atx.layout<6:1>) {
  // expected-error @below {{'atx.composition' op C10: cannot compose: extent of the right operand: 4 does not divide 6}}
  %0 = atx.composition %a, %b : !atx.layout<(4,6):(1,7)>, !atx.layout<6:1>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.layout<4:-1>) {
  // expected-error @below {{'atx.composition' op C10: cannot compose: stride -1 of the right operand is negative}}
  %0 = atx.composition %a, %b : !atx.layout<(4,8):(1,4)>, !atx.layout<4:-1>
  return
}

// -----

func.func @f(%a: !atx.layout<(?,8):(1,?)>, %b: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.composition' op C10: cannot compose: cannot prove how extent 4 with stride 1 of the right operand falls into extent ? of leaf 0 of (?,8):(1,?)}}
  %0 = atx.composition %a, %b : !atx.layout<(?,8):(1,?)>, !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,6):(1,7)>, %b: !atx.int_tuple<3>) {
  // expected-error @below {{'atx.logical_divide' op C10: cannot compose: stride 3 does not divide extent 4 of leaf 0 of (4,6):(1,7)}}
  %0 = atx.logical_divide %a, %b : !atx.layout<(4,6):(1,7)>, !atx.int_tuple<3>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C11: modes do not carry
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(2,4,3):(4,1,8)>, %b: !atx.layout<(2,2):(6,2)>) {
  // expected-error @below {{'atx.composition' op C11: cannot compose: modes of the right operand carry out of extent 4 (largest digit 4)}}
  %0 = atx.composition %a, %b : !atx.layout<(2,4,3):(4,1,8)>, !atx.layout<(2,2):(6,2)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C12: strides nest
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(3,2):(1,2)>, %b: !atx.int_tuple<12>) {
  // expected-error @below {{'atx.complement' op C12: layout (3,2):(1,2) has overlapping modes: stride 2 is below the span 3}}
  %0 = atx.complement %a, %b : !atx.layout<(3,2):(1,2)>, !atx.int_tuple<12>
  return
}

// -----

func.func @f(%a: !atx.layout<(2,3):(2,3)>, %b: !atx.layout<2:1>) {
  // expected-error @below {{'atx.logical_product' op C12: layout (2,3):(2,3) has overlapping modes: stride 3 is below the span 4}}
  %0 = atx.logical_product %a, %b : !atx.layout<(2,3):(2,3)>, !atx.layout<2:1>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,4):(1,8)>, %b: !atx.int_tuple<(8,8)>, %c: !atx.int_tuple<(0,1)>) {
  // expected-error @below {{'atx.tile_to_shape' op C12: block (4,4):(1,8) is not compact}}
  %0 = atx.tile_to_shape %a, %b, %c : !atx.layout<(4,4):(1,8)>, !atx.int_tuple<(8,8)>, !atx.int_tuple<(0,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(1024,1024,3):(3,3072,5)>) {
  // expected-error @below {{'atx.injective' op C12: injectivity of (1024,1024,3):(3,3072,5) is not proved: the domain of (1024,1024,3):(3,3072,5) has 3145728 elements; at most 65536 are enumerated}}
  %0 = atx.injective %a : !atx.layout<(1024,1024,3):(3,3072,5)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C13: static values
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(2,4):(?,1)>, %b: !atx.int_tuple<32>) {
  // expected-error @below {{'atx.complement' op C13: complement of (2,4):(?,1): a dynamic stride is allowed only with one leaf}}
  %0 = atx.complement %a, %b : !atx.layout<(2,4):(?,1)>, !atx.int_tuple<32>
  return
}

// -----

func.func @f(%a: !atx.layout<(2,4):(?,1)>) {
  // expected-error @below {{'atx.right_inverse' op C13: right_inverse of (2,4):(?,1): a dynamic stride is allowed only with one leaf}}
  %0 = atx.right_inverse %a : !atx.layout<(2,4):(?,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(2,4):(?,1)>) {
  // expected-error @below {{'atx.left_inverse' op C13: left_inverse of (2,4):(?,1): a dynamic stride is allowed only with one leaf}}
  %0 = atx.left_inverse %a : !atx.layout<(2,4):(?,1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<(?,0)>) {
  // expected-error @below {{'atx.make_ordered_layout' op C13: order (?,0) must be static integers}}
  %0 = atx.make_ordered_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<(?,0)>
  return
}

// -----

func.func @f(%a: !atx.layout<?:1>, %b: !atx.layout<?:1>) {
  // expected-error @below {{'atx.equal' op C13: equal needs static values}}
  %0 = atx.equal %a, %b : !atx.layout<?:1>, !atx.layout<?:1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<?>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.elem_less' op C13: comparing ? with 4 needs static values}}
  %0 = atx.elem_less %a, %b : !atx.int_tuple<?>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,?):(1,4)>) {
  // expected-error @below {{'atx.compact' op C13: compactness of (4,?):(1,4) needs static leaves}}
  %0 = atx.compact %a : !atx.layout<(4,?):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<1,0,1> o 0 o (4,?):(1,4)>) {
  // expected-error @below {{'atx.cosize' op C13: S<1,0,1>o0o(4,?):(1,4) has dynamic parts and cannot be enumerated}}
  %0 = atx.cosize %a : !atx.composed_layout<S<1,0,1> o 0 o (4,?):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,4):(?,1)>) {
  // expected-error @below {{'atx.make_layout_like' op C13: make_layout_like orders the leaves of (4,4):(?,1) by stride, which must be static}}
  %0 = atx.make_layout_like %a : !atx.layout<(4,4):(?,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(8,8):(8,1)>, %b: !atx.int_tuple<(16,64)>, %c: !atx.int_tuple<(?,1)>) {
  // expected-error @below {{'atx.tile_to_shape' op C13: order (?,1) must be static integers}}
  %0 = atx.tile_to_shape %a, %b, %c : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(?,1)>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.static' op C13: '!atx.layout<(4,?):(1,4)>' is not static}}
  %0 = atx.static : !atx.layout<(4,?):(1,4)>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.static' op C13: '!atx.view<f32, global, 4:1>' is not static}}
  %0 = atx.static : !atx.view<f32, global, 4:1>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C14: integer strides
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,8):(1E0,1E1)>, %b: !atx.int_tuple<32>) {
  // expected-error @below {{'atx.complement' op C14: complement needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.complement %a, %b : !atx.layout<(4,8):(1E0,1E1)>, !atx.int_tuple<32>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.right_inverse' op C14: right_inverse needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.right_inverse %a : !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.left_inverse' op C14: left_inverse needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.left_inverse %a : !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.recast' op C14: recast to a wider type needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<3>, %b: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.idx2crd' op C14: idx2crd needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.idx2crd %a, %b : !atx.int_tuple<3>, !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<3>, %b: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.get_1d_coord' op C14: idx2crd needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.get_1d_coord %a, %b : !atx.int_tuple<3>, !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<3>, %b: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.get_flat_coord' op C14: idx2crd needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.get_flat_coord %a, %b : !atx.int_tuple<3>, !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.max_alignment' op C14: max_alignment needs an integer codomain, (4,8):(1E0,1E1) has coordinate-valued strides}}
  %0 = atx.max_alignment %a : !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<1E0>, %b: !atx.int_tuple<1>) {
  // expected-error @below {{'atx.add' op C14: basis element 1E0 is not an integer: addition needs a number here}}
  %0 = atx.add %a, %b : !atx.int_tuple<1E0>, !atx.int_tuple<1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<(1E0,1)>) {
  // expected-error @below {{'atx.make_layout' op C14: layout (4,8):(1E0,1) mixes integer and coordinate-valued strides}}
  %0 = atx.make_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<(1E0,1)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C15: strides are not negative
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,8):(-1,4)>, %b: !atx.int_tuple<64>) {
  // expected-error @below {{'atx.complement' op C15: complement needs non-negative strides, (4,8):(-1,4) has -1}}
  %0 = atx.complement %a, %b : !atx.layout<(4,8):(-1,4)>, !atx.int_tuple<64>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,-4)>) {
  // expected-error @below {{'atx.right_inverse' op C15: right_inverse needs non-negative strides, (4,8):(1,-4) has -4}}
  %0 = atx.right_inverse %a : !atx.layout<(4,8):(1,-4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,-4)>) {
  // expected-error @below {{'atx.left_inverse' op C15: left_inverse needs non-negative strides, (4,8):(1,-4) has -4}}
  %0 = atx.left_inverse %a : !atx.layout<(4,8):(1,-4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,-4)>) {
  // expected-error @below {{'atx.recast' op C15: recast to a wider type needs non-negative strides, (4,8):(1,-4) has -4}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,8):(1,-4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,-4)>) {
  // expected-error @below {{'atx.max_alignment' op C15: max_alignment needs non-negative strides, (4,8):(1,-4) has -4}}
  %0 = atx.max_alignment %a : !atx.layout<(4,8):(1,-4)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C16: left inverse
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,4):(0,1)>) {
  // expected-error @below {{'atx.left_inverse' op C16: left_inverse of (4,4):(0,1), which is not injective: extent 4 has stride 0}}
  %0 = atx.left_inverse %a : !atx.layout<(4,4):(0,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,2):(2,9)>) {
  // expected-error @below {{'atx.left_inverse' op C16: left_inverse of (4,2):(2,9): sorted strides 2 and 9 are not a divisor chain}}
  %0 = atx.left_inverse %a : !atx.layout<(4,2):(2,9)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C17: not defined for this layout
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.composed_inner' op C17: composed_inner: 4:1 is not a composed layout}}
  %0 = atx.composed_inner %a : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.composed_offset' op C17: composed_offset: 4:1 is not a composed layout}}
  %0 = atx.composed_offset %a : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.swizzle<S<3,3,3>>) {
  // expected-error @below {{'atx.composed_outer' op C17: composed_outer: S<3,3,3> is not a composed layout}}
  %0 = atx.composed_outer %a : !atx.swizzle<S<3,3,3>>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, %b: !atx.int_tuple<512>) {
  // expected-error @below {{'atx.complement' op C17: complement is not defined for S<3,3,3>o0o(8,64):(64,1)}}
  %0 = atx.complement %a, %b : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<512>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>) {
  // expected-error @below {{'atx.left_inverse' op C17: left_inverse is not defined for S<3,3,3>o8o(8,64):(64,1)}}
  %0 = atx.left_inverse %a : !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>) {
  // expected-error @below {{'atx.right_inverse' op C17: right_inverse of S<3,3,3>o8o(8,64):(64,1) needs a swizzle, offset 0 and a plain outer layout}}
  %0 = atx.right_inverse %a : !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>) {
  // expected-error @below {{'atx.get_stride' op C17: S<3,3,3>o0o(8,64):(64,1) has no stride}}
  %0 = atx.get_stride %a : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, %b: !atx.int_tuple<2>) {
  // expected-error @below {{'atx.logical_product' op C17: a product with S<3,3,3>o0o(8,64):(64,1) on the left is not defined}}
  %0 = atx.logical_product %a, %b : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<2>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, %b: !atx.int_tuple<0>, %c: !atx.layout<4:1>) {
  // expected-error @below {{'atx.make_composed_layout' op C17: the inner part of a composed layout is a layout or a swizzle, not S<3,3,3>o0o(8,64):(64,1)}}
  %0 = atx.make_composed_layout %a, %b, %c : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<0>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (512,512):(512,1)>) {
  // expected-error @below {{'atx.cosize' op C17: the domain of S<3,3,3>o0o(512,512):(512,1) has 262144 elements; at most 65536 are enumerated}}
  %0 = atx.cosize %a : !atx.composed_layout<S<3,3,3> o 0 o (512,512):(512,1)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>, %b: !atx.int_tuple<(16,64)>, %c: !atx.int_tuple<(0,1)>) {
  // expected-error @below {{'atx.tile_to_shape' op C17: tile_to_shape of S<3,3,3>o8o(8,64):(64,1) needs offset 0}}
  %0 = atx.tile_to_shape %a, %b, %c : !atx.composed_layout<S<3,3,3> o 8 o (8,64):(64,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(0,1)>
  return
}

// -----

func.func @f(%a: !atx.swizzle<S<3,3,3>>) {
  // expected-error @below {{'atx.size' op C17: S<3,3,3> has no shape}}
  %0 = atx.size %a : !atx.swizzle<S<3,3,3>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C18, C19, C20, C22: recast
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.recast' op C18: recast: 24 bits are not a multiple of 16 bits}}
  %0 = atx.recast %a {from = 16 : i64, to = 24 : i64} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>) {
  // expected-error @below {{'atx.recast' op C18: recast from 0 to 8 bits: widths are between 1 and 2^20}}
  %0 = atx.recast %a {from = 0 : i64, to = 8 : i64} : !atx.layout<(4,8):(1,4)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>) {
  // expected-error @below {{'atx.recast' op C18: recast of S<3,3,3> needs a ratio that is a power of two, got 3}}
  %0 = atx.recast %a {from = 8 : i64, to = 24 : i64} : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<(3,8):(1,3)>) {
  // expected-error @below {{'atx.recast' op C19: recast: extent of stride 1: 2 does not divide 3}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.layout<(3,8):(1,3)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(2,8)>) {
  // expected-error @below {{'atx.recast' op C19: recast: the elements of (4,8):(2,8) do not fill whole groups of 2}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,8):(2,8)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,?):(1,?)>) {
  // expected-error @below {{'atx.recast' op C19: recast: cannot prove that 2 divides stride ?}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,?):(1,?)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(2,8)>) {
  // expected-error @below {{'atx.recast' op C20: recast to a narrower type needs a leaf of stride 1, (4,8):(2,8) has none}}
  %0 = atx.recast %a {from = 16 : i64, to = 8 : i64} : !atx.layout<(4,8):(2,8)>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,1)>) {
  // expected-error @below {{'atx.recast' op C20: recast to a narrower type needs exactly one leaf of stride 1, (4,8):(1,1) has several}}
  %0 = atx.recast %a {from = 16 : i64, to = 8 : i64} : !atx.layout<(4,8):(1,1)>
  return
}

// -----

func.func @f(%a: !atx.composed_layout<S<3,0,3> o 0 o (8,8):(8,1)>) {
  // expected-error @below {{'atx.recast' op C22: recast of S<3,0,3>: base 0 is below log2(2), elements inside one wide element would change order}}
  %0 = atx.recast %a {from = 16 : i64, to = 32 : i64} : !atx.composed_layout<S<3,0,3> o 0 o (8,8):(8,1)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C23, C24: tilings
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<10:1>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.logical_divide' op C23: tile 4 does not divide extent 10; 2 elements of the last tile are out of range}}
  // expected-note @below {{pass a predicate or choose a tile that divides}}
  %0 = atx.logical_divide %a, %b {strict} : !atx.layout<10:1>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<(10,8):(8,1)>, %b: !atx.tile<[4|8]>) {
  // expected-error @below {{'atx.zipped_divide' op C23: tile 4 does not divide extent 10; 2 elements of the last tile are out of range}}
  // expected-note @below {{pass a predicate or choose a tile that divides}}
  %0 = atx.zipped_divide %a, %b {strict} : !atx.layout<(10,8):(8,1)>, !atx.tile<[4|8]>
  return
}

// -----

func.func @f(%a: !atx.layout<10:1>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.tiled_divide' op C23: tile 4 does not divide extent 10; 2 elements of the last tile are out of range}}
  // expected-note @below {{pass a predicate or choose a tile that divides}}
  %0 = atx.tiled_divide %a, %b {strict} : !atx.layout<10:1>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<10:1>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.flat_divide' op C23: tile 4 does not divide extent 10; 2 elements of the last tile are out of range}}
  // expected-note @below {{pass a predicate or choose a tile that divides}}
  %0 = atx.flat_divide %a, %b {strict} : !atx.layout<10:1>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<?:1>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.logical_divide' op C23: tile 4:1 does not divide ?:1 exactly}}
  // expected-note @below {{pass a predicate or choose a tile that divides}}
  %0 = atx.logical_divide %a, %b {strict} : !atx.layout<?:1>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<(8,8):(8,1)>, %b: !atx.int_tuple<(12,64)>, %c: !atx.int_tuple<(0,1)>) {
  // expected-error @below {{'atx.tile_to_shape' op C23: block extent of mode 0: 8 does not divide 12}}
  %0 = atx.tile_to_shape %a, %b, %c : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(12,64)>, !atx.int_tuple<(0,1)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>, %b: !atx.int_tuple<(0,0)>) {
  // expected-error @below {{'atx.make_ordered_layout' op C24: leaves 0 and 1 of shape (4,8) have the same order 0}}
  %0 = atx.make_ordered_layout %a, %b : !atx.int_tuple<(4,8)>, !atx.int_tuple<(0,0)>
  return
}

// -----

func.func @f(%a: !atx.layout<(8,8):(8,1)>, %b: !atx.int_tuple<(16,64)>, %c: !atx.int_tuple<(1,1)>) {
  // expected-error @below {{'atx.tile_to_shape' op C24: leaves 0 and 1 of shape (2,8) have the same order 1}}
  %0 = atx.tile_to_shape %a, %b, %c : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(1,1)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// C25, C27, C29, C30, C31
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<(32,8):(8,2)>, %b: !atx.layout<(1,4):(0,1)>) {
  // expected-error @below {{'atx.make_layout_tv' op C12: layout (32,8):(8,2) has overlapping modes: stride 8 is below the span 16}}
  %0 = atx.make_layout_tv %a, %b : !atx.layout<(32,8):(8,2)>, !atx.layout<(1,4):(0,1)>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>, %b: !atx.layout<4:1>) {
  // expected-error @below {{'atx.vector_width' op C27: vector_width needs elements of whole bytes, got 4 bits}}
  %0 = atx.vector_width %a, %b {bits = 4 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 16 : i64} : !atx.layout<4:1>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.layout<(4,8):(1E0,1E2)>) {
  // expected-error @below {{'atx.composition' op C29: basis element E2 names no mode of (4,8):(1,4)}}
  %0 = atx.composition %a, %b : !atx.layout<(4,8):(1,4)>, !atx.layout<(4,8):(1E0,1E2)>
  return
}

// -----

func.func @f(%a: !atx.layout<8:1>, %b: !atx.layout<4:1>) {
  // expected-error @below {{'atx.max_common_vector' op C30: sizes differ: 8:1 has 8 elements, 4:1 has 4}}
  %0 = atx.max_common_vector %a, %b : !atx.layout<8:1>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<(4,8):(1,4)>, %b: !atx.tile<[2|2|2]>) {
  // expected-error @below {{'atx.composition' op C31: tiler [2|2|2] has 3 modes but (4,8):(1,4) has rank 2}}
  %0 = atx.composition %a, %b : !atx.layout<(4,8):(1,4)>, !atx.tile<[2|2|2]>
  return
}

// -----

func.func @f(%a: !atx.layout<(10,12):(12,1)>, %b: !atx.tile<[4|5|2]>) {
  // expected-error @below {{'atx.logical_divide' op C31: tiler [4|5|2] has 3 modes but (10,12):(12,1) has rank 2}}
  %0 = atx.logical_divide %a, %b : !atx.layout<(10,12):(12,1)>, !atx.tile<[4|5|2]>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.tile<[2|2|2]>, %c: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.local_partition' op C31: tiler [2|2|2] has 3 modes but (4,8):(8,1) has rank 2}}
  %0 = atx.local_partition %a, %b, %c : !atx.view<f32, global, (4,8):(8,1)>, !atx.tile<[2|2|2]>, !atx.int_tuple<0>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Kinds of operands and attributes
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.product' op product: operand 0 must be an integer or a tuple, got 4:1}}
  %0 = atx.product %a : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.layout<4:1>) {
  // expected-error @below {{'atx.make_layout' op make_layout: operand 1 must be an integer or a tuple, got 4:1}}
  %0 = atx.make_layout %a, %b : !atx.int_tuple<4>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,8)>) {
  // expected-error @below {{'atx.get_scalar' op expected a single integer, got '(4,8)'}}
  %0 = atx.get_scalar %a : !atx.int_tuple<(4,8)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<*>) {
  // expected-error @below {{'atx.get_scalar' op expected a single integer, got '*'}}
  %0 = atx.get_scalar %a : !atx.int_tuple<*>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<2E0>) {
  // expected-error @below {{'atx.get_scalar' op expected a single integer, got '2E0'}}
  %0 = atx.get_scalar %a : !atx.int_tuple<2E0>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.product' op requires a single operand}}
  %0 = "atx.product"(%a, %a) : (!atx.int_tuple<4>, !atx.int_tuple<4>) -> !atx.int_tuple<16>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.get' op requires attribute 'mode'}}
  %0 = "atx.get"(%a) : (!atx.layout<4:1>) -> !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{invalid properties {mode = 3 : i64} for op atx.get: Invalid attribute `mode` in property conversion: 3 : i64}}
  %0 = "atx.get"(%a) <{mode = 3 : i64}> : (!atx.layout<4:1>) -> !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.add' op add has no attribute 'carry'}}
  %0 = atx.add %a, %b {carry = 1 : i64} : !atx.int_tuple<4>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%m: index) {
  // expected-error @below {{'atx.make' op '!atx.layout<(?,?):(1,4)>' has 2 dynamic leaves but 1 operands are given}}
  %0 = atx.make %m : index -> !atx.layout<(?,?):(1,4)>
  return
}

// -----

func.func @f(%m: index) {
  // expected-error @below {{'atx.make' op '!atx.int_tuple<4>' has 0 dynamic leaves but 1 operands are given}}
  %0 = atx.make %m : index -> !atx.int_tuple<4>
  return
}

// -----

func.func @f(%m: f32) {
  // expected-error @below {{'atx.make' op operand #0 must be variadic of index or 32-bit signless integer or 64-bit signless integer, but got 'f32'}}
  %0 = atx.make %m : f32 -> !atx.int_tuple<?>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.make' op result #0 must be integer or nested tuple of integers or map from coordinates to indices, `shape:stride` or `inner o offset o outer`: c -> inner(offset + outer(c)) or by-mode tiler, but got '!atx.swizzle<S<3,3,3>>'}}
  %0 = atx.make -> !atx.swizzle<S<3,3,3>>
  return
}
