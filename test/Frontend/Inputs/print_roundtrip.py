"""Prints kernels back from MLIR and interprets source and print: both must give
the same bytes and bounds.

    print_roundtrip.py SOURCE_ROOT SCRATCH GROUP

GROUP is `language`, `tiles` (bench kernels in kernel form), `operators` or `plans`."""

import os
import subprocess
import sys

# File, program, constants, knobs, sizes of the run, further options of the interpreter.
LANGUAGE = [
    ("causal_conv", "causal_conv", "D=20", "BD=8,BT=32", "T=40", []),
    ("chunk_state", "chunk_state", "B=1,HK=1,H=2,K=16,V=16", "BV=16", "T=70,S=3", ["--range", "index=-1..2"]),
    ("counting_sort", "counting_sort", "E=8,K=2", "", "T=150", ["--range", "ids=-1..8"]),
    ("decode", "decode", "HQ=4,HK=2,D=16", "", "S=2,NB=6,MB=3", ["--range", "table=0..5", "--range", "len=0..48"]),
    ("group_quant", "group_quant", "H=256", "", "T=5", []),
    ("grouped_gemm", "grouped_gemm", "K=2,N=32,H=32", "BN=32",
     "MT=3,P=48,E=3,T=10", ["--range", "sorted=0..24", "--range", "experts=0..2", "--range", "tiles=2..3"]),
    ("online_softmax", "online_softmax", "", "", "T=3,N=300", []),
    ("paged_attention", "paged_attention", "HQ=4,HK=2,D=16", "",
     "S=2,NB=6,MB=3", ["--range", "table=0..5", "--range", "lengths=0..48"]),
    ("rotary", "rotary", "HQ=2,HK=1,D=32", "", "T=3", ["--range", "positions=0..100"]),
]
TILES = [
    ("attention_forward", "", "H=2,D=16", "BM=16,BN=16", "S=20,N=2",
     ["--range", "cu_seqlens_q=0..20", "--range", "cu_seqlens_k=0..20"]),
    ("block_scaled_mm", "block_scaled_mm", "K=128,N=128", "BM=16,BN=32", "M=5", []),
    ("causal_conv1d", "", "D=6,W=4", "", "T=70", []),
    ("chunk_delta_rule_output", "", "B=1,HK=1,H=2,K=16,V=32", "BV=32", "T=70,NC=2", []),
    ("chunk_gated_delta_rule_state", "", "B=1,HK=1,H=2,K=16,V=16", "BV=16", "T=70,NC=2,NS=3",
     ["--range", "initial_state_indices=-1..2"]),
    ("fp8_dynamic_per_token_quant", "", "H=64", "", "T=3", []),
    ("fused_qk_rmsnorm", "", "HQ=2,HK=1,D=32", "", "T=3", []),
    ("fused_qkv_rope", "fused_qkv_rope", "HQ=2,HK=1,D=32,R=16", "", "T=3", ["--range", "positions=0..100"]),
    ("fused_qkv_rope", "fused_qkv_rope_bias", "HQ=2,HK=1,D=32,R=16", "", "T=3", ["--range", "positions=0..100"]),
    ("fused_rmsnorm_quant", "", "H=128", "", "T=3", []),
    ("gated_delta_rule_update", "gated_delta_rule_update", "B=1,HK=1,H=2,K=16,V=16", "BV=16", "T=5,NS=3",
     ["--range", "initial_state_indices=-1..2"]),
    ("gated_delta_rule_update", "gated_delta_rule_update_chunks", "B=1,HK=1,H=2,K=16,V=16", "BV=16", "T=37,NS=3",
     ["--range", "initial_state_indices=-1..2"]),
    ("linear_sigmoid_mul", "", "H=64,O=32", "BM=16,BN=32,BK=32", "T=5", []),
    ("mla_decode_attention", "mla_decode_attention", "H=16,D=32,L=16", "", "B=2,S=40", ["--range", "seq_lens=0..20"]),
    ("moe_align_block_size", "", "E=8,TOPK=2,BLOCK=16", "", "T=60", ["--range", "topk_ids=0..7"]),
    ("moe_count_and_sort", "", "E=8,TOPK=2", "", "T=150", ["--range", "topk_ids=0..7"]),
    ("moe_topk_gating_softmax", "", "E=32,K=4", "", "T=6", []),
    ("mrope", "", "HQ=2,HK=1,D=32", "", "T=3", []),
    ("paged_attention_decode", "paged_attention_decode", "HQ=4,HK=2,D=16,BS=16", "", "N=2,NB=6,MB=3",
     ["--range", "block_tables=0..5", "--range", "seq_lens=0..48"]),
    ("per_token_group_quant_fp8", "", "H=256", "", "T=3", []),
    ("reshape_and_cache", "", "H=2,D=16,BS=16", "", "T=20,NB=3", ["--range", "slot_mapping=-1..47"]),
    ("topk_filter", "", "K=5", "BN=256", "R=2,V=300", []),
    ("unified_attention", "unified_attention", "HQ=4,HK=2,D=16,BS=16", "BM=16,BN=16", "S=10,NB=6,N=2,MB=3",
     ["--range", "cu_seqlens_q=0..10", "--range", "seqused_k=1..40", "--range", "block_table=0..5"]),
]
OPERATORS = [
    ("fused_add_rms_norm", "", "H=96", "", "T=3", []),
    ("gated_rms_norm", "", "H=128", "", "N=3", []),
    ("l2_norm", "", "H=64", "", "T=3", []),
    ("layer_norm", "", "D=96", "", "N=3", []),
    ("layer_norm", "", "", "", "N=3,D=40", []),
    ("moe_sum_reduce", "", "K=4,H=32", "", "T=3", []),
    ("rms_norm", "", "H=64", "", "T=3", []),
    ("rms_norm", "", "", "", "T=3,H=24", []),
    ("silu_and_mul", "", "I=32", "", "T=3", []),
    ("silu_and_mul", "", "", "", "T=3,I=24", []),
]
PLANS = [
    ("block_scaled_mm", "block_scaled_mm_recoded", "K=128,N=128", "BM=16,BN=32,W=1", "M=5", []),
    ("fused_moe", "fused_moe", "H=32,I=16,E=4,TOPK=2", "", "T=5", ["--range", "topk_ids=0..3"]),
    ("fused_moe", "fused_moe", "T=5,H=32,I=16,E=4,TOPK=2", "", "", ["--range", "topk_ids=0..3"]),
    ("fp8_blockscale_fused_moe", "fp8_blockscale_fused_moe", "H=128,I=128,E=4,TOPK=2", "", "T=3",
     ["--range", "topk_ids=0..3"]),
    ("mla_decode_attention", "mla_decode_attention_split", "H=16,D=32,L=16", "", "B=2,S=40", ["--range", "seq_lens=0..20"]),
    ("paged_attention_decode", "paged_attention_decode_split", "HQ=4,HK=2,D=16,BS=16", "", "N=2,NB=6,MB=3",
     ["--range", "block_tables=0..5", "--range", "seq_lens=0..48"]),
    ("language", "plan", "", "", "T=5,H=70", []),
    ("language", "plan", "H=70", "", "T=5", ["--scalar", "s=3"]),
    ("language", "counted", "", "", "N=1000,M=3,K=2", ["--range", "c=3..3"]),
    ("language", "wide", "", "", "T=4", []),
]
GROUPS = {
    "language": ("test/Language/kernels", LANGUAGE),
    "tiles": ("bench/kernels", TILES),
    "operators": ("bench/kernels", OPERATORS),
    "plans": ("bench/kernels", PLANS),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\nfailed with %d:\n%s" % (" ".join(command), done.returncode, done.stderr[:4000]))
    return done.stdout


def main():
    root, scratch, group = sys.argv[1:4]
    only = sys.argv[4:]
    folder, cases = GROUPS[group]
    os.makedirs(scratch, exist_ok=True)
    for index, (file, program, dims, knobs, sizes, options) in enumerate(cases):
        if only and file not in only:
            continue
        # Plans that are no kernels of the bench.
        where = os.path.join("test", "Interpreter", "Inputs", "plans") if file == "language" else \
            os.path.join(folder, file)
        source = os.path.join(root, where + ".atx")
        printed = os.path.join(scratch, "%s-%d.atx" % (file, index))
        select = ["--op", program] if program else []
        constants = (["--dim", dims] if dims else []) + (["--knob", knobs] if knobs else [])
        run(["atrex-compile", source, "--emit=atx", "-o", printed] + select + constants)
        # Printing what was printed changes nothing but how values are shared.
        interpret = ["--print"] + (["--size", sizes] if sizes else []) + options
        expected = run(["atrex-interpret", source] + select + constants + interpret)
        again = ["--op", program] if group == "plans" else []
        actual = run(["atrex-interpret", printed] + again + interpret)
        if not expected or expected != actual:
            lines = zip(expected.splitlines(), actual.splitlines())
            first = next(("%s\n%s" % pair for pair in lines if pair[0] != pair[1]), "")
            sys.exit("%s: the printed program has other results:\n%s" % (file, first))
        print("same: %s, %d elements" % (program or file, len(expected.splitlines())))


main()
