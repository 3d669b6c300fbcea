"""Runs a page of the documentation: writes the files it shows, runs its commands and compares what they print.

usage: tutorial.py PAGE SCRATCH-DIRECTORY

A fenced block ```LANGUAGE FILE is the content of FILE. In a block ```console each line that begins with `$ ` is a command,
continued by lines behind a backslash; what follows must be its output, standard error included. `...` alone in a line
stands for any lines, inside a line for any text. A command must succeed unless its output says `error:`.
"""
import os
import re
import subprocess
import sys


def matches(pattern, text):
    """Whether lines of output are the lines of the page."""
    if not pattern:
        return not text
    if pattern[0].strip() == "...":
        return any(matches(pattern[1:], text[i:]) for i in range(len(text) + 1))
    if not text:
        return False
    line = ".*".join(re.escape(part) for part in pattern[0].rstrip().split("..."))
    return re.fullmatch(line, text[0].rstrip()) is not None and matches(pattern[1:], text[1:])


def blocks(page):
    """(first line number, info string, lines) of every fenced block."""
    start, info, lines = None, "", []
    for number, line in enumerate(open(page), 1):
        line = line.rstrip("\n")
        if start is None and line.startswith("```"):
            start, info, lines = number, line[3:].strip(), []
        elif start is not None and line == "```":
            yield start, info, lines
            start = None
        elif start is not None:
            lines.append(line)


def main():
    page, scratch = sys.argv[1:3]
    os.makedirs(scratch, exist_ok=True)
    environment = dict(os.environ)
    tools = environment.get("ATREX_TEST_TOOLS", "")
    environment["PATH"] = tools + os.pathsep + environment["PATH"] if tools else environment["PATH"]
    files = commands = 0
    for start, info, lines in blocks(page):
        words = info.split()
        if len(words) == 2:
            open(os.path.join(scratch, words[1]), "w").write("\n".join(lines) + "\n")
            files += 1
        if info != "console":
            continue
        i = 0
        while i < len(lines):
            if not lines[i].startswith("$ "):
                sys.exit("%s:%d: expected a command, '$ ...'" % (page, start + 1 + i))
            command, at = lines[i][2:], start + 1 + i
            i += 1
            while command.endswith("\\"):
                command, i = command[:-1] + lines[i].strip(), i + 1
            expected = []
            while i < len(lines) and not lines[i].startswith("$ "):
                expected.append(lines[i])
                i += 1
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=scratch,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            commands += 1
            mayFail = any("error:" in line for line in expected)
            if done.returncode and not mayFail or not matches(expected, done.stdout.splitlines()):
                sys.exit(
                    "%s:%d: %s\nexit code %d; expected\n%s\ngot\n%s"
                    % (page, at, command, done.returncode, "\n".join(expected), done.stdout)
                )
    if not files or not commands:
        sys.exit("%s shows no files or no commands" % page)
    print("%d files, %d commands" % (files, commands))


main()
