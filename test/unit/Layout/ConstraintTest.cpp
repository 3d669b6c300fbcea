//===- ConstraintTest.cpp - Every way of violating a constraint -----------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Layout/Operations.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;

namespace atrex::layout {

namespace {
struct Violation {
  unsigned constraint;
  const char *expression;
  /// A part of the message: values and the operation or mode.
  const char *text;
};
} // namespace

static const Violation violations[] = {
    // C1: congruence.
    {1, "make_layout((4,8), (1,4,8))", "shape (4,8) and stride (1,4,8) are not congruent"},
    {1, "make_layout((4,8), 1)", "shape (4,8) and stride 1 are not congruent"},
    {1, "make_layout(4, (1,2))", "shape 4 and stride (1,2) are not congruent"},
    {1, "make_layout((4,(2,3)), (1,(4,8,2)))", "not congruent"},
    {1, "make_ordered_layout((4,8), (1,0,2))", "shape (4,8) and order (1,0,2) are not congruent"},
    {1, "make_ordered_layout((4,(2,3)), (1,0))", "not congruent"},
    {1, "size((4,8):1)", "not congruent"},
    {1, "tile_to_shape((4,8):(1,4), (8,16), (0,1,2))", "not congruent"},
    // C2: extents and codomains.
    {2, "make_layout((0,8), (1,4))", "extent 0 of shape (0,8) is not positive"},
    {2, "make_layout((4,(8,-1)))", "extent -1"},
    {2, "make_layout(-9223372036854775808)", "extent -9223372036854775808"},
    {2, "make_layout((4,*))", "extent *"},
    {2, "make_ordered_layout((0,8), (0,1))", "extent 0"},
    {2, "make_identity_layout((4,0))", "extent 0"},
    {2, "size((4,0):(1,4))", "extent 0"},
    {2, "composition((4,8):(1,4), [0|2])", "extent 0"},
    {2, "complement(4:1, 0)", "codomain size 0 is not positive"},
    {2, "complement(4:1, -24)", "codomain size -24"},
    {2, "tile_to_shape((4,8):(1,4), (8,0), (0,1))", "extent 0"},
    {2, "make_fragment_like((4,8):(1,4), stages=0)", "stages must be at least 1, got 0"},
    // C3: coordinates that do not fit.
    {3, "crd2idx((1,2,3), (4,8):(1,4))", "coordinate has rank 3 but the layout has rank 2"},
    {3, "crd2idx(((1,2),3), (4,8):(1,4))", "coordinate (1,2) is deeper than the shape 4"},
    {3, "crd2idx((1,2), 8:1)", "deeper"},
    {3, "crd2idx((1,*), (4,8):(1,4))", "coordinate *"},
    {3, "crd2idx((1,1E0), (4,8):(1,4))", "coordinate 1E0"},
    {3, "slice((4,8):(1,4), (*,*,*))", "coordinate (*,*,*) has rank 3"},
    {3, "slice((4,8):(1,4), ((*,*),*))", "deeper"},
    {3, "slice((4,8), (*,*,*))", "rank 3"},
    {3, "dice((4,8):(1,4), (1,*,*))", "rank 3"},
    {3, "dice((4,(2,3)):(1,(4,8)), (1,(1,*,1)))", "rank 3"},
    {3, "idx2crd((1,2), (4,8):(1,4))", "index (1,2) must be an integer"},
    {3, "crd2idx(1, CS<3,0,[0],0,[1]>)", "lacks the integer components"},
    // C4: negative coordinates.
    {4, "crd2idx(-1, (4,8):(1,4))", "coordinate -1 is negative"},
    {4, "crd2idx((0,-2), (4,8):(1,4))", "coordinate -2 is negative"},
    {4, "crd2idx((1,(0,-3)), (4,(2,4)):(1,(4,8)))", "coordinate -3"},
    {4, "crd2idx(-1, S<3,0,3> o 8 o (8,8):(8,1))", "coordinate -1"},
    {4, "coord(-1, (4,8))", "coordinate -1"},
    // C5: modes, ranges, lists.
    {5, "get((4,8):(1,4), mode=[2])", "mode 2 is out of range for rank 2"},
    {5, "get((4,8):(1,4), mode=[-1])", "mode -1"},
    {5, "get((4,8):(1,4), mode=[0,1])", "mode 1 is out of range for rank 1"},
    {5, "get((4,8):(1,4), mode=[])", "empty"},
    {5, "get((4,8), mode=[2])", "mode 2"},
    {5, "take((4,8):(1,4), begin=1, end=1)", "range [1,1) is empty or outside rank 2"},
    {5, "take((4,8):(1,4), begin=1, end=5)", "range [1,5)"},
    {5, "take((4,8):(1,4), begin=-1, end=1)", "range [-1,1)"},
    {5, "take((4,8), begin=2, end=1)", "range [2,1)"},
    {5, "select((4,8):(1,4), indices=[3])", "index 3 is out of range for rank 2"},
    {5, "select((4,8), indices=[-1])", "index -1"},
    {5, "select((4,8):(1,4), indices=[])", "empty"},
    {5, "group((4,8):(1,4), begin=0, end=3)", "range [0,3)"},
    {5, "group((4,8), begin=1, end=1)", "range [1,1)"},
    {5, "append((4,8):(1,4), 2:32, rank=1)", "append: target rank 1 is below the rank 2"},
    {5, "prepend((4,8), 2, rank=0)", "prepend: target rank 0"},
    {5, "append((4,8), 2, rank=100000)", "above the limit"},
    {5, "slice((4,8):(1,4), (0,0))", "keeps no mode"},
    {5, "slice((4,8), 3)", "keeps no mode"},
    {5, "dice((4,8):(1,4), (*,*))", "keeps no mode"},
    {5, "coalesce((4,8):(1,4), (1,1,1))", "profile (1,1,1) has more modes than (4,8):(1,4)"},
    {5, "coalesce(8:1, (1,1))", "more modes"},
    // C6: congruence of operands of arithmetic.
    {6, "add((1,2), 1)", "(1,2) and 1 are not congruent"},
    {6, "sub((1,2), (1,2,3))", "not congruent"},
    {6, "mul((1,(2,3)), (1,2))", "not congruent"},
    {6, "div(1, (1,2))", "not congruent"},
    {6, "mod((1,2), (1,(2,3)))", "not congruent"},
    {6, "min((1,2), 3)", "not congruent"},
    {6, "max(3, (1,2))", "not congruent"},
    {6, "elem_less((1,2), 3)", "not congruent"},
    {6, "product_like((2,3), (1,1,1))", "guide (1,1,1) does not fit (2,3)"},
    {6, "product_like(6, (1,1))", "guide (1,1)"},
    {6, "shape_div((1,2), (1,2,3))", "shape_div: (1,2) has rank 2 but (1,2,3) has rank 3"},
    {6, "ceil_div((1,2), (1,2,3))", "ceil_div: "},
    {6, "crd2idx(1, S<1,0,1> o (1,2) o 4:1)", "offset (1,2) does not fit"},
    // C7: divisors.
    {7, "div(4, 0)", "4 is divided by zero"},
    {7, "div((1,2), (0,1))", "1 is divided by zero"},
    {7, "mod(3, 0)", "3 is divided by zero"},
    {7, "mod(?, 0)", "? is divided by zero"},
    {7, "shape_div(4, 0)", "divided by zero"},
    {7, "ceil_div(4, 0)", "positive, got 0"},
    {7, "ceil_div(4, -2)", "positive, got -2"},
    // C8: 64 bits.
    {8, "add(9223372036854775807, 1)", "9223372036854775807 + 1 does not fit in 64 bits"},
    {8, "sub(-9223372036854775808, 1)", "does not fit"},
    {8, "sub(0, -9223372036854775808)", "does not fit"},
    {8, "mul(4294967296, 4294967296)", "4294967296 * 4294967296 does not fit"},
    {8, "div(-9223372036854775808, -1)", "does not fit"},
    {8, "product((4294967296,4294967296))", "does not fit"},
    {8, "size((4294967296,4294967296):(1,1))", "does not fit"},
    {8, "cosize((4294967296,4294967295):(1,4294967296))", nullptr},
    {8, "cosize((2,2):(-9223372036854775808,1))", "does not fit"},
    {8, "crd2idx(4611686018427387904, 4:2)", "does not fit"},
    {8, "crd2idx((1,1), (2,2):(9223372036854775807,1))", "does not fit"},
    {8, "idx2crd(-9223372036854775808, 4:-1)", "does not fit"},
    {8, "get_flat_coord(-9223372036854775808, (4,?):(-1,4))", "does not fit"},
    {8, "append(4294967296:1, 4294967296:1)", "does not fit"},
    {8, "select((4294967296,2):(1,1), indices=[0,0])", "does not fit"},
    {8, "recast((2,2):(1,4611686018427387904), from=16, to=8)", nullptr},
    {8, "logical_product(4294967296:1, 4294967296:1)", "does not fit"},
    {8,
     "mma_partition((4,4):(1,4), (1,1):(0,0), atom=(9223372036854775807,9223372036854775807,1), "
     "atoms=(1,1,1):(0,0,0), operand=C, thr=0)",
     "does not fit"},
    // C9.
    {9, "shape_div(8, 3)", "neither of 8 and 3 divides the other"},
    {9, "shape_div((4,6), (2,4))", "neither of 6 and 4"},
    {9, "shape_div((3,4), 5)", "neither of 3 and 5"},
    {9, "shape_div(?, 3)", "cannot prove that 3 divides ?"},
    {9, "shape_div(7, ?)", "cannot prove that ? divides 7"},
    // C10: both divisibilities and the sign.
    {10, "composition((4,6):(1,7), 6:1)", "4 does not divide 6"},
    {10, "composition((3,5):(5,1), 4:2)", "stride 2 does not divide extent 3"},
    {10, "composition((6,4):(1,100), 3:4)", "stride 4 does not divide extent 6"},
    {10, "composition((4,6):(1,7), 2:6)", "extent 4 of leaf 0 of (4,6):(1,7) does not divide stride 6"},
    {10, "composition((4,6):(1,7), 2:-1)", "stride -1 of the right operand is negative"},
    {10, "composition((4,6):(1,7), ?:1)", "cannot prove"},
    {10, "composition((4,6):(1,7), 2:?)", "cannot prove"},
    {10, "composition((?,6):(1,7), 2:1)", "cannot prove"},
    {10, "logical_divide((4,6):(1,7), 6:1)", "cannot compose"},
    {10, "logical_product((2,2):(1,4), 3:1)", "cannot compose"},
    {10, "logical_product(4:1, 4:-1)", "negative"},
    // C11: leaves of one operand that carry together.
    {11, "composition((2,4,3):(4,1,8), (2,2):(6,2))", "carry out of extent 4"},
    {11, "composition((4,8):(1,100), (2,2):(2,2))", "carry out of extent 4 (largest digit 4)"},
    {11, "composition((4,8):(1,100), (2,(2,2)):(1,(2,1)))", "carry out of extent 4"},
    {11, "composition((4,(2,8)):(1,(4,100)), (2,2):(1E1,1E1))", "carry out of extent 2"},
    // C12.
    {12, "complement((3,2):(1,2), 12)", "stride 2 is below the span 3"},
    {12, "complement((2,2):(1,1), 8)", "overlapping modes"},
    {12, "complement((2,3):(2,3), 24)", "overlapping modes"},
    {12, "logical_divide(12:1, (3,2):(1,2))", "overlapping modes"},
    {12, "logical_product((3,2):(1,2), 4:1)", "overlapping modes"},
    {12, "tile_to_shape((4,8):(1,8), (8,16), (0,1))", "block (4,8):(1,8) is not compact"},
    {12, "injective((1000,1000):(2,3))", "not proved"},
    {12, "injective((4,?):(1,4))", "not proved"},
    // C13: what must be static.
    {13, "complement((2,4):(?,1), 32)", "a dynamic stride is allowed only with one leaf"},
    {13, "complement((?,4):(1,8), 32)", "dynamic extent is allowed only in the leaf of largest stride"},
    {13, "right_inverse((2,4):(?,1))", "dynamic stride"},
    {13, "left_inverse((2,4):(?,1))", "dynamic stride"},
    {13, "make_ordered_layout((4,8), (0,?))", "must be static"},
    {13, "make_ordered_layout((4,8), (0,*))", "must be static"},
    {13, "make_layout_like((4,8):(?,1))", "must be static"},
    {13, "compact((4,?):(1,4))", "static"},
    {13, "table((4,?):(1,4))", "cannot be enumerated"},
    {13, "elem_less(?, 3)", "static"},
    {13, "equal(?, 3)", "static"},
    // C14: integers and coordinates.
    {14, "complement((4,8):(1E0,1E1), 64)", "complement needs an integer codomain"},
    {14, "right_inverse((4,8):(1E0,1E1))", "right_inverse needs an integer codomain"},
    {14, "left_inverse((4,8):(1E0,1E1))", "left_inverse needs an integer codomain"},
    {14, "recast((128,64):(1E0,1E1), from=16, to=32)", "integer codomain"},
    {14, "recast((128,64):(1E0,1E1), from=16, to=8)", "integer codomain"},
    {14, "idx2crd(3, (4,8):(1E0,1E1))", "idx2crd needs an integer codomain"},
    {14, "max_alignment((4,8):(1E0,1E1))", "integer codomain"},
    {14, "make_layout((4,8), (1,1E1))", "mixes integer and coordinate-valued strides"},
    {14, "crd2idx((1,2), S<1,0,1>)", "acts on an integer"},
    {14, "crd2idx(0, S<1,0,1> o 0 o (4,8):(1E0,1E1))", nullptr},
    {14, "size(S<1,0,1> o * o 4:1)", "offset *"},
    {14, "coshape((4,8):(1E0,1E0E1))", "names a mode and another one a part of it"},
    {14, "composition((4,(2,8)):(1,(4,8)), (2,2):(1E1,1E1E0))", "names a mode and another one a part of it"},
    {14, "add(1E0, 2)", "not an integer"},
    // C15: negative strides.
    {15, "complement(4:-1, 16)", "complement needs non-negative strides"},
    {15, "right_inverse((4,8):(-1,4))", "right_inverse needs non-negative strides"},
    {15, "left_inverse((4,8):(-1,4))", "left_inverse needs non-negative strides"},
    {15, "recast((4,8):(-1,4), from=16, to=32)", "non-negative"},
    {15, "max_alignment((4,8):(-1,4))", "non-negative"},
    // C16.
    {16, "left_inverse((2,2):(2,3))", "not a divisor chain"},
    {16, "left_inverse((4,8):(0,1))", "not injective"},
    {16, "left_inverse((3,2):(1,2))", "not injective"},
    {16, "left_inverse((2,2):(1,1))", "not injective"},
    // C17.
    {17, "complement(64:2 o 5 o (8,8):(8,1), 128)", "complement is not defined"},
    {17, "left_inverse(S<3,0,3> o 0 o (8,8):(8,1))", "left_inverse is not defined"},
    {17, "right_inverse(64:2 o 5 o (8,8):(8,1))", "right_inverse"},
    {17, "right_inverse(S<3,0,3> o 8 o (8,8):(8,1))", "offset 0"},
    {17, "right_inverse(S<2,1,2> o 0 o 10:1)", "whole number of swizzle blocks"},
    {17, "right_inverse(S<1,0,-1> o 0 o 3:1)", "whole number of swizzle blocks"},
    {17, "logical_product(S<3,0,3> o 0 o (8,8):(8,1), 4:1)", "product"},
    {17, "blocked_product(S<3,0,3> o 0 o (8,8):(8,1), 4:1)", "products take two layouts"},
    {17, "tile_to_shape(S<3,0,3> o 8 o (8,8):(8,1), (16,64), (0,1))", "offset 0"},
    {17, "recast(4:2 o 5 o 4:1, from=8, to=16)", "must be a swizzle"},
    {17, "idx2crd(3, S<3,0,3> o 0 o (8,8):(8,1))", "idx2crd"},
    {17, "slice(S<3,0,3>, 1)", "no modes"},
    {17, "table(4096:9E2E2241)", "4096 coordinates of 2244 integers"},
    {17, "get_stride(S<3,0,3> o 0 o 8:1)", "no stride"},
    // C18.
    {18, "recast((4,8):(1,4), from=16, to=24)", "24 bits are not a multiple of 16 bits"},
    {18, "recast(S<3,4,3>, from=8, to=24)", "power of two"},
    {18, "recast((4,8):(1,4), from=0, to=8)", "widths"},
    {18, "recast((4,8):(1,4), from=8, to=-8)", "widths"},
    // C19.
    {19, "recast((4,8):(2,16), from=16, to=32)", "whole groups of 2"},
    {19, "recast((3,8):(1,3), from=16, to=32)", nullptr},
    {19, "recast((4,8):(3,1), from=16, to=32)", "stride 3 and ratio 2"},
    {19, "recast((2,2):(1,1), from=8, to=16)", "whole groups"},
    {19, "recast((4,?):(1,4), from=8, to=64)", nullptr},
    {19, "recast((4,2):(1,?), from=8, to=16)", "cannot prove that 2 divides stride ?"},
    {19, "recast(?:1, from=8, to=16)", "cannot prove that 2 divides ?"},
    {19, "recast(S<3,4,3> o 3 o (8,64):(64,1), from=16, to=32)", "2 does not divide 3"},
    // C20.
    {20, "recast(16:2, from=16, to=8)", "has none"},
    {20, "recast((4,4):(1,1), from=16, to=8)", "has several"},
    // C21.
    {21, "crd2idx(5, S<3,0,2>)", "S<3,0,2> needs"},
    {21, "crd2idx(5, S<-1,0,2>)", "S<-1,0,2>"},
    {21, "crd2idx(5, S<1,-1,2>)", "S<1,-1,2>"},
    {21, "crd2idx(5, S<3,60,3>)", "S<3,60,3>"},
    {21, "crd2idx(5, S<3,0,-2>)", "S<3,0,-2>"},
    {21, "size(S<3,0,2> o 0 o 8:1)", "S<3,0,2>"},
    {21, "crd2idx((1,2), CS<3,0,[0],0,[0]>)", "two different components"},
    {21, "recast(S<3,58,1>, from=16, to=8)", "needs"},
    // C22.
    {22, "recast(S<3,0,3>, from=16, to=32)", "base 0 is below log2(2)"},
    {22, "recast(S<3,0,3> o 0 o (8,8):(8,1), from=16, to=32)", "base 0"},
    // C23.
    {23, "logical_divide(10:1, 4:1, strict=true)", "tile 4 does not divide extent 10; 2 elements"},
    {23, "zipped_divide((14,6,9):(19,69,1), (2,3,6):(7,14,1), strict=true)", "exactly"},
    {23, "tiled_divide(12:1, (2,2):(1,0), strict=true)", "exactly"},
    {23, "flat_divide((10,12):(12,1), [4|4], strict=true)", "tile 4 does not divide extent 10"},
    {23, "tile_to_shape((4,8):(1,4), (9,16), (0,1))", "4 does not divide 9"},
    {23, "tile_to_shape((4,8):(1,4), (?,16), (0,1))", "cannot prove that 4 divides ?"},
    // C24.
    {24, "make_ordered_layout((4,8), (0,0))", "leaves 0 and 1 of shape (4,8) have the same order 0"},
    {24, "make_ordered_layout((4,(8,2)), (1,(0,1)))", "leaves 0 and 2"},
    {24, "make_ordered_layout((4,?), (0,0))", "same order"},
    {24, "tile_to_shape((4,8):(1,4), (8,16), (3,3))", "same order 3"},
    // C25.
    {25, "check_tv(((16,4),4):((1,16),16), tile=256)", "thread-value layout maps (16,0) and (0,1) to element 16"},
    {25, "check_tv((4,2):(1,4), tile=16)", "does not cover 16"},
    {25, "check_tv((4,2):(0,1), tile=8)", "to element 0"},
    {25, "check_tv((4,2):(-1,4), tile=8)", "does not cover 8"},
    {25, "copy_partition((8,8):(8,1), (4,2):(1,4), tile=(4,4), vals=1, thr=0)", "does not cover 16"},
    {25, "copy_partition((8,8):(8,1), 16:1, tile=(4,4), vals=1, thr=0)", "two modes"},
    // C26.
    {26, "copy_partition((100,64):(64,1), ((8,32),4):((128,1),32), tile=(32,32), vals=4, thr=0)", "mode 0"},
    {26, "copy_partition((128,64):(64,1), ((8,32),4):((128,1),32), tile=(32,32), vals=4, thr=256)",
     "thread 256 is outside [0,256)"},
    {26, "copy_partition((128,64):(64,1), ((8,32),4):((128,1),32), tile=(32,32), vals=4, thr=-1)", "thread -1"},
    {26,
     "mma_partition((16,16):(1,16), ((16,4),4):((1,64),16), atom=(16,16,16), atoms=(1,1,1):(0,0,0), operand=A, "
     "thr=64)",
     "thread 64 is outside [0,64)"},
    // C27.
    {27, "copy_partition((128,64):(64,1), ((8,32),4):((128,1),32), tile=(32,32), vals=3, thr=0)",
     "3 values per access do not divide the 4 values"},
    {27, "copy_partition((128,64):(64,1), ((8,32),4):((128,1),32), tile=(32,32), vals=0, thr=0)", "0 values"},
    {27, "vector_width(8:1, 8:1, bits=12, src_align=16, dst_align=16, max_bits=128)", "whole bytes, got 12 bits"},
    {27, "vector_width(8:1, 8:1, bits=16, src_align=0, dst_align=16, max_bits=128)", "positive"},
    // C28.
    {28,
     "mma_partition((48,64):(64,1), ((16,4),4):((1,64),16), atom=(16,16,16), atoms=(2,2,1):(1,2,0), operand=A, "
     "thr=0)",
     "operand A: 16x2 against mode 0"},
    {28, "mma_partition((64,64):(64,1), ((16,4),4):((1,64),16), atom=(16,16), atoms=(2,2,1):(1,2,0), operand=A, thr=0)",
     "three positive extents"},
    {28, "mma_partition((64,64):(64,1), ((16,4),4):((1,64),16), atom=(16,16,16), atoms=(2,2):(1,2), operand=A, thr=0)",
     "three static modes"},
    {28,
     "mma_partition((64,64):(64,1), ((16,4),4):((1,64),16), atom=(16,16,16), atoms=(2,2,1):(1,2,0), operand=X, "
     "thr=0)",
     "none of A, B and C"},
    {28, "mma_partition(64:1, ((16,4),4):((1,64),16), atom=(16,16,16), atoms=(2,2,1):(1,2,0), operand=A, thr=0)",
     "two modes"},
    // C29.
    {29, "composition((4,8):(1,4), (2,2):(1E0,1E2))", "names no mode of (4,8):(1,4)"},
    {29, "composition((4,8):(1,4), 2:1E0E1)", "names no mode of 4:1"},
    // C30.
    {30, "max_common_vector((4,8):(1,4), (8,8):(1,8))", "sizes differ"},
    {30, "vector_width(8:1, 16:1, bits=16, src_align=16, dst_align=16, max_bits=128)", "sizes differ"},
    // C31.
    {31, "composition((4,8):(1,4), [2|4|3])", "has 3 modes but (4,8):(1,4) has rank 2"},
    {31, "logical_divide((10,12):(12,1), [4|5|2])", "3 modes"},
    {31, "zipped_divide((4,8):(1,4), [*|*])", "skips every mode"},
    {31, "logical_product((4,8):(1,4), [2|4|3])", "3 modes"},
    {31, "tile_to_shape((2,2,2):(1,2,4), (4,4), (0,1))", "rank 3 but the target (4,4) has rank 2"},
    {31, "copy_partition(64:1, (2,2):(1,2), tile=(2,2), vals=1, thr=0)", "more modes"},
    {31, "logical_divide((4,8):(1,4), (2,4))", "a tiler is"},
};

TEST(Constraints, EveryViolationIsDiagnosed) {
  for (const Violation &violation : violations) {
    Expected<Expression> expression = parseExpression(violation.expression);
    ASSERT_TRUE(bool(expression)) << violation.expression << ": " << toString(expression.takeError());
    Algebra algebra;
    std::optional<Results> results = evaluate(algebra, *expression);
    if (results) {
      ADD_FAILURE() << violation.expression << " = " << toString(*results) << ", wanted C" << violation.constraint;
      continue;
    }
    const Fault &fault = *algebra.getFault();
    EXPECT_EQ(fault.constraint, violation.constraint) << violation.expression << ": " << toString(fault);
    if (violation.text)
      EXPECT_NE(fault.text.find(violation.text), std::string::npos) << violation.expression << ": " << toString(fault);
    EXPECT_TRUE(!fault.text.empty() && fault.text.back() != '.') << fault.text;
  }
}

/// C32 to C34 belong to instructions and memory, not to the algebra.
TEST(Constraints, AllConstraintsOfTheAlgebraAreHere) {
  std::set<unsigned> seen;
  for (const Violation &violation : violations)
    seen.insert(violation.constraint);
  for (unsigned constraint = 1; constraint <= 31; ++constraint)
    EXPECT_TRUE(seen.count(constraint)) << "C" << constraint;
}

} // namespace atrex::layout
