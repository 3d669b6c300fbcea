// RUN: atrex-opt %s --atx-lower=arch=gfx950 -split-input-file -verify-diagnostics

func.func @scale(%a: !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>, %c: !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4>,
                 %s: i32, %t: f64) {
  // expected-error @below {{the scale of B must be an i32, an i8 or a vector of 32 bits, got 'f64'}}
  // expected-error @below {{failed to legalize operation 'atx.gemm'}}
  %d = atx.gemm #atx_amdgpu.scaled_mfma<16x16x128, f8E5M2, f8E5M2, f32>, %a, %a, %c with %s, %t
      : !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>, !atx.fragment<f8E5M2, (32,1,1):(1,0,0), chunk = 32>,
        !atx.fragment<f32, (4,1,1):(1,0,0), chunk = 4> with i32, f64
  return
}

// -----

func.func @far(%v: !atx.view<f32, buffer, (1,2):(0,1073741824), align = 4>) {
  // expected-error @below {{an offset of 4294967296 bytes is beyond what a buffer can address}}
  // expected-error @below {{failed to legalize operation 'atx.copy'}}
  %f = atx.copy #atx_amdgpu.buffer_copy<32>, %v : !atx.view<f32, buffer, (1,2):(0,1073741824), align = 4>
      -> !atx.fragment<f32, (1,2):(0,1), chunk = 1>
  return
}

// -----

func.func @far_store(%f: !atx.fragment<f32, (1,2):(0,1), chunk = 1>, %v: !atx.view<f32, buffer, (1,2):(0,1073741824), align = 4>) {
  // expected-error @below {{an offset of 4294967296 bytes is beyond what a buffer can address}}
  // expected-error @below {{failed to legalize operation 'atx.copy'}}
  atx.copy #atx_amdgpu.buffer_copy<32>, %f to %v : !atx.fragment<f32, (1,2):(0,1), chunk = 1>,
      !atx.view<f32, buffer, (1,2):(0,1073741824), align = 4>
  return
}
