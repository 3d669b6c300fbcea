# usage: run.py CHIP TABLE STEM [SEEDS]
#
# Executes the instructions of one table on the device and compares every
# register with the table's definition. STEM names the files it writes.

import sys

import harness
import scalar
import valu

chip, name, stem = sys.argv[1:4]
failed = 0
for seed in range(1, (int(sys.argv[4]) if len(sys.argv) > 4 else 1) + 1):
    if name == "salu":
        count, bad = scalar.run_salu(chip, stem, seed)
    elif name == "lds":
        count, bad = scalar.run_lds(chip, stem, seed)
    else:
        cases = valu.tables(chip)[name]
        count, bad = len(cases), harness.run(chip, cases, stem, seed)
    failed += bad
print(f"{chip} {name}: {count} cases, {failed} failed")
sys.exit(1 if failed else 0)
