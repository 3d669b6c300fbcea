// Source of ../differential.test.
typedef unsigned u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef unsigned short u16;
typedef short i16;
typedef signed char i8;

#define COUNT 40
static u32 fbits(float x) {
  u32 r;
  __builtin_memcpy(&r, &x, 4);
  return x != x ? 0x7fc00000u : r;
}
static u64 dbits(double x) {
  u64 r;
  __builtin_memcpy(&r, &x, 8);
  return x != x ? 0x7ff8000000000000ull : r;
}
static float tof(u32 x) {
  float r;
  __builtin_memcpy(&r, &x, 4);
  return r;
}
static double tod(u64 x) {
  double r;
  __builtin_memcpy(&r, &x, 8);
  return r;
}
static u64 eval(int k, u64 a, u64 b) {
  u32 la = (u32)a, lb = (u32)b, ha = (u32)(a >> 32), hb = (u32)(b >> 32);
  float fa = tof(la), fb = tof(lb), fc = tof(ha);
  double da = tod(a), db = tod(b);
  switch (k) {
  case 0: return fbits(fa + fb);
  case 1: return fbits(fa - fb);
  case 2: return fbits(fa * fb);
  case 3: return fbits(fa / fb);
  case 4: return fbits(__builtin_fmaf(fa, fb, fc));
  case 5: return dbits(da + db);
  case 6: return dbits(da * db);
  case 7: return dbits(__builtin_fma(da, db, tod(a ^ b)));
  case 8: return fbits(__builtin_sqrtf(fa));
  case 9: return a + b;
  case 10: return a - b;
  case 11: return a * b;
  case 12: return lb ? la / lb : 0;
  case 13: return lb ? la % lb : 0;
  case 14: return (lb && !(la == 0x80000000u && lb == ~0u)) ? (u32)((i32)la / (i32)lb) : 0;
  case 15: return b ? a / b : 0;
  case 16: return a << (b & 63);
  case 17: return a >> (b & 63);
  case 18: return (u64)((i64)a >> (b & 63));
  case 19: return (i64)a < (i64)b ? a : b;
  case 20: return a > b ? a : b;
  case 21: return fbits((float)(i32)la);
  case 22: return fbits((float)a);
  case 23: return dbits((double)(i64)a);
  case 24: return (fa > -2e9f && fa < 2e9f) ? (u32)(i32)fa : 0;
  case 25: return (da > -9e18 && da < 9e18) ? (u64)(i64)da : 0;
  case 26: return fbits((float)da);
  case 27: return dbits((double)fa);
  case 28: return __builtin_popcountll(a) + __builtin_popcount(lb);
  case 29: return (la ? __builtin_clz(la) : 32) + (b ? __builtin_ctzll(b) : 64) * 256;
  case 30: return __builtin_bswap32(la) ^ __builtin_bitreverse32(lb);
  case 31: return (u64)(((unsigned __int128)a * b) >> 64);
  case 32: return fbits(__builtin_floorf(fa)) | (u64)fbits(__builtin_truncf(fb)) << 32;
  case 33: return fbits(__builtin_rintf(fa)) | (u64)fbits(__builtin_ceilf(fb)) << 32;
  case 34: return dbits(__builtin_floor(da));
  case 35: return (u16)((i16)la * (i16)lb + (i16)ha) | (u32)((i8)la * (i8)lb) << 16;
  case 36: return (fa < fb) | (fa <= fb) << 1 | (fa == fb) << 2 | (fa != fb) << 3 | (da < db) << 4 | (da >= db) << 5 | (la < lb) << 6 | ((i64)a >= (i64)b) << 7;
  case 37: {
    _Float16 h, g;
    u16 x = (u16)la, y = (u16)lb;
    __builtin_memcpy(&h, &x, 2);
    __builtin_memcpy(&g, &y, 2);
    _Float16 s = h + g, p = h * g;
    float w = (float)s, q = (float)p;
    return (u64)fbits(w) | (u64)fbits(q) << 32;
  }
  case 38: {
    _Float16 h = (_Float16)fa;
    u16 x;
    __builtin_memcpy(&x, &h, 2);
    return fa != fa ? 0x7e00 : x;
  }
  case 39: return dbits(da / db);
  }
  return 0;
}

#ifdef HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static u64 state;
static u64 next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static u64 operand(void) {
  static const u64 special[] = {0, 1, ~0ull, 0x8000000080000000ull, 0x7f8000003f800000ull, 0x7ff0000000000000ull,
                                0xff8000007f800000ull, 0x0000000100000001ull, 0x007fffff00800000ull, 0x7f7fffff7f7fffffull,
                                0x3ff0000000000000ull, 0x7fffffff80000000ull, 0x0010000000000000ull, 0x000fffffffffffffull,
                                0x7fc000007fc00000ull, 0x3c007bff00010400ull};
  u64 r = next();
  switch (r >> 60) {
  case 0: case 1: return special[next() % 16];
  case 2: return next() & 0xffff;
  case 3: return (next() & 0x807fffff807fffffull) | 0x3f8000003f800000ull;
  case 4: return (next() & 0x800fffffffffffffull) | ((u64)(1023 + next() % 80) << 52);
  case 5: return next() & 0x80000fff80ffffffull;
  default: return next();
  }
}
static void *slurp(const char *p, size_t *n) {
  FILE *f = fopen(p, "rb");
  if (!f) exit(3);
  fseek(f, 0, SEEK_END);
  *n = ftell(f);
  rewind(f);
  void *m = malloc(*n);
  if (fread(m, 1, *n, f) != *n) exit(3);
  fclose(f);
  return m;
}
static void dump(const char *p, void *m, size_t n) {
  FILE *f = fopen(p, "wb");
  if (!f || fwrite(m, 1, n, f) != n) exit(3);
  fclose(f);
}
int main(int argc, char **argv) {
  if (!strcmp(argv[1], "gen")) {
    size_t n = atoi(argv[2]);
    state = 0x9e3779b97f4a7c15ull * atoi(argv[3]);
    u64 *a = malloc(n * 8), *b = malloc(n * 8), *e = malloc(n * COUNT * 8);
    for (size_t i = 0; i < n; ++i) {
      a[i] = operand();
      b[i] = operand();
      for (int k = 0; k < COUNT; ++k)
        e[i * COUNT + k] = eval(k, a[i], b[i]);
    }
    dump(argv[4], a, n * 8);
    dump(argv[5], b, n * 8);
    dump(argv[6], e, n * COUNT * 8);
    return 0;
  }
  size_t n, m;
  u64 *e = slurp(argv[2], &n), *o = slurp(argv[3], &m);
  if (n != m) return 4;
  size_t bad = 0, per[COUNT] = {0};
  for (size_t i = 0; i < n / 8; ++i)
    if (e[i] != o[i]) {
      ++bad;
      if (per[i % COUNT]++ < 4)
        printf("case %zu row %zu: expected %016llx got %016llx\n", i % COUNT, i / COUNT, e[i], o[i]);
    }
  printf("compared %zu results, %zu differ\n", n / 8, bad);
  return 0;
}
#else
__attribute__((amdgpu_kernel)) void differential(__attribute__((address_space(1))) const u64 *a,
                                                 __attribute__((address_space(1))) const u64 *b,
                                                 __attribute__((address_space(1))) u64 *out) {
  u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  u64 x = a[i], y = b[i];
#pragma unroll
  for (int k = 0; k < COUNT; ++k)
    out[i * COUNT + k] = eval(k, x, y);
}
#endif
