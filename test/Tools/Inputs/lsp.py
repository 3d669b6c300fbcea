"""A session with a language server over its standard input and output."""

import json
import subprocess
import sys

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
URI = "file:///broken.mlir"


def send(method, params=None, identity=None):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if identity is not None:
        message["id"] = identity
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive(wanted):
    """The next message that `wanted` accepts."""
    while True:
        length = 0
        while True:
            line = server.stdout.readline()
            if not line:
                sys.exit("the server has ended")
            if not line.strip():
                break
            name, value = line.decode().split(":", 1)
            if name.lower() == "content-length":
                length = int(value)
        message = json.loads(server.stdout.read(length))
        if wanted(message):
            return message


def diagnostics():
    message = receive(lambda m: m.get("method") == "textDocument/publishDiagnostics")
    found = message["params"]["diagnostics"]
    print("diagnostics of %s: %d" % (message["params"]["uri"].rsplit("/", 1)[-1], len(found)))
    for entry in found:
        start = entry["range"]["start"]
        print("%s %d:%d: %s" % ({1: "error", 2: "warning"}.get(entry["severity"]), start["line"], start["character"],
                                entry["message"].split("\n")[0]))


def change(version, text):
    send("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]})
    diagnostics()


def hover(identity, line, character):
    send("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}, identity)
    answer = receive(lambda m: m.get("id") == identity)["result"]
    print("hover: %s" % answer["contents"]["value"].replace("\n", " "))


PROGRAM = """func.func @f(%%c: !atx.int_tuple<%s>) -> !atx.int_tuple<19> {
  %%l = atx.static : !atx.layout<%s>
  %%i = atx.crd2idx %%c, %%l : !atx.int_tuple<%s>, !atx.layout<(4,8):(8,1)>
  return %%i : !atx.int_tuple<19>
}
"""

send("initialize", {"processId": None, "rootUri": None, "capabilities": {}, "trace": "off"}, 1)
capabilities = receive(lambda m: m.get("id") == 1)["result"]["capabilities"]
print("initialize: hoverProvider %s" % str(capabilities["hoverProvider"]).lower())
send("initialized", {})
send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1,
                                               "text": PROGRAM % ("(2,3)", "(4,8):(1,4,8)", "(2,3)")}})
diagnostics()
change(2, PROGRAM % ("(2,3,1)", "(4,8):(8,1)", "(2,3,1)"))
change(3, PROGRAM % ("(2,3)", "(4,8):(8,1)", "(2,3)"))
# The name of the operation, then its result.
hover(2, 2, 10)
hover(3, 2, 3)
send("shutdown", None, 4)
receive(lambda m: m.get("id") == 4)
send("exit")
print("exit status %d" % server.wait(timeout=60))
