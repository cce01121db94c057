"""A provider of embeddings on the loopback that misbehaves at the calls that it is told to, and keeps the books.

1. A call is numbered when it comes in; a text counts as paid when its call was worked on, whatever came of the answer.
2. What it does wrong is named by a word; `FAULTS` has them all.
"""

import json
import socket
import struct
import threading
import time
from collections import Counter
from email.utils import formatdate
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from steadlith_core.applying.audit import PROBE_TEXTS

DIMENSIONS = 8


def vector(text):
    return [byte - 127.5 for byte in blake2b(text.encode(), digest_size=DIMENSIONS).digest()]


class Provider(ThreadingHTTPServer):
    """`faults` has a fault by the number of the call, `lasting` one from a call on; `refuses` says which texts it does
    not take, and with `names_refused` its answer says which of a call these are. `paid` leaves the probe's texts out.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.reset()

    def reset(self):
        """Forget everything, as if it had just been started."""
        self.faults = {}
        self.lasting = None
        self.refuses = lambda _text: False
        self.names_refused = False
        self.calls, self.times = [], []
        self.paid = Counter()
        self.released.set()
        self.released = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/embed"

    def fault(self, number):
        """What goes wrong at this call, if anything does."""
        if self.lasting is not None and number >= self.lasting[0]:
            return self.lasting[1]
        return self.faults.get(number)

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
            server.times.append(time.monotonic())
            server.calls.append(texts)
            fault = server.fault(len(server.calls))
            refused = [position for position, text in enumerate(texts) if server.refuses(text)]
            if not refused and fault not in UNPAID:
                server.paid.update(text for text in texts if text not in PROBE_TEXTS)
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

    def hang(self):
        """No answer, until the provider is told to go on."""
        self.server.released.wait(60)

    def slowly(self, texts):
        """An answer when the provider is told to go on."""
        self.hang()
        self.answer(200, {"vectors": list(map(vector, texts))})

    def disconnect(self, first=b""):
        """The connection is gone without a word, after `first`."""
        self.wfile.write(first)
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())


def _status(status, **headers):
    given = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda handler, _texts: handler.answer(status, {"detail": "not now"}, given)


def _at_a_date(handler, _texts):
    handler.answer(429, {"detail": "not now"}, [("Retry-After", formatdate(time.time() + 4, usegmt=True))])


def _vectors(change):
    return lambda handler, texts: handler.answer(200, {"vectors": change(list(map(vector, texts)))})


TRANSIENT = {
    "hang": lambda handler, _texts: handler.hang(),
    "408": _status(408),
    "429": _status(429),
    "429, Retry-After in seconds": _status(429, Retry_After="2"),
    "429, Retry-After as a date": _at_a_date,
    "429, Retry-After without sense": _status(429, Retry_After="soon"),
    "500": _status(500),
    "502": _status(502),
    "503, Retry-After in seconds": _status(503, Retry_After="1"),
    "529": _status(529),
    "reset": lambda handler, _texts: handler.disconnect(),
    "reset within the answer": lambda handler, _texts: handler.disconnect(
        b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n{"
    ),
    "cut short": lambda handler, texts: handler.answer(200, {"vectors": list(map(vector, texts))}, cut=5),
}
"""Faults that are over at the next call."""

REFUSALS = {"401": _status(401), "403": _status(403), "404": _status(404)}

BAD_ANSWERS = {
    "no vectors": _vectors(lambda _all: []),
    "partial batch": _vectors(lambda all_: all_[:-1]),
    "one too many": _vectors(lambda all_: [*all_, all_[0]]),
    "wrong dimension": _vectors(lambda all_: [row[:-1] for row in all_]),
    "one of wrong dimension": _vectors(lambda all_: [*all_[:-1], all_[-1][:-1]]),
    "empty vectors": _vectors(lambda all_: [[] for _ in all_]),
    "NaN": _vectors(lambda all_: [*all_[:-1], [float("nan")] * DIMENSIONS]),
    "infinite": _vectors(lambda all_: [*all_[:-1], [float("inf")] * DIMENSIONS]),
    "zeros": _vectors(lambda all_: [*all_[:-1], [0.0] * DIMENSIONS]),
    "words for numbers": _vectors(lambda all_: [*all_[:-1], ["x"] * DIMENSIONS]),
    "an error with status 200": lambda handler, _texts: handler.answer(200, {"detail": "quota exceeded"}),
}

DOUBTFUL = {
    "one vector for all": _vectors(lambda all_: [all_[0] for _ in all_]),
    "another order": _vectors(lambda all_: all_[::-1]),
    "another model": _vectors(lambda all_: [row[::-1] for row in all_]),
}
"""Answers that are vectors, one for each text, and not the texts'."""

LONG = {
    "429, Retry-After of minutes": _status(429, Retry_After="300"),
    "slow": lambda handler, texts: handler.slowly(texts),
}
"""What a test waits through, or does not."""

FAULTS = {**TRANSIENT, **REFUSALS, **BAD_ANSWERS, **DOUBTFUL, **LONG}

WORKED_ON = {"hang", "slow", "reset", "reset within the answer", "cut short", *BAD_ANSWERS, *DOUBTFUL}
UNPAID = FAULTS.keys() - WORKED_ON
"""Faults for which nobody is charged: the call was not worked on."""
