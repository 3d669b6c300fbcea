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


GROUPS = {"elementwise": elementwise, "memory": memory, "reduce": reduce, "softmax": softmax, "control": control}


def make(group, arch, rng):
    return list(GROUPS[group](arch, rng))
