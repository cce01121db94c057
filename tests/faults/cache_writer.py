"""Works on a cache that may die on the way: run by test_faults, in its process or in one of its own.

Usage: cache_writer.py FOLDER WORK N (torn | lost): die in the middle of the N-th write, sync or truncation of any file;
`torn` as SIGKILL has it, `lost` as a power cut has it that forgets every write since the last sync.
Prints `KEY` numbers as they are acknowledged.
"""

import os
import signal
import sys

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


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(folder, work, moment, how):
    Countdown.lost = how == "lost"
    vfs = Countdown()
    Countdown.left = int(moment)
    cache = opened(folder)
    WORKS[work](cache, say)
    cache.close()
    say("effects", int(moment) - Countdown.left)
    del vfs


if __name__ == "__main__":
    main(*sys.argv[1:])
