"""Runs operators of the kernel language on the embedded device.

run(source, dims, inputs, scalars) compiles a text for an architecture, executes
the launches of its manifest one after the other with atrex-sim under every
check, and gives the results as flat lists of Python numbers. Memory between
launches and results is filled with 0xFF first.

Environment: ATREX_COMPILE, ATREX_SIM, ATREX_ARCH, ATREX_TMP.
"""

import json
import math
import os
import re
import struct
import subprocess

ARCH = os.environ.get("ATREX_ARCH", "gfx942")
TMP = os.environ.get("ATREX_TMP", ".")
FORMATS = {"f64": "d", "f32": "f", "f16": "e", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B", "u32": "I",
           "i1": "B", "f8e4m3fn": "B", "f8e4m3fnuz": "B", "f8e5m2": "B", "f8e5m2fnuz": "B"}
# Elements without gaps, the first in the low bits.
PACKED = {"f4e2m1fn": 4, "f6e2m3fn": 6, "f6e3m2fn": 6}
count = 0


def to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0x7FC0
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def f32(value):
    """Rounded to f32; overflow gives infinity."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bf16(value):
    return from_bf16(to_bf16(f32(value)))


def f16(value):
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def pack(type_name, values):
    if type_name in PACKED:
        number = sum(code << (PACKED[type_name] * i) for i, code in enumerate(values))
        return number.to_bytes(size_of(type_name, len(values)), "little")
    if type_name == "bf16":
        return struct.pack("<%dH" % len(values), *map(to_bf16, values))
    return struct.pack("<%d%s" % (len(values), FORMATS[type_name]), *values)


def size_of(type_name, elements):
    """Bytes in memory."""
    if type_name in PACKED:
        return (elements * PACKED[type_name] + 7) // 8
    return elements * (2 if type_name == "bf16" else struct.calcsize(FORMATS[type_name]))


def unpack(type_name, data):
    if type_name in PACKED:
        bits, number = PACKED[type_name], int.from_bytes(data, "little")
        return [(number >> (bits * i)) & ((1 << bits) - 1) for i in range(len(data) * 8 // bits)]
    if type_name == "bf16":
        return [from_bf16(v) for v in struct.unpack("<%dH" % (len(data) // 2), data)]
    size = struct.calcsize(FORMATS[type_name])
    return list(struct.unpack("<%d%s" % (len(data) // size, FORMATS[type_name]), data))


def evaluate(expression, dims):
    text = re.sub(r"(?<!/)/(?!/)", "//", str(expression))
    return eval(text, {"cdiv": lambda a, b: -(-a // b)}, dict(dims))


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return done.stdout


def run(source, dims, inputs, scalars={}, fixed=None, options=(), shapes=None):
    """`dims` are all dimensions; those named in `fixed` (default: none) are compile-time constants. `shapes` are
    those of inputs that have strides."""
    given = shapes or {}
    global count
    count += 1
    base = os.path.join(TMP, "case%d.%s" % (count, ARCH))
    with open(base + ".atx", "w", encoding="utf-8") as file:
        file.write(source)
    command = [os.environ.get("ATREX_COMPILE", "atrex-compile"), base + ".atx", "--arch", ARCH, "-o", base + ".hsaco"]
    for name in fixed or ():
        command += ["--dim", "%s=%d" % (name, dims[name])]
    call(command + list(options))
    with open(base + ".hsaco.json", encoding="utf-8") as file:
        manifest = json.load(file)

    buffers, types, shapes = {}, {}, {}
    for kernel in manifest["kernels"]:
        for arg in kernel["args"]:
            if arg["kind"] != "tensor":
                continue
            key = (arg["name"], arg["output"])
            shape = given.get(arg["name"]) or [evaluate(extent, dims) for extent in arg["shape"]]
            elements = math.prod(shape)
            types[key], shapes[key] = arg["type"], shape
            if key in buffers:
                continue
            if arg["output"] or arg.get("workspace"):
                buffers[key] = b"\xff" * size_of(arg["type"], elements)
            else:
                assert len(inputs[arg["name"]]) == elements, (arg["name"], len(inputs[arg["name"]]), elements)
                buffers[key] = pack(arg["type"], inputs[arg["name"]])
    for kernel in manifest["kernels"]:
        command = [os.environ.get("ATREX_SIM", "atrex-sim"), "run", base + ".hsaco", "--kernel", kernel["name"],
                   "--check", "all", "--shuffle", "7",
                   "--grid", ",".join(str(evaluate(extent, dims)) for extent in kernel["grid"]),
                   "--block", ",".join(map(str, kernel["workgroup"]))]
        written = {}
        for index, arg in enumerate(kernel["args"]):
            if arg["kind"] == "tensor":
                key = (arg["name"], arg["output"])
                path = "%s.arg%d" % (base, index)
                with open(path, "wb") as file:
                    file.write(buffers[key])
                if arg["output"] or arg.get("workspace"):
                    written[key] = path + ".out"
                    command += ["--arg", "inout:%s:%s.out" % (path, path)]
                else:
                    command += ["--arg", "in:" + path]
            elif arg["kind"] == "dim":
                command += ["--arg", "i64:%d" % evaluate(arg.get("value", arg["name"]), dims)]
            else:
                # A constant of a plan is not the caller's.
                value = arg["value"] if "value" in arg else scalars.get(arg["name"], arg.get("default"))
                command += ["--arg", "%s:%s" % (arg["type"], repr(value))]
        call(command)
        for key, path in written.items():
            with open(path, "rb") as file:
                buffers[key] = file.read()
    return {name: unpack(types[(name, output)], data)
            for (name, output), data in buffers.items() if output}


def same(got, expected, ulps=0, relative=0.0, absolute=0.0):
    """Equal, or as close as stated. NaN equals NaN; zeros of either sign are equal."""
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(got)
    if got == expected:
        return True
    if isinstance(expected, float) and math.isinf(expected) or math.isnan(got) or math.isinf(got):
        return False
    if abs(got - expected) <= max(absolute, relative * abs(expected)):
        return True
    if not ulps:
        return False
    exponent = max(-126, math.frexp(expected)[1] - 1) if expected else -126
    return abs(got - expected) <= ulps * 2.0 ** (exponent - 23)


def check(name, got, expected, **tolerance):
    assert len(got) == len(expected), "%s: %d elements, expected %d" % (name, len(got), len(expected))
    for index, (g, e) in enumerate(zip(got, expected)):
        if not same(g, e, **tolerance):
            raise SystemExit("%s: element %d is %r, expected %r" % (name, index, g, e))
