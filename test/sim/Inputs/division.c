// Source of ../division.test: every pair of special operands through the
// divisions of f16, f32 and f64.
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned short u16;

// Canonical NaN: which one comes out is not IEEE's business.
static u64 divide(int width, u64 a, u64 b) {
  if (width == 16) {
    u16 x = (u16)a, y = (u16)b, z;
    _Float16 f, g, q;
    __builtin_memcpy(&f, &x, 2);
    __builtin_memcpy(&g, &y, 2);
    q = f / g;
    __builtin_memcpy(&z, &q, 2);
    return q != q ? 0x7e00u : z;
  }
  if (width == 32) {
    u32 x = (u32)a, y = (u32)b, z;
    float f, g, q;
    __builtin_memcpy(&f, &x, 4);
    __builtin_memcpy(&g, &y, 4);
    q = f / g;
    __builtin_memcpy(&z, &q, 4);
    return q != q ? 0x7fc00000u : z;
  }
  double f, g, q;
  u64 z;
  __builtin_memcpy(&f, &a, 8);
  __builtin_memcpy(&g, &b, 8);
  q = f / g;
  __builtin_memcpy(&z, &q, 8);
  return q != q ? 0x7ff8000000000000ull : z;
}

#ifdef HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Operands of one format: all of the classes, the exponents around the limits
// of v_div_scale and v_div_fixup, and mantissas that round either way.
static size_t operands(int mantissa, int exponent, u64 *out) {
  u64 one = 1, top = (one << exponent) - 1, fraction = (one << mantissa) - 1, bias = top >> 1, n = 0;
  u64 exponents[] = {0,         1,         2,        22,        23,        24,         25,         53,
                     54,        bias - 96, bias - 1, bias,      bias + 1,  bias + 96,  top - 64,   top - 25,
                     top - 24,  top - 23,  top - 4,  top - 3,   top - 2,   top - 1,    bias - 64,  bias + 64,
                     bias - 48, bias + 48, bias / 2, bias + 23, bias - 23, bias + 768, bias - 768, bias + 384,
                     bias - 384};
  u64 fractions[] = {0, 1, fraction, fraction - 1, one << (mantissa - 1), fraction / 3, fraction / 5 * 3};
  for (u64 sign = 0; sign < 2; ++sign) {
    u64 s = sign << (mantissa + exponent);
    for (size_t e = 0; e < sizeof exponents / 8; ++e)
      for (size_t f = 0; f < sizeof fractions / 8; ++f)
        if (exponents[e] < top)
          out[n++] = s | exponents[e] << mantissa | fractions[f];
    out[n++] = s | top << mantissa;                      // infinity
    out[n++] = s | top << mantissa | one << (mantissa - 1); // quiet NaN
    out[n++] = s | top << mantissa | 1;                  // signalling NaN
  }
  return n;
}
static void dump(const char *p, void *m, size_t n) {
  FILE *f = fopen(p, "wb");
  if (!f || fwrite(m, 1, n, f) != n || fclose(f)) exit(3);
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
// gen WIDTH A B: padded to whole workgroups; prints their number.
// compare WIDTH A B OUT
int main(int argc, char **argv) {
  int width = atoi(argv[2]);
  if (!strcmp(argv[1], "gen")) {
    static u64 values[2048];
    size_t k = width == 16 ? operands(10, 5, values) : width == 32 ? operands(23, 8, values) : operands(52, 11, values);
    size_t n = (k * k + 63) / 64 * 64;
    u64 *a = calloc(n, 8), *b = calloc(n, 8);
    for (size_t i = 0; i < n; ++i) {
      a[i] = values[i / k % k];
      b[i] = values[i % k];
    }
    dump(argv[3], a, n * 8);
    dump(argv[4], b, n * 8);
    printf("%zu", n / 64);
    return 0;
  }
  size_t n, m, bad = 0;
  u64 *a = slurp(argv[3], &n), *b = slurp(argv[4], &n), *o = slurp(argv[5], &m);
  if (n != m) return 4;
  for (size_t i = 0; i < n / 8; ++i) {
    u64 e = divide(width, a[i], b[i]);
    if (e != o[i] && bad++ < 8)
      printf("%016llx / %016llx: expected %016llx got %016llx\n", a[i], b[i], e, o[i]);
  }
  printf("f%d: compared %zu quotients, %zu differ\n", width, n / 8, bad);
  return 0;
}
#else
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL(W)                                                                                                      \
  __attribute__((amdgpu_kernel)) void divide##W(GLOBAL const u64 *a, GLOBAL const u64 *b, GLOBAL u64 *out) {           \
    u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();                                 \
    out[i] = divide(W, a[i], b[i]);                                                                                    \
  }
KERNEL(16)
KERNEL(32)
KERNEL(64)
#endif
