"""What goes wrong in this process, and when: the n-th operation that is counted.

1. A kill comes before the operation, after it, or in the middle of a write. What was written is the kernel's and stays.
2. A power cut besides takes back what was not synced (`disk.py`), shared memory with it.
3. A full disk or a failing one is an error, once or from then on; the operation has not been done then. Who was asked
   for the operation raises it, in the way that is expected of him.
"""

import os
import signal
from pathlib import Path
from random import Random

from faults.disk import POLICIES, Disk, torn_data

SQLITE = ("write", "sync", "truncate", "delete")
"""Operations on SQLite's files. Besides there is `read`, where a fault asks for it."""
FILES = ("create", "write file", "sync file", "rename", "sync folder", "remove")
"""Operations on all others: those of `steadlith.files.FileSystem`."""
NEEDS_ROOM = {"write", "create", "write file"}


class Fate:
    """What happens to one process: `kind`, at the `at`-th operation of those in `verbs`."""

    def __init__(self, kind=None, at=0, *, seed=0, lasting=False, verbs=SQLITE):
        self.kind, self._at, self._lasting = kind, at, lasting
        self._verbs = [verb for verb in verbs if kind != "full" or verb in NEEDS_ROOM]
        self._chance = Random(f"{seed} {at}")
        self.seen = []  # (verb, file's name) of every operation that was counted
        self.disk = Disk() if kind == "power cut" else None

    def meet(self, verb, name):
        """Before an operation: what is to go wrong with it, if anything. A kill before it is done here."""
        if verb not in self._verbs:
            return None
        self.seen.append((verb, Path(name).name))
        if len(self.seen) != self._at and not (self._lasting and len(self.seen) > self._at > 0):
            return None
        if self.kind == "kill before" or (self.kind == "kill within" and not verb.startswith("write")):
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
