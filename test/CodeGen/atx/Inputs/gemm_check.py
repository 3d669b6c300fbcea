"""Data and check of a bf16 matrix product C = A * B^T with f32 accumulation.

gemm_check.py make DIR M N K SEED     writes a.bin, b.bin (bf16, row-major)
gemm_check.py check DIR M N K         compares c.bin (f32) with the exact sums

The data are small integers: every sum is exact and compared bit for bit.
"""
import random
import struct
import sys


def to_bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    assert bits & 0xFFFF == 0, x
    return bits >> 16


def from_bf16(b):
    return struct.unpack("<f", struct.pack("<I", b << 16))[0]


def read(path, fmt, count):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.calcsize(fmt)
    assert len(data) == size * count, (path, len(data), size * count)
    return struct.unpack("<" + fmt * count, data)


def main(argv):
    mode, folder, m, n, k = argv[0], argv[1], int(argv[2]), int(argv[3]), int(argv[4])
    if mode == "make":
        rng = random.Random(int(argv[5]))
        for name, rows in (("a", m), ("b", n)):
            values = [to_bf16(float(rng.randint(-8, 8))) for _ in range(rows * k)]
            with open(f"{folder}/{name}.bin", "wb") as f:
                f.write(struct.pack(f"<{len(values)}H", *values))
        return 0
    a = [int(from_bf16(v)) for v in read(f"{folder}/a.bin", "H", m * k)]
    b = [int(from_bf16(v)) for v in read(f"{folder}/b.bin", "H", n * k)]
    c = read(f"{folder}/c.bin", "f", m * n)
    wrong = 0
    for i in range(m):
        row = a[i * k:(i + 1) * k]
        for j in range(n):
            want = sum(x * y for x, y in zip(row, b[j * k:(j + 1) * k]))
            if c[i * n + j] != want:
                wrong += 1
                if wrong <= 5:
                    print(f"C[{i},{j}] = {c[i * n + j]}, wanted {want}")
    print(f"{m * n - wrong} of {m * n} elements right")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
