"""Kernels under test/Language/kernels against stored cases of the operators that they compute.

usage: goldens.py KERNEL CASES SCRATCH-DIRECTORY

The cases were computed elsewhere; their format is `atrex-mlir/case/1` of docs/formats.md.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from device import *

KERNELS = os.path.join(os.path.dirname(__file__), "..", "kernels")
NAMES = {"int32": "i32", "fp32": "f32", "e4m3fnuz": "f8e4m3fnuz"}


def read(folder):
    """Parameters, inputs and outputs of a case, tensors as flat lists by name."""
    case = json.load(open(os.path.join(folder, "case.json")))
    tensors = {"in": {}, "out": {}}
    for t in case["tensors"]:
        data = open(os.path.join(folder, t["file"]), "rb").read()
        tensors[t["role"]][t["name"]] = unpack(NAMES.get(t["dtype"], t["dtype"]), data)
    return {**case["init"], **case["params"]}, tensors["in"], tensors["out"]


def paged_attention(cases):
    p, inputs, want = read(os.path.join(cases, "paged_attention_decode", "strict_ragged_n5_d128"))
    fixed = {"HQ": p["num_query_heads"], "HK": p["num_kv_heads"], "D": p["head_size"]}
    open_dims = {"S": p["num_seqs"], "MB": len(inputs["block_tables"]) // p["num_seqs"]}
    open_dims["NB"] = len(inputs["v_cache"]) // (fixed["HK"] * fixed["D"] * 16)
    given = {"query": "query", "key_cache": "k_cache", "value_cache": "v_cache", "table": "block_tables",
             "lengths": "seq_lens"}
    check = lambda out: check_close("out", out["out"], want["out"], 0.01, 0.01)
    return fixed, open_dims, {}, {ours: inputs[theirs] for ours, theirs in given.items()}, check


def counting_sort(cases):
    p, inputs, want = read(os.path.join(cases, "moe_count_and_sort", "strict_skewed_t60_k4_e16"))

    def check(out):
        for ours, theirs in (("sorted", "sorted_token_ids"), ("counts", "expert_token_counts"), ("offsets", "cumsum")):
            check_equal(ours, out[ours], want[theirs])

    return {"K": p["top_k"], "E": p["num_experts"]}, {"T": p["token_count"]}, {}, {"ids": inputs["topk_ids"]}, check


def chunk_state(cases):
    p, inputs, want = read(os.path.join(cases, "chunk_gated_delta_rule_state", "strict_b2_t70_h2"))
    fixed = {"H": p["num_v_heads"], "HK": p["num_k_heads"], "K": p["key_dim"], "V": p["value_dim"]}
    index = inputs["initial_state_indices"]
    given = {"k": "k", "w": "w", "u": "u", "g": "g", "initial": "initial_state", "index": "initial_state_indices"}

    def check(out):
        check_close("states", out["states"], want["h"], 0.02, 0.02)
        check_close("v_new", out["v_new"], want["v_new"], 0.02, 0.02)
        # The other states are not written.
        size = fixed["H"] * fixed["K"] * fixed["V"]
        for row in index:
            part = slice(row * size, (row + 1) * size)
            check_close("final", out["final"][part], want["final_state"][part], 0.02, 0.02)

    return (fixed, {"B": p["batch_size"], "T": p["token_count"], "S": p["state_count"]}, {},
            {ours: inputs[theirs] for ours, theirs in given.items()}, check)


def causal_conv(cases):
    p, inputs, want = read(os.path.join(cases, "causal_conv1d", "upstream_t50_d96"))
    given = {"x": "x", "weight": "weight", "bias": "bias", "state": "initial_state"}
    check = lambda out: check_close("out", out["out"], want["out"], 0.01, 1e-4)
    return ({}, {"D": p["dim"], "T": p["token_count"]}, {}, {ours: inputs[theirs] for ours, theirs in given.items()},
            check)


def rotary(cases):
    p, inputs, want = read(os.path.join(cases, "fused_qkv_rope", "strict_bias_rope64_t7"))

    def check(out):
        for name in "qkv":
            check_close(name, out[name], want[name], 0.01, 5e-3)

    return ({"HQ": p["num_heads"], "HK": p["num_kv_heads"], "D": p["head_dim"]}, {"T": p["total_tokens"]},
            {"R": p["rope_dim"]}, {"qkv": inputs["qkv"], "positions": inputs["positions"], "bias": inputs["qkv_bias"]},
            check)


def group_quant(cases):
    p, inputs, want = read(os.path.join(cases, "per_token_group_quant_fp8", "strict_t3_h1152"))

    def check(out):
        check_equal("scales", out["scales"], want["scales"])
        check_equal("quantized", out["quantized"], want["quantized"])

    return {"H": p["hidden_size"]}, {"T": p["token_count"]}, {}, {"x": inputs["x"]}, check


kernel, cases, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
fixed, open_dims, knobs, inputs, check = globals()[kernel](cases)
code = os.path.join(scratch, kernel + ".hsaco")
compile_kernel(os.path.join(KERNELS, kernel + ".atx"), code, "gfx942", fixed, knobs)
check(run(code, inputs, open_dims, scratch))
