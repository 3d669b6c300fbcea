"""Runs one launch of a compiled kernel on the embedded device, from a manifest and plain Python lists.

Tensors are flat lists of Python numbers in row-major order; packing to and from the element types of the language is done
here, independently of the compiler. bf16 and 8-bit floats round to nearest even.
"""
import json
import math
import os
import re
import struct
import subprocess
import sys


def f32(x):
    """x rounded to binary32."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def to_bf16(x):
    """Bits of x, rounded once from binary64 by way of the exact distance to its neighbours."""
    bits = struct.unpack("<I", struct.pack("<f", f32(x)))[0]
    if math.isnan(x):
        return 0x7FC0
    low = bits >> 16
    if bits & 0xFFFF == 0 and f32(x) == x:
        return low
    # Two candidates around x; binary64 decides, so that rounding to binary32 first does no harm.
    best = None
    for candidate in (low - 1 if low & 0x7FFF else low, low, low + 1):
        value = from_bf16(candidate)
        if math.isnan(value):
            continue
        if math.isinf(value):
            value = math.copysign(2.0**128, value)
        error = abs(value - x)
        key = (error, candidate & 1)
        if best is None or key < best[0]:
            best = (key, candidate)
    return best[1]


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def round_bf16(x):
    return from_bf16(to_bf16(x))


def from_fnuz(code):
    """Value of an e4m3fnuz code."""
    if code == 0x80:
        return math.nan
    sign = -1.0 if code & 0x80 else 1.0
    e, m = code >> 3 & 15, code & 7
    return sign * (m * 2.0**-10 if e == 0 else (8 + m) * 2.0 ** (e - 11))


FNUZ = sorted((from_fnuz(c), c) for c in range(256) if c != 0x80)


def to_fnuz(x):
    """Nearest e4m3fnuz code, ties to even; NaN beyond the range."""
    if math.isnan(x) or abs(x) >= 248:
        return 0x80
    code = min(FNUZ, key=lambda item: (abs(item[0] - x), item[1] & 1))[1]
    return 0 if from_fnuz(code) == 0 else code


SIZES = {"bf16": 2, "f32": 4, "f64": 8, "i32": 4, "u32": 4, "i64": 8, "f8e4m3fnuz": 1}
FORMATS = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "i64": "q"}


def pack(type, values):
    if type == "bf16":
        return struct.pack("<%dH" % len(values), *map(to_bf16, values))
    if type == "f8e4m3fnuz":
        return bytes(map(to_fnuz, values))
    return struct.pack("<%d%s" % (len(values), FORMATS[type]), *values)


def unpack(type, data):
    count = len(data) // SIZES[type]
    if type == "bf16":
        return [from_bf16(b) for b in struct.unpack("<%dH" % count, data)]
    if type == "f8e4m3fnuz":
        return list(data)
    return list(struct.unpack("<%d%s" % (count, FORMATS[type]), data))


def evaluate(text, dims):
    """A dimension expression of a manifest."""
    names = dict(dims)
    names["cdiv"] = lambda a, b: -(-a // b)
    return eval(re.sub(r"/", "//", str(text)), {"__builtins__": {}}, names)


def tool(name):
    for directory in os.environ.get("ATREX_TEST_TOOLS", "").split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return path
    return name


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\nfailed with exit code %d:\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def compile_kernel(source, output, arch, dims=(), knobs=(), op=None, extra=()):
    command = [tool("atrex-compile"), source, "--arch", arch, "-o", output] + list(extra)
    for name, value in dict(dims).items():
        command += ["--dim", "%s=%d" % (name, value)]
    for name, value in dict(knobs).items():
        command += ["--knob", "%s=%s" % (name, value)]
    if op:
        command += ["--op", op]
    call(command)


def run(output, inputs, dims, scratch, scalars=None, options=()):
    """Launches all kernels of `output` in order. `inputs`: flat lists by name; `dims`: all dimensions by name. Returns the
    results by name. What no kernel writes reads as the byte pattern 0xFF."""
    manifest = json.load(open(output + ".json"))
    dims = dict(dims, **manifest["constants"])
    buffers = {}
    for kernel in manifest["kernels"]:
        command = [tool("atrex-sim"), "run", output, "--kernel", kernel["name"], "--jobs", "1"] + list(options)
        command += ["--grid", ",".join(str(evaluate(e, dims)) for e in kernel["grid"])]
        command += ["--block", ",".join(map(str, kernel["workgroup"]))]
        written = []
        for arg in kernel["args"]:
            name = arg["name"]
            if arg["kind"] == "dim":
                command += ["--arg", "i64:%d" % dims[name]]
                continue
            if arg["kind"] == "scalar":
                value = (scalars or {}).get(name, arg.get("default"))
                command += ["--arg", "%s:%s" % (arg["type"], repr(value))]
                continue
            count = 1
            for extent in arg["shape"]:
                count *= evaluate(extent, dims)
            key = ("out " if arg["output"] else "in ") + name
            path = os.path.join(scratch, key.replace(" ", "_") + ".bin")
            if key not in buffers:
                if arg["output"]:
                    data = b"\xff" * (count * SIZES[arg["type"]])
                else:
                    data = pack(arg["type"], inputs[name])
                    if len(data) != count * SIZES[arg["type"]]:
                        sys.exit("input '%s' has %d elements, the kernel takes %d" % (name, len(inputs[name]), count))
                open(path, "wb").write(data)
                buffers[key] = (path, arg["type"])
            if arg["output"]:
                command += ["--arg", "inout:%s:%s" % (path, path + ".new")]
                written.append(path)
            else:
                command += ["--arg", "in:" + path]
        text = call(command)
        if "finding" in text:
            sys.exit("%s\n%s" % (" ".join(command), text))
        for path in written:
            os.replace(path + ".new", path)
    return {
        key[4:]: unpack(type, open(path, "rb").read())
        for key, (path, type) in buffers.items()
        if key.startswith("out ")
    }


def compare_with_interpreter(source, manifest, inputs, dims, constants, knobs, scratch, arch):
    """Executes the program step by step on the host, from the same inputs, and compares with the device element by
    element."""
    command = [tool("atrex-interpret"), source, "--compare", "--arch", arch]
    for flag, values in (("--dim", constants), ("--size", dims), ("--knob", knobs)):
        for name, value in values.items():
            command += [flag, "%s=%s" % (name, value)]
    for kernel in manifest["kernels"]:
        for arg in kernel["args"]:
            if arg["kind"] == "tensor" and not arg["output"]:
                path = os.path.join(scratch, "interpret_%s.bin" % arg["name"])
                open(path, "wb").write(pack(arg["type"], inputs[arg["name"]]))
                command += ["--in", "%s=%s" % (arg["name"], path)]
    call(command)


def check_close(name, got, want, relative, absolute=0.0):
    """Every element within relative * |want| + absolute of `want`; NaN never is."""
    if len(got) != len(want):
        sys.exit("'%s' has %d elements, expected %d" % (name, len(got), len(want)))
    for i, (a, b) in enumerate(zip(got, want)):
        if not (a == b or abs(a - b) <= relative * abs(b) + absolute):
            sys.exit("'%s'[%d] is %r, expected %r" % (name, i, a, b))


def check_equal(name, got, want):
    if list(got) != list(want):
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        sys.exit("'%s' differs first at %d: %r, expected %r" % (name, at, got[at : at + 4], list(want)[at : at + 4]))


def check_share(name, got, want, share):
    """At least `share` of the elements equal `want` rounded to bf16: tells roundings on the way from none."""
    equal = sum(a == round_bf16(b) for a, b in zip(got, want)) / len(want)
    if equal < share:
        sys.exit("only %.3f of the elements of '%s' are the rounded expectation, not %.3f" % (equal, name, share))
