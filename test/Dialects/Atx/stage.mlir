// RUN: atrex-opt %s | atrex-opt | FileCheck %s

// Slots of shared memory for the tiles of a pipelined loop, read back as they were written.
// CHECK-LABEL: func.func @stages
// CHECK: %[[A:.*]] = atx.stage_alloc slots 2 order [1, 0] swizzle [2, 4, 3] : <vector<256x32xbf16>>
// CHECK: %[[B:.*]] = atx.stage_alloc slots 1 order [0, 1] pad 16 : <vector<64x64xf32>>
// CHECK: atx.stage_write %{{.*}}, %[[A]][%{{.*}}] : <vector<256x32xbf16>>
// CHECK: atx.stage_read %[[A]][%{{.*}}] : <vector<256x32xbf16>>
// CHECK: atx.stage_dealloc %[[B]] : <vector<64x64xf32>>
// CHECK: atx.stage_dealloc %[[A]] : <vector<256x32xbf16>>
func.func @stages(%x: vector<256x32xbf16>, %slot: i32) -> vector<256x32xbf16> {
  %a = atx.stage_alloc slots 2 order [1, 0] swizzle [2, 4, 3] : !atx.stage<vector<256x32xbf16>>
  %b = atx.stage_alloc slots 1 order [0, 1] pad 16 : !atx.stage<vector<64x64xf32>>
  atx.stage_write %x, %a[%slot] : !atx.stage<vector<256x32xbf16>>
  %y = atx.stage_read %a[%slot] : !atx.stage<vector<256x32xbf16>>
  atx.stage_dealloc %b : !atx.stage<vector<64x64xf32>>
  atx.stage_dealloc %a : !atx.stage<vector<256x32xbf16>>
  return %y : vector<256x32xbf16>
}
