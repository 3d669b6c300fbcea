// RUN: atrex-opt %s | atrex-opt | FileCheck %s
// RUN: atrex-opt %s -mlir-print-op-generic | atrex-opt | FileCheck %s

// Layouts of tiles, by dimension: modes of registers and work-items, fastest first.
// CHECK-LABEL: func.func @convert
// CHECK: atx.convert_layout %{{.*}} {atx.tile_layouts = [#atx.tile_layout<256, {{\[\[}}4t64], [4r1, 64t1, 4r4]]>]} : vector<4x1000xf32>
// CHECK: atx.convert_layout %{{.*}} {atx.tile_layouts = [#atx.tile_layout<64, {{\[\[}}], [5r1]]>]} : vector<1x5xi1>
func.func @convert(%x: vector<4x1000xf32>, %y: vector<1x5xi1>) {
  %a = atx.convert_layout %x {atx.tile_layouts = [#atx.tile_layout<256, [[4t64], [4r1, 64t1, 4r4]]>]} : vector<4x1000xf32>
  %b = atx.convert_layout %y {atx.tile_layouts = [#atx.tile_layout<64, [[], [5r1]]>]} : vector<1x5xi1>
  return
}
