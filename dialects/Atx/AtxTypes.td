//===- AtxTypes.td - Types and attributes of the algebra ---*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXTYPES_TD
#define ATREX_DIALECTS_ATX_ATXTYPES_TD

include "dialects/Atx/AtxDialect.td"
include "dialects/Atx/AtxInterfaces.td"
include "dialects/Atx/AtxTileLayout.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Atx_MemorySpace : I32EnumAttr<"MemorySpace", "where data lives", [
    I32EnumAttrCase<"Generic", 0, "generic">,
    I32EnumAttrCase<"Global", 1, "global">,
    I32EnumAttrCase<"Shared", 2, "shared">,
    I32EnumAttrCase<"Buffer", 3, "buffer">,
    I32EnumAttrCase<"Register", 4, "register">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}

def Atx_MmaOperand : I32EnumAttr<"MmaOperand", "an operand of D = A B + C", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">,
    I32EnumAttrCase<"C", 2, "c">, I32EnumAttrCase<"D", 3, "d">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_MmaOperandAttr : EnumAttr<Atx_Dialect, Atx_MmaOperand, "operand">;

def Atx_TraversalOrder : I32EnumAttr<"TraversalOrder", "nesting of the loops over atoms, outermost first", [
    I32EnumAttrCase<"MNK", 0, "mnk">, I32EnumAttrCase<"MKN", 1, "mkn">, I32EnumAttrCase<"NMK", 2, "nmk">,
    I32EnumAttrCase<"NKM", 3, "nkm">, I32EnumAttrCase<"KMN", 4, "kmn">, I32EnumAttrCase<"KNM", 5, "knm">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_TraversalOrderAttr : EnumAttr<Atx_Dialect, Atx_TraversalOrder, "order">;

def Atx_AtomicKind : I32EnumAttr<"AtomicKind", "how a value is combined with memory", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">,
    I32EnumAttrCase<"UMax", 3, "umax">, I32EnumAttrCase<"UMin", 4, "umin">]> {
  let cppNamespace = "::atrex::atx";
  let genSpecializedAttr = 0;
}
def Atx_AtomicKindAttr : EnumAttr<Atx_Dialect, Atx_AtomicKind, "atomic">;

//===----------------------------------------------------------------------===//
// Parameters: values of lib/Layout
//===----------------------------------------------------------------------===//

/// Read by reference, so that a reference to a part of it stays valid. Parsed by
/// `custom<Value>`: parsers that ODS generates around a parameter add
/// an error of their own to the one that names the fault.
class Atx_Parameter<string className, string name, string form>
    : AttrOrTypeParameter<"::atrex::layout::" # className, name, "const ::atrex::layout::" # className # " &"> {
  let syntax = form;
}
def Atx_IntTupleParam : Atx_Parameter<"IntTuple", "tuple", "(4,?{div=8})">;
def Atx_LayoutParam : Atx_Parameter<"Layout", "layout", "(4,8):(1,4)">;
def Atx_MapParam : Atx_Parameter<"Map", "layout or swizzle", "S<3,3,3> o 0 o (8,64):(64,1)">;
def Atx_TileParam : Atx_Parameter<"Tile", "tile", "[4|8:2|*]">;
def Atx_OptionalTileParam : Atx_Parameter<"Tile", "permutation of M, N and K", "[4|8:2|*]"> {
  let defaultValue = "::atrex::layout::Tile()";
}
def Atx_SwizzleParam : Atx_Parameter<"Swizzle", "swizzle of byte offsets", "S<3,4,3>"> {
  let defaultValue = "::atrex::layout::Swizzle()";
}

//===----------------------------------------------------------------------===//
// Types of the algebra
//===----------------------------------------------------------------------===//

class Atx_Type<string name, string typeMnemonic> : TypeDef<Atx_Dialect, name> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

def Atx_IntTupleType : Atx_Type<"IntTuple", "int_tuple"> {
  let summary = "integer or nested tuple of integers";
  let description = [{
    Static integers are part of the type. A value carries one 64-bit integer for
    every `?`; `?{div=8}` is known to be a multiple of 8. `*` is a wildcard, `2E1`
    a basis element.

    Example: `!atx.int_tuple<(128,(4,?{div=8}))>`
  }];
  let parameters = (ins Atx_IntTupleParam:$value);
  let assemblyFormat = "`<` custom<Value>($value) `>`";
}

def Atx_LayoutType : Atx_Type<"Layout", "layout"> {
  let summary = "map from coordinates to indices, `shape:stride`";
  let description = [{
    Shape and stride are congruent tuples. A value carries the dynamic leaves,
    those of the shape first.

    Example: `!atx.layout<(128,?{div=8}):(?,1)>`
  }];
  let parameters = (ins Atx_LayoutParam:$layout);
  let assemblyFormat = "`<` custom<Value>($layout) `>`";
}

def Atx_SwizzleType : Atx_Type<"Swizzle", "swizzle"> {
  let summary = "XOR swizzle of an index or a coordinate";
  let description = [{
    `S<b,m,s>` XORs b bits at m with the bits s above; `CS<b,r0,[i],c0,[j]>` XORs
    component j of a coordinate with bits of component i. Always static.

    Example: `!atx.swizzle<S<3,4,3>>`
  }];
  let parameters = (ins Atx_MapParam:$swizzle);
  let assemblyFormat = "`<` custom<Value>($swizzle) `>`";
}

def Atx_ComposedLayoutType : Atx_Type<"ComposedLayout", "composed_layout"> {
  let summary = "`inner o offset o outer`: c -> inner(offset + outer(c))";
  let description = [{
    The inner part is a layout or a swizzle, the outer a layout or, in brackets,
    another composed layout. A value carries the dynamic leaves of inner, offset
    and outer.

    Example: `!atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>`
  }];
  let parameters = (ins Atx_MapParam:$layout);
  let assemblyFormat = "`<` custom<Value>($layout) `>`";
}

def Atx_TileType : Atx_Type<"Tile", "tile"> {
  let summary = "by-mode tiler";
  let description = [{
    One entry per mode: an integer n (short for n:1), a layout, or `*` for a mode
    that is left alone.

    Example: `!atx.tile<[128|64:1|*]>`
  }];
  let parameters = (ins Atx_TileParam:$tile);
  let assemblyFormat = "`<` custom<Value>($tile) `>`";
}

//===----------------------------------------------------------------------===//
// Memory and registers
//===----------------------------------------------------------------------===//

def Atx_PtrType : Atx_Type<"Ptr", "ptr"> {
  let summary = "address of elements in a memory space";
  let description = [{
    A value carries a base address and an offset in elements. `align` is the
    alignment of the address in bytes. A swizzle permutes byte offsets from the
    base at every access; it stays the same under a change of the element type.
    In the space `buffer` accesses beyond the end read zero and write nothing.

    Example: `!atx.ptr<bf16, shared, align = 1024, swizzle = S<3,4,3>>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, EnumParameter<Atx_MemorySpace>:$space,
    DefaultValuedParameter<"int64_t", "1">:$align, Atx_SwizzleParam:$swizzle);
  let assemblyFormat = "`<` custom<Value>($elementType) `,` custom<Value>($space) `` custom<Placement>($align, $swizzle) `>`";
}

def Atx_ViewType : Atx_Type<"View", "view"> {
  let summary = "elements in memory, addressed by a layout";
  let description = [{
    A pointer and a layout in elements. A value carries what the pointer carries
    and the dynamic leaves of the layout.

    Example: `!atx.view<bf16, global, (128,?):(?{div=8},1), align = 16>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, EnumParameter<Atx_MemorySpace>:$space, Atx_LayoutParam:$layout,
    DefaultValuedParameter<"int64_t", "1">:$align, Atx_SwizzleParam:$swizzle);
  let assemblyFormat = [{
    `<` custom<Value>($elementType) `,` custom<Value>($space) `,` custom<Value>($layout) `` custom<Placement>($align, $swizzle) `>`
  }];
  let extraClassDeclaration = [{
    /// The pointer to the first element.
    PtrType getPtr() const { return PtrType::get(getContext(), getElementType(), getSpace(), getAlign(), getSwizzle()); }
    /// The same memory under another layout and alignment.
    ViewType withLayout(const ::atrex::layout::Layout &layout, int64_t align) const {
      return get(getContext(), getElementType(), getSpace(), layout, align, getSwizzle());
    }
  }];
}

def Atx_CoordViewType : Atx_Type<"CoordView", "coord_view"> {
  let summary = "coordinates of a tensor, addressed by a layout";
  let description = [{
    A start coordinate and a layout with basis strides: evaluating it yields
    coordinates. It is divided and partitioned like data, so that a predicate
    `coordinate < extent` stays aligned with the elements it guards.

    Example: `!atx.coord_view<(?,0), (128,64):(1E0,1E1)>`
  }];
  let parameters = (ins Atx_IntTupleParam:$start, Atx_LayoutParam:$layout);
  let assemblyFormat = "`<` custom<Value>($start) `,` custom<Value>($layout) `>`";
}

def Atx_FragmentType : Atx_Type<"Fragment", "fragment"> {
  let summary = "elements one lane holds in registers";
  let description = [{
    A static compact layout from coordinates to registers. Values are kept in
    vectors of `chunk` consecutive registers: the values of one access or of one
    matrix operand. Fragments are SSA values: they pass through loops as carried
    values and never touch memory.

    Example: the accumulators of 2 x 2 atoms of 16x16x16:
    `!atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, Atx_LayoutParam:$layout, "int64_t":$chunk);
  let assemblyFormat = "`<` custom<Value>($elementType) `,` custom<Value>($layout) `,` `chunk` `=` custom<Value>($chunk) `>`";
  let extraClassDeclaration = [{
    /// Registers, in elements.
    int64_t getNumElements() const;
    int64_t getNumChunks() const { return getNumElements() / getChunk(); }
    ::mlir::VectorType getChunkType() const { return ::mlir::VectorType::get({getChunk()}, getElementType()); }
  }];
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

def Atx_UniversalCopyAttr : Atx_Attr<"UniversalCopy", "universal_copy", [DeclareAttrInterfaceMethods<Atx_CopyAtomInterface,
    ["emitLoad", "emitStore"]>]> {
  let summary = "plain load and store of a number of bits";
  let description = [{
    Moves between registers and generic, global or shared memory on any target.

    Example: `#atx.universal_copy<128>`
  }];
  let parameters = (ins "int64_t":$bits);
  let assemblyFormat = "`<` custom<Value>($bits) `>`";
  let genVerifyDecl = 1;
}

def Atx_UniversalAtomicAttr : Atx_Attr<"UniversalAtomic", "universal_atomic",
    [DeclareAttrInterfaceMethods<Atx_CopyAtomInterface, ["emitStore", "isReduction"]>]> {
  let summary = "atomic update of memory by register values, element by element";
  let description = [{
    A copy with this atom combines instead of overwriting. `max` and `min`
    compare signed integers or floating point numbers, `umax` and `umin` unsigned
    integers. Relaxed ordering, device scope.

    Example: `#atx.universal_atomic<add, f32>`
  }];
  let parameters = (ins EnumParameter<Atx_AtomicKind>:$kind, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Value>($kind) `,` custom<Value>($elementType) `>`";
  let genVerifyDecl = 1;
}

def Atx_UniversalFmaAttr : Atx_Attr<"UniversalFma", "universal_fma", [DeclareAttrInterfaceMethods<Atx_MmaAtomInterface>]> {
  let summary = "1x1x1 matrix product of one lane: a fused multiply-add";
  let description = [{
    The product and the sum are rounded once.

    Example: `#atx.universal_fma<f32>`
  }];
  let parameters = (ins "::mlir::FloatType":$elementType);
  let assemblyFormat = "`<` custom<Value>($elementType) `>`";
}

def Atx_TiledCopyAttr : Atx_Attr<"TiledCopy", "tiled_copy"> {
  let summary = "a copy atom spread over threads and values";
  let description = [{
    `tv` maps (thread, value) to the colexicographic index of an element in a
    tile of extents `tile`. One access moves as many values as the atom holds.

    Example: 256 threads copy 32 x 64 elements, 8 of a row each:

    ```mlir
    #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$atom, Atx_LayoutParam:$tv, Atx_IntTupleParam:$tile);
  let assemblyFormat = "`<` custom<Value>($atom) `,` custom<Value>($tv) `,` custom<Value>($tile) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    CopyAtomInterface getCopyAtom() const { return ::llvm::cast<CopyAtomInterface>(getAtom()); }
    int64_t getNumThreads() const;
  }];
}

def Atx_TiledMmaAttr : Atx_Attr<"TiledMma", "tiled_mma"> {
  let summary = "a matrix atom spread over waves";
  let description = [{
    `atoms` is a layout over (M,N,K): its extents say how many groups of lanes
    work side by side, its strides number them. An optional tile permutes M, N
    and K first.

    Example: 256 lanes, 16 x 16:

    ```mlir
    #atx.tiled_mma<#atx.universal_fma<f32>, (16,16,1):(1,16,0)>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$atom, Atx_LayoutParam:$atoms, Atx_OptionalTileParam:$permutation);
  let assemblyFormat = "`<` custom<Value>($atom) `,` custom<Value>($atoms) `` custom<Permutation>($permutation) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    MmaAtomInterface getMmaAtom() const { return ::llvm::cast<MmaAtomInterface>(getAtom()); }
    int64_t getNumThreads() const;
  }];
}

#endif // ATREX_DIALECTS_ATX_ATXTYPES_TD
