// RUN: atrex-opt %s -atx-lower -canonicalize -cse -split-input-file | FileCheck %s

// A tile of one column of coordinates moves along the first component alone; its
// coordinates still have two.

// CHECK-LABEL: func @column
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[N:.*]]: i64, %[[M:.*]]: i64)
func.func @column(%a: !llvm.ptr<1>, %n: i64, %m: i64) {
  // CHECK: %[[ROW:.*]] = arith.muli %[[N]], %c2_i64
  // CHECK: arith.cmpi slt, %[[ROW]], %[[M]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c1_i64
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[M]]
  %pa = atx.make_ptr %a : !llvm.ptr<1> -> !atx.ptr<i32, global, align = 4>
  %la = atx.static : !atx.layout<2:1>
  %va = atx.make_view %pa, %la : !atx.ptr<i32, global, align = 4>, !atx.layout<2:1>
  %z = arith.constant 7 : i32
  %f = atx.splat %z : i32 -> !atx.fragment<i32, 2:1, chunk = 1>
  %s = atx.make %m, %m : i64, i64 -> !atx.int_tuple<(?,?)>
  %c0 = atx.make_coord_view %s : !atx.int_tuple<(?,?)>
  %t = atx.static : !atx.tile<[2|1]>
  %at = atx.make %n, %n : i64, i64 -> !atx.int_tuple<(?,?)>
  %c = atx.local_tile %c0, %t, %at : !atx.coord_view<(0,0), (?,?):(1E0,1E1)>, !atx.tile<[2|1]>, !atx.int_tuple<(?,?)>
  atx.copy #atx.universal_copy<32>, %f to %va where %c less %s : !atx.fragment<i32, 2:1, chunk = 1>, !atx.view<i32, global, 2:1, align = 4> where !atx.coord_view<(?{div=2},?), (2,1):(1E0,0)>, !atx.int_tuple<(?,?)>
  return
}
