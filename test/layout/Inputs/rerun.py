"""Runs the console blocks of a document again and compares their output.

  rerun.py DOC BIN DIR            exit 1 and a diff when a block differs
  rerun.py DOC BIN DIR --update   write what the commands print into DOC

A block starts with a line "```console"; lines that start with "$ " are commands
(a trailing backslash continues), what follows is their output on both streams.
BIN is put in front of the search path; commands run in DIR. A last line
"[exit N]" is the exit code of a command that fails.
"""
import difflib
import os
import subprocess
import sys

doc, bin_dir, work = sys.argv[1:4]
os.makedirs(work, exist_ok=True)
env = dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"], COLUMNS="80")


def run(command):
    done = subprocess.run(command, shell=True, cwd=work, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    lines = done.stdout.splitlines()
    return lines + [f"[exit {done.returncode}]"] * (done.returncode != 0)


old = open(doc, encoding="utf-8").read().splitlines()
new, commands, i = [], 0, 0
while i < len(old):
    new.append(old[i])
    i += 1
    if new[-1] != "```console":
        continue
    while i < len(old) and old[i] != "```":
        if not old[i].startswith("$ "):
            i += 1  # old output
            continue
        command = [old[i]]
        while command[-1].endswith("\\"):
            i += 1
            command.append(old[i])
        i += 1
        new += command
        new += run("\n".join(command)[2:])
        commands += 1
if "--update" in sys.argv:
    open(doc, "w", encoding="utf-8").write("\n".join(new) + "\n")
differences = list(difflib.unified_diff(old, new, doc, "what the commands print", lineterm=""))
if differences and "--update" not in sys.argv:
    print("\n".join(differences))
    sys.exit(1)
print(commands, "commands print what the document says")
