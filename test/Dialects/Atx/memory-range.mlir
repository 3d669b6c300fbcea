// RUN: atrex-opt %s -split-input-file -verify-diagnostics

func.func @row(%v: !atx.view<f32, global, (8,4):(4,1)>) {
  %c = atx.static : !atx.int_tuple<(9,*)>
  // expected-error @+1 {{'atx.slice' op C26: coordinate 9 is outside of extent 8}}
  %s = atx.slice %v, %c : !atx.view<f32, global, (8,4):(4,1)>, !atx.int_tuple<(9,*)>
  return
}

// -----

func.func @tile(%v: !atx.view<f32, global, (8,4):(4,1)>) {
  %t = atx.static : !atx.tile<[4|4]>
  %c = atx.static : !atx.int_tuple<(2,0)>
  // expected-error @+1 {{'atx.local_tile' op C26: coordinate 2 is outside of extent 2}}
  %s = atx.local_tile %v, %t, %c : !atx.view<f32, global, (8,4):(4,1)>, !atx.tile<[4|4]>, !atx.int_tuple<(2,0)>
  return
}

// -----

func.func @overlap(%f: !atx.fragment<f32, (8,4):(1,8), chunk = 1>, %v: !atx.view<f32, global, (8,4):(0,1), align = 4>) {
  // expected-error @+1 {{C12: several elements of the source go to one place of the destination '(8,4):(0,1)'; only an atom that combines, such as '#atx.universal_atomic', may do that}}
  atx.copy #atx.universal_copy<32>, %f to %v : !atx.fragment<f32, (8,4):(1,8), chunk = 1>, !atx.view<f32, global, (8,4):(0,1), align = 4>
  return
}

// -----

func.func @combine(%f: !atx.fragment<f32, (8,4):(1,8), chunk = 1>, %v: !atx.view<f32, global, (8,4):(0,1), align = 4>) {
  atx.copy #atx.universal_atomic<add, f32>, %f to %v : !atx.fragment<f32, (8,4):(1,8), chunk = 1>, !atx.view<f32, global, (8,4):(0,1), align = 4>
  return
}

// -----

func.func @lossy(%v: !atx.view<f32, global, (14,6,9):(54,9,1)>) {
  %t = atx.static : !atx.layout<(2,3,6):(7,14,1)>
  // expected-warning @+1 {{never visits some elements}}
  %s = atx.zipped_divide %v, %t : !atx.view<f32, global, (14,6,9):(54,9,1)>, !atx.layout<(2,3,6):(7,14,1)>
  return
}
