// Every operation of the algebra: custom and generic form are read back, and the
// result type follows from the operand types. Per operation static operands
// come first, then dynamic ones.
//
// RUN: atrex-opt %s | FileCheck %s --check-prefix=CUSTOM
// RUN: atrex-opt %s | atrex-opt | FileCheck %s --check-prefix=CUSTOM
// RUN: atrex-opt %s --mlir-print-op-generic | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt --mlir-print-op-generic | FileCheck %s

// CHECK-LABEL: sym_name = "tuple_arithmetic"
// CUSTOM-LABEL: func.func @tuple_arithmetic(
func.func @tuple_arithmetic(%arg0: !atx.int_tuple<(4,8)>,
    %arg1: !atx.int_tuple<(2,2)>,
    %arg2: !atx.int_tuple<(4,?{div=8})>,
    %arg3: !atx.int_tuple<(2,4)>,
    %arg4: !atx.int_tuple<2147483647>,
    %arg5: !atx.int_tuple<1>,
    %arg6: !atx.int_tuple<(10,(20,30))>,
    %arg7: !atx.int_tuple<(1,(2,3))>,
    %arg8: !atx.int_tuple<(10,?{div=6})>,
    %arg9: !atx.int_tuple<(1,4)>,
    %arg10: !atx.int_tuple<65536>,
    %arg11: !atx.int_tuple<65536>,
    %arg12: !atx.int_tuple<(?{div=4},?)>,
    %arg13: !atx.int_tuple<(8,0)>,
    %arg14: !atx.int_tuple<(17,(9,100))>,
    %arg15: !atx.int_tuple<(5,(2,7))>,
    %arg16: !atx.int_tuple<(?{div=8},?{div=6})>,
    %arg17: !atx.int_tuple<(4,4)>,
    %arg18: !atx.int_tuple<-7>,
    %arg19: !atx.int_tuple<2>,
    %arg20: !atx.int_tuple<(17,-7)>,
    %arg21: !atx.int_tuple<(5,2)>,
    %arg22: !atx.int_tuple<(?{div=8},?{div=8})>,
    %arg23: !atx.int_tuple<(4,12)>,
    %arg24: !atx.int_tuple<(3,8)>,
    %arg25: !atx.int_tuple<(5,2)>,
    %arg26: !atx.int_tuple<?{div=6}>,
    %arg27: !atx.int_tuple<128>,
    %arg28: !atx.int_tuple<(3,8)>,
    %arg29: !atx.int_tuple<(5,2)>,
    %arg30: !atx.int_tuple<?{div=8}>,
    %arg31: !atx.int_tuple<0>,
    %arg32: !atx.int_tuple<((3,4),6)>,
    %arg33: !atx.int_tuple<36>,
    %arg34: !atx.int_tuple<?{div=32}>,
    %arg35: !atx.int_tuple<(2,4)>,
    %arg36: !atx.int_tuple<(7,9)>,
    %arg37: !atx.int_tuple<4>,
    %arg38: !atx.int_tuple<(?{div=8},9)>,
    %arg39: !atx.int_tuple<(4,?)>,
    %arg40: !atx.int_tuple<((2,3),4)>,
    %arg41: !atx.int_tuple<((2,3),?{div=4})>,
    %arg42: !atx.int_tuple<((2,3),(4,5))>,
    %arg43: !atx.int_tuple<((2,?),?)>,
    %arg44: !atx.int_tuple<((2,3),(4,(5,6)))>,
    %arg45: !atx.int_tuple<(1,(1,1))>,
    %arg46: !atx.int_tuple<((2,?{div=2}),4)>,
    %arg47: !atx.int_tuple<(?,?)>,
    %arg48: !atx.layout<8:1>,
    %arg49: !atx.layout<8:1>,
    %arg50: !atx.int_tuple<(1,2)>,
    %arg51: !atx.int_tuple<(4,8)>) {
  // CUSTOM: atx.add %{{.*}}, %{{.*}} : !atx.int_tuple<(4,8)>, !atx.int_tuple<(2,2)>
  // CHECK: "atx.add"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,8)>, !atx.int_tuple<(2,2)>) -> !atx.int_tuple<(6,10)>
  %r0 = atx.add %arg0, %arg1 : !atx.int_tuple<(4,8)>, !atx.int_tuple<(2,2)>
  // CUSTOM: atx.add %{{.*}}, %{{.*}} : !atx.int_tuple<(4,?{div=8})>, !atx.int_tuple<(2,4)>
  // CHECK: "atx.add"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,?{div=8})>, !atx.int_tuple<(2,4)>) -> !atx.int_tuple<(6,?{div=4})>
  %r1 = atx.add %arg2, %arg3 : !atx.int_tuple<(4,?{div=8})>, !atx.int_tuple<(2,4)>
  // CUSTOM: atx.add %{{.*}}, %{{.*}} : !atx.int_tuple<2147483647>, !atx.int_tuple<1>
  // CHECK: "atx.add"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<2147483647>, !atx.int_tuple<1>) -> !atx.int_tuple<2147483648>
  %r2 = atx.add %arg4, %arg5 : !atx.int_tuple<2147483647>, !atx.int_tuple<1>
  // CUSTOM: atx.sub %{{.*}}, %{{.*}} : !atx.int_tuple<(10,(20,30))>, !atx.int_tuple<(1,(2,3))>
  // CHECK: "atx.sub"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(10,(20,30))>, !atx.int_tuple<(1,(2,3))>) -> !atx.int_tuple<(9,(18,27))>
  %r3 = atx.sub %arg6, %arg7 : !atx.int_tuple<(10,(20,30))>, !atx.int_tuple<(1,(2,3))>
  // CUSTOM: atx.sub %{{.*}}, %{{.*}} : !atx.int_tuple<(10,?{div=6})>, !atx.int_tuple<(1,4)>
  // CHECK: "atx.sub"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(10,?{div=6})>, !atx.int_tuple<(1,4)>) -> !atx.int_tuple<(9,?{div=2})>
  %r4 = atx.sub %arg8, %arg9 : !atx.int_tuple<(10,?{div=6})>, !atx.int_tuple<(1,4)>
  // CUSTOM: atx.mul %{{.*}}, %{{.*}} : !atx.int_tuple<65536>, !atx.int_tuple<65536>
  // CHECK: "atx.mul"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<65536>, !atx.int_tuple<65536>) -> !atx.int_tuple<4294967296>
  %r5 = atx.mul %arg10, %arg11 : !atx.int_tuple<65536>, !atx.int_tuple<65536>
  // CUSTOM: atx.mul %{{.*}}, %{{.*}} : !atx.int_tuple<(?{div=4},?)>, !atx.int_tuple<(8,0)>
  // CHECK: "atx.mul"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?{div=4},?)>, !atx.int_tuple<(8,0)>) -> !atx.int_tuple<(?{div=32},0)>
  %r6 = atx.mul %arg12, %arg13 : !atx.int_tuple<(?{div=4},?)>, !atx.int_tuple<(8,0)>
  // CUSTOM: atx.div %{{.*}}, %{{.*}} : !atx.int_tuple<(17,(9,100))>, !atx.int_tuple<(5,(2,7))>
  // CHECK: "atx.div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(17,(9,100))>, !atx.int_tuple<(5,(2,7))>) -> !atx.int_tuple<(3,(4,14))>
  %r7 = atx.div %arg14, %arg15 : !atx.int_tuple<(17,(9,100))>, !atx.int_tuple<(5,(2,7))>
  // CUSTOM: atx.div %{{.*}}, %{{.*}} : !atx.int_tuple<(?{div=8},?{div=6})>, !atx.int_tuple<(4,4)>
  // CHECK: "atx.div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?{div=8},?{div=6})>, !atx.int_tuple<(4,4)>) -> !atx.int_tuple<(?{div=2},?)>
  %r8 = atx.div %arg16, %arg17 : !atx.int_tuple<(?{div=8},?{div=6})>, !atx.int_tuple<(4,4)>
  // CUSTOM: atx.div %{{.*}}, %{{.*}} : !atx.int_tuple<-7>, !atx.int_tuple<2>
  // CHECK: "atx.div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<-7>, !atx.int_tuple<2>) -> !atx.int_tuple<-3>
  %r9 = atx.div %arg18, %arg19 : !atx.int_tuple<-7>, !atx.int_tuple<2>
  // CUSTOM: atx.mod %{{.*}}, %{{.*}} : !atx.int_tuple<(17,-7)>, !atx.int_tuple<(5,2)>
  // CHECK: "atx.mod"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(17,-7)>, !atx.int_tuple<(5,2)>) -> !atx.int_tuple<(2,-1)>
  %r10 = atx.mod %arg20, %arg21 : !atx.int_tuple<(17,-7)>, !atx.int_tuple<(5,2)>
  // CUSTOM: atx.mod %{{.*}}, %{{.*}} : !atx.int_tuple<(?{div=8},?{div=8})>, !atx.int_tuple<(4,12)>
  // CHECK: "atx.mod"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?{div=8},?{div=8})>, !atx.int_tuple<(4,12)>) -> !atx.int_tuple<(0,?{div=4})>
  %r11 = atx.mod %arg22, %arg23 : !atx.int_tuple<(?{div=8},?{div=8})>, !atx.int_tuple<(4,12)>
  // CUSTOM: atx.min %{{.*}}, %{{.*}} : !atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>
  // CHECK: "atx.min"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>) -> !atx.int_tuple<(3,2)>
  %r12 = atx.min %arg24, %arg25 : !atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>
  // CUSTOM: atx.min %{{.*}}, %{{.*}} : !atx.int_tuple<?{div=6}>, !atx.int_tuple<128>
  // CHECK: "atx.min"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?{div=6}>, !atx.int_tuple<128>) -> !atx.int_tuple<?{div=2}>
  %r13 = atx.min %arg26, %arg27 : !atx.int_tuple<?{div=6}>, !atx.int_tuple<128>
  // CUSTOM: atx.max %{{.*}}, %{{.*}} : !atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>
  // CHECK: "atx.max"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>) -> !atx.int_tuple<(5,8)>
  %r14 = atx.max %arg28, %arg29 : !atx.int_tuple<(3,8)>, !atx.int_tuple<(5,2)>
  // CUSTOM: atx.max %{{.*}}, %{{.*}} : !atx.int_tuple<?{div=8}>, !atx.int_tuple<0>
  // CHECK: "atx.max"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?{div=8}>, !atx.int_tuple<0>) -> !atx.int_tuple<?{div=8}>
  %r15 = atx.max %arg30, %arg31 : !atx.int_tuple<?{div=8}>, !atx.int_tuple<0>
  // CUSTOM: atx.shape_div %{{.*}}, %{{.*}} : !atx.int_tuple<((3,4),6)>, !atx.int_tuple<36>
  // CHECK: "atx.shape_div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<((3,4),6)>, !atx.int_tuple<36>) -> !atx.int_tuple<((1,1),2)>
  %r16 = atx.shape_div %arg32, %arg33 : !atx.int_tuple<((3,4),6)>, !atx.int_tuple<36>
  // CUSTOM: atx.shape_div %{{.*}}, %{{.*}} : !atx.int_tuple<?{div=32}>, !atx.int_tuple<(2,4)>
  // CHECK: "atx.shape_div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?{div=32}>, !atx.int_tuple<(2,4)>) -> !atx.int_tuple<?{div=4}>
  %r17 = atx.shape_div %arg34, %arg35 : !atx.int_tuple<?{div=32}>, !atx.int_tuple<(2,4)>
  // CUSTOM: atx.ceil_div %{{.*}}, %{{.*}} : !atx.int_tuple<(7,9)>, !atx.int_tuple<4>
  // CHECK: "atx.ceil_div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(7,9)>, !atx.int_tuple<4>) -> !atx.int_tuple<(2,9)>
  %r18 = atx.ceil_div %arg36, %arg37 : !atx.int_tuple<(7,9)>, !atx.int_tuple<4>
  // CUSTOM: atx.ceil_div %{{.*}}, %{{.*}} : !atx.int_tuple<(?{div=8},9)>, !atx.int_tuple<(4,?)>
  // CHECK: "atx.ceil_div"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?{div=8},9)>, !atx.int_tuple<(4,?)>) -> !atx.int_tuple<(?{div=2},?)>
  %r19 = atx.ceil_div %arg38, %arg39 : !atx.int_tuple<(?{div=8},9)>, !atx.int_tuple<(4,?)>
  // CUSTOM: atx.product %{{.*}} : !atx.int_tuple<((2,3),4)>
  // CHECK: "atx.product"(%{{.*}}) : (!atx.int_tuple<((2,3),4)>) -> !atx.int_tuple<24>
  %r20 = atx.product %arg40 : !atx.int_tuple<((2,3),4)>
  // CUSTOM: atx.product %{{.*}} : !atx.int_tuple<((2,3),?{div=4})>
  // CHECK: "atx.product"(%{{.*}}) : (!atx.int_tuple<((2,3),?{div=4})>) -> !atx.int_tuple<?{div=24}>
  %r21 = atx.product %arg41 : !atx.int_tuple<((2,3),?{div=4})>
  // CUSTOM: atx.product_each %{{.*}} : !atx.int_tuple<((2,3),(4,5))>
  // CHECK: "atx.product_each"(%{{.*}}) : (!atx.int_tuple<((2,3),(4,5))>) -> !atx.int_tuple<(6,20)>
  %r22 = atx.product_each %arg42 : !atx.int_tuple<((2,3),(4,5))>
  // CUSTOM: atx.product_each %{{.*}} : !atx.int_tuple<((2,?),?)>
  // CHECK: "atx.product_each"(%{{.*}}) : (!atx.int_tuple<((2,?),?)>) -> !atx.int_tuple<(?{div=2},?)>
  %r23 = atx.product_each %arg43 : !atx.int_tuple<((2,?),?)>
  // CUSTOM: atx.product_like %{{.*}}, %{{.*}} : !atx.int_tuple<((2,3),(4,(5,6)))>, !atx.int_tuple<(1,(1,1))>
  // CHECK: "atx.product_like"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<((2,3),(4,(5,6)))>, !atx.int_tuple<(1,(1,1))>) -> !atx.int_tuple<(6,(4,30))>
  %r24 = atx.product_like %arg44, %arg45 : !atx.int_tuple<((2,3),(4,(5,6)))>, !atx.int_tuple<(1,(1,1))>
  // CUSTOM: atx.product_like %{{.*}}, %{{.*}} : !atx.int_tuple<((2,?{div=2}),4)>, !atx.int_tuple<(?,?)>
  // CHECK: "atx.product_like"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<((2,?{div=2}),4)>, !atx.int_tuple<(?,?)>) -> !atx.int_tuple<(?{div=4},4)>
  %r25 = atx.product_like %arg46, %arg47 : !atx.int_tuple<((2,?{div=2}),4)>, !atx.int_tuple<(?,?)>
  // CUSTOM: atx.equal %{{.*}}, %{{.*}} : !atx.layout<8:1>, !atx.layout<8:1>
  // CHECK: "atx.equal"(%{{.*}}, %{{.*}}) : (!atx.layout<8:1>, !atx.layout<8:1>) -> i1
  %r26 = atx.equal %arg48, %arg49 : !atx.layout<8:1>, !atx.layout<8:1>
  // CUSTOM: atx.elem_less %{{.*}}, %{{.*}} : !atx.int_tuple<(1,2)>, !atx.int_tuple<(4,8)>
  // CHECK: "atx.elem_less"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(1,2)>, !atx.int_tuple<(4,8)>) -> i1
  %r27 = atx.elem_less %arg50, %arg51 : !atx.int_tuple<(1,2)>, !atx.int_tuple<(4,8)>
  return
}

// CHECK-LABEL: sym_name = "construction"
// CUSTOM-LABEL: func.func @construction(
func.func @construction(%arg0: !atx.int_tuple<(2,(3,4))>,
    %arg1: !atx.int_tuple<(4,?)>,
    %arg2: !atx.int_tuple<(?,1)>,
    %arg3: !atx.int_tuple<(4,?{div=2},8)>,
    %arg4: !atx.int_tuple<(4,8,2)>,
    %arg5: !atx.int_tuple<(2,0,1)>,
    %arg6: !atx.int_tuple<(4,?)>,
    %arg7: !atx.int_tuple<(1,0)>,
    %arg8: !atx.int_tuple<(4,(2,3))>,
    %arg9: !atx.int_tuple<(?,64)>,
    %arg10: !atx.int_tuple<8>,
    %arg11: !atx.layout<(2,4,8):(1000,1,10)>,
    %arg12: !atx.layout<(4,?):(0,1)>,
    %arg13: !atx.layout<(2,(4,8)):(64,(1,8))>,
    %arg14: !atx.layout<(2,(4,8)):(64,(1,8))>,
    %arg15: !atx.view<f32, global, (4,8):(8,1)>,
    %arg16: !atx.layout<(4,8):(?,1)>,
    %arg17: !atx.swizzle<S<3,3,3>>,
    %arg18: !atx.int_tuple<0>,
    %arg19: !atx.layout<(8,64):(64,1)>,
    %arg20: !atx.swizzle<S<0,0,0>>,
    %arg21: !atx.int_tuple<0>,
    %arg22: !atx.layout<(8,?):(?,1)>,
    %arg23: !atx.swizzle<S<3,3,3>>,
    %arg24: !atx.int_tuple<?{div=8}>,
    %arg25: !atx.layout<(8,64):(64,1)>) {
  // CUSTOM: atx.make_layout %{{.*}} : !atx.int_tuple<(2,(3,4))>
  // CHECK: "atx.make_layout"(%{{.*}}) : (!atx.int_tuple<(2,(3,4))>) -> !atx.layout<(2,(3,4)):(1,(2,6))>
  %r0 = atx.make_layout %arg0 : !atx.int_tuple<(2,(3,4))>
  // CUSTOM: atx.make_layout %{{.*}}, %{{.*}} : !atx.int_tuple<(4,?)>, !atx.int_tuple<(?,1)>
  // CHECK: "atx.make_layout"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,?)>, !atx.int_tuple<(?,1)>) -> !atx.layout<(4,?):(?,1)>
  %r1 = atx.make_layout %arg1, %arg2 : !atx.int_tuple<(4,?)>, !atx.int_tuple<(?,1)>
  // CUSTOM: atx.make_layout %{{.*}} : !atx.int_tuple<(4,?{div=2},8)>
  // CHECK: "atx.make_layout"(%{{.*}}) : (!atx.int_tuple<(4,?{div=2},8)>) -> !atx.layout<(4,?{div=2},8):(1,4,?{div=8})>
  %r2 = atx.make_layout %arg3 : !atx.int_tuple<(4,?{div=2},8)>
  // CUSTOM: atx.make_ordered_layout %{{.*}}, %{{.*}} : !atx.int_tuple<(4,8,2)>, !atx.int_tuple<(2,0,1)>
  // CHECK: "atx.make_ordered_layout"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,8,2)>, !atx.int_tuple<(2,0,1)>) -> !atx.layout<(4,8,2):(16,1,8)>
  %r3 = atx.make_ordered_layout %arg4, %arg5 : !atx.int_tuple<(4,8,2)>, !atx.int_tuple<(2,0,1)>
  // CUSTOM: atx.make_ordered_layout %{{.*}}, %{{.*}} : !atx.int_tuple<(4,?)>, !atx.int_tuple<(1,0)>
  // CHECK: "atx.make_ordered_layout"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,?)>, !atx.int_tuple<(1,0)>) -> !atx.layout<(4,?):(?,1)>
  %r4 = atx.make_ordered_layout %arg6, %arg7 : !atx.int_tuple<(4,?)>, !atx.int_tuple<(1,0)>
  // CUSTOM: atx.make_identity_layout %{{.*}} : !atx.int_tuple<(4,(2,3))>
  // CHECK: "atx.make_identity_layout"(%{{.*}}) : (!atx.int_tuple<(4,(2,3))>) -> !atx.layout<(4,(2,3)):(1E0,(1E1E0,1E1E1))>
  %r5 = atx.make_identity_layout %arg8 : !atx.int_tuple<(4,(2,3))>
  // CUSTOM: atx.make_identity_layout %{{.*}} : !atx.int_tuple<(?,64)>
  // CHECK: "atx.make_identity_layout"(%{{.*}}) : (!atx.int_tuple<(?,64)>) -> !atx.layout<(?,64):(1E0,1E1)>
  %r6 = atx.make_identity_layout %arg9 : !atx.int_tuple<(?,64)>
  // CUSTOM: atx.make_identity_layout %{{.*}} : !atx.int_tuple<8>
  // CHECK: "atx.make_identity_layout"(%{{.*}}) : (!atx.int_tuple<8>) -> !atx.layout<8:1>
  %r7 = atx.make_identity_layout %arg10 : !atx.int_tuple<8>
  // CUSTOM: atx.make_layout_like %{{.*}} : !atx.layout<(2,4,8):(1000,1,10)>
  // CHECK: "atx.make_layout_like"(%{{.*}}) : (!atx.layout<(2,4,8):(1000,1,10)>) -> !atx.layout<(2,4,8):(32,1,4)>
  %r8 = atx.make_layout_like %arg11 : !atx.layout<(2,4,8):(1000,1,10)>
  // CUSTOM: atx.make_layout_like %{{.*}} : !atx.layout<(4,?):(0,1)>
  // CHECK: "atx.make_layout_like"(%{{.*}}) : (!atx.layout<(4,?):(0,1)>) -> !atx.layout<(4,?):(0,1)>
  %r9 = atx.make_layout_like %arg12 : !atx.layout<(4,?):(0,1)>
  // CUSTOM: atx.make_fragment_like %{{.*}} : !atx.layout<(2,(4,8)):(64,(1,8))>
  // CHECK: "atx.make_fragment_like"(%{{.*}}) : (!atx.layout<(2,(4,8)):(64,(1,8))>) -> !atx.layout<(2,(4,8)):(1,(2,8))>
  %r10 = atx.make_fragment_like %arg13 : !atx.layout<(2,(4,8)):(64,(1,8))>
  // CUSTOM: atx.make_fragment_like %{{.*}} {stages = 2 : i64} : !atx.layout<(2,(4,8)):(64,(1,8))>
  // CHECK: "atx.make_fragment_like"(%{{.*}}) <{stages = 2 : i64}> : (!atx.layout<(2,(4,8)):(64,(1,8))>) -> !atx.layout<(2,(4,8),2):(1,(2,8),64)>
  %r11 = atx.make_fragment_like %arg14 {stages = 2 : i64} : !atx.layout<(2,(4,8)):(64,(1,8))>
  // CUSTOM: atx.make_fragment_like %{{.*}} : !atx.view<f32, global, (4,8):(8,1)>
  // CHECK: "atx.make_fragment_like"(%{{.*}}) : (!atx.view<f32, global, (4,8):(8,1)>) -> !atx.layout<(4,8):(1,4)>
  %r12 = atx.make_fragment_like %arg15 : !atx.view<f32, global, (4,8):(8,1)>
  // CUSTOM: atx.make_fragment_like %{{.*}} : !atx.layout<(4,8):(?,1)>
  // CHECK: "atx.make_fragment_like"(%{{.*}}) : (!atx.layout<(4,8):(?,1)>) -> !atx.layout<(4,8):(1,4)>
  %r13 = atx.make_fragment_like %arg16 : !atx.layout<(4,8):(?,1)>
  // CUSTOM: atx.make_composed_layout %{{.*}}, %{{.*}}, %{{.*}} : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<0>, !atx.layout<(8,64):(64,1)>
  // CHECK: "atx.make_composed_layout"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.swizzle<S<3,3,3>>, !atx.int_tuple<0>, !atx.layout<(8,64):(64,1)>) -> !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  %r14 = atx.make_composed_layout %arg17, %arg18, %arg19 : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<0>, !atx.layout<(8,64):(64,1)>
  // CUSTOM: atx.make_composed_layout %{{.*}}, %{{.*}}, %{{.*}} : !atx.swizzle<S<0,0,0>>, !atx.int_tuple<0>, !atx.layout<(8,?):(?,1)>
  // CHECK: "atx.make_composed_layout"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.swizzle<S<0,0,0>>, !atx.int_tuple<0>, !atx.layout<(8,?):(?,1)>) -> !atx.layout<(8,?):(?,1)>
  %r15 = atx.make_composed_layout %arg20, %arg21, %arg22 : !atx.swizzle<S<0,0,0>>, !atx.int_tuple<0>, !atx.layout<(8,?):(?,1)>
  // CUSTOM: atx.make_composed_layout %{{.*}}, %{{.*}}, %{{.*}} : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,64):(64,1)>
  // CHECK: "atx.make_composed_layout"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,64):(64,1)>) -> !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,64):(64,1)>
  %r16 = atx.make_composed_layout %arg23, %arg24, %arg25 : !atx.swizzle<S<3,3,3>>, !atx.int_tuple<?{div=8}>, !atx.layout<(8,64):(64,1)>
  return
}

// CHECK-LABEL: sym_name = "mode_surgery"
// CUSTOM-LABEL: func.func @mode_surgery(
func.func @mode_surgery(%arg0: !atx.layout<(2,(3,4)):(1,(2,6))>,
    %arg1: !atx.int_tuple<(2,(?{div=3},4))>,
    %arg2: !atx.view<bf16, global, (?,64):(64,1), align = 16>,
    %arg3: !atx.layout<(2,3,4):(1,2,6)>,
    %arg4: !atx.int_tuple<(2,?,4)>,
    %arg5: !atx.layout<(2,3,4):(1,2,6)>,
    %arg6: !atx.layout<(?,3):(3,?)>,
    %arg7: !atx.layout<(2,3,4):(1,2,6)>,
    %arg8: !atx.coord_view<(?,0,0), (2,3,4):(1E0,1E1,1E2)>,
    %arg9: !atx.layout<(4,8):(1,4)>,
    %arg10: !atx.layout<2:32>,
    %arg11: !atx.int_tuple<(4,?)>,
    %arg12: !atx.int_tuple<1>,
    %arg13: !atx.layout<(4,8):(1,4)>,
    %arg14: !atx.layout<2:32>,
    %arg15: !atx.int_tuple<(4,?)>,
    %arg16: !atx.int_tuple<?>,
    %arg17: !atx.layout<(4,(8,2)):(1,(4,32))>,
    %arg18: !atx.int_tuple<(0,(*,1))>,
    %arg19: !atx.view<f32, global, (4,8):(8,1)>,
    %arg20: !atx.int_tuple<(?,*)>,
    %arg21: !atx.view<f32, global, (4,8):(8,1), align = 16>,
    %arg22: !atx.int_tuple<(*,4)>,
    %arg23: !atx.coord_view<(?,0), (128,64):(1E0,1E1)>,
    %arg24: !atx.int_tuple<(?,*)>,
    %arg25: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>,
    %arg26: !atx.int_tuple<(3,*)>,
    %arg27: !atx.layout<(4,8):(1,4)>,
    %arg28: !atx.int_tuple<(*,3)>,
    %arg29: !atx.int_tuple<(?,8)>,
    %arg30: !atx.int_tuple<(1,*)>) {
  // CUSTOM: atx.get %{{.*}} {mode = array<i64: 1, 0>} : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CHECK: "atx.get"(%{{.*}}) <{mode = array<i64: 1, 0>}> : (!atx.layout<(2,(3,4)):(1,(2,6))>) -> !atx.layout<3:2>
  %r0 = atx.get %arg0 {mode = array<i64: 1, 0>} : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CUSTOM: atx.get %{{.*}} {mode = array<i64: 1>} : !atx.int_tuple<(2,(?{div=3},4))>
  // CHECK: "atx.get"(%{{.*}}) <{mode = array<i64: 1>}> : (!atx.int_tuple<(2,(?{div=3},4))>) -> !atx.int_tuple<(?{div=3},4)>
  %r1 = atx.get %arg1 {mode = array<i64: 1>} : !atx.int_tuple<(2,(?{div=3},4))>
  // CUSTOM: atx.get %{{.*}} {mode = array<i64: 0>} : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CHECK: "atx.get"(%{{.*}}) <{mode = array<i64: 0>}> : (!atx.view<bf16, global, (?,64):(64,1), align = 16>) -> !atx.view<bf16, global, ?:64, align = 16>
  %r2 = atx.get %arg2 {mode = array<i64: 0>} : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CUSTOM: atx.take %{{.*}} {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
  // CHECK: "atx.take"(%{{.*}}) <{begin = 0 : i64, end = 2 : i64}> : (!atx.layout<(2,3,4):(1,2,6)>) -> !atx.layout<(2,3):(1,2)>
  %r3 = atx.take %arg3 {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
  // CUSTOM: atx.take %{{.*}} {begin = 1 : i64, end = 3 : i64} : !atx.int_tuple<(2,?,4)>
  // CHECK: "atx.take"(%{{.*}}) <{begin = 1 : i64, end = 3 : i64}> : (!atx.int_tuple<(2,?,4)>) -> !atx.int_tuple<(?,4)>
  %r4 = atx.take %arg4 {begin = 1 : i64, end = 3 : i64} : !atx.int_tuple<(2,?,4)>
  // CUSTOM: atx.select %{{.*}} {indices = array<i64: 2, 0>} : !atx.layout<(2,3,4):(1,2,6)>
  // CHECK: "atx.select"(%{{.*}}) <{indices = array<i64: 2, 0>}> : (!atx.layout<(2,3,4):(1,2,6)>) -> !atx.layout<(4,2):(6,1)>
  %r5 = atx.select %arg5 {indices = array<i64: 2, 0>} : !atx.layout<(2,3,4):(1,2,6)>
  // CUSTOM: atx.select %{{.*}} {indices = array<i64: 1, 0>} : !atx.layout<(?,3):(3,?)>
  // CHECK: "atx.select"(%{{.*}}) <{indices = array<i64: 1, 0>}> : (!atx.layout<(?,3):(3,?)>) -> !atx.layout<(3,?):(?,3)>
  %r6 = atx.select %arg6 {indices = array<i64: 1, 0>} : !atx.layout<(?,3):(3,?)>
  // CUSTOM: atx.group %{{.*}} {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
  // CHECK: "atx.group"(%{{.*}}) <{begin = 0 : i64, end = 2 : i64}> : (!atx.layout<(2,3,4):(1,2,6)>) -> !atx.layout<((2,3),4):((1,2),6)>
  %r7 = atx.group %arg7 {begin = 0 : i64, end = 2 : i64} : !atx.layout<(2,3,4):(1,2,6)>
  // CUSTOM: atx.group %{{.*}} {begin = 1 : i64, end = 3 : i64} : !atx.coord_view<(?,0,0), (2,3,4):(1E0,1E1,1E2)>
  // CHECK: "atx.group"(%{{.*}}) <{begin = 1 : i64, end = 3 : i64}> : (!atx.coord_view<(?,0,0), (2,3,4):(1E0,1E1,1E2)>) -> !atx.coord_view<(?,0,0), (2,(3,4)):(1E0,(1E1,1E2))>
  %r8 = atx.group %arg8 {begin = 1 : i64, end = 3 : i64} : !atx.coord_view<(?,0,0), (2,3,4):(1E0,1E1,1E2)>
  // CUSTOM: atx.append %{{.*}}, %{{.*}} : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
  // CHECK: "atx.append"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,8):(1,4)>, !atx.layout<2:32>) -> !atx.layout<(4,8,2):(1,4,32)>
  %r9 = atx.append %arg9, %arg10 : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
  // CUSTOM: atx.append %{{.*}}, %{{.*}} {rank = 4 : i64} : !atx.int_tuple<(4,?)>, !atx.int_tuple<1>
  // CHECK: "atx.append"(%{{.*}}, %{{.*}}) <{rank = 4 : i64}> : (!atx.int_tuple<(4,?)>, !atx.int_tuple<1>) -> !atx.int_tuple<(4,?,1,1)>
  %r10 = atx.append %arg11, %arg12 {rank = 4 : i64} : !atx.int_tuple<(4,?)>, !atx.int_tuple<1>
  // CUSTOM: atx.prepend %{{.*}}, %{{.*}} : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
  // CHECK: "atx.prepend"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,8):(1,4)>, !atx.layout<2:32>) -> !atx.layout<(2,4,8):(32,1,4)>
  %r11 = atx.prepend %arg13, %arg14 : !atx.layout<(4,8):(1,4)>, !atx.layout<2:32>
  // CUSTOM: atx.prepend %{{.*}}, %{{.*}} : !atx.int_tuple<(4,?)>, !atx.int_tuple<?>
  // CHECK: "atx.prepend"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(4,?)>, !atx.int_tuple<?>) -> !atx.int_tuple<(?,4,?)>
  %r12 = atx.prepend %arg15, %arg16 : !atx.int_tuple<(4,?)>, !atx.int_tuple<?>
  // CUSTOM: atx.slice %{{.*}}, %{{.*}} : !atx.layout<(4,(8,2)):(1,(4,32))>, !atx.int_tuple<(0,(*,1))>
  // CHECK: "atx.slice"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,(8,2)):(1,(4,32))>, !atx.int_tuple<(0,(*,1))>) -> !atx.layout<8:4>
  %r13 = atx.slice %arg17, %arg18 : !atx.layout<(4,(8,2)):(1,(4,32))>, !atx.int_tuple<(0,(*,1))>
  // CUSTOM: atx.slice %{{.*}}, %{{.*}} : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,*)>
  // CHECK: "atx.slice"(%{{.*}}, %{{.*}}) : (!atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,*)>) -> !atx.view<f32, global, 8:1>
  %r14 = atx.slice %arg19, %arg20 : !atx.view<f32, global, (4,8):(8,1)>, !atx.int_tuple<(?,*)>
  // CUSTOM: atx.slice %{{.*}}, %{{.*}} : !atx.view<f32, global, (4,8):(8,1), align = 16>, !atx.int_tuple<(*,4)>
  // CHECK: "atx.slice"(%{{.*}}, %{{.*}}) : (!atx.view<f32, global, (4,8):(8,1), align = 16>, !atx.int_tuple<(*,4)>) -> !atx.view<f32, global, 4:8, align = 16>
  %r15 = atx.slice %arg21, %arg22 : !atx.view<f32, global, (4,8):(8,1), align = 16>, !atx.int_tuple<(*,4)>
  // CUSTOM: atx.slice %{{.*}}, %{{.*}} : !atx.coord_view<(?,0), (128,64):(1E0,1E1)>, !atx.int_tuple<(?,*)>
  // CHECK: "atx.slice"(%{{.*}}, %{{.*}}) : (!atx.coord_view<(?,0), (128,64):(1E0,1E1)>, !atx.int_tuple<(?,*)>) -> !atx.coord_view<(?,0), 64:1E1>
  %r16 = atx.slice %arg23, %arg24 : !atx.coord_view<(?,0), (128,64):(1E0,1E1)>, !atx.int_tuple<(?,*)>
  // CUSTOM: atx.slice %{{.*}}, %{{.*}} : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(3,*)>
  // CHECK: "atx.slice"(%{{.*}}, %{{.*}}) : (!atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(3,*)>) -> !atx.composed_layout<S<3,3,3> o 192 o 64:1>
  %r17 = atx.slice %arg25, %arg26 : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(3,*)>
  // CUSTOM: atx.dice %{{.*}}, %{{.*}} : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,3)>
  // CHECK: "atx.dice"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,3)>) -> !atx.layout<8:4>
  %r18 = atx.dice %arg27, %arg28 : !atx.layout<(4,8):(1,4)>, !atx.int_tuple<(*,3)>
  // CUSTOM: atx.dice %{{.*}}, %{{.*}} : !atx.int_tuple<(?,8)>, !atx.int_tuple<(1,*)>
  // CHECK: "atx.dice"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?,8)>, !atx.int_tuple<(1,*)>) -> !atx.int_tuple<?>
  %r19 = atx.dice %arg29, %arg30 : !atx.int_tuple<(?,8)>, !atx.int_tuple<(1,*)>
  return
}

// CHECK-LABEL: sym_name = "measures"
// CUSTOM-LABEL: func.func @measures(
func.func @measures(%arg0: !atx.layout<(65536,65536):(1,65536)>,
    %arg1: !atx.layout<(?{div=4},8):(1,?)>,
    %arg2: !atx.view<f32, global, (4,8):(8,1)>,
    %arg3: !atx.int_tuple<(4,(2,3))>,
    %arg4: !atx.layout<(8,128):(1,16)>,
    %arg5: !atx.layout<(4,?):(1,4)>,
    %arg6: !atx.layout<(4,8):(-1,4)>,
    %arg7: !atx.layout<(4,8):(1E1,2E0)>,
    %arg8: !atx.layout<(?,8):(1E0,1E1)>,
    %arg9: !atx.layout<(4,8):(1E0,1E1)>,
    %arg10: !atx.layout<(?,9):(1,3)>,
    %arg11: !atx.layout<(2,(3,4)):(1,(2,6))>,
    %arg12: !atx.view<f32, global, (?,4):(4,1)>,
    %arg13: !atx.layout<(2,(3,4)):(1,(2,6))>,
    %arg14: !atx.int_tuple<?>,
    %arg15: !atx.layout<(4,8):(1,4)>,
    %arg16: !atx.layout<(4,8):(1,4)>,
    %arg17: !atx.layout<(4,?):(1,4)>,
    %arg18: !atx.view<f32, global, (4,?{div=8}):(1,?)>,
    %arg19: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>,
    %arg20: !atx.layout<(4,8):(1,?)>,
    %arg21: !atx.coord_view<(0,0), (4,8):(1E0,1E1)>,
    %arg22: !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>,
    %arg23: !atx.composed_layout<(?,8):(1,?) o 0 o (8,8):(1E0,1E1)>,
    %arg24: !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>,
    %arg25: !atx.composed_layout<S<3,0,3> o ?{div=8} o (8,8):(8,1)>,
    %arg26: !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>,
    %arg27: !atx.composed_layout<S<3,0,3> o 8 o (8,?):(?,1)>) {
  // CUSTOM: atx.size %{{.*}} : !atx.layout<(65536,65536):(1,65536)>
  // CHECK: "atx.size"(%{{.*}}) : (!atx.layout<(65536,65536):(1,65536)>) -> !atx.int_tuple<4294967296>
  %r0 = atx.size %arg0 : !atx.layout<(65536,65536):(1,65536)>
  // CUSTOM: atx.size %{{.*}} : !atx.layout<(?{div=4},8):(1,?)>
  // CHECK: "atx.size"(%{{.*}}) : (!atx.layout<(?{div=4},8):(1,?)>) -> !atx.int_tuple<?{div=32}>
  %r1 = atx.size %arg1 : !atx.layout<(?{div=4},8):(1,?)>
  // CUSTOM: atx.size %{{.*}} : !atx.view<f32, global, (4,8):(8,1)>
  // CHECK: "atx.size"(%{{.*}}) : (!atx.view<f32, global, (4,8):(8,1)>) -> !atx.int_tuple<32>
  %r2 = atx.size %arg2 : !atx.view<f32, global, (4,8):(8,1)>
  // CUSTOM: atx.size %{{.*}} : !atx.int_tuple<(4,(2,3))>
  // CHECK: "atx.size"(%{{.*}}) : (!atx.int_tuple<(4,(2,3))>) -> !atx.int_tuple<24>
  %r3 = atx.size %arg3 : !atx.int_tuple<(4,(2,3))>
  // CUSTOM: atx.cosize %{{.*}} : !atx.layout<(8,128):(1,16)>
  // CHECK: "atx.cosize"(%{{.*}}) : (!atx.layout<(8,128):(1,16)>) -> !atx.int_tuple<2040>
  %r4 = atx.cosize %arg4 : !atx.layout<(8,128):(1,16)>
  // CUSTOM: atx.cosize %{{.*}} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.cosize"(%{{.*}}) : (!atx.layout<(4,?):(1,4)>) -> !atx.int_tuple<?{div=4}>
  %r5 = atx.cosize %arg5 : !atx.layout<(4,?):(1,4)>
  // CUSTOM: atx.cosize %{{.*}} : !atx.layout<(4,8):(-1,4)>
  // CHECK: "atx.cosize"(%{{.*}}) : (!atx.layout<(4,8):(-1,4)>) -> !atx.int_tuple<32>
  %r6 = atx.cosize %arg6 : !atx.layout<(4,8):(-1,4)>
  // CUSTOM: atx.coshape %{{.*}} : !atx.layout<(4,8):(1E1,2E0)>
  // CHECK: "atx.coshape"(%{{.*}}) : (!atx.layout<(4,8):(1E1,2E0)>) -> !atx.int_tuple<(15,4)>
  %r7 = atx.coshape %arg7 : !atx.layout<(4,8):(1E1,2E0)>
  // CUSTOM: atx.coshape %{{.*}} : !atx.layout<(?,8):(1E0,1E1)>
  // CHECK: "atx.coshape"(%{{.*}}) : (!atx.layout<(?,8):(1E0,1E1)>) -> !atx.int_tuple<(?,8)>
  %r8 = atx.coshape %arg8 : !atx.layout<(?,8):(1E0,1E1)>
  // CUSTOM: atx.coprofile %{{.*}} : !atx.layout<(4,8):(1E0,1E1)>
  // CHECK: "atx.coprofile"(%{{.*}}) : (!atx.layout<(4,8):(1E0,1E1)>) -> !atx.int_tuple<(0,0)>
  %r9 = atx.coprofile %arg9 : !atx.layout<(4,8):(1E0,1E1)>
  // CUSTOM: atx.coprofile %{{.*}} : !atx.layout<(?,9):(1,3)>
  // CHECK: "atx.coprofile"(%{{.*}}) : (!atx.layout<(?,9):(1,3)>) -> !atx.int_tuple<0>
  %r10 = atx.coprofile %arg10 : !atx.layout<(?,9):(1,3)>
  // CUSTOM: atx.rank %{{.*}} : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CHECK: "atx.rank"(%{{.*}}) : (!atx.layout<(2,(3,4)):(1,(2,6))>) -> !atx.int_tuple<2>
  %r11 = atx.rank %arg11 : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CUSTOM: atx.rank %{{.*}} : !atx.view<f32, global, (?,4):(4,1)>
  // CHECK: "atx.rank"(%{{.*}}) : (!atx.view<f32, global, (?,4):(4,1)>) -> !atx.int_tuple<2>
  %r12 = atx.rank %arg12 : !atx.view<f32, global, (?,4):(4,1)>
  // CUSTOM: atx.depth %{{.*}} : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CHECK: "atx.depth"(%{{.*}}) : (!atx.layout<(2,(3,4)):(1,(2,6))>) -> !atx.int_tuple<2>
  %r13 = atx.depth %arg13 : !atx.layout<(2,(3,4)):(1,(2,6))>
  // CUSTOM: atx.depth %{{.*}} : !atx.int_tuple<?>
  // CHECK: "atx.depth"(%{{.*}}) : (!atx.int_tuple<?>) -> !atx.int_tuple<0>
  %r14 = atx.depth %arg14 : !atx.int_tuple<?>
  // CUSTOM: atx.injective %{{.*}} : !atx.layout<(4,8):(1,4)>
  // CHECK: "atx.injective"(%{{.*}}) : (!atx.layout<(4,8):(1,4)>) -> i1
  %r15 = atx.injective %arg15 : !atx.layout<(4,8):(1,4)>
  // CUSTOM: atx.compact %{{.*}} : !atx.layout<(4,8):(1,4)>
  // CHECK: "atx.compact"(%{{.*}}) : (!atx.layout<(4,8):(1,4)>) -> i1
  %r16 = atx.compact %arg16 : !atx.layout<(4,8):(1,4)>
  // CUSTOM: atx.get_shape %{{.*}} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.get_shape"(%{{.*}}) : (!atx.layout<(4,?):(1,4)>) -> !atx.int_tuple<(4,?)>
  %r17 = atx.get_shape %arg17 : !atx.layout<(4,?):(1,4)>
  // CUSTOM: atx.get_shape %{{.*}} : !atx.view<f32, global, (4,?{div=8}):(1,?)>
  // CHECK: "atx.get_shape"(%{{.*}}) : (!atx.view<f32, global, (4,?{div=8}):(1,?)>) -> !atx.int_tuple<(4,?{div=8})>
  %r18 = atx.get_shape %arg18 : !atx.view<f32, global, (4,?{div=8}):(1,?)>
  // CUSTOM: atx.get_shape %{{.*}} : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  // CHECK: "atx.get_shape"(%{{.*}}) : (!atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>) -> !atx.int_tuple<(8,64)>
  %r19 = atx.get_shape %arg19 : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  // CUSTOM: atx.get_stride %{{.*}} : !atx.layout<(4,8):(1,?)>
  // CHECK: "atx.get_stride"(%{{.*}}) : (!atx.layout<(4,8):(1,?)>) -> !atx.int_tuple<(1,?)>
  %r20 = atx.get_stride %arg20 : !atx.layout<(4,8):(1,?)>
  // CUSTOM: atx.get_stride %{{.*}} : !atx.coord_view<(0,0), (4,8):(1E0,1E1)>
  // CHECK: "atx.get_stride"(%{{.*}}) : (!atx.coord_view<(0,0), (4,8):(1E0,1E1)>) -> !atx.int_tuple<(1E0,1E1)>
  %r21 = atx.get_stride %arg21 : !atx.coord_view<(0,0), (4,8):(1E0,1E1)>
  // CUSTOM: atx.composed_inner %{{.*}} : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CHECK: "atx.composed_inner"(%{{.*}}) : (!atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>) -> !atx.swizzle<S<3,0,3>>
  %r22 = atx.composed_inner %arg22 : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CUSTOM: atx.composed_inner %{{.*}} : !atx.composed_layout<(?,8):(1,?) o 0 o (8,8):(1E0,1E1)>
  // CHECK: "atx.composed_inner"(%{{.*}}) : (!atx.composed_layout<(?,8):(1,?) o 0 o (8,8):(1E0,1E1)>) -> !atx.layout<(?,8):(1,?)>
  %r23 = atx.composed_inner %arg23 : !atx.composed_layout<(?,8):(1,?) o 0 o (8,8):(1E0,1E1)>
  // CUSTOM: atx.composed_offset %{{.*}} : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CHECK: "atx.composed_offset"(%{{.*}}) : (!atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>) -> !atx.int_tuple<8>
  %r24 = atx.composed_offset %arg24 : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CUSTOM: atx.composed_offset %{{.*}} : !atx.composed_layout<S<3,0,3> o ?{div=8} o (8,8):(8,1)>
  // CHECK: "atx.composed_offset"(%{{.*}}) : (!atx.composed_layout<S<3,0,3> o ?{div=8} o (8,8):(8,1)>) -> !atx.int_tuple<?{div=8}>
  %r25 = atx.composed_offset %arg25 : !atx.composed_layout<S<3,0,3> o ?{div=8} o (8,8):(8,1)>
  // CUSTOM: atx.composed_outer %{{.*}} : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CHECK: "atx.composed_outer"(%{{.*}}) : (!atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>) -> !atx.layout<(8,8):(8,1)>
  %r26 = atx.composed_outer %arg26 : !atx.composed_layout<S<3,0,3> o 8 o (8,8):(8,1)>
  // CUSTOM: atx.composed_outer %{{.*}} : !atx.composed_layout<S<3,0,3> o 8 o (8,?):(?,1)>
  // CHECK: "atx.composed_outer"(%{{.*}}) : (!atx.composed_layout<S<3,0,3> o 8 o (8,?):(?,1)>) -> !atx.layout<(8,?):(?,1)>
  %r27 = atx.composed_outer %arg27 : !atx.composed_layout<S<3,0,3> o 8 o (8,?):(?,1)>
  return
}

// CHECK-LABEL: sym_name = "coordinates"
// CUSTOM-LABEL: func.func @coordinates(
func.func @coordinates(%arg0: !atx.int_tuple<(2,3)>,
    %arg1: !atx.layout<(4,8):(8,1)>,
    %arg2: !atx.int_tuple<(?{div=2},3)>,
    %arg3: !atx.layout<(4,8):(8,4)>,
    %arg4: !atx.int_tuple<40>,
    %arg5: !atx.layout<(4,8):(1,4)>,
    %arg6: !atx.int_tuple<(2,3)>,
    %arg7: !atx.layout<(4,8):(2E1,3E0)>,
    %arg8: !atx.int_tuple<(1,0)>,
    %arg9: !atx.composed_layout<S<1,0,1> o 0 o (2,2):(2,1)>,
    %arg10: !atx.int_tuple<47>,
    %arg11: !atx.layout<(2,(3,4),2):(1,(2,6),24)>,
    %arg12: !atx.int_tuple<?>,
    %arg13: !atx.layout<(4,8):(1,4)>,
    %arg14: !atx.int_tuple<14>,
    %arg15: !atx.layout<(4,8):(8,1)>,
    %arg16: !atx.int_tuple<?>,
    %arg17: !atx.layout<(4,8):(8,1)>,
    %arg18: !atx.int_tuple<27>,
    %arg19: !atx.layout<((2,4),8):((1,2),8)>,
    %arg20: !atx.int_tuple<?>,
    %arg21: !atx.layout<((2,4),8):((1,2),8)>) {
  // CUSTOM: atx.crd2idx %{{.*}}, %{{.*}} : !atx.int_tuple<(2,3)>, !atx.layout<(4,8):(8,1)>
  // CHECK: "atx.crd2idx"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(2,3)>, !atx.layout<(4,8):(8,1)>) -> !atx.int_tuple<19>
  %r0 = atx.crd2idx %arg0, %arg1 : !atx.int_tuple<(2,3)>, !atx.layout<(4,8):(8,1)>
  // CUSTOM: atx.crd2idx %{{.*}}, %{{.*}} : !atx.int_tuple<(?{div=2},3)>, !atx.layout<(4,8):(8,4)>
  // CHECK: "atx.crd2idx"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(?{div=2},3)>, !atx.layout<(4,8):(8,4)>) -> !atx.int_tuple<?{div=4}>
  %r1 = atx.crd2idx %arg2, %arg3 : !atx.int_tuple<(?{div=2},3)>, !atx.layout<(4,8):(8,4)>
  // CUSTOM: atx.crd2idx %{{.*}}, %{{.*}} : !atx.int_tuple<40>, !atx.layout<(4,8):(1,4)>
  // CHECK: "atx.crd2idx"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<40>, !atx.layout<(4,8):(1,4)>) -> !atx.int_tuple<40>
  %r2 = atx.crd2idx %arg4, %arg5 : !atx.int_tuple<40>, !atx.layout<(4,8):(1,4)>
  // CUSTOM: atx.crd2idx %{{.*}}, %{{.*}} : !atx.int_tuple<(2,3)>, !atx.layout<(4,8):(2E1,3E0)>
  // CHECK: "atx.crd2idx"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(2,3)>, !atx.layout<(4,8):(2E1,3E0)>) -> !atx.int_tuple<(9,4)>
  %r3 = atx.crd2idx %arg6, %arg7 : !atx.int_tuple<(2,3)>, !atx.layout<(4,8):(2E1,3E0)>
  // CUSTOM: atx.crd2idx %{{.*}}, %{{.*}} : !atx.int_tuple<(1,0)>, !atx.composed_layout<S<1,0,1> o 0 o (2,2):(2,1)>
  // CHECK: "atx.crd2idx"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<(1,0)>, !atx.composed_layout<S<1,0,1> o 0 o (2,2):(2,1)>) -> !atx.int_tuple<3>
  %r4 = atx.crd2idx %arg8, %arg9 : !atx.int_tuple<(1,0)>, !atx.composed_layout<S<1,0,1> o 0 o (2,2):(2,1)>
  // CUSTOM: atx.idx2crd %{{.*}}, %{{.*}} : !atx.int_tuple<47>, !atx.layout<(2,(3,4),2):(1,(2,6),24)>
  // CHECK: "atx.idx2crd"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<47>, !atx.layout<(2,(3,4),2):(1,(2,6),24)>) -> !atx.int_tuple<(1,(2,3),1)>
  %r5 = atx.idx2crd %arg10, %arg11 : !atx.int_tuple<47>, !atx.layout<(2,(3,4),2):(1,(2,6),24)>
  // CUSTOM: atx.idx2crd %{{.*}}, %{{.*}} : !atx.int_tuple<?>, !atx.layout<(4,8):(1,4)>
  // CHECK: "atx.idx2crd"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?>, !atx.layout<(4,8):(1,4)>) -> !atx.int_tuple<(?,?)>
  %r6 = atx.idx2crd %arg12, %arg13 : !atx.int_tuple<?>, !atx.layout<(4,8):(1,4)>
  // CUSTOM: atx.get_1d_coord %{{.*}}, %{{.*}} : !atx.int_tuple<14>, !atx.layout<(4,8):(8,1)>
  // CHECK: "atx.get_1d_coord"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<14>, !atx.layout<(4,8):(8,1)>) -> !atx.int_tuple<25>
  %r7 = atx.get_1d_coord %arg14, %arg15 : !atx.int_tuple<14>, !atx.layout<(4,8):(8,1)>
  // CUSTOM: atx.get_1d_coord %{{.*}}, %{{.*}} : !atx.int_tuple<?>, !atx.layout<(4,8):(8,1)>
  // CHECK: "atx.get_1d_coord"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?>, !atx.layout<(4,8):(8,1)>) -> !atx.int_tuple<?>
  %r8 = atx.get_1d_coord %arg16, %arg17 : !atx.int_tuple<?>, !atx.layout<(4,8):(8,1)>
  // CUSTOM: atx.get_flat_coord %{{.*}}, %{{.*}} : !atx.int_tuple<27>, !atx.layout<((2,4),8):((1,2),8)>
  // CHECK: "atx.get_flat_coord"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<27>, !atx.layout<((2,4),8):((1,2),8)>) -> !atx.int_tuple<(3,3)>
  %r9 = atx.get_flat_coord %arg18, %arg19 : !atx.int_tuple<27>, !atx.layout<((2,4),8):((1,2),8)>
  // CUSTOM: atx.get_flat_coord %{{.*}}, %{{.*}} : !atx.int_tuple<?>, !atx.layout<((2,4),8):((1,2),8)>
  // CHECK: "atx.get_flat_coord"(%{{.*}}, %{{.*}}) : (!atx.int_tuple<?>, !atx.layout<((2,4),8):((1,2),8)>) -> !atx.int_tuple<(?,?)>
  %r10 = atx.get_flat_coord %arg20, %arg21 : !atx.int_tuple<?>, !atx.layout<((2,4),8):((1,2),8)>
  return
}

// CHECK-LABEL: sym_name = "algebra"
// CUSTOM-LABEL: func.func @algebra(
func.func @algebra(%arg0: !atx.layout<(2,(1,6)):(1,(6,2))>,
    %arg1: !atx.layout<(4,?):(1,4)>,
    %arg2: !atx.layout<(?,?):(1,?)>,
    %arg3: !atx.layout<((2,2),(2,2)):((1,2),(4,8))>,
    %arg4: !atx.int_tuple<(1,1)>,
    %arg5: !atx.view<f32, global, (2,4):(1,2)>,
    %arg6: !atx.layout<(4,8,1):(0,1,7)>,
    %arg7: !atx.layout<(?,8):(0,1)>,
    %arg8: !atx.layout<(6,9):(19,69)>,
    %arg9: !atx.layout<(6,3):(3,1)>,
    %arg10: !atx.layout<(?,?):(?,1)>,
    %arg11: !atx.tile<[4|8]>,
    %arg12: !atx.view<f32, global, (4,8):(8,1)>,
    %arg13: !atx.layout<4:8>,
    %arg14: !atx.layout<(4,8):(8,1)>,
    %arg15: !atx.int_tuple<4>,
    %arg16: !atx.swizzle<S<3,3,3>>,
    %arg17: !atx.layout<(8,64):(64,1)>,
    %arg18: !atx.layout<20:2>,
    %arg19: !atx.layout<(5,4):(4,1)>,
    %arg20: !atx.layout<(2,2):(1,6)>,
    %arg21: !atx.int_tuple<24>,
    %arg22: !atx.layout<4:1>,
    %arg23: !atx.int_tuple<?{div=4}>,
    %arg24: !atx.layout<4:2>,
    %arg25: !atx.layout<(2,2):(1,6)>,
    %arg26: !atx.int_tuple<24>,
    %arg27: !atx.layout<(2,4):(4,1)>,
    %arg28: !atx.layout<(4,?):(1,4)>,
    %arg29: !atx.layout<(4,2):(1,16)>,
    %arg30: !atx.layout<(4,?):(1,4)>) {
  // CUSTOM: atx.coalesce %{{.*}} : !atx.layout<(2,(1,6)):(1,(6,2))>
  // CHECK: "atx.coalesce"(%{{.*}}) : (!atx.layout<(2,(1,6)):(1,(6,2))>) -> !atx.layout<12:1>
  %r0 = atx.coalesce %arg0 : !atx.layout<(2,(1,6)):(1,(6,2))>
  // CUSTOM: atx.coalesce %{{.*}} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.coalesce"(%{{.*}}) : (!atx.layout<(4,?):(1,4)>) -> !atx.layout<?{div=4}:1>
  %r1 = atx.coalesce %arg1 : !atx.layout<(4,?):(1,4)>
  // CUSTOM: atx.coalesce %{{.*}} : !atx.layout<(?,?):(1,?)>
  // CHECK: "atx.coalesce"(%{{.*}}) : (!atx.layout<(?,?):(1,?)>) -> !atx.layout<(?,?):(1,?)>
  %r2 = atx.coalesce %arg2 : !atx.layout<(?,?):(1,?)>
  // CUSTOM: atx.coalesce %{{.*}}, %{{.*}} : !atx.layout<((2,2),(2,2)):((1,2),(4,8))>, !atx.int_tuple<(1,1)>
  // CHECK: "atx.coalesce"(%{{.*}}, %{{.*}}) : (!atx.layout<((2,2),(2,2)):((1,2),(4,8))>, !atx.int_tuple<(1,1)>) -> !atx.layout<(4,4):(1,4)>
  %r3 = atx.coalesce %arg3, %arg4 : !atx.layout<((2,2),(2,2)):((1,2),(4,8))>, !atx.int_tuple<(1,1)>
  // CUSTOM: atx.coalesce %{{.*}} : !atx.view<f32, global, (2,4):(1,2)>
  // CHECK: "atx.coalesce"(%{{.*}}) : (!atx.view<f32, global, (2,4):(1,2)>) -> !atx.view<f32, global, 8:1>
  %r4 = atx.coalesce %arg5 : !atx.view<f32, global, (2,4):(1,2)>
  // CUSTOM: atx.filter %{{.*}} : !atx.layout<(4,8,1):(0,1,7)>
  // CHECK: "atx.filter"(%{{.*}}) : (!atx.layout<(4,8,1):(0,1,7)>) -> !atx.layout<8:1>
  %r5 = atx.filter %arg6 : !atx.layout<(4,8,1):(0,1,7)>
  // CUSTOM: atx.filter %{{.*}} : !atx.layout<(?,8):(0,1)>
  // CHECK: "atx.filter"(%{{.*}}) : (!atx.layout<(?,8):(0,1)>) -> !atx.layout<8:1>
  %r6 = atx.filter %arg7 : !atx.layout<(?,8):(0,1)>
  // CUSTOM: atx.composition %{{.*}}, %{{.*}} : !atx.layout<(6,9):(19,69)>, !atx.layout<(6,3):(3,1)>
  // CHECK: "atx.composition"(%{{.*}}, %{{.*}}) : (!atx.layout<(6,9):(19,69)>, !atx.layout<(6,3):(3,1)>) -> !atx.layout<((2,3),3):((57,69),19)>
  %r7 = atx.composition %arg8, %arg9 : !atx.layout<(6,9):(19,69)>, !atx.layout<(6,3):(3,1)>
  // CUSTOM: atx.composition %{{.*}}, %{{.*}} : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.composition"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>) -> !atx.layout<(4,8):(?,1)>
  %r8 = atx.composition %arg10, %arg11 : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.composition %{{.*}}, %{{.*}} : !atx.view<f32, global, (4,8):(8,1)>, !atx.layout<4:8>
  // CHECK: "atx.composition"(%{{.*}}, %{{.*}}) : (!atx.view<f32, global, (4,8):(8,1)>, !atx.layout<4:8>) -> !atx.view<f32, global, 4:2>
  %r9 = atx.composition %arg12, %arg13 : !atx.view<f32, global, (4,8):(8,1)>, !atx.layout<4:8>
  // CUSTOM: atx.composition %{{.*}}, %{{.*}} : !atx.layout<(4,8):(8,1)>, !atx.int_tuple<4>
  // CHECK: "atx.composition"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,8):(8,1)>, !atx.int_tuple<4>) -> !atx.layout<4:8>
  %r10 = atx.composition %arg14, %arg15 : !atx.layout<(4,8):(8,1)>, !atx.int_tuple<4>
  // CUSTOM: atx.composition %{{.*}}, %{{.*}} : !atx.swizzle<S<3,3,3>>, !atx.layout<(8,64):(64,1)>
  // CHECK: "atx.composition"(%{{.*}}, %{{.*}}) : (!atx.swizzle<S<3,3,3>>, !atx.layout<(8,64):(64,1)>) -> !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  %r11 = atx.composition %arg16, %arg17 : !atx.swizzle<S<3,3,3>>, !atx.layout<(8,64):(64,1)>
  // CUSTOM: atx.composition_exact %{{.*}}, %{{.*}} : !atx.layout<20:2>, !atx.layout<(5,4):(4,1)>
  // CHECK: "atx.composition_exact"(%{{.*}}, %{{.*}}) : (!atx.layout<20:2>, !atx.layout<(5,4):(4,1)>) -> i1
  %r12 = atx.composition_exact %arg18, %arg19 : !atx.layout<20:2>, !atx.layout<(5,4):(4,1)>
  // CUSTOM: atx.complement %{{.*}}, %{{.*}} : !atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>
  // CHECK: "atx.complement"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>) -> !atx.layout<(3,2):(2,12)>
  %r13 = atx.complement %arg20, %arg21 : !atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>
  // CUSTOM: atx.complement %{{.*}}, %{{.*}} : !atx.layout<4:1>, !atx.int_tuple<?{div=4}>
  // CHECK: "atx.complement"(%{{.*}}, %{{.*}}) : (!atx.layout<4:1>, !atx.int_tuple<?{div=4}>) -> !atx.layout<?:4>
  %r14 = atx.complement %arg22, %arg23 : !atx.layout<4:1>, !atx.int_tuple<?{div=4}>
  // CUSTOM: atx.complement %{{.*}} : !atx.layout<4:2>
  // CHECK: "atx.complement"(%{{.*}}) : (!atx.layout<4:2>) -> !atx.layout<2:1>
  %r15 = atx.complement %arg24 : !atx.layout<4:2>
  // CUSTOM: atx.complement_exact %{{.*}}, %{{.*}} : !atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>
  // CHECK: "atx.complement_exact"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>) -> i1
  %r16 = atx.complement_exact %arg25, %arg26 : !atx.layout<(2,2):(1,6)>, !atx.int_tuple<24>
  // CUSTOM: atx.right_inverse %{{.*}} : !atx.layout<(2,4):(4,1)>
  // CHECK: "atx.right_inverse"(%{{.*}}) : (!atx.layout<(2,4):(4,1)>) -> !atx.layout<(4,2):(2,1)>
  %r17 = atx.right_inverse %arg27 : !atx.layout<(2,4):(4,1)>
  // CUSTOM: atx.right_inverse %{{.*}} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.right_inverse"(%{{.*}}) : (!atx.layout<(4,?):(1,4)>) -> !atx.layout<?{div=4}:1>
  %r18 = atx.right_inverse %arg28 : !atx.layout<(4,?):(1,4)>
  // CUSTOM: atx.left_inverse %{{.*}} : !atx.layout<(4,2):(1,16)>
  // CHECK: "atx.left_inverse"(%{{.*}}) : (!atx.layout<(4,2):(1,16)>) -> !atx.layout<(16,2):(1,4)>
  %r19 = atx.left_inverse %arg29 : !atx.layout<(4,2):(1,16)>
  // CUSTOM: atx.left_inverse %{{.*}} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.left_inverse"(%{{.*}}) : (!atx.layout<(4,?):(1,4)>) -> !atx.layout<?{div=4}:1>
  %r20 = atx.left_inverse %arg30 : !atx.layout<(4,?):(1,4)>
  return
}

// CHECK-LABEL: sym_name = "tiling"
// CUSTOM-LABEL: func.func @tiling(
func.func @tiling(%arg0: !atx.layout<(16,32):(32,1)>,
    %arg1: !atx.tile<[4|8]>,
    %arg2: !atx.layout<?:1>,
    %arg3: !atx.layout<4:1>,
    %arg4: !atx.layout<(?,?):(?,1)>,
    %arg5: !atx.tile<[4|8]>,
    %arg6: !atx.layout<(16,32):(32,1)>,
    %arg7: !atx.tile<[4|8]>,
    %arg8: !atx.view<f32, global, (?,64):(64,1)>,
    %arg9: !atx.tile<[16|*]>,
    %arg10: !atx.layout<(16,32):(32,1)>,
    %arg11: !atx.tile<[4|8]>,
    %arg12: !atx.layout<(?,32):(32,1)>,
    %arg13: !atx.tile<[4|8]>,
    %arg14: !atx.layout<(16,32):(32,1)>,
    %arg15: !atx.tile<[4|8]>,
    %arg16: !atx.layout<(?,32):(32,1)>,
    %arg17: !atx.tile<[4|*]>,
    %arg18: !atx.layout<(16,32):(32,1)>,
    %arg19: !atx.tile<[4|8]>,
    %arg20: !atx.layout<(?,32):(32,1)>,
    %arg21: !atx.tile<[4|8]>,
    %arg22: !atx.layout<10:1>,
    %arg23: !atx.int_tuple<4>,
    %arg24: !atx.layout<(2,5):(5,1)>,
    %arg25: !atx.layout<(3,4):(1,3)>,
    %arg26: !atx.layout<(?,8):(8,1)>,
    %arg27: !atx.layout<4:1>,
    %arg28: !atx.layout<(2,5):(5,1)>,
    %arg29: !atx.layout<(3,4):(1,3)>,
    %arg30: !atx.layout<(?,8):(8,1)>,
    %arg31: !atx.layout<(4,2):(1,4)>,
    %arg32: !atx.layout<(2,5):(5,1)>,
    %arg33: !atx.layout<(3,4):(1,3)>,
    %arg34: !atx.layout<(?,8):(8,1)>,
    %arg35: !atx.layout<(4,2):(1,4)>,
    %arg36: !atx.layout<(2,5):(5,1)>,
    %arg37: !atx.layout<(3,4):(1,3)>,
    %arg38: !atx.layout<(?,8):(8,1)>,
    %arg39: !atx.layout<(4,2):(1,4)>,
    %arg40: !atx.layout<(2,5):(5,1)>,
    %arg41: !atx.layout<(3,4):(1,3)>,
    %arg42: !atx.layout<(?,8):(8,1)>,
    %arg43: !atx.layout<(4,2):(1,4)>,
    %arg44: !atx.layout<(2,5):(5,1)>,
    %arg45: !atx.layout<(3,4):(1,3)>,
    %arg46: !atx.layout<(?,8):(8,1)>,
    %arg47: !atx.layout<(4,2):(1,4)>,
    %arg48: !atx.layout<(8,8):(8,1)>,
    %arg49: !atx.int_tuple<(16,64)>,
    %arg50: !atx.int_tuple<(0,1)>,
    %arg51: !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>,
    %arg52: !atx.int_tuple<(32,128)>,
    %arg53: !atx.int_tuple<(1,0)>,
    %arg54: !atx.view<f32, global, (128,64):(64,1)>,
    %arg55: !atx.tile<[32|16]>,
    %arg56: !atx.int_tuple<(?,0)>,
    %arg57: !atx.layout<(128,64):(64,1)>,
    %arg58: !atx.tile<[32|16]>,
    %arg59: !atx.int_tuple<(1,*)>,
    %arg60: !atx.coord_view<(0,0), (128,64):(1E0,1E1)>,
    %arg61: !atx.tile<[32|16]>,
    %arg62: !atx.int_tuple<(?,2)>,
    %arg63: !atx.view<f32, global, (128,64):(64,1)>,
    %arg64: !atx.tile<[32|16]>,
    %arg65: !atx.int_tuple<?>,
    %arg66: !atx.layout<(16,32):(1,16)>,
    %arg67: !atx.layout<8:1>,
    %arg68: !atx.int_tuple<3>) {
  // CUSTOM: atx.logical_divide %{{.*}}, %{{.*}} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.logical_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,4),(8,4)):((32,128),(1,8))>
  %r0 = atx.logical_divide %arg0, %arg1 : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.logical_divide %{{.*}}, %{{.*}} : !atx.layout<?:1>, !atx.layout<4:1>
  // CHECK: "atx.logical_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<?:1>, !atx.layout<4:1>) -> !atx.layout<(4,?):(1,4)>
  %r1 = atx.logical_divide %arg2, %arg3 : !atx.layout<?:1>, !atx.layout<4:1>
  // CUSTOM: atx.logical_divide %{{.*}}, %{{.*}} : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.logical_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,?),(8,?)):((?,?{div=4}),(1,8))>
  %r2 = atx.logical_divide %arg4, %arg5 : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.logical_divide %{{.*}}, %{{.*}} {strict} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.logical_divide"(%{{.*}}, %{{.*}}) <{strict}> : (!atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,4),(8,4)):((32,128),(1,8))>
  %r3 = atx.logical_divide %arg6, %arg7 {strict} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.logical_divide %{{.*}}, %{{.*}} : !atx.view<f32, global, (?,64):(64,1)>, !atx.tile<[16|*]>
  // CHECK: "atx.logical_divide"(%{{.*}}, %{{.*}}) : (!atx.view<f32, global, (?,64):(64,1)>, !atx.tile<[16|*]>) -> !atx.view<f32, global, ((16,?),64):((64,1024),1)>
  %r4 = atx.logical_divide %arg8, %arg9 : !atx.view<f32, global, (?,64):(64,1)>, !atx.tile<[16|*]>
  // CUSTOM: atx.zipped_divide %{{.*}}, %{{.*}} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.zipped_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,8),(4,4)):((32,1),(128,8))>
  %r5 = atx.zipped_divide %arg10, %arg11 : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.zipped_divide %{{.*}}, %{{.*}} : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.zipped_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,8),(?,4)):((32,1),(128,8))>
  %r6 = atx.zipped_divide %arg12, %arg13 : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.tiled_divide %{{.*}}, %{{.*}} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.tiled_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<((4,8),4,4):((32,1),128,8)>
  %r7 = atx.tiled_divide %arg14, %arg15 : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.tiled_divide %{{.*}}, %{{.*}} : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|*]>
  // CHECK: "atx.tiled_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,32):(32,1)>, !atx.tile<[4|*]>) -> !atx.layout<(4,?,32):(32,128,1)>
  %r8 = atx.tiled_divide %arg16, %arg17 : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|*]>
  // CUSTOM: atx.flat_divide %{{.*}}, %{{.*}} : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.flat_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<(4,8,4,4):(32,1,128,8)>
  %r9 = atx.flat_divide %arg18, %arg19 : !atx.layout<(16,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.flat_divide %{{.*}}, %{{.*}} : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>
  // CHECK: "atx.flat_divide"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>) -> !atx.layout<(4,8,?,4):(32,1,128,8)>
  %r10 = atx.flat_divide %arg20, %arg21 : !atx.layout<(?,32):(32,1)>, !atx.tile<[4|8]>
  // CUSTOM: atx.divide_exact %{{.*}}, %{{.*}} : !atx.layout<10:1>, !atx.int_tuple<4>
  // CHECK: "atx.divide_exact"(%{{.*}}, %{{.*}}) : (!atx.layout<10:1>, !atx.int_tuple<4>) -> i1
  %r11 = atx.divide_exact %arg22, %arg23 : !atx.layout<10:1>, !atx.int_tuple<4>
  // CUSTOM: atx.logical_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.logical_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<((2,5),(3,4)):((5,1),(10,30))>
  %r12 = atx.logical_product %arg24, %arg25 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.logical_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<4:1>
  // CHECK: "atx.logical_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<4:1>) -> !atx.layout<((?,8),4):((8,1),?{div=8})>
  %r13 = atx.logical_product %arg26, %arg27 : !atx.layout<(?,8):(8,1)>, !atx.layout<4:1>
  // CUSTOM: atx.zipped_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.zipped_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<((2,5),(3,4)):((5,1),(10,30))>
  %r14 = atx.zipped_product %arg28, %arg29 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.zipped_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CHECK: "atx.zipped_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>) -> !atx.layout<((?,8),(4,2)):((8,1),(?{div=8},?{div=32}))>
  %r15 = atx.zipped_product %arg30, %arg31 : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CUSTOM: atx.tiled_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.tiled_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<((2,5),3,4):((5,1),10,30)>
  %r16 = atx.tiled_product %arg32, %arg33 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.tiled_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CHECK: "atx.tiled_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>) -> !atx.layout<((?,8),4,2):((8,1),?{div=8},?{div=32})>
  %r17 = atx.tiled_product %arg34, %arg35 : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CUSTOM: atx.flat_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.flat_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<(2,5,3,4):(5,1,10,30)>
  %r18 = atx.flat_product %arg36, %arg37 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.flat_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CHECK: "atx.flat_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>) -> !atx.layout<(?,8,4,2):(8,1,?{div=8},?{div=32})>
  %r19 = atx.flat_product %arg38, %arg39 : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CUSTOM: atx.blocked_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.blocked_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<((2,3),(5,4)):((5,10),(1,30))>
  %r20 = atx.blocked_product %arg40, %arg41 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.blocked_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CHECK: "atx.blocked_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>) -> !atx.layout<((?,4),(8,2)):((8,?{div=8}),(1,?{div=32}))>
  %r21 = atx.blocked_product %arg42, %arg43 : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CUSTOM: atx.raked_product %{{.*}}, %{{.*}} : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CHECK: "atx.raked_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>) -> !atx.layout<((3,2),(4,5)):((10,5),(30,1))>
  %r22 = atx.raked_product %arg44, %arg45 : !atx.layout<(2,5):(5,1)>, !atx.layout<(3,4):(1,3)>
  // CUSTOM: atx.raked_product %{{.*}}, %{{.*}} : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CHECK: "atx.raked_product"(%{{.*}}, %{{.*}}) : (!atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>) -> !atx.layout<((4,?),(2,8)):((?{div=8},8),(?{div=32},1))>
  %r23 = atx.raked_product %arg46, %arg47 : !atx.layout<(?,8):(8,1)>, !atx.layout<(4,2):(1,4)>
  // CUSTOM: atx.tile_to_shape %{{.*}}, %{{.*}}, %{{.*}} : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(0,1)>
  // CHECK: "atx.tile_to_shape"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(0,1)>) -> !atx.layout<((8,2),(8,8)):((8,64),(1,128))>
  %r24 = atx.tile_to_shape %arg48, %arg49, %arg50 : !atx.layout<(8,8):(8,1)>, !atx.int_tuple<(16,64)>, !atx.int_tuple<(0,1)>
  // CUSTOM: atx.tile_to_shape %{{.*}}, %{{.*}}, %{{.*}} : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(32,128)>, !atx.int_tuple<(1,0)>
  // CHECK: "atx.tile_to_shape"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(32,128)>, !atx.int_tuple<(1,0)>) -> !atx.composed_layout<S<3,3,3> o 0 o ((8,4),(64,2)):((64,1024),(1,512))>
  %r25 = atx.tile_to_shape %arg51, %arg52, %arg53 : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>, !atx.int_tuple<(32,128)>, !atx.int_tuple<(1,0)>
  // CUSTOM: atx.local_tile %{{.*}}, %{{.*}}, %{{.*}} : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,0)>
  // CHECK: "atx.local_tile"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,0)>) -> !atx.view<f32, global, (32,16):(64,1)>
  %r26 = atx.local_tile %arg54, %arg55, %arg56 : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,0)>
  // CUSTOM: atx.local_tile %{{.*}}, %{{.*}}, %{{.*}} : !atx.layout<(128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(1,*)>
  // CHECK: "atx.local_tile"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.layout<(128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(1,*)>) -> !atx.composed_layout<1:1 o 2048 o (32,16,4):(64,1,16)>
  %r27 = atx.local_tile %arg57, %arg58, %arg59 : !atx.layout<(128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<(1,*)>
  // CUSTOM: atx.local_tile %{{.*}}, %{{.*}}, %{{.*}} : !atx.coord_view<(0,0), (128,64):(1E0,1E1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,2)>
  // CHECK: "atx.local_tile"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.coord_view<(0,0), (128,64):(1E0,1E1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,2)>) -> !atx.coord_view<(?{div=32},32), (32,16):(1E0,1E1)>
  %r28 = atx.local_tile %arg60, %arg61, %arg62 : !atx.coord_view<(0,0), (128,64):(1E0,1E1)>, !atx.tile<[32|16]>, !atx.int_tuple<(?,2)>
  // CUSTOM: atx.local_partition %{{.*}}, %{{.*}}, %{{.*}} : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<?>
  // CHECK: "atx.local_partition"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<?>) -> !atx.view<f32, global, (4,4):(2048,16)>
  %r29 = atx.local_partition %arg63, %arg64, %arg65 : !atx.view<f32, global, (128,64):(64,1)>, !atx.tile<[32|16]>, !atx.int_tuple<?>
  // CUSTOM: atx.local_partition %{{.*}}, %{{.*}}, %{{.*}} : !atx.layout<(16,32):(1,16)>, !atx.layout<8:1>, !atx.int_tuple<3>
  // CHECK: "atx.local_partition"(%{{.*}}, %{{.*}}, %{{.*}}) : (!atx.layout<(16,32):(1,16)>, !atx.layout<8:1>, !atx.int_tuple<3>) -> !atx.composed_layout<1:1 o 3 o 64:8>
  %r30 = atx.local_partition %arg66, %arg67, %arg68 : !atx.layout<(16,32):(1,16)>, !atx.layout<8:1>, !atx.int_tuple<3>
  return
}

// CHECK-LABEL: sym_name = "vectors"
// CUSTOM-LABEL: func.func @vectors(
func.func @vectors(%arg0: !atx.layout<(4,8):(8,1)>,
    %arg1: !atx.layout<(4,?):(1,4)>,
    %arg2: !atx.layout<(4,16):(16,1)>,
    %arg3: !atx.layout<(4,16):(32,1)>,
    %arg4: !atx.layout<(4,?):(1,4)>,
    %arg5: !atx.layout<(4,?):(1,8)>,
    %arg6: !atx.layout<(8,8):(1,?{div=4})>,
    %arg7: !atx.layout<(8,8):(1,16)>,
    %arg8: !atx.layout<(128,64):(64,1)>,
    %arg9: !atx.layout<(128,64):(64,1)>,
    %arg10: !atx.layout<(8,?):(1,?)>,
    %arg11: !atx.layout<(8,?):(1,8)>,
    %arg12: !atx.layout<(32,8):(8,1)>,
    %arg13: !atx.layout<(1,4):(0,1)>,
    %arg14: !atx.layout<8:1>,
    %arg15: !atx.layout<4:1>,
    %arg16: !atx.layout<(32,8):(8,1)>,
    %arg17: !atx.layout<(1,4):(0,1)>,
    %arg18: !atx.layout<8:1>,
    %arg19: !atx.layout<4:1>) {
  // CUSTOM: atx.recast %{{.*}} {from = 16 : i64, to = 8 : i64} : !atx.layout<(4,8):(8,1)>
  // CHECK: "atx.recast"(%{{.*}}) <{from = 16 : i64, to = 8 : i64}> : (!atx.layout<(4,8):(8,1)>) -> !atx.layout<(4,16):(16,1)>
  %r0 = atx.recast %arg0 {from = 16 : i64, to = 8 : i64} : !atx.layout<(4,8):(8,1)>
  // CUSTOM: atx.recast %{{.*}} {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,?):(1,4)>
  // CHECK: "atx.recast"(%{{.*}}) <{from = 16 : i64, to = 32 : i64}> : (!atx.layout<(4,?):(1,4)>) -> !atx.layout<(2,?):(1,2)>
  %r1 = atx.recast %arg1 {from = 16 : i64, to = 32 : i64} : !atx.layout<(4,?):(1,4)>
  // CUSTOM: atx.max_common_vector %{{.*}}, %{{.*}} : !atx.layout<(4,16):(16,1)>, !atx.layout<(4,16):(32,1)>
  // CHECK: "atx.max_common_vector"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,16):(16,1)>, !atx.layout<(4,16):(32,1)>) -> !atx.int_tuple<16>
  %r2 = atx.max_common_vector %arg2, %arg3 : !atx.layout<(4,16):(16,1)>, !atx.layout<(4,16):(32,1)>
  // CUSTOM: atx.max_common_vector %{{.*}}, %{{.*}} : !atx.layout<(4,?):(1,4)>, !atx.layout<(4,?):(1,8)>
  // CHECK: "atx.max_common_vector"(%{{.*}}, %{{.*}}) : (!atx.layout<(4,?):(1,4)>, !atx.layout<(4,?):(1,8)>) -> !atx.int_tuple<4>
  %r3 = atx.max_common_vector %arg4, %arg5 : !atx.layout<(4,?):(1,4)>, !atx.layout<(4,?):(1,8)>
  // CUSTOM: atx.max_alignment %{{.*}} : !atx.layout<(8,8):(1,?{div=4})>
  // CHECK: "atx.max_alignment"(%{{.*}}) : (!atx.layout<(8,8):(1,?{div=4})>) -> !atx.int_tuple<4>
  %r4 = atx.max_alignment %arg6 : !atx.layout<(8,8):(1,?{div=4})>
  // CUSTOM: atx.max_alignment %{{.*}} : !atx.layout<(8,8):(1,16)>
  // CHECK: "atx.max_alignment"(%{{.*}}) : (!atx.layout<(8,8):(1,16)>) -> !atx.int_tuple<8>
  %r5 = atx.max_alignment %arg7 : !atx.layout<(8,8):(1,16)>
  // CUSTOM: atx.vector_width %{{.*}}, %{{.*}} {bits = 16 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 8 : i64} : !atx.layout<(128,64):(64,1)>, !atx.layout<(128,64):(64,1)>
  // CHECK: "atx.vector_width"(%{{.*}}, %{{.*}}) <{bits = 16 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 8 : i64}> : (!atx.layout<(128,64):(64,1)>, !atx.layout<(128,64):(64,1)>) -> !atx.int_tuple<4>
  %r6 = atx.vector_width %arg8, %arg9 {bits = 16 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 8 : i64} : !atx.layout<(128,64):(64,1)>, !atx.layout<(128,64):(64,1)>
  // CUSTOM: atx.vector_width %{{.*}}, %{{.*}} {bits = 32 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 16 : i64} : !atx.layout<(8,?):(1,?)>, !atx.layout<(8,?):(1,8)>
  // CHECK: "atx.vector_width"(%{{.*}}, %{{.*}}) <{bits = 32 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 16 : i64}> : (!atx.layout<(8,?):(1,?)>, !atx.layout<(8,?):(1,8)>) -> !atx.int_tuple<1>
  %r7 = atx.vector_width %arg10, %arg11 {bits = 32 : i64, dst_align = 16 : i64, max_bits = 128 : i64, src_align = 16 : i64} : !atx.layout<(8,?):(1,?)>, !atx.layout<(8,?):(1,8)>
  // CUSTOM: atx.make_layout_tv %{{.*}}, %{{.*}} : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
  // CHECK: "atx.make_layout_tv"(%{{.*}}, %{{.*}}) : (!atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>) -> !atx.layout<((8,32),4):((128,1),32)>
  %r8 = atx.make_layout_tv %arg12, %arg13 : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
  // CUSTOM: atx.make_layout_tv %{{.*}}, %{{.*}} : !atx.layout<8:1>, !atx.layout<4:1>
  // CHECK: "atx.make_layout_tv"(%{{.*}}, %{{.*}}) : (!atx.layout<8:1>, !atx.layout<4:1>) -> !atx.layout<(8,4):(4,1)>
  %r9 = atx.make_layout_tv %arg14, %arg15 : !atx.layout<8:1>, !atx.layout<4:1>
  // CUSTOM: atx.tv_tile %{{.*}}, %{{.*}} : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
  // CHECK: "atx.tv_tile"(%{{.*}}, %{{.*}}) : (!atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>) -> !atx.int_tuple<(32,32)>
  %r10 = atx.tv_tile %arg16, %arg17 : !atx.layout<(32,8):(8,1)>, !atx.layout<(1,4):(0,1)>
  // CUSTOM: atx.tv_tile %{{.*}}, %{{.*}} : !atx.layout<8:1>, !atx.layout<4:1>
  // CHECK: "atx.tv_tile"(%{{.*}}, %{{.*}}) : (!atx.layout<8:1>, !atx.layout<4:1>) -> !atx.int_tuple<32>
  %r11 = atx.tv_tile %arg18, %arg19 : !atx.layout<8:1>, !atx.layout<4:1>
  return
}
