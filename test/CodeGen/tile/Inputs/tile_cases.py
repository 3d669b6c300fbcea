"""Cases for tile_check.py, by group."""
import math
from tile_check import (Case, SIZES, SMALL, bf16, count, decode_small, encode_small, f16, f32, indices, ravel, rounding,
                        wrap)

SHAPES = [(5,), (64,), (80,), (1, 96), (16, 40), (3, 5, 7), (4, 256)]
THREADS = [64, 256, 512]


def numbers(rng, n, dtype):
    if dtype == "i1":
        return [rng.randint(0, 1) for _ in range(n)]
    if dtype.startswith("i"):
        bits = SIZES[dtype] * 8
        return [rng.randint(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for _ in range(n)]
    return [rounding(dtype)(rng.uniform(-4, 4)) for _ in range(n)]


def small_integers(rng, n, dtype, most=8):
    values = [rng.randint(-most, most) for _ in range(n)]
    return values if dtype.startswith("i") else [float(v) for v in values]


def tile(shape, dtype):
    return "vector<%sx%s>" % ("x".join(map(str, shape)), dtype)


def memref(shape, dtype):
    return "memref<%s%s>" % ("".join("%sx" % ("?" if isinstance(e, str) else e) for e in shape), dtype)


class Body:
    """Lines of a body with the index tiles of whole tensors."""

    def __init__(self):
        self.lines, self.names = [], 0

    def name(self):
        self.names += 1
        return "%%v%d" % self.names

    def add(self, text):
        self.lines.append("  " + text)

    def let(self, text):
        name = self.name()
        self.add("%s = %s" % (name, text))
        return name

    def index(self, shape, axis, base=None):
        """iota along `axis` as a tile of the rank of `shape`, plus a scalar i32."""
        extent = shape[axis]
        value = self.let("atx.tile_iota : vector<%dxi32>" % extent)
        if base:
            wide = self.let("vector.broadcast %s : i32 to vector<%dxi32>" % (base, extent))
            value = self.let("arith.addi %s, %s : vector<%dxi32>" % (value, wide, extent))
        unit = [1] * len(shape)
        unit[axis] = extent
        if len(shape) == 1:
            return value, "vector<%dxi32>" % extent
        cast = self.let("vector.shape_cast %s : vector<%dxi32> to %s" % (value, extent, tile(unit, "i32")))
        return cast, tile(unit, "i32")

    def whole(self, shape, bases=None):
        pairs = [self.index(shape, a, bases[a] if bases else None) for a in range(len(shape))]
        return ", ".join(p[0] for p in pairs), ", ".join(p[1] for p in pairs)

    def load(self, tensor, shape, dtype, memory=None, bases=None, fill=None):
        names, types = self.whole(shape, bases)
        return self.let("atx.tile_load %%%s[%s]%s : %s, %s -> %s" % (
            tensor, names, " fill " + fill if fill else "", memref(memory or shape, dtype), types, tile(shape, dtype)))

    def store(self, value, tensor, shape, dtype, memory=None, bases=None, mask=None):
        names, types = self.whole(shape, bases)
        self.add("atx.tile_store %s, %%%s[%s]%s : %s, %s, %s%s" % (
            value, tensor, names, " mask " + mask[0] if mask else "", tile(shape, dtype), memref(memory or shape, dtype),
            types, " mask " + mask[1] if mask else ""))

    def text(self):
        return "\n".join(self.lines)


def elementwise(arch, rng):
    operations = {
        "f32": [("arith.addf", lambda a, b: f32(a + b)), ("arith.mulf", lambda a, b: f32(a * b))],
        "f64": [("arith.subf", lambda a, b: a - b)],
        "f16": [("arith.addf", lambda a, b: f16(a + b))],
        "bf16": [("arith.mulf", lambda a, b: bf16(f32(a * b)))],
        "i8": [("arith.addi", lambda a, b: wrap(a + b, "i8"))],
        "i16": [("arith.muli", lambda a, b: wrap(a * b, "i16"))],
        "i32": [("arith.maxsi", max), ("arith.xori", lambda a, b: a ^ b)],
        "i64": [("arith.muli", lambda a, b: wrap(a * b, "i64"))],
    }
    for number, (dtype, operation, function) in enumerate(
            (d, o, g) for d, list_ in operations.items() for o, g in list_):
        for shape in SHAPES:
            threads = THREADS[(number + len(shape) + count(shape)) % 3]
            n = count(shape)
            a, b = numbers(rng, n, dtype), numbers(rng, n, dtype)
            body = Body()
            x, y = body.load("a", shape, dtype), body.load("b", shape, dtype)
            z = body.let("%s %s, %s : %s" % (operation, x, y, tile(shape, dtype)))
            body.store(z, "c", shape, dtype)
            yield Case("ew_%d_%s" % (number, "x".join(map(str, shape))), body.text(),
                       [("a", shape, dtype, a), ("b", shape, dtype, b)],
                       [("c", shape, dtype, [function(u, v) for u, v in zip(a, b)], 0)], threads)


    # -0 is below +0, and NaN is what either is.
    zeros = [0.0, -0.0, 0.0, -0.0, math.nan, 1.0, math.inf, -math.inf]
    a, b = zeros * 8, [z for z in zeros for _ in range(8)]

    def largest(u, v, sign):
        if math.isnan(u) or math.isnan(v):
            return math.nan
        if u == v:
            return u if math.copysign(1, u) == sign else v
        return max(u, v) if sign > 0 else min(u, v)

    for dtype in ("f32", "f16", "bf16", "f64"):
        for operation, sign in (("arith.maximumf", 1), ("arith.minimumf", -1)):
            body = Body()
            x, y = body.load("a", (64,), dtype), body.load("b", (64,), dtype)
            z = body.let("%s %s, %s : %s" % (operation, x, y, tile((64,), dtype)))
            body.store(z, "c", (64,), dtype)
            yield Case("zero_%s_%s" % (operation.split(".")[1], dtype), body.text(), [("a", (64,), dtype, a), ("b", (64,), dtype, b)],
                       [("c", (64,), dtype, [largest(u, v, sign) for u, v in zip(a, b)], 0)], 64)


def memory(arch, rng):
    # Tiles that reach beyond tensors of run-time extents, several workgroups, fill values.
    for number, (dtype, rows, columns, tile_shape) in enumerate([
            ("f32", 37, 100, (16, 64)), ("bf16", 20, 128, (16, 128)), ("i8", 9, 33, (8, 16)), ("f16", 33, 64, (8, 32)),
            ("f64", 5, 7, (4, 4)), ("i64", 1, 1, (2, 2)), ("f32", 64, 260, (16, 256)), ("i1", 11, 24, (8, 16))]):
        for dynamic in (False, True):
            for threads in (64, 256):
                grid = (-(-columns // tile_shape[1]), -(-rows // tile_shape[0]), 1)
                n = rows * columns
                a = numbers(rng, n, dtype)
                memory_shape = ("R", columns) if dynamic else (rows, columns)
                if dynamic and number % 2:
                    memory_shape = ("R", "C")
                # The result is larger by a margin that must hold the fill value.
                out = (rows + 3, columns + 2)
                body = Body()
                bases = []
                for axis, letter in ((0, "y"), (1, "x")):
                    block = body.let("gpu.block_id %s" % letter)
                    narrow = body.let("arith.index_cast %s : index to i32" % block)
                    size = body.let("arith.constant %d : i32" % tile_shape[axis])
                    bases.append(body.let("arith.muli %s, %s : i32" % (narrow, size)))
                fill = None
                fill_value = 0
                if number % 2 == 0 and dtype in ("f32", "bf16"):
                    fill = body.let("arith.constant -2.0 : %s" % dtype)
                    fill_value = -2.0
                x = body.load("a", tile_shape, dtype, memory_shape, bases, fill)
                body.store(x, "c", tile_shape, dtype, out, bases)
                expected = []
                for i, j in indices(out):
                    covered = i < grid[1] * tile_shape[0] and j < grid[0] * tile_shape[1]
                    expected.append(a[i * columns + j] if i < rows and j < columns else
                                    (fill_value if dtype.startswith("i") else float(fill_value)) if covered else None)
                scalars = []
                if dynamic:
                    scalars.append(("R", "dim", rows))
                    if number % 2:
                        scalars.append(("C", "dim", columns))
                case = Case("mem_%d_%d_%d" % (number, dynamic, threads), body.text(), [("a", memory_shape, dtype, a)],
                            [("c", out, dtype, expected, 0)], threads, grid, scalars)
                yield case
    # Gather and scatter with a permutation, masks, duplicate-free.
    for threads in THREADS:
        n, width = 37, 16
        table = list(range(n))
        rng.shuffle(table)
        table[3] = -1
        table[4] = n
        data = numbers(rng, n * width, "f32")
        body = Body()
        t = body.load("t", (n,), "i32")
        rows = body.let("vector.shape_cast %s : vector<%dxi32> to vector<%dx1xi32>" % (t, n, n))
        column, column_type = body.index((n, width), 1)
        g = body.let("atx.tile_load %%d[%s, %s] : %s, vector<%dx1xi32>, %s -> %s" % (
            rows, column, memref((n, width), "f32"), n, column_type, tile((n, width), "f32")))
        body.store(g, "c", (n, width), "f32")
        zero = body.let("arith.constant dense<0> : vector<%dx1xi32>" % n)
        mask = body.let("arith.cmpi sgt, %s, %s : vector<%dx1xi32>" % (rows, zero, n))
        body.add("atx.tile_store %s, %%s[%s, %s] mask %s : %s, %s, vector<%dx1xi32>, %s mask vector<%dx1xi1>" % (
            g, rows, column, mask, tile((n, width), "f32"), memref((n, width), "f32"), n, column_type, n))
        gathered = []
        for i, j in indices((n, width)):
            gathered.append(data[table[i] * width + j] if 0 <= table[i] < n else 0.0)
        scattered = [-1.0] * (n * width)
        for i, j in indices((n, width)):
            if 0 < table[i] < n:
                scattered[table[i] * width + j] = gathered[i * width + j]
        yield Case("gather_%d" % threads, body.text(), [("t", (n,), "i32", table), ("d", (n, width), "f32", data)],
                   [("c", (n, width), "f32", gathered, 0), ("s", (n, width), "f32", scattered, (0, [-1.0] * (n * width)))],
                   threads)
    # A cache of pages: the innermost index is a remainder.
    blocks, heads, rows, d = 6, 2, 32, 32
    table = [rng.randint(0, blocks - 1) for _ in range(2)]
    cache = numbers(rng, blocks * heads * (d // 8) * 16 * 8, "bf16")
    body = Body()
    token, _ = body.index((rows,), 0)
    c16 = body.let("arith.constant dense<16> : vector<%dxi32>" % rows)
    block = body.let("arith.divui %s, %s : vector<%dxi32>" % (token, c16, rows))
    page = body.let("atx.tile_load %%t[%s] : memref<2xi32>, vector<%dxi32> -> vector<%dxi32>" % (block, rows, rows))
    inside = body.let("arith.remui %s, %s : vector<%dxi32>" % (token, c16, rows))
    page2 = body.let("vector.shape_cast %s : vector<%dxi32> to vector<%dx1xi32>" % (page, rows, rows))
    inside2 = body.let("vector.shape_cast %s : vector<%dxi32> to vector<%dx1xi32>" % (inside, rows, rows))
    dim, _ = body.index((d,), 0)
    c8 = body.let("arith.constant dense<8> : vector<%dxi32>" % d)
    high = body.let("arith.divui %s, %s : vector<%dxi32>" % (dim, c8, d))
    low = body.let("arith.remui %s, %s : vector<%dxi32>" % (dim, c8, d))
    high2 = body.let("vector.shape_cast %s : vector<%dxi32> to vector<1x%dxi32>" % (high, d, d))
    low2 = body.let("vector.shape_cast %s : vector<%dxi32> to vector<1x%dxi32>" % (low, d, d))
    one = body.let("arith.constant 1 : i32")
    k = body.let("atx.tile_load %%k[%s, %s, %s, %s, %s] : %s, vector<%dx1xi32>, i32, vector<1x%dxi32>, vector<%dx1xi32>, "
                 "vector<1x%dxi32> -> vector<%dx%dxbf16>" % (page2, one, high2, inside2, low2,
                                                              memref((blocks, heads, d // 8, 16, 8), "bf16"), rows, d, rows,
                                                              d, rows, d))
    body.store(k, "c", (rows, d), "bf16")
    expected = []
    for i, j in indices((rows, d)):
        expected.append(cache[ravel((table[i // 16], 1, j // 8, i % 16, j % 8), (blocks, heads, d // 8, 16, 8))])
    yield Case("pages", body.text(), [("t", (2,), "i32", table), ("k", (blocks, heads, d // 8, 16, 8), "bf16", cache)],
               [("c", (rows, d), "bf16", expected, 0)], 256)
    # Shared memory: transposed through it.
    for threads in (64, 256):
        shape = (12, 20)
        data = numbers(rng, 240, "i32")
        body = Body()
        x = body.load("a", shape, "i32")
        body.add("%s = atx.tile_shared : memref<20x12xi32, #gpu.address_space<workgroup>>")
        r, rt = body.index(shape, 0)
        c, ct = body.index(shape, 1)
        body.add("atx.tile_store %s, %%s[%s, %s] : vector<12x20xi32>, memref<20x12xi32, #gpu.address_space<workgroup>>, %s, %s"
                 % (x, c, r, ct, rt))
        body.add("gpu.barrier")
        names, types = body.whole((20, 12))
        y = body.let("atx.tile_load %%s[%s] : memref<20x12xi32, #gpu.address_space<workgroup>>, %s -> vector<20x12xi32>" %
                     (names, types))
        body.store(y, "c", (20, 12), "i32")
        yield Case("shared_%d" % threads, body.text(), [("a", shape, "i32", data)],
                   [("c", (20, 12), "i32", [data[j * 20 + i] for i, j in indices((20, 12))], 0)], threads)


def reduce(arch, rng):
    def total(values, dtype):
        if dtype.startswith("i"):
            return wrap(sum(values), dtype)
        return math.fsum(values)

    def product(values, dtype):
        p = 1
        for v in values:
            p = wrap(p * v, dtype) if dtype.startswith("i") else p * v
        return p

    def first(values, better):
        best = 0
        for i, v in enumerate(values):
            if isinstance(v, float) and math.isnan(v):
                return i
            if better(v, values[best]):
                best = i
        return best

    def unsigned(v, dtype):
        return v & ((1 << (SIZES[dtype] * 8)) - 1)

    kinds = [
        ("sum", "f32"), ("sum", "i32"), ("sum", "i64"), ("sum", "i8"), ("prod", "i32"), ("max", "f32"), ("min", "f32"),
        ("max", "i16"), ("min", "i64"), ("umax", "i32"), ("umin", "i8"), ("argmax", "f32"), ("argmin", "f32"),
        ("argmax", "i32"), ("argmin", "i64"), ("argmax", "bf16"), ("any", "i1"), ("all", "i1"), ("sum", "f64"),
        ("max", "f16"), ("argmin", "f16"),
    ]
    shapes = [((5,), (0,)), ((1000,), (0,)), ((16, 40), (1,)), ((16, 40), (0,)), ((16, 40), (0, 1)), ((3, 5, 7), (1,)),
              ((3, 5, 70), (0, 2)), ((2, 512), (1,)), ((300, 2), (0,))]
    number = 0
    for kind, dtype in kinds:
        for shape, axes in shapes:
            if kind.startswith("arg") and len(axes) > 1:
                continue
            number += 1
            threads = THREADS[number % 3]
            n = count(shape)
            if kind == "sum" and dtype.startswith("f"):
                values = small_integers(rng, n, dtype)
            elif kind == "prod":
                values = small_integers(rng, n, dtype, 3)
            elif kind in ("any", "all"):
                values = [int(rng.random() < (0.1 if kind == "any" else 0.9)) for _ in range(n)]
            elif kind.startswith("arg") or number % 4 == 0:
                values = small_integers(rng, n, dtype, 5)
            else:
                values = numbers(rng, n, dtype)
            if dtype == "f32" and kind in ("max", "argmax", "argmin") and number % 2:
                values[rng.randrange(n)] = math.nan
            kept = [e for a, e in enumerate(shape) if a not in axes]
            groups = {}
            for index in indices(shape):
                key = tuple(i for a, i in enumerate(index) if a not in axes)
                groups.setdefault(key, []).append(values[ravel(index, shape)])
            result_type = "i32" if kind.startswith("arg") else dtype
            expected = []
            for key in indices(kept) if kept else [()]:
                group = groups[key]
                if kind == "sum":
                    r = total(group, dtype)
                elif kind == "prod":
                    r = product(group, dtype)
                elif kind in ("max", "min"):
                    nan = any(isinstance(v, float) and math.isnan(v) for v in group)
                    r = math.nan if nan else (max if kind == "max" else min)(group)
                elif kind in ("umax", "umin"):
                    pick = max if kind == "umax" else min
                    r = wrap(pick(unsigned(v, dtype) for v in group), dtype)
                elif kind == "argmax":
                    r = first(group, lambda a, b: a > b)
                elif kind == "argmin":
                    r = first(group, lambda a, b: a < b)
                else:
                    r = int((any if kind == "any" else all)(group))
                expected.append(r)
            body = Body()
            x = body.load("a", shape, dtype)
            result = tile(kept, result_type) if kept else result_type
            r = body.let("atx.tile_reduce %s %s axes [%s] : %s -> %s" % (kind, x, ", ".join(map(str, axes)),
                                                                        tile(shape, dtype), result))
            out = tuple(kept) or (1,)
            if kept:
                body.store(r, "c", out, result_type)
            else:
                zero = body.let("arith.constant 0 : i32")
                body.add("atx.tile_store %s, %%c[%s] : %s, %s, i32" % (r, zero, result_type, memref(out, result_type)))
            # -0 and +0 are one number for max of small integers.
            tolerance = 1e-30 if dtype in ("f32", "f64", "f16", "bf16") else 0
            yield Case("red_%d_%s_%s" % (number, kind, dtype), body.text(), [("a", shape, dtype, values)],
                       [("c", out, result_type, expected, tolerance)], threads)


def softmax(arch, rng):
    for number, (rows, columns, block, threads) in enumerate([(6, 1000, 1, 256), (7, 96, 4, 64), (16, 80, 4, 512), (3, 2048, 1, 512)]):
        shape = (block, columns)
        a = numbers(rng, rows * columns, "f32")
        body = Body()
        b = body.let("gpu.block_id x")
        narrow = body.let("arith.index_cast %s : index to i32" % b)
        size = body.let("arith.constant %d : i32" % block)
        base = body.let("arith.muli %s, %s : i32" % (narrow, size))
        zero = body.let("arith.constant 0 : i32")
        x = body.load("a", shape, "f32", ("R", columns), [base, zero])
        t, r = tile(shape, "f32"), tile((block,), "f32")
        u = tile((block, 1), "f32")
        m = body.let("atx.tile_reduce max %s axes [1] : %s -> %s" % (x, t, r))
        m1 = body.let("vector.shape_cast %s : %s to %s" % (m, r, u))
        m2 = body.let("vector.broadcast %s : %s to %s" % (m1, u, t))
        d = body.let("arith.subf %s, %s : %s" % (x, m2, t))
        e = body.let("math.exp %s : %s" % (d, t))
        s = body.let("atx.tile_reduce sum %s axes [1] : %s -> %s" % (e, t, r))
        s1 = body.let("vector.shape_cast %s : %s to %s" % (s, r, u))
        s2 = body.let("vector.broadcast %s : %s to %s" % (s1, u, t))
        q = body.let("arith.divf %s, %s : %s" % (e, s2, t))
        body.store(q, "c", shape, "f32", ("R", columns), [base, zero])
        expected = []
        for i in range(rows):
            row = a[i * columns:(i + 1) * columns]
            top = max(row)
            powers = [math.exp(v - top) for v in row]
            expected += [p / math.fsum(powers) for p in powers]
        yield Case("softmax_%d" % number, body.text(), [("a", ("R", columns), "f32", a)],
                   [("c", ("R", columns), "f32", expected, 2e-6)], threads, (-(-rows // block), 1, 1), [("R", "dim", rows)])


def control(arch, rng):
    # A loop with carried tiles and scalars, a branch, a while loop.
    for threads in (64, 256):
        rows, columns = 24, 48
        a = small_integers(rng, rows * columns, "f32")
        body = Body()
        body.add("""%c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %n = arith.constant 24 : i32
  %z = arith.constant dense<0.0> : vector<48xf32>
  %one = arith.constant 1 : i32
  %iota = atx.tile_iota : vector<48xi32>
  %i8 = atx.tile_iota : vector<8xi32>
  %col = vector.shape_cast %iota : vector<48xi32> to vector<1x48xi32>
  %sum, %turns = scf.for %i = %c0 to %n step %c8 iter_args(%acc = %z, %t = %c0) -> (vector<48xf32>, i32) : i32 {
    %b = vector.broadcast %i : i32 to vector<8xi32>
    %r = arith.addi %b, %i8 : vector<8xi32>
    %row = vector.shape_cast %r : vector<8xi32> to vector<8x1xi32>
    %x = atx.tile_load %a[%row, %col] : memref<24x48xf32>, vector<8x1xi32>, vector<1x48xi32> -> vector<8x48xf32>
    %s = atx.tile_reduce sum %x axes [0] : vector<8x48xf32> -> vector<48xf32>
    %next = arith.addf %acc, %s : vector<48xf32>
    %u = arith.addi %t, %one : i32
    scf.yield %next, %u : vector<48xf32>, i32
  }
  %three = arith.constant 3 : i32
  %same = arith.cmpi eq, %turns, %three : i32
  %picked = scf.if %same -> vector<48xf32> {
    %d = arith.addf %sum, %sum : vector<48xf32>
    scf.yield %d : vector<48xf32>
  } else {
    scf.yield %z : vector<48xf32>
  }
  atx.tile_store %picked, %c[%iota] : vector<48xf32>, memref<48xf32>, vector<48xi32>
  // Halves until the sum of all is below 10; the count is a scalar of the loop.
  %ten = arith.constant 10.0 : f32
  %half = arith.constant dense<0.5> : vector<48xf32>
  %abs = math.absf %picked : vector<48xf32>
  %w, %k = scf.while (%v = %abs, %m = %c0) : (vector<48xf32>, i32) -> (vector<48xf32>, i32) {
    %total = atx.tile_reduce sum %v axes [0] : vector<48xf32> -> f32
    %more = arith.cmpf ogt, %total, %ten : f32
    scf.condition(%more) %v, %m : vector<48xf32>, i32
  } do {
  ^bb0(%v: vector<48xf32>, %m: i32):
    %h = arith.mulf %v, %half : vector<48xf32>
    %p = arith.addi %m, %one : i32
    scf.yield %h, %p : vector<48xf32>, i32
  }
  atx.tile_store %k, %e[%c0] : i32, memref<1xi32>, i32
  atx.tile_store %w, %g[%iota] : vector<48xf32>, memref<48xf32>, vector<48xi32>""")
        sums = [2 * math.fsum(a[i * columns + j] for i in range(rows)) for j in range(columns)]
        state, halves = [abs(s) for s in sums], 0
        while math.fsum(state) > 10:
            state, halves = [s * 0.5 for s in state], halves + 1
        yield Case("loop_%d" % threads, body.text(), [("a", (rows, columns), "f32", a)],
                   [("c", (columns,), "f32", sums, 1e-30), ("e", (1,), "i32", [halves], 0),
                    ("g", (columns,), "f32", state, 1e-30)], threads)


def product(arch, rng):
    fnuz = arch == "gfx942"
    eight = "f8E4M3FNUZ" if fnuz else "f8E4M3FN"
    other = "f8E5M2FNUZ" if fnuz else "f8E5M2"
    types = [("bf16", "bf16", "f32"), ("f16", "f16", "f32"), (eight, eight, "f32"), (other, other, "f32"), ("i8", "i8", "i32"),
             ("f32", "f32", "f32"), ("f64", "f64", "f64"), ("i32", "i32", "i32"), ("bf16", "bf16", "bf16"), ("i16", "i16", "i32"),
             ("f8E4M3FN" if fnuz else "f8E4M3FNUZ",) * 2 + ("f32",)]
    shapes = [(16, 16, 16), (5, 7, 3), (80, 96, 72), (1, 96, 33), (128, 32, 64), (32, 32, 128)]
    number = 0
    for lhs, rhs, acc in types:
        for m, n, k in shapes:
            number += 1
            if acc in ("bf16", "f64") and m * n * k > 300000:
                continue
            threads = THREADS[number % 3]
            transposed = number % 2 == 0

            def data(count_, dtype):
                if dtype in SMALL:
                    # Codes of small integers.
                    values = [float(rng.randint(-3, 3)) for _ in range(count_)]
                    return values, [encode_small(v, dtype, False) for v in values]
                values = small_integers(rng, count_, dtype, 3)
                return values, values

            a, a_codes = data(m * k, lhs)
            b, b_codes = data(n * k, rhs)
            start = small_integers(rng, m * n, acc, 3)
            b_shape = (n, k) if transposed else (k, n)
            body = Body()
            x, y = body.load("a", (m, k), lhs), body.load("b", b_shape, rhs)
            z = body.load("s", (m, n), acc)
            maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (%s)>, affine_map<(m, n, k) -> (m, n)>" % (
                "n, k" if transposed else "k, n")
            r = body.let('vector.contract {indexing_maps = [%s], iterator_types = ["parallel", "parallel", "reduction"], '
                         'kind = #vector.kind<add>} %s, %s, %s : %s, %s into %s' % (
                             maps, x, y, z, tile((m, k), lhs), tile(b_shape, rhs), tile((m, n), acc)))
            body.store(r, "c", (m, n), acc)
            expected = []
            for i, j in indices((m, n)):
                terms = sum(a[i * k + t] * (b[j * k + t] if transposed else b[t * n + j]) for t in range(k))
                total = start[i * n + j] + terms
                expected.append(total if acc != "bf16" else bf16(total))
            # Sums in bf16 round at each step.
            tolerance = 0.2 if acc == "bf16" else 1e-30 if not acc.startswith("i") else 0
            yield Case("dot_%d_%s_%s" % (number, lhs, acc), body.text(),
                       [("a", (m, k), lhs, a_codes), ("b", b_shape, rhs, b_codes), ("s", (m, n), acc, start)],
                       [("c", (m, n), acc, expected, tolerance)], threads)
    # A batch, and a product of a product.
    for threads in (64, 256):
        h, m, n, k = 3, 20, 24, 40
        a, b = small_integers(rng, h * m * k, "bf16", 2), small_integers(rng, h * n * k, "bf16", 2)
        body = Body()
        x, y = body.load("a", (h, m, k), "bf16"), body.load("b", (h, n, k), "bf16")
        z = body.let("arith.constant dense<0.0> : vector<3x20x24xf32>")
        z2 = body.let("arith.constant dense<0.0> : vector<3x20x40xf32>")
        r = body.let('vector.contract {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, '
                     'affine_map<(h, m, n, k) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"], '
                     'kind = #vector.kind<add>} %s, %s, %s : vector<3x20x40xbf16>, vector<3x24x40xbf16> into vector<3x20x24xf32>' % (x, y, z))
        t = body.let("arith.truncf %s : vector<3x20x24xf32> to vector<3x20x24xbf16>" % r)
        q = body.let('vector.contract {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, '
                     'affine_map<(h, m, n, k) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"], '
                     'kind = #vector.kind<add>} %s, %s, %s : vector<3x20x24xbf16>, vector<3x24x40xbf16> into vector<3x20x40xf32>' % (t, y, z2))
        body.store(q, "c", (h, m, k), "f32")
        expected = []
        first = {}
        for g, i, j in indices((h, m, n)):
            first[g, i, j] = bf16(sum(a[(g * m + i) * k + u] * b[(g * n + j) * k + u] for u in range(k)))
        for g, i, u in indices((h, m, k)):
            expected.append(float(sum(first[g, i, j] * b[(g * n + j) * k + u] for j in range(n))))
        yield Case("batch_%d" % threads, body.text(), [("a", (h, m, k), "bf16", a), ("b", (h, n, k), "bf16", b)],
                   [("c", (h, m, k), "f32", expected, 1e-30)], threads)


def scan(arch, rng):
    functions = {"sum": lambda a, b: a + b, "prod": lambda a, b: a * b, "max": max, "min": min}
    number = 0
    for kind, dtype in [("sum", "i32"), ("sum", "f32"), ("prod", "i16"), ("max", "f32"), ("min", "i8"), ("sum", "i64"), ("max", "i32"),
                        ("min", "f16"), ("sum", "f64"), ("umax", "i32"), ("umin", "i32")]:
        for shape, axis in [((5,), 0), ((1000,), 0), ((16, 40), 1), ((40, 16), 0), ((3, 5, 70), 1), ((2, 512), 1), ((1, 96), 0)]:
            for exclusive, reverse in ((False, False), (True, False), (False, True), (True, True)):
                number += 1
                if number % 4 != 0 and count(shape) > 500:
                    continue
                threads = THREADS[number % 3]
                n = count(shape)
                values = small_integers(rng, n, dtype, 3)
                if kind.startswith("u"):
                    values = numbers(rng, n, dtype)
                body = Body()
                x = body.load("a", shape, dtype)
                flags = ", ".join(f for f, on in (("exclusive", exclusive), ("reverse", reverse)) if on)
                r = body.let("atx.tile_scan %s %s axis %d%s : %s" % (kind, x, axis, " {%s}" % flags if flags else "", tile(shape, dtype)))
                body.store(r, "c", shape, dtype)
                bits = SIZES[dtype] * 8
                if dtype.startswith("i"):
                    neutral = {"sum": 0, "prod": 1, "max": -(1 << (bits - 1)), "min": (1 << (bits - 1)) - 1, "umax": 0, "umin": -1}[kind]
                else:
                    neutral = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[kind]

                def join(u, v):
                    if kind.startswith("u"):
                        mask = (1 << bits) - 1
                        return wrap((max if kind == "umax" else min)(u & mask, v & mask), dtype)
                    w = functions[kind](u, v)
                    return wrap(w, dtype) if dtype.startswith("i") else w

                expected = [0] * n
                for index in indices(shape):
                    if index[axis] != 0:
                        continue
                    line = [ravel(index[:axis] + (i,) + index[axis + 1:], shape) for i in range(shape[axis])]
                    if reverse:
                        line.reverse()
                    state = neutral
                    for at in line:
                        if exclusive:
                            expected[at] = state
                        state = join(state, values[at])
                        if not exclusive:
                            expected[at] = state
                tolerance = 1e-30 if dtype.startswith("f") else 0
                yield Case("scan_%d_%s_%s" % (number, kind, dtype), body.text(), [("a", shape, dtype, values)],
                           [("c", shape, dtype, expected, tolerance)], threads)


def select(arch, rng):
    number = 0

    def order(values, smallest, is_unsigned, dtype):
        def key(i):
            v = values[i]
            if isinstance(v, float):
                nan = math.isnan(v)
                return (nan, 0.0 if nan else v)
            return (False, v & ((1 << SIZES[dtype] * 8) - 1) if is_unsigned else v)
        # Stable in both directions.
        if smallest:
            return sorted(range(len(values)), key=key)
        result = sorted(range(len(values)), key=lambda i: key(i), reverse=True)
        return result

    for dtype, is_unsigned in (("f32", False), ("i32", False), ("i32", True), ("bf16", False), ("i8", False), ("i64", False), ("f64", False)):
        for shape, axis, k in [((5,), 0, 5), ((256,), 0, 8), ((8, 33), 1, 4), ((24, 6), 0, 24), ((3, 5, 16), 2, 1), ((96,), 0, 96)]:
            number += 1
            smallest = number % 2 == 0
            threads = THREADS[number % 3]
            n = count(shape)
            values = small_integers(rng, n, dtype, 6) if number % 3 else numbers(rng, n, dtype)
            if dtype == "f32" and number % 2:
                values[rng.randrange(n)] = math.nan
            out = shape[:axis] + (k,) + shape[axis + 1:]
            body = Body()
            x = body.load("a", shape, dtype)
            flags = ", ".join(f for f, on in (("smallest", smallest), ("is_unsigned", is_unsigned)) if on)
            v, p = body.name(), body.name()
            body.add("%s, %s = atx.tile_topk %s k %d axis %d%s : %s -> %s, %s" % (
                v, p, x, k, axis, " {%s}" % flags if flags else "", tile(shape, dtype), tile(out, dtype), tile(out, "i32")))
            body.store(v, "c", out, dtype)
            body.store(p, "p", out, "i32")
            expected, positions = [None] * count(out), [None] * count(out)
            for index in indices(shape):
                if index[axis] != 0:
                    continue
                line = [values[ravel(index[:axis] + (i,) + index[axis + 1:], shape)] for i in range(shape[axis])]
                for place, at in enumerate(order(line, smallest, is_unsigned, dtype)[:k]):
                    to = ravel(index[:axis] + (place,) + index[axis + 1:], out)
                    expected[to], positions[to] = line[at], at
            yield Case("topk_%d_%s" % (number, dtype), body.text(), [("a", shape, dtype, values)],
                       [("c", out, dtype, expected, 0), ("p", out, "i32", positions, 0)], threads)
    for dtype in ("i32", "i8", "i64"):
        for shape, axis in (((100,), 0), ((6, 40), 1), ((40, 3), 0)):
            number += 1
            threads = THREADS[number % 3]
            n = count(shape)
            values = small_integers(rng, n, dtype, 3)
            body = Body()
            x = body.load("a", shape, dtype)
            r = body.let("atx.tile_rank %s axis %d : %s -> %s" % (x, axis, tile(shape, dtype), tile(shape, "i32")))
            body.store(r, "c", shape, "i32")
            bins = 5
            h = body.let("atx.tile_histogram %s : %s -> vector<%dxi32>" % (x, tile(shape, dtype), bins))
            body.store(h, "h", (bins,), "i32")
            expected = []
            for index in indices(shape):
                line = [values[ravel(index[:axis] + (i,) + index[axis + 1:], shape)] for i in range(index[axis])]
                expected.append(sum(v == values[ravel(index, shape)] for v in line))
            yield Case("rank_%d" % number, body.text(), [("a", shape, dtype, values)],
                       [("c", shape, "i32", expected, 0), ("h", (bins,), "i32", [values.count(i) for i in range(bins)], 0)], threads)
    for dtype in ("f32", "bf16", "i1", "i64"):
        for shapes, axis in ((((3,), (5,), (1,)), 0), (((4, 3), (4, 9)), 1), (((2, 5), (6, 5)), 0)):
            number += 1
            threads = THREADS[number % 3]
            data = [numbers(rng, count(s), dtype) for s in shapes]
            out = shapes[0][:axis] + (sum(s[axis] for s in shapes),) + shapes[0][axis + 1:]
            body = Body()
            xs = [body.load("a%d" % i, s, dtype) for i, s in enumerate(shapes)]
            r = body.let("atx.tile_concat %s axis %d : %s -> %s" % (", ".join(xs), axis, ", ".join(tile(s, dtype) for s in shapes),
                                                                 tile(out, dtype)))
            body.store(r, "c", out, dtype)
            # And elements of it by index, some of them outside.
            chosen = 6
            wanted = [rng.randint(-1, out[axis]) for _ in range(chosen)]
            index_shape = tuple(chosen if a == axis else 1 for a in range(len(out)))
            taken_shape = tuple(chosen if a == axis else e for a, e in enumerate(out))
            body.add("%%w = atx.tile_iota : vector<%dxi32>" % chosen)
            loaded = body.let("atx.tile_load %%i[%%w] : memref<%dxi32>, vector<%dxi32> -> vector<%dxi32>" % (chosen, chosen, chosen))
            if len(out) > 1:
                loaded = body.let("vector.shape_cast %s : vector<%dxi32> to %s" % (loaded, chosen, tile(index_shape, "i32")))
            t = body.let("atx.tile_take %s, %s axis %d : %s, %s -> %s" % (r, loaded, axis, tile(out, dtype), tile(index_shape, "i32"),
                                                                       tile(taken_shape, dtype)))
            body.store(t, "t", taken_shape, dtype)
            expected = [None] * count(out)
            start = 0
            for s, values in zip(shapes, data):
                for at, index in enumerate(indices(s)):
                    to = tuple(i + start if a == axis else i for a, i in enumerate(index))
                    expected[ravel(to, out)] = values[at]
                start += s[axis]
            taken = []
            for index in indices(taken_shape):
                i = wanted[index[axis]]
                inside = 0 <= i < out[axis]
                zero = 0 if dtype.startswith("i") else 0.0
                taken.append(expected[ravel(index[:axis] + (i,) + index[axis + 1:], out)] if inside else zero)
            yield Case("concat_%d_%s" % (number, dtype), body.text(),
                       [("a%d" % i, s, dtype, d) for i, (s, d) in enumerate(zip(shapes, data))] + [("i", (chosen,), "i32", wanted)],
                       [("c", out, dtype, expected, 0), ("t", taken_shape, dtype, taken, 0)], threads)


def shapes(arch, rng):
    number = 0
    for dtype in ("f32", "i8", "bf16", "i64", "i1"):
        for threads in THREADS:
            number += 1
            a = numbers(rng, 12 * 40, dtype)
            body = Body()
            x = body.load("a", (12, 40), dtype)
            t = body.let("vector.transpose %s, [1, 0] : %s to %s" % (x, tile((12, 40), dtype), tile((40, 12), dtype)))
            body.store(t, "t", (40, 12), dtype)
            s = body.let("vector.extract_strided_slice %s {offsets = [3, 8], sizes = [5, 17], strides = [1, 1]} : %s to %s" % (
                x, tile((12, 40), dtype), tile((5, 17), dtype)))
            body.store(s, "s", (5, 17), dtype)
            r = body.let("vector.shape_cast %s : %s to %s" % (x, tile((12, 40), dtype), tile((6, 5, 16), dtype)))
            body.store(r, "r", (6, 5, 16), dtype)
            yield Case("shape_%d" % number, body.text(), [("a", (12, 40), dtype, a)],
                       [("t", (40, 12), dtype, [a[j * 40 + i] for i, j in indices((40, 12))], 0),
                        ("s", (5, 17), dtype, [a[(i + 3) * 40 + j + 8] for i, j in indices((5, 17))], 0),
                        ("r", (6, 5, 16), dtype, a, 0)], threads)
    # A conversion that does not fit into the shared memory of gfx942 goes in parts.
    a = numbers(rng, 200 * 128, "f32")
    body = Body()
    x = body.load("a", (200, 128), "f32")
    first = body.let('atx.tile_pin %s layout "((32,8),(4,25)):((4,128),(1,1024))" : vector<200x128xf32>' % x)
    d = body.let("math.absf %s : vector<200x128xf32>" % first)
    body.store(d, "d", (200, 128), "f32")
    p = body.let('atx.tile_pin %s layout "((64,4),(2,50)):((1,128),(64,512))" : vector<200x128xf32>' % d)
    body.store(p, "c", (200, 128), "f32")
    yield Case("parts", body.text(), [("a", (200, 128), "f32", a)],
               [("d", (200, 128), "f32", [abs(v) for v in a], 0), ("c", (200, 128), "f32", [abs(v) for v in a], 0)], 256)
    # Pinned layouts and programs of one lane.
    a = numbers(rng, 16 * 64, "f32")
    body = Body()
    x = body.load("a", (16, 64), "f32")
    p = body.let('atx.tile_pin %s layout "(((16,4),4),4):(((4,64),256),1)" : vector<16x64xf32>' % x)
    r = body.let("""atx.tile_raw (%s) : (vector<16x64xf32>) -> vector<16x64xf32> {
  ^bb0(%%f: vector<4xf32>):
    %%g = vector.shuffle %%f, %%f [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
    atx.tile_yield %%g : vector<4xf32>
  }""" % p)
    body.store(r, "c", (16, 64), "f32")
    yield Case("raw", body.text(), [("a", (16, 64), "f32", a)],
               [("c", (16, 64), "f32", [a[i * 64 + j // 4 * 4 + 3 - j % 4] for i, j in indices((16, 64))], 0)], 256)


def convert(arch, rng):
    number = 0
    specials = [0.0, -0.0, math.inf, -math.inf, math.nan, 448.0, 464.0, 480.0, 240.0, 248.0, 57344.0, 61440.0, 65536.0, 1e-8, -1e-8, 2.0 ** -9,
                2.0 ** -10, 1.5 * 2.0 ** -10, 2.0 ** -16, 2.0 ** -17, 3 * 2.0 ** -17, 2.0 ** -18, 1e30, -1e30]
    for small in SMALL:
        for dtype in ("f32", "bf16", "f16", "f64"):
            for saturate in (False, True):
                number += 1
                values = [rounding(dtype)(v) for v in specials]
                values += [rounding(dtype)(math.copysign(2.0 ** rng.uniform(-20, 18), rng.random() - 0.5)) for _ in range(256 - len(values))]
                body = Body()
                x = body.load("a", (256,), dtype)
                y = body.let("atx.tile_convert %s%s : vector<256x%s> -> vector<256x%s>" % (x, " {saturate}" if saturate else "", dtype, small))
                body.store(y, "c", (256,), small)
                yield Case("narrow_%d" % number, body.text(), [("a", (256,), dtype, values)],
                           [("c", (256,), small, [encode_small(v, small, saturate) for v in values], 0)], THREADS[number % 3])
        for dtype in ("f32", "bf16", "f16", "f64"):
            number += 1
            codes = list(range(256))
            body = Body()
            x = body.load("a", (256,), small)
            y = body.let("arith.extf %s : vector<256x%s> to vector<256x%s>" % (x, small, dtype))
            body.store(y, "c", (256,), dtype)
            yield Case("widen_%d" % number, body.text(), [("a", (256,), small, codes)],
                       [("c", (256,), dtype, [decode_small(c, small) for c in codes], 0)], THREADS[number % 3])
    for dtype in ("f32", "bf16", "f64"):
        for to in ("i8", "i16", "i32", "i64"):
            for is_unsigned in (False, True):
                number += 1
                values = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.0, 128.0, -128.0, -129.0, 255.5, 256.0, 32768.0, 65535.0, 2147483648.0, -2147483648.0,
                          4294967296.0, 1e19, -1e19, 2e19, math.inf, -math.inf, math.nan]
                values = [rounding(dtype)(v) for v in values]
                bits = SIZES[to] * 8
                low, high = (0, (1 << bits) - 1) if is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
                expected = []
                for v in values:
                    n = 0 if math.isnan(v) else low if v == -math.inf else high if v == math.inf else max(low, min(high, int(v)))
                    expected.append(wrap(n, to))
                shape = (len(values),)
                body = Body()
                x = body.load("a", shape, dtype)
                y = body.let("atx.tile_convert %s%s : %s -> %s" % (x, " {is_unsigned}" if is_unsigned else "", tile(shape, dtype), tile(shape, to)))
                body.store(y, "c", shape, to)
                yield Case("int_%d_%s_%s" % (number, dtype, to), body.text(), [("a", shape, dtype, values)], [("c", shape, to, expected, 0)],
                           THREADS[number % 3])


def atomics(arch, rng):
    number = 0
    functions = {"add": lambda a, b: a + b, "max": max, "min": min, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
                 "xor": lambda a, b: a ^ b}
    for kind, dtype in [("add", "i32"), ("add", "f32"), ("max", "i32"), ("min", "i64"), ("umax", "i32"), ("umin", "i64"), ("and", "i32"),
                        ("or", "i64"), ("xor", "i32"), ("add", "f64"), ("add", "f16"), ("add", "bf16"), ("max", "f32"), ("min", "f32")]:
        for threads in (64, 256):
            for masked in (False, True):
                number += 1
                n, bins = 80, 16
                where = [rng.randint(-2, bins + 1) for _ in range(n)]
                values = small_integers(rng, n, dtype, 4)
                start = small_integers(rng, bins, dtype, 4)
                flags = [rng.randint(0, 1) for _ in range(n)]
                body = Body()
                w, v = body.load("w", (n,), "i32"), body.load("v", (n,), dtype)
                m = body.load("m", (n,), "i1")
                old = body.name()
                body.add("%s = atx.tile_atomic %s %s, %%c[%s]%s : %s, %s, vector<%dxi32>%s" % (
                    old, kind, v, w, " mask " + m if masked else "", tile((n,), dtype), memref((bins,), dtype), n,
                    " mask vector<%dxi1>" % n if masked else ""))
                expected = list(start)
                bits = SIZES[dtype] * 8
                for at, value, on in zip(where, values, flags):
                    if not 0 <= at < bins or (masked and not on):
                        continue
                    if kind.startswith("u"):
                        mask = (1 << bits) - 1
                        expected[at] = wrap((max if kind == "umax" else min)(expected[at] & mask, value & mask), dtype)
                    else:
                        r = functions[kind](expected[at], value)
                        expected[at] = wrap(r, dtype) if dtype.startswith("i") else r
                yield Case("atomic_%d_%s_%s" % (number, kind, dtype), body.text(),
                           [("w", (n,), "i32", where), ("v", (n,), dtype, values), ("m", (n,), "i1", flags)],
                           [("c", (bins,), dtype, expected, (0 if dtype.startswith("i") else 1e-30, start))], threads)
    # Old values: a permutation, so that each is known.
    for threads in THREADS:
        for kind in ("exchange", "cas", "add"):
            n = 37
            where = list(range(n))
            rng.shuffle(where)
            start, values = numbers(rng, n, "i32"), numbers(rng, n, "i32")
            compare = [start[w] if i % 2 else 12345 for i, w in enumerate(where)]
            body = Body()
            w, v, q = body.load("w", (n,), "i32"), body.load("v", (n,), "i32"), body.load("q", (n,), "i32")
            old = body.let("atx.tile_atomic %s %s, %%c[%s]%s : vector<37xi32>, memref<37xi32>, vector<37xi32>" % (
                kind, v, w, " cmp " + q if kind == "cas" else ""))
            body.store(old, "o", (n,), "i32")
            expected = list(start)
            for i, at in enumerate(where):
                if kind == "exchange" or (kind == "cas" and compare[i] == start[at]):
                    expected[at] = values[i]
                elif kind == "add":
                    expected[at] = wrap(start[at] + values[i], "i32")
            yield Case("old_%s_%d" % (kind, threads), body.text(),
                       [("w", (n,), "i32", where), ("v", (n,), "i32", values), ("q", (n,), "i32", compare)],
                       [("c", (n,), "i32", expected, (0, start)), ("o", (n,), "i32", [start[at] for at in where], 0)], threads)
    # One number for the workgroup.
    body = Body()
    body.add("""%zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %was = atx.tile_atomic add %one, %c[%zero] : i32, memref<1xi32>, i32
  atx.tile_store %one, %o[%was] : i32, memref<7xi32>, i32""")
    yield Case("ticket", body.text(), [], [("c", (1,), "i32", [5], (0, [0])), ("o", (7,), "i32", [1, 1, 1, 1, 1, 0, 0], (0, [0] * 7))], 256,
               (5, 1, 1))


class Program:
    """A random program on i32 tiles and its values."""

    def __init__(self, rng):
        self.rng, self.body, self.inputs, self.values = rng, Body(), [], []

    def dim(self):
        return self.rng.choice([1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 48])

    def add(self, name, shape, data):
        self.values.append((name, tuple(shape), data))
        return self.values[-1]

    def pick(self, rank=None):
        pool = [v for v in self.values if rank is None or len(v[1]) == rank]
        return self.rng.choice(pool) if pool else None

    def load(self):
        shape = tuple(self.dim() for _ in range(self.rng.randint(1, 3)))
        if count(shape) > 4096:
            return
        data = [self.rng.randint(-9, 9) for _ in range(count(shape))]
        name = "in%d" % len(self.inputs)
        self.inputs.append((name, shape, "i32", data))
        self.add(self.body.load(name, shape, "i32"), shape, data)

    def iota(self):
        n = self.dim()
        self.add(self.body.let("atx.tile_iota : vector<%dxi32>" % n), (n,), list(range(n)))

    def constant(self):
        shape, v = self.pick()[1], self.rng.randint(-5, 5)
        self.add(self.body.let("arith.constant dense<%d> : %s" % (v, tile(shape, "i32"))), shape, [v] * count(shape))

    def binary(self):
        x = self.pick()
        same = [v for v in self.values if v[1] == x[1]]
        y = self.rng.choice(same)
        op, function = self.rng.choice([("arith.addi", lambda a, b: a + b), ("arith.subi", lambda a, b: a - b), ("arith.muli", lambda a, b: a * b),
                                        ("arith.xori", lambda a, b: a ^ b), ("arith.maxsi", max), ("arith.minsi", min)])
        r = self.body.let("%s %s, %s : %s" % (op, x[0], y[0], tile(x[1], "i32")))
        self.add(r, x[1], [wrap(function(a, b), "i32") for a, b in zip(x[2], y[2])])

    def select(self):
        x = self.pick()
        same = [v for v in self.values if v[1] == x[1]]
        y, z = self.rng.choice(same), self.rng.choice(same)
        c = self.body.let("arith.cmpi slt, %s, %s : %s" % (x[0], y[0], tile(x[1], "i32")))
        r = self.body.let("arith.select %s, %s, %s : %s, %s" % (c, y[0], z[0], tile(x[1], "i1"), tile(x[1], "i32")))
        self.add(r, x[1], [b if a < b else d for a, b, d in zip(x[2], y[2], z[2])])

    def broadcast(self):
        x = self.pick()
        if len(x[1]) > 2:
            return
        shape = (self.dim(),) + x[1] if self.rng.random() < 0.5 else x[1]
        n = self.dim()
        name, data, source = x[0], x[2], x[1]
        if shape == x[1]:
            # A new last dimension.
            unit = x[1] + (1,)
            name = self.body.let("vector.shape_cast %s : %s to %s" % (name, tile(x[1], "i32"), tile(unit, "i32")))
            source, shape = unit, x[1] + (n,)
            data = [v for v in x[2] for _ in range(n)]
        else:
            data = x[2] * shape[0]
        if count(shape) > 4096:
            return
        self.add(self.body.let("vector.broadcast %s : %s to %s" % (name, tile(source, "i32"), tile(shape, "i32"))), shape, data)

    def reduce(self):
        x = self.pick()
        if len(x[1]) < 2:
            return
        axis = self.rng.randrange(len(x[1]))
        kind = self.rng.choice(["sum", "max", "min", "argmax"])
        kept = x[1][:axis] + x[1][axis + 1:]
        groups = {}
        for at, index in enumerate(indices(x[1])):
            groups.setdefault(index[:axis] + index[axis + 1:], []).append(x[2][at])
        function = {"sum": lambda g: wrap(sum(g), "i32"), "max": max, "min": min, "argmax": lambda g: g.index(max(g))}[kind]
        r = self.body.let("atx.tile_reduce %s %s axes [%d] : %s -> %s" % (kind, x[0], axis, tile(x[1], "i32"), tile(kept, "i32")))
        self.add(r, kept, [function(groups[i]) for i in indices(kept)])

    def scan(self):
        x = self.pick()
        axis = self.rng.randrange(len(x[1]))
        r = self.body.let("atx.tile_scan sum %s axis %d : %s" % (x[0], axis, tile(x[1], "i32")))
        data = list(x[2])
        for index in indices(x[1]):
            if index[axis]:
                at = ravel(index, x[1])
                data[at] = wrap(data[at] + data[ravel(index[:axis] + (index[axis] - 1,) + index[axis + 1:], x[1])], "i32")
        self.add(r, x[1], data)

    def transpose(self):
        x = self.pick()
        order = list(range(len(x[1])))
        self.rng.shuffle(order)
        shape = tuple(x[1][o] for o in order)
        r = self.body.let("vector.transpose %s, [%s] : %s to %s" % (x[0], ", ".join(map(str, order)), tile(x[1], "i32"), tile(shape, "i32")))
        data = []
        for index in indices(shape):
            source = [0] * len(order)
            for to, o in enumerate(order):
                source[o] = index[to]
            data.append(x[2][ravel(source, x[1])])
        self.add(r, shape, data)

    def slice(self):
        x = self.pick()
        sizes = [self.rng.randint(1, e) for e in x[1]]
        starts = [self.rng.randint(0, e - n) for e, n in zip(x[1], sizes)]
        r = self.body.let("vector.extract_strided_slice %s {offsets = %s, sizes = %s, strides = %s} : %s to %s" % (
            x[0], starts, sizes, [1] * len(sizes), tile(x[1], "i32"), tile(sizes, "i32")))
        self.add(r, sizes, [x[2][ravel([i + o for i, o in zip(index, starts)], x[1])] for index in indices(sizes)])

    def reshape(self):
        x = self.pick()
        n = count(x[1])
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        a = self.rng.choice(divisors)
        shape = (a, n // a)
        r = self.body.let("vector.shape_cast %s : %s to %s" % (x[0], tile(x[1], "i32"), tile(shape, "i32")))
        self.add(r, shape, x[2])

    def concat(self):
        x = self.pick()
        same = [v for v in self.values if v[1][1:] == x[1][1:] and len(v[1]) == len(x[1])]
        y = self.rng.choice(same)
        shape = (x[1][0] + y[1][0],) + x[1][1:]
        if count(shape) > 4096:
            return
        r = self.body.let("atx.tile_concat %s, %s axis 0 : %s, %s -> %s" % (x[0], y[0], tile(x[1], "i32"), tile(y[1], "i32"), tile(shape, "i32")))
        self.add(r, shape, x[2] + y[2])

    def loop(self):
        """Carries a tile; each turn adds another one and a sum of the carried."""
        x = self.pick()
        y = self.rng.choice([v for v in self.values if v[1] == x[1]])
        turns = self.rng.randint(0, 3)
        t = tile(x[1], "i32")
        n, r, a, b, c, l, h, o = [self.body.name() for _ in range(8)]
        self.body.add("%s = arith.constant %d : index\n  %s = arith.constant 0 : index\n  %s = arith.constant 1 : index" % (n, turns, l, o))
        axes = ", ".join(map(str, range(len(x[1]))))
        self.body.add("""%s = scf.for %%i = %s to %s step %s iter_args(%s = %s) -> (%s) {
    %s = atx.tile_reduce max %s axes [%s] : %s -> i32
    %s = vector.broadcast %s : i32 to %s
    %%s = arith.addi %s, %s : %s
    %%t = arith.xori %%s, %s : %s
    scf.yield %%t : %s
  }""" % (r, l, n, o, a, x[0], t, b, a, axes, t, c, b, t, a, y[0], t, c, t, t))
        data = list(x[2])
        for _ in range(turns):
            top = max(data)
            data = [wrap(u + v, "i32") ^ top for u, v in zip(data, y[2])]
        self.add(r, x[1], data)

    def branch(self):
        x = self.pick()
        y = self.rng.choice([v for v in self.values if v[1] == x[1]])
        s, c, z, r = [self.body.name() for _ in range(4)]
        axes = ", ".join(map(str, range(len(x[1]))))
        t = tile(x[1], "i32")
        self.body.add("%s = atx.tile_reduce sum %s axes [%s] : %s -> i32\n  %s = arith.constant 0 : i32" % (s, x[0], axes, t, z))
        self.body.add("%s = arith.cmpi sgt, %s, %s : i32" % (c, s, z))
        self.body.add("%s = scf.if %s -> %s {\n    scf.yield %s : %s\n  } else {\n    scf.yield %s : %s\n  }" % (r, c, t, x[0], t, y[0], t))
        self.add(r, x[1], x[2] if wrap(sum(x[2]), "i32") > 0 else y[2])


def random_programs(arch, rng, number=40):
    for program in range(number):
        p = Program(rng)
        p.load()
        p.load()
        p.iota()
        steps = [p.load, p.iota, p.constant, p.binary, p.binary, p.select, p.broadcast, p.broadcast, p.reduce, p.reduce, p.scan, p.transpose,
                 p.slice, p.reshape, p.concat, p.loop, p.branch]
        for _ in range(rng.randint(4, 14)):
            rng.choice(steps)()
        outputs = []
        for at in sorted({len(p.values) - 1, rng.randrange(len(p.values)), rng.randrange(len(p.values))}):
            name, shape, data = p.values[at]
            p.body.store(name, "out%d" % at, shape, "i32")
            outputs.append(("out%d" % at, shape, "i32", data, 0))
        yield Case("random_%d" % program, p.body.text(), p.inputs, outputs, rng.choice(THREADS))


def many_programs(arch, rng):
    yield from random_programs(arch, rng, 400)


GROUPS = {"elementwise": elementwise, "memory": memory, "reduce": reduce, "softmax": softmax, "control": control, "product": product,
          "scan": scan, "select": select, "shapes": shapes, "convert": convert, "atomics": atomics,
          "random": random_programs, "many": many_programs}


def make(group, arch, rng):
    return list(GROUPS[group](arch, rng))
