"""Every function of the operator form on the device against an expectation worked out here.

    cases.py GROUP ...   groups: elementwise integers conversions reductions scans order products shapes plans
launches
"""

import math
import random
import struct
import sys

from harness import ARCH, bf16, check, f16, f32, run, to_bf16

inf, nan = math.inf, math.nan
rng = random.Random(20)


def floats(count, scale=1.0, specials=()):
    values = [f32(rng.uniform(-scale, scale)) for _ in range(count)]
    for index, value in zip(rng.sample(range(count), min(count, len(specials))), specials):
        values[index] = f32(value)
    return values


def ints(count, low, high, specials=()):
    values = [rng.randint(low, high) for _ in range(count)]
    for index, value in zip(rng.sample(range(count), min(count, len(specials))), specials):
        values[index] = value
    return values


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def flat(table):
    return [value for row in table for value in row]


def wrap(value, bits, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


#===- Element by element --------------------------------------------------===#

def elementwise():
    big = [0.0, -0.0, 1e-38, 1e-45, 3e38, inf, -inf, nan, 1.0, -1.0, 0.5, 88.0, -103.0, 1e5, -1e10, 6.5e33, math.pi,
           math.pi / 2, 100 * math.pi, 1e-3, 4.0, 3.99, 0.99999, 1.00001]
    x = floats(150, 10.0, big)
    n = len(x)

    def sine(function):
        return lambda v: nan if math.isinf(v) or math.isnan(v) else function(v)

    def softplus(v):
        return nan if math.isnan(v) else max(v, 0.0) + math.log1p(math.exp(-abs(v)))
    unary = {"erf": (math.erf, 4), "sin": (sine(math.sin), 2), "cos": (sine(math.cos), 2), "softplus": (softplus, 6),
             "trunc": (lambda v: v if math.isinf(v) or math.isnan(v) else float(math.trunc(v)), 0),
             "round": (lambda v: v if math.isinf(v) or math.isnan(v) else float(round(v)), 0)}
    for name, (function, ulps) in unary.items():
        got = run("op f(x: f32[N]) -> (out: f32[N]) { out = %s(x) }" % name, {"N": n}, {"x": x})["out"]
        check(name, got, [float(function(v)) for v in x], ulps=ulps, absolute=2e-38)
    # All magnitudes: the stated accuracies hold for any operand.
    bits = [rng.getrandbits(32) for _ in range(1500)] + [rng.randint(0x3d000000, 0x42800000) for _ in range(500)]
    wide = [v for v in (struct.unpack("<f", struct.pack("<I", b))[0] for b in bits) if not math.isnan(v)]
    names = ["erf", "sin", "cos", "softplus"]
    got = run("op f(x: f32[N]) -> (%s) {\n%s}" % (", ".join(n + "_x: f32[N]" for n in names),
                                                  "".join("  %s_x = %s(x)\n" % (n, n) for n in names)),
              {"N": len(wide)}, {"x": wide})
    for name in names:
        function, ulps = unary[name]
        check(name + " everywhere", got[name + "_x"], [float(function(v)) for v in wide], ulps=ulps, absolute=2e-38)
    got = run("op f(x: f32[N], y: f32[N]) -> (n: i1[N], c: f32[N], d: f32[N], r: f32[N], p: f32[N]) {\n"
              "  n = isnan(x)\n  c = clamp(x, -1.0, 2.0)\n  d = fast_div(x, y)\n  r = fast_sqrt(abs(y))\n  p = fast_exp2(-y)\n}",
              {"N": n}, {"x": x, "y": [3.0 + i for i in range(n)]})
    check("isnan", got["n"], [int(math.isnan(v)) for v in x])
    check("clamp", got["c"], [nan if math.isnan(v) else min(max(v, -1.0), 2.0) for v in x])
    check("fast_div", got["d"], [v / (3.0 + i) for i, v in enumerate(x)], ulps=3, absolute=2e-38)
    check("fast_exp2", got["p"], [2.0 ** -(3.0 + i) for i in range(n)], ulps=1, absolute=2e-38)
    check("fast_sqrt", got["r"], [math.sqrt(3.0 + i) for i in range(n)], ulps=1)
    half = [bf16(v) for v in x]
    got = run("op f(x: bf16[N]) -> (out: bf16[N]) { out = sin(x) }", {"N": n}, {"x": half})["out"]
    check("sin bf16", got, [nan if math.isinf(v) or math.isnan(v) else bf16(math.sin(v)) for v in half],
          relative=1 / 128)


#===- Integers ------------------------------------------------------------===#

def integers():
    for name, bits, signed in (("i8", 8, True), ("u8", 8, False), ("i16", 16, True), ("i32", 32, True),
                               ("u32", 32, False), ("i64", 64, True)):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        edges = [low, high, 0, 1, high - 1, low + 1] + ([-1, -2, 2] if signed else [2, 3])
        a = [x for x in edges for _ in edges] + ints(40, low, high)
        b = [y for _ in edges for y in edges] + ints(40, -5 if signed else 0, 40)
        n = len(a)
        source = """op f(a: TT[N], b: TT[N]) -> (q: TT[N], r: TT[N], l: TT[N], s: TT[N], o: TT[N], c: TT[N], p: TT[N]) {
  q = a / b
  r = a % b
  l = a << b
  s = a >> b
  o = (a & b) | (a ^ ~b)
  c = popcount(a)
  p = a * b - (a + b)
}""".replace("TT", name)
        got = run(source, {"N": n}, {"a": a, "b": b})

        def quotient(x, y):
            return 0 if y == 0 else wrap(x // y, bits, signed)

        def amount(y):
            return y & ((1 << bits) - 1)
        check(name + " /", got["q"], [quotient(x, y) for x, y in zip(a, b)])
        check(name + " %", got["r"], [x if y == 0 else x % y for x, y in zip(a, b)])
        check(name + " <<", got["l"], [0 if amount(y) >= bits else wrap(x << amount(y), bits, signed)
                                      for x, y in zip(a, b)])
        check(name + " >>", got["s"], [x >> min(amount(y), bits) for x, y in zip(a, b)])
        check(name + " bits", got["o"], [wrap((x & y) | (x ^ ~y), bits, signed) for x, y in zip(a, b)])
        check(name + " popcount", got["c"], [bin(x & ((1 << bits) - 1)).count("1") for x in a])
        check(name + " wrap", got["p"], [wrap(x * y - (x + y), bits, signed) for x, y in zip(a, b)])


#===- Conversions ---------------------------------------------------------===#

def decode8(code, name):
    mantissa_bits = 3 if "e4m3" in name else 2
    bias = {"f8e4m3fn": 7, "f8e4m3fnuz": 8, "f8e5m2": 15, "f8e5m2fnuz": 16}[name]
    sign, magnitude = -1.0 if code & 0x80 else 1.0, code & 0x7F
    if name.endswith("fnuz") and code == 0x80:
        return nan
    exponent, mantissa = magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1)
    if name == "f8e4m3fn" and magnitude == 0x7F:
        return nan
    if name == "f8e5m2" and exponent == 31:
        return nan if mantissa else sign * inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)


def encode8(value, name, saturate):
    """Nearest, ties to even, by searching all codes."""
    fnuz = name.endswith("fnuz")
    not_a_number = 0x80 if fnuz else 0x7F
    if math.isnan(value):
        return not_a_number
    codes = [c for c in range(0x80) if not math.isnan(decode8(c, name)) and not math.isinf(decode8(c, name))]
    largest = codes[-1]
    top, step = decode8(largest, name), decode8(largest, name) - decode8(largest - 1, name)
    magnitude = abs(value)
    # A tie beyond the largest goes to the even neighbour, which may be the largest.
    beyond = magnitude > top + step / 2 or (magnitude == top + step / 2 and largest % 2 == 1)
    if beyond or math.isinf(magnitude):
        if saturate:
            code = largest
        elif name == "f8e5m2":
            code = 0x7C
        else:
            return not_a_number if fnuz else (0x7F | (0x80 if math.copysign(1, value) < 0 else 0))
    else:
        code = min(codes, key=lambda c: (abs(decode8(c, name) - magnitude), c % 2))
    if math.copysign(1, value) < 0 and not (fnuz and code == 0):
        code |= 0x80
    return code


def conversions():
    x = floats(60, 500.0, [0.0, -0.0, inf, -inf, nan, 464.0, 465.0, 448.0, -464.0, 240.0, 248.0, 247.9, -250.0, 1e30,
                           57344.0, 61440.0, 61439.0, 1e-9]) + floats(60, 0.1) + [i * 2.0 ** -10 for i in range(20)]
    n = len(x)
    for name in ("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"):
        got = run("op f(x: f32[N]) -> (a: TT[N], b: TT[N], c: f32[N]) {\n  a = TT(x)\n  b = TT(x, saturate = true)\n"
                  "  c = f32(TT(x, saturate = true))\n}".replace("TT", name), {"N": n}, {"x": x})
        for key, saturate in (("a", False), ("b", True)):
            expected = [encode8(v, name, saturate) for v in x]
            # Which NaN it is is not defined.
            def canonical(code):
                return "nan" if math.isnan(decode8(code, name)) else code
            got[key], expected = [canonical(c) for c in got[key]], [canonical(c) for c in expected]
            assert got[key] == expected, (name, saturate, [(v, g, e) for v, g, e in zip(x, got[key], expected) if g != e])
        check(name + " back", got["c"], [decode8(encode8(v, name, True), name) for v in x])
    x = floats(40, 3e5, [nan, inf, -inf, -0.5, 0.5, 254.9, 255.0, 256.0, -1.0, 127.5, -128.9, 3e9, 5e9, 32768.0])
    got = run("op f(x: f32[N]) -> (a: i8[N], b: i16[N], c: u8[N], d: u32[N], e: i64[N]) {\n"
              "  a = i8(x)\n  b = i16(x)\n  c = u8(x)\n  d = u32(x)\n  e = i64(x)\n}", {"N": len(x)}, {"x": x})

    def clamp(value, low, high):
        return 0 if math.isnan(value) else low if value <= low else high if value >= high else math.trunc(value)
    for key, low, high in (("a", -128, 127), ("b", -32768, 32767), ("c", 0, 255), ("d", 0, 2**32 - 1),
                           ("e", -2**63, 2**63 - 1)):
        check("to integer " + key, got[key], [clamp(v, low, high) for v in x])
    got = run("op f(x: f32[N]) -> (out: i32[N]) { out = bitcast(i32, x) }", {"N": len(x)}, {"x": x})["out"]
    check("bitcast", [g for g, v in zip(got, x) if v == v],
          [struct.unpack("<i", struct.pack("<f", v))[0] for v in x if v == v])


#===- Reductions ----------------------------------------------------------===#

def first_largest(row):
    best = 0
    for i, value in enumerate(row):
        if math.isnan(row[best]):
            break
        if math.isnan(value) or value > row[best]:
            best = i
    return best


def reductions():
    for t, h in ((3, 5), (7, 80), (2, 1000), (1, 1), (300, 2)):
        x = floats(t * h, 2.0)
        xs = rows(x, h)
        got = run("""op f(x: f32[T, H]) -> (p: f32[T], m: f32[T], am: i32[T], an: i32[T], y: i1[T], z: i1[T], c: f32[H], all: f32[]) {
  p = prod(x, axis = 1)
  m = mean(x, axis = 1)
  am = argmax(x, axis = 1)
  an = argmin(x, axis = 1)
  y = any(x > 1.5, axis = 1)
  z = all(x > -1.9, axis = 1)
  c = sum(x, axis = 0)
  all = sum(x, axis = (0, 1))
}""", {"T": t, "H": h}, {"x": x}, fixed=["H"] if t == 7 else None)
        check("prod", got["p"], [math.prod(r) for r in xs], relative=1e-4, absolute=1e-30)
        check("mean", got["m"], [math.fsum(r) / h for r in xs], absolute=1e-5)
        check("argmax", got["am"], [first_largest(r) for r in xs])
        check("argmin", got["an"], [first_largest([-v for v in r]) for r in xs])
        check("any", got["y"], [int(any(v > 1.5 for v in r)) for r in xs])
        check("all", got["z"], [int(all(v > f32(-1.9) for v in r)) for r in xs])
        check("columns", got["c"], [math.fsum(r[i] for r in xs) for i in range(h)], absolute=1e-4)
        check("all axes", got["all"], [math.fsum(x)], absolute=1e-3)
    # NaN, infinities and ties.
    x = [[1.0, nan, 3.0, nan], [inf, -inf, inf, 0.0], [-inf, -inf, -inf, -inf], [-0.0, 0.0, -0.0, 0.0]]
    got = run("op f(x: f32[T, H]) -> (am: i32[T], an: i32[T], m: f32[T]) {\n  am = argmax(x, axis = 1)\n"
              "  an = argmin(x, axis = 1)\n  m = max(x, axis = 1)\n}", {"T": 4, "H": 4}, {"x": flat(x)})
    check("argmax edges", got["am"], [1, 0, 0, 0])
    check("argmin edges", got["an"], [1, 1, 0, 0])
    check("max edges", got["m"], [nan, inf, -inf, 0.0])
    for name, low, high in (("i8", -128, 127), ("u8", 0, 255), ("i32", -2**31, 2**31 - 1), ("u32", 0, 2**32 - 1),
                            ("i64", -2**63, 2**63 - 1)):
        x = ints(4 * 77, low, high, [low, high])
        xs = rows(x, 77)
        got = run("op f(x: TT[T, H]) -> (a: TT[T], b: TT[T], i: i32[T], j: i32[T]) {\n  a = max(x, axis = 1)\n"
                  "  b = min(x, axis = 1)\n  i = argmax(x, axis = 1)\n  j = argmin(x, axis = 1)\n}".replace("TT", name),
                  {"T": 4, "H": 77}, {"x": x})
        check(name + " max", got["a"], [max(r) for r in xs])
        check(name + " min", got["b"], [min(r) for r in xs])
        check(name + " argmax", got["i"], [r.index(max(r)) for r in xs])
        check(name + " argmin", got["j"], [r.index(min(r)) for r in xs])
    x = [bf16(v) for v in floats(3 * 40, 4.0)]
    got = run("op f(x: bf16[T, H], y: f16[T, H], z: f64[T, H]) -> (a: bf16[T], b: f16[T], c: f64[T], d: f64[T]) {\n"
              "  a = sum(x, axis = 1)\n  b = mean(y, axis = 1)\n  c = sum(z, axis = 1)\n  d = mean(z, axis = -1)\n}",
              {"T": 3, "H": 40}, {"x": x, "y": x, "z": x})
    check("sum bf16", got["a"], [math.fsum(r) for r in rows(x, 40)], relative=1 / 250, absolute=1e-3)
    check("mean f16", got["b"], [math.fsum(r) / 40 for r in rows(x, 40)], relative=1e-3, absolute=1e-4)
    check("sum f64", got["c"], [math.fsum(r) for r in rows(x, 40)], absolute=1e-13)
    check("mean f64", got["d"], [math.fsum(r) / 40 for r in rows(x, 40)], absolute=1e-13)
    x = ints(2 * 33, -2**31, 2**31 - 1)
    got = run("op f(x: i32[T, H]) -> (a: i32[T], b: i32[T]) { a = sum(x, axis = 1)  b = prod(x, axis = 1) }",
              {"T": 2, "H": 33}, {"x": x})
    check("sum i32", got["a"], [wrap(sum(r), 32) for r in rows(x, 33)])
    check("prod i32", got["b"], [wrap(math.prod(r), 32) for r in rows(x, 33)])


#===- Scans ---------------------------------------------------------------===#

def scan(row, combine, neutral, exclusive, reverse):
    values = row[::-1] if reverse else row
    total, result = neutral, []
    for value in values:
        if exclusive:
            result.append(total)
        total = combine(total, value)
        if not exclusive:
            result.append(total)
    return result[::-1] if reverse else result


def scans():
    for t, h in ((3, 5), (2, 80), (1, 1), (2, 2500)):
        x = ints(t * h, -9, 9)
        source = "op f(x: i32[T, H]) -> (%s) {\n%s}"
        results, body, expected = [], "", {}
        for name, combine, neutral in (("cumsum", lambda a, b: a + b, 0), ("cummax", max, -2**31),
                                       ("cummin", min, 2**31 - 1)):
            for exclusive in ("false", "true"):
                for reverse in ("false", "true"):
                    key = "%s_%s_%s" % (name, exclusive, reverse)
                    results.append("%s: i32[T, H]" % key)
                    body += "  %s = %s(x, 1, exclusive = %s, reverse = %s)\n" % (key, name, exclusive, reverse)
                    expected[key] = flat([scan(r, combine, neutral, exclusive == "true", reverse == "true")
                                          for r in rows(x, h)])
        got = run(source % (", ".join(results), body), {"T": t, "H": h}, {"x": x})
        for key, values in expected.items():
            check(key, got[key], values)
    x = floats(6 * 9, 1.2)
    got = run("op f(x: f32[A, B]) -> (p: f32[A, B], s: f32[A, B], b: bf16[A, B]) {\n  p = cumprod(x, axis = 0)\n"
              "  s = cumsum(x, 0, reverse = true)\n  b = cumsum(bf16(x), axis = 1)\n}", {"A": 6, "B": 9}, {"x": x})
    columns = [[x[i * 9 + j] for i in range(6)] for j in range(9)]
    product = [scan(c, lambda a, b: a * b, 1.0, False, False) for c in columns]
    total = [scan(c, lambda a, b: a + b, 0.0, False, True) for c in columns]
    check("cumprod", got["p"], [product[j][i] for i in range(6) for j in range(9)], relative=1e-5, absolute=1e-9)
    check("cumsum axis 0", got["s"], [total[j][i] for i in range(6) for j in range(9)], absolute=1e-5)
    sums = flat([scan([bf16(v) for v in r], lambda a, b: a + b, 0.0, False, False) for r in rows(x, 9)])
    check("cumsum bf16", got["b"], sums, relative=1 / 250, absolute=1e-2)


#===- Order and counting --------------------------------------------------===#

def ordering(row, smallest):
    # NaN is larger than everything; equal elements keep their order.
    def key(i):
        value = row[i]
        is_nan = isinstance(value, float) and math.isnan(value)
        rank = (1, 0.0) if is_nan else (0, value)
        return rank if smallest else (-rank[0], -rank[1])
    return sorted(range(len(row)), key=key)


def order():
    for t, h, k in ((3, 5, 2), (2, 96, 7), (2, 3000, 9), (1, 1, 1), (2, 1500, 600)):
        x = floats(t * h, 3.0, [nan, inf, -inf, nan, 0.0, -0.0])
        x = [v if rng.random() < 0.7 else 1.0 for v in x]
        got = run("op f(x: f32[T, H]) -> (v: f32[T, K], i: i32[T, K], w: f32[T, K], j: i32[T, K]) {\n"
                  "  let (a, b) = topk(x, K, axis = 1)\n  let (c, d) = topk(x, K, axis = 1, smallest = true)\n"
                  "  v = a\n  i = b\n  w = c\n  j = d\n}", {"T": t, "H": h, "K": k}, {"x": x}, fixed=["K"])
        for values, positions, smallest in (("v", "i", False), ("w", "j", True)):
            where = [ordering(r, smallest)[:k] for r in rows(x, h)]
            check("topk positions", got[positions], flat(where))
            check("topk values", got[values], [r[i] for r, w in zip(rows(x, h), where) for i in w])
    for name, low, high in (("i32", -5, 5), ("u8", 0, 255), ("i64", -2**63, 2**63 - 1), ("u32", 0, 2**32 - 1)):
        t, h = 3, 37
        x = ints(t * h, low, high, [low, high])
        got = run("op f(x: TT[T, H]) -> (v: TT[T, H], i: i32[T, H], w: TT[T, H]) {\n"
                  "  let (a, b) = sort(x, 1)\n  let (c, _) = sort(x, 1, descending = true)\n  v = a\n  i = b\n  w = c\n}"
                  .replace("TT", name), {"T": t, "H": h}, {"x": x}, fixed=["H"])
        where = [ordering(r, True) for r in rows(x, h)]
        check(name + " sort", got["v"], [r[i] for r, w in zip(rows(x, h), where) for i in w])
        check(name + " positions", got["i"], flat(where))
        check(name + " descending", got["w"], flat([sorted(r, reverse=True) for r in rows(x, h)]))
    t, h = 4, 150
    x = ints(t * h, -3, 12)
    got = run("op f(x: i32[T, H]) -> (r: i32[T, H], c: i32[T, H], n: i32[10], m: i32[10]) {\n  r = rank(x, 1)\n"
              "  c = rank(x, axis = 0)\n  n = histogram(x, 10)\n  m = histogram(x, 10, mask = x != 4)\n}",
              {"T": t, "H": h}, {"x": x})
    table = rows(x, h)
    check("rank", got["r"], [sum(r[j] == r[i] for j in range(i)) for r in table for i in range(h)])
    check("rank axis 0", got["c"], [sum(table[j][i] == table[k][i] for j in range(k)) for k in range(t) for i in range(h)])
    check("histogram", got["n"], [x.count(b) for b in range(10)])
    check("histogram mask", got["m"], [0 if b == 4 else x.count(b) for b in range(10)])
    x = ints(200, 0, 255)
    got = run("op f(x: u8[N]) -> (n: i32[256]) { n = histogram(x, 256) }", {"N": 200}, {"x": x})
    check("histogram u8", got["n"], [x.count(b) for b in range(256)])


#===- Products ------------------------------------------------------------===#

def products():
    for m, n, k in ((5, 7, 3), (80, 33, 96), (1, 1, 1), (64, 64, 64), (17, 1, 40)):
        for name, rounding in (("f32", f32), ("bf16", bf16), ("f16", f16)):
            a, b = [rounding(v) for v in floats(m * k)], [rounding(v) for v in floats(n * k)]
            got = run("op f(a: TT[M, K], b: TT[N, K], c: TT[K, N]) -> (e: f32[M, N], d: f32[M, N]) {\n"
                      "  e = einsum(\"mk,nk->mn\", a, b)\n  d = dot(a, c)\n}".replace("TT", name),
                      {"M": m, "N": n, "K": k},
                      {"a": a, "b": b, "c": [b[j * k + i] for i in range(k) for j in range(n)]})
            expected = [math.fsum(a[i * k + l] * b[j * k + l] for l in range(k)) for i in range(m) for j in range(n)]
            check("einsum " + name, got["e"], expected, absolute=1e-5 * k + 1e-6)
            check("dot " + name, got["d"], expected, absolute=1e-5 * k + 1e-6)
    # Batch, several axes on each side, a product that is computed from something else.
    b, m, n, p, q = 3, 5, 4, 2, 6
    x, y = ints(b * m * p * q, -128, 127), ints(b * n * p * q, -128, 127)
    got = run("op f(x: i8[B, M, P, Q], y: i8[B, N, P, Q]) -> (e: i32[B, N, M], o: i32[M, N]) {\n"
              "  e = einsum(\"bmpq,bnpq->bnm\", x, y)\n  o = einsum(\"bmpq,bnpq->mn\", x, y)\n}",
              {"B": b, "M": m, "N": n, "P": p, "Q": q}, {"x": x, "y": y})

    def at(i, j, l):
        return sum(x[(i * m + j) * p * q + r] * y[(i * n + l) * p * q + r] for r in range(p * q))
    check("einsum batch", got["e"], [at(i, j, l) for i in range(b) for l in range(n) for j in range(m)])
    check("einsum sum", got["o"], [sum(at(i, j, l) for i in range(b)) for j in range(m) for l in range(n)])
    m, k = 9, 70
    a, v = floats(m * k), floats(k)
    got = run("op f(a: f32[M, K], v: f32[K]) -> (r: f32[M], s: f32[], t: f32[K, M], e: f32[M, M]) {\n"
              "  r = dot(a, v)\n  s = dot(v, v)\n  t = einsum(\"mk->km\", a)\n"
              "  e = einsum(\"mk,nk->mn\", exp(a), a + 1.0)\n}", {"M": m, "K": k}, {"a": a, "v": v})
    table = rows(a, k)
    check("matrix times vector", got["r"], [math.fsum(p * q for p, q in zip(r, v)) for r in table], absolute=1e-4)
    check("vector times vector", got["s"], [math.fsum(p * p for p in v)], absolute=1e-4)
    check("transposing einsum", got["t"], [table[i][j] for j in range(k) for i in range(m)])
    check("computed operands", got["e"], [math.fsum(math.exp(p) * (q + 1) for p, q in zip(r, s))
                                          for r in table for s in table], relative=1e-5, absolute=1e-4)
    u, w = ints(4 * 20, 0, 255), ints(3 * 20, 0, 255)
    got = run("op f(u: u8[M, K], w: u8[N, K]) -> (e: i32[M, N]) { e = einsum(\"mk,nk->mn\", u, w) }",
              {"M": 4, "N": 3, "K": 20}, {"u": u, "w": w})
    check("einsum u8", got["e"], [sum(p * q for p, q in zip(r, s)) for r in rows(u, 20) for s in rows(w, 20)])
    name = "f8e4m3fnuz" if ARCH == "gfx942" else "f8e4m3fn"
    codes = [c for c in range(256) if not math.isnan(decode8(c, name)) and abs(decode8(c, name)) < 8]
    a, c = [rng.choice(codes) for _ in range(20 * 64)], [rng.choice(codes) for _ in range(18 * 64)]
    got = run("op f(a: TT[M, K], b: TT[N, K]) -> (e: f32[M, N]) { e = einsum(\"mk,nk->mn\", a, b) }".replace("TT", name),
              {"M": 20, "N": 18, "K": 64}, {"a": a, "b": c})
    check("einsum " + name, got["e"], [math.fsum(decode8(p, name) * decode8(q, name) for p, q in zip(r, s))
                                       for r in rows(a, 64) for s in rows(c, 64)], absolute=1e-3)


#===- Shapes --------------------------------------------------------------===#

def shapes():
    for t, h in ((4, 6), (1, 8), (33, 10)):
        x = floats(t * h)
        table = rows(x, h)
        index = ints(5, -2, t + 1)
        got = run("""op f(x: f32[T, H], i: i32[M]) -> (a: f32[H, T], b: f32[H / 2, T * 2], c: f32[T + T, H], d: f32[T, H + 3],
                 e: f32[M, H], g: i32[T, H], k: f32[2, T, H], l: f32[T, H / 2, 2], n: f32[T, H]) where H % 2 == 0 {
  a = x.T
  b = reshape(x, (H / 2, T * 2))
  c = concat((x, -x), 0)
  d = concat((x[:, 1:4], x), 1)
  e = take(x, i[:, None], 0)
  g = iota(H)[None, :] + 10 * iota(T)[:, None]
  k = broadcast(x, (2, T, H))
  l = transpose(reshape(x, (T, 2, H / 2)), (0, 2, 1))
  n = reshape(reshape(x * 2.0, (T * H,)), (T, H))
}""", {"T": t, "H": h, "M": 5}, {"x": x, "i": index})
        check("T", got["a"], [table[i][j] for j in range(h) for i in range(t)])
        check("reshape", got["b"], x)
        check("concat", got["c"], x + [-v for v in x])
        check("concat slices", got["d"], flat([r[1:4] + r for r in table]))
        check("take", got["e"], flat([table[i] if 0 <= i < t else [0.0] * h for i in index]))
        check("iota", got["g"], [j + 10 * i for i in range(t) for j in range(h)])
        check("broadcast", got["k"], x + x)
        check("transpose", got["l"], flat([[r[q * (h // 2) + p] for p in range(h // 2) for q in range(2)] for r in table]))
        check("reshape chain", got["n"], [2 * v for v in x])
    x = floats(24)
    got = run("op f(x: f32[4, 6], s: f32) -> (a: f32[1, 1], b: f32[24], c: f32[4, 6], d: i32[3]) {\n"
              "  a = reshape(sum(x, axis = (0, 1)), (1, 1))\n  b = reshape(x, 24)\n  c = fill(f32[4, 6], s)\n"
              "  let t: i32[3] = iota(3)\n  d = t\n}", {}, {"x": x}, {"s": 2.5})
    check("rank 0 to 1 x 1", got["a"], [math.fsum(x)], absolute=1e-5)
    check("flat", got["b"], x)
    check("fill", got["c"], [2.5] * 24)
    check("annotated", got["d"], [0, 1, 2])


#===- Plans ---------------------------------------------------------------===#

def plans():
    # A reduction between elementwise parts, an output that another result needs, and
    # a result with the name of a parameter.
    t, h = 5, 70
    x, y = floats(t * h), floats(t * h)
    got = run("op f(x: f32[T, H], y: f32[T, H]) -> (x: f32[T, H], s: f32[H], i: i32[T]) {\n"
              "  let p = softplus(x)\n  let c = sum(p, axis = 0)\n  s = c\n  x = p / c[None, :] + y\n"
              "  i = argmax(p + y, axis = 1)\n}", {"T": t, "H": h}, {"x": x, "y": y})
    p = [[math.log1p(math.exp(v)) for v in r] for r in rows(x, h)]
    c = [math.fsum(r[j] for r in p) for j in range(h)]
    check("column sums", got["s"], c, relative=1e-5)
    check("quotients", got["x"], [p[i][j] / c[j] + y[i * h + j] for i in range(t) for j in range(h)], absolute=1e-5)
    check("positions", got["i"], [first_largest([f32(a) + b for a, b in zip(r, s)]) for r, s in zip(p, rows(y, h))])
    # Softmax over a dynamic row, then a product.
    n = 6
    w = floats(h * n)
    got = run("op f(x: f32[T, H], w: f32[H, N]) -> (o: f32[T, N]) {\n  let m = max(x, axis = 1)[:, None]\n"
              "  let e = exp(x - m)\n  o = dot(e / sum(e, axis = 1)[:, None], w)\n}",
              {"T": t, "H": h, "N": n}, {"x": x, "w": w})
    expected = []
    for r in rows(x, h):
        e = [math.exp(v - max(r)) for v in r]
        expected += [math.fsum(e[k] / math.fsum(e) * w[k * n + j] for k in range(h)) for j in range(n)]
    check("softmax product", got["o"], expected, absolute=1e-5)


SCALE = """
kernel scale(x: f32[N], s: f32) -> (y: f32[N])
  knobs BN in {64, 128} = 128
  grid (cdiv(N, BN))
{
  let b = block_id()
  store(y[b * BN : b * BN + BN], load(x[b * BN : b * BN + BN]) * s)
}
"""


def launches():
    # Kernels with expressions before, between and behind them; one kernel with two
    # knob values; a constant and a parameter as scalars.
    t, h = 5, 70
    x = floats(t * h)
    got = run(SCALE + """
op plan(x: f32[T, H], s: f32 = 2.0) -> (o: f32[T * H], m: f32[H]) {
  let flat = launch scale(reshape(x, (T * H,)), s)
  let both = launch scale(flat + 1.0, 3.0, BN = 64)
  o = both
  m = sum(reshape(both, (T, H)), axis = 0)
}""", {"T": t, "H": h}, {"x": x}, {"s": 4.0}, options=["--op", "plan"])
    expected = [3 * (4 * v + 1) for v in x]
    check("launched", got["o"], expected, absolute=1e-5)
    check("behind the launch", got["m"], [math.fsum(expected[i * h + j] for i in range(t)) for j in range(h)],
          absolute=1e-4)
    # The number of workgroups is read on the device: the others write nothing.
    n = 1000
    x = floats(n)
    for blocks in (0, 3, 8, 100):
        got = run(SCALE + """
op counted(x: f32[N], c: i32[2]) -> (o: f32[N]) {
  o = launch scale(x, 0.5) count c[1]
}""", {"N": n}, {"x": x, "c": [-1, blocks]}, options=["--op", "counted"])
        check("count", got["o"], [v / 2 if i // 128 < blocks else nan for i, v in enumerate(x)])
    # A count that stands in a tensor of run-time extents, at a place that depends on them.
    for m, k, blocks in ((1, 2, 2), (3, 5, 1)):
        counts = [0] * (m * k)
        counts[(m - 1) * k + k // 2] = blocks
        got = run(SCALE + """
op counted(x: f32[N], c: i32[M, K]) -> (o: f32[N]) {
  o = launch scale(x, 0.5) count c[M - 1, K / 2]
}""", {"N": n, "M": m, "K": k}, {"x": x, "c": counts}, options=["--op", "counted"])
        check("count at run-time place", got["o"], [v / 2 if i // 128 < blocks else nan for i, v in enumerate(x)])


for group in sys.argv[1:]:
    globals()[group]()
    print("%s: ok on %s" % (group, ARCH))
