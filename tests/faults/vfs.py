"""A VFS for SQLite in which an operation goes wrong as `fate.py` has it.

SQLite maps no page of a file whose VFS has no `xFetch`, so every read comes through here as well.
"""

import os
import sys

import apsw
from faults.disk import Cut, Write

ERRORS = {
    ("full", "write"): (apsw.FullError, apsw.SQLITE_FULL, "database or disk is full"),
    ("error", "write"): (apsw.IOError, apsw.SQLITE_IOERR_WRITE, "disk I/O error"),
    ("error", "sync"): (apsw.IOError, apsw.SQLITE_IOERR_FSYNC, "disk I/O error"),
    ("error", "truncate"): (apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE, "disk I/O error"),
    ("error", "delete"): (apsw.IOError, apsw.SQLITE_IOERR_DELETE, "disk I/O error"),
    ("error", "read"): (apsw.IOError, apsw.SQLITE_IOERR_READ, "disk I/O error"),
}
"""What SQLite hears, as from its own VFS."""
RAISED = []
TEMPORARY = "(temporary)"


def asked(fate, verb, name):
    """Count an operation; raises its error. Otherwise whether to die within or after it."""
    if name == TEMPORARY:
        return None  # what becomes of it is nobody's concern once the process is gone
    moment = fate.meet(verb, name)
    if (moment, verb) not in ERRORS:
        return moment
    kind, code, message = ERRORS[moment, verb]
    error = kind(message)
    error.result, error.extendedresult = code & 0xFF, code
    RAISED.append(error)
    raise error


class FaultyFile(apsw.VFSFile):
    def __init__(self, fate, name, flags):
        self._fate = fate
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name or TEMPORARY)
        # As SQLite's own VFS has it: the first sync of a log, by whoever opened it, syncs its folder as well.
        self._syncs_folder = bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))
        there = os.path.exists(self._name)  # noqa: PTH110 -- SQLite's names are text
        super().__init__("unix", name, flags)
        self._disk = fate.disk if name else None  # a temporary file is gone after a cut whatever was written
        if self._disk:
            size = super().xFileSize()
            self._disk.open(self._name, super().xRead(size, 0) if there and size else b"" if there else None)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name, as all that begin with x
        data = bytes(data)
        moment = asked(self._fate, "write", self._name)
        if moment == "kill within":
            super().xWrite(self._fate.within(data), offset)
            self._fate.die()
        super().xWrite(data, offset)
        self._done(Write(offset, data), moment)

    def xTruncate(self, size):  # noqa: N802
        moment = asked(self._fate, "truncate", self._name)
        super().xTruncate(size)
        self._done(Cut(size), moment)

    def xSync(self, flags):  # noqa: N802
        moment = asked(self._fate, "sync", self._name)
        if moment == "power cut":
            self._fate.die()  # while the disk was asked to: nothing is certain yet
        super().xSync(flags)
        if self._disk:
            self._disk.sync(self._name)
            if self._syncs_folder:
                self._disk.sync_names(os.path.dirname(self._name))  # noqa: PTH120 -- as above
                self._syncs_folder = False
        if moment:
            self._fate.die()

    def xRead(self, amount, offset):  # noqa: N802
        asked(self._fate, "read", self._name)
        return super().xRead(amount, offset)

    def _done(self, change, moment):
        if self._disk:
            self._disk.do(self._name, change)
        if moment:
            self._fate.die()


class FaultyVFS(apsw.VFS):
    def __init__(self, fate):
        super().__init__("faulty", "unix", makedefault=True)
        self._fate = fate

    def xOpen(self, name, flags):  # noqa: N802
        return FaultyFile(self._fate, name, flags)

    def xDelete(self, name, sync_folder):  # noqa: N802
        moment = asked(self._fate, "delete", name)
        if moment == "power cut":
            self._fate.die()
        super().xDelete(name, sync_folder)
        if self._fate.disk:
            self._fate.disk.remove(name)
            if sync_folder:
                self._fate.disk.sync_names(os.path.dirname(name))  # noqa: PTH120
        if moment:
            self._fate.die()


class Connection(apsw.Connection):
    """SQLite closes a file whatever its last checkpoint came to; apsw would tell what our methods raised meanwhile."""

    def close(self, force=False):
        try:
            super().close(force)
        except apsw.Error as error:
            if error not in RAISED:
                raise


def install(fate):
    """Put SQLite on the faulty VFS, which lives as long as what this answers."""
    apsw.Connection = Connection
    # apsw tells of errors that it cannot raise; these are ours, and SQLite knows of them.
    sys.unraisablehook = lambda told: None if told.exc_value in RAISED else sys.__unraisablehook__(told)
    return FaultyVFS(fate)
