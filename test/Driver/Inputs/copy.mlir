func.func @copy(%x: tensor<?x64xf32> {atx.name = "x", atx.shape = ["T", "64"], bufferization.writable = false},
                %o: tensor<?x64xf32> {atx.name = "o", atx.output, atx.shape = ["T", "64"], bufferization.writable = true}) -> tensor<?x64xf32>
    attributes {atx.operator, atx.dims = ["T"], atx.constraints = ["T >= 1", "T % 2 == 0"]} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
