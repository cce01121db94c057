"""For the scripts beside it that die while SQLite writes: in the middle of the N-th write to any file."""

import os
import signal

import apsw


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class DyingFile(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)

    def xWrite(self, data, offset):  # noqa: N802 -- apsw's name
        DyingVFS.left -= 1
        if DyingVFS.left == 0:
            super().xWrite(data[: len(data) // 2], offset)
            die()
        super().xWrite(data, offset)


class DyingVFS(apsw.VFS):
    """The default for all files from now on; `left` counts down, and below 1 nobody dies."""

    file = DyingFile
    left = -1

    def __init__(self):
        super().__init__("dying", "unix", makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802 -- apsw's name
        return self.file(name, flags)
