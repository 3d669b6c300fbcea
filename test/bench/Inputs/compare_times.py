"""Fails unless the times of two result files agree within a share: A.json B.json SHARE."""

import json
import sys


def read(path):
    with open(path) as file:
        tree = json.load(file)
    return {(op["name"], s["id"]): s["time"]["us"] for op in tree["operators"] for s in op["shapes"]}


a, b, share = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
if a.keys() != b.keys() or not a:
    sys.exit("the files hold different shapes")
for key, us in a.items():
    if abs(us - b[key]) > share * b[key]:
        sys.exit(f"{key[0]} shape {key[1]}: {us} us and {b[key]} us")
