"""What an editor does with an .atx document."""

import os
import sys

from session import Session, place, show

folder = os.path.abspath(sys.argv[1])
session = Session(sys.argv[2:])
print("capabilities:", *sorted(name for name in session.capabilities if session.capabilities[name]))
URI = "file://" + os.path.join(folder, "main.atx")

GOOD = """// A comment with \u00e4\U0001F600 in it.
op norm(x: bf16[T, H], weight: bf16[H], eps: f32 = 1e-6) -> (out: bf16[T, H]) {
  let v = f32(x)
  let ms = mean(v * v, axis = 1)
  out = bf16(v * rsqrt(ms + eps)[:, None] * f32(weight))
}
"""


def hover(line, character):
    found = session.at("hover", URI, line, character)
    if found is None:
        print("hover %d:%d: nothing" % (line, character))
    else:
        value = found["contents"]["value"]
        if value.startswith("function of the language"):
            # The meaning is that of the reference page.
            lines = value.split("\n")
            assert len(lines) == 7 and lines[4], lines
            found["contents"]["value"] = " ".join(lines[:4] + lines[6:])
        print("hover %d:%d: %s %s" % (line, character, place(found["range"]),
                                      found["contents"]["value"].replace("\n", " ").replace("```", "|")))


def definition(line, character):
    found = session.at("definition", URI, line, character)
    print("definition %d:%d: %s" % (line, character, ", ".join(
        "%s %s" % (entry["uri"].rsplit("/", 1)[-1], place(entry["range"])) for entry in found) or "nothing"))


# Typing: an unfinished statement, an unknown name, then all is well.
show(session.open(URI, GOOD.replace("axis = 1)", "axis = 1")))
show(session.change(URI, GOOD.replace("(weight)", "(wieght)"), 2))
# The string has characters of two and of four bytes; columns are UTF-16 units.
show(session.change(URI, GOOD.replace("let v", 'let w = ("\u00e4\U0001F600" @ let v'), 3))
show(session.change(URI, GOOD, 4))
# Names, calls, any expression, and where there is nothing.
hover(1, 8)
hover(1, 19)
hover(2, 6)
hover(2, 11)
hover(3, 11)
hover(3, 18)
hover(4, 2)
hover(4, 17)
hover(4, 32)
hover(4, 60)
hover(0, 5)
hover(100, 1)
definition(1, 17)
definition(3, 17)
definition(4, 2)
definition(4, 13)
definition(4, 25)
definition(4, 8)
print("references:", *(place(entry["range"]) for entry in session.at(
    "references", URI, 2, 6, context={"includeDeclaration": True})))


def walk(symbols, indent=""):
    for symbol in symbols:
        print("symbol %s%s (%s) %s %s" % (indent, symbol["name"], symbol.get("detail"), place(symbol["range"]),
                                          place(symbol["selectionRange"])))
        walk(symbol.get("children", []), indent + "  ")


walk(session.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}})["result"])
print("format:", session.request("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})["result"])
session.change(URI, "op f( x : f32[N] )->(y:f32[N]){y=x}", 5)
edits = session.request("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})["result"]
print("format: %s %r" % (place(edits[0]["range"]), edits[0]["newText"]))
session.change(URI, "op f( x : f32[N] )->(y:f32[N]){y=}", 6)
print("format:", session.request("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {}})["result"])

# Definitions of every kind, from syntax alone.
session.change(URI, """import "library.atx"
const LIMIT = 4
fn scaled(a, b) { return a * b * half(a) }
kernel k(x: f32[N]) -> (y: f32[N]) knobs BN in {32, 64} grid (N / BN) {
  var sum = 0.0
  for i in range(LIMIT) { sum += scaled(x, i) }
  store(y[BN], sum)
}
op plan(x: f32[N]) -> (y: f32[N]) {
  y = launch k(x)
}
""", 7)
for line, character in [(0, 12), (2, 25), (2, 33), (3, 60), (5, 17), (5, 26), (5, 34), (5, 43), (6, 8), (6, 10), (6, 15),
                        (9, 2), (9, 13)]:
    definition(line, character)
session.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
show(session.diagnostics(URI))

# The other kind of document, in the same session.
MLIR = "file:///other.mlir"
show(session.open(MLIR, "func.func @f() -> i32 {\n  %l = atx.static : !atx.layout<(4,8):(1,4,8)>\n}\n", "mlir"))
show(session.change(MLIR, "func.func @f() {\n  %l = atx.static : !atx.layout<(4,8):(1,4)>\n  return\n}\n"))
print("hover:", session.at("hover", MLIR, 1, 9)["contents"]["value"].split("\n")[0])
print("exit status", session.end())
