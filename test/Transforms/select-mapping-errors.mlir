// RUN: atrex-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(atx-select-mapping))'

// expected-error @below {{the row mapping needs a result of rank 2 or more}}
func.func @none(%x: tensor<?x8xbf16>) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{the row mapping needs a result of rank 2 or more, the widest has rank 1}}
func.func @rank1(%o: tensor<?xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{the row mapping needs a result of rank 2 or more, the widest has rank 0}}
func.func @rank0(%o: tensor<bf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// A result that is no tensor.
// expected-error @below {{the row mapping needs a result of rank 2 or more}}
func.func @unranked(%o: tensor<*xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{the row mapping needs a result of rank 16 or less, the widest has rank 17}}
func.func @rank17(%o: tensor<?x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x8xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{dimension 1 of the result is not constant; rows are held in registers, so give its size when compiling (--dim NAME=V)}}
func.func @dynamic(%o: tensor<?x?xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{a row of the result has no elements}}
func.func @empty(%o: tensor<?x0xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{a row of the result has no elements}}
func.func @empty_middle(%o: tensor<?x0x8xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{a row of 1048576 elements does not fit into the registers of one workgroup: 1024 work-items with at most 104 registers each; 'threads-per-row' allows more, with spills}}
func.func @long(%o: tensor<?x1048576xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{a row of the result has 2^31 elements or more}}
func.func @huge(%o: tensor<?x4294967296x4294967296xbf16> {atx.output}) attributes {atx.operator} {
  return
}

// -----

// expected-error @below {{a row of the result has 2^31 elements or more}}
func.func @huge_row(%o: tensor<?x2147483648xbf16> {atx.output}) attributes {atx.operator} {
  return
}
