"""Compiles a kernel of this directory, runs it on the embedded device and compares the results.

Usage: check.py NAME [--arch gfx942] [--goldens DIR] [--schedule FILE]

Without --goldens the expectation is computed here, element by element and in double precision, for odd sizes drawn from
a fixed seed. With --goldens it is a stored case of an operator that the kernel computes.
"""
import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "u32": 4, "i64": 8,
         "f8e4m3fnuz": 1, "f8e4m3fn": 1}


# Numbers

def f32(x):
    """x rounded to f32, ties to even."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bf16_bits(x):
    if x != x:
        return 0x7FC0
    bits = struct.unpack("<I", struct.pack("<f", f32(x)))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def bf16(x):
    """x rounded to f32, then to bf16, ties to even."""
    return struct.unpack("<f", struct.pack("<I", bf16_bits(x) << 16))[0]


def decode_e4m3fnuz(code):
    if code == 0x80:
        return math.nan
    e, m = code >> 3 & 15, code & 7
    value = (8 + m) * 2.0 ** (e - 11) if e else m * 2.0 ** -10
    return -value if code & 0x80 else value


E4M3FNUZ = sorted((decode_e4m3fnuz(c), c) for c in range(256) if c != 0x80)


def e4m3fnuz(x):
    """The nearest code value, ties to the even code."""
    best = min(E4M3FNUZ, key=lambda v: (abs(v[0] - x), v[1] & 1))
    return best[0]


def encode(values, dtype):
    if dtype == "bf16":
        return struct.pack("<%dH" % len(values), *map(bf16_bits, values))
    form = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "u8": "B", "i16": "h", "i32": "i", "u32": "I", "i64": "q"}
    return struct.pack("<%d%s" % (len(values), form[dtype]), *values)


def decode(data, dtype):
    count = len(data) // SIZES[dtype]
    if dtype == "bf16":
        return [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in struct.unpack("<%dH" % count, data)]
    if dtype == "f8e4m3fnuz":
        return [decode_e4m3fnuz(v) for v in data]
    form = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "u8": "B", "i16": "h", "i32": "i", "u32": "I", "i64": "q"}
    return list(struct.unpack("<%d%s" % (count, form[dtype]), data))


# Running

def evaluate(expr, dims):
    """The value of an expression of a manifest."""
    return eval(expr.replace("/", "//"), {"cdiv": lambda a, b: -(-a // b)}, dims)


def run(options, kernel, dims, runtime, inputs, knobs=None, initial=None):
    """Outputs by name. `inputs` and `initial` (contents of outputs before the launch) are bytes, scalars numbers."""
    with tempfile.TemporaryDirectory() as folder:
        code = os.path.join(folder, "k.hsaco")
        command = ["atrex-compile", os.path.join(HERE, kernel + ".atx"), "--arch", options.arch, "-o", code]
        for name, value in dims.items():
            command += ["--dim", "%s=%d" % (name, value)]
        for name, value in (knobs or {}).items():
            command += ["--knob", "%s=%d" % (name, value)]
        if options.schedule:
            command += ["--schedule", options.schedule]
        subprocess.run(command, check=True)
        manifest = json.load(open(code + ".json"))["kernels"][0]
        sizes = dict(dims)
        sizes.update(runtime)
        grid = [str(evaluate(e, sizes)) for e in manifest["grid"]]
        command = ["atrex-sim", "run", code, "--check", "all", "--shuffle", "7", "--grid", ",".join(grid), "--block",
                   ",".join(str(n) for n in manifest["workgroup"])]
        outputs = {}
        for i, arg in enumerate(manifest["args"]):
            name = arg["name"]
            if arg["kind"] == "dim":
                command += ["--arg", "i64:%d" % sizes[name]]
            elif arg["kind"] == "scalar":
                command += ["--arg", "%s:%s" % (arg["type"], inputs[name])]
            else:
                count = math.prod(evaluate(e, sizes) for e in arg["shape"])
                size = count * SIZES[arg["type"]]
                path = os.path.join(folder, "%d.bin" % i)
                if arg.get("output"):
                    content = (initial or {}).get(name, b"\xa5" * size)
                    outputs[name] = (path, arg["type"])
                else:
                    content = inputs[name]
                assert len(content) == size, (name, len(content), size)
                open(path, "wb").write(content)
                command += ["--arg", ("inout:%s:%s" % (path, path)) if arg.get("output") else "in:" + path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: (open(path, "rb").read(), dtype) for name, (path, dtype) in outputs.items()}


def compare(name, got, want, relative=0.0, absolute=0.0):
    assert len(got) == len(want), (name, len(got), len(want))
    bad = 0
    for i, (a, b) in enumerate(zip(got, want)):
        if a == b or (a != a and b != b) or abs(a - b) <= relative * abs(b) + absolute:
            continue
        if bad < 8:
            print("%s[%d]: got %r, expected %r" % (name, i, a, b))
        bad += 1
    if bad:
        sys.exit("%s: %d of %d elements differ" % (name, bad, len(want)))


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def normal(self, count, scale=1.0, dtype="bf16"):
        rounded = bf16 if dtype == "bf16" else f32
        return [rounded(self.random.gauss(0, 1) * scale) for _ in range(count)]

    def integers(self, count, below):
        return [self.random.randrange(below) for _ in range(count)]


def load_case(folder):
    """Parameters and raw contents of a stored case: {name: bytes} of inputs and of outputs."""
    case = json.load(open(os.path.join(folder, "case.json")))
    tensors = {"in": {}, "out": {}}
    for tensor in case["tensors"]:
        tensors[tensor["role"]][tensor["name"]] = open(os.path.join(folder, tensor["file"]), "rb").read()
    return {**case["init"], **case["params"]}, tensors["in"], tensors["out"]


# Kernels

def online_softmax(options):
    t, n = 5, 700
    x = Draw(1).normal(t * n, 6.0)
    x[0 * n:1 * n] = [300.0 + v for v in x[0:n]]                # exp without the maximum overflows
    x[n:2 * n] = [bf16(v) for v in x[n:2 * n]]
    x[0:n] = [bf16(v) for v in x[0:n]]
    x[2 * n + 3] = -math.inf
    out = run(options, "online_softmax", {}, {"T": t, "N": n}, {"x": encode(x, "bf16")}, {"BN": 256})
    want = []
    for i in range(t):
        row = x[i * n:(i + 1) * n]
        top = max(row)
        terms = [math.exp(v - top) for v in row]
        total = math.fsum(terms)
        want += [v / total for v in terms]
    compare("out", decode(*out["out"]), want, 2 ** -7.9, 1e-38)


def attention_reference(q, k, v, table, lengths, s, hq, hk, d, mb):
    group = hq // hk
    out = []
    for seq in range(s):
        for head in range(hq):
            kv = head // group
            rows = []
            for p in range(lengths[seq]):
                block, slot = table[seq * mb + p // 16], p % 16
                key = [k[((block * hk + kv) * (d // 8) + c // 8) * 128 + slot * 8 + c % 8] for c in range(d)]
                value = [v[((block * hk + kv) * d + c) * 16 + slot] for c in range(d)]
                rows.append((key, value))
            query = q[(seq * hq + head) * d:(seq * hq + head + 1) * d]
            logits = [sum(a * b for a, b in zip(query, key)) / math.sqrt(d) for key, _ in rows]
            top = max(logits, default=0.0)
            weights = [math.exp(x - top) for x in logits]
            total = sum(weights)
            for c in range(d):
                out.append(sum(w * value[c] for w, (_, value) in zip(weights, rows)) / total if rows else 0.0)
    return out


def paged_attention(options):
    if options.goldens:
        params, inputs, outputs = load_case(os.path.join(options.goldens, "paged_attention_decode", "strict_ragged_n5_d128"))
        s, hq, hk, d = params["num_seqs"], params["num_query_heads"], params["num_kv_heads"], params["head_size"]
        mb = len(inputs["block_tables"]) // 4 // s
        nb = len(inputs["v_cache"]) // (2 * hk * d * 16)
        out = run(options, "paged_attention", {"HQ": hq, "HK": hk, "D": d}, {"S": s, "NB": nb, "MB": mb},
                  {"query": inputs["query"], "key_cache": inputs["k_cache"], "value_cache": inputs["v_cache"],
                   "table": inputs["block_tables"], "lengths": inputs["seq_lens"]})
        compare("out", decode(*out["out"]), decode(outputs["out"], "bf16"), 0.01, 0.01)
        return
    s, hq, hk, d, mb = 3, 4, 2, 32, 4
    nb = s * mb + 2
    draw = Draw(2)
    q = draw.normal(s * hq * d)
    k = draw.normal(nb * hk * d * 16)
    v = draw.normal(nb * hk * d * 16)
    table = list(range(nb))
    draw.random.shuffle(table)
    unused = table[s * mb:]
    table = table[:s * mb]
    lengths = [50, 0, 17]
    for block in unused:                                             # what nothing names must not be read
        for i in range(hk * d * 16):
            k[block * hk * d * 16 + i] = v[block * hk * d * 16 + i] = math.nan
    for head in range(hk):                                           # a slot behind the last token
        for c in range(d):
            v[((table[3] * hk + head) * d + c) * 16 + 15] = math.nan
    out = run(options, "paged_attention", {"HQ": hq, "HK": hk, "D": d}, {"S": s, "NB": nb, "MB": mb},
              {"query": encode(q, "bf16"), "key_cache": encode(k, "bf16"), "value_cache": encode(v, "bf16"),
               "table": encode(table, "i32"), "lengths": encode(lengths, "i32")})
    compare("out", decode(*out["out"]), attention_reference(q, k, v, table, lengths, s, hq, hk, d, mb), 0.01, 1e-3)


def counting_sort(options):
    if options.goldens:
        params, inputs, outputs = load_case(os.path.join(options.goldens, "moe_count_and_sort", "strict_skewed_t60_k4_e16"))
        t, k, e = params["token_count"], params["top_k"], params["num_experts"]
        ids = inputs["topk_ids"]
        want = [decode(outputs[name], "i32") for name in ("sorted_token_ids", "expert_token_counts", "cumsum")]
    else:
        t, k, e = 211, 3, 12
        drawn = [min(v, 9) for v in Draw(3).integers(t * k, e)]      # skewed; 10 and 11 do not occur
        ids = encode(drawn, "i32")
        order = sorted(range(t * k), key=lambda i: (drawn[i], i))
        counts = [drawn.count(i) for i in range(e)]
        want = [order, counts, [sum(counts[:i]) for i in range(e + 1)]]
    out = run(options, "counting_sort", {"K": k, "E": e}, {"T": t}, {"ids": ids}, {"B": 256})
    for name, expected in zip(("sorted", "counts", "offsets"), want):
        compare(name, decode(*out[name]), expected)


def chunk_state(options):
    if options.goldens:
        params, inputs, outputs = load_case(
            os.path.join(options.goldens, "chunk_gated_delta_rule_state", "strict_b2_t70_h2"))
        b, t, hk, h = params["batch_size"], params["token_count"], params["num_k_heads"], params["num_v_heads"]
        k, v, s = params["key_dim"], params["value_dim"], params["state_count"]
        data = {"k": inputs["k"], "w": inputs["w"], "u": inputs["u"], "g": inputs["g"],
                "initial": inputs["initial_state"], "index": inputs["initial_state_indices"]}
        out = run(options, "chunk_state", {"H": h, "HK": hk, "K": k, "V": v}, {"B": b, "T": t, "S": s}, data,
                  initial={"final": inputs["initial_state"]})
        for name, stored, dtype in (("states", "h", "bf16"), ("v_new", "v_new", "bf16"), ("final", "final_state", "f32")):
            compare(name, decode(*out[name]), decode(outputs[stored], dtype), 0.02, 0.02)
        return
    b, t, hk, h, k, v, s, c = 2, 70, 1, 2, 32, 16, 3, 64
    draw = Draw(4)
    data = {"k": draw.normal(b * t * hk * k, k ** -0.5), "w": draw.normal(b * t * h * k, k ** -0.5),
            "u": draw.normal(b * t * h * v), "g": [f32(-0.1 * (i // (h) % c) * draw.random.random()) for i in range(b * t * h)],
            "initial": draw.normal(s * h * k * v, 1.0, "f32"), "index": [2, 0]}
    types = {"g": "f32", "initial": "f32", "index": "i32"}
    chunks = -(-t // c)
    states, fresh, final = [0.0] * (b * chunks * h * k * v), [0.0] * (b * t * h * v), list(data["initial"])
    for seq in range(b):
        for head in range(h):
            kh = head // (h // hk)
            base = (data["index"][seq] * h + head) * k * v
            state = [list(data["initial"][base + r * v:base + (r + 1) * v]) for r in range(k)]
            for n in range(chunks):
                rounded = [[bf16(x) for x in row] for row in state]
                for r in range(k):
                    for col in range(v):
                        states[(((seq * chunks + n) * h + head) * k + r) * v + col] = rounded[r][col]
                rows = range(n * c, min(n * c + c, t))
                last = data["g"][(seq * t + rows[-1]) * h + head]
                scaled = {}
                for i in rows:
                    w = data["w"][((seq * t + i) * h + head) * k:][:k]
                    u = data["u"][((seq * t + i) * h + head) * v:][:v]
                    new = [u[col] - sum(w[r] * rounded[r][col] for r in range(k)) for col in range(v)]
                    for col in range(v):
                        fresh[((seq * t + i) * h + head) * v + col] = new[col]
                    g = data["g"][(seq * t + i) * h + head]
                    factor = math.exp(last - g) if last <= g else 0.0
                    scaled[i] = [bf16(x * factor) for x in new]
                for r in range(k):
                    for col in range(v):
                        state[r][col] = state[r][col] * math.exp(last) + sum(
                            data["k"][((seq * t + i) * hk + kh) * k + r] * scaled[i][col] for i in rows)
            for r in range(k):
                final[base + r * v:base + (r + 1) * v] = state[r]
    out = run(options, "chunk_state", {"H": h, "HK": hk, "K": k, "V": v}, {"B": b, "T": t, "S": s},
              {name: encode(values, types.get(name, "bf16")) for name, values in data.items()}, {"BV": 16},
              {"final": encode(data["initial"], "f32")})
    compare("states", decode(*out["states"]), states, 0.01, 2e-2)
    compare("v_new", decode(*out["v_new"]), fresh, 0.01, 2e-2)
    compare("final", decode(*out["final"]), final, 0.01, 2e-2)


def grouped_gemm(options):
    t, k, h, n, e, bm = 13, 2, 64, 96, 4, 16
    draw = Draw(5)
    a, w = draw.normal(t * h), draw.normal(e * n * h, h ** -0.5)
    ids = [i if i != 2 else 3 for i in draw.integers(t * k, e)]      # expert 2 has no rows
    rows, experts = [], []
    for expert in range(e):
        mine = [i for i in range(t * k) if ids[i] == expert]
        mine += [t * k] * (-len(mine) % bm)
        rows += mine
        experts += [expert] * (len(mine) // bm)
    tiles = len(experts)
    spare = 2                                                        # tiles behind the count are not to be touched
    rows += [0] * (spare * bm)
    experts += [0] * spare
    out = run(options, "grouped_gemm", {"H": h, "N": n, "K": k}, {"T": t, "E": e, "P": len(rows), "MT": len(experts)},
              {"a": encode(a, "bf16"), "w": encode(w, "bf16"), "sorted": encode(rows, "i32"),
               "experts": encode(experts, "i32"), "tiles": encode([tiles], "i32")}, {"BM": bm, "BN": 32, "BK": 32})
    want = []
    for pair in range(t * k):
        for col in range(n):
            want.append(sum(a[pair // k * h + i] * w[(ids[pair] * n + col) * h + i] for i in range(h)))
    compare("out", decode(*out["out"]), want, 0.005, 1e-4)


def causal_conv(options):
    if options.goldens:
        params, inputs, outputs = load_case(os.path.join(options.goldens, "causal_conv1d", "upstream_t50_d96"))
        d, t = params["dim"], params["token_count"]
        out = run(options, "causal_conv", {}, {"D": d, "T": t}, {"x": inputs["x"], "weight": inputs["weight"],
                                                                "bias": inputs["bias"], "state": inputs["initial_state"]})
        compare("out", decode(*out["out"]), decode(outputs["out"], "bf16"), 0.01, 1e-4)
        return
    for d, t in ((19, 45), (5, 1)):
        draw = Draw(6)
        x, weight, bias, state = draw.normal(d * t), draw.normal(d * 4), draw.normal(d), draw.normal(d * 3)
        out = run(options, "causal_conv", {}, {"D": d, "T": t},
                  {"x": encode(x, "bf16"), "weight": encode(weight, "bf16"), "bias": encode(bias, "bf16"),
                   "state": encode(state, "bf16")}, {"BT": 32})
        want = []
        for c in range(d):
            padded = state[c * 3:c * 3 + 3] + x[c * t:(c + 1) * t]
            for i in range(t):
                y = bf16(bias[c] + sum(weight[c * 4 + j] * padded[i + j] for j in range(4)))
                want.append(y / (1 + math.exp(-y)))
        compare("out", decode(*out["out"]), want, 0.012, 1e-4)


def rotary(options):
    if options.goldens:
        params, inputs, outputs = load_case(os.path.join(options.goldens, "fused_qkv_rope", "strict_bias_rope64_t7"))
        hq, hk, d, r, t = (params[n] for n in ("num_heads", "num_kv_heads", "head_dim", "rope_dim", "total_tokens"))
        out = run(options, "rotary", {"HQ": hq, "HK": hk, "D": d}, {"T": t},
                  {"qkv": inputs["qkv"], "positions": inputs["positions"], "bias": inputs["qkv_bias"]}, {"R": r})
        for name in "qkv":
            compare(name, decode(*out[name]), decode(outputs[name], "bf16"), 0.01, 5e-3)
        return
    hq, hk, d, r, t = 3, 1, 48, 32, 4
    draw = Draw(7)
    width = (hq + 2 * hk) * d
    qkv, bias, positions = draw.normal(t * width), draw.normal(width, 0.1), [0, 1, 77, 4000]
    out = run(options, "rotary", {"HQ": hq, "HK": hk, "D": d}, {"T": t},
              {"qkv": encode(qkv, "bf16"), "positions": encode(positions, "i32"), "bias": encode(bias, "bf16")}, {"R": r})
    want = {"q": [], "k": [], "v": []}
    for token in range(t):
        row = [bf16(a + b) for a, b in zip(qkv[token * width:], bias)]
        for head in range(hq + 2 * hk):
            x = row[head * d:(head + 1) * d]
            y = list(x)
            if head < hq + hk:
                for f in range(r // 2):
                    angle = f32(positions[token] * f32(1 / 10000 ** (2 * f / r)))
                    c, s = math.cos(angle), math.sin(angle)
                    y[f], y[f + r // 2] = x[f] * c - x[f + r // 2] * s, x[f + r // 2] * c + x[f] * s
            want["q" if head < hq else "k" if head < hq + hk else "v"] += y
    for name in "qkv":
        compare(name, decode(*out[name]), want[name], 0.01, 5e-3)


def group_quant(options):
    if options.goldens:
        params, inputs, outputs = load_case(os.path.join(options.goldens, "per_token_group_quant_fp8", "strict_t3_h1152"))
        t, h, x = params["token_count"], params["hidden_size"], inputs["x"]
        scales, codes = decode(outputs["scales"], "f32"), decode(outputs["quantized"], "f8e4m3fnuz")
    else:
        t, h = 5, 256
        values = Draw(8).normal(t * h)
        values[128:256] = [0.0] * 128                                # the smallest scale
        values[3] = bf16(1e30)
        x = encode(values, "bf16")
        scales, codes = [], []
        for group in range(t * h // 128):
            part = values[group * 128:(group + 1) * 128]
            scale = max(f32(max(map(abs, part)) * f32(1 / 224)), f32(1e-10))
            scales.append(scale)
            codes += [e4m3fnuz(min(max(f32(v / scale), -224.0), 224.0)) for v in part]
    out = run(options, "group_quant", {"H": h}, {"T": t}, {"x": x})
    compare("scales", decode(*out["scales"]), scales)
    compare("quantized", decode(*out["quantized"]), codes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel", choices=["online_softmax", "paged_attention", "counting_sort", "chunk_state",
                                           "grouped_gemm", "causal_conv", "rotary", "group_quant"])
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--goldens")
    parser.add_argument("--schedule")
    options = parser.parse_args()
    globals()[options.kernel](options)
    print("ok")


main()
