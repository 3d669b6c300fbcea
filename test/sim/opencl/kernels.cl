// Kernels compared between the device and an OpenCL implementation of the host.
// The device has no OpenCL library, so the few built-in functions used are
// spelled out for it. Every kernel reads 8192 words and writes 4096, with 8
// workgroups of 256.

#pragma OPENCL FP_CONTRACT OFF
#ifdef __AMDGCN__
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
typedef unsigned char uchar;
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define LID __builtin_amdgcn_workitem_id_x()
#define WG __builtin_amdgcn_workgroup_id_x()
#define BARRIER                                                                                                        \
  do {                                                                                                                 \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                             \
    __builtin_amdgcn_s_barrier();                                                                                      \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                                             \
  } while (0)
#define ATOMIC_ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define ATOMIC_MAX(p, v) __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define ATOMIC_XOR(p, v) __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define FMAD(a, b, c) __builtin_fma(a, b, c)
#define SQRT(x) __builtin_sqrtf(x)
#define FLOOR(x) __builtin_floorf(x)
#define POPCOUNT(x) ((uint)__builtin_popcount(x))
#define CLZ(x) ((x) ? (uint)__builtin_clz(x) : 32u)
#define MULHI(a, b) ((uint)(((ulong)(a) * (b)) >> 32))
static float h2f(ushort h) { union { ushort u; half h; } x = {h}; return (float)x.h; }
static ushort f2h(float f) { union { half h; ushort u; } x; x.h = (half)f; return x.u; }
#else
#define LID ((uint)get_local_id(0))
#define WG ((uint)get_group_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ATOMIC_ADD(p, v) atomic_add(p, v)
#define ATOMIC_MAX(p, v) atomic_max(p, v)
#define ATOMIC_XOR(p, v) atomic_xor(p, v)
#define FMA(a, b, c) fma(a, b, c)
#define FMAD(a, b, c) fma(a, b, c)
#define SQRT(x) sqrt(x)
#define FLOOR(x) floor(x)
#define POPCOUNT(x) popcount(x)
#define CLZ(x) clz(x)
#define MULHI(a, b) mul_hi((uint)(a), (uint)(b))
static float h2f(ushort h) { return vload_half(0, (private half *)&h); }
static ushort f2h(float f) { ushort h; vstore_half_rte(f, 0, (private half *)&h); return h; }
#endif
#define GID (WG * 256u + LID)
#define KERNEL(NAME)                                                                                                   \
  __attribute__((reqd_work_group_size(256, 1, 1))) kernel void NAME(global const uint *in, global uint *out)

static float unit(uint x) { return (float)(x >> 8) * 0x1p-24f; }
static uint bits(float f) { union { float f; uint u; } x = {f}; return x.u; }

KERNEL(axpy) {
  uint i = GID;
  out[i] = bits(FMA(1.7f, unit(in[i]), unit(in[i + 2048])));
  out[i + 2048] = bits(1.7f * unit(in[i]) + unit(in[i + 2048]));
}

KERNEL(reduce) {
  local float s[256];
  s[LID] = unit(in[GID]) - 0.5f;
  BARRIER;
  for (uint k = 128; k; k >>= 1) {
    if (LID < k)
      s[LID] += s[LID + k];
    BARRIER;
  }
  if (LID == 0)
    out[WG] = bits(s[0]);
}

KERNEL(scan) {
  local uint s[512];
  uint cur = 0;
  s[LID] = in[GID] & 0xffffu;
  BARRIER;
  for (uint k = 1; k < 256; k <<= 1) {
    uint v = s[cur + LID];
    if (LID >= k)
      v += s[cur + LID - k];
    s[(cur ^ 256u) + LID] = v;
    cur ^= 256u;
    BARRIER;
  }
  out[GID] = s[cur + LID];
}

KERNEL(histogram) {
  local uint h[64];
  if (LID < 64)
    h[LID] = 0;
  BARRIER;
  for (uint k = 0; k < 4; ++k)
    ATOMIC_ADD(&h[(in[GID + 2048 * k] >> (k * 7)) & 63u], 1u + k);
  BARRIER;
  if (LID < 64) {
    ATOMIC_ADD(&out[LID], h[LID]);
    ATOMIC_MAX(&out[64 + LID], h[LID]);
    ATOMIC_XOR(&out[128 + LID], h[LID] << (WG * 3));
  }
}

KERNEL(transpose) {
  local uint t[16 * 17];
  uint x = LID & 15u, y = LID >> 4;
  t[y * 17 + x] = in[GID];
  BARRIER;
  out[GID] = t[x * 17 + y];
}

KERNEL(matmul) {
  // 32 x 32 times 32 x 64, one 16 x 16 tile per workgroup.
  local float a[256], b[256];
  uint x = LID & 15u, y = LID >> 4, row = (WG & 1u) * 16 + y, col = (WG >> 1) * 16 + x;
  float sum = 0;
  for (uint k = 0; k < 32; k += 16) {
    a[LID] = unit(in[row * 32 + k + x]);
    b[LID] = unit(in[1024 + (k + y) * 64 + col]) - 0.25f;
    BARRIER;
    for (uint j = 0; j < 16; ++j)
      sum = FMA(a[y * 16 + j], b[j * 16 + x], sum);
    BARRIER;
  }
  out[row * 64 + col] = bits(sum);
}

KERNEL(halves) {
  ushort h = f2h((unit(in[GID]) - 0.5f) * 300.0f);
  float acc = h2f(h);
  for (uint k = 1; k < 8; ++k)
    acc = h2f(f2h(acc * 0.75f + h2f((ushort)(in[GID + k] & 0x7bffu)) * 0x1p-6f));
  out[GID] = h;
  out[GID + 2048] = f2h(acc);
}

KERNEL(bittricks) {
  uint x = in[GID], y = in[GID + 2048], r = 0;
  for (uint k = 0; k < 32; ++k)
    r |= ((x >> k) & 1u) << (31 - k);
  r ^= POPCOUNT(x) << 24 | CLZ(y & 0xffffu) << 16;
  r += (x << (y & 31u)) | (x >> ((32 - y) & 31u));
  r ^= MULHI(x, y) + (uint)((int)x >> (y & 31u));
  r ^= (x & ~y) * 0x9e3779b1u;
  out[GID] = r;
}

KERNEL(sort) {
  local uint s[256];
  s[LID] = in[GID];
  BARRIER;
  for (uint k = 2; k <= 256; k <<= 1)
    for (uint j = k >> 1; j; j >>= 1) {
      uint o = LID ^ j;
      if (o > LID) {
        uint a = s[LID], b = s[o];
        if ((a > b) == ((LID & k) == 0)) {
          s[LID] = b;
          s[o] = a;
        }
      }
      BARRIER;
    }
  out[GID] = s[LID];
}

KERNEL(crc) {
  uint c = ~0u;
  for (uint k = 0; k < 4; ++k) {
    uint w = in[(GID * 4 + k) & 8191u];
    for (uint b = 0; b < 4; ++b) {
      c ^= (w >> (8 * b)) & 0xffu;
      for (uint n = 0; n < 8; ++n)
        c = (c >> 1) ^ (0xedb88320u & (0u - (c & 1u)));
    }
  }
  out[GID] = ~c;
}

KERNEL(stencil) {
  local float s[260];
  s[LID + 2] = unit(in[GID]);
  if (LID < 2) {
    s[LID] = unit(in[(GID + 8190u) & 8191u]);
    s[LID + 258] = unit(in[GID + 256]);
  }
  BARRIER;
  float v = 0.1f * s[LID] + 0.2f * s[LID + 1];
  v = v + 0.4f * s[LID + 2];
  v = v + (0.2f * s[LID + 3] + 0.1f * s[LID + 4]);
  out[GID] = bits(v);
}

KERNEL(mandelbrot) {
  float cx = unit(in[GID]) * 3.0f - 2.0f, cy = unit(in[GID + 2048]) * 2.0f - 1.0f, x = 0, y = 0;
  uint n = 0;
  while (n < 200 && x * x + y * y < 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    ++n;
  }
  out[GID] = n;
  out[GID + 2048] = bits(x);
}

KERNEL(rejection) {
  // A different number of rounds in every lane.
  uint s = in[GID] | 1u, n = 0, hits = 0;
  do {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    ++n;
    if ((s & 3u) == 0)
      continue;
    if ((s >> 28) == 5)
      ++hits;
    if (hits > (in[GID + 1] & 3u))
      break;
  } while (n < 500);
  out[GID] = s;
  out[GID + 2048] = n << 8 | hits;
}

KERNEL(compact) {
  local uint pos[256];
  uint v = in[GID], keep = (v % 3u) == 0;
  pos[LID] = keep;
  BARRIER;
  if (LID == 0) {
    uint sum = 0;
    for (uint k = 0; k < 256; ++k) {
      uint t = pos[k];
      pos[k] = sum;
      sum += t;
    }
    out[2048 + WG] = sum;
  }
  BARRIER;
  if (keep)
    out[WG * 256 + pos[LID]] = v;
}

KERNEL(argmax) {
  local uint v[256], at[256];
  v[LID] = in[GID];
  at[LID] = LID;
  BARRIER;
  for (uint k = 128; k; k >>= 1) {
    if (LID < k && (v[LID + k] > v[LID] || (v[LID + k] == v[LID] && at[LID + k] < at[LID]))) {
      v[LID] = v[LID + k];
      at[LID] = at[LID + k];
    }
    BARRIER;
  }
  if (LID == 0) {
    out[WG] = v[0];
    out[WG + 8] = at[0];
  }
}

KERNEL(modular) {
  ulong m = ((ulong)in[GID] << 20 | in[GID + 2048]) | 1, b = (ulong)in[GID + 4096] << 7 | 3, r = 1;
  m &= (1ul << 31) - 1;
  m |= 1;
  b %= m;
  for (uint e = in[GID + 1] & 0xffffu; e; e >>= 1) {
    if (e & 1u)
      r = r * b % m;
    b = b * b % m;
  }
  out[GID] = (uint)r;
  out[GID + 2048] = (uint)((((ulong)in[GID] << 32 | in[GID + 1]) / (b | 5)) >> 3) + (uint)((int)in[GID] / ((int)(in[GID + 2] >> 16) + 1));
}

KERNEL(bytes) {
  // Unaligned reads of bytes, short writes.
  global const uchar *p = (global const uchar *)in + GID * 3;
  uint h = 5381;
  for (uint k = 0; k < 11; ++k)
    h = h * 33 + p[k];
  global ushort *q = (global ushort *)out;
  q[GID * 2] = (ushort)h;
  q[GID * 2 + 1] = (ushort)(h >> 13);
}

KERNEL(nbody) {
  local float px[256], py[256];
  px[LID] = unit(in[GID]);
  py[LID] = unit(in[GID + 2048]);
  BARRIER;
  float ax = 0, ay = 0, x = px[LID], y = py[LID];
  for (uint k = 0; k < 64; ++k) {
    float dx = px[k] - x, dy = py[k] - y, d = dx * dx + dy * dy + 0.01f;
    float f = 1.0f / (d * SQRT(d));
    ax += dx * f;
    ay += dy * f;
  }
  out[GID] = bits(ax);
  out[GID + 2048] = bits(ay);
}

KERNEL(doubles) {
  double x = (double)in[GID] * 0x1p-31 - 1.0, r = 0.3;
  for (uint k = 0; k < 12; ++k)
    r = FMAD(r, x, (double)(int)in[GID + k] * 0x1p-20);
  union { double d; uint u[2]; } b = {r / (x + 1.5)};
  out[GID] = b.u[0];
  out[GID + 2048] = b.u[1] ^ (uint)(int)(r * 1e3);
}

KERNEL(life) {
  local uint s[256];
  uint x = LID & 15u, y = LID >> 4;
  s[LID] = in[GID] & 1u;
  BARRIER;
  for (uint n = 0; n < 12; ++n) {
    uint c = 0;
    for (uint dy = 15; dy <= 17; ++dy)
      for (uint dx = 15; dx <= 17; ++dx)
        if (dx != 16 || dy != 16)
          c += s[((y + dy) & 15u) * 16 + ((x + dx) & 15u)];
    uint v = c == 3 || (c == 2 && s[LID]);
    BARRIER;
    s[LID] = v;
    BARRIER;
  }
  out[GID] = s[LID];
}
