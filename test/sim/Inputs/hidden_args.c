// Source of ../hidden_args.test.
typedef unsigned u32;
__attribute__((address_space(3), loader_uninitialized)) static u32 tile[128];
__attribute__((amdgpu_kernel)) void reverse(__attribute__((address_space(1))) u32 *out, u32 base) {
  __attribute__((address_space(4))) const u32 *implicit =
      (__attribute__((address_space(4))) const u32 *)__builtin_amdgcn_implicitarg_ptr();
  u32 gx = implicit[0], n = ((__attribute__((address_space(4))) const unsigned short *)implicit)[6];
  u32 x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y();
  u32 t = __builtin_amdgcn_workitem_id_x();
  tile[t] = t + base * (x + 1) + 100 * y;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[(y * gx + x) * n + t] = tile[n - 1 - t];
}
