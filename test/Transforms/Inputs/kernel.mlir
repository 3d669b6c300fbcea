gpu.module @m {
  gpu.func @k() kernel attributes {atx.mapping = #atx.mapping<tile = [16, 64], extent = [16, 60], threads = 128, layout = <(8, 16):(4E1, 1E0), (4, 2):(1E1, 32E1)>>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32

    gpu.return
  }
}
