"""A file that is replaced whole or not at all, and is on the disk when that is said."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def replace(file: Path, pieces: Iterable[bytes]) -> int:
    """Write `pieces` to where `file` leads: beside it first, then in its place. How many bytes.

    A kill on the way leaves the old file, and at most a hidden one beside it that ends in `.tmp`. `UsageError` for a
    place that cannot be written.
    """
    try:
        target = file.resolve()
        if not file.name or target.is_dir():
            raise UsageError(f"{str(file)!r}: expected the name of a file")
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            with temporary.open("xb") as stream:
                size = sum(map(stream.write, pieces))
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _settle(target.parent)
    except (OSError, RuntimeError) as error:  # RuntimeError: before Python 3.13, of a link that leads to itself
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    return size


def _settle(folder: Path) -> None:
    """Make a name in `folder` durable, where folders can be synchronised at all."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
