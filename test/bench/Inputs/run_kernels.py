"""Runs the kernels of the bench that are no row operators.

usage: run_kernels.py ARCH shapes|DIRECTORY OF CASES

Prints `ok OPERATOR WHAT` for every run that passes and what the bench says about one that does not.
"""
import glob
import os
import subprocess
import sys

# Shapes that run in seconds on the embedded device.
SHAPES = {
    "attention_forward": "20",
    "block_scaled_mm": None,
    "causal_conv1d": "0",
    "chunk_delta_rule_output": None,
    "chunk_gated_delta_rule_state": None,
    "fp8_blockscale_fused_moe": None,
    "fp8_dynamic_per_token_quant": "0,10,18",
    "fused_moe": None,
    "fused_qk_rmsnorm": "0,1,3,4",
    "fused_qkv_rope": "0,1,2,3,5,6",
    "fused_rmsnorm_quant": "0",
    "gated_delta_rule_update": "8",
    "linear_sigmoid_mul": "5",
    "mla_decode_attention": "1",
    "moe_align_block_size": "0",
    "moe_count_and_sort": "0,1",
    "moe_topk_gating_softmax": "0,1",
    "mrope": "3",
    "paged_attention_decode": "3,5",
    "per_token_group_quant_fp8": "0,10",
    "reshape_and_cache": "0",
    "topk_filter": "0",
    "unified_attention": "3,15",
}


def bench(arguments, what):
    # The published check cannot be passed where the output overflows its own format.
    check = "strict,race,wait" if what.startswith("fp8_blockscale_fused_moe") else "both,race,wait"
    tools = os.environ.get("ATREX_TEST_TOOLS", "").split(os.pathsep)[0]
    done = subprocess.run(
        [os.path.join(tools, "atrex-bench-mlir"), "run", "--arch", arch, "--check", check, "--whole"] + arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        print("FAIL %s\n%s" % (what, done.stdout))
    else:
        print("ok %s" % what)


arch, where = sys.argv[1:3]
for op, shapes in SHAPES.items():
    if where != "shapes":
        for case in sorted(glob.glob(os.path.join(where, op, "*", ""))):
            bench(["--case", case], "%s %s" % (op, os.path.basename(case[:-1])))
    elif shapes:
        bench(["--op", op, "--shapes", shapes], "%s %s" % (op, shapes))
