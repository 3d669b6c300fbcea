// RUN: atrex-opt %s -canonicalize -split-input-file | FileCheck %s

// A static result is a constant, whatever the operands are made of.
// CHECK-LABEL: func.func @static_results
func.func @static_results(%l: !atx.layout<(4,?):(1,?)>, %v: !atx.view<f32, global, (4,8):(8,1)>) -> (!atx.int_tuple<2>, !atx.layout<(4,8):(8,1)>, !atx.int_tuple<32>) {
  // CHECK-DAG: %[[RANK:.*]] = atx.static : !atx.int_tuple<2>
  // CHECK-DAG: %[[LAYOUT:.*]] = atx.static : !atx.layout<(4,8):(8,1)>
  // CHECK-DAG: %[[SIZE:.*]] = atx.static : !atx.int_tuple<32>
  // CHECK: return %[[RANK]], %[[LAYOUT]], %[[SIZE]]
  %0 = atx.rank %l : !atx.layout<(4,?):(1,?)>
  %1 = atx.get_layout %v : !atx.view<f32, global, (4,8):(8,1)>
  %2 = atx.size %v : !atx.view<f32, global, (4,8):(8,1)>
  return %0, %1, %2 : !atx.int_tuple<2>, !atx.layout<(4,8):(8,1)>, !atx.int_tuple<32>
}

// CHECK-LABEL: func.func @questions
func.func @questions() -> (i1, i1, i1, index) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK-DAG: %[[N:.*]] = arith.constant 24 : index
  // CHECK: return %[[FALSE]], %[[TRUE]], %[[FALSE]], %[[N]]
  %a = atx.static : !atx.layout<(4,8):(1,4)>
  %b = atx.static : !atx.layout<(4,8):(8,1)>
  %t = atx.static : !atx.int_tuple<(2,(3,4))>
  %c = atx.static : !atx.layout<(4,8):(1,8)>
  %0 = atx.equal %a, %b : !atx.layout<(4,8):(1,4)>, !atx.layout<(4,8):(8,1)>
  %1 = atx.compact %b : !atx.layout<(4,8):(8,1)>
  %2 = atx.compact %c : !atx.layout<(4,8):(1,8)>
  %n = atx.product %t : !atx.int_tuple<(2,(3,4))>
  %3 = atx.get_scalar %n : !atx.int_tuple<24>
  return %0, %1, %2, %3 : i1, i1, i1, index
}

// CHECK-LABEL: func.func @make_without_leaves
// CHECK: atx.static : !atx.tile<[4|8]>
func.func @make_without_leaves() -> !atx.tile<[4|8]> {
  %0 = atx.make -> !atx.tile<[4|8]>
  return %0 : !atx.tile<[4|8]>
}

// -----

//===----------------------------------------------------------------------===//
// Neutral operands
//===----------------------------------------------------------------------===//

!t = !atx.int_tuple<(?,(4,?{div=8}))>

// CHECK-LABEL: func.func @neutral(
// CHECK-SAME: %[[T:.*]]: !atx.int_tuple
func.func @neutral(%t: !t) -> (!t, !t, !t, !t, !t, !t, !t, !t) {
  %zero = atx.static : !atx.int_tuple<(0,(0,0))>
  %one = atx.static : !atx.int_tuple<(1,(1,1))>
  %n = atx.static : !atx.int_tuple<1>
  %0 = atx.add %t, %zero : !t, !atx.int_tuple<(0,(0,0))>
  %1 = atx.add %zero, %0 : !atx.int_tuple<(0,(0,0))>, !t
  %2 = atx.sub %t, %zero : !t, !atx.int_tuple<(0,(0,0))>
  %3 = atx.mul %one, %t : !atx.int_tuple<(1,(1,1))>, !t
  %4 = atx.div %t, %one : !t, !atx.int_tuple<(1,(1,1))>
  %5 = atx.shape_div %t, %n : !t, !atx.int_tuple<1>
  %6 = atx.min %t, %t : !t, !t
  %7 = atx.max %t, %t : !t, !t
  // CHECK-NEXT: return %[[T]], %[[T]], %[[T]], %[[T]], %[[T]], %[[T]], %[[T]], %[[T]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : !t, !t, !t, !t, !t, !t, !t, !t
}

// CHECK-LABEL: func.func @not_neutral(
func.func @not_neutral(%t: !atx.int_tuple<?>, %u: !atx.int_tuple<?>) -> (!atx.int_tuple<?>, !atx.int_tuple<?>, !atx.int_tuple<?>) {
  %zero = atx.static : !atx.int_tuple<0>
  // The minimum of two values of one type is neither of them.
  // CHECK: atx.min
  %0 = atx.min %t, %u : !atx.int_tuple<?>, !atx.int_tuple<?>
  // CHECK: atx.sub
  %1 = atx.sub %zero, %t : !atx.int_tuple<0>, !atx.int_tuple<?>
  // CHECK: atx.max
  %2 = atx.max %t, %zero : !atx.int_tuple<?>, !atx.int_tuple<0>
  return %0, %1, %2 : !atx.int_tuple<?>, !atx.int_tuple<?>, !atx.int_tuple<?>
}

// CHECK-LABEL: func.func @products_of_one
// CHECK-SAME: %[[T:.*]]: !atx.int_tuple
func.func @products_of_one(%t: !atx.int_tuple<?{div=4}>) -> (!atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=4}>) {
  %0 = atx.product %t : !atx.int_tuple<?{div=4}>
  %1 = atx.size %0 : !atx.int_tuple<?{div=4}>
  %2 = atx.product_each %t : !atx.int_tuple<?{div=4}>
  // CHECK-NEXT: return %[[T]], %[[T]], %[[T]]
  return %0, %1, %2 : !atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=4}>
}

// -----

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

!l = !atx.layout<(?,?):(?,?)>

// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[L:.*]]: !atx.layout<(?,?):(?,?)>,
func.func @whole(%l: !l, %v: !atx.view<f32, global, (?,4):(4,1), align = 8>) -> (!l, !l, !l, !l, !l, !atx.view<f32, global, (?,4):(4,1), align = 8>) {
  %stars = atx.static : !atx.int_tuple<(*,*)>
  %ints = atx.static : !atx.int_tuple<(0,0)>
  %one = atx.static : !atx.layout<1:0>
  %0 = atx.slice %l, %stars : !l, !atx.int_tuple<(*,*)>
  %1 = atx.dice %l, %ints : !l, !atx.int_tuple<(0,0)>
  %2 = atx.take %l {begin = 0 : i64, end = 2 : i64} : !l
  %3 = atx.select %l {indices = array<i64: 0, 1>} : !l
  %4 = atx.append %l, %one {rank = 2 : i64} : !l, !atx.layout<1:0>
  %5 = atx.slice %v, %stars : !atx.view<f32, global, (?,4):(4,1), align = 8>, !atx.int_tuple<(*,*)>
  // CHECK-NEXT: return %[[L]], %[[L]], %[[L]], %[[L]], %[[L]], %arg1
  return %0, %1, %2, %3, %4, %5 : !l, !l, !l, !l, !l, !atx.view<f32, global, (?,4):(4,1), align = 8>
}

// The type stays, the modes change places.
// CHECK-LABEL: func.func @swapped
// CHECK: %[[S:.*]] = atx.select
// CHECK: return %[[S]]
func.func @swapped(%l: !l) -> !l {
  %0 = atx.select %l {indices = array<i64: 1, 0>} : !l
  return %0 : !l
}

// CHECK-LABEL: func.func @twice_the_same
// CHECK: %[[S:.*]] = atx.select
// CHECK: return %[[S]]
func.func @twice_the_same(%l: !l) -> !l {
  %0 = atx.select %l {indices = array<i64: 1, 1>} : !l
  return %0 : !l
}

// A coordinate moves the view although its type stays.
// CHECK-LABEL: func.func @moved
// CHECK: %[[S:.*]] = atx.local_tile %arg0
// CHECK: return %[[S]]
func.func @moved(%v: !atx.coord_view<(?,?), 4:1E0>, %c: !atx.int_tuple<?>) -> !atx.coord_view<(?,?), 4:1E0> {
  %s = atx.append %v, %v {rank = 1 : i64} : !atx.coord_view<(?,?), 4:1E0>, !atx.coord_view<(?,?), 4:1E0>
  %t = atx.static : !atx.tile<[4]>
  %0 = atx.local_tile %s, %t, %c : !atx.coord_view<(?,?), 4:1E0>, !atx.tile<[4]>, !atx.int_tuple<?>
  return %0 : !atx.coord_view<(?,?), 4:1E0>
}

// -----

//===----------------------------------------------------------------------===//
// Coalesce, recast, compose
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @coalesced
func.func @coalesced(%l: !atx.layout<(2,(2,?)):(?,(1,2))>) -> (!atx.layout<(2,?{div=2}):(?,1)>, !atx.layout<(2,?{div=2}):(?,1)>) {
  // CHECK-NEXT: %[[C:.*]] = atx.coalesce
  // CHECK-NEXT: return %[[C]], %[[C]]
  %0 = atx.coalesce %l : !atx.layout<(2,(2,?)):(?,(1,2))>
  %1 = atx.coalesce %0 : !atx.layout<(2,?{div=2}):(?,1)>
  %2 = atx.filter %1 : !atx.layout<(2,?{div=2}):(?,1)>
  return %1, %2 : !atx.layout<(2,?{div=2}):(?,1)>, !atx.layout<(2,?{div=2}):(?,1)>
}

// CHECK-LABEL: func.func @recast_to_itself
// CHECK-NEXT: return %arg0
func.func @recast_to_itself(%l: !atx.layout<(8,?):(1,8)>) -> !atx.layout<(8,?):(1,8)> {
  %0 = atx.recast %l {from = 16 : i64, to = 16 : i64} : !atx.layout<(8,?):(1,8)>
  return %0 : !atx.layout<(8,?):(1,8)>
}

// CHECK-LABEL: func.func @normal_form
// CHECK-NEXT: return %arg0
func.func @normal_form(%l: !atx.layout<(8,?):(?,1)>) -> !atx.layout<(8,?):(?,1)> {
  %s = atx.static : !atx.swizzle<S<0,3,3>>
  %zero = atx.static : !atx.int_tuple<0>
  %0 = atx.make_composed_layout %s, %zero, %l : !atx.swizzle<S<0,3,3>>, !atx.int_tuple<0>, !atx.layout<(8,?):(?,1)>
  return %0 : !atx.layout<(8,?):(?,1)>
}

// A dynamic scale keeps the type, not the strides.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[C:.*]] = atx.make_composed_layout
// CHECK: return %[[C]]
func.func @scaled(%i: !atx.layout<8:?>, %l: !atx.layout<(8,4):(?,?)>) -> !atx.layout<(8,4):(?,?)> {
  %zero = atx.static : !atx.int_tuple<0>
  %0 = atx.make_composed_layout %i, %zero, %l : !atx.layout<8:?>, !atx.int_tuple<0>, !atx.layout<(8,4):(?,?)>
  return %0 : !atx.layout<(8,4):(?,?)>
}

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[O:.*]]: !atx.int_tuple<?{div=8}>, %[[L:.*]]: !atx.layout<(8,?):(?,1)>)
func.func @parts(%o: !atx.int_tuple<?{div=8}>, %l: !atx.layout<(8,?):(?,1)>) -> (!atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,?):(?,1)>) {
  // CHECK: %[[S:.*]] = atx.static : !atx.swizzle<S<3,3,3>>
  // CHECK-NEXT: return %[[S]], %[[O]], %[[L]]
  %s = atx.static : !atx.swizzle<S<3,3,3>>
  %c = atx.make_composed_layout %s, %o, %l : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,?):(?,1)>
  %0 = atx.composed_inner %c : !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,?):(?,1)>
  %1 = atx.composed_offset %c : !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,?):(?,1)>
  %2 = atx.composed_outer %c : !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,?):(?,1)>
  return %0, %1, %2 : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,?):(?,1)>
}

// -----

//===----------------------------------------------------------------------===//
// Parts of what was made
//===----------------------------------------------------------------------===//

!s = !atx.int_tuple<(?,4)>
!d = !atx.int_tuple<(?,1)>

// CHECK-LABEL: func.func @shape_and_stride(
// CHECK-SAME: %[[S:.*]]: !atx.int_tuple<(?,4)>, %[[D:.*]]: !atx.int_tuple<(?,1)>)
func.func @shape_and_stride(%s: !s, %d: !d) -> (!s, !d, !s, !s) {
  %order = atx.static : !atx.int_tuple<(1,0)>
  %l = atx.make_layout %s, %d : !s, !d
  %0 = atx.get_shape %l : !atx.layout<(?,4):(?,1)>
  %1 = atx.get_stride %l : !atx.layout<(?,4):(?,1)>
  %o = atx.make_ordered_layout %s, %order : !s, !atx.int_tuple<(1,0)>
  %2 = atx.get_shape %o : !atx.layout<(?,4):(4,1)>
  %c = atx.make_coord_view %s : !s
  %3 = atx.get_shape %c : !atx.coord_view<(0,0), (?,4):(1E0,1E1)>
  // CHECK-NEXT: return %[[S]], %[[D]], %[[S]], %[[S]]
  return %0, %1, %2, %3 : !s, !d, !s, !s
}

// Strides that were computed are no operand.
// CHECK-LABEL: func.func @computed_stride
// CHECK: atx.get_stride
func.func @computed_stride(%s: !atx.int_tuple<(?,?)>) -> !atx.int_tuple<(1,?)> {
  %l = atx.make_layout %s : !atx.int_tuple<(?,?)>
  %0 = atx.get_stride %l : !atx.layout<(?,?):(1,?)>
  return %0 : !atx.int_tuple<(1,?)>
}

// CHECK-LABEL: func.func @leaves(
// CHECK-SAME: %[[M:.*]]: index, %[[N:.*]]: index, %[[K:.*]]: i32)
func.func @leaves(%m: index, %n: index, %k: i32) -> (index, index, index, !atx.layout<4:?{div=8}>) {
  %l = atx.make %m, %n, %k : index, index, i32 -> !atx.layout<(?,(?,4)):(1,(1,?{div=8}))>
  %s = atx.get_shape %l : !atx.layout<(?,(?,4)):(1,(1,?{div=8}))>
  %0 = atx.get %s {mode = array<i64: 1, 0>} : !atx.int_tuple<(?,(?,4))>
  %1 = atx.get_scalar %0 : !atx.int_tuple<?>
  %2 = atx.get %s {mode = array<i64: 0>} : !atx.int_tuple<(?,(?,4))>
  %3 = atx.get_scalar %2 : !atx.int_tuple<?>
  %d = atx.get_stride %l : !atx.layout<(?,(?,4)):(1,(1,?{div=8}))>
  %4 = atx.get %d {mode = array<i64: 1, 1>} : !atx.int_tuple<(1,(1,?{div=8}))>
  %5 = atx.get_scalar %4 : !atx.int_tuple<?{div=8}>
  %6 = atx.get %l {mode = array<i64: 1, 1>} : !atx.layout<(?,(?,4)):(1,(1,?{div=8}))>
  // CHECK: %[[I:.*]] = arith.index_cast %[[K]] : i32 to index
  // CHECK: %[[G:.*]] = atx.make %[[K]] : i32 -> !atx.layout<4:?{div=8}>
  // CHECK: return %[[N]], %[[M]], %[[I]], %[[G]]
  return %1, %3, %5, %6 : index, index, index, !atx.layout<4:?{div=8}>
}

// Swapped modes, swapped leaves.
// CHECK-LABEL: func.func @swapped_leaves(
// CHECK-SAME: %[[M:.*]]: index, %[[N:.*]]: index, %[[D:.*]]: index, %[[E:.*]]: index)
// CHECK: atx.make %[[N]], %[[M]], %[[E]], %[[D]] :
func.func @swapped_leaves(%m: index, %n: index, %d: index, %e: index) -> !atx.layout<(?,?):(?,?)> {
  %l = atx.make %m, %n, %d, %e : index, index, index, index -> !atx.layout<(?,?):(?,?)>
  %0 = atx.select %l {indices = array<i64: 1, 0>} : !atx.layout<(?,?):(?,?)>
  return %0 : !atx.layout<(?,?):(?,?)>
}

// What has to be computed is left to the lowering; an assertion stays.
// CHECK-LABEL: func.func @computed
func.func @computed(%m: index, %n: index) -> (!atx.int_tuple<?>, index) {
  // CHECK: atx.product
  // CHECK: atx.make {{.*}} {checked}
  // CHECK: atx.get_scalar
  %t = atx.make %m, %n : index, index -> !atx.int_tuple<(?,?)>
  %0 = atx.product %t : !atx.int_tuple<(?,?)>
  %c = atx.make %m : index -> !atx.int_tuple<?{div=8}> {checked}
  %1 = atx.get_scalar %c : !atx.int_tuple<?{div=8}>
  return %0, %1 : !atx.int_tuple<?>, index
}

// CHECK-LABEL: func.func @out_and_in(
// CHECK-SAME: %[[T:.*]]: !atx.int_tuple<?{div=4}>
func.func @out_and_in(%t: !atx.int_tuple<?{div=4}>) -> (!atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=8}>) {
  %0 = atx.get_scalar %t : !atx.int_tuple<?{div=4}>
  %1 = atx.make %0 : index -> !atx.int_tuple<?{div=4}>
  // Another promise is another value.
  // CHECK: %[[E:.*]] = atx.make %{{.*}} : index -> !atx.int_tuple<?{div=8}>
  // CHECK: return %[[T]], %[[E]]
  %2 = atx.make %0 : index -> !atx.int_tuple<?{div=8}>
  return %1, %2 : !atx.int_tuple<?{div=4}>, !atx.int_tuple<?{div=8}>
}

// -----

//===----------------------------------------------------------------------===//
// Pointers and views
//===----------------------------------------------------------------------===//

!p = !atx.ptr<f32, global, align = 16>
!l = !atx.layout<(?,4):(4,?)>
!v = !atx.view<f32, global, (?,4):(4,?), align = 16>

// CHECK-LABEL: func.func @apart(
// CHECK-SAME: %[[P:.*]]: !atx.ptr<f32, global, align = 16>, %[[L:.*]]: !atx.layout<(?,4):(4,?)>)
func.func @apart(%p: !p, %l: !l) -> (!p, !l, !atx.int_tuple<(?,4)>) {
  %v = atx.make_view %p, %l : !p, !l
  %0 = atx.get_ptr %v : !v
  %1 = atx.get_layout %v : !v
  // CHECK-NEXT: %[[S:.*]] = atx.get_shape %[[L]] : !atx.layout
  // CHECK-NEXT: return %[[P]], %[[L]], %[[S]]
  %2 = atx.get_shape %v : !v
  return %0, %1, %2 : !p, !l, !atx.int_tuple<(?,4)>
}

// CHECK-LABEL: func.func @together
// CHECK-NEXT: return %arg0, %arg1
func.func @together(%v: !v, %w: !atx.view<f32, shared, 4:1>) -> (!v, !atx.view<f32, shared, 4:1>) {
  %p = atx.get_ptr %v : !v
  %l = atx.get_layout %v : !v
  %0 = atx.make_view %p, %l : !p, !l
  %q = atx.get_ptr %w : !atx.view<f32, shared, 4:1>
  %k = atx.get_layout %w : !atx.view<f32, shared, 4:1>
  %1 = atx.make_view %q, %k : !atx.ptr<f32, shared>, !atx.layout<4:1>
  return %0, %1 : !v, !atx.view<f32, shared, 4:1>
}

// Pointer and layout of two views of one type are a third view.
// CHECK-LABEL: func.func @mixed
// CHECK: %[[V:.*]] = atx.make_view
// CHECK: return %[[V]]
func.func @mixed(%v: !v, %w: !v) -> !v {
  %p = atx.get_ptr %v : !v
  %l = atx.get_layout %w : !v
  %0 = atx.make_view %p, %l : !p, !l
  return %0 : !v
}

// CHECK-LABEL: func.func @offsets(
// CHECK-SAME: %[[P:.*]]: !atx.ptr<f32, global, align = 16>, %[[O:.*]]: !atx.int_tuple<?{div=4}>)
func.func @offsets(%p: !p, %o: !atx.int_tuple<?{div=4}>) -> (!p, !p) {
  %zero = atx.static : !atx.int_tuple<0>
  %eight = atx.static : !atx.int_tuple<8>
  %0 = atx.add_offset %p, %zero : !p, !atx.int_tuple<0>
  // CHECK: %[[S:.*]] = atx.add %[[O]], %{{.*}} : !atx.int_tuple<?{div=4}>, !atx.int_tuple<8>
  // CHECK: %[[Q:.*]] = atx.add_offset %[[P]], %[[S]] : !atx.ptr<f32, global, align = 16>, !atx.int_tuple<?{div=4}>
  // CHECK: return %[[P]], %[[Q]]
  %1 = atx.add_offset %p, %o : !p, !atx.int_tuple<?{div=4}>
  %2 = atx.add_offset %1, %eight : !p, !atx.int_tuple<8>
  return %0, %2 : !p, !p
}

// The sum of the offsets, 4, would prove more alignment than the steps do.
// CHECK-LABEL: func.func @offsets_and_alignment
// CHECK-COUNT-2: atx.add_offset
func.func @offsets_and_alignment(%p: !p) -> !atx.ptr<f32, global, align = 4> {
  %one = atx.static : !atx.int_tuple<1>
  %three = atx.static : !atx.int_tuple<3>
  %0 = atx.add_offset %p, %one : !p, !atx.int_tuple<1>
  %1 = atx.add_offset %0, %three : !atx.ptr<f32, global, align = 4>, !atx.int_tuple<3>
  return %1 : !atx.ptr<f32, global, align = 4>
}

// CHECK-LABEL: func.func @dynamic_offsets
// CHECK-COUNT-2: atx.add_offset
func.func @dynamic_offsets(%p: !p, %o: !atx.int_tuple<?{div=4}>) -> !p {
  %0 = atx.add_offset %p, %o : !p, !atx.int_tuple<?{div=4}>
  %1 = atx.add_offset %0, %o : !p, !atx.int_tuple<?{div=4}>
  return %1 : !p
}

// CHECK-LABEL: func.func @recasts
// CHECK-NEXT: return %arg0, %arg0
func.func @recasts(%v: !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>) -> (!atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>, !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>) {
  %0 = atx.recast_view %v to bf16 : !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>
  %1 = atx.recast_view %v to f32 : !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>
  %2 = atx.recast_view %1 to bf16 : !atx.view<f32, global, (?,4):(?{div=4},1), align = 16>
  return %0, %2 : !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>, !atx.view<bf16, global, (?,8):(?{div=8},1), align = 16>
}

// Other elements of as many bits.
// CHECK-LABEL: func.func @recast_type
// CHECK: atx.recast_view %arg0 to f16
func.func @recast_type(%v: !atx.view<bf16, global, ?:1>) -> !atx.view<f16, global, ?:1> {
  %0 = atx.recast_view %v to f16 : !atx.view<bf16, global, ?:1>
  return %0 : !atx.view<f16, global, ?:1>
}

// CHECK-LABEL: func.func @coord_views
func.func @coord_views(%s: !atx.int_tuple<(?,4)>) -> (!atx.layout<(?,4):(1E0,1E1)>, !atx.coord_view<(0,0), (2,4):(1E0,1E1)>) {
  // CHECK-DAG: %[[V:.*]] = atx.static : !atx.coord_view<(0,0), (2,4):(1E0,1E1)>
  // CHECK-DAG: %[[L:.*]] = atx.make_identity_layout %arg0
  // CHECK: return %[[L]], %[[V]]
  %c = atx.make_coord_view %s : !atx.int_tuple<(?,4)>
  %0 = atx.get_layout %c : !atx.coord_view<(0,0), (?,4):(1E0,1E1)>
  %t = atx.static : !atx.int_tuple<(2,4)>
  %1 = atx.make_coord_view %t : !atx.int_tuple<(2,4)>
  return %0, %1 : !atx.layout<(?,4):(1E0,1E1)>, !atx.coord_view<(0,0), (2,4):(1E0,1E1)>
}

// CHECK-LABEL: func.func @memory(
// An allocation nobody uses goes, two of a kind stay two.
// CHECK-COUNT-2: atx.alloc_shared : !atx.view<f32, shared, 8:1>
// CHECK-NOT: atx.alloc_shared
func.func @memory() -> (!atx.view<f32, shared, 8:1>, !atx.view<f32, shared, 8:1>) {
  %0 = atx.alloc_shared : !atx.view<f32, shared, 8:1>
  %1 = atx.alloc_shared : !atx.view<f32, shared, 8:1>
  %2 = atx.alloc_shared : !atx.view<f32, shared, 8:1>
  return %0, %1 : !atx.view<f32, shared, 8:1>, !atx.view<f32, shared, 8:1>
}

// -----

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

!f = !atx.fragment<f32, (4,2):(1,4), chunk = 4>

// CHECK-LABEL: func.func @vectors(
// CHECK-SAME: %[[V:.*]]: vector<8xf32>, %[[F:.*]]: !atx.fragment{{.*}}, %[[X:.*]]: f32)
func.func @vectors(%v: vector<8xf32>, %f: !f, %x: f32) -> (vector<8xf32>, !f, !atx.fragment<f32, (4,2):(2,1), chunk = 4>, vector<8xf32>) {
  %0 = atx.from_vector %v : vector<8xf32> -> !f
  %1 = atx.to_vector %0 : !f
  %2 = atx.to_vector %f : !f
  %3 = atx.from_vector %2 : vector<8xf32> -> !f
  // The same registers under another layout.
  // CHECK: %[[W:.*]] = atx.to_vector %[[F]]
  // CHECK: %[[G:.*]] = atx.from_vector %[[W]] : vector<8xf32> -> !atx.fragment<f32, (4,2):(2,1), chunk = 4>
  %4 = atx.from_vector %2 : vector<8xf32> -> !atx.fragment<f32, (4,2):(2,1), chunk = 4>
  // CHECK: %[[B:.*]] = vector.broadcast %[[X]] : f32 to vector<8xf32>
  %5 = atx.splat %x : f32 -> !f
  %6 = atx.to_vector %5 : !f
  // CHECK: return %[[V]], %[[F]], %[[G]], %[[B]]
  return %1, %3, %4, %6 : vector<8xf32>, !f, !atx.fragment<f32, (4,2):(2,1), chunk = 4>, vector<8xf32>
}

// CHECK-LABEL: func.func @retiled(
// CHECK-SAME: %[[F:.*]]: !atx.fragment
func.func @retiled(%f: !f) -> (!f, vector<8xf32>, !atx.fragment<f32, 8:1, chunk = 2>) {
  // CHECK: %[[V:.*]] = atx.to_vector %[[F]]
  // CHECK: %[[R:.*]] = atx.retile %[[F]] : {{.*}} -> !atx.fragment<f32, 8:1, chunk = 2>
  // CHECK: return %[[F]], %[[V]], %[[R]]
  %0 = atx.retile %f : !f -> !atx.fragment<f32, 8:1, chunk = 8>
  %1 = atx.retile %0 : !atx.fragment<f32, 8:1, chunk = 8> -> !f
  %2 = atx.to_vector %0 : !atx.fragment<f32, 8:1, chunk = 8>
  %3 = atx.retile %0 : !atx.fragment<f32, 8:1, chunk = 8> -> !atx.fragment<f32, 8:1, chunk = 2>
  return %1, %2, %3 : !f, vector<8xf32>, !atx.fragment<f32, 8:1, chunk = 2>
}
