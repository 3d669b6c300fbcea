module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @__ocml_tanh_f32(f32) -> f32
    llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel, atx.args = [{name = "p", kind = "tensor", type = f32, shape = ["T"]}], atx.grid = ["1", "1", "1"], atx.threads = 64 : i64} {
      %c = llvm.load %p : !llvm.ptr<1> -> f32
      %r = llvm.call @__ocml_tanh_f32(%c) : (f32) -> f32
      llvm.store %r, %p : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
