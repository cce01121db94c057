"""A `steadlith.files.FileSystem` in which an operation goes wrong as `fate.py` has it."""

import errno
import io
import os

from faults.disk import Write

from steadlith import files

ERRORS = {"full": errno.ENOSPC, "error": errno.EIO}


def asked(fate, verb, path):
    """Count an operation; raises its error. Otherwise whether to die within or after it."""
    moment = fate.meet(verb, str(path))
    if moment in ERRORS:
        raise OSError(ERRORS[moment], os.strerror(ERRORS[moment]), str(path))
    return moment


class FaultyFile(io.FileIO):
    fate = None

    def write(self, data):
        moment = asked(self.fate, "write file", self.name)
        data = bytes(data)
        at = self.tell()
        if moment == "kill within":
            super().write(self.fate.within(data))
            self.fate.die()
        done = super().write(data)
        if self.fate.disk:
            self.fate.disk.do(self.name, Write(at, data))
        if moment:
            self.fate.die()
        return done


class FaultyFiles(files.Posix):
    """`careless` forgets to sync what is written: the campaign must notice."""

    def __init__(self, fate, *, careless=False):
        self._fate = fate
        self._careless = careless

    def create(self, path):
        moment = asked(self._fate, "create", path)
        file = FaultyFile(str(path), "xb")
        file.fate = self._fate
        if self._fate.disk:
            self._fate.disk.open(str(path), None)
        self._end(moment)
        return file

    def sync(self, file):
        moment = asked(self._fate, "sync file", file.name)
        if moment == "power cut":
            self._fate.die()
        if not self._careless:
            super().sync(file)
            if self._fate.disk:
                self._fate.disk.sync(file.name)
        self._end(moment)

    def replace(self, path, target):
        moment = asked(self._fate, "rename", target)
        if self._fate.disk and target.exists():
            self._fate.disk.open(str(target), target.read_bytes())
        super().replace(path, target)
        if self._fate.disk:
            self._fate.disk.rename(str(path), str(target))
        self._end(moment)

    def sync_folder(self, folder):
        moment = asked(self._fate, "sync folder", folder)
        if moment == "power cut":
            self._fate.die()
        super().sync_folder(folder)
        if self._fate.disk:
            self._fate.disk.sync_names(str(folder))
        self._end(moment)

    def remove(self, path):
        moment = asked(self._fate, "remove", path)
        if self._fate.disk:
            self._fate.disk.open(str(path), path.read_bytes())
        super().remove(path)
        if self._fate.disk:
            self._fate.disk.remove(str(path))
        self._end(moment)

    def _end(self, moment):
        if moment:
            self._fate.die()
