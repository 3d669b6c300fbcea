"""Runs tiles of the matrix kernels on small and odd extents and compares with the interpreter.

usage: sweep.py [--arch ARCH] [--sample N] [--seed N] [--jobs N] [KERNEL ...]

Without --sample every choice of knobs that the kernel allows is run on every set of extents (hours); with it N runs of each
kernel, drawn by the seed. Each run is `atrex-interpret --compare --check all`. Prints what differs and, at the end, a line
`KERNEL: N passed, N failed, N refused`; exit code 1 if one failed. A choice that the compiler refuses (registers, shared
memory) is shown with the reason and is no failure.
"""
import argparse
import array
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "..", "bench", "kernels")


def products(knobs, draw):
    """Extents (M, N, K): 1, one off a tile, two tiles and a bit, in turn along each axis."""
    m, n, k = knobs["BM"], knobs["BN"], knobs.get("BK", 128)
    yield 1, 1, 1
    yield m - 1, n + 1, k + 3
    yield m + 1, n - 1, 2 * k - 1
    yield 3, n + 5, 1
    yield m + 2, 2, k
    yield draw.randint(1, 2 * m), draw.randint(1, 2 * n), draw.randint(1, 3 * k)


def plain(knobs, draw, files):
    for m, n, k in products(knobs, draw):
        yield {"M": m, "N": n, "K": k}, {}, {}, []


def batched(knobs, draw, files):
    for m, n, k in products(knobs, draw):
        yield {"B": draw.randint(1, 3), "M": m, "N": n, "K": k}, {}, {}, []


def linear(knobs, draw, files):
    for m, n, k in products(knobs, draw):
        yield {"T": m, "O": n, "H": k}, {}, {}, []


def scaled(knobs, draw, files):
    for m, n, k in products(knobs, draw):
        groups = {"N": 128 * draw.randint(1, 2), "K": 128 * draw.randint(1, 3)}
        yield {"M": m}, groups, {}, ["--values", draw.choice(["a=any-bits", "b=any-bits", "normal"])]


def prefix(lengths):
    total = [0]
    for length in lengths:
        total.append(total[-1] + length)
    return total


def lengths_of(knobs, draw, rows):
    """Sequences around a tile of rows and of keys."""
    n = knobs["BN"]
    yield [1]
    yield [rows - 1, 1, n + 1]
    yield [0, rows + 1, 0, n, 3]
    yield [2 * n + 1, draw.randint(1, 2 * rows)]


def forward(knobs, draw, files):
    for lengths in lengths_of(knobs, draw, knobs["BM"]):
        bounds = prefix(lengths)
        dims = {"H": draw.randint(1, 2), "D": draw.choice([8, 40, 64, 72, 80, 128, 192, 256])}
        inputs = {"cu_seqlens_q": files(bounds), "cu_seqlens_k": files(bounds)}
        yield {"S": bounds[-1], "N": len(lengths)}, dims, inputs, ["--values", "normal"]


def unified(knobs, draw, files):
    heads, groups = draw.choice([(1, 1), (1, 4), (2, 2), (1, 5), (1, 10), (1, 16)])
    if knobs["BM"] < groups:
        heads, groups = 1, 4
    for lengths in lengths_of(knobs, draw, knobs["BM"] // groups):
        keys = [length if draw.random() < 0.6 else draw.randint(1, 2 * knobs["BN"] + 3) for length in lengths]
        size = draw.choice([16, 16, 8])
        pages = (max(keys) + size - 1) // size + draw.randint(0, 2)
        pages = max(1, pages)
        spare = 3
        order = list(range(pages * len(lengths) + spare))
        draw.shuffle(order)
        dims = {
            "HQ": heads * groups,
            "HK": heads,
            "D": draw.choice([8, 40, 64, 72, 80, 128, 192, 256]),
            "BS": size,
        }
        inputs = {
            "cu_seqlens_q": files(prefix(lengths)),
            "seqused_k": files(keys),
            "block_table": files(order[: pages * len(lengths)]),
        }
        sizes = {"S": sum(lengths), "N": len(lengths), "MB": pages, "NB": len(order)}
        yield sizes, dims, inputs, ["--values", "normal"]


PRODUCTS = os.path.join(HERE, "sweep_products.atx")
KERNELS = {
    "product_nt": (PRODUCTS, plain, {}),
    "product_nn": (PRODUCTS, plain, {}),
    "product_tn": (PRODUCTS, plain, {}),
    "product_tt": (PRODUCTS, plain, {}),
    "product_batched": (PRODUCTS, batched, {}),
    "linear_sigmoid_mul": (os.path.join(BENCH, "linear_sigmoid_mul.atx"), linear, {}),
    "block_scaled_mm": (os.path.join(BENCH, "block_scaled_mm.atx"), scaled, {"N": 128, "K": 128}),
    "attention_forward": (os.path.join(BENCH, "attention_forward.atx"), forward, {"H": 1, "D": 64}),
    "unified_attention": (os.path.join(BENCH, "unified_attention.atx"), unified, {"HQ": 1, "HK": 1, "D": 64, "BS": 16}),
}


def tool(name):
    first = os.environ.get("ATREX_TEST_TOOLS", "").split(os.pathsep)[0]
    return os.path.join(first, name) if first else name


def join(values):
    return ",".join("%s=%s" % item for item in values.items())


def get_choices(source, op, dims, arch):
    """Every choice of knobs that the front end accepts."""
    command = [tool("atrex-compile"), source, "--op", op, "--arch", arch, "--emit-space"]
    if dims:
        command += ["--dim", join(dims)]
    space = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    names = [knob["name"] for knob in space["knobs"]]
    excluded = {tuple(entry["knobs"][name] for name in names) for entry in space["excluded"]}
    for values in itertools.product(*(knob["domain"] for knob in space["knobs"])):
        if values not in excluded:
            yield dict(zip(names, values))


def run(job):
    source, op, arch, knobs, (sizes, dims, inputs, more) = job
    command = [tool("atrex-interpret"), source, "--op", op, "--arch", arch, "--compare", "--check", "all"]
    command += ["--knob", join(knobs), "--size", join(sizes)]
    if dims:
        command += ["--dim", join(dims)]
    for name, file in inputs.items():
        command += ["--in", "%s=%s" % (name, file)]
    command += more
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return "passed", "", command
    refused = ("shared memory" in done.stdout or "registers" in done.stdout) and "differ" not in done.stdout
    return "refused" if refused else "failed", done.stdout, command


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("kernels", nargs="*")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(arguments.jobs) as pool:
        written = {}

        def files(numbers):
            key = tuple(numbers)
            if key not in written:
                written[key] = os.path.join(directory, "%d.bin" % len(written))
                with open(written[key], "wb") as file:
                    file.write(array.array("i", numbers).tobytes())
            return written[key]

        for op in arguments.kernels or KERNELS:
            source, extents, dims = KERNELS[op]
            draw = random.Random("%s/%d" % (op, arguments.seed))
            jobs = []
            choices = list(get_choices(source, op, dims, arguments.arch))
            if arguments.sample:
                choices = draw.sample(choices, min(arguments.sample, len(choices)))
            for knobs in choices:
                sets = list(extents(knobs, draw, files))
                if arguments.sample:
                    sets = [draw.choice(sets)]
                jobs += [(source, op, arguments.arch, knobs, one) for one in sets]
            counts = {"passed": 0, "failed": 0, "refused": 0}
            for kind, output, command in pool.map(run, jobs):
                counts[kind] += 1
                if kind != "passed":
                    print("%s: %s\n%s" % (kind, " ".join(command), output.strip()[:1500]))
            failures += counts["failed"]
            print("%s: %d passed, %d failed, %d refused" % (op, counts["passed"], counts["failed"], counts["refused"]))
            sys.stdout.flush()
    return 1 if failures else 0


sys.exit(main())
