//===- AtxMemoryOps.td - Views, fragments, atoms -----------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXMEMORYOPS_TD
#define ATREX_DIALECTS_ATX_ATXMEMORYOPS_TD

include "dialects/Atx/AtxOps.td"
include "dialects/Atx/AtxTileLayoutOps.td"

class Atx_InferredOp<string opMnemonic, list<Trait> traits = []> : Atx_Op<opMnemonic,
    [InferTypeOpAdaptor] # traits>;

//===----------------------------------------------------------------------===//
// Pointers and views
//===----------------------------------------------------------------------===//

def Atx_MakePtrOp : Atx_Op<"make_ptr", [Pure]> {
  let summary = "typed pointer from an address";
  let description = [{
    The memory space and the address space of the operand agree: generic 0,
    global 1, shared 3, buffer 8 (a resource). The alignment in the type is the
    author's promise.

    Example:

    ```mlir
    %p = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$base);
  let results = (outs Atx_PtrType:$result);
  let assemblyFormat = "$base attr-dict `:` qualified(type($base)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Atx_AllocSharedOp : Atx_Op<"alloc_shared"> {
  let summary = "memory shared by a workgroup";
  let description = [{
    Static memory that lives as long as the kernel, seen through the view's
    layout. The base is aligned to the view's alignment, which for a swizzled
    view is a multiple of the swizzle period (C33); whole swizzle blocks are
    allocated (C34).

    Example:

    ```mlir
    %s = atx.alloc_shared : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
    ```
  }];
  let results = (outs Res<Atx_ViewType, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes that the layout needs, rounded up to whole swizzle blocks.
    int64_t getNumBytes();
  }];
}

def Atx_MakeViewOp : Atx_InferredOp<"make_view", [Pure]> {
  let summary = "view of memory through a layout";
  let description = [{
    The layout counts elements and has integer strides (C14).

    Example:

    ```mlir
    %v = atx.make_view %p, %l : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?,64):(64,1)>
    ```
  }];
  let arguments = (ins Atx_PtrType:$ptr, Atx_LayoutType:$layout);
  let results = (outs Atx_ViewType:$result);
  let assemblyFormat = "$ptr `,` $layout attr-dict `:` qualified(type($ptr)) `,` qualified(type($layout))";
  let hasFolder = 1;
}

def Atx_MakeCoordViewOp : Atx_InferredOp<"make_coord_view", [Pure]> {
  let summary = "coordinates of a tensor of a shape";
  let description = [{
    Starts at the origin; the layout is the identity.

    Example:

    ```mlir
    %c = atx.make_coord_view %s : !atx.int_tuple<(?,64)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$shape);
  let results = (outs Atx_CoordViewType:$result);
  let assemblyFormat = "$shape attr-dict `:` qualified(type($shape))";
  let hasFolder = 1;
}

def Atx_GetLayoutOp : Atx_InferredOp<"get_layout", [Pure]> {
  let summary = "layout of a view";
  let description = [{
    Example:

    ```mlir
    %l = atx.get_layout %v : !atx.view<f32, global, (4,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_AnyView:$view);
  let results = (outs Atx_LayoutType:$result);
  let assemblyFormat = "$view attr-dict `:` qualified(type($view))";
  let hasFolder = 1;
}

def Atx_GetPtrOp : Atx_InferredOp<"get_ptr", [Pure]> {
  let summary = "pointer to the first element of a view";
  let description = [{
    Example:

    ```mlir
    %p = atx.get_ptr %v : !atx.view<f32, global, (4,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_ViewType:$view);
  let results = (outs Atx_PtrType:$result);
  let assemblyFormat = "$view attr-dict `:` qualified(type($view))";
  let hasFolder = 1;
}

def Atx_AddOffsetOp : Atx_InferredOp<"add_offset", [Pure]> {
  let summary = "move a pointer by elements";
  let description = [{
    The alignment of the result is what the offset's divisor leaves of it.

    Example:

    ```mlir
    %q = atx.add_offset %p, %o : !atx.ptr<bf16, global, align = 16>, !atx.int_tuple<?{div=8}>
    ```
  }];
  let arguments = (ins Atx_PtrType:$ptr, Atx_IntTupleType:$offset);
  let results = (outs Atx_PtrType:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` qualified(type($ptr)) `,` qualified(type($offset))";
  let hasFolder = 1;
}

def Atx_RecastViewOp : Atx_InferredOp<"recast_view", [Pure]> {
  let summary = "the same memory as elements of another type";
  let description = [{
    The layout is recast between the bit widths (C15, C18, C19, C20); a byte
    swizzle stays as it is. The offset of the pointer must be a whole number of
    new elements, which its alignment proves (C27).

    Example:

    ```mlir
    %w = atx.recast_view %v to f32 : !atx.view<bf16, shared, (4,8):(8,1), align = 16>
    ```
  }];
  let arguments = (ins Atx_ViewType:$view, TypeAttr:$elementType);
  let results = (outs Atx_ViewType:$result);
  let assemblyFormat = "$view `to` $elementType attr-dict `:` qualified(type($view))";
  let hasFolder = 1;
}

def Atx_LoadOp : Atx_InferredOp<"load"> {
  let summary = "load one element";
  let description = [{
    A static coordinate inside the shape (C26).

    Example:

    ```mlir
    %x = atx.load %v[%c] : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,3)>
    ```
  }];
  let arguments = (ins Arg<Atx_ViewType, "", [MemRead]>:$view, Atx_IntTupleType:$coord);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$view `[` $coord `]` attr-dict `:` qualified(type($view)) `,` qualified(type($coord))";
  let hasVerifier = 1;
}

def Atx_StoreOp : Atx_Op<"store"> {
  let summary = "store one element";
  let description = [{
    Example:

    ```mlir
    atx.store %x, %v[%c] : f32, !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,3)>
    ```
  }];
  let arguments = (ins AnyType:$value, Arg<Atx_ViewType, "", [MemWrite]>:$view, Atx_IntTupleType:$coord);
  let assemblyFormat = [{
    $value `,` $view `[` $coord `]` attr-dict `:` type($value) `,` qualified(type($view)) `,` qualified(type($coord))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

def Atx_PartitionCopyOp : Atx_InferredOp<"partition_copy", [Pure]> {
  let summary = "what a thread of a tiled copy owns";
  let description = [{
    Divides every mode of the view by the tile (C26), composes with the
    thread-value layout and fixes the thread. The result has the modes
    `((values per access, accesses), rest...)`. The same operation on a
    coordinate view gives the coordinates of the same elements.

    Example:

    ```mlir
    #tiled = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
    %p = atx.partition_copy %v, %t by #tiled : !atx.view<bf16, global, (128,64):(64,1), align = 16>, !atx.int_tuple<?>
    ```
  }];
  let arguments = (ins Atx_AnyView:$view, Atx_IntTupleType:$thread, Atx_TiledCopyAttr:$tiled);
  let results = (outs Atx_AnyView:$result);
  let assemblyFormat = "$view `,` $thread `by` $tiled attr-dict `:` qualified(type($view)) `,` qualified(type($thread))";
}

def Atx_PartitionMmaOp : Atx_InferredOp<"partition_mma", [Pure]> {
  let summary = "what a thread of a tiled matrix product owns of an operand";
  let description = [{
    A has modes (M,K), B (N,K), C and D (M,N), multiples of the atom times the
    number of waves along them (C28). The result has the modes
    `(values of the atom, rest, rest)`.

    Example:

    ```mlir
    #mma = #atx.tiled_mma<#atx.universal_fma<f32>, (16,16,1):(1,16,0)>
    %p = atx.partition_mma a %v, %t by #mma : !atx.view<f32, shared, (64,64):(64,1), align = 16>, !atx.int_tuple<?>
    ```
  }];
  let arguments = (ins Atx_MmaOperandAttr:$operand, Atx_AnyView:$view, Atx_IntTupleType:$thread,
    Atx_TiledMmaAttr:$tiled);
  let results = (outs Atx_AnyView:$result);
  let assemblyFormat = "custom<OperandKeyword>($operand) $view `,` $thread `by` $tiled attr-dict `:` qualified(type($view)) `,` qualified(type($thread))";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Atx_SplatOp : Atx_Op<"splat", [Pure]> {
  let summary = "fragment with one value everywhere";
  let description = [{
    Example:

    ```mlir
    %acc = atx.splat %zero : f32 -> !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Atx_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Atx_ToVectorOp : Atx_InferredOp<"to_vector", [Pure]> {
  let summary = "registers of a fragment as one vector, in register order";
  let description = [{
    Example:

    ```mlir
    %v = atx.to_vector %f : !atx.fragment<f32, (4,2):(1,4), chunk = 4>
    ```
  }];
  let arguments = (ins Atx_FragmentType:$fragment);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$fragment attr-dict `:` qualified(type($fragment))";
  let hasFolder = 1;
}

def Atx_FromVectorOp : Atx_Op<"from_vector", [Pure]> {
  let summary = "fragment from a vector in register order";
  let description = [{
    Example:

    ```mlir
    %f = atx.from_vector %v : vector<8xf32> -> !atx.fragment<f32, (4,2):(1,4), chunk = 4>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [AnyType]>:$vector);
  let results = (outs Atx_FragmentType:$result);
  let assemblyFormat = "$vector attr-dict `:` type($vector) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Atx_RetileOp : Atx_Op<"retile", [Pure]> {
  let summary = "the registers of a fragment under another layout";
  let description = [{
    Register i stays register i; only the map from coordinates to registers and
    the chunks change. Both types have the same element type and size (C30).

    Example: what was loaded as (values, K, M) is multiplied as (values, M, K):

    ```mlir
    %g = atx.retile %f : !atx.fragment<bf16, (4,2,3):(1,4,8), chunk = 8>
        -> !atx.fragment<bf16, (4,3,2):(1,8,4), chunk = 8>
    ```
  }];
  let arguments = (ins Atx_FragmentType:$fragment);
  let results = (outs Atx_FragmentType:$result);
  let assemblyFormat = "$fragment attr-dict `:` qualified(type($fragment)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Copy and matrix product
//===----------------------------------------------------------------------===//

def Atx_CopyOp : Atx_Op<"copy", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "move elements between memory and registers by an atom";
  let description = [{
    Element i of the source, in colexicographic order, goes to element i of the
    destination. A destination is a view; without one the result is a fragment
    (a load). A source is a view or a fragment (a store). Sizes are equal (C30);
    the values of one access are contiguous and aligned on the memory side
    (C27); the atom connects the two memories and exists on the target (C32).

    A predicate is a coordinate view with the coordinates of the elements and a
    tuple of bounds: an element takes part if every coordinate is below its
    bound. Elements of a load that do not take part are zero; in memory they stay
    untouched, or become zero with `zero_fill`. Where an access is not proved to
    lie on one side of the bounds as a whole it is made element by element, with
    a warning.

    Between two memories the copy goes through registers unless the atom moves
    directly. Loops are kept where the number of accesses exceeds the unroll
    limit of the lowering.

    Example:

    ```mlir
    #tiled = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
    %f = atx.copy #tiled, %g : !atx.view<bf16, global, ((8,1),4,1):((1,0),2048,0), align = 16>
        -> !atx.fragment<bf16, ((8,1),4,1):((1,0),8,0), chunk = 8>
    atx.copy #atx.universal_copy<128>, %f to %s where %c less %n {zero_fill} :
        !atx.fragment<bf16, ((8,1),4,1):((1,0),8,0), chunk = 8>,
        !atx.view<bf16, shared, ((8,1),4,1):((1,0),2048,0), align = 16>
        where !atx.coord_view<(?,?), ((8,1),4,1):((1E1,0),32E0,0)>, !atx.int_tuple<(?,64)>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Atx_ViewType, Atx_FragmentType]>:$source, Optional<Atx_ViewType>:$destination,
    Optional<Atx_CoordViewType>:$coords, Optional<Atx_IntTupleType>:$bounds, AnyAttr:$atom, UnitAttr:$zero_fill);
  let results = (outs Optional<Atx_FragmentType>:$result);
  let assemblyFormat = [{
    custom<Atom>($atom) `,` $source (`to` $destination^)? (`where` $coords^ `less` $bounds)? attr-dict `:` type($source)
    (`,` qualified(type($destination))^)? (`where` qualified(type($coords))^ `,` qualified(type($bounds)))? (`->` qualified(type($result))^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The atom, of a tiled copy too.
    CopyAtomInterface getCopyAtom();
    /// Elements one access moves.
    int64_t getValuesPerAccess();
    ::mlir::Type getElementType();
  }];
}

def Atx_GemmOp : Atx_Op<"gemm", [AllTypesMatch<["c", "result"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "accumulate a matrix product of partitioned operands";
  let description = [{
    A has the modes (V,M,K), B (V,N,K), C and the result (V,M,N), V being the
    values of the atom. A and B are fragments, or views that are loaded atom by
    atom as they are needed. Extents agree (C28), element types are the atom's,
    the atom exists on the target (C32). `order` names the loops over atoms,
    outermost first; the last of M and N turns back and forth with `serpentine`,
    so that consecutive instructions share an operand. `extra` operands (scales,
    sparsity indices) are passed to every instruction.

    Loops over K are kept, for operands in memory, where the number of
    instructions exceeds the unroll limit of the lowering.

    Example:

    ```mlir
    #mma = #atx.tiled_mma<#atx.universal_fma<f32>, (16,16,1):(1,16,0)>
    %d = atx.gemm #mma, %a, %b, %c order mnk : !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>,
        !atx.fragment<f32, (1,2,4):(0,1,2), chunk = 1>, !atx.fragment<f32, (1,2,2):(0,1,2), chunk = 1>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Atx_ViewType, Atx_FragmentType]>:$a, AnyTypeOf<[Atx_ViewType, Atx_FragmentType]>:$b,
    Atx_FragmentType:$c, Variadic<AnyType>:$extra, AnyAttr:$atom,
    DefaultValuedAttr<Atx_TraversalOrderAttr, "::atrex::atx::TraversalOrder::KMN">:$order, UnitAttr:$serpentine);
  let results = (outs Atx_FragmentType:$result);
  let assemblyFormat = [{
    custom<Atom>($atom) `,` $a `,` $b `,` $c (`with` $extra^)? custom<LoopOrder>($order) (`serpentine` $serpentine^)? attr-dict `:` type($a) `,` type($b) `,`
    qualified(type($c)) (`with` type($extra)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MmaAtomInterface getMmaAtom();
  }];
}

#endif // ATREX_DIALECTS_ATX_ATXMEMORYOPS_TD
