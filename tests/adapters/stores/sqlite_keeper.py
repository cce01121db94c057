"""Run by test_sqlite_keeping_crashes: compacts, scrubs or backs up an index and dies where it is told to.

Usage: sqlite_keeper.py FOLDER (compact | scrub | backup) N: die in the middle of the N-th write to any file.
"""

import sys
from pathlib import Path

from dying import DyingFile, DyingVFS, die

from steadlith_adapters.stores.sqlite import FACTORY


class AtTruncations(DyingFile):
    """A truncation counts as a write."""

    def xTruncate(self, size):  # noqa: N802 -- apsw's name
        DyingVFS.left -= 1
        if DyingVFS.left == 0:
            die()
        super().xTruncate(size)


def main(folder, work, moment):
    DyingVFS.file = AtTruncations
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
