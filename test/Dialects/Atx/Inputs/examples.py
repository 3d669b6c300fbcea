"""Checks of the dialect's records as `llvm-tblgen --dump-json` prints them.

    examples.py list RECORDS OPS.mlir ...   every operation is documented and read back by one of the files
    examples.py extract RECORDS             the examples of the descriptions as a split input file

An example stands in a block of its own; operands that it does not define become
arguments of a function, of the types its assembly names. An example with
functions of its own is taken as it stands.
"""

import json
import re
import sys


def records(path, kind):
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    return [table[name] for name in table["!instanceof"].get(kind, [])]


def operations(path):
    return [r for r in records(path, "Op") if r["opDialect"]["def"] == "Atx_Dialect"]


def types_and_attributes(path):
    return [r for r in records(path, "TypeDef") + records(path, "AttrDef")
            if r["dialect"]["def"] == "Atx_Dialect" and r.get("mnemonic") and not r["!name"].endswith("EnumAttr")
            and "Enum" not in "".join(r["!superclasses"])]


def blocks(description):
    found = re.findall(r"```mlir\n(.*?)```", description, re.S)
    found += re.findall(r"Example[^`\n]*:\s*`([!#]atx[^`]*)`", description)
    return found


def split_top(text):
    """Splits at commas outside of brackets, and at `where`, `with` and `mask`; drops the results."""
    parts, depth, current = [], 0, ""
    for token in re.findall(r"->|\bwhere\b|\bwith\b|\bmask\b|.", text, re.S):
        if token == "->" and depth == 0:
            break
        if token in "<([{":
            depth += 1
        elif token in ">)]}":
            depth -= 1
        if depth == 0 and (token == "," or token in ("where", "with", "mask")):
            parts.append(current.strip())
            current = ""
        else:
            current += token
    if current.strip():
        parts.append(current.strip())
    return parts


def statements(block):
    """Lines of the block, continued lines joined."""
    result = []
    for line in block.strip("\n").split("\n"):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if result and indent > base:
            result[-1] += " " + line.strip()
        else:
            base = indent
            result.append(line.strip())
    return result


def program(block):
    # Whole functions need nothing around them.
    if "func.func" in block:
        return block
    top, body, defined, arguments = [], [], set(), {}
    for statement in statements(block):
        if re.match(r"[#!]\w+ = ", statement):
            top.append(statement)
            continue
        if statement[0] in "#!":
            body.append('"test.use"() {a = %s} : () -> ()' % statement)
            continue
        # ` : ` separates operands from types; the types contain none.
        left, right = statement.split(" : ", 1) if " : " in statement else (statement, "")
        if " = " in left:
            results, left = left.split(" = ", 1)
            results = re.findall(r"%\w+", results)
        else:
            results = []
        # A dictionary has colons of its own.
        while left.count("{") > left.count("}"):
            more, right = right.split(" : ", 1)
            left += " : " + more
        # The type of a function has its operands in parentheses.
        if right.startswith("(") and ") -> " in right:
            right = right[1:right.index(") -> ")]
        for name, of in zip(re.findall(r"%\w+", left), split_top(right)):
            if name not in defined:
                arguments.setdefault(name, of)
        defined.update(results)
        body.append(statement)
    signature = ", ".join("%s: %s" % pair for pair in arguments.items())
    return "%s\nfunc.func @example(%s) {\n%s\n  return\n}\n" % (
        "\n".join(top), signature, "\n".join("  " + line for line in body))


def main():
    command, path = sys.argv[1:3]
    faults = []
    if command == "list":
        text = "\n".join(open(name, encoding="utf-8").read() for name in sys.argv[3:])
        code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
        ops = operations(path)
        for op in ops:
            name = "atx." + op["opName"]
            if not op["summary"].strip():
                faults.append("%s has no summary" % name)
            if not op["description"].strip():
                faults.append("%s has no description" % name)
            if not any(re.search(r"%s\b" % re.escape(name), block) for block in blocks(op["description"])):
                faults.append("the description of %s has no example of it" % name)
            if not re.search(r"\b%s\b" % re.escape(name), code):
                faults.append("%s is not read back by a test" % name)
        for entry in types_and_attributes(path):
            name = entry["mnemonic"]
            if not entry["summary"].strip() or not entry["description"].strip():
                faults.append("%s has no summary or no description" % name)
            if not any("atx." + name in block for block in blocks(entry["description"])):
                faults.append("the description of %s has no example of it" % name)
        print("%d operations, %d types and attributes" % (len(ops), len(types_and_attributes(path))))
    else:
        programs = [program(block) for r in operations(path) + types_and_attributes(path)
                    for block in blocks(r["description"])]
        print("\n// -----\n\n".join(programs))
    for fault in faults:
        print("error: " + fault)
    sys.exit(1 if faults else 0)


main()
