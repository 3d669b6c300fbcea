# Scalar ALU, LDS, buffers and modes. Each table runs as one kernel of its own
# form; the definitions stand beside the instructions.

import random
import zlib
from fractions import Fraction

import harness
from formats import F16, F32, convert, sext
from valu import bfe, clz, ctz, s32, s64

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGE32, EDGE64 = harness.EDGES["b32"], harness.EDGES["b64"]
SETS = 12


def pick(rng, bits):
    return rng.choice(EDGE32 if bits == 32 else EDGE64) if rng.random() < 0.6 else rng.getrandbits(bits)


# --- Scalar ALU: (text, source bits, destination bits, fn(a, b, d, scc) -> (d, scc)).

def nz(x):
    return x, int(x != 0)


def addc(a, b, c):
    r = a + b + c
    return r & M32, int(r > M32)


def subb(a, b, c):
    r = a - b - c
    return r & M32, int(r < 0)


def over(r):
    return r & M32, int(not -(1 << 31) <= r < 1 << 31)


def either(cond, a, b):
    return (a if cond else b), int(cond)


def rev(x, n):
    return int(f"{x:0{n}b}"[::-1], 2)


def sbfe(a, b, bits, signed):
    off, width = b & (bits - 1), b >> 16 & 0x7F
    v = (sext(a, bits) if signed else a) >> off
    if not width:
        return 0
    if width < bits:
        v = sext(v, width) if signed else v & ((1 << width) - 1)
    return v & ((1 << bits) - 1)


def quad(x, n, spread):
    r = 0
    for k in range(n // 4):
        if x >> 4 * k & 15:
            r |= 15 << 4 * k if spread else 1 << k
    return r


def flbit(x, bits):
    x = sext(x, bits)
    x = ~x if x < 0 else x
    return bits - x.bit_length() if x else M32


SALU = []


def s(text, src, dst, fn):
    SALU.append((text, src, dst, fn))


for name, fn in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b),
                 ("andn2", lambda a, b: a & ~b), ("orn2", lambda a, b: a | ~b), ("nand", lambda a, b: ~(a & b)),
                 ("nor", lambda a, b: ~(a | b)), ("xnor", lambda a, b: ~(a ^ b))):
    for bits in (32, 64):
        s(f"s_{name}_b{bits}", (bits, bits), bits, lambda a, b, d, c, f=fn, n=bits: nz(f(a, b) & ((1 << n) - 1)))
for bits in (32, 64):
    m = (1 << bits) - 1
    s(f"s_mov_b{bits}", (bits,), bits, lambda a, b, d, c: (a, c))
    s(f"s_not_b{bits}", (bits,), bits, lambda a, b, d, c, m=m: nz(~a & m))
    s(f"s_brev_b{bits}", (bits,), bits, lambda a, b, d, c, n=bits: (rev(a, n), c))
    s(f"s_wqm_b{bits}", (bits,), bits, lambda a, b, d, c, n=bits: nz(quad(a, n, True)))
    s(f"s_quadmask_b{bits}", (bits,), bits, lambda a, b, d, c, n=bits: nz(quad(a, n, False)))
    s(f"s_bcnt0_i32_b{bits}", (bits,), 32, lambda a, b, d, c, n=bits: nz(n - bin(a).count("1")))
    s(f"s_bcnt1_i32_b{bits}", (bits,), 32, lambda a, b, d, c: nz(bin(a).count("1")))
    s(f"s_ff0_i32_b{bits}", (bits,), 32, lambda a, b, d, c, m=m: (ctz(~a & m), c))
    s(f"s_ff1_i32_b{bits}", (bits,), 32, lambda a, b, d, c: (ctz(a), c))
    s(f"s_flbit_i32_b{bits}", (bits,), 32, lambda a, b, d, c, n=bits: (clz(a, n), c))
    s(f"s_cmov_b{bits}", (bits,), bits, lambda a, b, d, c: (a if c else d, c))
    s(f"s_cselect_b{bits}", (bits, bits), bits, lambda a, b, d, c: (a if c else b, c))
    s(f"s_lshl_b{bits}", (bits, 32), bits, lambda a, b, d, c, n=bits, m=m: nz(a << (b & (n - 1)) & m))
    s(f"s_lshr_b{bits}", (bits, 32), bits, lambda a, b, d, c, n=bits: nz(a >> (b & (n - 1))))
    s(f"s_ashr_i{bits}", (bits, 32), bits, lambda a, b, d, c, n=bits, m=m: nz(sext(a, n) >> (b & (n - 1)) & m))
    s(f"s_bfe_u{bits}", (bits, 32), bits, lambda a, b, d, c, n=bits: nz(sbfe(a, b, n, False)))
    s(f"s_bfe_i{bits}", (bits, 32), bits, lambda a, b, d, c, n=bits: nz(sbfe(a, b, n, True)))
    s(f"s_bfm_b{bits}", (32, 32), bits,
      lambda a, b, d, c, n=bits, m=m: (((1 << (a & (n - 1))) - 1) << (b & (n - 1)) & m, c))
    s(f"s_bitset0_b{bits}", (32,), bits, lambda a, b, d, c, n=bits: (d & ~(1 << (a & (n - 1))), c))
    s(f"s_bitset1_b{bits}", (32,), bits, lambda a, b, d, c, n=bits: (d | 1 << (a & (n - 1)), c))
    s(f"s_bitcmp0_b{bits}", (bits, 32), 0, lambda a, b, d, c, n=bits: (d, int(not a >> (b & (n - 1)) & 1)))
    s(f"s_bitcmp1_b{bits}", (bits, 32), 0, lambda a, b, d, c, n=bits: (d, a >> (b & (n - 1)) & 1))
s("s_flbit_i32", (32,), 32, lambda a, b, d, c: (flbit(a, 32), c))
s("s_flbit_i32_i64", (64,), 32, lambda a, b, d, c: (flbit(a, 64), c))
s("s_sext_i32_i8", (32,), 32, lambda a, b, d, c: (sext(a, 8) & M32, c))
s("s_sext_i32_i16", (32,), 32, lambda a, b, d, c: (sext(a, 16) & M32, c))
s("s_abs_i32", (32,), 32, lambda a, b, d, c: nz(abs(s32(a)) & M32))
s("s_bitreplicate_b64_b32", (32,), 64, lambda a, b, d, c: (sum(3 << 2 * k for k in range(32) if a >> k & 1), c))
s("s_add_u32", (32, 32), 32, lambda a, b, d, c: addc(a, b, 0))
s("s_sub_u32", (32, 32), 32, lambda a, b, d, c: subb(a, b, 0))
s("s_addc_u32", (32, 32), 32, lambda a, b, d, c: addc(a, b, c))
s("s_subb_u32", (32, 32), 32, lambda a, b, d, c: subb(a, b, c))
s("s_add_i32", (32, 32), 32, lambda a, b, d, c: over(s32(a) + s32(b)))
s("s_sub_i32", (32, 32), 32, lambda a, b, d, c: over(s32(a) - s32(b)))
s("s_min_i32", (32, 32), 32, lambda a, b, d, c: either(s32(a) < s32(b), a, b))
s("s_max_i32", (32, 32), 32, lambda a, b, d, c: either(s32(a) > s32(b), a, b))
s("s_min_u32", (32, 32), 32, lambda a, b, d, c: either(a < b, a, b))
s("s_max_u32", (32, 32), 32, lambda a, b, d, c: either(a > b, a, b))
s("s_mul_i32", (32, 32), 32, lambda a, b, d, c: (a * b & M32, c))
s("s_mul_hi_u32", (32, 32), 32, lambda a, b, d, c: (a * b >> 32, c))
s("s_mul_hi_i32", (32, 32), 32, lambda a, b, d, c: (s32(a) * s32(b) >> 32 & M32, c))
s("s_absdiff_i32", (32, 32), 32, lambda a, b, d, c: nz(abs(s32(a - b & M32)) & M32))
for k in range(1, 5):
    s(f"s_lshl{k}_add_u32", (32, 32), 32, lambda a, b, d, c, k=k: ((a << k) + b & M32, int((a << k) + b > M32)))
s("s_pack_ll_b32_b16", (32, 32), 32, lambda a, b, d, c: (a & 0xFFFF | b << 16 & M32, c))
s("s_pack_lh_b32_b16", (32, 32), 32, lambda a, b, d, c: (a & 0xFFFF | b & 0xFFFF0000, c))
s("s_pack_hh_b32_b16", (32, 32), 32, lambda a, b, d, c: (a >> 16 | b & 0xFFFF0000, c))
for op, test in (("eq", lambda x, y: x == y), ("lg", lambda x, y: x != y), ("gt", lambda x, y: x > y),
                 ("ge", lambda x, y: x >= y), ("lt", lambda x, y: x < y), ("le", lambda x, y: x <= y)):
    s(f"s_cmp_{op}_i32", (32, 32), 0, lambda a, b, d, c, t=test: (d, int(t(s32(a), s32(b)))))
    s(f"s_cmp_{op}_u32", (32, 32), 0, lambda a, b, d, c, t=test: (d, int(t(a, b))))
    for imm in (-7, 0x7FFF):
        s(f"s_cmpk_{op}_i32 D, {imm}", (), 32, lambda a, b, d, c, t=test, k=imm: (d, int(t(s32(d & M32), k))))
    s(f"s_cmpk_{op}_u32 D, 0xfff0", (), 32, lambda a, b, d, c, t=test: (d, int(t(d & M32, 0xFFF0))))
for op, test in (("eq", lambda x, y: x == y), ("lg", lambda x, y: x != y)):
    s(f"s_cmp_{op}_u64", (64, 64), 0, lambda a, b, d, c, t=test: (d, int(t(a, b))))
s("s_movk_i32 D, -3", (), 32, lambda a, b, d, c: (-3 & M32, c))
s("s_cmovk_i32 D, 0x55", (), 32, lambda a, b, d, c: (0x55 if c else d, c))
s("s_addk_i32 D, 0x7fff", (), 32, lambda a, b, d, c: over(s32(d & M32) + 0x7FFF))
s("s_mulk_i32 D, -5", (), 32, lambda a, b, d, c: ((d & M32) * -5 & M32, c))


def run_salu(chip, stem, seed):
    """s[10:11], s[12:13]: sources; s[14:15]: destination; SCC from s16."""
    source, data, plan = harness.HEADER, bytearray(), []
    for text, src, dst, fn in SALU:
        rng = random.Random(zlib.crc32(text.encode()) + seed)
        regs = {32: lambda r: f"s{r}", 64: lambda r: f"s[{r}:{r + 1}]"}
        if " " in text:
            line = text.replace("D", "s14", 1)
        else:
            ops = ([regs[dst](14)] if dst else []) + [regs[b](10 + 2 * k) for k, b in enumerate(src)]
            line = f"{text} " + ", ".join(ops)
        for _ in range(SETS):
            a, b = (pick(rng, src[k]) if k < len(src) else 0 for k in (0, 1))
            d, scc = pick(rng, dst or 32), rng.getrandbits(1)
            if "addk" in text or "mulk" in text or "cmpk" in text or "movk" in text:
                d &= M32
            for x in (a, b, d, scc):
                data += x.to_bytes(8, "little")
            plan.append((text, a, b, d, scc, dst, fn))
            source += "  s_load_dwordx8 s[60:67], s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n"
            source += "  s_mov_b64 s[10:11], s[60:61]\n  s_mov_b64 s[12:13], s[62:63]\n  s_mov_b64 s[14:15], s[64:65]\n"
            source += f"  s_cmp_eq_u32 s66, 1\n  {line}\n  s_cselect_b32 s18, 1, 0\n"
            source += "  s_add_u32 s4, s4, 32\n  s_addc_u32 s5, s5, 0\n"
            for k, r in enumerate((14, 15, 18)):
                source += f"  v_mov_b32 v1, s{r}\n  v_mov_b32 v2, 0\n  global_store_dword v2, v1, s[6:7] offset:{4 * k}\n"
            source += "  s_add_u32 s6, s6, 12\n  s_addc_u32 s7, s7, 0\n"
    with open(stem + ".in", "wb") as f:
        f.write(data)
    harness.tools(chip, source + harness.FOOTER, stem, ["atrex-sim", "run", stem + ".co", "--block", "64", "--arg",
                  f"in:{stem}.in", "--arg", f"out:{12 * len(plan)}:{stem}.out"])
    result = open(stem + ".out", "rb").read()
    failed = set()
    for k, (text, a, b, d, scc, dst, fn) in enumerate(plan):
        got = int.from_bytes(result[12 * k:12 * k + 8], "little")
        gotscc = result[12 * k + 8]
        want, wantscc = fn(a, b, d, scc)
        if dst == 32:
            want = want & M32 | d & ~M32
        if (got, gotscc) != (want, wantscc):
            if text not in failed:
                print(f"{chip}: {text}: a {a:#x}, b {b:#x}, d {d:#x}, scc {scc}: expected {want:#x} scc {wantscc}, "
                      f"got {got:#x} scc {gotscc}")
            failed.add(text)
    return len(SALU), len(failed)


# --- LDS. fn(lds, addr, d0, d1) changes the bytes and returns the result; lanes
# in ascending order.

def rd(m, a, n):
    return int.from_bytes(m[a:a + n], "little") if a + n <= len(m) else 0


def wr(m, a, n, x):
    if a + n <= len(m):
        m[a:a + n] = (x & ((1 << 8 * n) - 1)).to_bytes(n, "little")


def rmw(n, fn):
    def run(m, a, x, y):
        old = rd(m, a, n)
        wr(m, a, n, fn(old, x & ((1 << 8 * n) - 1), y & ((1 << 8 * n) - 1)))
        return old
    return run


LDSBYTES = 1024
INTOPS = {
    "add_u": lambda n: lambda o, x, y: o + x, "sub_u": lambda n: lambda o, x, y: o - x,
    "rsub_u": lambda n: lambda o, x, y: x - o, "inc_u": lambda n: lambda o, x, y: 0 if o >= x else o + 1,
    "dec_u": lambda n: lambda o, x, y: x if o == 0 or o > x else o - 1,
    "min_i": lambda n: lambda o, x, y: min(sext(o, n), sext(x, n)),
    "max_i": lambda n: lambda o, x, y: max(sext(o, n), sext(x, n)), "min_u": lambda n: lambda o, x, y: min(o, x),
    "max_u": lambda n: lambda o, x, y: max(o, x), "and_b": lambda n: lambda o, x, y: o & x,
    "or_b": lambda n: lambda o, x, y: o | x, "xor_b": lambda n: lambda o, x, y: o ^ x,
    "mskor_b": lambda n: lambda o, x, y: o & ~x | y, "cmpst_b": lambda n: lambda o, x, y: y if o == x else o,
}
# (text with {d} {a} {x} {y}, result dwords, dwords of x, of y, fn, alignment)
LDS = []
for n in (32, 64):
    for name, make in INTOPS.items():
        two = name in ("mskor_b", "cmpst_b")
        base, kind = name.rsplit("_", 1)
        LDS.append((f"ds_{base}_{kind}{n} {{a}}, {{x}}" + (", {y}" if two else "") + " offset:16", 0, n // 32,
                    n // 32 if two else 0, lambda m, a, x, y, f=rmw(n // 8, make(n)): (f(m, a + 16, x, y), 0)[1], n // 8))
        LDS.append((f"ds_{base}_rtn_{kind}{n} {{d}}, {{a}}, {{x}}" + (", {y}" if two else "") + " offset:8", n // 32,
                    n // 32, n // 32 if two else 0, lambda m, a, x, y, f=rmw(n // 8, make(n)): f(m, a + 8, x, y), n // 8))
    LDS.append((f"ds_wrxchg_rtn_b{n} {{d}}, {{a}}, {{x}}", n // 32, n // 32, 0, rmw(n // 8, lambda o, x, y: x), n // 8))
for name, n, signed in (("u8", 1, 0), ("i8", 1, 1), ("u16", 2, 0), ("i16", 2, 1), ("b32", 4, 0), ("b64", 8, 0),
                        ("b96", 12, 0), ("b128", 16, 0)):
    LDS.append((f"ds_read_{name} {{d}}, {{a}} offset:40", max(1, n // 4), 0, 0,
                lambda m, a, x, y, n=n, g=signed: (sext(rd(m, a + 40, n), 8 * n) & M32) if g else rd(m, a + 40, n), n))
for name, n in (("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8), ("b96", 12), ("b128", 16)):
    LDS.append((f"ds_write_{name} {{a}}, {{x}} offset:12", 0, max(1, n // 4), 0,
                lambda m, a, x, y, n=n: wr(m, a + 12, n, x), n))
LDS.append(("ds_write_b16_d16_hi {a}, {x}", 0, 1, 0, lambda m, a, x, y: wr(m, a, 2, x >> 16), 2))
for n in (4, 8):
    for st, scale in (("", n), ("st64", 64 * n)):
        o0, o1 = (3, 1) if st else (7, 2)
        if st:
            o0, o1 = 0, 1

        def read2(m, a, x, y, n=n, o=(o0 * scale, o1 * scale)):
            return rd(m, a + o[0], n) | rd(m, a + o[1], n) << 8 * n

        def write2(m, a, x, y, n=n, o=(o0 * scale, o1 * scale)):
            wr(m, a + o[0], n, x)
            wr(m, a + o[1], n, y)

        def exchange2(m, a, x, y, n=n, o=(o0 * scale, o1 * scale)):
            r = 0
            for k, v in enumerate((x, y)):
                r |= rd(m, a + o[k], n) << 8 * n * k
                wr(m, a + o[k], n, v)
            return r
        tail = f" offset0:{o0} offset1:{o1}"
        LDS.append((f"ds_read2{st}_b{8 * n} {{d}}, {{a}}" + tail, n // 2, 0, 0, read2, n))
        LDS.append((f"ds_write2{st}_b{8 * n} {{a}}, {{x}}, {{y}}" + tail, 0, n // 4, n // 4, write2, n))
        LDS.append((f"ds_wrxchg2{st}_rtn_b{8 * n} {{d}}, {{a}}, {{x}}, {{y}}" + tail, n // 2, n // 4, n // 4, exchange2, n))
LDS.append(("ds_wrap_rtn_b32 {d}, {a}, {x}, {y}", 1, 1, 1, rmw(4, lambda o, x, y: o - x if o >= x else o + y), 4))


def condxchg(m, a, x, y):
    old = rd(m, a, 8)
    for k in (0, 1):
        v = x >> 32 * k & M32
        if v >> 31:
            wr(m, a + 4 * k, 4, v & 0x7FFFFFFF)
    return old


LDS.append(("ds_condxchg32_rtn_b64 {d}, {a}, {x}", 2, 2, 0, condxchg, 8))

# Whole-wave forms: fn(lds, lanes' addresses, data, exec, m0) -> results by lane.


def permute(back):
    def run(m, addr, x, mask, m0):
        r = [0] * 64
        for i in range(64):
            if back:
                j = addr[i] >> 2 & 63
                r[i] = x[j] if mask >> j & 1 else 0
            elif mask >> i & 1:
                r[addr[i] >> 2 & 63] = x[i]
        return r
    return run


def swizzle(source):
    def run(m, addr, x, mask, m0):
        # The data is the address register.
        return [addr[source(i)] if mask >> source(i) & 1 else 0 for i in range(64)]
    return run


def fft(i, mask):
    j = rev(i & 31, 5) >> bin(mask).count("1")
    return j | i & mask | i & 32


def rotate(i, n, mask):
    return i & 32 | i & mask & 31 | (i + n) & ~mask & 31


def append(sign):
    def run(m, addr, x, mask, m0):
        old = rd(m, m0 + 32, 4)
        wr(m, m0 + 32, 4, old + sign * bin(mask).count("1"))
        return [old] * 64
    return run


def addtid_read(m, addr, x, mask, m0):
    return [rd(m, m0 + 8 + 4 * i, 4) for i in range(64)]


def addtid_write(m, addr, x, mask, m0):
    for i in range(64):
        if mask >> i & 1:
            wr(m, m0 + 8 + 4 * i, 4, x[i])


def transpose(nbytes, bits):
    """16 lanes hold a matrix of 16 columns row by row; lane i gets column i."""

    def run(m, addr, x, mask, m0):
        r = []
        per = nbytes * 8 // bits
        for i in range(64):
            flat = 0
            for k in range(16):
                j = i // 16 * 16 + k
                v = rd(m, addr[j], nbytes) if mask >> j & 1 else 0
                flat |= v << 8 * nbytes * k
            r.append(sum((flat >> (16 * k + i % 16) * bits & ((1 << bits) - 1)) << k * bits for k in range(per)))
        return r
    return run


WAVE = [
    ("ds_permute_b32 {d}, {a}, {x}", 1, 1, permute(False)),
    ("ds_bpermute_b32 {d}, {a}, {x}", 1, 1, permute(True)),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(QUAD_PERM,2,0,3,1)", 1, 0, swizzle(lambda i: i & ~3 | (2, 0, 3, 1)[i & 3])),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(BITMASK_PERM,\"01pip\")", 1, 0,
     swizzle(lambda i: i & 32 | 8 | (i & 5) | (~i & 2))),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(FFT,0)", 1, 0, swizzle(lambda i: fft(i, 0))),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(FFT,16)", 1, 0, swizzle(lambda i: fft(i, 16))),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(FFT,31)", 1, 0, swizzle(lambda i: fft(i, 31))),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(ROTATE,0,3)", 1, 0, swizzle(lambda i: rotate(i, 3, 0))),
    ("ds_swizzle_b32 {d}, {a} offset:swizzle(ROTATE,1,5)", 1, 0, swizzle(lambda i: rotate(i, -5, 0))),
    ("ds_append {d} offset:32", 1, 0, append(1)),
    ("ds_consume {d} offset:32", 1, 0, append(-1)),
    ("ds_read_addtid_b32 {d} offset:8", 1, 0, addtid_read),
    ("ds_write_addtid_b32 {x} offset:8", 0, 1, addtid_write),
]
WAVE950 = [
    ("ds_read_b64_tr_b16 {d}, {a}", 2, 0, transpose(8, 16)),
    ("ds_read_b64_tr_b8 {d}, {a}", 2, 0, transpose(8, 8)),
    ("ds_read_b64_tr_b4 {d}, {a}", 2, 0, transpose(8, 4)),
    ("ds_read_b96_tr_b6 {d}, {a}", 3, 0, transpose(12, 6)),
]


def run_lds(chip, stem, seed):
    """v20: addresses, v[24:27], v[28:31]: data, v[32:35]: result, M0 128."""
    M0 = 128
    cases = [(t, d, nx, ny, fn, al, False) for t, d, nx, ny, fn, al in LDS]
    cases += [(t, d, nx, 0, fn, 4, True) for t, d, nx, fn in WAVE + (WAVE950 if chip == "gfx950" else [])]
    source, data, total = harness.HEADER + f"  s_movk_i32 m0, {M0}\n", bytearray(), 0
    group = lambda r, n: f"v{r}" if n == 1 else f"v[{r}:{r + n - 1}]"
    inputs = []
    for text, nd, nx, ny, fn, align, whole in cases:
        rng = random.Random(zlib.crc32(text.encode()) + seed)
        lds = bytearray(rng.getrandbits(8) for _ in range(LDSBYTES))
        limit = LDSBYTES // 4 if "st64" not in text else 64
        # A few lanes beyond the end.
        addr = [rng.randrange(0, limit * 4 // align) * align % (LDSBYTES if "st64" not in text else 256)
                for _ in range(64)]
        if "_tr_" in text:
            addr = [rng.randrange(0, 30) * 8 if "b96" not in text else rng.randrange(0, 60) * 16 for _ in range(64)]
        elif "ds_write2_" in text:
            # Which of two lanes wins is nobody's promise: keep them apart.
            addr = [16 * i for i in rng.sample(range(64), 64)]
        elif not whole:
            addr[5], addr[41] = LDSBYTES - align, LDSBYTES + align * 3
        x = [rng.getrandbits(128) if rng.random() < .6 else rng.choice(EDGE64) for _ in range(64)]
        y = [rng.getrandbits(128) if rng.random() < .6 else rng.choice(EDGE64) for _ in range(64)]
        if "cmpst" in text:
            # Half of the lanes meet what they expect.
            n = 8 if "64" in text else 4
            off = 16 if "offset:16" in text else 8
            x = [rd(lds, a + off, n) if i % 2 else v for i, (a, v) in enumerate(zip(addr, x))]
        d = [rng.getrandbits(128) for _ in range(64)]
        inputs.append((lds, addr, x, y, d))
        data += lds + harness.planes(addr, 1) + harness.planes(x, 4) + harness.planes(y, 4) + harness.planes(d, 4)
        regs = dict(a="v20", x=group(24, max(nx, 1)), y=group(28, max(ny, 1)), d=group(32, max(nd, 1)))
        for mask in ("-1", "s[22:23]"):
            source += harness.pair(22, harness.PARTIAL)
            source += "  v_lshlrev_b32 v3, 2, v0\n  v_mov_b32 v2, v0\n  global_load_dwordx4 v[36:39], v3, s[4:5]\n"
            source += "  s_mov_b64 s[30:31], s[4:5]\n  s_add_u32 s4, s4, 1024\n  s_addc_u32 s5, s5, 0\n"
            source += harness.load(20)
            for r in (24, 28, 32):
                for k in range(4):
                    source += harness.load(r + k)
            source += "  s_waitcnt vmcnt(0)\n  ds_write_b128 v3, v[36:39]\n"
            # The allocation rounds up to 1280 bytes on one of the chips.
            source += "  v_mov_b32 v40, 0\n  ds_write_b32 v2, v40 offset:1024\n  s_waitcnt lgkmcnt(0)\n"
            source += f"  s_mov_b64 exec, {mask}\n  {text.format(**regs)}\n  s_waitcnt lgkmcnt(0)\n  s_mov_b64 exec, -1\n"
            source += "  ds_read_b128 v[36:39], v3\n  s_waitcnt lgkmcnt(0)\n"
            for r in range(32, 40):
                source += harness.store(r)
            source += "  s_waitcnt vmcnt(0)\n"
            if mask == "-1":
                source += "  s_mov_b64 s[4:5], s[30:31]\n"
            total += 8 * 256
    with open(stem + ".in", "wb") as f:
        f.write(data)
    # Exactly the bytes of the test, so that what lies beyond is out of range.
    footer = harness.FOOTER.replace("fixed_size 4096", f"fixed_size {LDSBYTES}")
    harness.tools(chip, source + footer, stem, ["atrex-sim", "run", stem + ".co", "--block", "64", "--arg",
                  f"in:{stem}.in", "--arg", f"out:{total}:{stem}.out"])
    result = open(stem + ".out", "rb").read()
    granule = 1280 if chip == "gfx950" else 512
    failed, at = 0, 0
    for (text, nd, nx, ny, fn, align, whole), (lds0, addr, x, y, d0) in zip(cases, inputs):
        bad = ""
        for mask in (M64, harness.PARTIAL):
            lds, want = bytearray(lds0), list(d0)
            lds += bytearray(-len(lds) % granule)
            cut = lambda v, n: v & ((1 << 32 * n) - 1) if n else 0
            if whole:
                r = fn(lds, addr, [cut(v, nx) for v in x], mask, M0)
                for i in range(64):
                    if nd and mask >> i & 1:
                        want[i] = want[i] & ~((1 << 32 * nd) - 1) | r[i]
            else:
                for i in range(64):
                    if mask >> i & 1:
                        r = fn(lds, addr[i], cut(x[i], nx), cut(y[i], ny))
                        if nd:
                            want[i] = want[i] & ~((1 << 32 * nd) - 1) | r
            got = [sum(int.from_bytes(result[at + 256 * k + 4 * i:at + 256 * k + 4 * i + 4], "little") << 32 * k
                       for k in range(4)) for i in range(64)]
            mem = bytearray(LDSBYTES)
            for i in range(64):
                for k in range(4):
                    mem[16 * i + 4 * k:16 * i + 4 * k + 4] = result[at + 1024 + 256 * k + 4 * i:at + 1028 + 256 * k + 4 * i]
            at += 2048
            for i in range(64):
                if got[i] != want[i] and not bad:
                    bad = f"exec {mask:#x} lane {i} address {addr[i]}: expected {want[i]:#x}, got {got[i]:#x}"
            for k in range(LDSBYTES):
                if mem[k] != lds[k] and not bad:
                    bad = f"exec {mask:#x} LDS byte {k}: expected {lds[k]:#x}, got {mem[k]:#x}"
        if bad:
            failed += 1
            print(f"{chip}: {text}: {bad}")
    return len(cases), failed
