// RUN: atrex-opt %s | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s

// CHECK-LABEL: func.func private @mapping
// CHECK-SAME: atx.mapping = #atx.mapping<tile = [16, 1152], extent = [16, 1152], threads = 256, layout = <(16, 16):(8E1, 1E0), (8, 9):(1E1, 128E1)>>
func.func private @mapping() attributes {
  atx.mapping = #atx.mapping<tile = [16, 1152], extent = [16, 1152], threads = 256,
                             layout = <(16, 16):(8E1, 1E0), (8, 9):(1E1, 128E1)>>
}

// Padding: 1000 of 1024 columns are used.
// CHECK-LABEL: func.func private @padded
// CHECK-SAME: tile = [4, 1024], extent = [4, 1000]
func.func private @padded() attributes {
  atx.mapping = #atx.mapping<tile = [4, 1024], extent = [4, 1000], threads = 256,
                             layout = <(64, 4):(8E1, 1E0), (8, 2):(1E1, 512E1)>>
}

// CHECK-LABEL: func.func @layouts
func.func @layouts(%a: vector<4x512xf32>) -> vector<4xf32> {
  // CHECK: arith.negf %{{.*}} {atx.layout = #atx.tv<(64, 4):(8E1, 1E0), (8):(1E1)>}
  %0 = arith.negf %a {atx.layout = #atx.tv<(64, 4):(8E1, 1E0), (8):(1E1)>} : vector<4x512xf32>
  // A broadcast thread mode and no value mode.
  // CHECK: arith.constant {atx.layout = #atx.tv<(64, 4):(0, 1E0), ():()>}
  %1 = arith.constant {atx.layout = #atx.tv<(64, 4):(0, 1E0), ():()>} dense<0.0> : vector<4xf32>
  return %1 : vector<4xf32>
}
