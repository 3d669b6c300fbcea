// Source of ../foreign_clang.test.
typedef unsigned u32;
#define global __attribute__((address_space(1)))
#define kernel __attribute__((amdgpu_kernel))
#define noinline __attribute__((noinline))

typedef u32 (*Function)(u32);
static noinline u32 twice(u32 x) { return 2 * x; }
static noinline u32 square(u32 x) { return x * x; }
// Recursion with a frame of its own at every level.
static noinline u32 sum(u32 n) {
  volatile u32 local[4] = {n, n + 1, n + 2, n + 3};
  return n ? local[n & 3] + sum(n - 1) : local[0];
}
static u32 fibonacci(u32 n);
static noinline u32 fibonacciOther(u32 n) { return fibonacci(n - 1) + fibonacci(n - 2); }
static noinline u32 fibonacci(u32 n) { return n < 2 ? n : fibonacciOther(n); }

// A table of function pointers: relocations in data.
__attribute__((address_space(1), used)) Function table[] = {twice, square, sum, fibonacci};

kernel void calls(global u32 *out, u32 n) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  Function f = table[t & 3];
  out[t] = f(n + (t & 3));
}

// Lanes that differ in depth.
kernel void recursion(global u32 *out) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  out[t] = sum(t & 15);
}

// LDS of which the launch decides the size, behind a static part.
extern __attribute__((address_space(3))) u32 dynamic[];
__attribute__((address_space(3), loader_uninitialized)) static u32 fixed[16];
kernel void shared(global u32 *out, u32 n) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  if (t < 16)
    fixed[t] = 100 * t;
  dynamic[t] = t;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[t] = dynamic[n - 1 - t] + fixed[t & 15];
}

// A pointer that may be null, and a generic one into private memory.
kernel void optional(global u32 *out, global const u32 *bias) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  u32 local[8];
  for (u32 i = 0; i < 8; ++i)
    local[i] = t * i;
  u32 *volatile p = local;
  out[t] = p[t & 7] + (bias ? bias[t] : 1000);
}

// The last workgroup adds up what the others have left.
kernel void lastOne(global u32 *out, global u32 *parts, global u32 *count, u32 groups) {
  u32 t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  parts[g * 64 + t] = g + t;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  u32 old = t == 0 ? __scoped_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE) : 0;
  old = __builtin_amdgcn_readfirstlane(old);
  if (old != groups - 1)
    return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  u32 s = 0;
  for (u32 i = 0; i < groups; ++i)
    s += parts[i * 64 + t];
  out[t] = s;
}
