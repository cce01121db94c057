"""One process, measured from outside: wall, CPU, peak memory, and bytes written.

1. Bytes are read from /proc while the ended process waits to be reaped, so nothing it did is missed.
2. The parent stays small: a child's peak memory is never below what its parent had when it forked.
3. With `core` the process and all of its threads run on that one core.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypedDict

ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "NO_COLOR": "1", "HOME": str(Path.home())}


class Usage(TypedDict):
    """What one run took. `written` counts the bytes of write calls, `to_disk` those that went to the disk."""

    wall: float
    cpu: float
    memory: int
    written: int
    to_disk: int


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    core: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Usage, str]:
    """Run to the end; stops the benchmark with the process's own words if it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=ENVIRONMENT | dict(environment or {}),
            stdout=out,
            stderr=err,
            preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None,  # noqa: PLW1509
        )
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
        usage: Usage = {
            "wall": wall,
            "cpu": used.ru_utime + used.ru_stime,
            "memory": used.ru_maxrss * 1024,
            "written": written,
            "to_disk": to_disk,
        }
        return usage, out.read()


def answer(command: Sequence[str | Path], folder: Path, *, core: int | None = None) -> Any:
    """What a script printed as JSON."""
    return json.loads(run(command, folder, core=core)[1])


def medians(usages: Iterable[Usage]) -> Usage:
    """The median of every field on its own."""
    return middle(usages)  # type: ignore[return-value]


def middle(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median of every key on its own."""
    rows = list(rows)
    return {key: median(row[key] for row in rows) for key in rows[0]}


def _written(pid: int) -> tuple[int, int]:
    counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return int(counts["wchar"]), int(counts["write_bytes"])
