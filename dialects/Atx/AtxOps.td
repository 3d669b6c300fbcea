//===- AtxOps.td - Operations of the layout algebra --------*- tablegen -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATREX_DIALECTS_ATX_ATXOPS_TD
#define ATREX_DIALECTS_ATX_ATXOPS_TD

include "dialects/Atx/AtxTypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Atx_Op<string opMnemonic, list<Trait> traits = []> : Op<Atx_Dialect, opMnemonic, traits>;

def Atx_AnyLayout : AnyTypeOf<[Atx_LayoutType, Atx_ComposedLayoutType, Atx_SwizzleType], "layout, composed layout or swizzle">;
def Atx_AnyTiler : AnyTypeOf<[Atx_IntTupleType, Atx_LayoutType, Atx_TileType], "integer, layout or tile">;
def Atx_AnyView : AnyTypeOf<[Atx_ViewType, Atx_CoordViewType], "view or coordinate view">;
def Atx_LayoutOrView : AnyTypeOf<[Atx_LayoutType, Atx_ComposedLayoutType, Atx_SwizzleType, Atx_ViewType,
  Atx_CoordViewType], "layout or view">;
def Atx_Modes : AnyTypeOf<[Atx_IntTupleType, Atx_LayoutType, Atx_ComposedLayoutType, Atx_ViewType, Atx_CoordViewType],
  "tuple, layout or view">;
def Atx_AnyValue : AnyTypeOf<[Atx_IntTupleType, Atx_LayoutType, Atx_ComposedLayoutType, Atx_SwizzleType, Atx_TileType,
  Atx_ViewType, Atx_CoordViewType, I1], "value of the layout algebra">;

/// Operand types are written, the result type follows from them.
class Atx_AlgebraOp<string opMnemonic, list<Trait> traits = []> : Atx_Op<opMnemonic, [Pure,
    DeclareOpInterfaceMethods<InferTypeOpInterface>, DeclareOpInterfaceMethods<Atx_AlgebraOpInterface>] # traits> {
  let results = (outs Atx_AnyValue:$result);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
  let hasFolder = 1;
  let extraClassDefinition = [{
    std::optional<::atrex::layout::Results> $cppClass::evaluateOp(::atrex::layout::Algebra &algebra,
        ::llvm::ArrayRef<::atrex::layout::Value> operands, ::mlir::DictionaryAttr attributes, bool onView) {
      return ::atrex::atx::detail::evaluate(getOperationName(), algebra, operands, attributes, onView);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::atrex::atx::detail::inferTypes(getOperationName(), context, location, operands,
          ::atrex::atx::detail::mergeProperties<$cppClass>(context, attributes, properties), inferred);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) { return ::atrex::atx::detail::fold(getOperation()); }
  }];
}

//===----------------------------------------------------------------------===//
// Constants and scalars
//===----------------------------------------------------------------------===//

def Atx_StaticOp : Atx_Op<"static", [Pure, ConstantLike]> {
  let summary = "a value that its type says completely";
  let description = [{
    The constant of the algebra: the result type has no dynamic leaf.

    Example:

    ```mlir
    %l = atx.static : !atx.layout<(4,8):(1,4)>
    ```
  }];
  let results = (outs Atx_AnyValue:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Atx_MakeOp : Atx_Op<"make", [Pure]> {
  let summary = "supply the dynamic leaves of a value";
  let description = [{
    One operand per dynamic leaf of the result type, in the order of its text
    (shape before stride; inner, offset, outer). The divisors of the type are the
    author's promise; with `checked` each of them is asserted at run time.
    Extents are at least 1.

    Example:

    ```mlir
    %l = atx.make %m, %n : index, index -> !atx.layout<(128,?):(?{div=8},1)>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Index, I32, I64]>>:$leaves, UnitAttr:$checked);
  let results = (outs AnyTypeOf<[Atx_IntTupleType, Atx_LayoutType, Atx_ComposedLayoutType, Atx_TileType]>:$result);
  let assemblyFormat = "($leaves^ `:` type($leaves))? `->` qualified(type($result)) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Atx_GetScalarOp : Atx_Op<"get_scalar", [Pure]> {
  let summary = "the integer of a leaf as an index";
  let description = [{
    `value` must be a single integer, static or dynamic.

    Example:

    ```mlir
    %i = atx.get_scalar %t : !atx.int_tuple<?{div=8}>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Tuple arithmetic
//===----------------------------------------------------------------------===//

def Atx_AddOp : Atx_AlgebraOp<"add"> {
  let summary = "element-wise sum of tuples";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8).

    Example:

    ```mlir
    %r = atx.add %a, %b : !atx.int_tuple<(4,?{div=8})>, !atx.int_tuple<(2,4)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_SubOp : Atx_AlgebraOp<"sub"> {
  let summary = "element-wise difference of tuples";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8).

    Example:

    ```mlir
    %r = atx.sub %a, %b : !atx.int_tuple<(10,?)>, !atx.int_tuple<(1,2)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_MulOp : Atx_AlgebraOp<"mul"> {
  let summary = "element-wise product of tuples";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8).

    Example:

    ```mlir
    %r = atx.mul %a, %b : !atx.int_tuple<?{div=4}>, !atx.int_tuple<8>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_DivOp : Atx_AlgebraOp<"div"> {
  let summary = "element-wise quotient, rounded toward zero";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8). No divisor is zero (C7). A
    division that is known to be exact keeps the divisor.

    Example:

    ```mlir
    %r = atx.div %a, %b : !atx.int_tuple<?{div=8}>, !atx.int_tuple<4>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_ModOp : Atx_AlgebraOp<"mod"> {
  let summary = "element-wise remainder with the sign of the dividend";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8). No divisor is zero (C7). A
    remainder that is known to vanish is the static 0.

    Example:

    ```mlir
    %r = atx.mod %a, %b : !atx.int_tuple<?{div=8}>, !atx.int_tuple<16>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_MinOp : Atx_AlgebraOp<"min"> {
  let summary = "element-wise minimum";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8).

    Example:

    ```mlir
    %r = atx.min %a, %b : !atx.int_tuple<?>, !atx.int_tuple<128>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_MaxOp : Atx_AlgebraOp<"max"> {
  let summary = "element-wise maximum";
  let description = [{
    Operands are congruent (C6). The result's divisors follow from the
    operands'; static overflow is an error (C8).

    Example:

    ```mlir
    %r = atx.max %a, %b : !atx.int_tuple<?>, !atx.int_tuple<0>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_ShapeDivOp : Atx_AlgebraOp<"shape_div"> {
  let summary = "division of a shape that consumes the divisor from the left";
  let description = [{
    Integers: a/b if b divides a, 1 if a divides b, otherwise C9. Tuple by
    tuple: element-wise (C6). Tuple by integer: the divisor is consumed from the
    left. Integer by tuple: by the product.

    Example:

    ```mlir
    %r = atx.shape_div %a, %b : !atx.int_tuple<((3,4),6)>, !atx.int_tuple<36>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_CeilDivOp : Atx_AlgebraOp<"ceil_div"> {
  let summary = "division of a shape, rounded up";
  let description = [{
    Folds like `shape_div`; divisors are positive (C7).

    Example:

    ```mlir
    %r = atx.ceil_div %a, %b : !atx.int_tuple<(?,9)>, !atx.int_tuple<4>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

def Atx_ProductOp : Atx_AlgebraOp<"product"> {
  let summary = "product of all leaves";
  let description = [{
    Overflow of static values is an error (C8).

    Example:

    ```mlir
    %r = atx.product %a : !atx.int_tuple<((2,3),?{div=4})>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$value);
}

def Atx_ProductEachOp : Atx_AlgebraOp<"product_each"> {
  let summary = "product of each top-level element";
  let description = [{
    An integer is returned as it is.

    Example:

    ```mlir
    %r = atx.product_each %a : !atx.int_tuple<((2,3),(4,5))>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$value);
}

def Atx_ProductLikeOp : Atx_AlgebraOp<"product_like"> {
  let summary = "product below each leaf of a guide";
  let description = [{
    The guide fits the tuple (C6).

    Example:

    ```mlir
    %r = atx.product_like %a, %g : !atx.int_tuple<((2,3),(4,5))>, !atx.int_tuple<(1,(1,1))>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$value, Atx_IntTupleType:$guide);
}

def Atx_EqualOp : Atx_AlgebraOp<"equal"> {
  let summary = "whether two static values have the same text";
  let description = [{
    Both operands are static (C13); the result is a constant.

    Example:

    ```mlir
    %r = atx.equal %a, %b : !atx.layout<8:1>, !atx.layout<8:1>
    ```
  }];
  let arguments = (ins Atx_AnyValue:$lhs, Atx_AnyValue:$rhs);
}

def Atx_ElemLessOp : Atx_AlgebraOp<"elem_less"> {
  let summary = "whether every component is smaller, for static tuples";
  let description = [{
    Operands are congruent (C6) and static (C13).

    Example:

    ```mlir
    %r = atx.elem_less %a, %b : !atx.int_tuple<(1,2)>, !atx.int_tuple<(4,8)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$lhs, Atx_IntTupleType:$rhs);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

def Atx_MakeLayoutOp : Atx_AlgebraOp<"make_layout"> {
  let summary = "layout of a shape and strides";
  let description = [{
    Shape and stride are congruent (C1), extents at least 1 (C2). Without
    strides the layout is compact and colexicographic; unit extents get stride
    0.

    Example:

    ```mlir
    %l = atx.make_layout %s, %d : !atx.int_tuple<(4,?)>, !atx.int_tuple<(?,1)>
    %c = atx.make_layout %s : !atx.int_tuple<(4,?)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$shape, Optional<Atx_IntTupleType>:$stride);
}

def Atx_MakeOrderedLayoutOp : Atx_AlgebraOp<"make_ordered_layout"> {
  let summary = "compact layout whose leaves follow one another in a given order";
  let description = [{
    The stride of a leaf is the product of the extents of smaller order. Shape
    and order are congruent (C1), orders static (C13) and distinct (C24).

    Example:

    ```mlir
    %l = atx.make_ordered_layout %s, %o : !atx.int_tuple<(4,?)>, !atx.int_tuple<(1,0)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$shape, Atx_IntTupleType:$order);
}

def Atx_MakeIdentityLayoutOp : Atx_AlgebraOp<"make_identity_layout"> {
  let summary = "layout that maps a coordinate to itself";
  let description = [{
    Strides are unit coordinates; for an integer shape n the result is n:1.

    Example:

    ```mlir
    %l = atx.make_identity_layout %s : !atx.int_tuple<(128,(4,8))>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$shape);
}

def Atx_MakeLayoutLikeOp : Atx_AlgebraOp<"make_layout_like"> {
  let summary = "compact layout in the stride order of another one";
  let description = [{
    Leaves of stride 0 keep it. Strides are static unless there is one only
    (C13).

    Example:

    ```mlir
    %c = atx.make_layout_like %l : !atx.layout<(2,4,8):(1000,1,10)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_MakeFragmentLikeOp : Atx_AlgebraOp<"make_fragment_like"> {
  let summary = "layout of a register image";
  let description = [{
    Same shape and rank, compact: mode 0 first, the other leaves by ascending
    stride, dynamic strides behind static ones, broadcast leaves last with
    storage of their own. With `stages` a mode of that extent follows.

    Example:

    ```mlir
    %f = atx.make_fragment_like %l {stages = 2 : i64} : !atx.layout<(2,(4,8)):(64,(1,8))>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, OptionalAttr<I64Attr>:$stages);
}

def Atx_MakeComposedLayoutOp : Atx_AlgebraOp<"make_composed_layout"> {
  let summary = "`inner o offset o outer`";
  let description = [{
    An identity swizzle with offset 0 is dropped and an affine inner part folded
    (N6). The inner part is a layout or a swizzle (C17).

    Example:

    ```mlir
    %c = atx.make_composed_layout %i, %o, %l : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<0>, !atx.layout<(8,64):(64,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$inner, Atx_IntTupleType:$offset, Atx_AnyLayout:$outer);
}

//===----------------------------------------------------------------------===//
// Mode surgery
//===----------------------------------------------------------------------===//

def Atx_GetOp : Atx_AlgebraOp<"get"> {
  let summary = "one mode, by a path of mode indices";
  let description = [{
    Indices are in range (C5).

    Example:

    ```mlir
    %m = atx.get %l {mode = array<i64: 1, 0>} : !atx.layout<(2,(3,4)):(1,(2,6))>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, DenseI64ArrayAttr:$mode);
}

def Atx_TakeOp : Atx_AlgebraOp<"take"> {
  let summary = "a range of modes";
  let description = [{
    The range is inside the rank and not empty (C5).

    Example:

    ```mlir
    %m = atx.take %l {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, I64Attr:$begin, I64Attr:$end);
}

def Atx_SelectOp : Atx_AlgebraOp<"select"> {
  let summary = "modes by index";
  let description = [{
    Indices are inside the rank, at least one (C5).

    Example:

    ```mlir
    %m = atx.select %l {indices = array<i64: 2, 0>} : !atx.layout<(2,3,4):(1,2,6)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, DenseI64ArrayAttr:$indices);
}

def Atx_GroupOp : Atx_AlgebraOp<"group"> {
  let summary = "wrap a range of modes in one mode";
  let description = [{
    The range is inside the rank and not empty (C5).

    Example:

    ```mlir
    %m = atx.group %l {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, I64Attr:$begin, I64Attr:$end);
}

def Atx_AppendOp : Atx_AlgebraOp<"append"> {
  let summary = "add a mode at the end";
  let description = [{
    With `rank` the mode is repeated up to that rank, which is not below the
    operand's (C5).

    Example:

    ```mlir
    %m = atx.append %l, %x : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, Atx_Modes:$mode, OptionalAttr<I64Attr>:$rank);
}

def Atx_PrependOp : Atx_AlgebraOp<"prepend"> {
  let summary = "add a mode at the front";
  let description = [{
    With `rank` the mode is repeated up to that rank, which is not below the
    operand's (C5).

    Example:

    ```mlir
    %m = atx.prepend %l, %x : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, Atx_Modes:$mode, OptionalAttr<I64Attr>:$rank);
}

def Atx_SliceOp : Atx_AlgebraOp<"slice"> {
  let summary = "keep the modes paired with `*`";
  let description = [{
    The coordinate fits the shape (C3) and keeps a mode (C5). The value of the
    fixed coordinates is added to the offset of a composed layout, moves the
    pointer of a view and the start of a coordinate view; for a plain layout it
    is dropped.

    Example:

    ```mlir
    %m = atx.slice %v, %c : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,*)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, Atx_IntTupleType:$coord);
}

def Atx_DiceOp : Atx_AlgebraOp<"dice"> {
  let summary = "keep the modes paired with integers";
  let description = [{
    The coordinate fits the shape (C3) and keeps a mode (C5).

    Example:

    ```mlir
    %m = atx.dice %l, %c : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,3)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value, Atx_IntTupleType:$coord);
}

//===----------------------------------------------------------------------===//
// Measures
//===----------------------------------------------------------------------===//

def Atx_SizeOp : Atx_AlgebraOp<"size"> {
  let summary = "number of coordinates";
  let description = [{
    Product of the extents; static overflow is an error (C8).

    Example:

    ```mlir
    %n = atx.size %l : !atx.layout<(?{div=4},8):(1,?)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value);
}

def Atx_CosizeOp : Atx_AlgebraOp<"cosize"> {
  let summary = "span of the values: max - min + 1";
  let description = [{
    For basis strides the product of the coshape. A composed layout is
    enumerated: it is static (C13) and has at most 2^16 elements (C17).

    Example:

    ```mlir
    %n = atx.cosize %l : !atx.layout<(8,128):(1,16)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_CoshapeOp : Atx_AlgebraOp<"coshape"> {
  let summary = "extents of the codomain";
  let description = [{
    One extent per component of the coordinates for basis strides, otherwise the
    cosize.

    Example:

    ```mlir
    %n = atx.coshape %l : !atx.layout<(4,8):(1E1,2E0)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_CoprofileOp : Atx_AlgebraOp<"coprofile"> {
  let summary = "tuple of zeros in the tree shape of the codomain";
  let description = [{
    Example:

    ```mlir
    %n = atx.coprofile %l : !atx.layout<(4,8):(1E0,1E1)>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$layout);
}

def Atx_RankOp : Atx_AlgebraOp<"rank"> {
  let summary = "number of modes";
  let description = [{
    Example:

    ```mlir
    %n = atx.rank %l : !atx.layout<(2,(3,4)):(1,(2,6))>
    ```
  }];
  let arguments = (ins Atx_Modes:$value);
}

def Atx_DepthOp : Atx_AlgebraOp<"depth"> {
  let summary = "nesting of the shape";
  let description = [{
    0 for an integer.

    Example:

    ```mlir
    %n = atx.depth %l : !atx.layout<(2,(3,4)):(1,(2,6))>
    ```
  }];
  let arguments = (ins Atx_Modes:$value);
}

def Atx_InjectiveOp : Atx_AlgebraOp<"injective"> {
  let summary = "whether no two coordinates share a value";
  let description = [{
    Decided by the sorted test or by enumeration up to 2^16 elements; otherwise
    C12.

    Example:

    ```mlir
    %b = atx.injective %l : !atx.layout<(4,8):(1,4)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_CompactOp : Atx_AlgebraOp<"compact"> {
  let summary = "whether the values are 0 to size - 1, each once";
  let description = [{
    Leaves are static (C13).

    Example:

    ```mlir
    %b = atx.compact %l : !atx.layout<(4,8):(1,4)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_GetShapeOp : Atx_AlgebraOp<"get_shape"> {
  let summary = "shape of a layout or view";
  let description = [{
    Example:

    ```mlir
    %s = atx.get_shape %l : !atx.layout<(4,?):(1,4)>
    ```
  }];
  let arguments = (ins Atx_Modes:$value);
}

def Atx_GetStrideOp : Atx_AlgebraOp<"get_stride"> {
  let summary = "strides of a layout or view";
  let description = [{
    Composed layouts have none (C17).

    Example:

    ```mlir
    %d = atx.get_stride %l : !atx.layout<(4,8):(1,?)>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout);
}

def Atx_ComposedInnerOp : Atx_AlgebraOp<"composed_inner"> {
  let summary = "inner part of a composed layout";
  let description = [{
    Example:

    ```mlir
    %i = atx.composed_inner %c : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_ComposedOffsetOp : Atx_AlgebraOp<"composed_offset"> {
  let summary = "offset of a composed layout";
  let description = [{
    Example:

    ```mlir
    %o = atx.composed_offset %c : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_ComposedOuterOp : Atx_AlgebraOp<"composed_outer"> {
  let summary = "outer part of a composed layout";
  let description = [{
    Example:

    ```mlir
    %l = atx.composed_outer %c : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

def Atx_Crd2IdxOp : Atx_AlgebraOp<"crd2idx"> {
  let summary = "value of a layout at a coordinate";
  let description = [{
    The coordinate may be given at any granularity; it fits the shape (C3) and
    is not negative (C4). An integer coordinate past the end continues the last
    mode. Basis strides give a coordinate.

    Example:

    ```mlir
    %i = atx.crd2idx %c, %l : !atx.int_tuple<(?{div=2},3)>, !atx.layout<(4,8):(8,4)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$coord, Atx_AnyLayout:$layout);
}

def Atx_Idx2CrdOp : Atx_AlgebraOp<"idx2crd"> {
  let summary = "coordinate of an index: (i / stride) mod extent per leaf";
  let description = [{
    Inverts layouts whose sorted strides are each a multiple of the span below.
    Needs integer strides (C14).

    Example:

    ```mlir
    %c = atx.idx2crd %i, %l : !atx.int_tuple<?>, !atx.layout<(4,8):(1,4)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$index, Atx_LayoutType:$layout);
}

def Atx_Get1DCoordOp : Atx_AlgebraOp<"get_1d_coord"> {
  let summary = "colexicographic form of `idx2crd`";
  let description = [{
    Needs integer strides (C14).

    Example:

    ```mlir
    %c = atx.get_1d_coord %i, %l : !atx.int_tuple<14>, !atx.layout<(4,8):(8,1)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$index, Atx_LayoutType:$layout);
}

def Atx_GetFlatCoordOp : Atx_AlgebraOp<"get_flat_coord"> {
  let summary = "`idx2crd` with one integer per top-level mode";
  let description = [{
    Needs integer strides (C14).

    Example:

    ```mlir
    %c = atx.get_flat_coord %i, %l : !atx.int_tuple<?>, !atx.layout<((2,4),8):((1,2),8)>
    ```
  }];
  let arguments = (ins Atx_IntTupleType:$index, Atx_LayoutType:$layout);
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

def Atx_CoalesceOp : Atx_AlgebraOp<"coalesce"> {
  let summary = "same function, fewest modes";
  let description = [{
    With a profile (C5) the operation is applied inside each of its modes.

    Example:

    ```mlir
    %c = atx.coalesce %l : !atx.layout<(2,(1,6)):(1,(6,2))>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Optional<Atx_IntTupleType>:$profile);
}

def Atx_FilterOp : Atx_AlgebraOp<"filter"> {
  let summary = "coalesced layout without broadcast and unit modes";
  let description = [{
    Example:

    ```mlir
    %f = atx.filter %l : !atx.layout<(4,8,1):(0,1,7)>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$layout);
}

def Atx_CompositionOp : Atx_AlgebraOp<"composition"> {
  let summary = "R(i) = A(B(i))";
  let description = [{
    One mode per mode of the right operand. Stride and shape divide (C10), modes
    do not carry into each other (C11), basis elements name modes of the left
    operand (C29). A tile composes mode by mode (C31).

    Example:

    ```mlir
    %r = atx.composition %a, %b : !atx.layout<(6,9):(19,69)>, !atx.layout<(6,3):(3,1)>
    ```
  }];
  let arguments = (ins
    Atx_LayoutOrView:$lhs,
    AnyTypeOf<[Atx_IntTupleType, Atx_LayoutType, Atx_ComposedLayoutType, Atx_SwizzleType, Atx_TileType]>:$rhs);
}

def Atx_CompositionExactOp : Atx_AlgebraOp<"composition_exact"> {
  let summary = "whether a composition uses no value past the end of the left operand";
  let description = [{
    Unknown counts as false.

    Example:

    ```mlir
    %e = atx.composition_exact %a, %b : !atx.layout<20:2>, !atx.layout<(5,4):(4,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_LayoutType:$rhs);
}

def Atx_ComplementOp : Atx_AlgebraOp<"complement"> {
  let summary = "the ordered rest of a layout in a codomain";
  let description = [{
    Strides are integers (C14), not negative (C15) and nest (C12); a dynamic
    stride is allowed only with one leaf (C13). The codomain is positive (C2);
    by default it is the cosize.

    Example:

    ```mlir
    %r = atx.complement %l, %m : !atx.layout<4:1>, !atx.int_tuple<?{div=4}>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout, Optional<Atx_IntTupleType>:$codomain);
}

def Atx_ComplementExactOp : Atx_AlgebraOp<"complement_exact"> {
  let summary = "whether layout and complement cover the codomain exactly once";
  let description = [{
    Unknown counts as false; preconditions as for `complement`.

    Example:

    ```mlir
    %b = atx.complement_exact %l, %m : !atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout, Optional<Atx_IntTupleType>:$codomain);
}

def Atx_RightInverseOp : Atx_AlgebraOp<"right_inverse"> {
  let summary = "L(R(i)) = i";
  let description = [{
    The longest chain of leaves from stride 1 on. For a swizzle with offset 0
    the inverse of the layout after the swizzle, if whole swizzle blocks are
    covered (C17). C13, C14, C15 as for `complement`.

    Example:

    ```mlir
    %r = atx.right_inverse %l : !atx.layout<(2,4):(4,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

def Atx_LeftInverseOp : Atx_AlgebraOp<"left_inverse"> {
  let summary = "R(L(i)) = i";
  let description = [{
    Injective, sorted strides a divisor chain (C16); C13, C14, C15, C17 as for
    `complement`.

    Example:

    ```mlir
    %r = atx.left_inverse %l : !atx.layout<(4,2):(1,16)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout);
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

def Atx_LogicalDivideOp : Atx_AlgebraOp<"logical_divide"> {
  let summary = "divide by a tiler: modes `((t0,r0),(t1,r1),L)`";
  let description = [{
    The tiler is an integer, a layout or a by-mode tile (C31). With `strict` it
    covers every element exactly once (C23); otherwise the last tile may run
    over the end, and a tiler that misses elements gives a warning.

    Example:

    ```mlir
    %d = atx.logical_divide %l, %t : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, UnitAttr:$strict);
}

def Atx_ZippedDivideOp : Atx_AlgebraOp<"zipped_divide"> {
  let summary = "divide by a tiler: modes `((t0,t1),(r0,r1,L))`";
  let description = [{
    The tiler is an integer, a layout or a by-mode tile (C31). With `strict` it
    covers every element exactly once (C23); otherwise the last tile may run
    over the end, and a tiler that misses elements gives a warning.

    Example:

    ```mlir
    %d = atx.zipped_divide %l, %t : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, UnitAttr:$strict);
}

def Atx_TiledDivideOp : Atx_AlgebraOp<"tiled_divide"> {
  let summary = "divide by a tiler: modes `((t0,t1),r0,r1,L)`";
  let description = [{
    The tiler is an integer, a layout or a by-mode tile (C31). With `strict` it
    covers every element exactly once (C23); otherwise the last tile may run
    over the end, and a tiler that misses elements gives a warning.

    Example:

    ```mlir
    %d = atx.tiled_divide %l, %t : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, UnitAttr:$strict);
}

def Atx_FlatDivideOp : Atx_AlgebraOp<"flat_divide"> {
  let summary = "divide by a tiler: modes `(t0,t1,r0,r1,L)`";
  let description = [{
    The tiler is an integer, a layout or a by-mode tile (C31). With `strict` it
    covers every element exactly once (C23); otherwise the last tile may run
    over the end, and a tiler that misses elements gives a warning.

    Example:

    ```mlir
    %d = atx.flat_divide %l, %t : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, UnitAttr:$strict);
}

def Atx_DivideExactOp : Atx_AlgebraOp<"divide_exact"> {
  let summary = "whether a tiler covers every element exactly once";
  let description = [{
    Unknown counts as false.

    Example:

    ```mlir
    %b = atx.divide_exact %l, %t : !atx.layout<10:1>, !atx.int_tuple<4>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler);
}

def Atx_LogicalProductOp : Atx_AlgebraOp<"logical_product"> {
  let summary = "product: modes `(A, copies)`";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.logical_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_ZippedProductOp : Atx_AlgebraOp<"zipped_product"> {
  let summary = "product: modes `((A), (copies))`";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.zipped_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_TiledProductOp : Atx_AlgebraOp<"tiled_product"> {
  let summary = "product: modes `(A, copies...)`";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.tiled_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_FlatProductOp : Atx_AlgebraOp<"flat_product"> {
  let summary = "product: modes `(A..., copies...)`";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.flat_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_BlockedProductOp : Atx_AlgebraOp<"blocked_product"> {
  let summary = "product: mode i of A paired with mode i of the copies, A first";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.blocked_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_RakedProductOp : Atx_AlgebraOp<"raked_product"> {
  let summary = "product: mode i of the copies paired with mode i of A, copies first";
  let description = [{
    One copy of the left operand at each position of the right one. Strides of
    the left operand nest (C12, C14, C15); composed layouts have no product
    (C17).

    Example:

    ```mlir
    %p = atx.raked_product %a, %b : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$lhs, Atx_AnyTiler:$rhs);
}

def Atx_TileToShapeOp : Atx_AlgebraOp<"tile_to_shape"> {
  let summary = "repeat a compact block up to a shape";
  let description = [{
    The block is compact (C12) and divides the shape (C23); orders are static
    (C13) and distinct (C24). A swizzled block keeps swizzle and offset 0 (C17).

    Example:

    ```mlir
    %t = atx.tile_to_shape %b, %s, %o : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(0,1)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$block, Atx_IntTupleType:$shape, Atx_IntTupleType:$order);
}

def Atx_LocalTileOp : Atx_AlgebraOp<"local_tile"> {
  let summary = "the tile of a tensor at a tile coordinate";
  let description = [{
    `zipped_divide`, then the coordinate picks among the rests; `*` keeps a rest
    mode.

    Example:

    ```mlir
    %r = atx.local_tile %v, %t, %c : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,0)>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, Atx_IntTupleType:$coord);
}

def Atx_LocalPartitionOp : Atx_AlgebraOp<"local_partition"> {
  let summary = "the elements of a tensor that one position of the tile owns";
  let description = [{
    `zipped_divide`, then the coordinate picks inside the tile.

    Example:

    ```mlir
    %p = atx.local_partition %v, %t, %c : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<?>
    ```
  }];
  let arguments = (ins Atx_LayoutOrView:$layout, Atx_AnyTiler:$tiler, Atx_IntTupleType:$coord);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

def Atx_RecastOp : Atx_AlgebraOp<"recast"> {
  let summary = "the same memory as elements of another width";
  let description = [{
    `from` and `to` are bits per element, one a multiple of the other (C18).
    Widening needs whole groups (C19, C15), narrowing one leaf of stride 1
    (C20); swizzles keep their bytes (C22); coordinates have no width (C14). For
    a view see `recast_view`.

    Example:

    ```mlir
    %r = atx.recast %l {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,?):(1,4)>
    ```
  }];
  let arguments = (ins Atx_AnyLayout:$layout, I64Attr:$from, I64Attr:$to);
}

def Atx_MaxCommonVectorOp : Atx_AlgebraOp<"max_common_vector"> {
  let summary = "largest n with A(x_i) = B(x_i) = i for i < n";
  let description = [{
    Sizes are equal (C30). Dynamic leaves count with what is known about them.

    Example:

    ```mlir
    %n = atx.max_common_vector %a, %b : !atx.layout<(4,16):(16,1)>, !atx.layout<(4,16):(32,1)>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$lhs, Atx_LayoutType:$rhs);
}

def Atx_MaxAlignmentOp : Atx_AlgebraOp<"max_alignment"> {
  let summary = "largest N such that the values fall into full aligned groups of N";
  let description = [{
    Needs integer (C14), non-negative strides (C15).

    Example:

    ```mlir
    %n = atx.max_alignment %l : !atx.layout<(8,8):(1,?{div=4})>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$layout);
}

def Atx_VectorWidthOp : Atx_AlgebraOp<"vector_width"> {
  let summary = "elements per access that are legal on both sides";
  let description = [{
    Alignments are in bytes, the optional swizzle acts on bytes. Elements have
    whole bytes (C27).

    Example:

    ```mlir
    %n = atx.vector_width %a, %b {bits = 16 : i64, src_align = 16 : i64, dst_align = 16 : i64, max_bits = 128 : i64} : !atx.layout<(128,64):(64,1)>, !atx.layout<(128,64):(64,1)>
    ```
  }];
  let arguments = (ins
    Atx_LayoutType:$source,
    Atx_LayoutType:$destination,
    I64Attr:$bits,
    I64Attr:$src_align,
    I64Attr:$dst_align,
    I64Attr:$max_bits);
}

def Atx_MakeLayoutTVOp : Atx_AlgebraOp<"make_layout_tv"> {
  let summary = "thread-value layout of a thread layout and a value layout";
  let description = [{
    The tile is the raked product of both; the result is a bijection onto it
    (C25).

    Example:

    ```mlir
    %tv = atx.make_layout_tv %t, %v : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$threads, Atx_LayoutType:$values);
}

def Atx_TVTileOp : Atx_AlgebraOp<"tv_tile"> {
  let summary = "extents of the tile that thread and value layouts cover";
  let description = [{
    Example:

    ```mlir
    %s = atx.tv_tile %t, %v : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
    ```
  }];
  let arguments = (ins Atx_LayoutType:$threads, Atx_LayoutType:$values);
}

#endif // ATREX_DIALECTS_ATX_ATXOPS_TD
