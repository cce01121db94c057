"""A provider of embeddings on the loopback that misbehaves at the calls that it is told to, and keeps the books.

1. A call is numbered when it comes in; a text counts as paid when its call was worked on, whatever became of the answer.
2. What it does wrong is named by a word; `FAULTS` has them all.
"""

import json
import socket
import struct
import threading
from collections import Counter
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIMENSIONS = 8


def vector(text):
    return [byte - 127.5 for byte in blake2b(text.encode(), digest_size=DIMENSIONS).digest()]


class Provider(ThreadingHTTPServer):
    """`faults` has a fault by the number of the call; `refuses` says which texts it does not take."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults = {}
        self.refuses = lambda _text: False
        self.names_refused = False
        self.calls = []
        self.paid = Counter()
        self.released = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/embed"

    def handle_error(self, _request, _client_address):
        """A client that went away is what is tested."""

    def close(self):
        self.released.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_arguments):
        """Say nothing."""

    def do_POST(self):
        server = self.server
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
        with server.lock:
            server.calls.append(texts)
            fault = server.faults.get(len(server.calls))
            refused = [position for position, text in enumerate(texts) if server.refuses(text)]
            if not refused and fault not in REFUSALS:
                server.paid.update(texts)
        if refused:
            named = {"inputs": refused} if server.names_refused else {}
            self.answer(400, {"detail": "too long for this model", **named})
        elif fault is None:
            self.answer(200, {"vectors": list(map(vector, texts))})
        else:
            FAULTS[fault](self, texts)

    def answer(self, status, values, headers=(), cut=0):
        body = json.dumps(values).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) - cut))
        self.end_headers()
        self.wfile.write(body[: len(body) - cut])

    def reset(self):
        """Half an answer, then the connection is gone without a word."""
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n{")
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _status(status, *headers):
    return lambda handler, _texts: handler.answer(status, {"detail": "not now"}, headers)


def _vectors(change):
    return lambda handler, texts: handler.answer(200, {"vectors": change(list(map(vector, texts)))})


FAULTS = {
    "hang": lambda handler, _texts: handler.server.released.wait(60),
    "429": _status(429),
    "429 with Retry-After": _status(429, ("Retry-After", "2")),
    "500": _status(500),
    "502": _status(502),
    "503": _status(503, ("Retry-After", "1")),
    "reset": lambda handler, _texts: handler.reset(),
    "cut short": lambda handler, texts: handler.answer(200, {"vectors": list(map(vector, texts))}, cut=5),
    "401": _status(401),
    "404": _status(404),
    "nothing": _vectors(lambda _all: []),
    "partial batch": _vectors(lambda all_: all_[:-1]),
    "one too many": _vectors(lambda all_: [*all_, all_[0]]),
    "wrong dimension": _vectors(lambda all_: [row[:-1] for row in all_]),
    "NaN": _vectors(lambda all_: [*all_[:-1], [float("nan")] * DIMENSIONS]),
    "infinite": _vectors(lambda all_: [*all_[:-1], [float("inf")] * DIMENSIONS]),
    "zeros": _vectors(lambda all_: [*all_[:-1], [0.0] * DIMENSIONS]),
    "empty vectors": _vectors(lambda all_: [[] for _ in all_]),
}

REFUSALS = {"429", "429 with Retry-After", "500", "502", "503", "401", "404"}
"""Faults for which nobody is charged: the call was not worked on."""

PASSES = {"hang", "429", "429 with Retry-After", "500", "502", "503", "reset", "cut short"}
"""Faults that are over at the next call."""
