// Source of ../llvm_clean.test: code in which LLVM places wait counts and wait
// states of many kinds.
typedef unsigned u32;
#define global __attribute__((address_space(1)))
#define kernel __attribute__((amdgpu_kernel))
__attribute__((address_space(3), loader_uninitialized)) static float tile[256];

static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Division, transcendentals, comparisons, DPP, readlane, LDS, wide stores,
// a divergent loop.
kernel void mixed(global float *out, global const float *in, u32 n) {
  u32 t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  float x = in[g * 256 + t] + 1.5f, y = in[t] + 2.0f;
  double d = (double)x / (double)y;
  float q = x / y, s = __builtin_sqrtf(x) + __builtin_amdgcn_rcpf(y) * __builtin_amdgcn_rsqf(x);
  tile[t] = q + s;
  barrier();
  float z = tile[255 - t] + (float)d;
  barrier();
  int v = __builtin_bit_cast(int, z);
  v = __builtin_amdgcn_update_dpp(0, v, 0xb1, 15, 15, 1) + v;
  v = __builtin_amdgcn_update_dpp(v, v + 3, 0x111, 15, 15, 0);
  int lane = __builtin_amdgcn_readfirstlane(v) & 63;
  v += __builtin_amdgcn_readlane(v + 1, lane);
  for (u32 i = 0; i < (t & 3) + n; ++i)
    v = v * 3 + (int)(in[(g * 256 + t + i) & 1023] / (float)(i + 3));
  global float *o = out + (g * 256 + t) * 4;
  typedef float float4 __attribute__((ext_vector_type(4)));
  *(global float4 *)o = (float4){q, s, z, (float)(v & 0xffff)};
}

// Half precision, packed and partial writes.
kernel void halves(global _Float16 *out, global const _Float16 *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  _Float16 a = in[2 * t], b = in[2 * t + 1];
  typedef _Float16 half2 __attribute__((ext_vector_type(2)));
  half2 p = {a, b};
  p = p * p + (half2){b, a};
  out[4 * t] = p.x / p.y;
  out[4 * t + 1] = a * b + p.x;
  out[4 * t + 2] = (_Float16)__builtin_sqrtf((float)p.y);
  out[4 * t + 3] = p.x > p.y ? a : b;
}
