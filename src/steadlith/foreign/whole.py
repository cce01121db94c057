"""What was read as a whole: its files with their digests, and what the other program says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from steadlith_core.digest import hash_pieces
from steadlith_core.errors import ImportFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steadlith_core.digest import Digest

PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, and the digest of its bytes."""

    path: Path
    size: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Whole:
    """The files that were read, and `said`: what the other program says of all of it, by name."""

    files: tuple[ReadFile, ...]
    said: Mapping[str, str]


def of_files(paths: Sequence[Path], said: Mapping[str, str]) -> Whole:
    """Read every file once, for its digest."""
    return Whole(tuple(map(_digested, paths)), said)


def _digested(path: Path) -> ReadFile:
    try:
        with path.open("rb") as stream:
            digest = hash_pieces("source", iter(partial(stream.read, PIECE), b""))
        return ReadFile(path, path.stat().st_size, digest)
    except OSError as error:
        raise cannot_read(path, error) from error


def cannot_read(path: Path, error: OSError) -> ImportFileError:
    """The error for a file that cannot be read at all."""
    return ImportFileError(f"cannot read {path}: {error.strerror or error}")
