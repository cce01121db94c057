"""A VFS for SQLite in which the n-th operation on a file goes wrong. Most of its faults end the process.

1. Counted are writes, syncs, truncations and removals, or reads where a fault asks for them, of the files it names.
2. A kill comes before the operation, after it, or in the middle of a write. What was written is the kernel's and stays.
3. A power cut besides takes back what was not synced (`disk.py`), shared memory with it.
4. An error (a full disk, a failing one) comes once or from then on; the operation has not been done then.

SQLite maps no page of a file whose VFS has no `xFetch`, so every read comes through here as well.
"""

import os
import signal
import sys
from pathlib import Path
from random import Random

import apsw
from disk import POLICIES, Cut, Disk, Write, torn_data

ERRORS = {
    ("full", "write"): (apsw.FullError, apsw.SQLITE_FULL, "database or disk is full"),
    ("error", "write"): (apsw.IOError, apsw.SQLITE_IOERR_WRITE, "disk I/O error"),
    ("error", "sync"): (apsw.IOError, apsw.SQLITE_IOERR_FSYNC, "disk I/O error"),
    ("error", "truncate"): (apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE, "disk I/O error"),
    ("error", "delete"): (apsw.IOError, apsw.SQLITE_IOERR_DELETE, "disk I/O error"),
    ("error", "read"): (apsw.IOError, apsw.SQLITE_IOERR_READ, "disk I/O error"),
}
"""What SQLite hears."""
CHANGES = ("write", "sync", "truncate", "delete")
COUNTED = {"full": ("write",)}  # nothing else needs room
SIDE_FILES = ("-wal", "-journal")


class Faults:
    """What goes wrong in this process, and when. `names` are the ends of the files' names that are counted."""

    def __init__(self, kind=None, at=0, *, seed=0, lasting=False, names=("",), verbs=None):
        self.kind, self.at, self.lasting = kind, at, lasting
        self.names = tuple(name + side for name in names for side in ("", *SIDE_FILES))
        self.verbs = verbs or COUNTED.get(kind, CHANGES)
        self.seen = []  # (verb, file's name) of every operation that was counted
        self.raised = []  # what was raised, so that it can be told from an error of our own
        self.disk = Disk() if kind == "power cut" else None
        self._chance = Random(f"{seed} {at}")

    @property
    def here(self):
        """Whether the operation that was counted last is to go wrong."""
        return len(self.seen) == self.at or (self.lasting and len(self.seen) > self.at > 0)

    def count(self, verb, name):
        """Before an operation. Raises, dies, or answers whether to die in the middle or after it."""
        if verb not in self.verbs or not name.endswith(self.names):
            return None
        self.seen.append((verb, Path(name).name))
        if not self.here:
            return None
        if (self.kind, verb) in ERRORS:
            kind, code, message = ERRORS[self.kind, verb]
            error = kind(message)
            error.result, error.extendedresult = code & 0xFF, code
            self.raised.append(error)
            raise error
        if self.kind == "kill before" or (self.kind == "kill within" and verb != "write"):
            self.die()
        return self.kind

    def within(self, data):
        """As much of `data` as is written before the process dies in the middle of it."""
        return torn_data(data, self._chance)

    def die(self):
        """End this process as a kill would, or as a power cut would."""
        if self.disk:
            policy = self._chance.choice(POLICIES)
            for name, content in self.disk.after_power_cut(policy, self._chance).items():
                if content is None:
                    Path(name).unlink(missing_ok=True)
                else:
                    Path(name).write_bytes(content)
                Path(f"{name}-shm").unlink(missing_ok=True)
        os.kill(os.getpid(), signal.SIGKILL)


class FaultyFile(apsw.VFSFile):
    def __init__(self, faults, name, flags):
        self._faults = faults
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name or "(temporary)")
        # As SQLite's own VFS has it: the first sync of a log, by whoever opened it, syncs its folder as well.
        self._syncs_folder = bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))
        there = os.path.exists(self._name)  # noqa: PTH110 -- SQLite's names are text
        super().__init__("unix", name, flags)
        if faults.disk and name:
            size = super().xFileSize()
            faults.disk.open(self._name, super().xRead(size, 0) if there and size else b"" if there else None)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name, as all that begin with x
        data = bytes(data)
        moment = self._faults.count("write", self._name)
        if moment == "kill within":
            super().xWrite(self._faults.within(data), offset)
            self._faults.die()
        super().xWrite(data, offset)
        self._done(Write(offset, data), moment)

    def xTruncate(self, size):  # noqa: N802
        moment = self._faults.count("truncate", self._name)
        super().xTruncate(size)
        self._done(Cut(size), moment)

    def xSync(self, flags):  # noqa: N802
        moment = self._faults.count("sync", self._name)
        if moment == "power cut":
            self._faults.die()  # while the disk was asked to: nothing is certain yet
        super().xSync(flags)
        if self._faults.disk and self._name in self._faults.disk.names:
            self._faults.disk.sync(self._name)
            if self._syncs_folder:
                self._faults.disk.sync_names()
                self._syncs_folder = False
        if moment:
            self._faults.die()

    def xRead(self, amount, offset):  # noqa: N802
        self._faults.count("read", self._name)
        return super().xRead(amount, offset)

    def _done(self, change, moment):
        if self._faults.disk and self._name in self._faults.disk.names:
            self._faults.disk.do(self._name, change)
        if moment:
            self._faults.die()


class FaultyVFS(apsw.VFS):
    def __init__(self, faults):
        super().__init__("faulty", "unix", makedefault=True)
        self._faults = faults

    def xOpen(self, name, flags):  # noqa: N802
        return FaultyFile(self._faults, name, flags)

    def xDelete(self, name, sync_folder):  # noqa: N802
        moment = self._faults.count("delete", name)
        if moment == "power cut":
            self._faults.die()
        super().xDelete(name, sync_folder)
        if self._faults.disk and name in self._faults.disk.names:
            self._faults.disk.remove(name)
            if sync_folder:
                self._faults.disk.sync_names()
        if moment:
            self._faults.die()


class Connection(apsw.Connection):
    """SQLite closes a file whatever the last checkpoint says; apsw would tell what our methods raised meanwhile."""

    faults = None

    def close(self, force=False):
        try:
            super().close(force)
        except apsw.Error as error:
            if error not in self.faults.raised:
                raise


def install(faults):
    """Put SQLite on the faulty VFS, for the rest of this process. The VFS lives as long as what this answers."""
    Connection.faults = faults
    apsw.Connection = Connection
    # apsw tells of errors that it cannot raise; these are ours, and SQLite knows of them.
    sys.unraisablehook = lambda told: None if told.exc_value in faults.raised else sys.__unraisablehook__(told)
    return FaultyVFS(faults)
