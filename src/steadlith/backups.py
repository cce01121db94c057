"""Backups: a copy of the index, made while others read and write it.

1. A copy is verified in full before it has its name, and then it is on the disk. A kill leaves no part of one under
   that name, and at most a hidden file beside it, `.<name>.<random>.tmp`, with what SQLite keeps beside that.
2. Nothing is replaced unless that is asked for, and never a file of the index itself.
"""

from __future__ import annotations

import secrets
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith import files
from steadlith.border import adapter
from steadlith.verify import verify
from steadlith_core.errors import StoreCorrupt, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.assembly import Assembly
    from steadlith_core.ports import Store
    from steadlith_core.records import Head

LOGS = ("-wal", "-journal")
"""What a killed writer may leave beside a file: whoever opens a file of that name believes it."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A verified copy: where it is, how large, and which head it has."""

    path: Path
    bytes: int
    head: Head


def backup(assembly: Assembly, store: Store, path: Path, *, replace: bool) -> BackedUp:
    """Copy the index to `path`: whole, verified and durable, or not at all.

    Raises `UsageError` for a place that is taken or cannot be written, `StoreCorrupt` for an index that does not
    verify.
    """
    target = path.absolute()
    _refuse_place(assembly, target, replace=replace)
    with _beside(target) as temporary:
        with adapter("copying the index"), closing(store.backup(str(temporary))) as copied:
            head = copied.head()
            with closing(copied.snapshot()) as reader:
                problems = verify(reader).problems
        if problems:
            raise StoreCorrupt(
                f"{target} was not written: the index does not verify ({problems[0]}); "
                "`steadlith doctor` names all of it, `steadlith doctor --repair` mends it"
            )
        with _as_usage(target):
            size = temporary.stat().st_size
            _refuse_place(assembly, target, replace=replace)
            files.SYSTEM.replace(temporary, target)
            files.SYSTEM.sync_folder(target.parent)
    return BackedUp(path, size, head)


def _refuse_place(assembly: Assembly, target: Path, *, replace: bool) -> None:
    if str(target.resolve()) in {str(Path(file).resolve()) for file in assembly.private_files}:
        raise UsageError(f"{target}: that is a file of the index itself; name another place for the backup")
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"{target}: expected the name of a file in a folder that is there")
    for log in (target.with_name(target.name + suffix) for suffix in LOGS):
        if log.exists():
            message = f"{log} stands there, the log of another file, and would be taken for the copy's"
            raise UsageError(f"{message}; remove it, or name another place for the backup")
    if target.exists() and not replace:
        raise UsageError(f"{target}: there is a file already; pass --force to replace it")


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A name beside `target` that nobody else uses, and nothing left there afterwards."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def _as_usage(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror or error}") from error
