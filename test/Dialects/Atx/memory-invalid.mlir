// Constraints of pointers, views, partitions, fragments, copies and products.
//
// RUN: atrex-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// make_ptr
//===----------------------------------------------------------------------===//

func.func @f(%a: !llvm.ptr<3>) {
  // expected-error @below {{'atx.make_ptr' op memory space global needs a pointer in address space 1, got 3}}
  %0 = atx.make_ptr %a : !llvm.ptr<3> -> !atx.ptr<f32, global>
  return
}

// -----

func.func @f(%a: !llvm.ptr<1>) {
  // expected-error @below {{'atx.make_ptr' op memory space buffer needs a pointer in address space 8, got 1}}
  %0 = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<f32, buffer>
  return
}

// -----

func.func @f(%a: !llvm.ptr<1>) {
  // expected-error @below {{'atx.make_ptr' op elements of 4 bits have no addresses of their own: use a wider type and unpack in registers}}
  %0 = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<i4, global>
  return
}

// -----

func.func @f(%a: index) {
  // expected-error @below {{'atx.make_ptr' op operand #0 must be LLVM pointer type, but got 'index'}}
  %0 = atx.make_ptr %a : index -> !atx.ptr<i8, global>
  return
}

// -----

//===----------------------------------------------------------------------===//
// alloc_shared
//===----------------------------------------------------------------------===//

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op allocates shared memory, not global}}
  %0 = atx.alloc_shared : !atx.view<f32, global, 4:1>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op C13: the layout '(4,?):(1,4)' must be static}}
  %0 = atx.alloc_shared : !atx.view<f32, shared, (4,?):(1,4)>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op C15: the layout '(4,8):(1,-4)' has a negative stride}}
  %0 = atx.alloc_shared : !atx.view<f32, shared, (4,8):(1,-4)>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op elements of 4 bits have no addresses of their own: use a wider type and unpack in registers}}
  %0 = atx.alloc_shared : !atx.view<i4, shared, 64:1>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op C33: alignment 16 is not a multiple of the period 1024 of swizzle S<3,4,3>}}
  %0 = atx.alloc_shared : !atx.view<bf16, shared, (8,64):(64,1), align = 16, swizzle = S<3,4,3>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op 17179869184 bytes of shared memory exceed every target}}
  %0 = atx.alloc_shared : !atx.view<f32, shared, (65536,65536):(65536,1)>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'atx.alloc_shared' op 576460752303423496 bytes of shared memory exceed every target}}
  %0 = atx.alloc_shared : !atx.view<f32, shared, (2,2):(1,144115188075855872)>
  return
}

// -----

//===----------------------------------------------------------------------===//
// views
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.ptr<f32, global>, %b: !atx.layout<(4,8):(1E0,1E1)>) {
  // expected-error @below {{'atx.make_view' op C14: a view needs integer strides, '(4,8):(1E0,1E1)' has coordinate-valued ones}}
  %0 = atx.make_view %a, %b : !atx.ptr<f32, global>, !atx.layout<(4,8):(1E0,1E1)>
  return
}

// -----

func.func @f(%a: !atx.ptr<f32, global>, %b: !atx.layout<(2,2):(1,1152921504606846976)>) {
  // expected-error @below {{'atx.make_view' op C8: 1152921504606846978 * 16 does not fit in 64 bits}}
  %0 = atx.make_view %a, %b : !atx.ptr<f32, global>, !atx.layout<(2,2):(1,1152921504606846976)>
  return
}

// -----

func.func @f(%a: !atx.int_tuple<(4,0)>) {
  // expected-error @below {{'atx.make_coord_view' op C2: extent 0 of shape (4,0) is not positive}}
  %0 = atx.make_coord_view %a : !atx.int_tuple<(4,0)>
  return
}

// -----

func.func @f(%a: !atx.ptr<f32, global>, %b: !atx.int_tuple<(4,0)>) {
  // expected-error @below {{'atx.add_offset' op offset '(4,0)' must be a single integer}}
  %0 = atx.add_offset %a, %b : !atx.ptr<f32, global>, !atx.int_tuple<(4,0)>
  return
}

// -----

func.func @f(%a: !atx.ptr<f32, global>, %b: !atx.int_tuple<*>) {
  // expected-error @below {{'atx.add_offset' op offset '*' must be a single integer}}
  %0 = atx.add_offset %a, %b : !atx.ptr<f32, global>, !atx.int_tuple<*>
  return
}

// -----

func.func @f(%a: !atx.ptr<f32, global>, %b: !atx.int_tuple<1E0>) {
  // expected-error @below {{'atx.add_offset' op offset '1E0' must be a single integer}}
  %0 = atx.add_offset %a, %b : !atx.ptr<f32, global>, !atx.int_tuple<1E0>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 4:1>) {
  // expected-error @below {{'atx.recast_view' op C18: elements of 4 bits have no addresses of their own}}
  %0 = atx.recast_view %a to i4 : !atx.view<f32, global, 4:1>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, 4:1>) {
  // expected-error @below {{'atx.recast_view' op C18: recast: 24 bits are not a multiple of 16 bits}}
  %0 = atx.recast_view %a to i24 : !atx.view<bf16, global, 4:1>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (3,2):(1,3), align = 4>) {
  // expected-error @below {{'atx.recast_view' op C19: recast: extent of stride 1: 2 does not divide 3}}
  %0 = atx.recast_view %a to i32 : !atx.view<bf16, global, (3,2):(1,3), align = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,2):(2,8)>) {
  // expected-error @below {{'atx.recast_view' op C20: recast to a narrower type needs a leaf of stride 1, (4,2):(2,8) has none}}
  %0 = atx.recast_view %a to i16 : !atx.view<f32, global, (4,2):(2,8)>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, 4:1, align = 2>) {
  // expected-error @below {{'atx.recast_view' op C27: alignment 2 does not prove a whole number of 32-bit elements}}
  %0 = atx.recast_view %a to i32 : !atx.view<bf16, global, 4:1, align = 2>
  return
}

// -----

func.func @f(%a: !atx.view<i128, global, 8:1, align = 32>) {
  // expected-error @below {{'atx.recast_view' op element type 'i256' has 256 bits; 1 to 128 are supported}}
  %0 = atx.recast_view %a to i256 : !atx.view<i128, global, 8:1, align = 32>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{'atx.recast_view' op C18: elements of 0 bits have no addresses of their own}}
  %0 = atx.recast_view %a to none : !atx.view<f32, global, 8:1>
  return
}

// -----

func.func @f(%a: !atx.view<i128, global, (2,2):(1,144115188075855871)>) {
  // expected-error @below {{'atx.recast_view' op C8: 2305843009213693968 * 16 does not fit in 64 bits}}
  %0 = atx.recast_view %a to i8 : !atx.view<i128, global, (2,2):(1,144115188075855871)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,6):(1,7)>, %b: !atx.int_tuple<3>) {
  // expected-error @below {{'atx.logical_divide' op C10: cannot compose: stride 3 does not divide extent 4 of leaf 0 of (4,6):(1,7)}}
  %0 = atx.logical_divide %a, %b : !atx.view<f32, global, (4,6):(1,7)>, !atx.int_tuple<3>
  return
}

// -----

func.func @f(%a: !atx.coord_view<(9223372036854775807,0), (8,8):(1E0,1E1)>, %b: !atx.tile<[4|4]>, %c: !atx.int_tuple<(1,0)>) {
  // expected-error @below {{'atx.local_tile' op C8: 9223372036854775807 + 4 does not fit in 64 bits}}
  %0 = atx.local_tile %a, %b, %c : !atx.coord_view<(9223372036854775807,0), (8,8):(1E0,1E1)>, !atx.tile<[4|4]>, !atx.int_tuple<(1,0)>
  return
}

// -----

func.func @f(%a: !atx.view<i8, global, 4:144115188075855872>, %b: !atx.int_tuple<3>) {
  // expected-error @below {{'atx.logical_divide' op C8: 720575940379279361 * 16 does not fit in 64 bits}}
  %0 = atx.logical_divide %a, %b : !atx.view<i8, global, 4:144115188075855872>, !atx.int_tuple<3>
  return
}

// -----

//===----------------------------------------------------------------------===//
// load and store
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<(1,2,3)>) {
  // expected-error @below {{'atx.load' op C3: coordinate has rank 3 but the layout has rank 2}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(1,2,3)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<(-1,2)>) {
  // expected-error @below {{'atx.load' op C4: coordinate -1 is negative}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(-1,2)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<(?,8)>) {
  // expected-error @below {{'atx.load' op C26: coordinate 8 is outside of extent 8}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,8)>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<32>) {
  // expected-error @below {{'atx.load' op C26: coordinate 32 is outside of extent 32}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<32>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,8):(8,1)>, %b: !atx.int_tuple<(*,2)>) {
  // expected-error @below {{'atx.load' op C3: coordinate * must be an integer here}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(*,2)>
  return
}

// -----

func.func @f(%a: !atx.view<i4, global, 8:1>, %b: !atx.int_tuple<2>) {
  // expected-error @below {{'atx.load' op elements of 4 bits have no addresses of their own}}
  %0 = atx.load %a[%b] : !atx.view<i4, global, 8:1>, !atx.int_tuple<2>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>, %b: !atx.int_tuple<2>, %c: f16) {
  // expected-error @below {{'atx.store' op stores 'f16' into a view of 'f32'}}
  atx.store %c, %a[%b] : f16, !atx.view<f32, global, 8:1>, !atx.int_tuple<2>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>, %b: !atx.int_tuple<9>, %c: f32) {
  // expected-error @below {{'atx.store' op C26: coordinate 9 is outside of extent 8}}
  atx.store %c, %a[%b] : f32, !atx.view<f32, global, 8:1>, !atx.int_tuple<9>
  return
}

// -----

//===----------------------------------------------------------------------===//
// partitions
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.view<bf16, global, (100,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op C26: tile extent of mode 0: 32 does not divide 100}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (100,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (?,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op C26: tile extent of mode 0: cannot prove that 32 divides ?}}
  // expected-note @below {{give the dynamic value a divisor, such as '?{div=8}', or ask for a run-time assertion}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (?,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (32,64):(64,1)>, %b: !atx.int_tuple<256>) {
  // expected-error @below {{'atx.partition_copy' op C26: thread 256 is outside [0,256)}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (32,64):(64,1)>, !atx.int_tuple<256>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (32,64):(64,1)>, %b: !atx.int_tuple<(0,1)>) {
  // expected-error @below {{'atx.partition_copy' op C26: thread '(0,1)' must be a single integer}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (32,64):(64,1)>, !atx.int_tuple<(0,1)>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (32,64):(64,1)>, %b: !atx.int_tuple<*>) {
  // expected-error @below {{'atx.partition_copy' op C26: thread '*' must be a single integer}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (32,64):(64,1)>, !atx.int_tuple<*>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, 64:1>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op C31: tile (32,64) has more modes than the tensor 64:1}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, 64:1>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<i24, global, (32,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op C27: an access of 128 bits is not a whole number of 24-bit elements}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<i24, global, (32,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<i8, global, (32,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op C27: 128-bit access holds 16 elements, which do not divide the 8 values of a thread}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<i8, global, (32,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (60,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_mma' op C28: operand A: 1x16 against mode 0: 16 does not divide 60}}
  %0 = atx.partition_mma a %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, global, (60,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (64,60):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_mma' op C28: operand C: 1x16 against mode 1: 16 does not divide 60}}
  %0 = atx.partition_mma c %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, global, (64,60):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 64:1>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_mma' op C28: operand A: tensor 64:1 and thread-value layout (1,1):(0,0) must have two modes}}
  %0 = atx.partition_mma a %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, global, 64:1>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (64,64):(64,1)>, %b: !atx.int_tuple<256>) {
  // expected-error @below {{'atx.partition_mma' op C26: thread 256 is outside [0,256)}}
  %0 = atx.partition_mma a %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, global, (64,64):(64,1)>, !atx.int_tuple<256>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (64,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{custom op 'atx.partition_mma' expected an operand of the matrix product: a, b, c or d}}
  %0 = atx.partition_mma x %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, global, (64,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

//===----------------------------------------------------------------------===//
// fragments
//===----------------------------------------------------------------------===//

func.func @f(%a: f16) {
  // expected-error @below {{'atx.splat' op value of type 'f16' in a fragment of 'f32'}}
  %0 = atx.splat %a : f16 -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: vector<8xf32>) {
  // expected-error @below {{'atx.from_vector' op expected 'vector<4xf32>' for '!atx.fragment<f32, 4:1, chunk = 4>', got 'vector<8xf32>'}}
  %0 = atx.from_vector %a : vector<8xf32> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: vector<4xf16>) {
  // expected-error @below {{'atx.from_vector' op expected 'vector<4xf32>' for '!atx.fragment<f32, 4:1, chunk = 4>', got 'vector<4xf16>'}}
  %0 = atx.from_vector %a : vector<4xf16> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: vector<2x2xf32>) {
  // expected-error @below {{'atx.from_vector' op operand #0 must be vector of any type values of ranks 1, but got 'vector<2x2xf32>'}}
  %0 = atx.from_vector %a : vector<2x2xf32> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

//===----------------------------------------------------------------------===//
// retile
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 4>) {
  // expected-error @below {{'atx.retile' op C30: the fragment has 8 registers, the result 4}}
  %0 = atx.retile %a : !atx.fragment<f32, 8:1, chunk = 4> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 4>) {
  // expected-error @below {{'atx.retile' op cannot turn elements of 'f32' into 'i32'}}
  %0 = atx.retile %a : !atx.fragment<f32, 8:1, chunk = 4> -> !atx.fragment<i32, 8:1, chunk = 4>
  return
}

// -----

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.view<bf16, global, 8:1, align = 16>) {
  // expected-error @below {{'atx.copy' op expected a copy atom or a tiled copy, got 4 : i64}}
  %0 = atx.copy 4 : i64, %a : !atx.view<bf16, global, 8:1, align = 16> -> !atx.fragment<bf16, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, 8:1, align = 16>) {
  // expected-error @below {{'atx.copy' op expected a copy atom or a tiled copy, got #atx.universal_fma<f32>}}
  %0 = atx.copy #atx.universal_fma<f32>, %a : !atx.view<bf16, global, 8:1, align = 16> -> !atx.fragment<bf16, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{expected attribute value}}
  atx.copy %a by #atx.universal_copy<32> : !atx.view<f32, global, 8:1> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{'atx.copy' op needs either a destination or a result}}
  atx.copy #atx.universal_copy<32>, %a : !atx.view<f32, global, 8:1>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{'atx.copy' op needs either a destination or a result}}
  %0 = "atx.copy"(%a, %a) <{atom = #atx.universal_copy<32>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!atx.view<f32, global, 8:1>, !atx.view<f32, global, 8:1>) -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 8>) {
  // expected-error @below {{'atx.copy' op has no memory on either side; use the source itself}}
  %0 = atx.copy #atx.universal_copy<32>, %a : !atx.fragment<f32, 8:1, chunk = 8> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 8>, %b: !atx.view<f32, global, 8:1>, %c: !atx.coord_view<0, 8:1E0>) {
  // expected-error @below {{'atx.copy' op a predicate needs coordinates and bounds}}
  "atx.copy"(%a, %b, %c) <{atom = #atx.universal_copy<32>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!atx.fragment<f32, 8:1, chunk = 8>, !atx.view<f32, global, 8:1>, !atx.coord_view<0, 8:1E0>) -> ()
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{'atx.copy' op copies 'f32' to 'f16'; recast one of the views}}
  %0 = atx.copy #atx.universal_copy<32>, %a : !atx.view<f32, global, 8:1> -> !atx.fragment<f16, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.fragment<i4, 8:1, chunk = 8>, %b: !atx.view<i4, global, 8:1>) {
  // expected-error @below {{'atx.copy' op elements of 4 bits have no addresses of their own}}
  atx.copy #atx.universal_copy<32>, %a to %b : !atx.fragment<i4, 8:1, chunk = 8>, !atx.view<i4, global, 8:1>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1>) {
  // expected-error @below {{'atx.copy' op C27: an access of 24 bits is not a whole number of 32-bit elements}}
  %0 = atx.copy #atx.universal_copy<24>, %a : !atx.view<f32, global, 8:1> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, buffer, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C32: atom #atx.universal_copy<32> does not move from buffer to register}}
  %0 = atx.copy #atx.universal_copy<32>, %a : !atx.view<f32, buffer, 8:1, align = 4> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, shared, 8:1, align = 4>, %b: !atx.view<f32, buffer, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C32: atom #atx.universal_copy<32> does not move from shared to buffer}}
  atx.copy #atx.universal_copy<32>, %a to %b : !atx.view<f32, shared, 8:1, align = 4>, !atx.view<f32, buffer, 8:1, align = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C32: atom #atx.universal_atomic<add, f32> does not move from global to register}}
  %0 = atx.copy #atx.universal_atomic<add, f32>, %a : !atx.view<f32, global, 8:1, align = 4> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C30: the source has 8 elements, the destination 4}}
  %0 = atx.copy #atx.universal_copy<32>, %a : !atx.view<f32, global, 8:1, align = 4> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, ?:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C30: the source has ? elements, the destination 4}}
  %0 = atx.copy #atx.universal_copy<32>, %a : !atx.view<f32, global, ?:1, align = 4> -> !atx.fragment<f32, 4:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:2, align = 16>) {
  // expected-error @below {{'atx.copy' op C27: 128-bit access needs 4 contiguous elements; '8:2' steps by 2 after 1}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, global, 8:2, align = 16> -> !atx.fragment<f32, 8:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (4,2):(1,6), align = 16>) {
  // expected-error @below {{'atx.copy' op C27: 128-bit access needs an alignment of 16 bytes; stride 6 of '(4,2):(1,6)' proves 8}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, global, (4,2):(1,6), align = 16> -> !atx.fragment<f32, 8:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op C27: 128-bit access needs an alignment of 16 bytes; the view has 4}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, global, 8:1, align = 4> -> !atx.fragment<f32, 8:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 6:1, align = 16>) {
  // expected-error @below {{'atx.copy' op C27: values per access against the elements of a thread: 4 does not divide 6}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, global, 6:1, align = 16> -> !atx.fragment<f32, 6:1, chunk = 2>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (3,4):(1,3), align = 16>) {
  // expected-error @below {{'atx.copy' op C27: 128-bit access needs 4 contiguous elements; '(3,4):(1,3)' steps by 1 after 1}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, global, (3,4):(1,3), align = 16> -> !atx.fragment<f32, 12:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, shared, 8:1, align = 16, swizzle = S<3,3,3>>) {
  // expected-error @below {{'atx.copy' op C27: 128-bit access is torn apart by swizzle S<3,3,3>, which keeps 8 bytes together}}
  %0 = atx.copy #atx.universal_copy<128>, %a : !atx.view<f32, shared, 8:1, align = 16, swizzle = S<3,3,3>> -> !atx.fragment<f32, 8:1, chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 16>) {
  // expected-error @below {{'atx.copy' op C27: the 2 values of an access are not consecutive registers in '(4,2):(2,1)'}}
  %0 = atx.copy #atx.universal_copy<64>, %a : !atx.view<f32, global, 8:1, align = 16> -> !atx.fragment<f32, (4,2):(2,1), chunk = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 9:1, align = 16>) {
  // expected-error @below {{'atx.copy' op C27: values per access against the elements of a thread: 2 does not divide 9}}
  %0 = atx.copy #atx.universal_copy<64>, %a : !atx.view<f32, global, 9:1, align = 16> -> !atx.fragment<f32, 9:1, chunk = 3>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 8>, %b: !atx.view<f32, global, 8:1, align = 4>) {
  // expected-error @below {{'atx.copy' op 'zero_fill' needs a predicate}}
  atx.copy #atx.universal_copy<32>, %a to %b {zero_fill} : !atx.fragment<f32, 8:1, chunk = 8>, !atx.view<f32, global, 8:1, align = 4>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>, %b: !atx.coord_view<0, 8:1E0>, %c: !atx.int_tuple<8>) {
  // expected-error @below {{'atx.copy' op 'zero_fill' is for destinations in memory; a load is filled with zeros anyway}}
  %0 = atx.copy #atx.universal_copy<32>, %a where %b less %c {zero_fill} : !atx.view<f32, global, 8:1, align = 4> where !atx.coord_view<0, 8:1E0>, !atx.int_tuple<8> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>, %b: !atx.coord_view<0, 4:1E0>, %c: !atx.int_tuple<8>) {
  // expected-error @below {{'atx.copy' op C30: the predicate has 4 coordinates for 8 elements}}
  %0 = atx.copy #atx.universal_copy<32>, %a where %b less %c : !atx.view<f32, global, 8:1, align = 4> where !atx.coord_view<0, 4:1E0>, !atx.int_tuple<8> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>, %b: !atx.coord_view<0, 8:1E0>, %c: !atx.int_tuple<(8,8)>) {
  // expected-error @below {{'atx.copy' op C6: coordinates start at '0', which is not congruent with the bounds '(8,8)'}}
  %0 = atx.copy #atx.universal_copy<32>, %a where %b less %c : !atx.view<f32, global, 8:1, align = 4> where !atx.coord_view<0, 8:1E0>, !atx.int_tuple<(8,8)> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 8:1, align = 4>, %b: !atx.coord_view<0, 8:1E0>, %c: !atx.int_tuple<*>) {
  // expected-error @below {{'atx.copy' op C14: bounds '*' are not integers}}
  %0 = atx.copy #atx.universal_copy<32>, %a where %b less %c : !atx.view<f32, global, 8:1, align = 4> where !atx.coord_view<0, 8:1E0>, !atx.int_tuple<*> -> !atx.fragment<f32, 8:1, chunk = 8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op expected a matrix atom or a tiled matrix product, got unit}}
  %0 = atx.gemm unit, %a, %b, %c : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op expected a matrix atom or a tiled matrix product, got #atx.universal_copy<32>}}
  %0 = atx.gemm #atx.universal_copy<32>, %a, %b, %c : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f16, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op operand a has elements of 'f16', the atom takes 'f32'}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f16, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, 8:1, chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C28: operand a has the layout '8:1'; three modes (values, rest, rest) are needed}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f32, 8:1, chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (2,2,4):(1,2,4), chunk = 2>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C28: operand a has 2 values per atom, the atom takes 1}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f32, (2,2,4):(1,2,4), chunk = 2>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (1,2,?):(0,1,2)>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C13: operand a has the dynamic extent ?; loop over it around the product}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.view<f32, global, (1,2,?):(0,1,2)>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,3,3):(0,1,3), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C28: m is 2 in operand a but 3 in operand c}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,3,3):(0,1,3), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C28: n is 2 in operand b but 3 in operand c}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,2):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{'atx.gemm' op C28: k is 4 in operand a but 2 in operand b}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,2):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, (1,2,4):(0,1,2)>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c : !atx.view<f32, global, (1,2,4):(0,1,2)>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>, %d: i32) {
  // expected-error @below {{'atx.gemm' op the atom takes 0 extra operands, got 1}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c with %d : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1> with i32
  return
}

// -----

func.func @f(%a: !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, %b: !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, %c: !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>) {
  // expected-error @below {{custom op 'atx.gemm' expected an order of loops: mnk, mkn, nmk, nkm, kmn or knm}}
  %0 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c order abc : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,3,4):(0,1,3), chunk = 1>, !atx.fragment<f32, (1,2,3):(0,1,2), chunk = 1>
  return
}

// -----

//===----------------------------------------------------------------------===//
// kinds of operands, which inference sees before the verifier does
//===----------------------------------------------------------------------===//

func.func @f(%a: !atx.int_tuple<4>, %b: !atx.layout<4:1>) {
  // expected-error @below {{'atx.make_view' op operand #0 must be a pointer, but got '!atx.int_tuple<4>'}}
  %0 = atx.make_view %a, %b : !atx.int_tuple<4>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.make_view' op operand #1 must be a layout, but got '!atx.int_tuple<4>'}}
  %0 = atx.make_view %a, %b : !atx.ptr<i8, global>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.make_coord_view' op operand #0 must be a tuple, but got '!atx.layout<4:1>'}}
  %0 = atx.make_coord_view %a : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.get_layout' op operand #0 must be a view or a coordinate view, but got '!atx.layout<4:1>'}}
  %0 = atx.get_layout %a : !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.coord_view<0, 4:1E0>) {
  // expected-error @below {{'atx.get_ptr' op operand #0 must be a view, but got '!atx.coord_view<0, 4:1E0>'}}
  %0 = atx.get_ptr %a : !atx.coord_view<0, 4:1E0>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 4:1>, %b: !atx.int_tuple<4>) {
  // expected-error @below {{'atx.add_offset' op operand #0 must be a pointer, but got '!atx.view<f32, global, 4:1>'}}
  %0 = atx.add_offset %a, %b : !atx.view<f32, global, 4:1>, !atx.int_tuple<4>
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>, %b: index) {
  // expected-error @below {{'atx.add_offset' op operand #1 must be an integer, but got 'index'}}
  %0 = atx.add_offset %a, %b : !atx.ptr<i8, global>, index
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>) {
  // expected-error @below {{'atx.recast_view' op operand #0 must be a view, but got '!atx.ptr<i8, global>'}}
  %0 = atx.recast_view %a to f32 : !atx.ptr<i8, global>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>, %b: !atx.int_tuple<0>) {
  // expected-error @below {{'atx.load' op operand #0 must be a view, but got '!atx.layout<4:1>'}}
  %0 = atx.load %a[%b] : !atx.layout<4:1>, !atx.int_tuple<0>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 4:1>, %b: index) {
  // expected-error @below {{'atx.load' op operand #1 must be integer or nested tuple of integers, but got 'index'}}
  %0 = atx.load %a[%b] : !atx.view<f32, global, 4:1>, index
  return
}

// -----

func.func @f(%a: !atx.layout<(32,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_copy' op operand #0 must be a view or a coordinate view, but got '!atx.layout<(32,64):(64,1)>'}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.layout<(32,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: !atx.view<bf16, global, (32,64):(64,1)>, %b: index) {
  // expected-error @below {{'atx.partition_copy' op C26: thread must be a single integer, but got 'index'}}
  %0 = atx.partition_copy %a, %b by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (32,64):(64,1)>, index
  return
}

// -----

func.func @f(%a: !atx.layout<(32,64):(64,1)>, %b: !atx.int_tuple<?>) {
  // expected-error @below {{'atx.partition_mma' op operand #0 must be a view or a coordinate view, but got '!atx.layout<(32,64):(64,1)>'}}
  %0 = atx.partition_mma a %a, %b by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.layout<(32,64):(64,1)>, !atx.int_tuple<?>
  return
}

// -----

func.func @f(%a: vector<4xf32>) {
  // expected-error @below {{'atx.to_vector' op operand #0 must be a fragment, but got 'vector<4xf32>'}}
  %0 = atx.to_vector %a : vector<4xf32>
  return
}

// -----

func.func @f(%a: index) {
  // expected-error @below {{'atx.size' op operand of type 'index' is not a value of the layout algebra}}
  %0 = atx.size %a : index
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>, %b: !atx.int_tuple<*>) {
  // expected-error @below {{'atx.slice' op operand of type '!atx.ptr<i8, global>' is not a value of the layout algebra}}
  %0 = atx.slice %a, %b : !atx.ptr<i8, global>, !atx.int_tuple<*>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 4:1>, %b: index) {
  // expected-error @below {{'atx.slice' op operand of type 'index' is not a value of the layout algebra}}
  %0 = atx.slice %a, %b : !atx.view<f32, global, 4:1>, index
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>) {
  // expected-error @below {{expected ','}}
  %0 = atx.add_offset %a : !atx.ptr<i8, global>
  return
}

// -----

func.func @f(%a: !atx.ptr<i8, global>, %b: !atx.layout<4:1>) {
  // expected-error @below {{expected ':'}}
  %0 = atx.make_view %a, %b, %b : !atx.ptr<i8, global>, !atx.layout<4:1>, !atx.layout<4:1>
  return
}

// -----

func.func @f(%a: !atx.view<f32, global, 4:1>) {
  // expected-error @below {{'atx.slice' op slice takes 2 operands, got 1}}
  %0 = atx.slice %a : !atx.view<f32, global, 4:1>
  return
}

// -----

func.func @f(%a: !atx.layout<4:1>) {
  // expected-error @below {{'atx.logical_divide' op logical_divide takes 2 operands, got 1}}
  %0 = atx.logical_divide %a : !atx.layout<4:1>
  return
}

// -----

//===----------------------------------------------------------------------===//
// targets
//===----------------------------------------------------------------------===//

// expected-error @below {{'builtin.module' op 'atx.target': unknown target 'gfx000'; known are gfx942 (MI308X, MI300X, MI300A), gfx950 (MI355X)}}
module attributes {atx.target = "gfx000"} {}

// -----

// expected-error @below {{'builtin.module' op 'atx.target' must be the name of an architecture or a chip}}
module attributes {atx.target = 942 : i64} {}
