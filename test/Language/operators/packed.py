"""Floats of 4 and 6 bits on the device against tables and a search for the nearest value.

    packed.py GROUP ...   groups: conversions memory products
"""

import math
import random
import struct
import sys

from harness import ARCH, check, f32, run

rng = random.Random(6)
#: Exponent bits, mantissa bits, bias.
FORMATS = {"f4e2m1fn": (2, 1, 1), "f6e2m3fn": (2, 3, 1), "f6e3m2fn": (3, 2, 3)}
UNIT = {"f4e2m1fn": 2, "f6e2m3fn": 4, "f6e3m2fn": 4}


def decode(code, name):
    exponent_bits, mantissa_bits, bias = FORMATS[name]
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent, mantissa = code >> mantissa_bits & ((1 << exponent_bits) - 1), code & ((1 << mantissa_bits) - 1)
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (mantissa + 2 ** mantissa_bits) * 2.0 ** (exponent - bias - mantissa_bits)


def codes(name):
    return range(2 ** (1 + sum(FORMATS[name][:2])))


def encode(value, name):
    """The code of the nearest value, the even one of two; by looking at all of them."""
    half = len(codes(name)) // 2
    if math.isnan(value):
        return half - 1
    magnitude = min(abs(value), decode(half - 1, name))
    best = min(range(half), key=lambda code: (abs(decode(code, name) - magnitude), code % 2))
    return best + (half if math.copysign(1.0, value) < 0 else 0)


def beside(value):
    """The f32 below, the value, the f32 above."""
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    return [struct.unpack("<f", struct.pack("<i", max(bits + step, 0)))[0] for step in (-1, 0, 1)]


def interesting(name):
    """All values, all ties, their neighbours, and what f32 has besides."""
    half = len(codes(name)) // 2
    values = [decode(code, name) for code in range(half)]
    values += [(a + b) / 2 for a, b in zip(values, values[1:])]
    values = [v for value in values for v in beside(value)]
    values += [1e-45, 1e-38, 1e-20, 2.0 ** -126, 1e4, 3e38, math.inf, 6.5, 7.0, 7.5, 7.75, 28.0, 30.0, 32.0]
    values += [f32(rng.uniform(0, 1.2 * decode(half - 1, name))) for _ in range(200)]
    values += [f32(2.0 ** rng.uniform(-8, 6)) for _ in range(200)]
    values += [-v for v in values] + [math.nan, -math.nan]
    return values + [0.0] * (-len(values) % 8)


def conversions():
    assert [decode(code, "f4e2m1fn") for code in range(8)] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert decode(31, "f6e2m3fn") == 7.5 and decode(1, "f6e2m3fn") == 0.125
    assert decode(31, "f6e3m2fn") == 28 and decode(1, "f6e3m2fn") == 0.0625
    for name in FORMATS:
        every = list(codes(name))
        got = run("op f(x: TT[N]) -> (a: f32[N], b: f16[N], c: bf16[N], d: f64[N], e: i32[N], g: f8e5m2[N]) {\n"
                  "  a = f32(x)\n  b = f16(x)\n  c = bf16(x)\n  d = f64(x)\n  e = i32(x)\n  g = f8e5m2(x)\n}"
                  .replace("TT", name), {"N": len(every)}, {"x": every})
        expected = [decode(code, name) for code in every]
        for key in "abcd":
            assert [math.copysign(1.0, v) for v in got[key]] == [math.copysign(1.0, v) for v in expected], (name, key)
            check("%s to %s" % (name, key), got[key], expected)
        check(name + " to integers", got["e"], [math.trunc(v) for v in expected])
        x = interesting(name)
        expected = [encode(v, name) for v in x]
        # As an operator, in vectors of a kernel, one work-item for one run, and from bf16.
        got = run("op f(x: f32[N]) -> (a: TT[N], c: TT[N]) {\n  a = TT(x)\n  c = TT(x, saturate = true)\n}"
                  .replace("TT", name), {"N": len(x)}, {"x": x})
        for key in "ac":
            assert got[key] == expected, (name, key, [v for v in zip(x, got[key], expected) if v[1] != v[2]][:5])
        for block in (8, 96, 1024):
            got = run("kernel k(x: f32[N]) -> (a: TT[N])\n  grid (cdiv(N, %d))\n{\n  let b = block_id() * %d\n"
                      "  store(a[b : b + %d], TT(load(x[b : b + %d])))\n}".replace("TT", name)
                      % (block, block, block, block), {"N": len(x)}, {"x": x})["a"]
            assert got == expected, (name, block, [v for v in zip(x, got, expected) if v[1] != v[2]][:5])
        got = run("op f(x: f16[N]) -> (a: TT[N]) {\n  a = TT(x)\n}".replace("TT", name), {"N": len(x)},
                  {"x": [v if abs(v) < 6e4 or v != v else math.copysign(math.inf, v) for v in x]})["a"]
        narrow = [struct.unpack("<e", struct.pack("<e", v))[0] if abs(v) < 6e4 else v for v in x]
        assert got == [encode(v, name) for v in narrow], name
        for other in FORMATS:
            got = run("op f(x: TT[N]) -> (a: UU[N]) {\n  a = UU(x)\n}".replace("TT", name).replace("UU", other),
                      {"N": len(every)}, {"x": every})["a"]
            assert got == [encode(decode(code, name), other) for code in every], (name, other)


def memory():
    for name in FORMATS:
        unit = UNIT[name]
        some = lambda count: [rng.randrange(len(codes(name))) for _ in range(count)]
        t, h = 7, 72
        x = some(t * h)
        table = [decode(code, name) for code in x]
        index = [rng.randrange(-3, t * h + 3) for _ in range(100)]
        # Single elements, at odd places, outside, by a scalar that only the run knows.
        got = run("""kernel k(x: TT[T, H], index: i32[N], first: i32) -> (a: f32[N], b: f32[N], c: f32[N], d: f32[1])
  grid (1)
{
  let i = load(index[:])
  store(a[:], f32(gather(x[i / H, i % H])))
  store(b[:], f32(load(x[first, first : first + N])))
  store(c[:], f32(gather(x[i % T, first])))
  store(d[0], f32(x[first, first + 2]))
}""".replace("TT", name), {"T": t, "H": h, "N": 100}, {"x": x, "index": index}, {"first": 3}, fixed=["H", "N", "T"])
        check(name + " gather", got["a"], [table[i] if 0 <= i < t * h else 0.0 for i in index])
        check(name + " run", got["b"], [table[3 * h + 3 + i] if 3 + i < h else 0.0 for i in range(100)])
        check(name + " column", got["c"], [table[i % t * h + 3] for i in index])
        check(name + " scalar", got["d"], [table[3 * h + 5]])
        # Stores: whole rows and parts of them, beyond the end, under a mask that holds for
        # whole bytes; what is not written stays.
        got = run("""kernel k(x: TT[T, H], n: i32) -> (a: TT[T, H], b: TT[T, H], c: TT[H, T2], d: TT[T, H])
  grid (cdiv(T, 4))
{
  let t = block_id() * 4
  let v = load(x[t : t + 4, :])
  store(a[t : t + 4, :], v)
  store(b[t : t + 4, 8 : 40], load(x[t : t + 4, 16 : 48]), mask = iota(32) / UNIT < n)
  if t == 0 {
    store(c[:, 0 : 8], load(x[0 : 8, :]).T)
  }
  let s = shared(TT[4, H])
  store(s[:, :], v)
  barrier()
  let i = H - 1 - iota(H)
  store(d[t : t + 4, :], load(s[(3 - iota(4))[:, None], i]))
}""".replace("TT", name).replace("UNIT", str(unit)), {"T": t, "H": h, "T2": 8}, {"x": x}, {"n": 5},
                  fixed=["H", "T2"])
        rows = [x[i * h:(i + 1) * h] for i in range(t)] + [[0] * h]
        assert got["a"] == x, name
        full = len(codes(name)) - 1
        expected = [[full] * h for _ in range(t)]
        for r in range(t):
            expected[r][8:8 + 5 * unit] = rows[r][16:16 + 5 * unit]
        assert got["b"] == sum(expected, []), name
        assert got["c"] == [rows[r][column] for column in range(h) for r in range(8)], name
        assert got["d"] == [code for r in range(t) for code in rows[r // 4 * 4 + 3 - r % 4][::-1]], name
        # Operators that move elements; run-time extents.
        got = run("""op f(x: TT[T, H], i: i32[M]) -> (a: TT[T, 2 * H], b: TT[H, T], c: TT[M, H], d: TT[T, 8]) {
  a = concat((x, x), 1)
  b = x.T
  c = take(x, i[:, None], 0)
  d = x[:, 5 : 13]
}""".replace("TT", name), {"T": 8, "H": h, "M": 3}, {"x": x + some(h), "i": [7, 0, 9]})
        rows = rows[:t] + [got["a"][-h:]]
        assert got["a"] == sum((row + row for row in rows), []), name
        assert got["b"] == [rows[r][column] for column in range(h) for r in range(8)], name
        assert got["c"] == rows[7] + rows[0] + [0] * h, name
        assert got["d"] == sum((row[5:13] for row in rows), []), name
        # Rows at places that only the run knows, of a tensor without constant extents.
        got = run("""kernel k(x: TT[M, 32], i: i32[M], TALL: dim) -> (a: TT[TALL, 32])
  grid (1)
{
  scatter(a[load(i[0 : 8]), :], load(x[0 : 8, :]), mask = (iota(8) < 6)[:, None])
}""".replace("TT", name), {"M": 8, "TALL": 9}, {"x": x[:256], "i": [8, 2, -1, 0, 9, 5, 1, 1]})["a"]
        expected = [[full] * 32 for _ in range(9)]
        for row, place in enumerate([8, 2, None, 0, None, 5]):
            if place is not None:
                expected[place] = x[row * 32:row * 32 + 32]
        assert got == sum(expected, []), name
        # Rows with a distance of their own.
        wide = some(5 * 40)
        got = run("""kernel k(x: TT[T, H] strides (S, _)) -> (a: TT[T, H])
  grid (T)
{
  let t = block_id()
  store(a[t, :], load(x[t, :]))
}""".replace("TT", name), {"T": 5, "H": 24, "S": 40}, {"x": wide}, fixed=["H"], shapes={"x": [5, 40]})["a"]
        assert got == [code for r in range(5) for code in wide[r * 40:r * 40 + 24]], name


def products():
    for name in FORMATS:
        for m, n, k in ((16, 16, 128), (40, 24, 200), (5, 64, 32), (33, 7, 520)):
            x = [rng.randrange(len(codes(name))) for _ in range(m * k)]
            w = [rng.randrange(len(codes(name))) for _ in range(n * k)]
            a, b = [decode(code, name) for code in x], [decode(code, name) for code in w]
            # Multiples of 1/256 below 2^19 / 256: every sum is exact in f32.
            expected = [sum(a[i * k + p] * b[j * k + p] for p in range(k)) for i in range(m) for j in range(n)]
            got = run('op f(x: TT[M, K], w: TT[N, K]) -> (out: f32[M, N]) {\n  out = einsum("mk,nk->mn", x, w)\n}'
                      .replace("TT", name), {"M": m, "N": n, "K": k}, {"x": x, "w": w})["out"]
            check("%s einsum %dx%dx%d" % (name, m, n, k), got, expected)
            got = run("""kernel k(x: TT[M, K], w: TT[N, K]) -> (out: f32[M, N])
  grid (cdiv(M, 32), cdiv(N, 32))
{
  let (i, j) = block_id()
  var acc = fill(f32[32, 32], 0.0)
  for p in range(0, K, 128) {
    let a = load(x[i * 32 : i * 32 + 32, p : p + 128])
    let b = load(w[j * 32 : j * 32 + 32, p : p + 128])
    acc += dot(a, b.T)
  }
  store(out[i * 32 : i * 32 + 32, j * 32 : j * 32 + 32], acc)
}""".replace("TT", name), {"M": m, "N": n, "K": k}, {"x": x, "w": w})["out"]
            check("%s kernel %dx%dx%d" % (name, m, n, k), got, expected)


for group in sys.argv[1:]:
    globals()[group]()
    print("%s: ok on %s" % (group, ARCH))
