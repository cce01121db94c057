"""Run by test_sqlite_keeping_crashes: compacts, scrubs or backs up an index and dies where it is told to.

Usage: sqlite_keeper.py FOLDER (compact | scrub | backup) N: die in the middle of the N-th write to any file.
"""

import os
import signal
import sys
from pathlib import Path

import apsw

from steadlith_adapters.stores.sqlite import FACTORY


class DyingFile(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name
        DyingVFS.left -= 1
        if DyingVFS.left == 0:
            super().xWrite(data[: len(data) // 2], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)

    def xTruncate(self, size):  # noqa: N802 -- apsw's name
        DyingVFS.left -= 1
        if DyingVFS.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        super().xTruncate(size)


class DyingVFS(apsw.VFS):
    left = -1

    def __init__(self):
        super().__init__("dying", "unix", makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802 -- apsw's name
        return DyingFile(name, flags)


def main(folder, work, moment):
    vfs = DyingVFS()
    DyingVFS.left = int(moment)
    store = FACTORY.open({"path": "index.sqlite3"}, root=folder, readonly=False)
    head = store.head()
    if work == "backup":
        store.backup(str(Path(folder, "backup.sqlite3"))).close()
    else:
        store.compact(head, head.generation, scrub=work == "scrub")
    store.close()
    del vfs
    sys.stdout.write(str(int(moment) - DyingVFS.left))


if __name__ == "__main__":
    main(*sys.argv[1:])
