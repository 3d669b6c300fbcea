// RUN: atrex-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{no matrix instruction 16x16x7 bf16; nearest: 16x16x16 bf16}}
func.func private @shape() attributes {a = #atx_amdgpu.mfma<16x16x7, bf16, bf16, f32>}

// -----

// expected-error @below {{no matrix instruction 32x32x8 bf16, blocks = 2; nearest: 32x32x4 bf16, blocks = 2}}
func.func private @blocks() attributes {a = #atx_amdgpu.mfma<32x32x8, bf16, bf16, f32, blocks = 2>}

// -----

// expected-error @below {{no matrix instruction 0x0x0 f32, blocks = -4; nearest: 4x4x1 f32, blocks = 16}}
func.func private @zero() attributes {a = #atx_amdgpu.mfma<0x0x0, f32, f32, f32, blocks = -4>}

// -----

// expected-error @below {{expected a shape M x N x K such as 16x16x16, got 2 extents}}
func.func private @extents() attributes {a = #atx_amdgpu.mfma<16x16, bf16, bf16, f32>}

// -----

// expected-error @below {{operand B has elements of 'i4', which no matrix instruction takes}}
func.func private @type() attributes {a = #atx_amdgpu.mfma<16x16x16, bf16, i4, f32>}

// -----

// expected-error @below {{operand C has elements of 'vector<4xf32>', which no matrix instruction takes}}
func.func private @vector() attributes {a = #atx_amdgpu.mfma<16x16x16, bf16, bf16, vector<4xf32>>}

// -----

// expected-error @below {{no matrix instruction multiplies 'bf16' by 'f16' into 'f32'; 'bf16' is multiplied by bf16 into f32}}
func.func private @types() attributes {a = #atx_amdgpu.mfma<16x16x16, bf16, f16, f32>}

// -----

// expected-error @below {{no sparse matrix instruction multiplies 'f64' by 'f64' into 'f64'; none takes 'f64' as A}}
func.func private @sparse_types() attributes {a = #atx_amdgpu.smfmac<16x16x16, f64, f64, f64>}

// -----

// expected-error @below {{no chip has 16x16x32 f8E4M3FNUZ x f8E4M3FN with these encodings; nearest: 16x16x32 f8E4M3FNUZ}}
func.func private @mixed() attributes {a = #atx_amdgpu.mfma<16x16x32, f8E4M3FNUZ, f8E4M3FN, f32>}

// -----

// The wide shapes came with the other encoding.
// expected-error @below {{no chip has 16x16x128 f8E4M3FNUZ with these encodings; nearest: 16x16x32 f8E4M3FNUZ}}
func.func private @encoding() attributes {a = #atx_amdgpu.mfma<16x16x128, f8E4M3FNUZ, f8E4M3FNUZ, f32>}

// -----

// expected-error @below {{16x16x16 bf16 does not broadcast blocks of A; 'cbsz' and 'abid' must be 0}}
func.func private @cbsz() attributes {a = #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32, cbsz = 1>}

// -----

// expected-error @below {{'cbsz' is 3; with 4 blocks it lies from 0 to 2}}
func.func private @cbsz_range() attributes {a = #atx_amdgpu.mfma<16x16x4, bf16, bf16, f32, blocks = 4, cbsz = 3>}

// -----

// expected-error @below {{'abid' is 2; it names one of the 2 blocks of a group, 2^cbsz}}
func.func private @abid() attributes {a = #atx_amdgpu.mfma<16x16x4, bf16, bf16, f32, blocks = 4, cbsz = 1, abid = 2>}

// -----

// expected-error @below {{'blgp' is 8; it lies from 0 to 7}}
func.func private @blgp_range() attributes {a = #atx_amdgpu.mfma<16x16x4, f32, f32, f32, blgp = 8>}

// -----

// expected-error @below {{16x16x16 bf16 has no lane permutation of B; 'blgp' must be 0}}
func.func private @blgp() attributes {a = #atx_amdgpu.mfma<16x16x16, bf16, bf16, f32, blgp = 1>}

// -----

// expected-error @below {{all 4 blocks compute the same product: 'cbsz' = 2 shares A and 'blgp' = 5 shares B}}
func.func private @same() attributes {a = #atx_amdgpu.mfma<16x16x1, f32, f32, f32, blocks = 4, cbsz = 2, blgp = 5>}

// -----

// expected-error @below {{no matrix instruction scaled 16x16x32 f8E4M3FN; nearest: scaled 16x16x128 f8E4M3FN}}
func.func private @scaled() attributes {a = #atx_amdgpu.scaled_mfma<16x16x32, f8E4M3FN, f8E4M3FN, f32>}

// -----

// expected-error @below {{no scaled matrix instruction multiplies 'bf16' by 'bf16' into 'f32'; none takes 'bf16' as A}}
func.func private @scaled_type() attributes {a = #atx_amdgpu.scaled_mfma<16x16x128, bf16, bf16, f32>}

// -----

// expected-error @below {{'selectB' is 4; it names one of the bytes 0 to 3 of the scales}}
func.func private @select() attributes {a = #atx_amdgpu.scaled_mfma<16x16x128, f4E2M1FN, f4E2M1FN, f32, selectB = 4>}

// -----

// expected-error @below {{'cbsz' is -1; it lies from 0 to 7}}
func.func private @sparse_cbsz() attributes {a = #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32, cbsz = -1>}

// -----

// expected-error @below {{'abid' is 4; sparse 16x16x32 bf16 with 'cbsz' = 0 has 4 index sets in the register}}
func.func private @sparse_abid() attributes {a = #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32, abid = 4>}

// -----

// expected-error @below {{'abid' is 1; sparse 16x16x32 bf16 with 'cbsz' = 1 has 1 index set in the register}}
func.func private @sparse_set() attributes {a = #atx_amdgpu.smfmac<16x16x32, bf16, bf16, f32, cbsz = 1, abid = 1>}

// -----

// expected-error @below {{no buffer copy of 48 bits; there are 8, 16, 32, 64, 96, 128}}
func.func private @buffer_copy() attributes {a = #atx_amdgpu.buffer_copy<48>}

// -----

// expected-error @below {{no global copy of 4294967328 bits; there are 8, 16, 32, 64, 96, 128}}
func.func private @global_copy() attributes {a = #atx_amdgpu.global_copy<4294967328>}

// -----

// expected-error @below {{a global copy is 'cached' or 'nt', got 'sc0'; coherence bits need a buffer copy}}
func.func private @global_cache() attributes {a = #atx_amdgpu.global_copy<32, sc0>}

// -----

// expected-error @below {{no LDS copy of -32 bits; there are 8, 16, 32, 64, 96, 128}}
func.func private @lds_copy() attributes {a = #atx_amdgpu.lds_copy<-32>}

// -----

// expected-error @below {{no copy from a buffer to LDS of 64 bits; there are 32, 96, 128}}
func.func private @buffer_lds() attributes {a = #atx_amdgpu.buffer_copy_lds<64>}

// -----

// expected-error @below {{no copy from global memory to LDS of 16 bits; there are 32, 96, 128}}
func.func private @global_lds() attributes {a = #atx_amdgpu.global_copy_lds<16>}

// -----

// expected-error @below {{no transposing read of LDS of 64 bits with elements of 6 bits; there are 64 of 4, 96 of 6, 64 of 8, 64 of 16}}
func.func private @trans() attributes {a = #atx_amdgpu.lds_read_trans<64, 6>}

// -----

// expected-error @below {{no buffer atomic 'max' of 'f32'; it is there for i32, i64, f64}}
func.func private @buffer_atomic() attributes {a = #atx_amdgpu.buffer_atomic<max, f32>}

// -----

// expected-error @below {{no global atomic 'umax' of 'f64'; it is there for i32, i64}}
func.func private @global_atomic() attributes {a = #atx_amdgpu.global_atomic<umax, f64>}

// -----

// expected-error @below {{no LDS atomic 'add' of 'vector<4xf16>'; it is there for i32, i64, f32, f64, 2xf16, 2xbf16}}
func.func private @lds_atomic() attributes {a = #atx_amdgpu.lds_atomic<add, vector<4xf16>>}

// -----

func.func @mfma_target(%a: !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>, %c: !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>)
    attributes {atx.target = "MI300X"} {
  // expected-error @below {{C32: 16x16x32 bf16 needs gfx950; target is MI300X}}
  // expected-note @below {{nearest: 16x16x16 bf16}}
  %d = atx.gemm #atx_amdgpu.mfma<16x16x32, bf16, bf16, f32>, %a, %a, %c : !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>,
      !atx.fragment<bf16, (8,1,1):(1,0,0), chunk = 8>, !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>
  return
}

// -----

func.func @mfma_encoding(%a: !atx.fragment<f8E4M3FNUZ, (8,1,1):(1,0,0), chunk = 8>, %c: !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>)
    attributes {atx.target = "gfx950"} {
  // expected-error @below {{C32: 16x16x32 f8E4M3FNUZ needs gfx942; target is gfx950}}
  // expected-note @below {{nearest: 16x16x32 f8E4M3FN}}
  %d = atx.gemm #atx_amdgpu.mfma<16x16x32, f8E4M3FNUZ, f8E4M3FNUZ, f32>, %a, %a, %c
      : !atx.fragment<f8E4M3FNUZ, (8,1,1):(1,0,0), chunk = 8>, !atx.fragment<f8E4M3FNUZ, (8,1,1):(1,0,0), chunk = 8>,
        !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>
  return
}

// -----

func.func @xf32(%a: !atx.fragment<f32, (2,1,1):(1,0,0), chunk = 2>, %c: !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>)
    attributes {atx.target = "gfx950"} {
  // expected-error @below {{C32: 16x16x8 tf32 needs gfx942; target is gfx950}}
  // expected-note @below {{gfx950 has no matrix instruction of these types}}
  %d = atx.gemm #atx_amdgpu.mfma<16x16x8, tf32, tf32, f32>, %a, %a, %c : !atx.fragment<f32, (2,1,1):(1,0,0), chunk = 2>,
      !atx.fragment<f32, (2,1,1):(1,0,0), chunk = 2>, !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>
  return
}

// -----

func.func @scales(%a: !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>, %c: !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>,
                  %s: i32) {
  // expected-error @below {{the atom takes 2 extra operands, got 1}}
  %d = atx.gemm #atx_amdgpu.scaled_mfma<16x16x128, f8E5M2, f8E5M2, f32>, %a, %a, %c with %s
      : !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>, !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>,
        !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4> with i32
  return
}

// -----

func.func @direct_target(%v: !atx.view<bf16, global, 8:1, align = 16>, %s: !atx.view<bf16, shared, 8:1, align = 16>)
    attributes {atx.target = "gfx942"} {
  // expected-error @below {{C32: a copy from global memory to LDS of 128 bits needs gfx950; target is gfx942}}
  // expected-note @below {{gfx942 has 32 bits}}
  atx.copy #atx_amdgpu.global_copy_lds<128>, %v to %s : !atx.view<bf16, global, 8:1, align = 16>,
      !atx.view<bf16, shared, 8:1, align = 16>
  return
}

// -----

func.func @trans_target(%s: !atx.view<bf16, shared, 4:1, align = 16>) attributes {atx.target = "gfx942"} {
  // expected-error @below {{C32: a transposing read of LDS of 64 bits needs gfx950; target is gfx942}}
  // expected-note @below {{gfx942 has none}}
  %f = atx.copy #atx_amdgpu.lds_read_trans<64, 16>, %s : !atx.view<bf16, shared, 4:1, align = 16>
      -> !atx.fragment<bf16, 4:1, chunk = 4>
  return
}

// -----

func.func @atomic_target(%f: !atx.fragment<bf16, 2:1, chunk = 2>, %v: !atx.view<bf16, buffer, 2:1, align = 4>)
    attributes {atx.target = "gfx942"} {
  // expected-error @below {{C32: buffer atomic 'add' of 'vector<2xbf16>' needs gfx950; target is gfx942}}
  // expected-note @below {{gfx942 has it for i32, i64, f32, f64, 2xf16}}
  atx.copy #atx_amdgpu.buffer_atomic<add, vector<2xbf16>>, %f to %v : !atx.fragment<bf16, 2:1, chunk = 2>,
      !atx.view<bf16, buffer, 2:1, align = 4>
  return
}

// -----

func.func @space(%v: !atx.view<bf16, global, 8:1, align = 16>) {
  // expected-error @below {{C32: atom #atx_amdgpu.buffer_copy<128> does not move from global to register}}
  %f = atx.copy #atx_amdgpu.buffer_copy<128>, %v : !atx.view<bf16, global, 8:1, align = 16>
      -> !atx.fragment<bf16, 8:1, chunk = 8>
  return
}

// -----

// LDS moves 96 bits at once only from multiples of 16 bytes.
func.func @alignment(%v: !atx.view<f32, shared, 3:1, align = 8>) {
  // expected-error @below {{C27: 96-bit access needs an alignment of 16 bytes; the view has 8}}
  %f = atx.copy #atx_amdgpu.lds_copy<96>, %v : !atx.view<f32, shared, 3:1, align = 8>
      -> !atx.fragment<f32, 3:1, chunk = 3>
  return
}

// -----

// Blocks with factors of their own are no single product.
func.func @batch(%a: !atx.view<f16, global, (64,16):(16,1), align = 16>, %t: !atx.int_tuple<?>) {
  // expected-error @below {{C}}
  %p = atx.partition_mma a %a, %t by <#atx_amdgpu.mfma<4x4x4, f16, f16, f32, blocks = 16>, (1,1,1):(0,0,0)>
      : !atx.view<f16, global, (64,16):(16,1), align = 16>, !atx.int_tuple<?>
  return
}

// -----

func.func @make_buffer_source(%p: !atx.ptr<bf16, shared, align = 16>, %bytes: i64) {
  // expected-error @below {{starts at a pointer to global memory, got '!atx.ptr<bf16, shared, align = 16>'}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, shared, align = 16> -> !atx.ptr<bf16, buffer, align = 16>
  return
}

// -----

func.func @make_buffer_result(%p: !atx.ptr<bf16, global, align = 16>, %bytes: i64) {
  // expected-error @below {{gives a pointer of the memory space buffer, got '!atx.ptr<bf16, global, align = 16>'}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<bf16, global, align = 16>
  return
}

// -----

func.func @make_buffer_type(%p: !atx.ptr<bf16, global, align = 16>, %bytes: i64) {
  // expected-error @below {{keeps the element type; got 'bf16' and 'f16'}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, global, align = 16> -> !atx.ptr<f16, buffer, align = 16>
  return
}

// -----

func.func @make_buffer_swizzle(%p: !atx.ptr<bf16, global, align = 16, swizzle = S<3,4,3>>, %bytes: i64) {
  // expected-error @below {{takes and gives pointers without a swizzle}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, global, align = 16, swizzle = S<3,4,3>>
      -> !atx.ptr<bf16, buffer, align = 16>
  return
}

// -----

func.func @make_buffer_align(%p: !atx.ptr<bf16, global, align = 4>, %bytes: i64) {
  // expected-error @below {{gives a pointer aligned to 16 bytes; the source proves 4}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, global, align = 4> -> !atx.ptr<bf16, buffer, align = 16>
  return
}

// -----

func.func @make_buffer_bytes(%p: !atx.ptr<bf16, global, align = 4>) {
  %bytes = arith.constant 2147483648 : i64
  // expected-error @below {{holds 2147483648 bytes; a buffer has from 0 to 2^31 - 1}}
  %b = atx_amdgpu.make_buffer %p, %bytes : !atx.ptr<bf16, global, align = 4> -> !atx.ptr<bf16, buffer, align = 4>
  return
}
