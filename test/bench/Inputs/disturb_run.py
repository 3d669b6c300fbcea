"""Starts a run, waits for its first result and disturbs it.

usage: disturb_run.py MODE JSON PROGRAM ARGUMENTS...

MODE crash sends SIGSEGV to the process that executes shapes, kill sends SIGKILL
to the program, interrupt sends SIGINT to it. Prints what was left behind.
"""
import json
import os
import signal
import subprocess
import sys
import time


def children(pid):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(name))
    return found


def wait_for(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit(f"no {what} within a minute")


mode, path, command = sys.argv[1], sys.argv[2], sys.argv[3:]
if os.path.exists(path):
    os.remove(path)
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
wait_for(lambda: os.path.exists(path), "result")
workers = []
wait_for(lambda: workers.extend(children(process.pid)) or workers, "worker")
if mode == "crash":
    os.kill(workers[0], signal.SIGSEGV)
elif mode == "kill":
    process.kill()
else:
    process.send_signal(signal.SIGINT)
_, errors = process.communicate()
print("exit code", process.returncode)
wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), "end of the workers")
with open(path) as file:
    result = json.load(file)
shapes = [shape for operator in result["operators"] for shape in operator["shapes"]]
print("interrupted", result["interrupted"])
print("at least one result", len(shapes) > 0)
for status in ("pass", "error"):
    print(status, sum(shape["status"] == status for shape in shapes))
for shape in shapes:
    if "failure" in shape:
        print("failure", shape["failure"], "|", shape["error"])
print(errors.strip())
