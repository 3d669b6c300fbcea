# usage: compare.py ARCH STEM [SEED]
#
# Compiles kernels.cl with clang for the device and with the host's OpenCL
# implementation (Debian: pocl-opencl-icd ocl-icd-opencl-dev opencl-headers), runs
# every kernel on both with the same data and compares all bits. Without an OpenCL
# implementation it says so and succeeds.

import os
import random
import re
import subprocess
import sys

os.environ["PATH"] = os.environ.get("ATREX_TEST_TOOLS", "") + os.pathsep + os.environ["PATH"]
arch, stem = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
here = os.path.dirname(os.path.abspath(__file__))
source = os.path.join(here, "kernels.cl")
with open(source) as f:
    names = re.findall(r"^KERNEL\((\w+)\)", f.read(), re.M)


def run(*command, ok=(0,)):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode not in ok:
        sys.exit(f"{' '.join(command)}\nfailed with {p.returncode}:\n{p.stdout[:2000]}")
    return p


host = stem + ".exe"
built = subprocess.run(["cc", "-w", "-O1", os.path.join(here, "host.c"), "-o", host, "-lOpenCL"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
if built.returncode:
    print("skipped: no OpenCL headers and loader to build against")
    sys.exit(0)
rng = random.Random(seed)
with open(stem + ".in", "wb") as f:
    f.write(bytes(rng.getrandbits(8) for _ in range(8192 * 4)))
if run(host, source, stem + ".in", stem, *names, ok=(0, 77)).returncode == 77:
    print("skipped: no OpenCL platform")
    sys.exit(0)
failed = 0
for level in ("-O0", "-O2"):
    run("clang", "-x", "cl", "-cl-std=CL2.0", level, "-w", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + arch, "-nogpulib",
        "-Xclang", "-cl-fp32-correctly-rounded-divide-sqrt", source, "-o", stem + ".co")
    for name in names:
        run("atrex-sim", "run", stem + ".co", "--kernel", name, "--grid", "8", "--block", "256", "--arg",
            f"in:{stem}.in", "--arg", f"out:16384:{stem}.{name}.device")
        a, b = (open(f"{stem}.{name}.{side}", "rb").read() for side in ("host", "device"))
        differ = [k for k in range(0, 16384, 4) if a[k:k + 4] != b[k:k + 4]]
        if differ:
            failed += 1
            k = differ[0]
            print(f"{arch} {level} {name}: {len(differ)} of 4096 words differ, first {k // 4}: host "
                  f"{int.from_bytes(a[k:k + 4], 'little'):#010x}, device {int.from_bytes(b[k:k + 4], 'little'):#010x}")
print(f"{arch}: {len(names)} kernels at -O0 and -O2, {failed} differ")
sys.exit(1 if failed else 0)
