"""The kernels under test/Language/kernels on the embedded device against direct computations.

usage: kernels.py KERNEL ARCH SCRATCH-DIRECTORY

Every kernel runs in order and with workgroups and waves in two random orders, with all checks of the device. Expectations
are written from the formulas, in binary64, without tiles. Then the reference interpreter runs the kernel on the same inputs
and is compared with the device.
"""
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(__file__))
from device import *

KERNELS = os.path.join(os.path.dirname(__file__), "..", "kernels")
rng = random.Random(1)


def normals(count, scale=1.0):
    return [round_bf16(rng.gauss(0, 1) * scale) for _ in range(count)]


def softmax():
    T, N = 5, 777
    x = normals(T * N, 3.0)
    for j in range(300):
        x[N + j] = -math.inf
    x[2 * N : 3 * N] = [round_bf16(200.0 + 0.5 * (j % 7)) for j in range(N)]

    def check(out):
        for t in range(T):
            row = x[t * N : t * N + N]
            top = max(row)
            e = [math.exp(v - top) for v in row]
            check_close("out", out["out"][t * N : t * N + N], [v / sum(e) for v in e], 2.0**-7, 1e-30)

    return "online_softmax", {"T": T, "N": N}, {}, {"x": x}, check, {}


def attention(kernel, names):
    S, HQ, HK, D, MB = 3, 6, 2, 64, 4
    NB = S * MB + 2
    lengths = [37, 1, 64]
    q, k, v, table_name, len_name = names
    G = HQ // HK
    pages = list(range(NB))
    rng.shuffle(pages)
    table = [pages[i] for i in range(S * MB)]
    keys = [math.nan] * (NB * HK * D * 16)
    values = [math.nan] * (NB * HK * D * 16)
    query = normals(S * HQ * D)
    K, V = {}, {}
    for s in range(S):
        for p in range(lengths[s]):
            page, slot = table[s * MB + p // 16], p % 16
            for h in range(HK):
                K[s, p, h], V[s, p, h] = normals(D), normals(D)
                for d in range(D):
                    keys[(((page * HK + h) * (D // 8) + d // 8) * 16 + slot) * 8 + d % 8] = K[s, p, h][d]
                    values[((page * HK + h) * D + d) * 16 + slot] = V[s, p, h][d]
    # Logits of slots behind the end are masked; their values may be anything, even NaN.
    keys = [1.0 if math.isnan(x) else x for x in keys]

    def check(out):
        want = []
        for s in range(S):
            for h in range(HQ):
                row = query[(s * HQ + h) * D : (s * HQ + h) * D + D]
                logits = [
                    sum(a * b for a, b in zip(row, K[s, p, h // G])) / math.sqrt(D) for p in range(lengths[s])
                ]
                top = max(logits)
                e = [math.exp(x - top) for x in logits]
                want += [sum(e[p] * V[s, p, h // G][d] for p in range(lengths[s])) / sum(e) for d in range(D)]
        check_close("out", out["out"], want, 2.0**-6, 2.0**-6)

    inputs = {q: query, k: keys, v: values, table_name: table, len_name: lengths}
    return kernel, {"S": S, "NB": NB, "MB": MB}, {"HQ": HQ, "HK": HK, "D": D}, inputs, check, {"BN": 32}


def sort():
    T, K, E = 75, 3, 19
    ids = [min(E - 2, int(rng.random() ** 2 * E)) for _ in range(T * K)]

    def check(out):
        order = sorted(range(T * K), key=lambda i: (ids[i], i))
        counts = [ids.count(e) for e in range(E)]
        check_equal("sorted", out["sorted"], order)
        check_equal("counts", out["counts"], counts)
        check_equal("offsets", out["offsets"], [sum(counts[:e]) for e in range(E + 1)])

    return "counting_sort", {"T": T}, {"K": K, "E": E}, {"ids": ids}, check, {}


def state():
    B, T, HK, H, K, V, S, C = 1, 70, 1, 2, 32, 32, 2, 64
    NC = 2
    k, w, u = normals(B * T * HK * K, 0.2), normals(B * T * H * K, 0.2), normals(B * T * H * V)
    g = [f32(-rng.random()) for _ in range(B * T * H)]
    initial = [f32(rng.gauss(0, 0.3)) for _ in range(S * H * K * V)]

    def check(out):
        states, fresh, final = {}, {}, {}
        for h in range(H):
            at = [initial[((1 * H + h) * K + i) * V + j] for i in range(K) for j in range(V)]
            for n in range(NC):
                rounded = [round_bf16(x) for x in at]
                states[n, h] = rounded
                rows = range(n * C, min(T, n * C + C))
                last = g[rows[-1] * H + h]
                for t in rows:
                    fresh[t, h] = [
                        u[(t * H + h) * V + j]
                        - sum(w[(t * H + h) * K + i] * rounded[i * V + j] for i in range(K))
                        for j in range(V)
                    ]
                scaled = {}
                for t in rows:
                    gt = g[t * H + h]
                    factor = math.exp(last - gt) if last <= gt else 0.0
                    scaled[t] = [round_bf16(x * factor) for x in fresh[t, h]]
                at = [
                    at[i * V + j] * math.exp(last) + sum(k[t * K + i] * scaled[t][j] for t in rows)
                    for i in range(K)
                    for j in range(V)
                ]
            final[h] = at
        check_close("states", out["states"], sum((states[n, h] for n in range(NC) for h in range(H)), []), 2.0**-6, 0.02)
        check_close("v_new", out["v_new"], sum((fresh[t, h] for t in range(T) for h in range(H)), []), 2.0**-6, 0.02)
        check_close("final", out["final"][H * K * V :], sum((final[h] for h in range(H)), []), 2.0**-6, 0.02)

    dims = {"HK": HK, "H": H, "K": K, "V": V}
    inputs = {"k": k, "w": w, "u": u, "g": g, "initial": initial, "index": [1]}
    return "chunk_state", {"B": B, "T": T, "S": S}, dims, inputs, check, {"BV": 16}


def grouped():
    T, K, E, N, H, BM = 21, 2, 3, 64, 64, 16
    ids = [rng.choice([0, 2]) for _ in range(T * K)]
    a, w = normals(T * H), normals(E * N * H, 0.1)
    sorted_ids, experts = [], []
    for e in range(E):
        mine = [i for i in range(T * K) if ids[i] == e]
        mine += [T * K] * (-len(mine) % BM)
        sorted_ids += mine
        experts += [e] * (len(mine) // BM)
    tiles = len(experts)
    MT = tiles + 2  # upper bound of the launch; what lies behind `tiles` must not be touched
    sorted_ids += [0] * ((MT - tiles) * BM)
    experts += [1] * (MT - tiles)

    def check(out):
        want = [
            sum(a[i // K * H + h] * w[(ids[i] * N + n) * H + h] for h in range(H)) for i in range(T * K) for n in range(N)
        ]
        check_close("out", out["out"], want, 2.0**-7, 1e-3)

    inputs = {"a": a, "w": w, "sorted": sorted_ids, "experts": experts, "tiles": [tiles]}
    dims = {"K": K, "N": N, "H": H, "MT": MT, "P": MT * BM, "E": E, "T": T}
    return "grouped_gemm", dims, {"K": K, "N": N, "H": H}, inputs, check, {"BM": BM}


def convolution():
    D, T = 37, 75
    x, weight, bias, before = normals(D * T), normals(D * 4), normals(D), normals(D * 3)

    def check(out):
        want = []
        for d in range(D):
            row = before[d * 3 : d * 3 + 3] + x[d * T : d * T + T]
            for t in range(T):
                y = round_bf16(bias[d] + sum(weight[d * 4 + j] * row[t + j] for j in range(4)))
                want.append(y / (1 + math.exp(-y)))
        check_close("out", out["out"], want, 2.0**-6, 2.0**-9)
        check_share("out", out["out"], want, 0.98)

    inputs = {"x": x, "weight": weight, "bias": bias, "state": before}
    return "causal_conv", {"D": D, "T": T}, {}, inputs, check, {}


def rotary():
    T, HQ, HK, D, R = 5, 3, 2, 64, 32
    width = (HQ + 2 * HK) * D
    qkv, bias = normals(T * width), normals(width, 0.1)
    positions = [0, 1, 17, 999, 4000]

    def check(out):
        want = {"q": [], "k": [], "v": []}
        for t in range(T):
            for h in range(HQ + 2 * HK):
                x = [round_bf16(qkv[t * width + h * D + d] + bias[h * D + d]) for d in range(D)]
                y = list(x)
                for f in range(R // 2 if h < HQ + HK else 0):
                    angle = positions[t] / 10000.0 ** (2 * f / R)
                    c, s = math.cos(angle), math.sin(angle)
                    y[f], y[f + R // 2] = x[f] * c - x[f + R // 2] * s, x[f + R // 2] * c + x[f] * s
                want["q" if h < HQ else "k" if h < HQ + HK else "v"] += y
        for name in want:
            # The angle is a product in binary32: 4000 times an error of one part in 2^24.
            check_close(name, out[name], want[name], 2.0**-8, 4e-3)

    inputs = {"qkv": qkv, "positions": positions, "bias": bias}
    return "rotary", {"T": T}, {"HQ": HQ, "HK": HK, "D": D}, inputs, check, {"R": R}


def quantise():
    T, H, G = 6, 384, 128
    x = [v * 2.0 ** (i // G % 5 * 8 - 16) for i, v in enumerate(normals(T * H))]
    x[G : 2 * G] = [0.0] * G

    def check(out):
        scales, codes = [], []
        for i in range(0, T * H, G):
            scale = max(f32(max(map(abs, x[i : i + G])) * f32(1 / 224)), f32(1e-10))
            scales.append(scale)
            codes += [to_fnuz(max(-224.0, min(224.0, f32(v / scale)))) for v in x[i : i + G]]
        check_equal("scales", out["scales"], scales)
        check_equal("quantized", out["quantized"], codes)

    return "group_quant", {"T": T}, {"H": H}, {"x": x}, check, {}


CASES = {
    "online_softmax": softmax,
    "paged_attention": lambda: attention("paged_attention", ["query", "key_cache", "value_cache", "table", "lengths"]),
    "decode": lambda: attention("decode", ["q", "kc", "vc", "table", "len"]),
    "counting_sort": sort,
    "chunk_state": state,
    "grouped_gemm": grouped,
    "causal_conv": convolution,
    "rotary": rotary,
    "group_quant": quantise,
}

if __name__ == "__main__":
    name, arch, scratch = sys.argv[1:4]
    os.makedirs(scratch, exist_ok=True)
    kernel, dims, constants, inputs, check, knobs = CASES[name]()
    output = os.path.join(scratch, name + ".hsaco")
    source = os.path.join(KERNELS, kernel + ".atx")
    compile_kernel(source, output, arch, constants, knobs)
    for options in ([], ["--shuffle", "1"], ["--shuffle", "2"]):
        check(run(output, inputs, dict(dims, **constants), scratch, options=["--check", "all"] + options))
    manifest = json.load(open(output + ".json"))
    sizes = {name: value for name, value in dims.items() if name in manifest["runtime_dims"]}
    compare_with_interpreter(source, manifest, inputs, sizes, constants, knobs, scratch, arch)
    print("%s on %s: pass" % (name, arch))
