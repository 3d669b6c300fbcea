// RUN: atrex-opt %s -atx-lower="arch=gfx942" -split-input-file -verify-diagnostics

func.func @too_much() {
  %a = atx.alloc_shared : !atx.view<f32, shared, 8192:1, align = 16>
  // expected-error @+1 {{needs 98304 bytes of shared memory with what was allocated before; MI308X has 65536}}
  %b = atx.alloc_shared : !atx.view<f32, shared, 16384:1, align = 16>
  return
}
