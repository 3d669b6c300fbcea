// RUN: atrex-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(atx-select-mapping))' | FileCheck %s

// Rows of every length. The reductions decide how many lanes share a row.

// A column of one element: a row per lane, no value modes.
// CHECK-LABEL: func.func @row1
// CHECK-SAME: #atx.mapping<tile = [256, 1], extent = [256, 1], threads = 256, layout = <(256):(1E0), ():()>>
func.func @row1(%x: tensor<?x1xbf16> {atx.name = "x"}, %o: tensor<?x1xbf16> {atx.name = "o", atx.output}) -> tensor<?x1xbf16> attributes {atx.operator} {
  return %x : tensor<?x1xbf16>
}

// -----

// Odd: runs of one element, one padding column.
// CHECK-LABEL: func.func @row7
// CHECK-SAME: tile = [32, 8], extent = [32, 7], threads = 256, layout = <(8, 32):(1E1, 1E0), (1):(1E1)>
func.func @row7(%x: tensor<?x7xbf16>, %o: tensor<?x7xbf16> {atx.output}) -> tensor<?x7xbf16> attributes {atx.operator} {
  return %x : tensor<?x7xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// Four lanes of a wave share a row.
// CHECK-LABEL: func.func @row128
// CHECK-SAME: tile = [64, 128], extent = [64, 128], threads = 256, layout = <(4, 64):(8E1, 1E0), (8, 4):(1E1, 32E1)>
func.func @row128(%x: tensor<?x128xbf16>, %i: tensor<?xbf16>, %o: tensor<?x128xbf16> {atx.output}) -> tensor<?x128xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x128xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x128xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @row1003
// CHECK-SAME: tile = [8, 1024], extent = [8, 1003], threads = 256, layout = <(32, 8):(1E1, 1E0), (1, 32):(1E1, 32E1)>
func.func @row1003(%x: tensor<?x1003xbf16>, %w: tensor<1003xbf16>, %i: tensor<?xbf16>, %o: tensor<?x1003xbf16> {atx.output}) -> tensor<?x1003xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1003xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x1003xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @row1024
// CHECK-SAME: tile = [16, 1024], extent = [16, 1024], threads = 256, layout = <(16, 16):(8E1, 1E0), (8, 8):(1E1, 128E1)>
func.func @row1024(%x: tensor<?x1024xbf16>, %w: tensor<1024xbf16>, %i: tensor<?xbf16>, %o: tensor<?x1024xbf16> {atx.output}) -> tensor<?x1024xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1024xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x1024xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @row1152
// CHECK-SAME: tile = [16, 1152], extent = [16, 1152], threads = 256, layout = <(16, 16):(8E1, 1E0), (8, 9):(1E1, 128E1)>
func.func @row1152(%x: tensor<?x1152xbf16>, %w: tensor<1152xbf16>, %i: tensor<?xbf16>, %o: tensor<?x1152xbf16> {atx.output}) -> tensor<?x1152xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1152xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x1152xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// Two waves for a row: registers outweigh the exchange.
// CHECK-LABEL: func.func @row8192
// CHECK-SAME: tile = [2, 8192], extent = [2, 8192], threads = 256, layout = <(128, 2):(8E1, 1E0), (8, 8):(1E1, 1024E1)>
func.func @row8192(%x: tensor<?x8192xbf16>, %w: tensor<8192xbf16>, %i: tensor<?xbf16>, %o: tensor<?x8192xbf16> {atx.output}) -> tensor<?x8192xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8192xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x8192xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// The longest rows: many lanes, and still no spill.
// CHECK-LABEL: func.func @row40960
// CHECK-SAME: tile = [1, 40960], extent = [1, 40960], threads = 512, layout = <(512):(8E1), (8, 10):(1E1, 4096E1)>
func.func @row40960(%x: tensor<?x40960xbf16>, %w: tensor<40960xbf16>, %i: tensor<?xbf16>, %o: tensor<?x40960xbf16> {atx.output}) -> tensor<?x40960xbf16> attributes {atx.operator} {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x40960xbf16>) outs(%i : tensor<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %x : tensor<?x40960xbf16>
}

// -----

// f32 elements: 16 bytes are four of them. The widest type of the tensors decides.
// CHECK-LABEL: func.func @f32
// CHECK-SAME: layout = <({{.*}}):(4E1, 1E0), (4{{[,)]}}
func.func @f32(%x: tensor<?x1024xf32>, %o: tensor<?x1024xbf16> {atx.output}) -> tensor<?x1024xbf16> attributes {atx.operator} {
  return %o : tensor<?x1024xbf16>
}

// -----

// A middle dimension is held by the lane.
// CHECK-LABEL: func.func @middle
// CHECK-SAME: tile = [{{[0-9]+}}, 3, 64]
// CHECK-SAME: :(8E2, 1E0), (8{{.*}}, 3{{.*}}):(1E2{{.*}}, 1E1
func.func @middle(%x: tensor<?x3x64xbf16>, %o: tensor<?x3x64xbf16> {atx.output}) -> tensor<?x3x64xbf16> attributes {atx.operator} {
  return %x : tensor<?x3x64xbf16>
}

// -----

// Elements whose size is no power of two: runs still are.
// CHECK-LABEL: func.func @i24
// CHECK-SAME: tile = [{{[0-9]+}}, 8], extent = [{{[0-9]+}}, 8]
func.func @i24(%x: tensor<?x8xi24>, %o: tensor<?x8xi24> {atx.output}) -> tensor<?x8xi24> attributes {atx.operator} {
  return %x : tensor<?x8xi24>
}

// -----

// Tensors of rank 0 and of elements that are no numbers do not count.
// CHECK-LABEL: func.func @rank0
// CHECK-SAME: atx.mapping
func.func @rank0(%s: tensor<f32>, %c: tensor<?x64xcomplex<f32>>, %o: tensor<?x64xbf16> {atx.output}) -> tensor<?x64xbf16> attributes {atx.operator} {
  return %o : tensor<?x64xbf16>
}

// -----

// What is there stays; what is no operator is left alone.
// CHECK-LABEL: func.func @present
// CHECK-SAME: atx.mapping = #atx.mapping<tile = [64, 1], extent = [64, 1], threads = 64, layout = <(64):(1E0), ():()>>
func.func @present(%x: tensor<?x1xbf16>, %o: tensor<?x1xbf16> {atx.output}) -> tensor<?x1xbf16>
    attributes {atx.operator, atx.mapping = #atx.mapping<tile = [64, 1], extent = [64, 1], threads = 64, layout = <(64):(1E0), ():()>>} {
  return %x : tensor<?x1xbf16>
}
// CHECK-LABEL: func.func @plain
// CHECK-NOT: atx.mapping
func.func @plain(%x: tensor<?x8xbf16>) {
  return
}
