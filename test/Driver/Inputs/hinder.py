"""Runs a compiler under what goes wrong: hinder.py MODE COMPILER ARGUMENTS."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time

mode, compiler, arguments = sys.argv[1], shutil.which(sys.argv[2]), sys.argv[3:]
if mode == "full":
    # No file grows beyond 4 KiB, as on a disk that is full.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    os.execv(compiler, [compiler] + arguments)
elif mode == "kill":
    # Killed after a while that grows; there is something to write each time.
    cache = arguments[arguments.index("--cache") + 1]
    begin = time.monotonic()
    subprocess.run([compiler] + arguments, check=True)
    whole = time.monotonic() - begin
    killed = 0
    for part in range(1, 25):
        shutil.rmtree(os.path.join(cache, "object"), ignore_errors=True)
        if part % 2:
            shutil.rmtree(os.path.join(cache, "ir"), ignore_errors=True)
        process = subprocess.Popen([compiler] + arguments)
        try:
            process.wait(whole * part / 24)
        except subprocess.TimeoutExpired:
            process.kill()
            killed += process.wait() == -signal.SIGKILL
    assert killed > 5, killed
elif mode == "other":
    # Another build: the same program under another build id.
    directory = arguments.pop(0)
    data = open(compiler, "rb").read()
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    # Linked without one, the file itself is what tells builds apart.
    data = data + b"!" if at < 0 else data[: at + 16] + bytes(byte ^ 1 for byte in data[at + 16 : at + 36]) + data[at + 36 :]
    path = os.path.join(directory, os.path.basename(compiler))
    open(path, "wb").write(data)
    os.chmod(path, 0o755)
    os.execv(path, [path] + arguments)
else:
    sys.exit("unknown mode " + mode)
