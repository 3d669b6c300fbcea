"""Checks the loop with the most matrix cycles of a static report.

usage: limits.py REPORT.json LEAST_SHARE MOST_CONFLICT_CYCLES"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    kernel = json.load(file)["kernels"][0]
loop = max(kernel["loops"], key=lambda loop: loop["mfma_cycles"])
print("share %s, conflicts %s, scratch %s, waves %s" % (loop["mfma_share"], loop["lds_conflict_cycles"],
                                                      kernel["scratch_bytes"], kernel["occupancy_waves_per_simd"]))
if loop["mfma_cycles"] <= 0 or loop["mfma_share"] < float(sys.argv[2]):
    sys.exit("the share of the matrix unit is %s, below %s" % (loop["mfma_share"], sys.argv[2]))
if loop["lds_conflict_cycles"] is None or loop["lds_conflict_cycles"] > int(sys.argv[3]):
    sys.exit("%s cycles of shared memory are lost to conflicts" % loop["lds_conflict_cycles"])
if kernel["scratch_bytes"] != 0 or kernel["spills"] != 0:
    sys.exit("registers are spilled")
if kernel["occupancy_waves_per_simd"] < 2:
    sys.exit("less than two waves on a SIMD")
