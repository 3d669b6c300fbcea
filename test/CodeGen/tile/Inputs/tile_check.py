"""Compiles kernels of tile form, runs them on the embedded device, and compares every element.

tile_check.py FOLDER GROUP --arch gfx942 [--threads 64,256] [--only NAME]

A case is a kernel body in MLIR, its inputs and the values its outputs must have,
worked out here element by element. All cases of a group are compiled as one module.
"""
import argparse
import itertools
import math
import os
import random
import struct
import subprocess
import sys

FORMATS = {"i1": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f16": "e", "f32": "f", "f64": "d"}
SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
# exponent bits, mantissa bits, bias, has infinity, NaN is the code of -0
SMALL = {
    "f8E4M3FN": (4, 3, 7, False, False),
    "f8E4M3FNUZ": (4, 3, 8, False, True),
    "f8E5M2": (5, 2, 15, True, False),
    "f8E5M2FNUZ": (5, 2, 16, False, True),
}


def f32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bf16_bits(x):
    if math.isnan(x):
        return 0x7FC0
    bits = struct.unpack("<I", struct.pack("<f", f32(x)))[0]
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def bf16(x):
    return struct.unpack("<f", struct.pack("<I", bf16_bits(x) << 16))[0]


def f16(x):
    try:
        return struct.unpack("<e", struct.pack("<e", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def rounding(dtype):
    return {"f32": f32, "f16": f16, "bf16": bf16, "f64": float}[dtype]


def decode_small(code, dtype):
    exponent_bits, mantissa_bits, bias, has_inf, fnuz = SMALL[dtype]
    sign = -1.0 if code & 0x80 else 1.0
    if fnuz and code == 0x80:
        return math.nan
    exponent = (code & 0x7F) >> mantissa_bits
    mantissa = code & ((1 << mantissa_bits) - 1)
    if not fnuz and exponent == (1 << exponent_bits) - 1:
        if has_inf:
            return math.nan if mantissa else sign * math.inf
        if mantissa == (1 << mantissa_bits) - 1:
            return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


def encode_small(x, dtype, saturate):
    """The nearest code, ties to even, found among all finite magnitudes."""
    _, _, _, has_inf, fnuz = SMALL[dtype]
    nan = 0x80 if fnuz else 0x7F
    if math.isnan(x):
        return nan
    table = [(decode_small(c, dtype), c) for c in range(0x80)]
    finite = [(v, c) for v, c in table if math.isfinite(v)]
    sign = 0x80 if math.copysign(1.0, x) < 0 else 0
    magnitude = abs(x)
    top, top_code = finite[-1]
    step = top - finite[-2][0]
    # The next number there would be if the exponent went on.
    beyond = magnitude > top + step / 2 or (magnitude == top + step / 2 and top_code & 1)
    if beyond:
        if saturate:
            return top_code | sign
        return (0x7C | sign) if has_inf else (0x80 if fnuz else 0x7F | sign)
    best = min(finite, key=lambda vc: (abs(vc[0] - magnitude), vc[1] & 1))
    if best[1] == 0 and fnuz:
        return 0
    return best[1] | sign


def pack(values, dtype):
    if dtype in SMALL:
        return bytes(values)
    if dtype == "bf16":
        return struct.pack("<%dH" % len(values), *[bf16_bits(v) for v in values])
    if dtype == "i1":
        return bytes(1 if v else 0 for v in values)
    return struct.pack("<%d%s" % (len(values), FORMATS[dtype]), *values)


def unpack(data, dtype):
    if dtype in SMALL:
        return list(data)
    if dtype == "bf16":
        words = struct.unpack("<%dH" % (len(data) // 2), data)
        return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]
    return list(struct.unpack("<%d%s" % (len(data) // SIZES[dtype], FORMATS[dtype]), data))


def wrap(x, dtype):
    bits = SIZES[dtype] * 8
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def count(shape):
    return math.prod(shape)


def indices(shape):
    return itertools.product(*[range(e) for e in shape])


def ravel(index, shape):
    at = 0
    for i, e in zip(index, shape):
        at = at * e + i
    return at


class Case:
    """inputs: (name, shape, dtype, values); outputs: (name, shape, dtype, expected, tolerance).
    Expected values may be None: anything goes."""

    def __init__(self, name, body, inputs, outputs, threads=256, grid=(1, 1, 1), scalars=()):
        self.name, self.body, self.inputs, self.outputs = name, body, inputs, outputs
        self.threads, self.grid, self.scalars = threads, grid, scalars

    def text(self):
        args = []
        for name, shape, dtype, _ in self.inputs:
            args.append(self.argument(name, shape, dtype, False))
        for name, shape, dtype, _, _ in self.outputs:
            args.append(self.argument(name, shape, dtype, True))
        for name, dtype, _ in self.scalars:
            mlir = "index" if dtype == "dim" else dtype
            args.append('%%%s: %s {atx.name = "%s"}' % (name, mlir, name))
        grid = ", ".join('"%d"' % g for g in self.grid)
        return "func.func @%s(%s) attributes {atx.kernel, atx.grid = [%s], atx.threads = %d : i64} {\n%s\n  return\n}\n" % (
            self.name, ", ".join(args), grid, self.threads, self.body)

    @staticmethod
    def argument(name, shape, dtype, output):
        dims = "".join("%sx" % ("?" if isinstance(e, str) else e) for e in shape)
        extents = ", ".join('"%s"' % e for e in shape)
        return '%%%s: memref<%s%s> {atx.name = "%s", atx.shape = [%s]%s}' % (
            name, dims, dtype, name, extents, ", atx.output" if output else "")


def run(folder, cases, arch, options):
    with open(folder + "/cases.mlir", "w") as f:
        for case in cases:
            f.write(case.text())
    code = folder + "/cases.hsaco"
    done = subprocess.run(["atrex-compile", folder + "/cases.mlir", "--arch", arch, "-o", code] + options, capture_output=True,
                          text=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return 1
    failures = elements = 0
    for case in cases:
        command = ["atrex-sim", "run", code, "--kernel", case.name, "--check", "all", "--grid",
                   ",".join(map(str, case.grid)), "--block", "%d,1,1" % case.threads]
        extents = {name: value for name, dtype, value in case.scalars if dtype == "dim"}
        for name, _, dtype, values in case.inputs:
            path = "%s/%s.%s.in" % (folder, case.name, name)
            with open(path, "wb") as f:
                f.write(pack(values, dtype))
            command += ["--arg", "in:" + path]
        for name, shape, dtype, expected, tolerance in case.outputs:
            path = "%s/%s.%s.out" % (folder, case.name, name)
            start = None
            if isinstance(tolerance, tuple):
                start = tolerance[1]
            if start is not None:
                with open(path + ".in", "wb") as f:
                    f.write(pack(start, dtype))
                command += ["--arg", "inout:%s.in:%s" % (path, path)]
            else:
                size = SIZES[dtype] if dtype in SIZES else 1
                shape = [extents.get(e, e) for e in shape]
                command += ["--arg", "out:%d:%s" % (count(shape) * size, path)]
        for name, dtype, value in case.scalars:
            kind = "i64" if dtype in ("dim", "i64") else dtype
            command += ["--arg", "%s:%s" % (kind, value)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            failures += 1
            print("%s: %s\n%s" % (case.name, " ".join(command), (done.stdout + done.stderr)[:1500]))
            continue
        for name, shape, dtype, expected, tolerance in case.outputs:
            limit = tolerance[0] if isinstance(tolerance, tuple) else tolerance
            with open("%s/%s.%s.out" % (folder, case.name, name), "rb") as f:
                got = unpack(f.read(), dtype)
            wrong = 0
            if len(got) != len(expected):
                print("%s.%s: %d elements, wanted %d" % (case.name, name, len(got), len(expected)))
                failures += 1
                continue
            for at, (have, want) in enumerate(zip(got, expected)):
                if want is None:
                    continue
                elements += 1
                if dtype in SMALL:
                    good = have == want or (math.isnan(decode_small(have, dtype)) and math.isnan(decode_small(want, dtype)))
                elif isinstance(want, float) and math.isnan(want):
                    good = math.isnan(have)
                elif limit:
                    good = have == want or abs(have - want) <= limit * max(1.0, abs(want))
                else:
                    good = have == want and (not isinstance(want, float) or math.copysign(1, have) == math.copysign(1, want))
                if not good:
                    wrong += 1
                    if wrong <= 4:
                        print("%s.%s[%d] = %r, wanted %r" % (case.name, name, at, have, want))
            if wrong:
                failures += 1
                print("%s.%s: %d of %d elements differ" % (case.name, name, wrong, len(expected)))
    print("%s: %d cases, %d elements compared, %d failures" % (arch, len(cases), elements, failures))
    return 1 if failures or not elements else 0


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import tile_cases

    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("group")
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--only")
    parser.add_argument("--option", action="append", default=[])
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    cases = tile_cases.make(args.group, args.arch, random.Random(args.group))
    if args.only:
        cases = [c for c in cases if args.only in c.name]
    return run(args.folder, cases, args.arch, args.option)


if __name__ == "__main__":
    sys.modules["tile_check"] = sys.modules["__main__"]
    sys.exit(main())
