// RUN: atrex-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tile layout is for 1 to 1024 work-items, a power of two; got 96}}
func.func @threads() attributes {a = #atx.tile_layout<96, [[]]>} { return }

// -----

// expected-error @+1 {{mode 3t1 must be powers of two inside 64 work-items}}
func.func @power() attributes {a = #atx.tile_layout<64, [[3t1]]>} { return }

// -----

// expected-error @+1 {{mode 4t32 must be powers of two inside 64 work-items}}
func.func @outside() attributes {a = #atx.tile_layout<64, [[4t32]]>} { return }

// -----

// expected-error @+1 {{mode 8t4 uses work-items that another mode uses}}
func.func @twice() attributes {a = #atx.tile_layout<64, [[8t1], [8t4]]>} { return }

// -----

// expected-error @+1 {{register modes must number the registers without gaps: mode 4r3 should have stride 2}}
func.func @gap() attributes {a = #atx.tile_layout<64, [[2r1], [4r3]]>} { return }

// -----

// expected-error @+1 {{mode 1r1 must have a size from 2 and a stride from 1, and a dimension at most 2^32 elements}}
func.func @small() attributes {a = #atx.tile_layout<64, [[1r1]]>} { return }

// -----

// expected-error @+1 {{a mode is written 'NrS' or 'NtS' with numbers N and S}}
func.func @owner() attributes {a = #atx.tile_layout<64, [[4x1]]>} { return }
