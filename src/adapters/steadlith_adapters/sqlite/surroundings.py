"""What can be seen to be wrong around a SQLite file of ours without opening it.

1. Nothing is changed, and the file itself is only asked for its size: who looks must not disturb who writes.
2. A log that holds something is no damage: somebody has the file open, or the last one to have it was killed. Whoever
   opens the file next takes over what was committed in it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.sqlite import aside, network, opening
from steadlith_core.errors import ConfigError
from steadlith_core.ports import Ailment, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.sqlite.kind import FileKind


def troubles(kind: FileKind, path: Path) -> Iterator[Trouble]:
    """What is wrong around the file at `path`, whether it is there or not."""
    try:
        network.refuse(path, kind.setting)
    except ConfigError as error:
        yield Trouble(Ailment.NETWORK, str(path), str(error))
    for suffix in opening.LOGS:
        log = Path(f"{path}{suffix}")
        if kept := _size(log):
            message = f"it holds {kept:,} bytes: the {kind.noun} is open in a process, or its last one was killed"
            way_out = "none needed: whoever opens it next takes over what was committed"
            yield Trouble(Ailment.LOG_LEFT, str(log), message, way_out, grave=False, mendable=True)
    for left in aside.left(path):
        message = f"the {kind.noun} was set aside here as damaged, {_size(left):,} bytes"
        way_out = "delete it when you need nothing of it: nothing reads it"
        yield Trouble(Ailment.SET_ASIDE, str(left), message, way_out, grave=False)
    yield from _room(kind, path)


def _room(kind: FileKind, path: Path) -> Iterator[Trouble]:
    """Whether the disk has room for a second copy, where there is a first one."""
    size = _size(path)
    free = shutil.disk_usage(path.parent).free if size else 0
    if free < size:
        message = f"{free:,} bytes are free where the {kind.noun} takes {size:,}"
        way_out = "free some space: giving space back and rebuilding need room for a second copy"
        yield Trouble(Ailment.DISK_SPACE, str(path), message, way_out, grave=False)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
