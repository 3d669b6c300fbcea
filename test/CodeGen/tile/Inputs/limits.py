"""Checks the loop with the most matrix cycles of a static report, and the kernel that it is in.

usage: limits.py REPORT.json LEAST_SHARE MOST_CONFLICT_CYCLES [LEAST_WAVES_OF_A_SIMD]; conflicts of '-' are not looked at"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    kernels = json.load(file)["kernels"]
loop, kernel = max(((loop, kernel) for kernel in kernels for loop in kernel["loops"]), key=lambda pair: pair[0]["mfma_cycles"])
# The issue model watches a few trips: where waves are not aligned by barriers, it may see less than the busiest unit needs.
share = loop["mfma_cycles"] / max(loop["cycles"], loop["lower_bound_cycles"])
print("share %s, conflicts %s, scratch %s, waves %s" % (round(share, 4), loop["lds_conflict_cycles"],
                                                      kernel["scratch_bytes"], kernel["occupancy_waves_per_simd"]))
if loop["mfma_cycles"] <= 0 or share < float(sys.argv[2]):
    sys.exit("the share of the matrix unit is %s, below %s" % (round(share, 4), sys.argv[2]))
conflicts = loop["lds_conflict_cycles"]
if sys.argv[3] != "-" and (conflicts is None or conflicts > int(sys.argv[3])):
    sys.exit("%s cycles of shared memory are lost to conflicts" % loop["lds_conflict_cycles"])
if kernel["scratch_bytes"] != 0 or kernel["spills"] != 0:
    sys.exit("registers are spilled")
if kernel["occupancy_waves_per_simd"] < (int(sys.argv[4]) if len(sys.argv) > 4 else 2):
    sys.exit("too few waves on a SIMD")
