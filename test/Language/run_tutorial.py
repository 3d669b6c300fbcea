"""Writes the files of a page and runs its commands: blocks marked `atx NAME` and `sh`."""
import re
import subprocess
import sys

page, folder = sys.argv[1:]
block, kind = None, ""
for line in open(page):
    opening = re.match(r"```(\S*) ?(\S*)", line)
    if block is None and opening:
        kind, name, block = opening[1], opening[2], []
    elif block is not None and line.startswith("```"):
        if kind == "atx":
            with open(folder + "/" + name, "w") as file:
                file.writelines(block)
            print("wrote", name)
        elif kind == "sh":
            for command in block:
                result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
                if result.returncode:
                    sys.exit("failed: " + command + result.stdout + result.stderr)
                print("ran", command.strip())
        block = None
    elif block is not None:
        block.append(line)
