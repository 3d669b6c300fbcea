// Constants, views, fragments, copies and matrix products: custom and generic
// form are read back, inferred types are those of the generic form.
//
// RUN: atrex-opt %s | FileCheck %s --check-prefix=CUSTOM
// RUN: atrex-opt %s | atrex-opt | FileCheck %s --check-prefix=CUSTOM
// RUN: atrex-opt %s --mlir-print-op-generic | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt --mlir-print-op-generic | FileCheck %s
// RUN: atrex-opt %s --mlir-print-op-generic | atrex-opt | FileCheck %s --check-prefix=CUSTOM
// RUN: atrex-opt %s -emit-bytecode | atrex-opt | FileCheck %s --check-prefix=CUSTOM

#tiled = #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>
#fma = #atx.tiled_mma<#atx.universal_fma<f32>, (16,16,1):(1,16,0)>

// CUSTOM-LABEL: func.func @constants
// CHECK-LABEL: sym_name = "constants"
func.func @constants(%m: index, %n: i64, %k: i32, %t: !atx.int_tuple<?{div=8}>) {
  // CUSTOM: atx.static : !atx.int_tuple<(1,(2E1,*))>
  // CHECK: "atx.static"() : () -> !atx.int_tuple<(1,(2E1,*))>
  %0 = atx.static : !atx.int_tuple<(1,(2E1,*))>
  // CUSTOM: atx.static : !atx.layout<(4,8):(1,4)>
  %1 = atx.static : !atx.layout<(4,8):(1,4)>
  // CUSTOM: atx.static : !atx.swizzle<CS<3,0,[0],3,[1]>>
  %2 = atx.static : !atx.swizzle<CS<3,0,[0],3,[1]>>
  // CUSTOM: atx.static : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  %3 = atx.static : !atx.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  // CUSTOM: atx.static : !atx.tile<[128|64:2|*]>
  %4 = atx.static : !atx.tile<[128|64:2|*]>
  // CUSTOM: atx.static : !atx.coord_view<(0,32), (4,8):(1E0,1E1)>
  %5 = atx.static : !atx.coord_view<(0,32), (4,8):(1E0,1E1)>
  // CUSTOM: atx.make %{{.*}}, %{{.*}} : index, i64 -> !atx.layout<(128,?):(?{div=8},1)>
  // CHECK: "atx.make"(%{{.*}}, %{{.*}}) : (index, i64) -> !atx.layout<(128,?):(?{div=8},1)>
  %6 = atx.make %m, %n : index, i64 -> !atx.layout<(128,?):(?{div=8},1)>
  // CUSTOM: atx.make %{{.*}} : i32 -> !atx.int_tuple<?{div=4}> {checked}
  // CHECK: "atx.make"(%{{.*}}) <{checked}> : (i32) -> !atx.int_tuple<?{div=4}>
  %7 = atx.make %k : i32 -> !atx.int_tuple<?{div=4}> {checked}
  // CUSTOM: atx.make -> !atx.tile<[4]>
  // CHECK: "atx.make"() : () -> !atx.tile<[4]>
  %8 = atx.make -> !atx.tile<[4]>
  // CUSTOM: atx.make %{{.*}}, %{{.*}} : index, index -> !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,?):(64,1)>
  %9 = atx.make %m, %m : index, index -> !atx.composed_layout<S<3,3,3> o ?{div=8} o (8,?):(64,1)>
  // CUSTOM: atx.get_scalar %{{.*}} : !atx.int_tuple<?{div=8}>
  // CHECK: "atx.get_scalar"(%{{.*}}) : (!atx.int_tuple<?{div=8}>) -> index
  %10 = atx.get_scalar %t : !atx.int_tuple<?{div=8}>
  return
}

// CUSTOM-LABEL: func.func @views
// CHECK-LABEL: sym_name = "views"
func.func @views(%a: !llvm.ptr<1>, %b: !llvm.ptr<8>, %s: !llvm.ptr<3>, %g: !llvm.ptr, %l: !atx.layout<(?,64):(64,1)>,
                 %o: !atx.int_tuple<?{div=8}>, %c: !atx.int_tuple<(?,3)>, %sh: !atx.int_tuple<(?,(4,2))>) {
  // CUSTOM: atx.make_ptr %{{.*}} : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
  // CHECK: "atx.make_ptr"(%{{.*}}) : (!llvm.ptr<1>) -> !atx.ptr<bf16, global, align = 16>
  %p = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<bf16, global, align = 16>
  // CUSTOM: atx.make_ptr %{{.*}} : !llvm.ptr<8> -> !atx.ptr<f8E4M3FN, buffer>
  %p1 = atx.make_ptr %b : !llvm.ptr<8> -> !atx.ptr<f8E4M3FN, buffer>
  // CUSTOM: atx.make_ptr %{{.*}} : !llvm.ptr<3> -> !atx.ptr<f32, shared, align = 1024, swizzle = S<3,4,3>>
  %p2 = atx.make_ptr %s : !llvm.ptr<3> -> !atx.ptr<f32, shared, swizzle = S<3,4,3>, align = 1024>
  // CUSTOM: atx.make_ptr %{{.*}} : !llvm.ptr -> !atx.ptr<i64, generic>
  %p3 = atx.make_ptr %g : !llvm.ptr -> !atx.ptr<i64, generic, align = 1>
  // CUSTOM: atx.alloc_shared : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  // CHECK: "atx.alloc_shared"() : () -> !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  %al = atx.alloc_shared : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  // CUSTOM: atx.make_view %{{.*}}, %{{.*}} : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?,64):(64,1)>
  // CHECK: "atx.make_view"(%{{.*}}) : {{.*}} -> !atx.view<bf16, global, (?,64):(64,1), align = 16>
  %v = atx.make_view %p, %l : !atx.ptr<bf16, global, align = 16>, !atx.layout<(?,64):(64,1)>
  // CUSTOM: atx.make_coord_view %{{.*}} : !atx.int_tuple<(?,(4,2))>
  // CHECK: "atx.make_coord_view"(%{{.*}}) : (!atx.int_tuple<(?,(4,2))>) -> !atx.coord_view<(0,(0,0)), (?,(4,2)):(1E0,(1E1E0,1E1E1))>
  %cv = atx.make_coord_view %sh : !atx.int_tuple<(?,(4,2))>
  // CUSTOM: atx.get_layout %{{.*}} : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CHECK: "atx.get_layout"(%{{.*}}) : {{.*}} -> !atx.layout<(?,64):(64,1)>
  %gl = atx.get_layout %v : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CHECK: "atx.get_layout"(%{{.*}}) : {{.*}} -> !atx.layout<(?,(4,2)):(1E0,(1E1E0,1E1E1))>
  %gc = atx.get_layout %cv : !atx.coord_view<(0,(0,0)), (?,(4,2)):(1E0,(1E1E0,1E1E1))>
  // CUSTOM: atx.get_ptr %{{.*}} : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CHECK: "atx.get_ptr"(%{{.*}}) : {{.*}} -> !atx.ptr<bf16, global, align = 16>
  %gp = atx.get_ptr %v : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // Eight elements of two bytes leave 16; two leave 4.
  // CUSTOM: atx.add_offset %{{.*}}, %{{.*}} : !atx.ptr<bf16, global, align = 16>, !atx.int_tuple<?{div=8}>
  // CHECK: "atx.add_offset"(%{{.*}}) : {{.*}} -> !atx.ptr<bf16, global, align = 16>
  %q = atx.add_offset %p, %o : !atx.ptr<bf16, global, align = 16>, !atx.int_tuple<?{div=8}>
  %two = atx.static : !atx.int_tuple<-2>
  // CHECK: "atx.add_offset"(%{{.*}}) : {{.*}} -> !atx.ptr<bf16, global, align = 4>
  %q2 = atx.add_offset %p, %two : !atx.ptr<bf16, global, align = 16>, !atx.int_tuple<-2>
  // The byte swizzle stays.
  // CUSTOM: atx.recast_view %{{.*}} to f32 : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  // CHECK: "atx.recast_view"(%{{.*}}) <{elementType = f32}> : {{.*}} -> !atx.view<f32, shared, (128,32):(32,1), align = 1024, swizzle = S<3,4,3>>
  %rv = atx.recast_view %al to f32 : !atx.view<bf16, shared, (128,64):(64,1), align = 1024, swizzle = S<3,4,3>>
  // CHECK: "atx.recast_view"(%{{.*}}) <{elementType = i8}> : {{.*}} -> !atx.view<i8, global, (?,128):(128,1), align = 16>
  %rb = atx.recast_view %v to i8 : !atx.view<bf16, global, (?,64):(64,1), align = 16>
  // CUSTOM: atx.load %{{.*}}[%{{.*}}] : !atx.view<bf16, global, (?,64):(64,1), align = 16>, !atx.int_tuple<(?,3)>
  // CHECK: "atx.load"(%{{.*}}, %{{.*}}) : {{.*}} -> bf16
  %x = atx.load %v[%c] : !atx.view<bf16, global, (?,64):(64,1), align = 16>, !atx.int_tuple<(?,3)>
  // CUSTOM: atx.store %{{.*}}, %{{.*}}[%{{.*}}] : bf16, !atx.view<bf16, global, (?,64):(64,1), align = 16>, !atx.int_tuple<(?,3)>
  // CHECK: "atx.store"(%{{.*}}, %{{.*}}, %{{.*}}) : (bf16, {{.*}}) -> ()
  atx.store %x, %v[%c] : bf16, !atx.view<bf16, global, (?,64):(64,1), align = 16>, !atx.int_tuple<(?,3)>
  return
}

// CUSTOM-LABEL: func.func @partitions
// CHECK-LABEL: sym_name = "partitions"
func.func @partitions(%v: !atx.view<bf16, global, (128,64):(64,1), align = 16>, %d: !atx.view<bf16, global, (?{div=32},64):(?{div=8},1), align = 16>,
                      %c: !atx.coord_view<(0,0), (128,64):(1E0,1E1)>, %m: !atx.view<f32, shared, (64,32):(32,1)>, %t: !atx.int_tuple<?>,
                      %n: !atx.int_tuple<9>) {
  // CUSTOM: atx.partition_copy %{{.*}}, %{{.*}} by <#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)> : !atx.view<bf16, global, (128,64):(64,1), align = 16>, !atx.int_tuple<?>
  // CHECK: "atx.partition_copy"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.view<bf16, global, ((8,1),4,1):((1,0),2048,0), align = 16>
  %0 = atx.partition_copy %v, %t by #tiled : !atx.view<bf16, global, (128,64):(64,1), align = 16>, !atx.int_tuple<?>
  // CHECK: "atx.partition_copy"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.view<bf16, global, ((8,1),?,1):((1,0),?{div=256},0), align = 16>
  %1 = atx.partition_copy %d, %t by #tiled : !atx.view<bf16, global, (?{div=32},64):(?{div=8},1), align = 16>, !atx.int_tuple<?>
  // The coordinates of the same elements: thread 9 has row 1, columns 8 to 15.
  // CHECK: "atx.partition_copy"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.coord_view<(1,8), ((8,1),4,1):((1E1,0),32E0,0)>
  %2 = atx.partition_copy %c, %n by #tiled : !atx.coord_view<(0,0), (128,64):(1E0,1E1)>, !atx.int_tuple<9>
  // CUSTOM: atx.partition_mma a %{{.*}}, %{{.*}} by <#atx.universal_fma<f32>, (16,16,1):(1,16,0)> : !atx.view<f32, shared, (64,32):(32,1)>, !atx.int_tuple<?>
  // CHECK: "atx.partition_mma"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.view<f32, shared, (1,4,32):(0,512,1)>
  %3 = atx.partition_mma a %m, %t by #fma : !atx.view<f32, shared, (64,32):(32,1)>, !atx.int_tuple<?>
  // CUSTOM: atx.partition_mma b
  // CHECK: "atx.partition_mma"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.view<f32, shared, (1,4,32):(0,512,1)>
  %4 = atx.partition_mma b %m, %t by #fma : !atx.view<f32, shared, (64,32):(32,1)>, !atx.int_tuple<?>
  // CUSTOM: atx.partition_mma c
  // CHECK: "atx.partition_mma"(%{{.*}}, %{{.*}}) {{.*}} -> !atx.view<f32, shared, (1,4,2):(0,512,16)>
  %5 = atx.partition_mma c %m, %t by #fma : !atx.view<f32, shared, (64,32):(32,1)>, !atx.int_tuple<?>
  return
}

// CUSTOM-LABEL: func.func @fragments
// CHECK-LABEL: sym_name = "fragments"
func.func @fragments(%x: f32, %w: vector<8xf32>, %i: vector<16xi4>) {
  // CUSTOM: atx.splat %{{.*}} : f32 -> !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
  // CHECK: "atx.splat"(%{{.*}}) : (f32) -> !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
  %0 = atx.splat %x : f32 -> !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
  // CUSTOM: atx.to_vector %{{.*}} : !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
  // CHECK: "atx.to_vector"(%{{.*}}) : {{.*}} -> vector<16xf32>
  %1 = atx.to_vector %0 : !atx.fragment<f32, ((4,1),2,2):((1,0),4,8), chunk = 4>
  // CUSTOM: atx.from_vector %{{.*}} : vector<8xf32> -> !atx.fragment<f32, (4,2):(2,1), chunk = 2>
  // CHECK: "atx.from_vector"(%{{.*}}) : (vector<8xf32>) -> !atx.fragment<f32, (4,2):(2,1), chunk = 2>
  %2 = atx.from_vector %w : vector<8xf32> -> !atx.fragment<f32, (4,2):(2,1), chunk = 2>
  // Elements below a byte live in registers.
  // CUSTOM: atx.retile %{{.*}} : !atx.fragment<f32, (4,2):(2,1), chunk = 2> -> !atx.fragment<f32, 8:1, chunk = 8>
  // CHECK: "atx.retile"(%{{.*}}) : (!atx.fragment<f32, (4,2):(2,1), chunk = 2>) -> !atx.fragment<f32, 8:1, chunk = 8>
  %r = atx.retile %2 : !atx.fragment<f32, (4,2):(2,1), chunk = 2> -> !atx.fragment<f32, 8:1, chunk = 8>
  // CUSTOM: atx.from_vector %{{.*}} : vector<16xi4> -> !atx.fragment<i4, 16:1, chunk = 8>
  %3 = atx.from_vector %i : vector<16xi4> -> !atx.fragment<i4, 16:1, chunk = 8>
  return
}

!g = !atx.view<bf16, global, ((8,1),4,1):((1,0),2048,0), align = 16>
!s = !atx.view<bf16, shared, ((8,1),4,1):((1,0),2048,0), align = 16, swizzle = S<3,4,3>>
!f = !atx.fragment<bf16, ((8,1),4,1):((1,0),8,0), chunk = 8>
!c = !atx.coord_view<(?,?), ((8,1),4,1):((1E1,0),32E0,0)>

// CUSTOM-LABEL: func.func @copies
// CHECK-LABEL: sym_name = "copies"
func.func @copies(%g: !g, %s: !s, %c: !c, %n: !atx.int_tuple<(?,64)>) {
  // CUSTOM: atx.copy #atx.tiled_copy<#atx.universal_copy<128>, ((8,32),8):((256,1),32), (32,64)>, %{{.*}} : !atx.view<bf16, global, ((8,1),4,1):((1,0),2048,0), align = 16> -> !atx.fragment<bf16, ((8,1),4,1):((1,0),8,0), chunk = 8>
  // CHECK: "atx.copy"(%{{.*}}) <{atom = #atx.tiled_copy<{{.*}}>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
  %f = atx.copy #tiled, %g : !g -> !f
  // CUSTOM: atx.copy #atx.universal_copy<128>, %{{.*}} to %{{.*}} : !atx.fragment<{{.*}}>, !atx.view<bf16, shared, {{.*}}>
  // CHECK: operandSegmentSizes = array<i32: 1, 1, 0, 0>
  atx.copy #atx.universal_copy<128>, %f to %s : !f, !s
  // Through registers.
  // CUSTOM: atx.copy #atx.universal_copy<64>, %{{.*}} to %{{.*}} : !atx.view<bf16, global, {{.*}}>, !atx.view<bf16, shared, {{.*}}>
  atx.copy #atx.universal_copy<64>, %g to %s : !g, !s
  // CUSTOM: atx.copy #atx.universal_copy<128>, %{{.*}} where %{{.*}} less %{{.*}} : !atx.view<bf16, global, {{.*}}> where !atx.coord_view<(?,?), ((8,1),4,1):((1E1,0),32E0,0)>, !atx.int_tuple<(?,64)> -> !atx.fragment
  // CHECK: operandSegmentSizes = array<i32: 1, 0, 1, 1>
  %p = atx.copy #atx.universal_copy<128>, %g where %c less %n : !g where !c, !atx.int_tuple<(?,64)> -> !f
  // CUSTOM: atx.copy #atx.universal_copy<128>, %{{.*}} to %{{.*}} where %{{.*}} less %{{.*}} {zero_fill} : !atx.fragment<{{.*}}>, !atx.view<bf16, shared, {{.*}}> where
  // CHECK: operandSegmentSizes = array<i32: 1, 1, 1, 1>, zero_fill}>
  atx.copy #atx.universal_copy<128>, %f to %s where %c less %n {zero_fill} : !f, !s where !c, !atx.int_tuple<(?,64)>
  return
}

// CUSTOM-LABEL: func.func @atomic
func.func @atomic(%acc: !atx.fragment<f32, 4:1, chunk = 1>, %out: !atx.view<f32, global, 4:?, align = 4>) {
  // CUSTOM: atx.copy #atx.universal_atomic<add, f32>, %{{.*}} to %{{.*}} : !atx.fragment<f32, 4:1, chunk = 1>, !atx.view<f32, global, 4:?, align = 4>
  atx.copy #atx.universal_atomic<add, f32>, %acc to %out : !atx.fragment<f32, 4:1, chunk = 1>, !atx.view<f32, global, 4:?, align = 4>
  return
}

!a = !atx.view<f32, shared, (1,4,32):(0,512,1), align = 4>
!b = !atx.fragment<f32, (1,2,32):(0,1,2), chunk = 1>
!d = !atx.fragment<f32, (1,4,2):(0,1,4), chunk = 1>

// CUSTOM-LABEL: func.func @products
// CHECK-LABEL: sym_name = "products"
func.func @products(%a: !a, %b: !b, %c: !d) {
  // The default order is not printed.
  // CUSTOM: atx.gemm #atx.tiled_mma<#atx.universal_fma<f32>, (16,16,1):(1,16,0)>, %{{.*}}, %{{.*}}, %{{.*}} : !atx.view<{{.*}}>, !atx.fragment<{{.*}}>, !atx.fragment<{{.*}}>
  // CHECK: "atx.gemm"(%{{.*}}, %{{.*}}, %{{.*}}) <{atom = #atx.tiled_mma<{{.*}} -> !atx.fragment<f32, (1,4,2):(0,1,4), chunk = 1>
  %0 = atx.gemm #fma, %a, %b, %c : !a, !b, !d
  // CUSTOM: atx.gemm #atx.universal_fma<f32>, {{.*}} order mnk serpentine : !atx.view
  // CHECK: order = #atx<order mnk>, serpentine}>
  %1 = atx.gemm #atx.universal_fma<f32>, %a, %b, %c order mnk serpentine : !a, !b, !d
  return
}
