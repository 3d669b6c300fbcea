"""Executes every program of the language reference with the interpreter and on the embedded device.

usage: docs_run.py SOURCE

A program that has no entry in RUNS is an error, so that none is forgotten."""

import re
import subprocess
import sys

# Constants, sizes of the run, further options.
RUNS = {
    "rms_norm": ("H=40", "T=3", []),
    "accumulate": ("", "N=70", []),
    "clip": ("", "T=3,H=60,K=7", []),
    "halves": ("", "T=3,I=130", []),
    "quantize": ("", "T=5,H=48", ["--values", "normal"]),
    "grouped": ("", "T=2,H=16", []),
    "two_results": ("", "N=33", []),
    "constants": ("", "N=3,M=5", []),
    "average": ("", "T=3,H=20", []),
    "rounded_twice": ("", "N=50", ["--values", "normal"]),
    "functions": ("", "N=50", ["--values", "normal"]),
    "reductions": ("", "A=2,B=3,C=17", []),
    "selection": ("H=24", "T=9", ["--range", "id=0..20"]),
    "products": ("", "B=2,M=5,K=9,N=6", []),
    "normalize": ("", "T=3,H=12", []),
    "rearranged": ("", "T=3,H=8,M=5", ["--range", "ids=-1..3"]),
    "plan": ("", "T=5,H=70", []),
    "normalize_rows": ("N=300", "T=3", []),
    "copy_columns": ("", "T=3,S=80", []),
    "sums": ("", "T=6", ["--scalar", "n=5"]),
    "collatz": ("", "N=6", ["--range", "start=1..30"]),
    "gather_rows": ("", "V=9,N=20", ["--range", "index=-1..9"]),
    "count": ("", "N=1500", ["--range", "values=-2..17"]),
    "doubled": ("", "T=3", []),
    "statistics": ("", "T=11", []),
    "scale": ("", "N=200", []),
}


def main():
    source = sys.argv[1]
    names = re.findall(r"^(?:op|kernel) (\w+)", open(source).read(), re.M)
    if sorted(names) != sorted(RUNS):
        sys.exit("programs without a run: %s; runs without a program: %s"
                 % (sorted(set(names) - set(RUNS)), sorted(set(RUNS) - set(names))))
    for name in names:
        dims, sizes, options = RUNS[name]
        command = ["atrex-interpret", source, "--op", name, "--compare", "--check", "all"] + options
        command += (["--dim", dims] if dims else []) + (["--size", sizes] if sizes else [])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not re.search(r"^0 of [1-9]\d* elements differ$", done.stdout, re.M):
            sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
        print("%s: %s" % (name, done.stdout.splitlines()[0]))
    print("%d programs: 0 elements differ" % len(names))


main()
