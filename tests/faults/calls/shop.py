"""A shop: documents, an index over them, and a provider whose books are the truth of what was paid."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.calls.provider import DIMENSIONS

import steadlith

THIRD_PARTY = Path(__file__).parent / "third_party"
COMMAND = "from steadlith.cli.main import main; main()"
BATCH = 3

CONFIG = """
[sources.docs]
path = "docs"
[chunking]
min_tokens = 16
max_tokens = 48
[embedding]
embedder = "http"
url = "{url}"
dimensions = {dimensions}
timeout = {timeout}
batch_size = {batch_size}
concurrency = {concurrency}
{embedding}
"""


def one_chunk(word):
    """A text too large to share a chunk and too small to be cut."""
    return f"{word} holds a matter of its own, " + "silver gamma under delta " * 5


class Shop:
    """`docs/` with one chunk a document. Every call opens the index anew, as a new process would."""

    def __init__(self, root, provider):
        self.root, self.docs, self.provider = root, root / "docs", provider
        self.docs.mkdir()
        self.configure()

    def configure(self, *, batch_size=BATCH, concurrency=1, timeout=10, embedding=""):
        text = CONFIG.format(
            url=self.provider.url,
            dimensions=DIMENSIONS,
            timeout=timeout,
            batch_size=batch_size,
            concurrency=concurrency,
            embedding=embedding,
        )
        (self.root / "steadlith.toml").write_text(text, "utf-8")

    def write(self, *words):
        for word in words:
            self.write_as(word, word)

    def write_as(self, name, word):
        """The document `name`, with a text of its own."""
        (self.docs / f"{name}.txt").write_text(one_chunk(word), "utf-8")

    def open(self):
        return steadlith.open(self.root)

    def plan(self, *arguments):
        return self.open().plan(*arguments)

    def apply(self, plan=None, **options):
        return self.open().apply(plan or self.plan(), **options)

    def cached(self):
        """The texts of a plan whose vectors are in the cache."""
        with self.open()._planning(steadlith.Look(), stat_cache=False, workers=1) as (_, world, planned):
            inputs = planned.writes.inputs
            return Counter(inputs[key] for key in inputs if key in world.available)

    def is_sound(self):
        """Whether everything that the index holds proves itself, and its lock is free."""
        index = self.open()
        with index.reader() as reader:
            assert list(reader.problems(full=True)) == []
        assert index.verify().problems == ()
        with self.locked():
            return True

    @contextmanager
    def locked(self, holder="a test"):
        lock = self.open()._assembly.lock(timeout=0, holder=holder)
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def running(self, *arguments, first=""):
        """The command line as a process of its own, which does `first` first."""
        path = os.pathsep.join([str(THIRD_PARTY), *filter(None, [os.environ.get("PYTHONPATH")])])
        with subprocess.Popen(
            [sys.executable, "-c", first + COMMAND, *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def run(self, *arguments, code=0):
        """The same, to its end: what it told on stderr."""
        with self.running(*arguments) as process:
            _, told = process.communicate(timeout=60)
        assert process.returncode == code, told
        return told

    def answer(self, *arguments, code=0):
        """The same, and its answer as a JSON document."""
        with self.running(*arguments) as process:
            answered, told = process.communicate(timeout=60)
        assert process.returncode == code, told
        return json.loads(answered)


def until(holds):
    """Wait until it holds; a test that waits for ever is cut off here."""
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("what was waited for did not happen")


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
