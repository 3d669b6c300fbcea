//===- Builtins.cpp - The functions of the language -----------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Frontend/Builtins.h"
#include "llvm/ADT/STLExtras.h"

using namespace atrex::frontend;
using Group = BuiltinGroup;

// Accuracies hold for every operand of type f32; they are counted in units in
// the last place (ulp) of f32 and measured by test/sim and test/Language.
static constexpr Builtin builtins[] = {
    {"abs", Group::Elementwise, "x", "float, signed integer", "magnitude"},
    {"bitcast", Group::Elementwise, "type, x", "any", "the same bits as another type of the same width"},
    {"cdiv", Group::Elementwise, "a, b", "dimensions", "quotient rounded up"},
    {"ceil", Group::Elementwise, "x", "float", "smallest integer that is not less"},
    {"clamp", Group::Elementwise, "x, low, high", "numbers of one type", "`min(max(x, low), high)`"},
    {"cos", Group::Elementwise, "x", "float, not `f64`", "cosine of radians, of any magnitude; 2 ulp"},
    {"erf", Group::Elementwise, "x", "float, not `f64`", "error function; 4 ulp"},
    {"exp", Group::Elementwise, "x", "float, not `f64`", "e to the power of `x`; 2 ulp"},
    {"exp2", Group::Elementwise, "x", "float, not `f64`", "2 to the power of `x`; 2 ulp"},
    {"fast_div", Group::Elementwise, "a, b", "floats of one type, not `f64`",
     "`a * (1 / b)` by the hardware's reciprocal; 3 ulp where `b` and the result are normal"},
    {"fast_exp2", Group::Elementwise, "x", "float, not `f64`",
     "2 to the power of `x` by the hardware's instruction; 1 ulp where the result is normal, what is smaller may be 0"},
    {"fast_sqrt", Group::Elementwise, "x", "float, not `f64`", "the hardware's square root; 1 ulp where `x` is normal"},
    {"floor", Group::Elementwise, "x", "float", "largest integer that is not greater"},
    {"fma", Group::Elementwise, "a, b, c", "floats of one type",
     "`a * b + c` rounded once (16-bit floats: to `f32`, then to the type)"},
    {"isnan", Group::Elementwise, "x", "float", "whether `x` is not a number, an `i1`"},
    {"log", Group::Elementwise, "x", "float, not `f64`", "natural logarithm; 4 ulp"},
    {"log2", Group::Elementwise, "x", "float, not `f64`", "logarithm to base 2; 4 ulp"},
    {"popcount", Group::Elementwise, "x", "integer", "number of bits that are 1, in the operand's type"},
    {"recip", Group::Elementwise, "x", "float, not `f64`",
     "1 / x by the hardware's reciprocal; 1 ulp where `x` and the result are normal"},
    {"round", Group::Elementwise, "x", "float", "nearest integer, ties to even"},
    {"rsqrt", Group::Elementwise, "x", "float, not `f64`", "1 / sqrt(x); 2 ulp"},
    {"sigmoid", Group::Elementwise, "x", "float, not `f64`",
     "`1 / (1 + exp2(-x * log2(e)))` with approximate `exp2` and division"},
    {"silu", Group::Elementwise, "x", "float, not `f64`", "`x * sigmoid(x)`"},
    {"sin", Group::Elementwise, "x", "float, not `f64`", "sine of radians, of any magnitude; 2 ulp"},
    {"softplus", Group::Elementwise, "x", "float, not `f64`", "`log(1 + exp(x))` without overflow; 6 ulp"},
    {"sqrt", Group::Elementwise, "x", "float", "the IEEE square root"},
    {"tanh", Group::Elementwise, "x", "float, not `f64`", "hyperbolic tangent; 4 ulp, the sign of zero is kept"},
    {"trunc", Group::Elementwise, "x", "float", "integer part"},
    {"where", Group::Elementwise, "condition, a, b", "`i1` and two values of one type",
     "`a` where the condition holds, else `b`"},

    {"all", Group::Reduction, "x, axis", "`i1`", "whether all are true"},
    {"any", Group::Reduction, "x, axis", "`i1`", "whether one is true"},
    {"argmax", Group::Reduction, "x, axis", "numbers",
     "position of the first largest element along one axis, `i32`; the first NaN is the largest"},
    {"argmin", Group::Reduction, "x, axis", "numbers",
     "position of the first smallest element along one axis, `i32`; the first NaN is the smallest"},
    {"max", Group::Reduction, "x, axis", "numbers",
     "largest element, NaN if one is; `max(a, b)` compares element by element, -0 is less than +0"},
    {"mean", Group::Reduction, "x, axis", "float", "sum divided by the number of elements"},
    {"min", Group::Reduction, "x, axis", "numbers",
     "smallest element, NaN if one is; `min(a, b)` compares element by element, -0 is less than +0"},
    {"prod", Group::Reduction, "x, axis", "float, `i32`, `i64`, `u32`", "product"},
    {"sum", Group::Reduction, "x, axis", "float, `i32`, `i64`, `u32`", "sum"},

    {"cummax", Group::Scan, "x, axis, exclusive = false, reverse = false", "as for `max`", "largest so far"},
    {"cummin", Group::Scan, "x, axis, exclusive = false, reverse = false", "as for `min`", "smallest so far"},
    {"cumprod", Group::Scan, "x, axis, exclusive = false, reverse = false", "as for `prod`", "product so far"},
    {"cumsum", Group::Scan, "x, axis, exclusive = false, reverse = false", "as for `sum`", "sum so far"},

    {"histogram", Group::Order, "x, bins, mask = true", "`i32`, `i64`, `u8`, `u32`",
     "how many elements have each value from 0 to `bins - 1`, `i32[bins]`; others, and those whose mask is false, do "
     "not count"},
    {"rank", Group::Order, "x, axis", "integer", "how many earlier elements along the axis are equal, `i32`"},
    {"sort", Group::Order, "x, axis, descending = false", "numbers",
     "(values, positions): sorted along the axis, equal elements in their order; positions are `i32`"},
    {"topk", Group::Order, "x, k, axis, smallest = false", "numbers",
     "(values, positions): the `k` largest in descending order, the earlier of equal elements first"},

    {"dot", Group::Product, "a, b, acc = f32", "two values of one type",
     "matrix product of the last two axes, leading axes are a batch; a vector is a row on the left, a column on the "
     "right"},
    {"einsum", Group::Product, "subscripts, a, b = None, acc = f32", "one or two values of one type",
     "sum of products: one letter per axis, `\"mk,nk->mn\"`; letters missing behind the arrow are summed over"},

    {"broadcast", Group::Shape, "x, shape", "any", "repeats axes of extent 1 and adds axes in front"},
    {"concat", Group::Shape, "values, axis", "any", "`(a, b, ...)` one behind the other along the axis"},
    {"fill", Group::Shape, "type, value", "any", "`fill(f32[N, M], 0.0)`: a value everywhere"},
    {"iota", Group::Shape, "n", "dimension", "0, 1, ... n - 1 as `i32[n]`"},
    {"reshape", Group::Shape, "x, shape", "any", "the same elements in row-major order in another shape"},
    {"take", Group::Shape, "x, indices, axis", "any, `i32`",
     "elements of `x` along the axis at `indices`, which has an extent for every axis of `x`, equal or 1 but along the "
     "axis; 0 where the index is outside"},
    {"transpose", Group::Shape, "x, axes", "any",
     "axis `i` of the result is axis `axes[i]` of `x`; `x.T` swaps the last two"},

    {"atomic_add", Group::Memory, "view, value, mask = true", "`i32 i64 u32 f32 f64 bf16 f16`",
     "adds and gives the old value", true},
    {"atomic_and", Group::Memory, "view, value, mask = true", "`i32 i64 u32`", "bitwise and, gives the old value",
     true},
    {"atomic_cas", Group::Memory, "view, compare, value, mask = true", "`i32 i64 u32 f32 f64`",
     "stores where memory has the bits of `compare`, gives the old value", true},
    {"atomic_exchange", Group::Memory, "view, value, mask = true", "`i32 i64 u32 f32 f64`",
     "stores and gives the old value", true},
    {"atomic_max", Group::Memory, "view, value, mask = true", "`i32 i64 u32 f32 f64`",
     "keeps the larger, gives the old value", true},
    {"atomic_min", Group::Memory, "view, value, mask = true", "`i32 i64 u32 f32 f64`",
     "keeps the smaller, gives the old value", true},
    {"atomic_or", Group::Memory, "view, value, mask = true", "`i32 i64 u32`", "bitwise or, gives the old value", true},
    {"atomic_xor", Group::Memory, "view, value, mask = true", "`i32 i64 u32`",
     "bitwise exclusive or, gives the old value", true},
    {"gather", Group::Memory, "view, fill = 0", "any",
     "reads elements at index tiles; `fill` where an index is outside", true},
    {"load", Group::Memory, "view, fill = 0", "any", "reads a view; `fill` where it reaches outside of the tensor",
     true},
    {"scatter", Group::Memory, "view, value, mask = true", "any", "writes elements at index tiles; drops those outside",
     true},
    {"shared", Group::Memory, "type", "any", "memory of the workgroup, `shared(f32[N, M])`; its contents are undefined",
     true},
    {"store", Group::Memory, "view, value, mask = true", "any", "writes a view; drops what is outside of the tensor",
     true},

    {"barrier", Group::Workgroup, "", "", "waits until the whole workgroup is here and has its memory effects seen",
     true},
    {"block_id", Group::Workgroup, "", "", "position of the workgroup, one `i32` for each axis of the grid", true},
    {"num_blocks", Group::Workgroup, "", "", "workgroups, one `i32` for each axis of the grid", true},
    {"pin", Group::Workgroup, "x, layout", "any", "keeps a tile in a layout, a text of the layout algebra", true},
    {"raw", Group::Workgroup, "text, operands, type", "any", "operations of MLIR on the fragments of each lane", true},
};

llvm::StringRef atrex::frontend::getTitle(BuiltinGroup group) {
  switch (group) {
  case Group::Elementwise:
    return "Element by element";
  case Group::Reduction:
    return "Reductions";
  case Group::Scan:
    return "Scans";
  case Group::Order:
    return "Order and counting";
  case Group::Product:
    return "Products";
  case Group::Shape:
    return "Shapes";
  case Group::Memory:
    return "Memory";
  case Group::Workgroup:
    return "Workgroup";
  }
  return {};
}

llvm::ArrayRef<Builtin> atrex::frontend::getBuiltins() { return builtins; }

const Builtin *atrex::frontend::lookupBuiltin(llvm::StringRef name) {
  const Builtin *found = llvm::find_if(builtins, [&](const Builtin &builtin) { return builtin.name == name; });
  return found == std::end(builtins) ? nullptr : found;
}

llvm::SmallVector<BuiltinParam, 6> atrex::frontend::getParams(const Builtin &builtin) {
  llvm::SmallVector<BuiltinParam, 6> params;
  llvm::SmallVector<llvm::StringRef> parts;
  builtin.params.split(parts, ", ", -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, value] = part.split(" = ");
    params.push_back({name, !value.empty()});
  }
  return params;
}

std::string atrex::frontend::printBuiltins() {
  std::string text;
  const Builtin *last = nullptr;
  for (const Builtin &builtin : builtins) {
    if (!last || last->group != builtin.group)
      text += (last ? "\n### " : "### ") + getTitle(builtin.group).str() +
              "\n\n| function | operands | meaning |\n|---|---|---|\n";
    text += "| `" + builtin.getSignature() + "` | " + builtin.types.str() + " | " + builtin.doc.str() + " |\n";
    last = &builtin;
  }
  return text;
}
