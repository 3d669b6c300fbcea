"""A session with the language server over its standard input and output."""

import json
import subprocess
import sys
import threading


class Session:
    def __init__(self, command, initialize=True):
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        # A server that hangs is a failure, not a test without end.
        self.timer = threading.Timer(120, self.server.kill)
        self.timer.daemon = True
        self.timer.start()
        self.identity = 0
        if initialize:
            self.capabilities = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})[
                "result"]["capabilities"]
            self.notify("initialized", {})

    def send_raw(self, data):
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def send_body(self, body):
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, message):
        self.send_body(json.dumps(message).encode())

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method, params=None):
        self.identity += 1
        identity = self.identity
        message = {"jsonrpc": "2.0", "id": identity, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.receive(lambda m: m.get("id") == identity)

    def receive(self, wanted=lambda m: True):
        """The next message that `wanted` accepts."""
        while True:
            length = 0
            while True:
                line = self.server.stdout.readline()
                if not line:
                    sys.exit("the server has ended with status %s" % self.server.wait())
                if not line.strip():
                    break
                name, value = line.decode().split(":", 1)
                if name.lower() == "content-length":
                    length = int(value)
            message = json.loads(self.server.stdout.read(length))
            if wanted(message):
                return message

    def diagnostics(self, uri):
        message = self.receive(lambda m: m.get("method") == "textDocument/publishDiagnostics" and
                               m["params"]["uri"] == uri)
        return message["params"]["diagnostics"]

    def open(self, uri, text, language="atx", version=1):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": language, "version": version, "text": text}})
        return self.diagnostics(uri)

    def change(self, uri, text, version=2):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})
        return self.diagnostics(uri)

    def at(self, method, uri, line, character, **more):
        """A request about a position; counts from 0."""
        params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        params.update(more)
        return self.request("textDocument/" + method, params).get("result")

    def end(self):
        self.request("shutdown")
        self.notify("exit")
        status = self.server.wait()
        self.timer.cancel()
        return status


def place(range_):
    return "%d:%d-%d:%d" % (range_["start"]["line"], range_["start"]["character"], range_["end"]["line"],
                            range_["end"]["character"])


def show(diagnostics):
    print("%d diagnostics" % len(diagnostics))
    for entry in diagnostics:
        print("%s %s: %s" % ({1: "error", 2: "warning"}[entry["severity"]], place(entry["range"]), entry["message"]))
        for note in entry.get("relatedInformation", []):
            print("  note %s %s: %s" % (note["location"]["uri"].rsplit("/", 1)[-1], place(note["location"]["range"]),
                                        note["message"]))
