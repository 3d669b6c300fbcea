"""Every kernel of a source on the embedded device in several random orders, compared with the interpreter.

usage: order.py SOURCE
"""
import re
import subprocess
import sys

source = sys.argv[1]
with open(source, encoding="utf-8") as file:
    kernels = re.findall(r"^kernel (\w+)(\([^{]*)", file.read(), re.MULTILINE)
for kernel, signature in kernels:
    size = ["--size", "N=512"] if re.search(r"\bN\b", signature) else []
    for seed in (1, 2, 3):
        command = ["atrex-interpret", source, "--op", kernel, "--compare", "--check", "all", "--shuffle", str(seed),
                   "--values", "small-int"] + size
        # Waves that disagree about the end of a loop may never meet.
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or " 0 undetermined" not in done.stdout:
            sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
