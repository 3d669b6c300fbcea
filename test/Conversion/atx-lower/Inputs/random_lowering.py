"""Lowered code of dynamic layouts against the algebra on numbers.

random_lowering.py COUNT SEED ATREX_LAYOUT ATREX_OPT

Random operations are written twice: with dynamic leaves, which `atx-lower` turns
into arithmetic on constants that folds to a number, and with the same numbers in
the text, which `atrex-layout` evaluates. Both have to agree, and what is refused
with numbers must not be accepted with dynamic leaves.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

EXTENTS = [1, 2, 3, 4, 6, 8, 16, 32]


class Gen:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def leaf(self, value, dynamic):
        """(text with a number, text with a dynamic leaf, numbers of the leaf)"""
        if not dynamic or self.rng.random() < 0.45:
            return str(value), str(value), []
        div = self.rng.choice([d for d in (1, 2, 4, 8, 16, 64) if value % d == 0])
        return str(value), "?" if div == 1 else "?{div=%d}" % div, [value]

    def tree(self, leaves):
        """The same random nesting for each list of texts."""
        if len(leaves) == 1:
            return leaves[0]
        if len(leaves) > 2 and self.rng.random() < 0.4:
            i = self.rng.randrange(len(leaves) - 1)
            inner = tuple("(%s,%s)" % (leaves[i][k], leaves[i + 1][k]) for k in range(2))
            return self.tree(leaves[:i] + [inner + (leaves[i][2] + leaves[i + 1][2],)] + leaves[i + 2:])
        return tuple("(" + ",".join(x[k] for x in leaves) + ")" for k in range(2)) + (sum((x[2] for x in leaves), []),)

    def layout(self, rank=None, compact=False):
        n = rank or self.rng.randint(1, 3)
        extents = [self.rng.choice(EXTENTS) for _ in range(n)]
        order = list(range(n))
        self.rng.shuffle(order)
        strides, acc = [0] * n, 1
        for i in order:
            strides[i] = acc
            acc *= extents[i]
            if not compact and self.rng.random() < 0.3:
                acc *= self.rng.choice([2, 4])
        state = self.rng.getstate()
        shape = self.tree([self.leaf(e, True) for e in extents])
        self.rng.setstate(state)  # the strides nest like the extents
        stride = self.tree([self.leaf(s, False) for s in strides])
        if self.rng.random() < 0.5:
            self.rng.setstate(state)
            flat = self.flat(extents, strides)
            if flat:
                return flat
        if self.nesting(shape[0]) != self.nesting(stride[0]):
            return self.flat(extents, strides)
        return (shape[0] + ":" + stride[0], shape[1] + ":" + stride[1], shape[2] + stride[2])

    def flat(self, extents, strides):
        parts = [[self.leaf(v, True) for v in values] for values in (extents, strides)]

        def join(xs, k):
            return xs[0][k] if len(xs) == 1 else "(" + ",".join(x[k] for x in xs) + ")"

        return (join(parts[0], 0) + ":" + join(parts[1], 0), join(parts[0], 1) + ":" + join(parts[1], 1),
                sum((x[2] for x in parts[0]), []) + sum((x[2] for x in parts[1]), []))

    @staticmethod
    def nesting(text):
        return re.sub(r"[^(),]", "", text)


def operand_type(text, tuple_like=False):
    if text.startswith("["):
        return "!atx.tile<%s>" % text
    return "!atx.layout<%s>" % text if ":" in text else "!atx.int_tuple<%s>" % text


def run_batch(tool, lines):
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as f:
        f.write("\n".join(lines) + "\n")
    try:
        done = subprocess.run([tool, "eval", "--batch", f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    out = done.stdout.splitlines()
    assert len(out) == len(lines), (len(out), len(lines), done.stderr[:500])
    return out


def main(count, seed, layout_tool, opt_tool):
    gen = Gen(seed)
    rng = gen.rng
    cases = []
    for _ in range(count):
        op = rng.choice(["crd2idx", "get_1d_coord", "size", "cosize", "composition", "logical_divide", "zipped_divide",
                         "flat_divide", "logical_product", "blocked_product", "raked_product", "complement", "coalesce",
                         "right_inverse", "left_inverse", "recast", "mod", "div", "ceil_div", "shape_div", "add", "mul"])
        attrs = ""
        if op in ("mod", "div", "ceil_div", "shape_div", "add", "mul"):
            args = [gen.leaf(rng.choice([0, 1, 5, 8, 12, 48, 64, 100]), True),
                    gen.leaf(rng.choice([1, 2, 3, 4, 8, 16]), True)]
        elif op in ("size", "cosize", "coalesce", "right_inverse", "left_inverse"):
            args = [gen.layout()]
        elif op == "crd2idx":
            args = [gen.leaf(rng.randrange(64), True), gen.layout()]
        elif op == "get_1d_coord":
            args = [gen.leaf(rng.randrange(64), True), gen.layout(compact=True)]
        elif op == "complement":
            args = [gen.layout(rank=rng.choice([1, 1, 2])), gen.leaf(rng.choice([64, 256, 1024]), True)]
        elif op == "recast":
            args, attrs = [gen.layout(compact=True)], rng.choice(["from=16, to=32", "from=16, to=8", "from=8, to=32"])
        elif op.endswith("_divide"):
            args = [gen.layout(), rng.choice([gen.leaf(rng.choice([2, 4, 8]), False), gen.layout(rank=1)])]
        else:
            args = [gen.layout(), gen.layout(rank=rng.choice([1, 1, 2]))]
        cases.append((op, args, attrs))

    def expression(case, k):
        op, args, attrs = case
        return "%s(%s%s)" % (op, ", ".join(a[k] for a in args), ", " + attrs if attrs else "")

    fixed = run_batch(layout_tool, [expression(c, 0) for c in cases])
    loose = run_batch(layout_tool, [expression(c, 1) for c in cases])
    # Values past the end depend on how unit modes are written: stay inside.
    sizes = run_batch(layout_tool, ["size(%s)" % (f if ":" in f and not f.startswith("error") else "1:0") for f in fixed])
    # A right inverse that cannot see a dynamic stride is smaller, not wrong.
    known = run_batch(layout_tool, ["size(%s)" % (d if ":" in d and not d.startswith("error") else "1:0") for d in loose])
    sizes = [min(int(s), int(d)) if d.isdigit() else int(s) for s, d in zip(sizes, known)]
    functions, queries = [], []
    bad = 0
    for case, number, dynamic, size in zip(cases, fixed, loose, sizes):
        op, args, attrs = case
        if dynamic.startswith("error"):
            continue
        if number.startswith("error"):
            # Positive strides and extents are assumed, overflow cannot be seen.
            print("accepted with dynamic leaves only: %s = %s but %s: %s" %
                  (expression(case, 1), dynamic, expression(case, 0), number))
            bad += 1
            continue
        body, names = [], []
        for i, arg in enumerate(args):
            t = operand_type(arg[1])
            if arg[2]:
                for j, v in enumerate(arg[2]):
                    body.append("  %%n%d_%d = arith.constant %d : index" % (i, j, v))
                leaves = ", ".join("%%n%d_%d" % (i, j) for j in range(len(arg[2])))
                body.append("  %%a%d = atx.make %s : %s -> %s" % (i, leaves, ", ".join(["index"] * len(arg[2])), t))
            else:
                body.append("  %%a%d = atx.static : %s" % (i, t))
            names.append(("%%a%d" % i, t))
        mlir_attrs = ""
        if attrs:
            mlir_attrs = " {" + re.sub(r"(\w+)=(\d+)", r"\1 = \2 : i64", attrs) + "}"
        body.append("  %%r = atx.%s %s%s : %s" % (op, ", ".join(n for n, _ in names), mlir_attrs,
                                                 ", ".join(t for _, t in names)))
        if ":" in dynamic:
            index = rng.randrange(size)
            body.append("  %%i = atx.static : !atx.int_tuple<%d>" % index)
            body.append("  %%x = atx.crd2idx %%i, %%r : !atx.int_tuple<%d>, %s" % (index, operand_type(dynamic)))
            queries.append(("crd2idx(%d, %s)" % (index, number), "crd2idx(%d, %s)" % (index, dynamic)))
        else:
            queries.append((number, dynamic))
        functions.append((expression(case, 1), body, ":" in dynamic))
    values = run_batch(layout_tool, [q[0] for q in queries])
    types = run_batch(layout_tool, [q[1] for q in queries])
    text = []
    for k, ((what, body, is_layout), t) in enumerate(zip(functions, types)):
        name = "%x" if is_layout else "%r"
        text.append("func.func @f%d() -> index {\n%s\n  %%s = atx.get_scalar %s : %s\n  return %%s : index\n}" %
                    (k, "\n".join(body), name, operand_type(t)))
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as f:
        f.write("\n".join(text) + "\n")
    try:
        done = subprocess.run([opt_tool, f.name, "-atx-lower", "-arith-expand", "-canonicalize", "-sccp", "-canonicalize"],
                              capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    if done.returncode:
        print(done.stderr[:3000])
        return 1
    results = dict(re.findall(r"func\.func @f(\d+)\(\) -> index \{\s*(?:%\S+ = arith\.constant (\S+) : index\s*)return", done.stdout))
    compared = 0
    for k, (what, body, _) in enumerate(functions):
        got = results.get(str(k))
        if got is None:
            print("did not fold to a number: " + what)
            bad += 1
        elif got != values[k]:
            print("%s: lowered to %s, wanted %s" % (what, got, values[k]))
            bad += 1
        compared += 1
    print("%d of %d cases compared, %d wrong" % (compared, count, bad))
    return 1 if bad or compared < count // 4 else 0


sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
