// Source of ../llvm_matrix.test: matrix instructions, with their results read by
// the vector ALU, stores, LDS and other matrix instructions.
typedef unsigned u32;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef double double4 __attribute__((ext_vector_type(4)));
#define global __attribute__((address_space(1)))
__attribute__((address_space(3), loader_uninitialized)) static float4 tile[64];

__attribute__((amdgpu_kernel)) void matrix(global float4 *out, global const half4 *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  half4 a = in[t], b = in[t + 64];
  float4 c = {1, 2, 3, 4};
  float16 d = {};
  for (int k = 0; k < 3; ++k) {
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, d, 0, 0, 0);
    a = a * b + (half4){1, 0, 0, 0};
  }
  tile[t] = c;
  float4 e = __builtin_amdgcn_mfma_f32_4x4x4f16(a, b, c, 0, 0, 0);
  e = __builtin_amdgcn_mfma_f32_16x16x4f32(e.x, e.y, c, 0, 0, 0);
  half4 f = {(_Float16)e.x, (_Float16)d[3], (_Float16)e.z, 1};
  float4 g = __builtin_amdgcn_mfma_f32_16x16x16f16(f, b, e, 0, 0, 0);
  double4 h = {};
  h = __builtin_amdgcn_mfma_f64_16x16x4f64((double)g.x, (double)e.y, h, 0, 0, 0);
  out[t] = c + tile[63 - t];
  out[64 + t] = e;
  out[128 + t] = g + (float)h.x;
  out[192 + t] = (float4){d[0], d[5], d[15], (float)h.w};
}
