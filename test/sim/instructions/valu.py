# Vector ALU: what each instruction computes, lane by lane.

from fractions import Fraction

from harness import Case, MASK64, VCC
from formats import *

M32, M64, M16 = (1 << 32) - 1, MASK64, 0xFFFF
SIZES = {"b32": 32, "f32": 32, "b64": 64, "f64": 64, "b16": 16, "f16": 16}
FORMATS = {"f32": F32, "f64": F64, "f16": F16}


def lanes(fn, high=False):
    """A model from a function of the lane's operands and the old destination.
    16-bit results leave the upper half as `high` says: zero or kept."""

    def model(w):
        names = [n for n in "abc" if n in w.ops]
        for i in range(64):
            if w.active(i):
                w.ops["d"][i] = fn(*[w.ops[n][i] for n in names], w.ops["d"][i])
    return model


def masked(x, dst):
    return x & ((1 << SIZES.get(dst, 32)) - 1)


def simple(name, dst, srcs, fn, **options):
    args = ", ".join("{%s}" % n for n in "dabc"[:1 + len(srcs)])
    narrow = [0xFFFF if s in ("b16", "f16") else -1 for s in srcs]

    def lane(*v):
        v = [x & m for x, m in zip(v[:-1], narrow)]
        return masked(fn(*v), dst)
    return Case(f"{name} {args}", dst, srcs, lanes(lane), **options)


def keephalf(name, srcs, fn, **options):
    """VOP3 of 16 bits: the other half of the destination stays."""
    case = simple(name, "b16", srcs, fn, **options)
    narrow = [0xFFFF if s in ("b16", "f16") else -1 for s in srcs]

    def lane(*v):
        old = v[-1]
        v = [x & m for x, m in zip(v[:-1], narrow)]
        return old & 0xFFFF0000 | fn(*v) & 0xFFFF
    case.model = lanes(lane)
    case.dst = "b32"
    return case


def sat(x, bits, signed):
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(x, lo), hi) & ((1 << bits) - 1)


def s32(x):
    return sext(x, 32)


def s64(x):
    return sext(x, 64)


def s16(x):
    return sext(x, 16)


def s24(x):
    return sext(x, 24)


def u24(x):
    return x & 0xFFFFFF


def bytesof(x, n=4):
    return [x >> (8 * k) & 0xFF for k in range(n)]


def pack8(values):
    return sum((v & 0xFF) << (8 * k) for k, v in enumerate(values))


def sad8(a, b):
    return sum(abs(x - y) for x, y in zip(bytesof(a), bytesof(b)))


def msad8(a, b):
    return sum(abs(x - y) for x, y in zip(bytesof(a), bytesof(b)) if y)


def perm(a, b, sel):
    data = b | a << 32
    out = []
    for s in bytesof(sel):
        if s >= 13:
            out.append(0xFF)
        elif s == 12:
            out.append(0)
        elif s >= 8:
            out.append(0xFF if data >> ((s - 8) * 16 + 15) & 1 else 0)
        else:
            out.append(data >> (8 * s))
    return pack8(out)


def bfe(a, off, width, signed):
    off, width = off & 31, width & 31
    if not width:
        return 0
    v = a >> off & ((1 << width) - 1)
    return sext(v, width) if signed else v


def clz(x, bits=32):
    return bits - x.bit_length() if x else M32


def ctz(x):
    return (x & -x).bit_length() - 1 if x else M32


def ffbh_i32(x):
    x = s32(x)
    return clz((~x if x < 0 else x) & M32)


def med3i(a, b, c):
    return sorted((a, b, c))[1]


def pack2(lo, hi):
    return (lo & M16) | (hi & M16) << 16


INTEGERS = [
    simple("v_mov_b32", "b32", ["b32"], lambda a: a),
    simple("v_mov_b64", "b64", ["b64"], lambda a: a),
    simple("v_not_b32", "b32", ["b32"], lambda a: ~a),
    simple("v_bfrev_b32", "b32", ["b32"], lambda a: int(f"{a:032b}"[::-1], 2)),
    simple("v_ffbh_u32", "b32", ["b32"], clz),
    simple("v_ffbl_b32", "b32", ["b32"], ctz),
    simple("v_ffbh_i32", "b32", ["b32"], ffbh_i32),
    simple("v_bcnt_u32_b32", "b32", ["b32", "b32"], lambda a, b: bin(a).count("1") + b),
    simple("v_add_u32", "b32", ["b32", "b32"], lambda a, b: a + b),
    simple("v_sub_u32", "b32", ["b32", "b32"], lambda a, b: a - b),
    simple("v_subrev_u32", "b32", ["b32", "b32"], lambda a, b: b - a),
    simple("v_and_b32", "b32", ["b32", "b32"], lambda a, b: a & b),
    simple("v_or_b32", "b32", ["b32", "b32"], lambda a, b: a | b),
    simple("v_xor_b32", "b32", ["b32", "b32"], lambda a, b: a ^ b),
    simple("v_xnor_b32", "b32", ["b32", "b32"], lambda a, b: ~(a ^ b)),
    simple("v_lshlrev_b32", "b32", ["b32", "b32"], lambda a, b: b << (a & 31)),
    simple("v_lshrrev_b32", "b32", ["b32", "b32"], lambda a, b: b >> (a & 31)),
    simple("v_ashrrev_i32", "b32", ["b32", "b32"], lambda a, b: s32(b) >> (a & 31)),
    simple("v_lshlrev_b64", "b64", ["b32", "b64"], lambda a, b: b << (a & 63)),
    simple("v_lshrrev_b64", "b64", ["b32", "b64"], lambda a, b: b >> (a & 63)),
    simple("v_ashrrev_i64", "b64", ["b32", "b64"], lambda a, b: s64(b) >> (a & 63)),
    simple("v_min_i32", "b32", ["b32", "b32"], lambda a, b: min(s32(a), s32(b))),
    simple("v_max_i32", "b32", ["b32", "b32"], lambda a, b: max(s32(a), s32(b))),
    simple("v_min_u32", "b32", ["b32", "b32"], min),
    simple("v_max_u32", "b32", ["b32", "b32"], max),
    simple("v_mul_u32_u24", "b32", ["b32", "b32"], lambda a, b: u24(a) * u24(b)),
    simple("v_mul_hi_u32_u24", "b32", ["b32", "b32"], lambda a, b: u24(a) * u24(b) >> 32),
    simple("v_mul_i32_i24", "b32", ["b32", "b32"], lambda a, b: s24(a) * s24(b)),
    simple("v_mul_hi_i32_i24", "b32", ["b32", "b32"], lambda a, b: s24(a) * s24(b) >> 32),
    simple("v_mul_lo_u32", "b32", ["b32", "b32"], lambda a, b: a * b),
    simple("v_mul_hi_u32", "b32", ["b32", "b32"], lambda a, b: a * b >> 32),
    simple("v_mul_hi_i32", "b32", ["b32", "b32"], lambda a, b: s32(a) * s32(b) >> 32),
    simple("v_bfm_b32", "b32", ["b32", "b32"], lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    simple("v_add3_u32", "b32", ["b32"] * 3, lambda a, b, c: a + b + c),
    simple("v_lshl_add_u32", "b32", ["b32"] * 3, lambda a, b, c: (a << (b & 31)) + c),
    simple("v_add_lshl_u32", "b32", ["b32"] * 3, lambda a, b, c: (a + b & M32) << (c & 31)),
    simple("v_lshl_or_b32", "b32", ["b32"] * 3, lambda a, b, c: (a << (b & 31)) | c),
    simple("v_and_or_b32", "b32", ["b32"] * 3, lambda a, b, c: a & b | c),
    simple("v_or3_b32", "b32", ["b32"] * 3, lambda a, b, c: a | b | c),
    simple("v_xad_u32", "b32", ["b32"] * 3, lambda a, b, c: (a ^ b) + c),
    simple("v_bfi_b32", "b32", ["b32"] * 3, lambda a, b, c: a & b | ~a & c),
    simple("v_bfe_u32", "b32", ["b32"] * 3, lambda a, b, c: bfe(a, b, c, False)),
    simple("v_bfe_i32", "b32", ["b32"] * 3, lambda a, b, c: bfe(a, b, c, True)),
    simple("v_alignbit_b32", "b32", ["b32"] * 3, lambda a, b, c: (a << 32 | b) >> (c & 31)),
    simple("v_alignbyte_b32", "b32", ["b32"] * 3, lambda a, b, c: (a << 32 | b) >> (8 * (c & 3))),
    simple("v_perm_b32", "b32", ["b32"] * 3, perm),
    simple("v_min3_i32", "b32", ["b32"] * 3, lambda a, b, c: min(s32(a), s32(b), s32(c))),
    simple("v_max3_i32", "b32", ["b32"] * 3, lambda a, b, c: max(s32(a), s32(b), s32(c))),
    simple("v_med3_i32", "b32", ["b32"] * 3, lambda a, b, c: med3i(s32(a), s32(b), s32(c))),
    simple("v_min3_u32", "b32", ["b32"] * 3, min),
    simple("v_max3_u32", "b32", ["b32"] * 3, max),
    simple("v_med3_u32", "b32", ["b32"] * 3, med3i),
    simple("v_mad_u32_u24", "b32", ["b32"] * 3, lambda a, b, c: u24(a) * u24(b) + c),
    simple("v_mad_i32_i24", "b32", ["b32"] * 3, lambda a, b, c: s24(a) * s24(b) + c),
    simple("v_mad_u32_u16", "b32", ["b16", "b16", "b32"], lambda a, b, c: a * b + c),
    simple("v_mad_i32_i16", "b32", ["b16", "b16", "b32"], lambda a, b, c: s16(a) * s16(b) + c),
    simple("v_lshl_add_u64", "b64", ["b64", "b32", "b64"], lambda a, b, c: (a << (b & 7)) + c,
           fix=lambda ops, rng: ops.update(b=[x % 5 for x in ops["b"]])),
    simple("v_sad_u8", "b32", ["b32"] * 3, lambda a, b, c: sad8(a, b) + c),
    simple("v_sad_hi_u8", "b32", ["b32"] * 3, lambda a, b, c: (sad8(a, b) << 16) + c),
    simple("v_sad_u16", "b32", ["b32"] * 3,
           lambda a, b, c: abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16)) + c),
    simple("v_sad_u32", "b32", ["b32"] * 3, lambda a, b, c: abs(a - b) + c),
    simple("v_msad_u8", "b32", ["b32"] * 3, lambda a, b, c: msad8(a, b) + c),
    simple("v_lerp_u8", "b32", ["b32"] * 3, lambda a, b, c: pack8(
        [(x + y + (z & 1)) >> 1 for x, y, z in zip(bytesof(a), bytesof(b), bytesof(c))])),
    simple("v_qsad_pk_u16_u8", "b64", ["b64", "b32", "b64"], lambda a, b, c: sum(
        ((sad8(a >> 8 * k & M32, b) + (c >> 16 * k & M16)) & M16) << 16 * k for k in range(4))),
    simple("v_mqsad_pk_u16_u8", "b64", ["b64", "b32", "b64"], lambda a, b, c: sum(
        ((msad8(a >> 8 * k & M32, b) + (c >> 16 * k & M16)) & M16) << 16 * k for k in range(4))),
    Case("v_mqsad_u32_u8 {d}, {a}, {b}, {c}", "4xb32", ["b64", "b32", "4xb32"], lanes(lambda a, b, c, d: sum(
        ((msad8(a >> 8 * k & M32, b) + (c >> 32 * k & M32)) & M32) << 32 * k for k in range(4)))),
    # Saturation.
    Case("v_add_u32_e64 {d}, {a}, {b} clamp", "b32", ["b32"] * 2, lanes(lambda a, b, d: sat(a + b, 32, False))),
    Case("v_sub_u32_e64 {d}, {a}, {b} clamp", "b32", ["b32"] * 2, lanes(lambda a, b, d: sat(a - b, 32, False))),
    Case("v_add_i32 {d}, {a}, {b} clamp", "b32", ["b32"] * 2, lanes(lambda a, b, d: sat(s32(a) + s32(b), 32, True))),
    Case("v_sub_i32 {d}, {a}, {b} clamp", "b32", ["b32"] * 2, lanes(lambda a, b, d: sat(s32(a) - s32(b), 32, True))),
    Case("v_mad_u32_u24 {d}, {a}, {b}, {c} clamp", "b32", ["b32"] * 3,
         lanes(lambda a, b, c, d: sat(u24(a) * u24(b) + c, 32, False))),
    Case("v_mad_i32_i24 {d}, {a}, {b}, {c} clamp", "b32", ["b32"] * 3,
         lanes(lambda a, b, c, d: sat(s24(a) * s24(b) + s32(c), 32, True))),
    Case("v_sad_u8 {d}, {a}, {b}, {c} clamp", "b32", ["b32"] * 3,
         lanes(lambda a, b, c, d: sat(sad8(a, b) + c, 32, False))),
    Case("v_mul_u32_u24_e64 {d}, {a}, {b} clamp", "b32", ["b32"] * 2,
         lanes(lambda a, b, d: sat(u24(a) * u24(b), 32, False))),
    # Results of 16 bits in 32-bit encodings clear the upper half.
    simple("v_add_u16", "b16", ["b16", "b16"], lambda a, b: a + b),
    simple("v_sub_u16", "b16", ["b16", "b16"], lambda a, b: a - b),
    simple("v_subrev_u16", "b16", ["b16", "b16"], lambda a, b: b - a),
    simple("v_mul_lo_u16", "b16", ["b16", "b16"], lambda a, b: a * b),
    simple("v_lshlrev_b16", "b16", ["b16", "b16"], lambda a, b: b << (a & 15)),
    simple("v_lshrrev_b16", "b16", ["b16", "b16"], lambda a, b: b >> (a & 15)),
    simple("v_ashrrev_i16", "b16", ["b16", "b16"], lambda a, b: s16(b) >> (a & 15)),
    simple("v_min_u16", "b16", ["b16", "b16"], min),
    simple("v_max_u16", "b16", ["b16", "b16"], max),
    simple("v_min_i16", "b16", ["b16", "b16"], lambda a, b: min(s16(a), s16(b))),
    simple("v_max_i16", "b16", ["b16", "b16"], lambda a, b: max(s16(a), s16(b))),
    keephalf("v_mad_u16", ["b16"] * 3, lambda a, b, c: a * b + c),
    keephalf("v_mad_i16", ["b16"] * 3, lambda a, b, c: s16(a) * s16(b) + s16(c)),
    keephalf("v_min3_i16", ["b16"] * 3, lambda a, b, c: min(s16(a), s16(b), s16(c))),
    keephalf("v_max3_u16", ["b16"] * 3, max),
    keephalf("v_med3_i16", ["b16"] * 3, lambda a, b, c: med3i(s16(a), s16(b), s16(c))),
    keephalf("v_add_i16", ["b16"] * 2, lambda a, b: a + b),
    Case("v_add_i16 {d}, {a}, {b} clamp", "b32", ["b16"] * 2,
         lanes(lambda a, b, d: d & 0xFFFF0000 | sat(s16(a) + s16(b), 16, True))),
    Case("v_mad_u16 {d}, {a}, {b}, {c} op_sel:[1,0,1,1]", "b32", ["b32", "b16", "b32"],
         lanes(lambda a, b, c, d: d & M16 | (((a >> 16) * (b & M16) + (c >> 16)) & M16) << 16)),
    simple("v_pack_b32_f16", "b32", ["f16", "f16"], lambda a, b: a | b << 16),
    simple("v_sat_pk_u8_i16", "b32", ["b32"],
           lambda a: min(max(s16(a), 0), 255) | min(max(s16(a >> 16), 0), 255) << 8),
    simple("v_cvt_pk_u16_u32", "b32", ["b32"] * 2, lambda a, b: pack2(min(a, M16), min(b, M16))),
    simple("v_cvt_pk_i16_i32", "b32", ["b32"] * 2, lambda a, b: pack2(sat(s32(a), 16, True), sat(s32(b), 16, True))),
    # Lane counts.
    Case("v_mbcnt_lo_u32_b32 {d}, {a}, {b}", "b32", ["b32"] * 2, None),
    Case("v_mbcnt_hi_u32_b32 {d}, {a}, {b}", "b32", ["b32"] * 2, None),
]


def mbcnt(first):
    def model(w):
        for i in range(64):
            if w.active(i):
                below = (1 << max(0, min(i - first, 32))) - 1
                w.ops["d"][i] = (bin(w.ops["a"][i] & below).count("1") + w.ops["b"][i]) & M32
    return model


INTEGERS[-2].model, INTEGERS[-1].model = mbcnt(0), mbcnt(32)


def carry(fn, sdst="vcc", reads=False):
    """fn(a, b, carry) -> exact result; the carry out is set where it leaves 32
    bits."""

    def model(w):
        vcc_in, out = w.vcc, 0
        for i in range(64):
            if not w.active(i):
                continue
            r = fn(w.ops["a"][i], w.ops["b"][i], vcc_in >> i & 1 if reads else 0)
            w.ops["d"][i] = r & M32
            out |= (r < 0 or r > M32) << i
        w.vcc = out
    return model


def cndmask(w):
    for i in range(64):
        if w.active(i):
            w.ops["d"][i] = w.ops["b"][i] if w.vcc >> i & 1 else w.ops["a"][i]


def mad64(signed):
    def model(w):
        out = 0
        for i in range(64):
            if not w.active(i):
                continue
            a, b, c = w.ops["a"][i], w.ops["b"][i], w.ops["c"][i]
            r = s32(a) * s32(b) + s64(c) if signed else a * b + c
            w.ops["d"][i] = r & M64
            lo, hi = (-(1 << 63), (1 << 63) - 1) if signed else (0, M64)
            out |= (r < lo or r > hi) << i
        w.vcc = out
    return model


CARRIES = [
    Case("v_add_co_u32 {d}, vcc, {a}, {b}", "b32", ["b32"] * 2, carry(lambda a, b, c: a + b)),
    Case("v_sub_co_u32 {d}, vcc, {a}, {b}", "b32", ["b32"] * 2, carry(lambda a, b, c: a - b)),
    Case("v_subrev_co_u32 {d}, vcc, {a}, {b}", "b32", ["b32"] * 2, carry(lambda a, b, c: b - a)),
    Case("v_addc_co_u32 {d}, vcc, {a}, {b}, vcc", "b32", ["b32"] * 2, carry(lambda a, b, c: a + b + c, reads=True)),
    Case("v_subb_co_u32 {d}, vcc, {a}, {b}, vcc", "b32", ["b32"] * 2, carry(lambda a, b, c: a - b - c, reads=True)),
    Case("v_subbrev_co_u32 {d}, vcc, {a}, {b}, vcc", "b32", ["b32"] * 2, carry(lambda a, b, c: b - a - c, reads=True)),
    Case("v_cndmask_b32 {d}, {a}, {b}, vcc", "b32", ["b32"] * 2, cndmask),
    Case("v_mad_u64_u32 {d}, vcc, {a}, {b}, {c}", "b64", ["b32", "b32", "b64"], mad64(False)),
    Case("v_mad_i64_i32 {d}, vcc, {a}, {b}, {c}", "b64", ["b32", "b32", "b64"], mad64(True)),
]

MODES = {"even": 0xF0, "up": 0xF5, "down": 0xFA, "zero": 0xFF}


def quieten(f, a):
    return f.quieten(a) if f.isnan(a) else a


def rounding(f, a, how):
    """floor, ceil, trunc, rndne."""
    if f.isnan(a):
        return f.quieten(a)
    if f.isinf(a):
        return a
    v = f.value(a)
    n = v.numerator // v.denominator
    rest = v - n
    if how == "ceil":
        n += 1 if rest else 0
    elif how == "trunc":
        n += 1 if rest and v < 0 else 0
    elif how == "rndne":
        n += 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1) else 0
    return f.round(Fraction(n), zero=f.neg(a))


def fract(f, a):
    if f.isnan(a):
        return f.quieten(a)
    if f.isinf(a):
        return f.nan
    v = f.value(a)
    one = f.round(Fraction(1))
    r = f.round(v - v.numerator // v.denominator, zero=0)
    return min(r, one - 1)


def frexp_exp(f, a, bits):
    if f.isnan(a) or f.isinf(a) or not a & f.mask:
        return 0
    v = abs(f.value(a))
    e = v.numerator.bit_length() - v.denominator.bit_length() + 1
    while Fraction(2) ** e <= v:
        e += 1
    while Fraction(2) ** (e - 1) > v:
        e -= 1
    return e & ((1 << bits) - 1)


def frexp_mant(f, a):
    if f.isnan(a):
        return f.quieten(a)
    if f.isinf(a) or not a & f.mask:
        return a
    e = sext(frexp_exp(f, a, 32), 32)
    return f.round(f.value(a) / Fraction(2) ** e)


def ldexp(f, a, n):
    if f.isnan(a):
        return f.quieten(a)
    if f.isinf(a):
        return a
    n = min(max(n, -3000), 3000)
    return f.round(f.value(a) * Fraction(2) ** n, zero=f.neg(a))


def med3(f, a, b, c):
    if any(f.isnan(x) for x in (a, b, c)):
        return minnum(f, minnum(f, a, b), c)
    return sorted((a, b, c), key=lambda x: order(f, x))[1]


def cube(which):
    def fn(x, y, z):
        ax, ay, az = (v & F32.mask for v in (x, y, z))
        neg = lambda v: v ^ F32.sign
        lt = lambda v: F32.neg(v) and v & F32.mask
        if az >= ax and az >= ay:
            r = {"id": 0x40A00000 if lt(z) else 0x40800000, "sc": neg(x) if lt(z) else x, "tc": neg(y), "ma": z}
        elif ay >= ax:
            r = {"id": 0x40400000 if lt(y) else 0x40000000, "sc": x, "tc": neg(z) if lt(y) else z, "ma": y}
        else:
            r = {"id": 0x3F800000 if lt(x) else 0, "sc": z if lt(x) else neg(z), "tc": neg(y), "ma": x}
        if which == "ma":
            return mul(F32, r["ma"], 0x40000000)
        return r[which]
    return fn


def nonan(ops, rng):
    for n in "abc":
        ops[n] = [0x3F800000 ^ i << 21 if F32.isnan(x) else x for i, x in enumerate(ops[n])]


def floats(f, t):
    out = []
    for mode, bits in MODES.items():
        rnd = dict(mode=bits)
        out += [
            simple(f"v_add_{t}", t, [t] * 2, lambda a, b, m=mode: add(f, a, b, m), **rnd),
            simple(f"v_mul_{t}", t, [t] * 2, lambda a, b, m=mode: mul(f, a, b, m), **rnd),
        ]
        if t == "f16":
            out.append(keephalf("v_fma_f16", [t] * 3, lambda a, b, c, m=mode: fma(f, a, b, c, m), **rnd))
        else:
            out.append(simple(f"v_fma_{t}", t, [t] * 3, lambda a, b, c, m=mode: fma(f, a, b, c, m), **rnd))
    out += [
        simple(f"v_min_{t}", t, [t] * 2, lambda a, b: minnum(f, a, b)),
        simple(f"v_max_{t}", t, [t] * 2, lambda a, b: maxnum(f, a, b)),
        simple(f"v_fract_{t}", t, [t], lambda a: fract(f, a)),
        simple(f"v_frexp_mant_{t}", t, [t], lambda a: frexp_mant(f, a)),
    ]
    for how in ("floor", "ceil", "trunc", "rndne"):
        out.append(simple(f"v_{how}_{t}", t, [t], lambda a, h=how: rounding(f, a, h)))
    if t != "f64":
        out += [
            simple(f"v_sub_{t}", t, [t] * 2, lambda a, b: add(f, a, negate(f, b) if not f.isnan(b) else b)),
            simple(f"v_subrev_{t}", t, [t] * 2, lambda a, b: add(f, b, negate(f, a) if not f.isnan(a) else a)
                   if not (f.isnan(a) and f.isnan(b)) else f.quieten(a)),
        ]
    return out


FLOATS = floats(F32, "f32") + floats(F64, "f64") + floats(F16, "f16") + [
    simple("v_ldexp_f32", "f32", ["f32", "b32"], lambda a, b: ldexp(F32, a, s32(b))),
    simple("v_ldexp_f64", "f64", ["f64", "b32"], lambda a, b: ldexp(F64, a, s32(b))),
    simple("v_ldexp_f16", "f16", ["f16", "b16"], lambda a, b: ldexp(F16, a, s16(b))),
    simple("v_frexp_exp_i32_f32", "b32", ["f32"], lambda a: frexp_exp(F32, a, 32)),
    simple("v_frexp_exp_i32_f64", "b32", ["f64"], lambda a: frexp_exp(F64, a, 32)),
    simple("v_frexp_exp_i16_f16", "b16", ["f16"], lambda a: frexp_exp(F16, a, 16)),
    simple("v_min3_f32", "f32", ["f32"] * 3, lambda a, b, c: minnum(F32, minnum(F32, a, b), c)),
    simple("v_max3_f32", "f32", ["f32"] * 3, lambda a, b, c: maxnum(F32, maxnum(F32, a, b), c)),
    simple("v_med3_f32", "f32", ["f32"] * 3, lambda a, b, c: med3(F32, a, b, c)),
    simple("v_cubeid_f32", "f32", ["f32"] * 3, cube("id"), fix=nonan),
    simple("v_cubesc_f32", "f32", ["f32"] * 3, cube("sc"), fix=nonan),
    simple("v_cubetc_f32", "f32", ["f32"] * 3, cube("tc"), fix=nonan),
    simple("v_cubema_f32", "f32", ["f32"] * 3, cube("ma"), fix=nonan),
    # Modifiers.
    Case("v_add_f32_e64 {d}, -{a}, |{b}|", "f32", ["f32"] * 2,
         lanes(lambda a, b, d: add(F32, a ^ F32.sign, b & F32.mask))),
    Case("v_fma_f64 {d}, -|{a}|, {b}, -{c}", "f64", ["f64"] * 3,
         lanes(lambda a, b, c, d: fma(F64, a | F64.sign, b, c ^ F64.sign))),
    Case("v_mul_f32_e64 {d}, {a}, {b} clamp", "f32", ["f32"] * 2, lanes(lambda a, b, d: clamp(F32, mul(F32, a, b)))),
    Case("v_max_f64 {d}, {a}, {b} clamp", "f64", ["f64"] * 2, lanes(lambda a, b, d: clamp(F64, maxnum(F64, a, b)))),
    Case("v_add_f16_e64 {d}, {a}, {b} clamp", "b32", ["f16"] * 2,
         lanes(lambda a, b, d: clamp(F16, add(F16, a & M16, b & M16)))),
    # omod works when subnormal results are off: they and subnormal sources are
    # zeros here.
    Case("v_mul_f32_e64 {d}, {a}, {b} mul:4", "f32", ["f32"] * 2,
         lanes(lambda a, b, d: flush(F32, mul(F32, mul(F32, flush(F32, a), flush(F32, b)), 0x40800000))), mode=0xC0),
    Case("v_add_f32_e64 {d}, {a}, {b} div:2", "f32", ["f32"] * 2,
         lanes(lambda a, b, d: flush(F32, mul(F32, add(F32, flush(F32, a), flush(F32, b)), 0x3F000000))), mode=0xC0),
    # Flushing of f16 and f64.
    simple("v_mul_f64", "f64", ["f64"] * 2, lambda a, b: flush(F64, mul(F64, flush(F64, a), flush(F64, b))), mode=0x30),
    simple("v_mul_f16", "f16", ["f16"] * 2, lambda a, b: flush(F16, mul(F16, flush(F16, a), flush(F16, b))), mode=0x30),
]


def clamp(f, b):
    if f.isnan(b) or f.neg(b):
        return 0
    return min(b, f.round(Fraction(1)))


def flush(f, b):
    return b & f.sign if b & f.mask < 1 << f.mbits else b


def pk(name, srcs, fn, dst="b32"):
    return Case(f"{name} " + ", ".join("{%s}" % n for n in "dabc"[:1 + len(srcs)]), dst, srcs,
                lanes(lambda *v: pack2(*[fn(*[x >> 16 * h & M16 for x in v[:-1]]) for h in (0, 1)])))


PACKED = [
    pk("v_pk_add_f16", ["2xf16"] * 2, lambda a, b: add(F16, a, b)),
    pk("v_pk_mul_f16", ["2xf16"] * 2, lambda a, b: mul(F16, a, b)),
    pk("v_pk_fma_f16", ["2xf16"] * 3, lambda a, b, c: fma(F16, a, b, c)),
    pk("v_pk_min_f16", ["2xf16"] * 2, lambda a, b: minnum(F16, a, b)),
    pk("v_pk_max_f16", ["2xf16"] * 2, lambda a, b: maxnum(F16, a, b)),
    pk("v_pk_add_u16", ["2xb16"] * 2, lambda a, b: a + b),
    pk("v_pk_sub_i16", ["2xb16"] * 2, lambda a, b: a - b),
    pk("v_pk_mul_lo_u16", ["2xb16"] * 2, lambda a, b: a * b),
    pk("v_pk_mad_u16", ["2xb16"] * 3, lambda a, b, c: a * b + c),
    pk("v_pk_mad_i16", ["2xb16"] * 3, lambda a, b, c: a * b + c),
    pk("v_pk_lshlrev_b16", ["2xb16"] * 2, lambda a, b: b << (a & 15)),
    pk("v_pk_lshrrev_b16", ["2xb16"] * 2, lambda a, b: b >> (a & 15)),
    pk("v_pk_ashrrev_i16", ["2xb16"] * 2, lambda a, b: s16(b) >> (a & 15)),
    pk("v_pk_min_i16", ["2xb16"] * 2, lambda a, b: min(s16(a), s16(b))),
    pk("v_pk_max_u16", ["2xb16"] * 2, max),
    Case("v_pk_add_u16 {d}, {a}, {b} clamp", "b32", ["2xb16"] * 2, lanes(
        lambda a, b, d: pack2(sat((a & M16) + (b & M16), 16, False), sat((a >> 16) + (b >> 16), 16, False)))),
    Case("v_pk_mad_i16 {d}, {a}, {b}, {c} clamp", "b32", ["2xb16"] * 3, lanes(
        lambda a, b, c, d: pack2(*[sat(s16(a >> k) * s16(b >> k) + s16(c >> k), 16, True) for k in (0, 16)]))),
    Case("v_pk_add_f16 {d}, {a}, {b} op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]", "b32", ["2xf16"] * 2,
         lanes(lambda a, b, d: pack2(add(F16, a >> 16, b & M16 ^ 0x8000), add(F16, a & M16 ^ 0x8000, b >> 16)))),
    Case("v_pk_fmac_f16 {d}, {a}, {b}", "b32", ["2xf16"] * 2, lanes(
        lambda a, b, d: pack2(*[fma(F16, a >> k & M16, b >> k & M16, d >> k & M16) for k in (0, 16)]))),
    Case("v_pk_mul_f32 {d}, {a}, {b}", "b64", ["2xf32"] * 2, lanes(
        lambda a, b, d: sum(mul(F32, a >> k & M32, b >> k & M32) << k for k in (0, 32)))),
    Case("v_pk_add_f32 {d}, {a}, {b} op_sel:[0,1] op_sel_hi:[0,1]", "b64", ["2xf32"] * 2, lanes(
        lambda a, b, d: add(F32, a & M32, b >> 32) | add(F32, a & M32, b >> 32) << 32)),
    Case("v_pk_fma_f32 {d}, {a}, {b}, {c}", "b64", ["2xf32"] * 3, lanes(
        lambda a, b, c, d: sum(fma(F32, *(x >> k & M32 for x in (a, b, c))) << k for k in (0, 32)))),
    Case("v_pk_mov_b32 {d}, {a}, {b} op_sel:[1,0]", "b64", ["b64"] * 2, lanes(
        lambda a, b, d: a >> 32 | (b & M32) << 32)),
    Case("v_dot4_i32_i8 {d}, {a}, {b}, {c}", "b32", ["b32"] * 3, lanes(
        lambda a, b, c, d: sum(sext(x, 8) * sext(y, 8) for x, y in zip(bytesof(a), bytesof(b))) + c & M32)),
    Case("v_dot4_u32_u8 {d}, {a}, {b}, {c} clamp", "b32", ["b32"] * 3, lanes(
        lambda a, b, c, d: sat(sum(x * y for x, y in zip(bytesof(a), bytesof(b))) + c, 32, False))),
    Case("v_dot8_i32_i4 {d}, {a}, {b}, {c}", "b32", ["b32"] * 3, lanes(
        lambda a, b, c, d: sum(sext(a >> k, 4) * sext(b >> k, 4) for k in range(0, 32, 4)) + c & M32)),
    Case("v_dot2_i32_i16 {d}, {a}, {b}, {c} clamp", "b32", ["b32"] * 3, lanes(
        lambda a, b, c, d: sat(s16(a) * s16(b) + s16(a >> 16) * s16(b >> 16) + s32(c), 32, True))),
    Case("v_dot4c_i32_i8 {d}, {a}, {b}", "b32", ["b32"] * 2, lanes(
        lambda a, b, d: sum(sext(x, 8) * sext(y, 8) for x, y in zip(bytesof(a), bytesof(b))) + d & M32)),
]


def mixed(which):
    """v_fma_mix: float, upper half, lower half."""

    def fn(a, b, c, d):
        up = lambda h: convert(F16, F32, h & M16)
        r = fma(F32, a, up(b >> 16) ^ F32.sign, up(c) & F32.mask)
        if F32.isnan(r):
            r = 0x7FC00000
        if which == "mix":
            return r
        h = convert(F32, F16, r)
        return d & 0xFFFF0000 | h if which == "lo" else d & M16 | h << 16
    return fn


PACKED += [Case("v_fma_%s {d}, {a}, -{b}, |{c}| op_sel:[0,1,0] op_sel_hi:[0,1,1]" % n, "b32", ["f32", "2xf16", "f16"],
                lanes(mixed(w))) for n, w in (("mix_f32", "mix"), ("mixlo_f16", "lo"), ("mixhi_f16", "hi"))]


def norm(f, b, signed):
    if f.isnan(b):
        return 0
    lo, hi, scale = (-1, 1, 32767) if signed else (0, 1, 65535)
    v = (lo if f.neg(b) else hi) if f.isinf(b) else f.value(b)
    v = min(max(v, Fraction(lo)), Fraction(hi)) * scale
    n = v.numerator // v.denominator
    rest = v - n
    n += 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1) else 0
    return n & M16


def tou8(a):
    if F32.isnan(a) or F32.neg(a):
        return 0
    return 255 if F32.isinf(a) else min(255, int(F32.value(rounding(F32, a, "rndne"))))


CONVERSIONS = []
for m, bits in MODES.items():
    CONVERSIONS += [
        simple("v_cvt_f16_f32", "f16", ["f32"], lambda a, m=m: convert(F32, F16, a, m), mode=bits),
        simple("v_cvt_f32_f64", "f32", ["f64"], lambda a, m=m: convert(F64, F32, a, m), mode=bits),
        simple("v_cvt_f32_i32", "f32", ["b32"], lambda a, m=m: F32.round(Fraction(s32(a)), m), mode=bits),
        simple("v_cvt_f32_u32", "f32", ["b32"], lambda a, m=m: F32.round(Fraction(a), m), mode=bits),
        simple("v_cvt_f16_u16", "f16", ["b16"], lambda a, m=m: F16.round(Fraction(a), m), mode=bits),
        simple("v_cvt_f16_i16", "f16", ["b16"], lambda a, m=m: F16.round(Fraction(s16(a)), m), mode=bits),
    ]
CONVERSIONS += [
    simple("v_cvt_f32_f16", "f32", ["f16"], lambda a: convert(F16, F32, a)),
    simple("v_cvt_f64_f32", "f64", ["f32"], lambda a: convert(F32, F64, a)),
    simple("v_cvt_f64_i32", "f64", ["b32"], lambda a: F64.round(Fraction(s32(a)))),
    simple("v_cvt_f64_u32", "f64", ["b32"], lambda a: F64.round(Fraction(a))),
    simple("v_cvt_i32_f32", "b32", ["f32"], lambda a: toint(F32, a, 32, True)),
    simple("v_cvt_u32_f32", "b32", ["f32"], lambda a: toint(F32, a, 32, False)),
    simple("v_cvt_i32_f64", "b32", ["f64"], lambda a: toint(F64, a, 32, True)),
    simple("v_cvt_u32_f64", "b32", ["f64"], lambda a: toint(F64, a, 32, False)),
    simple("v_cvt_i16_f16", "b16", ["f16"], lambda a: toint(F16, a, 16, True)),
    simple("v_cvt_u16_f16", "b16", ["f16"], lambda a: toint(F16, a, 16, False)),
    simple("v_cvt_flr_i32_f32", "b32", ["f32"], lambda a: toint(F32, rounding(F32, a, "floor"), 32, True)),
    simple("v_cvt_off_f32_i4", "f32", ["b32"], lambda a: F32.round(Fraction(sext(a, 4), 16))),
    simple("v_cvt_norm_i16_f16", "b16", ["f16"], lambda a: norm(F16, a, True)),
    simple("v_cvt_norm_u16_f16", "b16", ["f16"], lambda a: norm(F16, a, False)),
    simple("v_cvt_pknorm_i16_f32", "b32", ["f32"] * 2, lambda a, b: pack2(norm(F32, a, True), norm(F32, b, True))),
    simple("v_cvt_pknorm_u16_f32", "b32", ["f32"] * 2, lambda a, b: pack2(norm(F32, a, False), norm(F32, b, False))),
    simple("v_cvt_pkrtz_f16_f32", "b32", ["f32"] * 2,
           lambda a, b: pack2(convert(F32, F16, a, "zero"), convert(F32, F16, b, "zero"))),
    Case("v_cvt_pk_u8_f32 {d}, {a}, {b}, {c}", "b32", ["f32", "b32", "b32"],
         lanes(lambda a, b, c, d: c & ~(0xFF << 8 * (b & 3)) | tou8(a) << 8 * (b & 3))),
    Case("v_cvt_pkaccum_u8_f32 {d}, {a}, {b}", "b32", ["f32", "b32"],
         lanes(lambda a, b, d: d & ~(0xFF << 8 * (b & 3)) | tou8(a) << 8 * (b & 3))),
] + [simple(f"v_cvt_f32_ubyte{k}", "f32", ["b32"], lambda a, k=k: F32.round(Fraction(a >> 8 * k & 0xFF)))
     for k in range(4)]


def compares():
    out = []
    tests = {"lt": {-1}, "eq": {0}, "le": {-1, 0}, "gt": {1}, "ge": {0, 1}}
    floating = dict(tests, f=set(), lg={-1, 1}, o={-1, 0, 1}, u={None}, nge={-1, None}, nlg={0, None},
                    ngt={-1, 0, None}, nle={1, None}, neq={-1, 1, None}, nlt={0, 1, None}, tru={-1, 0, 1, None})
    integer = dict(tests, f=set(), ne={-1, 1}, t={-1, 0, 1})

    def model(key, good, x):
        def run(w):
            mask = 0
            for i in range(64):
                if w.active(i):
                    mask |= (key(w.ops["a"][i], w.ops["b"][i]) in good) << i
            w.vcc = mask
            if x:
                w.exec = mask
        return run
    sign = lambda x, y: (x > y) - (x < y)
    keys = {"i32": lambda a, b: sign(s32(a), s32(b)), "u32": sign, "i64": lambda a, b: sign(s64(a), s64(b)),
            "u64": sign, "i16": lambda a, b: sign(s16(a), s16(b)), "u16": lambda a, b: sign(a & M16, b & M16)}
    for t, key in keys.items():
        src = "b" + t[1:]
        for op, good in integer.items():
            for x in ("", "x"):
                out.append(Case(f"v_cmp{x}_{op}_{t} vcc, {{a}}, {{b}}", None, [src] * 2, model(key, good, x)))
    for t, f in FORMATS.items():
        for op, good in floating.items():
            for x in ("", "x"):
                out.append(Case(f"v_cmp{x}_{op}_{t} vcc, {{a}}, {{b}}", None, [t] * 2,
                                model(lambda a, b, f=f: compare(f, a & (f.mask | f.sign), b & (f.mask | f.sign)),
                                      good, x)))

    def classify(f, a, mask):
        a &= f.mask | f.sign
        mag, neg = a & f.mask, f.neg(a)
        if f.isnan(a):
            bit = 1 if a & f.quiet else 0
        elif f.isinf(a):
            bit = 2 if neg else 9
        elif not mag:
            bit = 5 if neg else 6
        elif mag < 1 << f.mbits:
            bit = 4 if neg else 7
        else:
            bit = 3 if neg else 8
        return mask >> bit & 1
    for t, f in FORMATS.items():
        out.append(Case(f"v_cmp_class_{t} vcc, {{a}}, {{b}}", None, [t, "b32"],
                        model(lambda a, b, f=f: classify(f, a, b), {1}, "")))
    return out


COMPARES = compares()


def dpp(ctrl, extra, source, zero=False, rows=0xF, banks=0xF):
    """v_add_u32 with a moved first operand; `source(i)` is the lane or None."""

    def model(w):
        for i in range(64):
            if not w.active(i) or not rows >> (i >> 4) & 1 or not banks >> (i >> 2 & 3) & 1:
                continue
            s = source(i)
            if s is not None and w.active(s):
                a = w.ops["a"][s]
            elif zero:
                a = 0
            else:
                continue
            w.ops["d"][i] = (a + w.ops["b"][i]) & M32
    return Case(f"v_add_u32_dpp {{d}}, {{a}}, {{b}} {ctrl} {extra}", "b32", ["b32"] * 2, model)


FULL = "row_mask:0xf bank_mask:0xf"


def inrow(i, j):
    return (i & ~15) + j if 0 <= j < 16 else None


DPP = [
    dpp("quad_perm:[3,1,0,2]", FULL, lambda i: (i & ~3) + (3, 1, 0, 2)[i & 3]),
    dpp("row_mirror", FULL, lambda i: (i & ~15) + 15 - (i & 15)),
    dpp("row_half_mirror", FULL, lambda i: (i & ~7) + 7 - (i & 7)),
    dpp("row_bcast:15", FULL, lambda i: (i & ~15) - 1 if i >= 16 else None),
    dpp("row_bcast:31", FULL, lambda i: 31 if i >= 32 else None),
    dpp("row_bcast:15", "row_mask:0xa bank_mask:0xf", lambda i: (i & ~15) - 1 if i >= 16 else None, rows=0xA),
    dpp("wave_shl:1", FULL, lambda i: i + 1 if i < 63 else None),
    dpp("wave_rol:1", FULL, lambda i: (i + 1) % 64),
    dpp("wave_shr:1", FULL, lambda i: i - 1 if i else None),
    dpp("wave_ror:1", FULL, lambda i: (i - 1) % 64),
    dpp("row_shl:5", "row_mask:0x6 bank_mask:0x9", lambda i: inrow(i, (i & 15) + 5), rows=6, banks=9),
]
for k in (1, 7, 15):
    DPP += [
        dpp(f"row_shl:{k}", FULL, lambda i, k=k: inrow(i, (i & 15) + k)),
        dpp(f"row_shr:{k}", FULL, lambda i, k=k: inrow(i, (i & 15) - k)),
        dpp(f"row_shr:{k}", FULL + " bound_ctrl:0", lambda i, k=k: inrow(i, (i & 15) - k), zero=True),
        dpp(f"row_ror:{k}", FULL, lambda i, k=k: (i & ~15) + ((i - k) & 15)),
        dpp(f"row_newbcast:{k}", FULL, lambda i, k=k: (i & ~15) + k),
    ]


def sdwa(dst, unused, s0, s1, sx0=False, sx1=False):
    sel = {"BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8), "WORD_0": (0, 16),
           "WORD_1": (16, 16), "DWORD": (0, 32)}

    def pick(x, s, signed):
        at, bits = sel[s]
        x = x >> at & ((1 << bits) - 1)
        return sext(x, bits) & M32 if signed else x

    def fn(a, b, d):
        r = pick(a, s0, sx0) - pick(b, s1, sx1) & M32
        at, bits = sel[dst]
        field = (1 << bits) - 1
        v = (r & field) << at
        if bits == 32 or unused == "UNUSED_PAD":
            return v
        if unused == "UNUSED_PRESERVE":
            return v | d & ~(field << at)
        return (sext(r, bits) << at) & M32
    t0, t1 = ("sext({%s})" % n if s else "{%s}" % n for n, s in (("a", sx0), ("b", sx1)))
    return Case(f"v_sub_u32_sdwa {{d}}, {t0}, {t1} dst_sel:{dst} dst_unused:{unused} src0_sel:{s0} src1_sel:{s1}",
                "b32", ["b32"] * 2, lanes(fn))


SDWA = [sdwa(d, u, a, b, x, y)
        for d, a, b, x, y in (("BYTE_0", "BYTE_3", "WORD_1", False, True), ("BYTE_1", "DWORD", "BYTE_2", False, False),
                              ("BYTE_2", "WORD_0", "DWORD", True, False), ("BYTE_3", "BYTE_0", "BYTE_1", True, True),
                              ("WORD_0", "BYTE_1", "WORD_0", True, False), ("WORD_1", "WORD_1", "BYTE_0", True, True),
                              ("DWORD", "BYTE_2", "BYTE_3", False, True))
        for u in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")]

COMMON = {
    "integer": INTEGERS + CARRIES,
    "float": FLOATS,
    "packed": PACKED,
    "conversion": CONVERSIONS,
    "compare": COMPARES,
    "dpp-sdwa": DPP + SDWA,
}


# gfx950 only.

def bitop3(table, a, b, c, bits=32):
    r = 0
    for k in range(bits):
        r |= (table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k
    return r


def swap_rows(row):
    def model(w):
        d, a = w.ops["d"], w.ops["a"]
        for base in range(0, 64, 2 * row):
            for i in range(row):
                d[base + row + i], a[base + i] = a[base + i], d[base + row + i]
    return model


WITHALL = "s_mov_b64 s[26:27], exec\ns_mov_b64 exec, -1\nv_mov_b32 v60, {a}\ns_mov_b64 exec, s[26:27]\n"


def swapped_other(w):
    """v60 is the first operand: its upper half comes from the lower half of d,
    whose lower half it gives back."""
    d, a = list(w.ops["d"]), w.ops["a"]
    first = [a[i] if i < 32 else d[i - 32] for i in range(64)]
    second = [a[i + 32] if i < 32 else d[i] for i in range(64)]
    w.ops["d"] = [first[i] if w.active(i) else second[i] for i in range(64)]


def scaleof(b):
    return None if b >> 23 & 0xFF == 255 else Fraction(2) ** ((b >> 23 & 0xFF) - 127)


def narrowed(src, f, b, scale, noise=None):
    """Bits in a small format of a value divided by the scale."""
    sign = f.sign if src.neg(b) else 0
    s = scaleof(scale)
    if src.isnan(b) or s is None:
        if f.special == "none":
            return None if s is None else sign | f.max
        return sign | (f.mask if f.special == "fn" else f.nan)
    if src.isinf(b):
        return sign | {"none": f.max, "fn": f.mask, "ieee": f.inf}[f.special]
    return f.round(src.value(b) / s, zero=src.neg(b), noise=noise)


def widened(f, dst, b, scale):
    s = scaleof(scale)
    b &= f.mask | f.sign
    if f.isnan(b) or s is None:
        return dst.nan
    if f.isinf(b):
        return dst.inf | (dst.sign if f.neg(b) else 0)
    return dst.round(f.value(b) * s, zero=f.neg(b))


def goodscale(ops, rng):
    """Scales near one, and a few extreme ones, none of them NaN."""
    last = [n for n in "abc" if n in ops][-1]
    ops[last] = [(rng.choice((1, 100, 120, 125, 127, 127, 128, 130, 140, 200, 254)) << 23) | rng.getrandbits(23)
                 for _ in range(64)]


def noise32(r):
    return Fraction(r, 1 << 32)


def convert950():
    out = []
    sources = {"f32": F32, "f16": F16, "bf16": BF16}
    elem = {"f32": "f32", "f16": "f16", "bf16": "b16"}
    width = {"f32": 32, "f16": 16, "bf16": 16}
    for n, f in (("fp8", FP8), ("bf8", BF8)):
        for t, s in sources.items():
            w = width[t]
            text = f"v_cvt_scalef32_pk_{n}_{t} {{d}}, {{a}}, {{b}}" + (", {c}" if t == "f32" else "")
            for half in (0, 1):
                sel = (" op_sel:[0,0,0,1]" if t == "f32" else " op_sel:[0,0,1]") if half else ""

                def pack(lo, hi, sc, d, s=s, f=f, half=half):
                    x = narrowed(s, f, lo, sc) | narrowed(s, f, hi, sc) << 8
                    return d & ~(M16 << 16 * half) | x << 16 * half
                if t == "f32":
                    out.append(Case(text + sel, "b32", ["f32", "f32", "f32"],
                                    lanes(lambda a, b, c, d, p=pack: p(a, b, c, d)), fix=goodscale))
                else:
                    out.append(Case(text + sel, "b32", ["2x" + elem[t], "f32"],
                                    lanes(lambda a, b, d, p=pack: p(a & M16, a >> 16, b, d)), fix=goodscale))
            for byte in (0, 3):
                sel = f" op_sel:[0,0,{byte & 1},{byte >> 1}]" if byte else ""
                out.append(Case(f"v_cvt_scalef32_sr_{n}_{t} {{d}}, {{a}}, {{b}}, {{c}}" + sel, "b32",
                                [elem[t], "b32", "f32"],
                                lanes(lambda a, b, c, d, s=s, f=f, w=w, k=8 * byte: d & ~(0xFF << k) |
                                      narrowed(s, f, a & ((1 << w) - 1), c, noise32(b)) << k), fix=goodscale))
            for half in (0, 1):
                sel = " op_sel:[1,0,0]" if half else ""
                out.append(Case(f"v_cvt_scalef32_pk_{t}_{n} {{d}}, {{a}}, {{b}}" + sel,
                                "b64" if t == "f32" else "b32", ["b32", "f32"],
                                lanes(lambda a, b, d, s=s, f=f, w=w, k=16 * half: widened(f, s, a >> k, b) |
                                      widened(f, s, a >> (k + 8), b) << w), fix=goodscale))
        for byte in range(4):
            sel = f" op_sel:[{byte & 1},{byte >> 1},0]" if byte else ""
            out.append(Case(f"v_cvt_scalef32_f32_{n} {{d}}, {{a}}, {{b}}" + sel, "b32", ["b32", "f32"],
                            lanes(lambda a, b, d, f=f, k=8 * byte: widened(f, F32, a >> k, b)), fix=goodscale))
        out.append(Case(f"v_cvt_scalef32_f16_{n} {{d}}, {{a}}, {{b}} op_sel:[0,1,1]", "b32", ["b32", "f32"],
                        lanes(lambda a, b, d, f=f: d & M16 | widened(f, F16, a >> 16, b) << 16), fix=goodscale))
    for t, s in sources.items():
        w = width[t]
        for byte in range(4):
            sel = f" op_sel:[0,0,{byte & 1},{byte >> 1}]" if byte else ""

            def four(lo, hi, sc, d, k, noise=None, s=s):
                x = narrowed(s, FP4, lo, sc, noise) | narrowed(s, FP4, hi, sc, noise) << 4
                return d & ~(0xFF << k) | x << k
            if t == "f32":
                out.append(Case("v_cvt_scalef32_pk_fp4_f32 {d}, {a}, {b}, {c}" + sel, "b32", ["f32"] * 3,
                                lanes(lambda a, b, c, d, k=8 * byte, p=four: p(a, b, c, d, k)), fix=goodscale))
                out.append(Case("v_cvt_scalef32_sr_pk_fp4_f32 {d}, {a}, {b}, {c}" + sel, "b32",
                                ["2xf32", "b32", "f32"],
                                lanes(lambda a, b, c, d, k=8 * byte, p=four: p(a & M32, a >> 32, c, d, k, noise32(b))),
                                fix=goodscale))
            else:
                out.append(Case(f"v_cvt_scalef32_pk_fp4_{t} {{d}}, {{a}}, {{b}}" + sel, "b32", ["2x" + elem[t], "f32"],
                                lanes(lambda a, b, d, k=8 * byte, p=four: p(a & M16, a >> 16, b, d, k)),
                                fix=goodscale))
            sel = f" op_sel:[{byte & 1},{byte >> 1},0]" if byte else ""
            out.append(Case(f"v_cvt_scalef32_pk_{t}_fp4 {{d}}, {{a}}, {{b}}" + sel, "b64" if t == "f32" else "b32",
                            ["b32", "f32"],
                            lanes(lambda a, b, d, s=s, w=w, k=8 * byte: widened(FP4, s, a >> k, b) |
                                  widened(FP4, s, a >> (k + 4), b) << w), fix=goodscale))
        for n, f in (("fp6", FP6), ("bf6", BF6)):
            each = lambda a, w=w: [a >> (w * k) & ((1 << w) - 1) for k in range(32)]
            six = lambda v: sum(x << 6 * k for k, x in enumerate(v))
            if t != "f32":
                out.append(Case(f"v_cvt_scalef32_pk32_{n}_{t} {{d}}, {{a}}, {{b}}", "6xb32", ["32x" + elem[t], "f32"],
                                lanes(lambda a, b, d, s=s, f=f, e=each: six(narrowed(s, f, x, b) for x in e(a))),
                                fix=goodscale))
            else:
                def interleave(a, b, c, d, f=f):
                    both = []
                    for k in range(16):
                        both += [a >> 32 * k & M32, b >> 32 * k & M32]
                    return six(narrowed(F32, f, x, c) for x in both)
                out.append(Case(f"v_cvt_scalef32_2xpk16_{n}_f32 {{d}}, {{a}}, {{b}}, {{c}}", "6xb32",
                                ["16xf32", "16xf32", "f32"], lanes(interleave), fix=goodscale))
            out.append(Case(f"v_cvt_scalef32_sr_pk32_{n}_{t} {{d}}, {{a}}, {{b}}, {{c}}", "6xb32",
                            ["32x" + elem[t], "b32", "f32"],
                            lanes(lambda a, b, c, d, s=s, f=f, e=each: six(narrowed(s, f, x, c, noise32(b))
                                                                          for x in e(a))), fix=goodscale))
            out.append(Case(f"v_cvt_scalef32_pk32_{t}_{n} {{d}}, {{a}}, {{b}}", f"{w}xb32", ["6xb32", "f32"],
                            lanes(lambda a, b, d, s=s, f=f, w=w: sum(
                                widened(f, s, a >> 6 * k, b) << w * k for k in range(32))), fix=goodscale))

    def noisy(f, a, r):
        if f is BF16 or not F32.isnan(a):
            pass
        if F32.isnan(a) or F32.isinf(a):
            return convert(F32, f, a)
        return f.round(F32.value(a), zero=F32.neg(a), noise=noise32(r))
    for n, f in (("f16", F16), ("bf16", BF16)):
        out.append(Case(f"v_cvt_sr_{n}_f32 {{d}}, {{a}}, {{b}}", "b32", ["f32", "b32"],
                        lanes(lambda a, b, d, f=f: d & 0xFFFF0000 | noisy(f, a, b))))
        out.append(Case(f"v_cvt_sr_{n}_f32 {{d}}, -{{a}}, {{b}} op_sel:[0,0,1]", "b32", ["f32", "b32"],
                        lanes(lambda a, b, d, f=f: d & M16 | noisy(f, a ^ F32.sign, b) << 16)))
        out.append(Case(f"v_cvt_pk_{n}_f32 {{d}}, {{a}}, {{b}}", "b32", ["f32", "f32"],
                        lanes(lambda a, b, d, f=f: pack2(convert(F32, f, a), convert(F32, f, b)))))
    return out


def ashrpack(signed):
    lo, hi = (-128, 127) if signed else (0, 255)
    return lambda a, b, c: pack8([min(max(s32(x) >> (c & 31), lo), hi) for x in (a, b)])


GFX950 = {
    "integer": [
        simple("v_prng_b32", "b32", ["b32"], lambda a: a << 1 ^ (0xC5 if a >> 31 else 0)),
        Case("v_bitop3_b32 {d}, {a}, {b}, {c} bitop3:0x6c", "b32", ["b32"] * 3,
             lanes(lambda a, b, c, d: bitop3(0x6C, a, b, c))),
        Case("v_bitop3_b32 {d}, {a}, {b}, {c} bitop3:0xe1", "b32", ["b32"] * 3,
             lanes(lambda a, b, c, d: bitop3(0xE1, a, b, c))),
        Case("v_bitop3_b16 {d}, {a}, {b}, {c} bitop3:0x27", "b32", ["b16"] * 3,
             lanes(lambda a, b, c, d: d & 0xFFFF0000 | bitop3(0x27, a, b, c, 16))),
        Case("v_bitop3_b16 {d}, {a}, {b}, {c} bitop3:0x93 op_sel:[0,1,0,1]", "b32", ["b16", "b32", "b16"],
             lanes(lambda a, b, c, d: d & M16 | bitop3(0x93, a, b >> 16, c, 16) << 16)),
        keephalf("v_ashr_pk_i8_i32", ["b32"] * 3, ashrpack(True)),
        keephalf("v_ashr_pk_u8_i32", ["b32"] * 3, ashrpack(False)),
        # Both registers change, in all lanes.
        Case(WITHALL + "v_permlane16_swap_b32 {d}, v60", "b32", ["b32"], swap_rows(16)),
        Case(WITHALL + "v_permlane32_swap_b32 {d}, v60", "b32", ["b32"], swap_rows(32)),
        Case(WITHALL + "v_permlane32_swap_b32 v60, {d}\nv_mov_b32 {d}, v60", "b32", ["b32"], swapped_other),
    ],
    "conversion": convert950(),
}


def tables(chip):
    t = dict(COMMON)
    if chip == "gfx950":
        for name, cases in GFX950.items():
            t[name] = t[name] + cases
    return t
