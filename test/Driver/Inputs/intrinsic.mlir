module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel, atx.args = [{name = "p", kind = "tensor", type = f32, shape = ["T"]}], atx.grid = ["1", "1", "1"], atx.threads = 64 : i64} {
      %c = llvm.mlir.constant(1.0 : f32) : f32
      %r = llvm.call_intrinsic "llvm.amdgcn.tanh.f32"(%c) : (f32) -> f32
      llvm.store %r, %p : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
