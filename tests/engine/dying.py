"""Run by the tests of compacting and backing up: does one thing to a site and dies in the middle of a write.

Usage: dying.py FOLDER (compact | erase | backup) N: die at the N-th write or truncation of any file of SQLite's.
"""

import os
import signal
import sys
from pathlib import Path

import apsw

import steadlith


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
    index = steadlith.open(folder)
    if work == "backup":
        index.backup(Path(folder) / "backup.sqlite3", replace=True)
    else:
        index.compact(keep=1, erase=["docs:secret.md"] if work == "erase" else [])
    del vfs
    sys.stdout.write(str(int(moment) - DyingVFS.left))


if __name__ == "__main__":
    main(*sys.argv[1:])
