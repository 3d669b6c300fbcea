# Runs one kernel that executes every case of a table and compares what it
# stores with what the table's own definitions say.
#
# A case executes twice: with all lanes, and with some lanes disabled. Per case
# and run the kernel stores the destination registers of all lanes (so that lanes
# which must not change are seen), VCC and EXEC.

import os
import random
import subprocess
import sys
import zlib

os.environ["PATH"] = os.environ.get("ATREX_TEST_TOOLS", "") + os.pathsep + os.environ["PATH"]

PARTIAL = 0x5AC3_00FF_F0F7_913E
VCC = 0x0F1E_2D3C_4B5A_6978
MASK64 = (1 << 64) - 1

# First register of each operand; sizes are in dwords.
BASE = {"a": 64, "b": 96, "c": 128, "d": 160}

EDGES = {
    "f32": [0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC01234, 0x7F800001, 0xFFC00000, 0x7F7FFFFF,
            0xFF7FFFFF, 0x00800000, 0x00000001, 0x807FFFFF, 0x3FFFFFFF, 0x40490FDB, 0x4B000001, 0xCB7FFFFF, 0x3F000000,
            0x3EFFFFFF, 0x33800000, 0x4F000000, 0xCF000000, 0x4F7FFFFF, 0x477FE000, 0x477FF000, 0x38800000, 0x387FFFFF,
            0xC0200000, 0x40600000],
    "f16": [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E12, 0x7C01, 0x7BFF, 0xFBFF, 0x0400, 0x0001, 0x83FF, 0x3FFF,
            0x4248, 0x6400, 0xE7FF, 0x3800, 0x37FF, 0x1400, 0x7800, 0xC100],
    "f64": [0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8000000001234, 0x7FF0000000000001,
            0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 1 << 52, 1, 0x800FFFFFFFFFFFFF, 0x3FFFFFFFFFFFFFFF,
            0x400921FB54442D18, 0x4330000000000001, 0x3FE0000000000000, 0x41DFFFFFFFC00000, 0xC1E0000000000000,
            0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x36A0000000000001, 0x41F0000000000000],
    "b32": [0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 31, 32, 33, 0xFF, 0xFFFF, 0x8000, 0x7FFF, 0xFFFF8000, 0x00FFFFFF,
            0x01000000, 0xFF800000, 0x55555555, 0x80808080, 0x7F7F7F7F, 2, 15, 16, 63, 64],
    "b64": [0, 1, MASK64, MASK64 >> 1, 1 << 63, 1 << 32, 0xFFFFFFFF, 63, 64, 0x5555555555555555],
}
EDGES["b16"] = [x & 0xFFFF for x in EDGES["b32"]]


def value(rng, kind):
    bits = {"f32": 32, "f16": 16, "f64": 64, "b32": 32, "b64": 64, "b16": 16}[kind]
    r = rng.random()
    if r < 0.6:
        return rng.choice(EDGES[kind])
    if kind in ("f32", "f64", "f16") and r < 0.9:
        # Of moderate size, so that sums and products are ordinary.
        ebits, mbits = {"f32": (8, 23), "f64": (11, 52), "f16": (5, 10)}[kind]
        bias = (1 << (ebits - 1)) - 1
        return rng.getrandbits(1) << (bits - 1) | (bias + rng.randint(-8, 8)) << mbits | rng.getrandbits(mbits)
    return rng.getrandbits(bits)


def operand(rng, kind):
    """One lane's dwords of an operand: "f32", "2xf16", "b64", "32xb32", ..."""
    count, _, kind = kind.rpartition("x")
    count = int(count or 1)
    bits, shift = 0, 0
    width = {"f32": 32, "f16": 16, "f64": 64, "b32": 32, "b64": 64, "b16": 16}[kind]
    for k in range(count):
        bits |= value(rng, kind) << shift
        shift += width
    if shift == 16:
        # What is in the other half must not matter.
        bits |= rng.getrandbits(16) << 16
    return bits


def dwords(kind):
    count, _, kind = kind.rpartition("x")
    width = {"f32": 32, "f16": 16, "f64": 64, "b32": 32, "b64": 64, "b16": 16}[kind]
    return max(1, int(count or 1) * width // 32)


class Wave:
    """What a model sees: operands by lane, the old destination, VCC and EXEC."""

    def __init__(self, ops, exec_mask):
        self.ops, self.exec, self.vcc = ops, exec_mask, VCC

    def active(self, lane):
        return self.exec >> lane & 1


class Case:
    """`text` has {a} {b} {c} {d}; `model(wave)` changes wave.ops["d"], .vcc and
    .exec. `mode` is written to MODE[7:0] (rounding and denormals)."""

    def __init__(self, text, dst, srcs, model, mode=0xF0, pre="", fix=None):
        self.text, self.dst, self.srcs, self.model, self.mode, self.pre = text, dst, srcs, model, mode, pre
        self.fix = fix

    def inputs(self, seed):
        rng = random.Random(zlib.crc32(self.text.encode()) + seed)
        ops = {}
        for name, kind in zip("abc", self.srcs):
            ops[name] = [operand(rng, kind) for _ in range(64)]
        ops["d"] = [rng.getrandbits(32 * dwords(self.dst)) for _ in range(64)] if self.dst else [0] * 64
        if self.fix:
            self.fix(ops, rng)
        return ops

    def sizes(self):
        sizes = {name: dwords(kind) for name, kind in zip("abc", self.srcs)}
        sizes["d"] = dwords(self.dst) if self.dst else 1
        return sizes

    def registers(self):
        regs = {}
        for name, n in self.sizes().items():
            regs[name] = f"v{BASE[name]}" if n == 1 else f"v[{BASE[name]}:{BASE[name] + n - 1}]"
        return regs


HEADER = """
.text
.globl test
.p2align 8
.type test,@function
test:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
"""
FOOTER = """
  s_endpgm
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset 256
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
"""


def load(reg):
    return f"  global_load_dword v{reg}, v0, s[4:5]\n  s_add_u32 s4, s4, 256\n  s_addc_u32 s5, s5, 0\n"


def store(reg):
    return f"  global_store_dword v0, v{reg}, s[6:7]\n  s_add_u32 s6, s6, 256\n  s_addc_u32 s7, s7, 0\n"


def stores(sreg):
    return f"  v_mov_b32 v1, {sreg}\n" + store(1)


def pair(reg, x):
    return f"  s_mov_b32 s{reg}, 0x{x & 0xffffffff:x}\n  s_mov_b32 s{reg + 1}, 0x{x >> 32:x}\n"


def emit(case):
    out = ""
    sizes = case.sizes()
    for name in "abcd":
        if name in sizes:
            for k in range(sizes[name]):
                out += load(BASE[name] + k)
    out += "  s_waitcnt vmcnt(0)\n" + pair(20, VCC) + pair(22, PARTIAL)
    text = case.text.format(**case.registers())
    for mask in ("-1", "s[22:23]"):
        # The second run starts from the same destination.
        for k in range(sizes["d"]):
            keep = 192 + k
            a, b = (keep, BASE["d"] + k) if mask == "-1" else (BASE["d"] + k, keep)
            out += f"  v_mov_b32 v{a}, v{b}\n"
        out += "  s_mov_b64 vcc, s[20:21]\n"
        out += f"  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x{case.mode:x}\n"
        out += f"  s_mov_b64 exec, {mask}\n" + case.pre + "  s_nop 4\n  " + text.replace("\n", "\n  ") + "\n  s_nop 4\n"
        out += "  s_mov_b64 s[24:25], exec\n  s_mov_b64 exec, -1\n"
        out += "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n"
        for k in range(sizes["d"]):
            out += store(BASE["d"] + k)
        for s in ("vcc_lo", "vcc_hi", "s24", "s25"):
            out += stores(s)
        out += "  s_waitcnt vmcnt(0)\n"
    return out


def tools(chip, source, stem, run):
    with open(stem + ".s", "w") as f:
        f.write(source)
    for command in (["llvm-mc", "-triple=amdgcn-amd-amdhsa", "-mcpu=" + chip, "-filetype=obj", stem + ".s", "-o",
                     stem + ".o"], ["ld.lld", "-shared", stem + ".o", "-o", stem + ".co"], run):
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode:
            sys.exit(f"{command[0]} failed:\n{p.stdout[:600]}")


def planes(values, n):
    """Lane values to n planes of 64 dwords."""
    out = bytearray()
    for k in range(n):
        for x in values:
            out += (x >> (32 * k) & 0xFFFFFFFF).to_bytes(4, "little")
    return out


def run(chip, cases, stem, seed=1):
    """Returns the number of failed cases; prints the first failures."""
    source, data, total = HEADER, bytearray(), 0
    for case in cases:
        source += emit(case)
        ops = case.inputs(seed)
        sizes = case.sizes()
        for name in "abcd":
            if name in sizes:
                data += planes(ops[name], sizes[name])
        total += 2 * (sizes["d"] + 4) * 256
    with open(stem + ".in", "wb") as f:
        f.write(data)
    tools(chip, source + FOOTER, stem,
          ["atrex-sim", "run", stem + ".co", "--block", "64", "--arg", f"in:{stem}.in", "--arg", f"out:{total}:{stem}.out"])
    with open(stem + ".out", "rb") as f:
        result = f.read()
    at, failed = 0, 0

    def take():
        nonlocal at
        lanes = [int.from_bytes(result[at + 4 * i:at + 4 * i + 4], "little") for i in range(64)]
        at += 256
        return lanes

    for case in cases:
        n = case.sizes()["d"]
        messages = []
        for mask in (MASK64, PARTIAL):
            ops = case.inputs(seed)
            wave = Wave(ops, mask)
            old = list(ops["d"])
            case.model(wave)
            got = [0] * 64
            for k in range(n):
                for i, x in enumerate(take()):
                    got[i] |= x << (32 * k)
            vcc = take()[0] | take()[0] << 32
            exe = take()[0] | take()[0] << 32
            for i in range(64):
                if got[i] != wave.ops["d"][i]:
                    show = ", ".join(f"{name} {ops[name][i]:#x}" for name in "abc"[:len(case.srcs)])
                    messages.append(f"exec {mask:#x} lane {i}: {show}, d was {old[i]:#x}, expected "
                                    f"{wave.ops['d'][i]:#x}, got {got[i]:#x}")
            if vcc != wave.vcc:
                messages.append(f"exec {mask:#x}: vcc expected {wave.vcc:#018x}, got {vcc:#018x}")
            if exe != wave.exec:
                messages.append(f"exec {mask:#x}: exec expected {wave.exec:#018x}, got {exe:#018x}")
        if messages:
            failed += 1
            print(f"{chip}: {case.text} (mode {case.mode:#x}, seed {seed}): {len(messages)} differ")
            for m in messages[:3]:
                print("  " + m)
    return failed
