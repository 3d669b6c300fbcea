#!/usr/bin/env python3
"""Random and mutated programs of the atx dialect against atrex-opt.

    atx_fuzz.py OPT --seed 1 --count 2000 [--corpus DIR ...] [--flags=-canonicalize]

A program is right or wrong; either way the tool has to end with exit status 0 or
1, a wrong program has to be reported at a line of its own, and what is printed
has to be read back. Signals, assertions, sanitizer reports, time-outs and
failures without a message are findings: they are reduced to one program and
printed. The same seed and count give the same programs.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys

SEPARATOR = "\n// -----\n"

NUMBERS = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 64, 128, 256, 1024, 65536]
EXTREMES = [-1, -8, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 2**80]

UNARY = """product product_each make_layout make_identity_layout make_layout_like make_fragment_like size cosize coshape
coprofile rank depth injective compact get_shape get_stride composed_inner composed_offset composed_outer coalesce filter
complement complement_exact right_inverse left_inverse max_alignment get take select group recast get_layout get_ptr
make_coord_view get_scalar to_vector""".split()
BINARY = """add sub mul div mod min max shape_div ceil_div product_like equal elem_less make_layout make_ordered_layout append
prepend slice dice crd2idx idx2crd get_1d_coord get_flat_coord coalesce composition composition_exact complement
complement_exact logical_divide zipped_divide tiled_divide flat_divide divide_exact logical_product zipped_product
tiled_product flat_product blocked_product raked_product max_common_vector vector_width make_layout_tv tv_tile make_view
add_offset""".split()
TERNARY = ["make_composed_layout", "tile_to_shape", "local_tile", "local_partition"]
ATTRIBUTES = {
    "get": lambda g: "mode = array<i64: %s>" % g.numbers(),
    "select": lambda g: "indices = array<i64: %s>" % g.numbers(),
    "take": lambda g: "begin = %d : i64, end = %d : i64" % (g.small(), g.small()),
    "group": lambda g: "begin = %d : i64, end = %d : i64" % (g.small(), g.small()),
    "recast": lambda g: "from = %d : i64, to = %d : i64" % (g.bits(), g.bits()),
    "append": lambda g: "rank = %d : i64" % g.small(),
    "prepend": lambda g: "rank = %d : i64" % g.small(),
    "make_fragment_like": lambda g: "stages = %d : i64" % g.small(),
    "vector_width": lambda g: "bits = %d : i64, src_align = %d : i64, dst_align = %d : i64, max_bits = %d : i64"
    % (g.bits(), g.bits(), g.bits(), g.bits()),
    "logical_divide": lambda g: "strict",
    "zipped_divide": lambda g: "strict",
    "tiled_divide": lambda g: "strict",
    "flat_divide": lambda g: "strict",
}
OPTIONAL = {"append", "prepend", "make_fragment_like", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide"}


class Generator:
    def __init__(self, rng):
        self.rng = rng
        # Half of the programs stay among numbers that are likely to be right.
        self.wild = 0.0

    def chance(self, p):
        return self.rng.random() < p

    def number(self):
        if self.chance(self.wild):
            return self.rng.choice(EXTREMES)
        return self.rng.choice(NUMBERS[1:] if self.chance(0.95) else NUMBERS)

    def small(self):
        return self.rng.choice(EXTREMES[:-3]) if self.chance(self.wild) else self.rng.randrange(0, 4)

    def bits(self):
        return self.rng.choice(EXTREMES[:-3]) if self.chance(self.wild) else self.rng.choice([4, 8, 16, 32, 64, 128])

    def numbers(self):
        return ", ".join(str(self.small()) for _ in range(self.rng.randrange(1, 4)))

    def leaf(self, kind):
        r = self.rng.random()
        if r < 0.15:
            return "?"
        if r < 0.25:
            return "?{div=%d}" % self.number()
        if kind == "coord" and r < 0.4 or r < 0.25 + self.wild / 10:
            return "*"
        if kind == "basis":
            return "%dE%d%s" % (self.number(), self.rng.randrange(3), self.rng.choice(["", "", "E1"]))
        return str(self.number())

    def tree(self, depth=0):
        if self.chance(0.01 * self.wild) and depth == 0:
            tree = None
            for _ in range(self.rng.choice([31, 32, 33, 60])):
                tree = [tree, None]
            return tree
        if depth > 2 or self.chance(0.45 if depth else 0.15):
            return None
        return [self.tree(depth + 1) for _ in range(self.rng.choice([1, 2, 2, 2, 3, 4]))]

    def fill(self, tree, kind):
        if tree is None:
            return self.leaf(kind)
        return "(" + ",".join(self.fill(child, kind) for child in tree) + ")"

    def tuple(self, kind=None):
        return self.fill(self.tree(), kind or self.rng.choice(["int", "int", "coord", "basis"]))

    def layout(self):
        tree = self.tree()
        if self.chance(0.5):
            # Compact strides, which most operations like.
            state = [1]

            def compact(node):
                if node is None:
                    extent = self.rng.choice([1, 2, 4, 8, 16, 3, 5])
                    stride = state[0]
                    state[0] *= extent
                    if self.chance(0.1):
                        return "?", str(stride)
                    if self.chance(0.1):
                        return str(extent), "?"
                    return str(extent), str(stride)
                pairs = [compact(child) for child in node]
                return "(" + ",".join(p[0] for p in pairs) + ")", "(" + ",".join(p[1] for p in pairs) + ")"

            shape, stride = compact(tree)
            return shape + ":" + stride
        other = self.tree() if self.chance(self.wild / 4) else tree
        return self.fill(tree, "int") + ":" + self.fill(other, self.rng.choice(["int", "int", "basis"]))

    def swizzle(self):
        if self.chance(self.wild / 2):
            return "S<%d,%d,%d>" % (self.number(), self.number(), self.number())
        if self.chance(0.1):
            return "CS<%d,%d,[%d],%d,[%d]>" % (self.small(), self.small(), self.small(), self.small(), self.small())
        return self.rng.choice(["S<3,4,3>", "S<2,4,3>", "S<0,0,0>", "S<1,0,1>", "S<3,3,-3>", "S<3,0,3>"])

    def composed(self, depth=0):
        outer = self.layout()
        if self.chance(0.15) and depth < 3:
            outer = "[" + self.composed(depth + 1) + "]"
        inner = self.swizzle() if self.chance(0.7) else self.layout()
        return "%s o %s o %s" % (inner, self.tuple("int") if self.chance(0.2) else self.leaf("int"), outer)

    def tile(self):
        return "[" + "|".join(
            self.rng.choice([self.leaf("int"), self.layout(), "*"]) for _ in range(self.rng.randrange(1, 4))) + "]"

    def element(self):
        if self.chance(self.wild / 3):
            return self.rng.choice(["i0", "i1", "i4", "i3", "i777", "i16777215", "index", "vector<4xf32>", "f4E2M1FN",
                                    "!atx.int_tuple<?>", "none", "si32", "tuple<>", "complex<f32>"])
        return self.rng.choice(["f32", "bf16", "f16", "i8", "i32", "f8E4M3FN", "f64", "i128"])

    def placement(self):
        text = ""
        if self.chance(0.5):
            text += ", align = %d" % self.number()
        if self.chance(0.3):
            text += ", swizzle = " + self.swizzle()
        return text

    def space(self):
        return self.rng.choice(["global", "shared", "generic", "buffer"] + (["register"] if self.chance(self.wild) else []))

    def view(self):
        return "!atx.view<%s, %s, %s%s>" % (self.element(), self.space(), self.layout(), self.placement())

    def ptr(self):
        return "!atx.ptr<%s, %s%s>" % (self.element(), self.space(), self.placement())

    def fragment(self):
        return "!atx.fragment<%s, %s, chunk = %d>" % (self.element(), self.layout(), self.number())

    def coord_view(self):
        return "!atx.coord_view<%s, %s>" % (self.tuple("int"), self.layout())

    def type(self):
        r = self.rng.random()
        if r < 0.35:
            return "!atx.layout<%s>" % self.layout()
        if r < 0.6:
            return "!atx.int_tuple<%s>" % self.tuple()
        if r < 0.68:
            return "!atx.composed_layout<%s>" % self.composed()
        if r < 0.75:
            return "!atx.tile<%s>" % self.tile()
        if r < 0.79:
            return "!atx.swizzle<%s>" % self.swizzle()
        if r < 0.87:
            return self.view()
        if r < 0.91:
            return self.ptr()
        if r < 0.94:
            return self.coord_view()
        if r < 0.97:
            return self.fragment()
        return self.rng.choice(["index", "i32", "f32", "!llvm.ptr<1>", "vector<8xf32>"])

    def operand_type(self, op, index):
        """Mostly what the operation takes."""
        if self.chance(0.1 + self.wild / 5):
            return self.type()
        if op in ("slice", "dice") and index == 1:
            return "!atx.int_tuple<%s>" % self.tuple("coord")
        if op in ("add sub mul div mod min max shape_div ceil_div product product_each product_like elem_less make_layout "
                  "make_ordered_layout make_identity_layout make_coord_view get_scalar").split():
            return "!atx.int_tuple<%s>" % self.tuple("int")
        if op in ("crd2idx", "idx2crd", "get_1d_coord", "get_flat_coord") and index == 0:
            return "!atx.int_tuple<%s>" % self.tuple("int")
        if index == 1 and op == "add_offset" or index == 2 or index == 1 and op in ("coalesce", "complement", "tile_to_shape"):
            return "!atx.int_tuple<%s>" % self.tuple("int")
        if op in ("make_view", "add_offset") and index == 0:
            return self.ptr()
        if op in ("get_layout", "get_ptr"):
            return self.view()
        if op == "to_vector":
            return self.fragment()
        if index == 1 and (op.endswith("_divide") or op.endswith("_product") or op.startswith("local_")) and self.chance(0.5):
            return "!atx.tile<%s>" % self.tile()
        return "!atx.layout<%s>" % self.layout() if self.chance(0.7) else self.type()

    def attribute(self):
        return self.rng.choice([
            "mode = 3 : i64", "mode = array<i32: 1>", "mode = []", "begin = 1 : i32", "strict = 3 : i64", "unknown = unit",
            "begin = \"a\"", "end = f32", "stages = array<i64: 2>", "rank = unit", "from = dense<1> : tensor<2xi64>",
            "atx.target = 3 : i64", "atx.target = \"gfx000\"", "atx.layout = 1 : i32", "order = 3 : i32", "atom = 3 : i64",
            "operandSegmentSizes = array<i32: 1, 1, 1, 1>", "operandSegmentSizes = array<i32: -1, 2147483647, 1, 0>",
            "indices = array<i64: %d>" % self.small(), "mode = array<i64>", "elementType = %s" % self.element()])

    def atom(self):
        bits = self.rng.choice([8, 16, 32, 64, 128] + ([0, -1, 7, 2**40] if self.chance(self.wild) else []))
        atom = self.rng.choice(["#atx.universal_copy<%d>" % bits, "#atx.universal_fma<%s>" % self.element(),
                                "#atx.universal_atomic<%s, %s>" % (self.rng.choice(["add", "max", "umin"]), self.element())])
        r = self.rng.random()
        if r < 0.3:
            return "#atx.tiled_copy<%s, %s, %s>" % (atom, self.layout(), self.tuple("int"))
        if r < 0.45:
            permute = ", permute = " + self.tile() if self.chance(0.3) else ""
            return "#atx.tiled_mma<%s, %s%s>" % (atom, self.layout(), permute)
        if self.chance(self.wild / 5):
            return self.rng.choice(["3 : i64", "unit", "\"x\"", "#atx.tv<(4):(1E0), (2):(4E0)>"])
        return atom

    def structured(self):
        """Operations with a form of their own, in custom assembly."""
        v, c, f, t = self.view(), self.coord_view(), self.fragment(), "!atx.int_tuple<%s>" % self.tuple("int")
        forms = [
            ("%%r = atx.copy %s, %%0 : %s -> %s" % (self.atom(), v, f), [v]),
            ("atx.copy %s, %%0 to %%1 : %s, %s" % (self.atom(), v, self.view()), None),
            ("atx.copy %s, %%0 to %%1 : %s, %s" % (self.atom(), f, v), [f, v]),
            ("atx.copy %s, %%0 to %%1 where %%2 less %%3 {zero_fill} : %s, %s where %s, %s" % (self.atom(), f, v, c, t),
             [f, v, c, t]),
            ("%%r = atx.gemm %s, %%0, %%1, %%2 : %s, %s, %s" % (self.atom(), f, v, f), [f, v, f]),
            ("%%r = atx.gemm %s, %%0, %%0, %%0 : %s, %s, %s" % (self.atom(), f, f, f), [f]),
            ("%%r = atx.partition_copy %%0, %%1 by %s : %s, %s" % (self.atom(), v, t), [v, t]),
            ("%%r = atx.partition_mma %s %%0, %%1 by %s : %s, %s" % (self.rng.choice("abcdx"), self.atom(), v, t), [v, t]),
            ("%%r = atx.alloc_shared : %s" % v, []),
            ("%%r = atx.static : %s" % self.type(), []),
            ("%%r = atx.make %%0, %%1 : index, i64 -> %s" % self.type(), ["index", "i64"]),
            ("%%r = atx.make -> %s" % self.type(), []),
            ("%%r = atx.load %%0[%%1] : %s, %s" % (v, t), [v, t]),
            ("atx.store %%0, %%1[%%2] : %s, %s, %s" % ("f32", v, t), ["f32", v, t]),
            ("%%r = atx.recast_view %%0 to %s : %s" % (self.element(), v), [v]),
            ("%%r = atx.retile %%0 : %s -> %s" % (f, self.fragment()), [f]),
            ("%%r = atx.splat %%0 : f32 -> %s" % f, ["f32"]),
            ("%%r = atx.from_vector %%0 : vector<8xf32> -> %s" % f, ["vector<8xf32>"]),
            ("%%r = atx.make_ptr %%0 : !llvm.ptr<1> -> %s" % self.ptr(), ["!llvm.ptr<1>"]),
        ]
        text, types = self.rng.choice(forms)
        if types is None:
            types = [v, text.rsplit(": ", 1)[1].split(">, ", 1)[-1]]
        return text, types

    def program(self):
        self.wild = self.rng.choice([0.0, 0.0, 0.1, 0.6])
        if self.chance(0.3):
            text, types = self.structured()
        else:
            op = self.rng.choice(UNARY + BINARY + TERNARY)
            count = 1 if op in UNARY and not (op in BINARY and self.chance(0.5)) else 3 if op in TERNARY else 2
            if self.chance(self.wild / 6):
                count = self.rng.randrange(0, 5)
            types = [self.operand_type(op, i) for i in range(count)]
            names = ["%%%d" % i for i in range(count)]
            attributes = []
            if op in ATTRIBUTES and not (op in OPTIONAL and self.chance(0.6)) and not self.chance(self.wild / 6):
                attributes.append(ATTRIBUTES[op](self))
            if self.chance(self.wild / 4):
                attributes.append(self.attribute())
            if self.chance(0.1 + self.wild / 4):
                dictionary = " <{%s}>" % ", ".join(attributes) if attributes and self.chance(0.7) else ""
                plain = " {%s}" % ", ".join(attributes) if attributes and not dictionary else ""
                results = self.rng.choice([self.type(), self.type(), "()", "(i1, i1)"])
                text = '%s"atx.%s"(%s)%s%s : (%s) -> %s' % (
                    "%r = " if results[0] != "(" else "", op, ", ".join(names), dictionary, plain, ", ".join(types), results)
            else:
                dictionary = " {%s}" % ", ".join(attributes) if attributes else ""
                text = "%%r = atx.%s %s%s : %s" % (op, ", ".join(names), dictionary, ", ".join(types))
        if self.chance(0.3):
            # Static operands by constants rather than arguments.
            statics = [t for t in types if t.startswith("!atx.") and "?" not in t]
            lines = []
            for i, t in enumerate(types):
                if t in statics:
                    lines.append("  %%s%d = atx.static : %s" % (i, t))
                    text = re.sub(r"%%%d\b" % i, "%%s%d" % i, text)
        else:
            lines = []
        arguments = ", ".join("%%%d: %s" % (i, t) for i, t in enumerate(types))
        arguments = re.sub(r"%(\d+):", r"%a\1:", arguments)
        text = re.sub(r"%(\d+)\b", r"%a\1", text)
        return "func.func @f(%s) {\n%s  %s\n  return\n}\n" % (arguments, "".join(l + "\n" for l in lines), text)


TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*|-?\d+|\s+|.", re.S)


def mutate(rng, corpus):
    text = rng.choice(corpus)
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        tokens = TOKEN.findall(text)
        if len(tokens) < 4:
            return text
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        what = rng.randrange(8)
        if what == 0:
            del tokens[i]
        elif what == 1:
            tokens.insert(i, tokens[j])
        elif what == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif what == 3:
            numbers = [k for k, t in enumerate(tokens) if re.fullmatch(r"-?\d+", t)]
            if numbers:
                tokens[rng.choice(numbers)] = str(rng.choice(NUMBERS + EXTREMES))
        elif what == 4:
            other = TOKEN.findall(rng.choice(corpus))
            k = rng.randrange(len(other))
            tokens[i:i + rng.randrange(4)] = other[k:k + rng.randrange(1, 8)]
        elif what == 5:
            tokens[i] = rng.choice(["?", "*", "(", ")", "<", ">", "[", "]", "|", ":", "o", "E", "{div=8}", "E0", "S", "\0",
                                    "\x80", "\"", "%", "!atx.", "#atx.", "unit", "->"])
        elif what == 6:
            data = bytearray("".join(tokens), "utf-8", "surrogateescape")
            data[rng.randrange(len(data))] = rng.randrange(256)
            tokens = [data.decode("latin-1")]
        else:
            names = [k for k, t in enumerate(tokens) if re.fullmatch(r"atx\.[a-z_0-9]+", t)]
            if names:
                tokens[rng.choice(names)] = "atx." + rng.choice(UNARY + BINARY + TERNARY)
        text = "".join(tokens)
    return text


def read_corpus(paths):
    chunks = []
    for path in sorted(paths):
        files = [path] if os.path.isfile(path) else sorted(
            os.path.join(root, name) for root, _, names in os.walk(path) for name in names if name.endswith(".mlir"))
        for name in sorted(files):
            with open(name, encoding="utf-8", errors="replace") as file:
                text = file.read()
            # Comments and expectations are no part of the program.
            text = re.sub(r"^\s*//(?! -----).*\n", "", text, flags=re.M)
            for chunk in text.split("// -----"):
                functions = re.split(r"(?m)^(?=func\.func|module|gpu\.)", chunk)
                chunks += [f for f in functions[1:] if "atx" in f]
    return chunks


class Runner:
    def __init__(self, options):
        self.options = options
        self.findings = 0

    def run(self, text, flags):
        def limit():
            if not self.options.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        command = [self.options.opt, "-split-input-file", "-allow-unregistered-dialect"] + flags + ["-"]
        try:
            return subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True,
                                  timeout=self.options.timeout, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return None

    def problem(self, text, flags):
        """What is wrong with the tool on this text, or nothing."""
        result = self.run(text, flags)
        if result is None:
            return "no end within %d s" % self.options.timeout
        errors = result.stderr.decode("utf-8", "replace")
        if result.returncode not in (0, 1):
            return "exit status %d\n%s" % (result.returncode, errors[-3000:])
        if re.search(r"runtime error:|AddressSanitizer|Assertion|PLEASE submit a bug report", errors):
            return "report\n" + errors[-3000:]
        if result.returncode == 1 and "error:" not in errors:
            return "failure without a message\n" + errors[-1000:]
        if re.search(r"failed to parse Atx", errors):
            return "a second error for one fault\n" + errors[-1000:]
        # Programs that were refused leave empty chunks.
        chunks = [c for c in result.stdout.decode("utf-8", "replace").split("// -----") if c.strip()]
        output = SEPARATOR.join(chunks)
        if chunks:
            again = self.run(output, [])
            if again is None or again.returncode != 0:
                return "output is not read back\n%s\n%s" % (
                    output[-1500:], "time-out" if again is None else again.stderr.decode("utf-8", "replace")[-1500:])
        return None

    def check(self, programs, flags):
        problem = self.problem(SEPARATOR.join(programs), flags)
        if not problem:
            return
        if len(programs) > 1:
            half = len(programs) // 2
            before = self.findings
            self.check(programs[:half], flags)
            self.check(programs[half:], flags)
            if self.findings > before:
                return
        self.findings += 1
        print("==== finding %d (flags %s): %s\n---- program:\n%s" % (
            self.findings, " ".join(flags), problem, SEPARATOR.join(programs)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("opt", help="the atrex-opt to test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=250, help="programs per process")
    parser.add_argument("--corpus", action="append", default=[], help="files or directories of programs to mutate")
    parser.add_argument("--timeout", type=int, default=60, help="seconds per process")
    parser.add_argument("--sanitized", action="store_true", help="no limit on the address space")
    parser.add_argument("--passes", default="-canonicalize -cse", help="second run of each batch")
    parser.add_argument("--print", action="store_true", help="print the programs only")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    generator = Generator(rng)
    corpus = read_corpus(options.corpus)
    runner = Runner(options)
    programs = []
    for index in range(options.count):
        programs.append(mutate(rng, corpus) if corpus and index % 2 else generator.program())
        if len(programs) == options.batch or index + 1 == options.count:
            # A separator inside a mutated program would shift the batch.
            programs = [p.replace("// -----", "") for p in programs]
            if options.print:
                print(SEPARATOR.join(programs))
            else:
                runner.check(programs, [])
                if options.passes:
                    runner.check(programs, options.passes.split())
            programs = []
    if not options.print:
        print("%d programs, seed %d: %d findings" % (options.count, options.seed, runner.findings))
    sys.exit(1 if runner.findings else 0)


if __name__ == "__main__":
    main()
