"""Joins result files of one run: join_results.py FROM... TO."""
import json
import sys

results = [json.load(open(path)) for path in sys.argv[1:-1]]
for other in results[1:]:
    for field in ("operators", "code_objects"):
        results[0][field] += other[field]
with open(sys.argv[-1], "w") as file:
    json.dump(results[0], file)
