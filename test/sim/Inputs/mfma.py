#!/usr/bin/env python3
"""Matrix instructions, computed by hand.

  mfma.py kernel ARCH OUT.s OUT.in OUT.expected
      A kernel that executes one instruction of every class, its input and what
      it must store. Operands are small integers, so that any order of sums
      gives the same; what is tested is decoding and the place of each element.

  mfma.py vectors DIR
      Files for `atrex-sim mfma-vectors`: random operands of all sizes, results
      by the rules of docs/device.md in integers.
"""

import json
import random
import struct
import sys
from fractions import Fraction

# Format: exponent bits, mantissa bits, bias, kind of the top exponent.
FORMATS = {
    "f16": (5, 10, 15, "ieee"),
    "bf16": (8, 7, 127, "ieee"),
    "f32": (8, 23, 127, "ieee"),
    "xf32": (8, 23, 127, "ieee"),
    "f64": (11, 52, 1023, "ieee"),
    "fp8": (4, 3, 7, "nan"),
    "bf8": (5, 2, 15, "ieee"),
    "fp8fnuz": (4, 3, 8, "fnuz"),
    "bf8fnuz": (5, 2, 16, "fnuz"),
    "fp6": (2, 3, 1, "finite"),
    "bf6": (3, 2, 3, "finite"),
    "fp4": (2, 1, 1, "finite"),
}


def width(t):
    if t in ("i8", "i32"):
        return int(t[1:])
    e, m, _, _ = FORMATS[t]
    return 1 + e + m


def fields(t, bits):
    e, m, _, _ = FORMATS[t]
    return bits >> (e + m) & 1, bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)


def decode(t, bits):
    """(value, exponent as the matrix unit sees it) of a finite element."""
    if t in ("i8", "i32"):
        w = width(t)
        return Fraction(bits - (1 << w if bits >> (w - 1) else 0)), 0
    _, m, bias, _ = FORMATS[t]
    s, e, f = fields(t, bits)
    value = Fraction(f + ((1 << m) if e else 0)) * Fraction(2) ** ((e or 1) - bias - m)
    return (-value if s else value), ((e or 1) - bias if value else -126)


def encode(t, value):
    """Bits of a small value that the format has."""
    if t in ("i8", "i32"):
        return int(value) & ((1 << width(t)) - 1)
    e, m, bias, _ = FORMATS[t]
    if value == 0:
        return 0
    x, n = abs(Fraction(value)), 0
    while x >= 2:
        x, n = x / 2, n + 1
    while x < 1:
        x, n = x * 2, n - 1
    if n < 1 - bias:  # subnormal
        x, field = x * Fraction(2) ** (n - 1 + bias), 0
    else:
        x, field = x - 1, n + bias
    fraction = x * (1 << m)
    assert fraction.denominator == 1 and field < 1 << e, (t, value)
    return (value < 0) << (e + m) | field << m | int(fraction)


def round_to(t, value):
    """Nearest element of f32 or f64, ties to even."""
    e, m, bias, _ = FORMATS[t]
    if value == 0:
        return 0
    sign, x, n = value < 0, abs(value), 0
    n = x.numerator.bit_length() - x.denominator.bit_length()
    while x >= Fraction(2) ** (n + 1):
        n += 1
    while x < Fraction(2) ** n:
        n -= 1
    n = max(n, 1 - bias)
    q = x / Fraction(2) ** (n - m)
    k = q.numerator // q.denominator
    rest = q - k
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and k & 1):
        k += 1
    bits = k + ((n + bias - 1) << m)
    return sign << (e + m) | min(bits, ((1 << e) - 1) << m)


def floor(x):
    return x.numerator // x.denominator


def trunc(x):
    return floor(x) if x >= 0 else -floor(-x)


def grouped(a, b, c, group, even_odd):
    """The chain of groups; a and b are (value, exponent), c bits of f32."""
    for first in range(0, len(a), group):
        cv, ce = decode("f32", c)
        halves = 2 if even_odd else 1
        sums = []
        for h in range(halves):
            ks = range(first + h, first + group, halves)
            top = max(a[k][1] + b[k][1] for k in ks)
            unit = Fraction(2) ** (top - 24)
            sums.append((sum(trunc(a[k][0] * b[k][0] / unit) for k in ks) * unit, top))
        top = max(e for _, e in sums)
        if even_odd:
            unit = Fraction(2) ** (top - 24)
            total = sum(floor(s / unit) for s, _ in sums) * unit
        else:
            total = sums[0][0]
        m = max(top, ce)
        fine, coarse = Fraction(2) ** (m - 31), Fraction(2) ** (m - 24)
        d = floor(total / fine) * fine
        if not (even_odd and ce < m - 25):
            d += floor(cv / coarse) * coarse
        c = round_to("f32", d)
    return c


def dot(t, a, b, c, fnuz):
    """One element of D; a, b and c are bits."""
    if t[0] == "i8":
        return (sum(int(decode("i8", x)[0] * decode("i8", y)[0]) for x, y in zip(a, b)) + c) & 0xFFFFFFFF
    ta, tb = (x + "fnuz" if fnuz and x in ("fp8", "bf8") else x for x in t)
    if ta in ("f32", "f64"):
        for x, y in zip(a, b):
            s = decode(ta, x)[0] * decode(ta, y)[0] + decode(ta, c)[0]
            negative = (fields(ta, x)[0] ^ fields(ta, y)[0]) & fields(ta, c)[0]
            c = round_to(ta, s) if s else negative << (width(ta) - 1)
        return c
    if ta == "xf32":
        a, b = [x & ~0x1FFF for x in a], [x & ~0x1FFF for x in b]
    even_odd = width(ta) <= 8
    group = 4 if ta == "xf32" else min(16 if even_odd else 8, len(a))
    return grouped([decode(ta, x) for x in a], [decode(tb, x) for x in b], c, group, even_odd)


class Instruction:
    def __init__(self, name, m, k, blocks, a, b, sparse=False, scaled=False, **form):
        self.name, self.m, self.k, self.blocks, self.a, self.b = name, m, k, blocks, a, b
        self.sparse, self.scaled, self.form = sparse, scaled, form
        self.c = {"f64": "f64", "i8": "i32"}.get(a, "f32")
        self.f8f6f4 = "f8f6f4" in name

    # Where elements live: lane and number in the lane.
    def factor(self, t, k_all, block, row, k):
        if self.c == "f64":
            return (16 * k + 4 * block + row, 0) if self.m == 4 else (16 * k + row, 0)
        if self.f8f6f4 and width(t) == 8:
            half, rest = divmod(k, k_all // 2)
            return self.m * (rest // 16) + row, 16 * half + rest % 16
        per_lane = k_all * self.blocks * self.m // 64
        return self.m * (block * (k_all // per_lane) + k // per_lane) + row, k % per_lane

    def result(self, block, i, j):
        if self.c == "f64":
            return (16 * i + 4 * block + j, 0) if self.m == 4 else (16 * (i % 4) + j, i // 4)
        if self.m == 32:
            return 32 * (i // 4 % 2) + j, 16 * block + 4 * (i // 8) + i % 4
        if self.m == 16:
            return 16 * (i // 4) + j, 4 * block + i % 4
        return 4 * block + j, i

    def stored(self):
        return self.k // 2 if self.sparse else self.k

    def registers(self, operand):
        count, t = {
            "a": (self.stored() * self.m * self.blocks // 64, self.a),
            "b": (self.k * self.m * self.blocks // 64, self.b),
            "c": (self.m * self.m * self.blocks // 64, self.c),
        }[operand]
        return (count * width(t) + 31) // 32


def put(rows, place, bits, value):
    lane, n = place
    for i in range(bits):
        at = n * bits + i
        rows[at // 32][lane] |= (value >> i & 1) << (at % 32)


# One of each class; acc: which operands lie in accumulation registers.
def instructions(arch):
    fnuz = arch == "gfx942"
    fp8, bf8 = ("fp8", "bf8")
    I = Instruction
    result = [
        I("v_mfma_f64_16x16x4_f64", 16, 4, 1, "f64", "f64", acc="c"),
        I("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, "f64", "f64"),
        I("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, "f32", "f32", acc="ab"),
        I("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, "f32", "f32", acc="c", broadcast=(1, 1)),
        I("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, "f32", "f32", broadcast=(2, 3)),
        I("v_mfma_f32_16x16x4_f32", 16, 4, 1, "f32", "f32", acc="a"),
        I("v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, "f16", "f16", broadcast=(1, 0)),
        I("v_mfma_f32_16x16x16_f16", 16, 16, 1, "f16", "f16", acc="bc"),
        I("v_mfma_f32_32x32x8_bf16", 32, 8, 1, "bf16", "bf16", acc="abc", inplace=True),
        I("v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, "bf16", "bf16", acc="c"),
        I("v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, "i8", "i8", constant="-3"),
        I("v_mfma_i32_32x32x16_i8", 32, 16, 1, "i8", "i8", acc="b"),
        I("v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, fp8, bf8, constant="1.0"),
        I("v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, bf8, fp8, acc="ac"),
        I("v_smfmac_f32_16x16x32_f16", 16, 32, 1, "f16", "f16", sparse=True, abid=3),
        I("v_smfmac_i32_32x32x32_i8", 32, 32, 1, "i8", "i8", sparse=True, abid=1, acc="abc"),
        I("v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, fp8, bf8, sparse=True, abid=0),
    ]
    if fnuz:
        result.append(I("v_mfma_f32_16x16x8_xf32", 16, 8, 1, "xf32", "xf32"))
    else:
        result += [
            I("v_mfma_f32_16x16x32_f16", 16, 32, 1, "f16", "f16", acc="c"),
            I("v_mfma_f32_32x32x16_bf16", 32, 16, 1, "bf16", "bf16"),
            I("v_mfma_i32_16x16x64_i8", 16, 64, 1, "i8", "i8"),
            I("v_smfmac_f32_16x16x64_bf16", 16, 64, 1, "bf16", "bf16", sparse=True, abid=1),
            I("v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, 1, fp8, fp8, sparse=True, abid=0),
            I("v_mfma_f32_32x32x64_f8f6f4", 32, 64, 1, fp8, "fp6", acc="ab"),
            I("v_mfma_f32_16x16x128_f8f6f4", 16, 128, 1, "bf6", "fp4"),
            I("v_mfma_scale_f32_16x16x128_f8f6f4", 16, 128, 1, "fp8", "fp4", scaled=True, bytes=(1, 2)),
            I("v_mfma_scale_f32_16x16x128_f8f6f4", 16, 128, 1, "fp6", "bf8", scaled=True, bytes=(3, 0), acc="c"),
            I("v_mfma_scale_f32_32x32x64_f8f6f4", 32, 64, 1, "bf8", "bf8", scaled=True, bytes=(0, 3)),
        ]
    return result


F8F6F4 = ["fp8", "bf8", "fp6", "bf6", "fp4"]
# Rows of 256 bytes of one instruction in the input.
ROWS = {"a": 0, "b": 8, "c": 16, "index": 48, "scale": 49}
INPUT_ROWS, OUTPUT_ROWS = 51, 32


def make_case(inst, arch, rng):
    """Input rows, expected output rows."""
    fnuz = arch == "gfx942"
    real = lambda t: t + "fnuz" if fnuz and t in ("fp8", "bf8") else t
    rows = [[0] * 64 for _ in range(INPUT_ROWS)]
    m, k, blocks = inst.m, inst.k, inst.blocks
    value = lambda: rng.choice([-2, -1, 0, 1, 2])
    a = [[[value() for _ in range(inst.stored())] for _ in range(m)] for _ in range(blocks)]
    b = [[[value() for _ in range(m)] for _ in range(k)] for _ in range(blocks)]
    c = [[[rng.randint(-9, 9) for _ in range(m)] for _ in range(m)] for _ in range(blocks)]
    for block in range(blocks):
        for i in range(m):
            for x in range(inst.stored()):
                put(rows[ROWS["a"]:], inst.factor(inst.a, inst.stored(), block, i, x), width(inst.a),
                    encode(real(inst.a), a[block][i][x]))
            for x in range(k):
                put(rows[ROWS["b"]:], inst.factor(inst.b, k, block, i, x), width(inst.b),
                    encode(real(inst.b), b[block][x][i]))
            for j in range(m):
                put(rows[ROWS["c"]:], inst.result(block, i, j), width(inst.c), encode(inst.c, c[block][i][j]))
    positions = None
    if inst.sparse:
        rows[ROWS["index"]] = [rng.getrandbits(32) for _ in range(64)]
        per_lane = k * m // 256
        set_bit = inst.form["abid"] * 4 * per_lane
        positions = []
        for i in range(m):
            row = []
            for s in range(inst.stored()):
                group = s // 2
                word = rows[ROWS["index"]][m * (group // per_lane) + i]
                row.append(4 * group + (word >> (set_bit + 4 * (group % per_lane) + 2 * (s % 2)) & 3))
            positions.append(row)
    scale = lambda which, row, x: Fraction(1)
    if inst.scaled:
        for n in (0, 1):
            rows[ROWS["scale"] + n] = [
                sum(rng.randint(125, 129) << (8 * byte) for byte in range(4)) for _ in range(64)]
        scale = lambda which, row, x: Fraction(2) ** (
            (rows[ROWS["scale"] + which][m * (x // 32) + row] >> (8 * inst.form["bytes"][which]) & 255) - 127)
    out = [[0] * 64 for _ in range(OUTPUT_ROWS)]
    cbsz, abid = inst.form.get("broadcast", (0, 0))
    constant = {"-3": -3, "1.0": 1}.get(inst.form.get("constant"))
    for block in range(blocks):
        source = (block >> cbsz << cbsz) + abid if cbsz else block
        for i in range(m):
            for j in range(m):
                d = Fraction(c[block][i][j] if constant is None else constant)
                for s in range(inst.stored()):
                    x = positions[i][s] if positions else s
                    d += a[source][i][s] * scale(0, i, x) * b[block][x][j] * scale(1, j, x)
                put(out, inst.result(block, i, j), width(inst.c), encode(inst.c, d))
    return rows, out


def tuple_text(file, first, count):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def make_kernel(arch, paths):
    rng = random.Random(7)
    text = ["  s_load_dwordx4 s[4:7], s[0:1], 0x0", "  v_lshlrev_b32 v1, 2, v0", "  s_waitcnt lgkmcnt(0)"]
    data, expected = b"", b""
    for inst in instructions(arch):
        rows, out = make_case(inst, arch, rng)
        data += b"".join(struct.pack("<64I", *r) for r in rows)
        expected += b"".join(struct.pack("<64I", *r) for r in out)
        acc = inst.form.get("acc", "")
        file = {o: "a" if o in acc else "v" for o in "abc"}
        base = {"a": 8, "b": 16, "c": 32}
        d = 32 if inst.sparse or inst.form.get("inplace") else 64
        count = {o: inst.registers(o) for o in "abc"}
        loads = [(file[o], base[o] + r, ROWS[o] + r) for o in "abc" for r in range(count[o])]
        loads += [("v", 2 + r, ROWS["index"] + r) for r in range(3)]
        text.append(f"// {inst.name}")
        for kind, register, row in loads:
            text.append(f"  v_add_u32 v7, {row * 256}, v1")
            # Through v6 and v_accvgpr_write (and v_accvgpr_mov), or straight.
            if kind == "a" and row % 4 == 2:
                text += ["  global_load_dword v6, v7, s[4:5]", "  s_waitcnt vmcnt(0)", "  v_accvgpr_write_b32 a255, v6",
                         f"  v_accvgpr_mov_b32 a{register}, a255"]
            elif kind == "a" and row % 2:
                text += ["  global_load_dword v6, v7, s[4:5]", "  s_waitcnt vmcnt(0)", f"  v_accvgpr_write_b32 a{register}, v6"]
            else:
                text.append(f"  global_load_dword {kind}{register}, v7, s[4:5]")
        operands = [tuple_text(file["c"], d, count["c"]), tuple_text(file["a"], 8, count["a"]),
                    tuple_text(file["b"], 16, count["b"])]
        operands.append("v2" if inst.sparse else inst.form.get("constant") or tuple_text(file["c"], 32, count["c"]))
        modifiers = ""
        if inst.scaled:
            operands += ["v3", "v4"]
            x, y = inst.form["bytes"]
            modifiers += f" op_sel:[{x & 1},{y & 1},0] op_sel_hi:[{x >> 1},{y >> 1},0]"
        if inst.f8f6f4:
            modifiers += f" cbsz:{F8F6F4.index(inst.a)} blgp:{F8F6F4.index(inst.b)}"
        if "broadcast" in inst.form:
            modifiers += " cbsz:{} abid:{}".format(*inst.form["broadcast"])
        if inst.form.get("abid"):
            modifiers += f" abid:{inst.form['abid']}"
        # EXEC does not matter.
        text += ["  s_waitcnt vmcnt(0)", "  s_mov_b64 exec, 0x5a", f"  {inst.name} {', '.join(operands)}{modifiers}",
                 "  s_mov_b64 exec, -1", "  s_nop 15", "  s_nop 15"]
        for r in range(count["c"]):
            text.append(f"  v_add_u32 v7, {r * 256}, v1")
            if file["c"] == "a" and r % 2:
                text += [f"  v_accvgpr_read_b32 v6, a{d + r}", "  global_store_dword v7, v6, s[6:7]"]
            else:
                text.append(f"  global_store_dword v7, {file['c']}{d + r}, s[6:7]")
        text += ["  s_waitcnt vmcnt(0)", f"  s_add_u32 s4, s4, {INPUT_ROWS * 256}", "  s_addc_u32 s5, s5, 0",
                 f"  s_add_u32 s6, s6, {OUTPUT_ROWS * 256}", "  s_addc_u32 s7, s7, 0"]
    kernel = [".text", ".globl test", ".p2align 8", ".type test,@function", "test:"] + text + [
        "  s_endpgm", ".Lend:", ".size test, .Lend-test", ".rodata", ".p2align 6", ".amdhsa_kernel test",
        "  .amdhsa_next_free_vgpr 512", "  .amdhsa_next_free_sgpr 96", "  .amdhsa_accum_offset 256",
        "  .amdhsa_user_sgpr_kernarg_segment_ptr 1", ".end_amdhsa_kernel", ""]
    with open(paths[0], "w") as f:
        f.write("\n".join(kernel))
    with open(paths[1], "wb") as f:
        f.write(data)
    with open(paths[2], "wb") as f:
        f.write(expected)


def random_element(t, rng, span):
    """Bits of a finite element whose exponent is within `span` of one."""
    if t in ("i8", "i32"):
        return rng.getrandbits(width(t))
    e, m, bias, kind = FORMATS[t]
    top = (1 << e) - 1 - (kind in ("ieee", "nan"))
    low, high = max(0, bias - span), min(top, bias + span)
    field = rng.choice([rng.randint(low, high), rng.randint(0, 1)]) if rng.random() < 0.8 else bias
    mantissa = rng.getrandbits(m)
    if rng.random() < 0.1:
        field = mantissa = 0
    sign = 0 if kind == "fnuz" and not field and not mantissa else rng.getrandbits(1)
    return sign << (e + m) | field << m | mantissa


def make_vectors(directory):
    chosen = [("v_mfma_f32_16x16x16_f16", 16, 16, 1, "f16", "f16", 1), ("v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, "bf16", "bf16", 6),
              ("v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, "fp8", "bf8", 1), ("v_mfma_f32_16x16x8_xf32", 16, 8, 1, "xf32", "xf32", 1),
              ("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, "f32", "f32", 4), ("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, "f64", "f64", 4),
              ("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, "i8", "i8", 3)]
    for name, m, k, blocks, a, b, tiles in chosen:
        rng = random.Random(name)
        c = {"f64": "f64", "i8": "i32"}.get(a, "f32")
        real = lambda t: t + "fnuz" if t in ("fp8", "bf8") else t
        entries = []
        for n in range(tiles):
            span = [6, 20, 2, 12][n % 4]
            A = [random_element(real(a), rng, span) for _ in range(m * k)]
            B = [random_element(real(b), rng, span) for _ in range(m * k)]
            C = [random_element(c, rng, 2 * span + 8) for _ in range(m * m)]
            D = [dot((a, b), A[i * k:i * k + k], [B[x * m + j] for x in range(k)], C[i * m + j], True)
                 for i in range(m) for j in range(m)]
            text = lambda t, xs: "".join(format(x, "0{}x".format(width(t) // 4)) for x in xs)
            entries.append({"class": "random", "A": text(a, A), "B": text(b, B), "C": text(c, C), "D": text(c, D)})
        plain = lambda t: "f32" if t == "xf32" else t
        root = {"instruction": name, "arch": "gfx942", "M": m, "N": m, "K": k, "blocks_per_instruction": blocks,
                "types": {"A": plain(a), "B": plain(b), "C": c, "D": c}, "xf32": a == "xf32", "tiles": entries}
        with open(f"{directory}/{name}.json", "w") as f:
            json.dump(root, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    if sys.argv[1] == "kernel":
        make_kernel(sys.argv[2], sys.argv[3:6])
    else:
        make_vectors(sys.argv[2])
