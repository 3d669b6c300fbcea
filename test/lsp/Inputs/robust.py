"""Messages that no editor should send. The server answers what can be answered and stays alive."""

import json
import sys

from session import Session

session = Session(sys.argv[1:], initialize=False)


def show(what, answer):
    error = answer.get("error")
    print("%s: %s" % (what, "%d %s" % (error["code"], error["message"]) if error else "result"))


show("before initialize", session.request("textDocument/hover", {}))
session.notify("textDocument/didOpen", {"textDocument": {"uri": "file:///a.atx", "text": ""}})
show("initialize", session.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}}))
show("initialize again", session.request("initialize", {"capabilities": {}}))
session.notify("initialized", {})

session.send_body(b"{ no json")
show("no json", session.receive())
session.send_body(b"")
show("empty", session.receive())
session.send_body(b"[" * 1000000)
show("deep", session.receive())
session.send_body(b"[1, 2]")
show("array", session.receive())
session.send_body(b'{"jsonrpc": "2.0", "id": 77}')
show("no method", session.receive())
session.send_body(b'\xff\xfe{"method": "x"}')
show("no text", session.receive())
# Headers that are none, in front of a message.
session.send_raw(b"Content-Length: banana\r\n\r\nHello\n: \nContent-Length: -4\r\n" + b"x" * 100000 + b"\r\n")
show("unknown method", session.request("no/such/method", {"textDocument": {"uri": "file:///a.atx"}}))
show("not open", session.request("textDocument/hover", {
    "textDocument": {"uri": "file:///closed.atx"}, "position": {"line": 0, "character": 0}}))

URI = "file:///a.atx"
session.open(URI, "op f(x: f32[N]) -> (y: f32[N]) {\n  y = x\n}\n")
show("no position", session.request("textDocument/hover", {"textDocument": {"uri": URI}}))
show("wrong position", session.request("textDocument/hover", {
    "textDocument": {"uri": URI}, "position": {"line": "first", "character": []}}))
for line, character in [(-1, 0), (0, -1), (2**40, 2**40), (1, 2**40)]:
    show("position %d:%d" % (line, character), session.request("textDocument/hover", {
        "textDocument": {"uri": URI}, "position": {"line": line, "character": character}}))
for params in [None, [], {}, {"textDocument": 3}, {"textDocument": {"uri": URI}},
               {"textDocument": {"uri": URI}, "contentChanges": {}},
               {"textDocument": {"uri": URI}, "contentChanges": [17]},
               {"textDocument": {"uri": URI}, "contentChanges": [{"text": 17}]}]:
    session.notify("textDocument/didChange", params)
    session.notify("textDocument/didClose" if params in (None, []) else "textDocument/didOpen", params)
show("unknown for a document", session.request("textDocument/semanticTokens/full", {"textDocument": {"uri": URI}}))

# Many errors, bytes that are no text in the program, a long line, a deep nest, a large text.
for name, text in [("errors", "op f() -> (y: f32[N]) {\n" + "  let a = )\n" * 10000),
                   ("bytes", "\u0000\ufffd\ud83d op \udc00 f".encode("utf-16", "surrogatepass").decode("utf-16", "replace")),
                   ("line", "op f(x: f32[N]) -> (y: f32[N]) {\n  y = x" + " + x" * 200000 + "\n}\n"),
                   ("deep", "op f(x: f32[N]) -> (y: f32[N]) {\n  y = " + "(" * 200000 + "\n}\n"),
                   ("blocks", "kernel f(x: f32[N]) -> (y: f32[N]) grid (1) {\n" + "if true {\n" * 100000),
                   ("large", "// " + "x" * (8 << 20) + "\n")]:
    print("%s: %s" % (name, "errors" if session.change(URI, text) else "no errors"))
    for method in ["documentSymbol", "formatting"]:
        session.request("textDocument/" + method, {"textDocument": {"uri": URI}})
    session.at("hover", URI, 1, 7)

# A message beyond the limit is skipped, and the next one is read.
session.send_raw(b"Content-Length: %d\r\n\r\n" % ((64 << 20) + 1))
for _ in range(64):
    session.send_raw(b" " * (1 << 20))
session.send_raw(b" ")
show("too large", session.receive())
show("after", session.request("textDocument/hover", {
    "textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}))
show("shutdown", session.request("shutdown"))
show("after shutdown", session.request("textDocument/hover", {}))
session.notify("exit")
print("exit status", session.server.wait())

# The editor dies.
session = Session(sys.argv[1:])
session.send_raw(b"Content-Length: 100\r\n\r\n{")
session.server.stdin.close()
print("exit status", session.server.wait())
