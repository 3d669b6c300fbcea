# usage: random_ir.py ARCH STEM [--seed N] [--snippets N] [--modules N]
#
# Random LLVM IR, compiled by LLVM for the host and for the device, must compute
# the same. A module has many snippets; each is one function that runs for 64
# lanes with different data: arithmetic on i1 to i64, half, bfloat, float, double
# and short vectors, memory on the stack, loops, branches and switches. The IR has
# no undefined behaviour and no poison, and NaN never becomes bits before it is
# made the one NaN. The optimization level changes from module to module.
#
# A failure prints the snippet, the seed, the lane's inputs and both results.

import argparse
import os
import random
import struct
import subprocess
import sys

os.environ["PATH"] = os.environ.get("ATREX_TEST_TOOLS", "") + os.pathsep + os.environ["PATH"]

LANES, WORDS = 64, 8
INTS = ["i8", "i16", "i32", "i64"]
FLOATS = ["half", "bfloat", "float", "double"]
VECTORS = ["<2 x i16>", "<2 x half>", "<4 x i8>", "<2 x i32>", "<2 x float>"]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64,
        "<2 x i16>": 32, "<2 x half>": 32, "<4 x i8>": 32, "<2 x i32>": 64, "<2 x float>": 64}
ELEMENT = {"<2 x i16>": "i16", "<2 x half>": "half", "<4 x i8>": "i8", "<2 x i32>": "i32", "<2 x float>": "float"}
SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "<2 x i16>": "v2i16", "<2 x half>": "v2f16",
          "<4 x i8>": "v4i8", "<2 x i32>": "v2i32", "<2 x float>": "v2f32"}
NAN = {"half": "0xH7E00", "bfloat": "0xR7FC0", "float": "0x7FF8000000000000", "double": "0x7FF8000000000000"}


def suffix(t):
    return SUFFIX.get(t, t)


def isfloat(t):
    return ELEMENT.get(t, t) in FLOATS


def count(t):
    return int(t[1]) if t in ELEMENT else 1


def splat(t, value):
    if t not in ELEMENT:
        return value
    return "<" + ", ".join(f"{ELEMENT[t]} {value}" for _ in range(count(t))) + ">"


def const(rng, t):
    """No zero among the floats: LLVM 22.1.8 turns "fsub 0.0, %x" into a negation and
    loses a -0.0 in a vector of halves."""
    e = ELEMENT.get(t, t)

    def one():
        if e == "i1":
            return rng.choice(("true", "false"))
        if e in INTS:
            n = BITS[e]
            return str(rng.choice((0, 1, -1, (1 << n - 1) - 1, -(1 << n - 1), rng.getrandbits(n - 1), rng.randrange(-9, 99) % 127)))
        if e == "half":
            return f"0xH{rng.choice((0x3C00, 0xBC00, 0x7C00, 0x0001, 0x7BFF, 0x4200 + rng.randrange(512))):04X}"
        if e == "bfloat":
            return f"0xR{rng.choice((0x3F80, 0xBF80, 0x7F80, 0x0001, 0x4040 + rng.randrange(64))):04X}"
        bits = rng.choice((0x3F800000, 0xBFC00000, 0x7F800000, 1, 0x7F7FFFFF, 0x40000000 | rng.getrandbits(23)))
        return "0x%016X" % struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", bits))[0]))[0]
    if t in ELEMENT:
        return "<" + ", ".join(f"{e} {one()}" for _ in range(count(t))) + ">"
    return one()


class Snippet:
    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.n, self.pool = rng, name, [], 0, {}
        self.decls, self.block, self.depth = set(), "entry", 0
        self.build()

    def tmp(self):
        self.n += 1
        return f"%t{self.n}"

    def op(self, t, text):
        """A new value of type t."""
        r = self.tmp()
        self.lines.append(f"  {r} = {text}")
        self.pool.setdefault(t, []).append(r)
        return r

    def raw(self, text):
        r = self.tmp()
        self.lines.append(f"  {r} = {text}")
        return r

    def intrinsic(self, ret, name, args):
        text = ", ".join(f"{t} {v}" for t, v in args)
        self.decls.add(f"declare {ret} @{name}({', '.join(t for t, _ in args)})".replace("i1 immarg", "i1"))
        return f"call {ret} @{name}({text})"

    def get(self, t):
        have = self.pool.get(t, [])
        if have and t == "<2 x i32>":
            # No constants: LLVM 22.1.8 loses the -1 of "or <2 x i32> %x, <-1, 1>".
            return self.rng.choice(have)
        if have and self.rng.random() < 0.85:
            return self.rng.choice(have[-6:]) if self.rng.random() < 0.7 else self.rng.choice(have)
        if not have or self.rng.random() < 0.3:
            return const(self.rng, t)
        return self.rng.choice(have)

    def label(self):
        self.n += 1
        return f"b{self.n}"

    def start(self, label):
        self.lines.append(f"{label}:")
        self.block = label

    def clean(self, t, v):
        """v with the one NaN, so that its bits may be looked at."""
        e = ELEMENT.get(t, t)
        boolean = "i1" if t == e else f"<{count(t)} x i1>"
        c = self.raw(f"fcmp uno {t} {v}, {v}")
        return self.raw(f"select {boolean} {c}, {t} {splat(t, NAN[e])}, {t} {v}")

    def tobits(self, t, v):
        """As i64."""
        if isfloat(t):
            v = self.clean(t, v)
        n = BITS[t]
        if not t.startswith("i"):
            v = self.raw(f"bitcast {t} {v} to i{n}")
        return v if n == 64 else self.raw(f"zext i{n} {v} to i64")

    def frombits(self, t, word):
        n = BITS[t]
        v = word if n == 64 else self.raw(f"trunc i64 {word} to i{n}")
        if not t.startswith("i"):
            v = self.raw(f"bitcast i{n} {v} to {t}")
        if isfloat(t):
            v = self.clean(t, v)
        self.pool.setdefault(t, []).append(v)
        return v

    # One random operation.
    def step(self):
        r = self.rng.random()
        if self.depth < 2 and r < 0.05:
            self.branch()
        elif self.depth < 2 and r < 0.08:
            self.loop()
        elif self.depth < 2 and r < 0.10:
            self.switch()
        elif r < 0.14:
            self.memory()
        elif r < 0.46:
            self.integer(self.rng.choice(INTS + ["i32", "i64"] + ["<2 x i16>", "<4 x i8>", "<2 x i32>"]))
        elif r < 0.74:
            self.floating(self.rng.choice(FLOATS + ["float", "double", "half"] + ["<2 x half>", "<2 x float>"]))
        elif r < 0.88:
            self.cast()
        else:
            self.mix()

    def integer(self, t):
        rng, n = self.rng, BITS[ELEMENT.get(t, t)]
        a, b = self.get(t), self.get(t)
        kind = rng.randrange(6)
        if kind == 0:
            self.op(t, f"{rng.choice(('add', 'sub', 'mul', 'and', 'or', 'xor'))} {t} {a}, {b}")
        elif kind == 1:
            amount = self.raw(f"and {t} {b}, {splat(t, str(n - 1))}")
            self.op(t, f"{rng.choice(('shl', 'lshr', 'ashr'))} {t} {a}, {amount}")
        elif kind == 2 and t in ("i8", "i16"):
            # In 32 bits: LLVM cannot select some divisions of 16.
            signed = rng.random() < 0.5
            x, y = (self.raw(f"{'sext' if signed else 'zext'} {t} {v} to i32") for v in (a, b))
            y = self.raw(f"or i32 {y}, 1")
            q = self.raw(f"{rng.choice(('sdiv', 'srem') if signed else ('udiv', 'urem'))} i32 {x}, {y}")
            self.op(t, f"trunc i32 {q} to {t}")
        elif kind == 2 and t in INTS:
            d = self.raw(f"or {t} {b}, 1")
            name = rng.choice(("udiv", "urem", "sdiv", "srem"))
            if name[0] == "s":
                c = self.raw(f"icmp eq {t} {d}, -1")
                d = self.raw(f"select i1 {c}, {t} 3, {t} {d}")
            self.op(t, f"{name} {t} {a}, {d}")
        elif kind == 3:
            name = rng.choice(("ctpop", "bitreverse", "abs", "ctlz", "cttz") + (("bswap",) if n > 8 else ()))
            args = [(t, a)] + ([("i1", "false")] if name in ("abs", "ctlz", "cttz") else [])
            self.op(t, self.intrinsic(t, f"llvm.{name}.{suffix(t)}", args))
        elif kind == 4:
            name = rng.choice(("smin", "smax", "umin", "umax", "uadd.sat", "sadd.sat", "usub.sat", "ssub.sat"))
            self.op(t, self.intrinsic(t, f"llvm.{name}.{suffix(t)}", [(t, a), (t, b)]))
        elif t in INTS and rng.random() < 0.5:
            name = rng.choice(("uadd", "sadd", "usub", "ssub", "umul", "smul"))
            s = self.raw(self.intrinsic(f"{{{t}, i1}}", f"llvm.{name}.with.overflow.{t}", [(t, a), (t, b)]))
            self.op(t, f"extractvalue {{{t}, i1}} {s}, 0")
            self.op("i1", f"extractvalue {{{t}, i1}} {s}, 1")
        else:
            self.op(t, self.intrinsic(t, f"llvm.{rng.choice(('fshl', 'fshr'))}.{suffix(t)}",
                                      [(t, a), (t, b), (t, self.get(t))]))

    def floating(self, t):
        rng = self.rng
        a, b = self.get(t), self.get(t)
        kind = rng.randrange(6)
        if kind < 3:
            self.op(t, f"{rng.choice(('fadd', 'fsub', 'fmul', 'fmul', 'fdiv') if t not in ELEMENT else ('fadd', 'fsub', 'fmul'))} {t} {a}, {b}")
        elif kind == 3 and t in ("float", "double", "<2 x float>"):
            self.op(t, self.intrinsic(t, f"llvm.fma.{suffix(t)}", [(t, a), (t, b), (t, self.get(t))]))
        elif kind == 4 and t in ("half", "float", "double"):
            name = rng.choice(("floor", "ceil", "trunc", "roundeven", "sqrt", "fabs"))
            v = self.raw(self.intrinsic(t, f"llvm.{name}.{suffix(t)}", [(t, a)]))
            self.pool.setdefault(t, []).append(v)
        elif kind == 5 and t in ("half", "float", "double"):
            name = rng.choice(("minnum", "maxnum", "copysign"))
            if name == "copysign":
                self.op(t, self.intrinsic(t, f"llvm.copysign.{suffix(t)}", [(t, a), (t, self.clean(t, b))]))
            else:
                # Which of two zeros comes out is open: make it +0.
                v = self.raw(self.intrinsic(t, f"llvm.{name}.{suffix(t)}", [(t, a), (t, b)]))
                zero = {"half": "0xH0000"}.get(t, "0.0")
                self.op(t, f"fadd {t} {v}, {zero}")
        else:
            self.op(t, f"fneg {t} {a}")

    def cast(self):
        rng = self.rng
        kind = rng.randrange(8)
        if kind == 0:
            s, d = sorted(rng.sample(range(4), 2))
            self.op(INTS[d], f"{rng.choice(('zext', 'sext'))} {INTS[s]} {self.get(INTS[s])} to {INTS[d]}")
        elif kind == 1:
            s, d = sorted(rng.sample(range(4), 2))
            self.op(INTS[s], f"trunc {INTS[d]} {self.get(INTS[d])} to {INTS[s]}")
        elif kind == 2:
            i, f = rng.choice(INTS), rng.choice(("half", "float", "double"))
            self.op(f, f"{rng.choice(('sitofp', 'uitofp'))} {i} {self.get(i)} to {f}")
        elif kind == 3:
            i, f = rng.choice(INTS), rng.choice(("half", "float", "double"))
            name = f"llvm.fpto{rng.choice('su')}i.sat.{i}.{suffix(f)}"
            self.op(i, self.intrinsic(i, name, [(f, self.get(f))]))
        elif kind == 4:
            s, d = rng.choice((("half", "float"), ("half", "double"), ("float", "double"), ("bfloat", "float")))
            self.op(d, f"fpext {s} {self.get(s)} to {d}")
        elif kind == 5:
            s, d = rng.choice((("float", "half"), ("double", "float"), ("float", "bfloat")))
            v = self.get(s)
            if (s, d) == ("float", "half"):
                # LLVM makes v_fma_mixlo_f16 with +0 of a product, which loses -0.
                v = self.raw(f"fadd float {v}, 0.0")
            self.op(d, f"fptrunc {s} {v} to {d}")
        elif kind == 6:
            t = rng.choice(VECTORS + FLOATS)
            self.pool.setdefault("i64", []).append(self.tobits(t, self.get(t)))
        else:
            self.frombits(rng.choice(VECTORS + FLOATS), self.get("i64"))

    def mix(self):
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            t = rng.choice(INTS)
            p = rng.choice("eq ne ugt uge ult ule sgt sge slt sle".split())
            self.op("i1", f"icmp {p} {t} {self.get(t)}, {self.get(t)}")
        elif kind == 1:
            t = rng.choice(FLOATS)
            p = rng.choice("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split())
            self.op("i1", f"fcmp {p} {t} {self.get(t)}, {self.get(t)}")
        elif kind == 2:
            t = rng.choice(INTS + FLOATS + VECTORS)
            self.op(t, f"select i1 {self.get('i1')}, {t} {self.get(t)}, {t} {self.get(t)}")
        elif kind == 3:
            t = rng.choice(VECTORS)
            e, n = ELEMENT[t], count(t)
            if rng.random() < 0.5:
                self.op(e, f"extractelement {t} {self.get(t)}, i32 {rng.randrange(n)}")
            else:
                self.op(t, f"insertelement {t} {self.get(t)}, {e} {self.get(e)}, i32 {rng.randrange(n)}")
        else:
            t = rng.choice(VECTORS)
            n = count(t)
            order = ", ".join(f"i32 {rng.randrange(2 * n)}" for _ in range(n))
            self.op(t, f"shufflevector {t} {self.get(t)}, {t} {self.get(t)}, <{n} x i32> <{order}>")

    def slot(self, size):
        """Address of an aligned place in the stack array."""
        i = self.raw(f"and i32 {self.get('i32')}, {64 // size - 1}")
        if size > 1:
            i = self.raw(f"mul i32 {i}, {size}")
        return self.raw(f"getelementptr i8, ptr STACK %stack, i32 {i}")

    def memory(self):
        t = self.rng.choice(INTS + ["float", "double", "half"])
        size = BITS[t] // 8
        p = self.slot(size)
        if self.rng.random() < 0.5:
            v = self.get(t)
            if isfloat(t):
                v = self.clean(t, v)
            self.lines.append(f"  store {t} {v}, ptr STACK {p}, align {size}")
        else:
            v = self.raw(f"load {t}, ptr STACK {p}, align {size}")
            if isfloat(t):
                v = self.clean(t, v)
            self.pool.setdefault(t, []).append(v)

    def inner(self, steps):
        """Statements of a nested block: what they define is not seen outside.
        Returns a value of every type that leaves."""
        saved = {t: len(v) for t, v in self.pool.items()}
        self.depth += 1
        for _ in range(steps):
            self.step()
        out = {t: self.get(t) for t in ("i32", "i64", "float", "half")}
        self.depth -= 1
        end = self.block
        self.pool = {t: v[:saved.get(t, 0)] for t, v in self.pool.items()}
        return out, end

    def merge(self, ways):
        for t in ("i32", "i64", "float", "half"):
            self.op(t, f"phi {t} " + ", ".join(f"[ {out[t]}, %{end} ]" for out, end in ways))

    def branch(self):
        yes, no, join = self.label(), self.label(), self.label()
        self.lines.append(f"  br i1 {self.get('i1')}, label %{yes}, label %{no}")
        ways = []
        for way in (yes, no):
            self.start(way)
            ways.append(self.inner(self.rng.randrange(1, 5)))
            self.lines.append(f"  br label %{join}")
        self.start(join)
        self.merge(ways)

    def switch(self):
        """The ways give their values back through volatile memory: LLVM 22.1.8 at -O2 loses
        the default's value where a phi joins more than two divergent ways, so
        that comparing it would test LLVM."""
        join, labels = self.label(), [self.label() for _ in range(4)]
        v = self.raw(f"and i32 {self.get('i32')}, 7")
        values = self.rng.sample(range(8), 3)
        kinds = ("i32", "i64", "float", "half")
        slots = [self.raw(f"getelementptr i64, ptr addrspace(1) %out, i64 {k}") for k in range(4)]
        self.lines.append(f"  switch i32 {v}, label %{labels[3]} [ " +
                          " ".join(f"i32 {x}, label %{b}" for x, b in zip(values, labels)) + " ]")
        for way in labels:
            self.start(way)
            out, _ = self.inner(self.rng.randrange(1, 4))
            for t, p in zip(kinds, slots):
                self.lines.append(f"  store volatile {t} {self.clean(t, out[t]) if isfloat(t) else out[t]}, "
                                  f"ptr addrspace(1) {p}, align 8")
            self.lines.append(f"  br label %{join}")
        self.start(join)
        for t, p in zip(kinds, slots):
            self.op(t, f"load volatile {t}, ptr addrspace(1) {p}, align 8")

    def loop(self):
        """Up to eight rounds, as many as the lane's data say."""
        trip = self.raw(f"and i32 {self.get('i32')}, 7")
        first = {t: self.get(t) for t in ("i32", "i64", "float", "half")}
        head, after, before = self.label(), self.label(), self.block
        self.lines.append(f"  br label %{head}")
        self.start(head)
        at = len(self.lines)
        i = self.tmp()
        phis = {t: self.tmp() for t in first}
        saved = {t: len(v) for t, v in self.pool.items()}
        for t, v in phis.items():
            self.pool.setdefault(t, []).append(v)
        self.pool["i32"].append(i)
        out, end = self.inner(self.rng.randrange(2, 6))
        self.pool = {t: v[:saved.get(t, 0)] for t, v in self.pool.items()}
        nxt, c = self.tmp(), self.tmp()
        self.lines += [f"  {nxt} = add i32 {i}, 1", f"  {c} = icmp ult i32 {nxt}, {trip}",
                       f"  br i1 {c}, label %{head}, label %{after}"]
        entry = [f"  {i} = phi i32 [ 0, %{before} ], [ {nxt}, %{end} ]"]
        entry += [f"  {phis[t]} = phi {t} [ {first[t]}, %{before} ], [ {out[t]}, %{end} ]" for t in first]
        self.lines[at:at] = entry
        self.start(after)
        for t in out:
            self.pool.setdefault(t, []).append(phis[t])

    def build(self):
        words = []
        for k in range(WORDS):
            p = self.raw(f"getelementptr i64, ptr addrspace(1) %in, i64 {k}")
            words.append(self.raw(f"load i64, ptr addrspace(1) {p}, align 8"))
        self.pool["i64"] = list(words)
        for k, t in enumerate(INTS[:3] + FLOATS + VECTORS):
            self.frombits(t, words[k % WORDS])
        self.op("i1", f"icmp slt i64 {words[0]}, {words[1]}")
        self.lines.append("  call void @llvm.memset.STACKp.i64(ptr STACK %stack, i8 5, i64 64, i1 false)")
        for _ in range(self.rng.randrange(12, 34)):
            self.step()
        types = self.rng.sample(INTS + FLOATS + VECTORS, WORDS)
        for k, t in enumerate(types):
            v = self.tobits(t, self.pool[t][-1] if self.pool.get(t) else const(self.rng, t))
            p = self.raw(f"getelementptr i64, ptr addrspace(1) %out, i64 {k}")
            self.lines.append(f"  store i64 {v}, ptr addrspace(1) {p}, align 8")
        self.lines.append("  ret void")

    def text(self):
        return (f"define void @{self.name}(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {{\nentry:\n"
                "  %stack = alloca [64 x i8], align 8, addrspace(STACKN)\n" + "\n".join(self.lines) + "\n}\n")


FUNCTIONS = ["exp2", "log2", "exp", "log", "exp10", "log10"]


class UlpSnippet:
    """Functions without a required rounding, within a number of ulp of the host's
    library: LLVM promises none; its expansions are meant for 1 to 3."""

    def __init__(self, rng, name):
        self.name, self.decls, lines = name, set(), []
        for k in range(WORDS):
            f = FUNCTIONS[k % len(FUNCTIONS)]
            lines += [f"  %p{k} = getelementptr i64, ptr addrspace(1) %in, i64 {k}",
                      f"  %w{k} = load i64, ptr addrspace(1) %p{k}, align 8", f"  %i{k} = trunc i64 %w{k} to i32",
                      f"  %s{k} = ashr i32 %i{k}, 8", f"  %f{k} = sitofp i32 %s{k} to float",
                      f"  %x{k} = fmul float %f{k}, 0x3ED0000000000000"]
            x = f"%x{k}"
            if "log" in f:
                self.decls.add("declare float @llvm.fabs.f32(float)")
                lines.append(f"  %y{k} = call float @llvm.fabs.f32(float %x{k})")
                x = f"%y{k}"
            self.decls.add(f"declare float @llvm.{f}.f32(float)")
            lines += [f"  %r{k} = call float @llvm.{f}.f32(float {x})", f"  %b{k} = bitcast float %r{k} to i32",
                      f"  %z{k} = zext i32 %b{k} to i64", f"  %q{k} = getelementptr i64, ptr addrspace(1) %out, i64 {k}",
                      f"  store i64 %z{k}, ptr addrspace(1) %q{k}, align 8"]
        self.body = "\n".join(lines)

    def text(self):
        return (f"define void @{self.name}(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {{\nentry:\n" + self.body +
                "\n  ret void\n}\n")


def ulps(a, b):
    key = lambda x: 0x80000000 - (x & 0x7FFFFFFF) if x >> 31 else 0x80000000 + x
    nan = [x & 0x7FFFFFFF > 0x7F800000 for x in (a, b)]
    if any(nan):
        return 0 if all(nan) else 1 << 32
    return abs(key(a) - key(b))


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
extern void (*table[])(void *, void *);
/* The C library of the host may be older than the type. */
__bf16 __truncsfbf2(float f) {
  uint32_t x; uint16_t h; __bf16 r;
  memcpy(&x, &f, 4);
  h = (x & 0x7fffffffu) > 0x7f800000u ? (x >> 16) | 0x40 : (x + 0x7fff + ((x >> 16) & 1)) >> 16;
  memcpy(&r, &h, 2);
  return r;
}
float exp10f(float);
int main(int argc, char **argv) {
  long n = atol(argv[3]);
  FILE *f = fopen(argv[1], "rb");
  char *in = malloc(n * 64 * 64), *out = calloc(n * 64, 64);
  if (!f || fread(in, 64 * 64, n, f) != (size_t)n) return 1;
  fclose(f);
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < 64; ++i)
      table[k](in + (k * 64 + i) * 64, out + (k * 64 + i) * 64);
  f = fopen(argv[2], "wb");
  return !f || fwrite(out, 64 * 64, n, f) != (size_t)n || fclose(f);
}
"""

KERNEL = """
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @test(ptr addrspace(1) %in, ptr addrspace(1) %out) #1 {
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %b = mul i32 %g, 64
  %i = add i32 %b, %t
  %o = mul i32 %i, 8
  %p = getelementptr i64, ptr addrspace(1) %in, i32 %o
  %q = getelementptr i64, ptr addrspace(1) %out, i32 %o
"""


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(command)}\nfailed with {p.returncode}:\n{p.stdout[:1500]}")
    return p.stdout


def data(rng, n):
    """Input words: every width sees special and ordinary values."""
    special = [0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 0x3FF0000000000000, 0x7FF0000000000000, 0x3F8000003F800000,
               0x7F800000BF800000, 0x3C003C003C003C00, 0x7C00BC0000018000, 0x0000000100000001, 0x8000800080008000]
    out = bytearray()
    for _ in range(n * LANES * WORDS):
        r = rng.random()
        if r < 0.15:
            x = rng.choice(special)
        elif r < 0.35:
            x = rng.getrandbits(8) | rng.getrandbits(4) << 32
        elif r < 0.55:
            # Ordinary floats and halves in both halves.
            x = struct.unpack("<Q", struct.pack("<ff", rng.uniform(-300, 300), rng.gauss(0, 2)))[0]
        elif r < 0.7:
            x = struct.unpack("<Q", struct.pack("<d", rng.gauss(0, 1e3)))[0]
        elif r < 0.8:
            x = struct.unpack("<Q", struct.pack("<eeee", *(rng.gauss(0, 5) for _ in range(4))))[0]
        else:
            x = rng.getrandbits(64)
        out += x.to_bytes(8, "little")
    return bytes(out)


def module(arch, stem, seed, snippets):
    rng = random.Random(seed)
    level = rng.choice(("0", "1", "2", "2", "3"))
    parts = [Snippet(rng, f"s{k}") for k in range(snippets - 1)] + [UlpSnippet(rng, f"s{snippets - 1}")]
    decls = sorted(set().union(*(p.decls for p in parts)))
    body = "\n".join(p.text() for p in parts) + "\n" + "\n".join(decls) + "\n"
    host = body.replace("addrspace(STACKN)", "addrspace(0)").replace("STACKp", "p0").replace("ptr STACK", "ptr")
    host += "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\nattributes #0 = { noinline nounwind }\n"
    host += (f"@table = constant [{snippets} x ptr] [" + ", ".join(f"ptr @s{k}" for k in range(snippets)) + "]\n")
    dev = body.replace("addrspace(STACKN)", "addrspace(5)").replace("STACKp", "p5").replace("STACK", "addrspace(5)")
    dev += "declare void @llvm.memset.p5.i64(ptr addrspace(5), i8, i64, i1)\n"
    dev += KERNEL + "  switch i32 %g, label %end [ " + " ".join(f"i32 {k}, label %c{k}" for k in range(snippets)) + " ]\n"
    for k in range(snippets):
        dev += f"c{k}:\n  call void @s{k}(ptr addrspace(1) %p, ptr addrspace(1) %q)\n  br label %end\n"
    dev += ("end:\n  ret void\n}\nattributes #0 = { noinline nounwind }\n"
            'attributes #1 = { nounwind "amdgpu-flat-work-group-size"="64,64" }\n')
    with open(stem + ".host.ll", "w") as f:
        f.write('target triple = "x86_64-pc-linux-gnu"\n' + host)
    with open(stem + ".dev.ll", "w") as f:
        f.write('target triple = "amdgcn-amd-amdhsa"\n' + dev)
    with open(stem + ".c", "w") as f:
        f.write(DRIVER)
    inputs = data(rng, snippets)
    with open(stem + ".in", "wb") as f:
        f.write(inputs)
    # SSE2 alone would do x87 arithmetic nowhere, but FMA in a library.
    run("llc", "-O1", "-mattr=+f16c,+fma", "-filetype=obj", "-relocation-model=pic", stem + ".host.ll", "-o", stem + ".o")
    run("clang", "-O1", "-w", "-D_GNU_SOURCE", stem + ".c", stem + ".o", "-o", stem + ".exe", "-lm")
    run(stem + ".exe", stem + ".in", stem + ".expected", str(snippets))
    device = ["llc", "-O" + level, "-mcpu=" + arch, "-filetype=obj", stem + ".dev.ll", "-o", stem + ".dev.o"]
    p = subprocess.run(device, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        print(f"{arch}: seed {seed}: LLVM cannot compile the module: {(p.stdout.splitlines() or [''])[0][:150]}")
        return None
    run("ld.lld", "-shared", stem + ".dev.o", "-o", stem + ".co")
    size = snippets * LANES * WORDS * 8
    run("atrex-sim", "run", stem + ".co", "--check", "uninit,oob", "--grid", str(snippets), "--block", "64", "--arg", f"in:{stem}.in", "--arg",
        f"out:{size}:{stem}.out")
    expected, got = open(stem + ".expected", "rb").read(), open(stem + ".out", "rb").read()
    failed = 0
    for k, part in enumerate(parts):
        bad = []
        for i in range(LANES):
            at = (k * LANES + i) * WORDS * 8
            want, have = (struct.unpack(f"<{WORDS}Q", x[at:at + WORDS * 8]) for x in (expected, got))
            if isinstance(part, UlpSnippet):
                differ = any(ulps(a, b) > 3 for a, b in zip(want, have))
            else:
                differ = want != have
            if differ:
                bad.append((i, struct.unpack(f"<{WORDS}Q", inputs[at:at + WORDS * 8]), want, have))
        if bad:
            failed += 1
            i, words, want, have = bad[0]
            show = lambda v: " ".join(f"{x:#x}" for x in v)
            print(f"{arch}: seed {seed} (llc -O{level}), snippet {k}: {len(bad)} of "
                  f"{LANES} lanes differ\nlane {i}\n  inputs   {show(words)}\n  host     {show(want)}\n"
                  f"  device   {show(have)}\n{part.text()}")
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("arch")
    parser.add_argument("stem")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--snippets", type=int, default=100)
    parser.add_argument("--modules", type=int, default=1)
    args = parser.parse_args()
    results = [module(args.arch, args.stem, args.seed + n, args.snippets) for n in range(args.modules)]
    done, failed = len(results) - results.count(None), sum(r or 0 for r in results)
    print(f"{args.arch}: {done * args.snippets * LANES} executions of {done * args.snippets} snippets, {failed} snippets "
          "differ" + (f", {results.count(None)} modules not compiled" if done < len(results) else ""))
    sys.exit(1 if failed or not done else 0)


main()
