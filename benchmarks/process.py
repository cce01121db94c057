"""One process, measured from outside: wall, CPU, peak memory, and bytes written.

1. Bytes are read from /proc while the ended process waits to be reaped, so nothing it did is missed.
2. The parent stays small: a child's peak memory is never below what its parent had when it forked.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "NO_COLOR": "1", "HOME": str(Path.home())}


@dataclass(frozen=True, slots=True)
class Usage:
    """What one run took. `written` counts the bytes of write calls, `to_disk` those that went to the disk."""

    wall: float
    cpu: float
    memory: int
    written: int
    to_disk: int


def run(command: Sequence[str | Path], folder: Path) -> tuple[Usage, str]:
    """Run to the end; stops the benchmark with the process's own words if it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=out, stderr=err)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        wall = time.perf_counter() - start
        written, to_disk = _written(child.pid)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode:
            shown = " ".join(map(str, command))
            sys.exit(f"bench: exit {child.returncode} from: {shown}\n{out.read()[-2000:]}\n{err.read()[-2000:]}")
        return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, written, to_disk), out.read()


def medians(usages: Iterable[Usage]) -> Usage:
    """The median of every field on its own."""
    runs = list(usages)
    return Usage(*(median(getattr(usage, field.name) for usage in runs) for field in fields(Usage)))


def _written(pid: int) -> tuple[int, int]:
    counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return int(counts["wchar"]), int(counts["write_bytes"])
