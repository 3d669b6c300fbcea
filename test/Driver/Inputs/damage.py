"""Changes the files of a cache: damage.py MODE PATHS."""

import os
import sys
import time

mode, paths = sys.argv[1], sys.argv[2:]
if mode == "flip":
    for path in paths:
        data = bytearray(open(path, "rb").read())
        data[len(data) // 2] ^= 1
        open(path, "wb").write(data)
elif mode == "cut":
    for path in paths:
        data = open(path, "rb").read()
        open(path, "wb").write(data[:40])
elif mode == "swap":
    # Each file under the name of the next.
    data = [open(path, "rb").read() for path in paths]
    assert len(paths) > 1
    for path, text in zip(paths, data[1:] + data[:1]):
        open(path, "wb").write(text)
elif mode == "fill":
    # Two old entries of 600 KiB, one of which a limit of 1 MiB leaves no room for,
    # and what a killed process left.
    for digit, age in ("a", 7200), ("b", 3600 * 3):
        path = os.path.join(paths[0], digit * 64)
        open(path, "wb").write(bytes(600 << 10))
        os.utime(path, (time.time() - age,) * 2)
    path = os.path.join(paths[0], "c" * 64 + ".tmp123456")
    open(path, "wb").write(b"part")
    os.utime(path, (time.time() - 7200,) * 2)
elif mode == "filled":
    names = os.listdir(paths[0])
    assert "a" * 64 in names, names
    assert "b" * 64 not in names, names
    assert not any("tmp" in name for name in names), names
else:
    sys.exit("unknown mode " + mode)
