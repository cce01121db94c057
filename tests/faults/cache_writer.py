"""Works on a cache that may die on the way: called by test_cache in its own process, or forked for it one by one.

As a program it reads jobs, a line of JSON each, and forks a child for every one; what the child said and how it ended
comes back as a line. A job names a folder, a work, and the write, sync or truncation of any file within which to die:
`torn` as SIGKILL has it, `lost` as a power cut has it that forgets every write since the last sync.
"""

import json
import os
import signal
import sys
import tempfile
import traceback

import apsw

from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.cachesamples import TODAY, key, vector
from steadlith_core.ports import PruneRule

WIDE = 96


def entries(start, end):
    return {key(number): vector(number, WIDE) for number in range(start, end)}


def opened(folder, today=TODAY + 1):
    cache = FACTORY.open({}, root=str(folder), readonly=False, today=today)
    cache._connection.execute("pragma cache_size = 4").fetchall()  # so that a transaction spills
    return cache


def put(cache, said):
    for start in range(300, 600, 100):
        cache.put(entries(start, start + 100))
        said(start, start + 100)


def add(cache, said):
    for start in range(200, 500, 100):  # the first hundred is there already
        cache.add(entries(start, start + 100))
        said(start, start + 100)


def prune(cache, said):
    cache.prune(PruneRule(unused_before=TODAY + 1, max_bytes=20 * 4 * WIDE))
    cache.reclaim()


def drop(cache, said):
    cache.drop(list(entries(100, 140)))
    cache.reclaim()


def touch(cache, said):
    cache.touch(list(entries(0, 300)))


WORKS = {"put": put, "add": add, "prune": prune, "drop": drop, "touch": touch}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown(apsw.VFS):
    """Dies at the n-th effect on any file."""

    left = -1
    lost = False

    def __init__(self):
        super().__init__("dying", "unix", makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802 -- apsw's name
        return (LostFile if Countdown.lost else TornFile)(name, flags)

    @staticmethod
    def is_over():
        Countdown.left -= 1
        return Countdown.left == 0


class TornFile(apsw.VFSFile):
    """Half of the last write is on the disk."""

    def __init__(self, name, flags):
        super().__init__("unix", name, flags)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            super().xWrite(data[: len(data) // 2], offset)
            die()
        super().xWrite(data, offset)

    def xSync(self, flags):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            die()
        super().xSync(flags)

    def xTruncate(self, size):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            die()
        super().xTruncate(size)


class LostFile(apsw.VFSFile):
    """Nothing is on the disk before it is synchronised; this process reads what it wrote all the same."""

    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
        self.shown = bytearray(super().xRead(super().xFileSize(), 0) if super().xFileSize() else b"")
        self.waiting = []

    def xRead(self, amount, offset):  # noqa: N802 -- apsw's name
        return bytes(self.shown[offset : offset + amount])

    def xFileSize(self):  # noqa: N802 -- apsw's name
        return len(self.shown)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            die()
        data = bytes(data)
        self.shown.extend(bytes(max(0, offset + len(data) - len(self.shown))))
        self.shown[offset : offset + len(data)] = data
        self.waiting.append((data, offset))

    def xTruncate(self, size):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            die()
        del self.shown[size:]
        self.waiting.append((None, size))

    def xSync(self, flags):  # noqa: N802 -- apsw's name
        if Countdown.is_over():
            die()
        for data, offset in self.waiting:
            if data is None:
                super().xTruncate(offset)
            else:
                super().xWrite(data, offset)
        self.waiting.clear()
        super().xSync(flags)


def main(folder, work, moment, how, careless):
    """The work of one child. What is acknowledged goes to stdout at once, as two numbers."""
    Countdown.lost = how == "lost"
    vfs = Countdown()
    Countdown.left = moment
    cache = opened(folder)
    if careless:
        cache._connection.execute("pragma synchronous = off").fetchall()
    WORKS[work](cache, lambda start, end: os.write(1, f"{start} {end}\n".encode()))
    cache.close()
    os.write(1, f"effects {moment - Countdown.left}\n".encode())
    del vfs


def child(job, said):
    os.dup2(said.fileno(), 1)
    code = 70
    try:
        main(**job)
        code = 0
    except BaseException:  # noqa: BLE001 -- told on stderr, which the tests' own is
        traceback.print_exc()
    finally:
        os._exit(code)


def serve():
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as said:
            process = os.fork()
            if not process:
                child(json.loads(line), said)
            _, status = os.waitpid(process, 0)
            said.seek(0)
            sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), said.read()]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
