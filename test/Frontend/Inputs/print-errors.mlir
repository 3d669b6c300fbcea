func.func @k(%x: memref<64xf32> {atx.name = "x", atx.shape = ["64"]},
             %out: memref<64xf32> {atx.name = "out", atx.shape = ["64"], atx.output})
    attributes {atx.kernel, atx.grid = ["1", "1", "1"], atx.threads = 64 : i64, atx.dims = [], atx.constraints = []} {
  %i = atx.tile_iota : vector<64xi32>
  %a = atx.tile_load %x[%i] : memref<64xf32>, vector<64xi32> -> vector<64xf32>
  %b = arith.remf %a, %a : vector<64xf32>
  atx.tile_store %b, %out[%i] : vector<64xf32>, memref<64xf32>, vector<64xi32>
  return
}
