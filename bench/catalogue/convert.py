#!/usr/bin/env python3
# Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bench/catalogue/<operator>.json from a listing of the Atrex-Bench shapes.

  convert.py LISTING.json [OUTPUT_DIR]

LISTING.json is a list of the published shapes in the schema `atrex-mlir/catalogue/1`. The build does not run this
script and does not need the listing; it stays here so that everybody can see where each figure comes from. README.md
says what is changed on the way.
"""
import json
import os
import sys

# The published tensor types are wrong or vague in places; these are the types the references really use.
TYPES = {
    "block_scaled_mm": {"a": "e4m3fn", "b": "e4m3fn"},
    "fp8_blockscale_fused_moe": {"hidden_states": "e4m3fnuz", "w1": "e4m3fnuz", "w2": "e4m3fnuz", "out": "e4m3fnuz"},
    "fp8_dynamic_per_token_quant": {"q": "e4m3fnuz"},
    "fused_rmsnorm_quant": {"quantized": "e4m3fnuz"},
    "per_token_group_quant_fp8": {"quantized": "e4m3fnuz"},
    "unified_attention": {"out": "bf16"},
    "fused_qkv_rope": {n: "$dtype" for n in ("qkv", "qkv_bias", "q", "k", "v")},
    "paged_attention_decode": {n: "$dtype" for n in ("query", "k_cache", "v_cache", "out")},
    "fused_qk_rmsnorm": {n: "$dtype" for n in ("hidden_states", "q_weight", "k_weight", "out")},
}
EXTRA_INPUTS = {"layer_norm": {"weight": "bf16", "bias": "bf16"}}

# Quantities that depend on one random draw in the published figures. fused_moe: distinct (token, expert) pairs and live
# experts; moe_align_block_size: number of blocks.
PAIRS = [246, 524, 1264, 1924, 3724, 7871, 14389, 29596, 8, 18651, 32637, 63793, 123047, 199534, 357673, 4054, 7947,
         15916, 30658, 63732, 7699, 15324, 28841]
BLOCKS = {0: 8, 2: 128, 3: 128, 4: 186, 5: 292, 6: 573}


def realised(operator, shape):
    if operator == "fused_moe":
        return {"pairs": PAIRS[shape], "live_experts": 8 if shape <= 8 or shape >= 20 else 128}
    if operator == "moe_align_block_size":
        return {"blocks": BLOCKS[shape]}
    return None


def plain(params):
    """Constructor and input parameters share one name space; their values agree in all shapes."""
    return {(k[5:] if k.startswith("init.") else k): v for k, v in params.items() if v is not None}


def convert(entry):
    name = entry["name"]
    types = TYPES.get(name, {})
    defaults = plain(entry["defaults"])
    if name == "l2_norm":
        defaults.pop("dtype")  # never used: the operator is bf16
    head = {
        "schema": "atrex-mlir/bench-catalogue/1",
        "name": name,
        "id": entry["id"],
        "phase": entry["phase"],
        "importance": entry["importance"],
        "dtype": entry["dtype"],
        "inputs": [[n, types.get(n, t)] for n, t in {**entry["in"], **EXTRA_INPUTS.get(name, {})}.items()],
        "outputs": [[n, types.get(n, t)] for n, t in entry["out"].items()],
        "defaults": defaults,
    }
    shapes = []
    for s in entry["shapes"]:
        shape = {"id": s["i"], "params": plain(s["p"]), "flops": sum(s["flops"].values()),
                 "read_bytes": s["rd"], "write_bytes": s["wr"], "sol_ms": s["sol_ms"], "production_us": s["prod_us"]}
        if (r := realised(name, s["i"])) is not None:
            shape["realised"] = r
        shapes.append(shape)
    lines = ["  %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in head.items()]
    lines.append('  "shapes": [\n    ' + ",\n    ".join(json.dumps(s) for s in shapes) + "\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__)
        return 2
    out = argv[2] if len(argv) == 3 else os.path.dirname(os.path.abspath(__file__))
    with open(argv[1]) as handle:
        listing = json.load(handle)
    for entry in listing["operators"]:
        with open(os.path.join(out, entry["name"] + ".json"), "w", newline="\n") as handle:
            handle.write(convert(entry))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
