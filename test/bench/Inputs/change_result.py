"""Writes a changed copy of a result file.

usage: change_result.py FROM TO CHANGE...

A change is ID=FACTOR (of the time), ID=fail, ID=missing, or measured=SHARE: all
times become measured ones with bounds by that share on both sides.
"""
import json
import sys

source, target, changes = sys.argv[1], sys.argv[2], dict(text.split("=") for text in sys.argv[3:])
with open(source) as file:
    result = json.load(file)
for operator in result["operators"]:
    for shape in operator["shapes"]:
        time = shape["time"]
        change = changes.get(str(shape["id"]))
        if change == "fail":
            shape["status"], shape["strict"] = "fail", False
        elif change and change != "missing":
            time["us"] *= float(change)
        if "measured" in changes:
            share = float(changes["measured"])
            time["kind"] = "measured"
            shape["timing"] = {"interval_us": [time["us"] * (1 - share), time["us"] * (1 + share)]}
    operator["shapes"] = [s for s in operator["shapes"] if changes.get(str(s["id"])) != "missing"]
with open(target, "w") as file:
    json.dump(result, file)
