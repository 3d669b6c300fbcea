"""Compiles every kernel of a source for large extents and checks that its product is staged and on the matrix unit.

usage: product_forms.py SOURCE ARCH"""

import json
import os
import subprocess
import sys
import tempfile

source, arch = sys.argv[1:]
tools = os.environ.get("ATREX_TEST_TOOLS", "").split(os.pathsep)[0]
more = {"grouped": ",T=128,E=8", "batched": ",B=4", "gathered": ",R=4096", "scattered": ",R=4096"}
kernels = ["batched", "grouped", "activated", "gated", "quantised", "dequantised", "gathered", "scattered", "added"]
failed = False
with tempfile.TemporaryDirectory() as directory:
    for name in kernels:
        command = [os.path.join(tools, "atrex-compile"), source, "--arch", arch, "--op", name]
        command += ["--dim", "M=4096,N=4096,K=4096" + more.get(name, ""), "--report=json"]
        command += ["-o", os.path.join(directory, "code")]
        kernel = json.loads(subprocess.run(command, stderr=subprocess.PIPE, check=True, text=True).stderr)["kernels"][0]
        loop = max(kernel["loops"], key=lambda loop: loop["mfma_cycles"])
        faults = []
        if kernel["scratch_bytes"] or kernel["spills"]:
            faults.append("scratch memory")
        if not loop["mfma_cycles"]:
            faults.append("no matrix instructions")
        if not kernel["lds_bytes"] or not loop["lds_cycles"]:
            faults.append("not staged")
        if loop["lds_conflict_cycles"]:
            faults.append("conflicts")
        # A row of a tile is 32 or 64 bytes: 16 bytes a load.
        if loop["vmem_issue_cycles"] > loop["mfma_cycles"]:
            faults.append("narrow loads")
        print("%s %s: %s" % (arch, name, ", ".join(faults) or "staged"))
        failed |= bool(faults)
sys.exit(failed)
