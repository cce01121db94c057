"""What can be seen to be wrong around a SQLite file of ours without opening it.

1. Nothing is changed, and of the file itself nothing but its size and header is read: who looks must not disturb who
   writes.
2. A log that holds something is no damage: somebody has the file open, or the last one to have it was killed. Whoever
   opens the file next takes over what was committed in it. What a first commit left when it was killed is taken back
   by who writes next.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.sqlite import aside, network, opening, undo
from steadlith_core.errors import ConfigError
from steadlith_core.ports import Ailment, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.sqlite.kind import FileKind


HEADER = 100
"""Bytes of a SQLite file's header."""
_OF_FIRST = "nothing is committed yet, and whoever writes next takes back what was cut off"
_OF_OTHERS = "whoever opens it next takes over what was committed"


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
            first = _is_first(path)
            way_out = f"none needed: {_OF_FIRST if first else _OF_OTHERS}"
            yield Trouble(Ailment.LOG_LEFT, str(log), message, way_out, grave=False, mendable=not first)
    for left in aside.left(path):
        message = f"the {kind.noun} was set aside here as damaged, {_size(left):,} bytes"
        way_out = "delete it when you need nothing of it: nothing reads it"
        yield Trouble(Ailment.SET_ASIDE, str(left), message, way_out, grave=False)
    yield from _age(kind, path)
    yield from _room(kind, path)


def _age(kind: FileKind, path: Path) -> Iterator[Trouble]:
    """Whether the file is of an older release. Its header says so: https://www.sqlite.org/fileformat.html, 1.3."""
    try:
        with path.open("rb") as file:
            header = file.read(HEADER)
    except OSError:
        return
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    if application == kind.application_id and kind.oldest_readable <= version < kind.schema_version:
        message = (
            f"the {kind.noun} is of schema version {version}: it is read as it is, and the next write brings it to "
            f"version {kind.schema_version}, which older releases cannot read"
        )
        way_out = "none needed: `steadlith migrate --apply` does it now"
        yield Trouble(Ailment.OLDER_FORMAT, str(path), message, way_out, grave=False)


def _room(kind: FileKind, path: Path) -> Iterator[Trouble]:
    """Whether the disk has room for a second copy, where there is a first one."""
    size = _size(path)
    free = shutil.disk_usage(path.parent).free if size else 0
    if free < size:
        message = f"{free:,} bytes are free where the {kind.noun} takes {size:,}"
        way_out = "free some space: giving space back and rebuilding need room for a second copy"
        yield Trouble(Ailment.DISK_SPACE, str(path), message, way_out, grave=False)


def _is_first(path: Path) -> bool:
    try:
        return undo.is_first(path)
    except OSError:
        return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
