"""Runs a launch plan of a product several times, workgroups in other orders, and compares what it writes bit by bit.

usage: repeat.py CODE_OBJECT MANIFEST SEED ...

All extents are constants. Inputs are floats of 16 bits from -1 to 1 with all their digits, so that another order of the sum
shows. Prints the hash of the outputs."""

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

code, manifest_name = sys.argv[1:3]
tools = os.environ.get("ATREX_TEST_TOOLS", "").split(os.pathsep)[0]
with open(manifest_name, encoding="utf-8") as file:
    manifest = json.load(file)
sizes = {"bf16": 2, "f16": 2, "f32": 4}


def count(shape):
    elements = 1
    for extent in shape:
        elements *= eval(extent.replace("cdiv", "lambda_cdiv"), {"lambda_cdiv": lambda a, b: -(-a // b)})
    return elements


def run(seed, directory):
    """Hash of the outputs."""
    draw = random.Random(1)
    memory = {}
    outputs = set()
    for kernel in manifest["kernels"]:
        command = [os.path.join(tools, "atrex-sim"), "run", code, "--kernel", kernel["name"], "--check", "all"]
        command += ["--shuffle", seed, "--block", "%d,1,1" % kernel["workgroup"][0]]
        command += ["--grid", ",".join(str(count([extent])) for extent in kernel["grid"])]
        for arg in kernel["args"]:
            if arg["kind"] != "tensor":
                sys.exit("argument '%s' is no tensor; make all extents constants" % arg["name"])
            name, elements = arg["name"], count(arg["shape"])
            path = os.path.join(directory, name)
            if name not in memory and not arg["output"] and not arg.get("workspace"):
                # bf16: upper half of a float.
                data = b"".join(struct.pack("<f", draw.uniform(-1, 1))[2:] for _ in range(elements))
                with open(path, "wb") as file:
                    file.write(data)
            if name in memory:
                command += ["--arg", "inout:%s:%s" % (path, path)]
            elif arg["output"] or arg.get("workspace"):
                command += ["--arg", "out:%d:%s" % (elements * sizes[arg["type"]], path)]
                outputs |= {name} if arg["output"] else set()
            else:
                command += ["--arg", "in:%s" % path]
            if arg["output"] or arg.get("workspace"):
                memory[name] = path
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("%s\n%s" % (" ".join(command), done.stdout))
    total = hashlib.sha256()
    for name in sorted(outputs):
        with open(os.path.join(directory, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:16]


hashes = []
for seed in sys.argv[3:]:
    with tempfile.TemporaryDirectory() as directory:
        hashes.append(run(seed, directory))
print(" ".join(hashes))
if len(set(hashes)) != 1:
    sys.exit("the runs differ")
