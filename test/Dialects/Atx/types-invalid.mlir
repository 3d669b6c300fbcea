// Types and attributes that are refused: one error each.
//
// RUN: atrex-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Text of the values
//===----------------------------------------------------------------------===//

// expected-error @below {{expected an integer, '?', '*' or a tuple}}
func.func private @f(!atx.int_tuple<>)

// -----

// expected-error @below {{unbalanced '(' character in pretty dialect name}}
func.func private @f(!atx.int_tuple<(>)

// -----

// expected-error @below {{expected an integer, '?', '*' or a tuple}}
func.func private @f(!atx.int_tuple<(4,)>)

// -----

// expected-error @below {{expected '>'}}
func.func private @f(!atx.int_tuple<4,8>)

// -----

// expected-error @below {{expected a divisor of at least 1}}
func.func private @f(!atx.int_tuple<?{div=0}>)

// -----

// expected-error @below {{expected a divisor of at least 1}}
func.func private @f(!atx.int_tuple<?{div=-8}>)

// -----

// expected-error @below {{expected 'div' in the braces of a dynamic integer}}
func.func private @f(!atx.int_tuple<?{mul=8}>)

// -----

// expected-error @below {{C8: '9223372036854775808' does not fit in 64 bits}}
func.func private @f(!atx.int_tuple<9223372036854775808>)

// -----

// expected-error @below {{C8: '-9223372036854775809' does not fit in 64 bits}}
func.func private @f(!atx.int_tuple<-9223372036854775809>)

// -----

// expected-error @below {{expected mode numbers after 'E' in 'Ex'}}
func.func private @f(!atx.int_tuple<2Ex>)

// -----

// expected-error @below {{expected mode numbers after 'E' in 'E9999999999'}}
func.func private @f(!atx.int_tuple<2E9999999999>)

// -----

// expected-error @below {{expected '>'}}
func.func private @f(!atx.int_tuple<4 8>)

// -----

// expected-error @below {{tuples nest more than 32 deep}}
func.func private @f(!atx.int_tuple<((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))>)

// -----

// expected-error @below {{expected ':'}}
func.func private @f(!atx.layout<4>)

// -----

// expected-error @below {{C1: shape (4,8) and stride 1 are not congruent}}
func.func private @f(!atx.layout<(4,8):(1)>)

// -----

// expected-error @below {{C1: shape (4,8) and stride 1 are not congruent}}
func.func private @f(!atx.layout<(4,8):1>)

// -----

// expected-error @below {{C2: extent 0 of shape (0,8) is not positive}}
func.func private @f(!atx.layout<(0,8):(1,4)>)

// -----

// expected-error @below {{C2: extent -4 of shape (-4,8) is not positive}}
func.func private @f(!atx.layout<(-4,8):(1,4)>)

// -----

// expected-error @below {{C2: extent 4E0 of shape (4E0,8) is not a positive integer}}
func.func private @f(!atx.layout<(4E0,8):(1,4)>)

// -----

// expected-error @below {{C2: extent * of shape (*,8) is not a positive integer}}
func.func private @f(!atx.layout<(*,8):(1,4)>)

// -----

// expected-error @below {{C1: stride '*' is not an integer}}
func.func private @f(!atx.layout<(4,8):(*,4)>)

// -----

// expected-error @below {{C14: layout (4,8):(1E0,4) mixes integer and coordinate-valued strides}}
func.func private @f(!atx.layout<(4,8):(1E0,4)>)

// -----

// expected-error @below {{expected an integer, '?', '*' or a tuple}}
func.func private @f(!atx.layout<S<3,3,3>>)

// -----

// expected-error @below {{expected an integer, '?', '*' or a tuple}}
func.func private @f(!atx.layout<[4|8]>)

// -----

// expected-error @below {{expected ','}}
func.func private @f(!atx.swizzle<S<3,3>>)

// -----

// expected-error @below {{C21: S<-1,3,3> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.swizzle<S<-1,3,3>>)

// -----

// expected-error @below {{C21: S<3,-3,3> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.swizzle<S<3,-3,3>>)

// -----

// expected-error @below {{C21: S<3,3,2> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.swizzle<S<3,3,2>>)

// -----

// expected-error @below {{C21: S<30,30,30> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.swizzle<S<30,30,30>>)

// -----

// expected-error @below {{expected a small integer}}
func.func private @f(!atx.swizzle<S<99999999999,0,0>>)

// -----

// expected-error @below {{C21: CS<3,0,[1],0,[1]> needs two different components}}
func.func private @f(!atx.swizzle<CS<3,0,[1],0,[1]>>)

// -----

// expected-error @below {{expected a small integer}}
func.func private @f(!atx.swizzle<CS<3,2147483647,[0],0,[1]>>)

// -----

// expected-error @below {{C21: CS<3,-1,[0],0,[1]> needs non-negative numbers and b + r0, b + c0 of at most 62}}
func.func private @f(!atx.swizzle<CS<3,-1,[0],0,[1]>>)

// -----

// expected-error @below {{expected a swizzle such as 'S<3,4,3>', got '4:1'}}
func.func private @f(!atx.swizzle<4:1>)

// -----

// expected-error @below {{expected a composed layout such as 'S<3,3,3> o 0 o (8,64):(64,1)', got 'S<3,3,3>'}}
func.func private @f(!atx.composed_layout<S<3,3,3>>)

// -----

// expected-error @below {{expected 'o' and the outer part of a composed layout}}
func.func private @f(!atx.composed_layout<S<3,3,3> o 0>)

// -----

// expected-error @below {{the outer part of a composed layout is a layout or a composed layout}}
func.func private @f(!atx.composed_layout<S<3,3,3> o 0 o 4>)

// -----

// expected-error @below {{expected a layout, such as '(4,8):(1,4)'}}
func.func private @f(!atx.composed_layout<4 o 0 o 4:1>)

// -----

// expected-error @below {{C14: offset * is not an integer or a coordinate}}
func.func private @f(!atx.composed_layout<S<3,3,3> o * o 4:1>)

// -----

// expected-error @below {{unbalanced '[' character in pretty dialect name}}
func.func private @f(!atx.composed_layout<S<3,3,3> o 0 o [S<3,3,3> o 0 o 4:1>)

// -----

// expected-error @below {{C21: S<3,3,2> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.composed_layout<S<3,3,2> o 0 o 4:1>)

// -----

// expected-error @below {{C1: shape (2,2) and stride 1 are not congruent}}
func.func private @f(!atx.composed_layout<4:1 o 0 o (2,2):1>)

// -----

// expected-error @below {{expected '['}}
func.func private @f(!atx.tile<4|8>)

// -----

// expected-error @below {{unbalanced '[' character in pretty dialect name}}
func.func private @f(!atx.tile<[4|8>)

// -----

// expected-error @below {{expected an integer, '?', '*' or a tuple}}
func.func private @f(!atx.tile<[]>)

// -----

// expected-error @below {{C2: extent 0 of shape 0 is not positive}}
func.func private @f(!atx.tile<[?|0]>)

// -----

// expected-error @below {{C1: shape (2,2) and stride 1 are not congruent}}
func.func private @f(!atx.tile<[(2,2):1]>)

// -----

// expected-error @below {{a mode of a tile is an integer, a layout or '*'}}
func.func private @f(!atx.tile<[4|S<3,3,3>]>)

// -----

//===----------------------------------------------------------------------===//
// Pointers and views
//===----------------------------------------------------------------------===//

// expected-error @below {{expected ','}}
func.func private @f(!atx.ptr<f32>)

// -----

// expected-error @below {{'nowhere' is not the name of a memory space; known are generic, global, shared, buffer and register}}
func.func private @f(!atx.ptr<f32, nowhere>)

// -----

// expected-error @below {{expected the name of a memory space: generic, global, shared, buffer and register}}
func.func private @f(!atx.ptr<f32, 3>)

// -----

// expected-error @below {{registers have no addresses: use a fragment}}
func.func private @f(!atx.ptr<f32, register>)

// -----

// expected-error @below {{element type 'vector<4xf32>' is not an integer or a floating point type}}
func.func private @f(!atx.ptr<vector<4xf32>, global>)

// -----

// expected-error @below {{element type 'index' is not an integer or a floating point type}}
func.func private @f(!atx.ptr<index, global>)

// -----

// expected-error @below {{element type 'i0' has 0 bits; 1 to 128 are supported}}
func.func private @f(!atx.ptr<i0, global>)

// -----

// expected-error @below {{element type 'i256' has 256 bits; 1 to 128 are supported}}
func.func private @f(!atx.ptr<i256, global>)

// -----

// expected-error @below {{alignment 0 is not a power of two up to 2^32}}
func.func private @f(!atx.ptr<f32, global, align = 0>)

// -----

// expected-error @below {{alignment 24 is not a power of two up to 2^32}}
func.func private @f(!atx.ptr<f32, global, align = 24>)

// -----

// expected-error @below {{alignment 8589934592 is not a power of two up to 2^32}}
func.func private @f(!atx.ptr<f32, global, align = 8589934592>)

// -----

// expected-error @below {{alignment -8 is not a power of two up to 2^32}}
func.func private @f(!atx.ptr<f32, global, align = -8>)

// -----

// expected-error @below {{expected 'align = ...' or 'swizzle = ...'}}
func.func private @f(!atx.ptr<f32, global, aligned = 8>)

// -----

// expected-error @below {{'align' is given twice}}
func.func private @f(!atx.ptr<f32, global, align = 8, align = 8>)

// -----

// expected-error @below {{expected a layout, such as '(4,8):(1,4)'}}
func.func private @f(!atx.ptr<f32, global, swizzle = 8>)

// -----

// expected-error @below {{expected a swizzle such as 'S<3,4,3>'}}
func.func private @f(!atx.ptr<f32, global, swizzle = 8:1>)

// -----

// expected-error @below {{C21: S<3,4,2> needs b >= 0, m >= 0, |s| >= b and b + m + |s| <= 62}}
func.func private @f(!atx.ptr<f32, shared, swizzle = S<3,4,2>>)

// -----

// expected-error @below {{a swizzle acts on bytes, element type 'i4' has 4 bits}}
func.func private @f(!atx.ptr<i4, shared, swizzle = S<3,4,3>>)

// -----

// expected-error @below {{C14: a view needs integer strides, '(4,8):(1E0,1E1)' has coordinate-valued ones}}
func.func private @f(!atx.view<f32, global, (4,8):(1E0,1E1)>)

// -----

// expected-error @below {{C1: shape (4,8) and stride 1 are not congruent}}
func.func private @f(!atx.view<f32, global, (4,8):(1)>)

// -----

// expected-error @below {{C8: 4294967296 * 4294967296 does not fit in 64 bits}}
func.func private @f(!atx.view<f32, global, (4294967296,4294967296):(1,4294967296)>)

// -----

// expected-error @below {{element type 'none' is not an integer or a floating point type}}
func.func private @f(!atx.view<none, global, (4,8):(1,4)>)

// -----

// expected-error @below {{registers have no addresses: use a fragment}}
func.func private @f(!atx.view<f32, register, 4:1>)

// -----

// expected-error @below {{start coordinate '(*,0)' is not made of integers}}
func.func private @f(!atx.coord_view<(*,0), (4,8):(1E0,1E1)>)

// -----

// expected-error @below {{start coordinate '(1E0,0)' is not made of integers}}
func.func private @f(!atx.coord_view<(1E0,0), (4,8):(1E0,1E1)>)

// -----

// expected-error @below {{C1: shape (4,8) and stride 1E0 are not congruent}}
func.func private @f(!atx.coord_view<(0,0), (4,8):(1E0)>)

// -----

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

// expected-error @below {{C13: a fragment is static, '(4,?):(1,4)' has dynamic leaves}}
func.func private @f(!atx.fragment<f32, (4,?):(1,4), chunk = 4>)

// -----

// expected-error @below {{C12: a fragment's layout is compact, '(4,8):(1,8)' is not}}
func.func private @f(!atx.fragment<f32, (4,8):(1,8), chunk = 4>)

// -----

// expected-error @below {{C12: a fragment's layout is compact, '(4,8):(0,1)' is not}}
func.func private @f(!atx.fragment<f32, (4,8):(0,1), chunk = 4>)

// -----

// expected-error @below {{C27: chunk 3 does not divide the 32 elements}}
func.func private @f(!atx.fragment<f32, (4,8):(1,4), chunk = 3>)

// -----

// expected-error @below {{C27: chunk 0 does not divide the 32 elements}}
func.func private @f(!atx.fragment<f32, (4,8):(1,4), chunk = 0>)

// -----

// expected-error @below {{C27: chunk -4 does not divide the 32 elements}}
func.func private @f(!atx.fragment<f32, (4,8):(1,4), chunk = -4>)

// -----

// expected-error @below {{a fragment of 8192 elements exceeds the limit of 4096 registers}}
func.func private @f(!atx.fragment<f32, (64,128):(1,64), chunk = 4>)

// -----

// expected-error @below {{element type 'index' is not an integer or a floating point type}}
func.func private @f(!atx.fragment<index, 4:1, chunk = 4>)

// -----

// expected-error @below {{element type 'i0' has 0 bits; 1 to 128 are supported}}
func.func private @f(!atx.fragment<i0, 4:1, chunk = 4>)

// -----

// expected-error @below {{C12: a fragment's layout is compact, '(4,8):(1E0,1E1)' is not}}
func.func private @f(!atx.fragment<f32, (4,8):(1E0,1E1), chunk = 4>)

// -----

// expected-error @below {{expected integer value}}
func.func private @f(!atx.fragment<f32, 4:1, chunk = x>)

// -----

// expected-error @below {{expected ','}}
func.func private @f(!atx.fragment<f32, 4:1>)

// -----

// expected-error @below {{C8: 4611686018427387904 * 2 does not fit in 64 bits}}
func.func private @f(!atx.fragment<f32, (2147483648,2147483648,2):(1,2147483648,4611686018427387904), chunk = 4>)

// -----

//===----------------------------------------------------------------------===//
// Unknown
//===----------------------------------------------------------------------===//

// expected-error @below {{unknown  type `tensor` in dialect `atx`}}
func.func private @f(!atx.tensor<4:1>)

// -----

// expected-error @below {{unknown attribute `copy` in dialect `atx`}}
func.func private @f() attributes {a = #atx.copy<4>}

// -----

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

// expected-error @below {{a copy moves 8, 16, 24, 32, 64, 96 or 128 bits, got 0}}
func.func private @f() attributes {a = #atx.universal_copy<0>}

// -----

// expected-error @below {{a copy moves 8, 16, 24, 32, 64, 96 or 128 bits, got 40}}
func.func private @f() attributes {a = #atx.universal_copy<40>}

// -----

// expected-error @below {{a copy moves 8, 16, 24, 32, 64, 96 or 128 bits, got 256}}
func.func private @f() attributes {a = #atx.universal_copy<256>}

// -----

// expected-error @below {{expected integer value}}
func.func private @f() attributes {a = #atx.universal_copy<x>}

// -----

// expected-error @below {{integer value too large}}
func.func private @f() attributes {a = #atx.universal_copy<99999999999999999999>}

// -----

// expected-error @below {{'xor' is not the name of an atomic operation; known are add, max, min, umax and umin}}
func.func private @f() attributes {a = #atx.universal_atomic<xor, i32>}

// -----

// expected-error @below {{no atomic add of 'i16'; i32, i64 and, for add, max and min, f32 and f64 have one}}
func.func private @f() attributes {a = #atx.universal_atomic<add, i16>}

// -----

// expected-error @below {{no atomic umax of 'f32'; i32, i64 and, for add, max and min, f32 and f64 have one}}
func.func private @f() attributes {a = #atx.universal_atomic<umax, f32>}

// -----

// expected-error @below {{no atomic add of 'bf16'; i32, i64 and, for add, max and min, f32 and f64 have one}}
func.func private @f() attributes {a = #atx.universal_atomic<add, bf16>}

// -----

// expected-error @below {{expected a floating point type, got 'i32'}}
func.func private @f() attributes {a = #atx.universal_fma<i32>}

// -----

// expected-error @below {{expected non-function type}}
func.func private @f() attributes {a = #atx.universal_fma<nothing>}

// -----

//===----------------------------------------------------------------------===//
// Tiled copies and products
//===----------------------------------------------------------------------===//

// expected-error @below {{expected a copy atom, got 4 : i64}}
func.func private @f() attributes {a = #atx.tiled_copy<4 : i64, (4,2):(1,4), 8>}

// -----

// expected-error @below {{expected a copy atom, got #atx.universal_fma<f32>}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_fma<f32>, (4,2):(1,4), 8>}

// -----

// expected-error @below {{C25: thread-value layout 8:1 must have two modes}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, 8:1, 8>}

// -----

// expected-error @below {{C25: thread-value layout maps (2,0) and (0,1) to element 2}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,2):(1,2), 8>}

// -----

// expected-error @below {{C25: thread-value layout (4,2):(1,4) does not cover 16 elements once}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,2):(1,4), 16>}

// -----

// expected-error @below {{C13: compactness of (4,?):(1,4) needs static leaves}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,?):(1,4), 8>}

// -----

// expected-error @below {{C2: extent 0 of shape (0,8) is not positive}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,2):(1,4), (0,8)>}

// -----

// expected-error @below {{C2: extent * of shape (*,8) is not a positive integer}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,2):(1,4), (*,8)>}

// -----

// expected-error @below {{C14: a thread-value layout needs an integer codomain, (4,2):(1E0,1E1) has coordinate-valued strides}}
func.func private @f() attributes {a = #atx.tiled_copy<#atx.universal_copy<32>, (4,2):(1E0,1E1), 8>}

// -----

// expected-error @below {{expected a matrix atom, got #atx.universal_copy<32>}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_copy<32>, (2,2,1):(1,2,0)>}

// -----

// expected-error @below {{C28: atom layout '(2,2):(1,2)' must have three static modes over M, N, K}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,2):(1,2)>}

// -----

// expected-error @below {{C28: atom layout '(2,?,1):(1,2,0)' must have three static modes over M, N, K}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,?,1):(1,2,0)>}

// -----

// expected-error @below {{C28: atom layout '(2,2,1):(1E0,1E1,0)' must have three static modes over M, N, K}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,2,1):(1E0,1E1,0)>}

// -----

// expected-error @below {{C28: atom layout '(64,64,1):(1,64,0)' needs 4096 threads; a workgroup has at most 1024}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (64,64,1):(1,64,0)>}

// -----

// expected-error @below {{C8: 4294967296 * 4294967296 does not fit in 64 bits}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (4294967296,4294967296,1):(1,64,0)>}

// -----

// expected-error @below {{C31: the permutation '[1|2|3|4]' has more modes than M, N, K}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,2,1):(1,2,0), permute = [1|2|3|4]>}

// -----

// expected-error @below {{expected '['}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,2,1):(1,2,0), permute = 4>}

// -----

// expected-error @below {{expected 'permute'}}
func.func private @f() attributes {a = #atx.tiled_mma<#atx.universal_fma<f32>, (2,2,1):(1,2,0), order = [4]>}
