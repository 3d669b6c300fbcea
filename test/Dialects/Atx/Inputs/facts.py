"""Facts of the layout algebra, stated once more through the dialect.

    facts.py FACTS.json OPT LAYOUT [exact]

A fact is an operation with operands in text form and its result or the
constraint it violates. Each one becomes an `atx` operation on block arguments
and, where the operands are static, on `atx.static`; the inferred type has to be
what `LAYOUT eval` says, and with `exact` also what the fact says to the letter
(facts from elsewhere may use another normal form; the tests of the library
compare those). An error has to name the same constraint in all three places and
has to be the only one.
"""

import json
import re
import subprocess
import sys

# Names that differ from the operation's, and facts that are no operation of the
# dialect: those of instructions and partitions have tests of their own.
SKIPPED = {"mfma.tv_layout", "mfma.c_coord", "mma.make_fragment", "tiled_copy.partition", "tiled_mma.partition",
           "check_tv", "table"}


def kind(text):
    if text.startswith("["):
        return "tile"
    depth = 0
    composed = colon = False
    for i, c in enumerate(text):
        depth += c in "([{<"
        depth -= c in ")]}>"
        if depth == 0 and c == "o":
            composed = True
        if depth == 0 and c == ":":
            colon = True
    if composed:
        return "composed_layout"
    if re.match(r"C?S<", text):
        return "swizzle"
    return "layout" if colon else "int_tuple"


def spaced(text):
    return re.sub(r"o", " o ", text.replace(" ", "")) if kind(text) == "composed_layout" else text.replace(" ", "")


def typed(text):
    return "!atx.%s<%s>" % (kind(text), spaced(text))


def attributes(op, attrs):
    parts = []
    for key, value in sorted(attrs.items()):
        if isinstance(value, bool):
            if value:
                parts.append(key)
        elif isinstance(value, list) or key in ("mode", "indices"):
            numbers = value if isinstance(value, list) else [value]
            parts.append("%s = array<i64: %s>" % (key, ", ".join(map(str, numbers))))
        else:
            parts.append("%s = %d : i64" % (key, value))
    return " {%s}" % ", ".join(parts) if parts else ""


def expression(fact):
    parts = [text.replace(" ", "") for text in fact["inputs"]]
    for key, value in sorted(fact.get("attrs", {}).items()):
        if isinstance(value, bool):
            parts.append("%s=%s" % (key, str(value).lower()))
        else:
            parts.append("%s=%s" % (key, json.dumps(value).replace(" ", "")))
    return "%s(%s)" % (fact["op"], ", ".join(parts))


def program(fact, static):
    types = [typed(text) for text in fact["inputs"]]
    names = ["%%a%d" % i for i in range(len(types))]
    lines = []
    if static:
        lines = ["  %s = atx.static : %s" % pair for pair in zip(names, types)]
        arguments = ""
    else:
        arguments = ", ".join("%s: %s" % pair for pair in zip(names, types))
    lines.append("  %%r = atx.%s %s%s : %s" % (fact["op"], ", ".join(names), attributes(fact["op"], fact.get("attrs", {})),
                                             ", ".join(types)))
    lines.append('  "test.result"(%r) : (RESULT) -> ()')
    return "func.func @f(%s) {\n%s\n  return\n}" % (arguments, "\n".join(lines))


def run(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main():
    path, opt, layout = sys.argv[1:4]
    exact = sys.argv[4:] == ["exact"]
    with open(path, encoding="utf-8") as file:
        facts = [fact for fact in json.load(file) if fact["op"] not in SKIPPED]
    failures, checks = [], 0

    # What the evaluator says, one call per fact.
    programs, expected = [], []
    for fact in facts:
        answer = run([layout, "eval", expression(fact)])
        if answer.returncode == 0:
            result = answer.stdout.strip()
            says = ("i1", result) if result in ("true", "false") else (typed(result), result)
            if exact and "error" not in fact and fact["output"] != result:
                failures.append("%s: %s: expected %s, got %s" % (fact["id"], expression(fact), fact["output"], result))
            if "error" in fact:
                failures.append("%s: %s: expected %s, got %s" % (fact["id"], expression(fact), fact["error"]["code"], result))
        else:
            code = re.search(r"\bC(\d+): ", answer.stderr + answer.stdout)
            says = ("error", "C%s" % code.group(1) if code else answer.stderr.strip())
            wanted = fact.get("error", {}).get("code")
            if wanted != says[1]:
                failures.append("%s: %s: expected %s, got %s" % (fact["id"], expression(fact), fact.get("output", wanted),
                                                                says[1]))
        for static in [False] + ([True] if not any("?" in text for text in fact["inputs"]) else []):
            text = program(fact, static)
            # A wrong type of the use is an error at the operation, so the type
            # is compared by the parser.
            programs.append(text.replace("RESULT", says[0] if says[0] != "error" else "none"))
            expected.append((fact, says, static))

    # All of them in one process; a fault is found by its line.
    starts, lines = [], 0
    for text in programs:
        starts.append(lines)
        lines += text.count("\n") + 1 + 2
    answer = run([opt, "-split-input-file", "-allow-unregistered-dialect", "-", "-o", "/dev/null"],
                 "\n\n// -----\n".join(programs) + "\n")
    if answer.returncode not in (0, 1):
        sys.exit("%s ended with %d\n%s" % (opt, answer.returncode, answer.stderr[-2000:]))
    errors = [[] for _ in programs]
    for line, message in re.findall(r"<stdin>:(\d+):\d+: error: (.*)", answer.stderr):
        index = max(i for i, start in enumerate(starts) if start < int(line))
        errors[index].append(message)
    for text, (fact, says, static), found in zip(programs, expected, errors):
        checks += 1
        where = "%s: %s (%s operands)" % (fact["id"], expression(fact), "static" if static else "argument")
        if says[0] != "error":
            if found:
                failures.append("%s: expected %s, got: %s" % (where, says[0], "; ".join(found)))
        elif len(found) != 1 or "%s: " % says[1] not in found[0]:
            failures.append("%s: expected one error %s, got: %s" % (where, says[1], "; ".join(found) or "none"))
    for failure in failures:
        print("error: " + failure)
    print("%d facts, %d programs, %d failures" % (len(facts), checks, len(failures)))
    sys.exit(1 if failures else 0)


main()
