"""Compares the static report of a code object with the profile of an execution.

report_profile.py REPORT.json PROFILE.json WAVES [NAME=VALUE ...]

Each loop's instructions by class, times its trips, must be what the waves have
executed in its addresses, and the same for the cycles of matrix instructions.
"""
import json
import re
import sys

report = json.load(open(sys.argv[1]))
profile = json.load(open(sys.argv[2]))
waves = int(sys.argv[3])
values = {k: int(v) for k, v in (a.split("=") for a in sys.argv[4:])}

kernel = report["kernels"][0]
loops = kernel["loops"]


def trips(loop):
    if loop["trip_count"] is not None:
        return loop["trip_count"]
    text = loop["trip_expression"]
    text = re.sub(r"cdiv\((.*), (.*)\)", r"-(-(\1) // (\2))", text).replace(" / ", " // ")
    return eval(text, {}, values)


def total(index):
    n = trips(loops[index])
    parent = loops[index]["parent"]
    return n if parent is None else n * total(parent)


executed = [{} for _ in loops]
cycles = [0] * len(loops)
for inst in profile["instructions"]:
    address = int(inst["address"], 0) if isinstance(inst["address"], str) else inst["address"]
    owners = [i for i, l in enumerate(loops) if l["begin"] <= address < l["end"]]
    if not owners:
        continue
    owner = max(owners, key=lambda i: loops[i]["depth"])
    executed[owner][inst["class"]] = executed[owner].get(inst["class"], 0) + inst["executions"]
    cycles[owner] += inst.get("matrix_cycles", 0)

for i, loop in enumerate(loops):
    times = total(i) * waves
    expected = {c: n * times for c, n in loop["mix"].items()}
    if expected != {c: n for c, n in executed[i].items() if n}:
        sys.exit(f"loop at line {loop['line']}: expected {expected}, executed {executed[i]}")
    if cycles[i] != loop["mfma_cycles"] * times:
        sys.exit(f"loop at line {loop['line']}: {cycles[i]} matrix cycles, expected {loop['mfma_cycles'] * times}")
    print(f"loop at line {loop['line']}: {total(i)} trips, {sum(loop['mix'].values())} instructions, agree")
