"""The folder of an index: files that are written once, and one small file that says which of them count.

1. A file is named by the digest of what is in it, and never changed. `HEAD` names the files of every kept generation,
   and has the names that generations were given; replacing it, by one rename, is the commit. Whatever else is in the
   folder is a leftover and harmless.
2. Write, swing, then delete: what `HEAD` is to name is on the disk before, what it no longer names goes afterwards.
3. `HEAD` is looked at and replaced under a lock, so of two commits on one head one wins. The kernel frees the lock when
   its holder dies. Readers need none: a rename shows them the old file or the new one.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import filelock

from steadlith_core.digest import hash_fields
from steadlith_core.errors import ForeignFile, OutcomeUnknown, StoreCorrupt
from steadlith_example import codec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

FORMAT = b"steadlith-example/1\n"
WAY_OUT = "move the folder away and run `steadlith plan`: the index is made anew, from sources and cache"


class Kept(NamedTuple):
    """What `HEAD` says: the files of the kept generations, oldest first, and numbers of generations by their names."""

    files: tuple[str, ...] = ()
    tags: Mapping[str, int] = MappingProxyType({})


class Folder:
    """One index on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Raises `ForeignFile` for a folder that is not ours, or not of this version."""
        if not self.path.exists():
            return
        marker = self.path / "FORMAT"
        if not self.path.is_dir() or (any(self.path.iterdir()) and not marker.exists()):
            message = f"{self.path} is not an index of this store; set store.path to another folder"
            raise ForeignFile(message)
        if marker.exists() and marker.read_bytes() != FORMAT:
            message = f"{self.path} is of the format {marker.read_bytes()[:40]!r}, this version has {FORMAT!r}"
            raise ForeignFile(message)

    def head(self) -> Kept:
        """What counts now; nothing of an absent index."""
        try:
            data = (self.path / "HEAD").read_bytes()
        except FileNotFoundError:
            return Kept()
        digest, _, body = data.partition(b"\n")
        return Kept(*self._load("HEAD", body, digest.decode("ascii", "replace")))

    def read(self, name: str, *, whole: bool = True) -> Any:
        """What `write` wrote. Not `whole`: of what has a digest of its own, row by row, one damaged row costs no other.

        Raises `FileNotFoundError`: a compaction may have been quicker.
        """
        return self._load(name, (self.path / name).read_bytes(), name.rpartition("-")[2] if whole else None)

    def write(self, kind: str, value: Any) -> str:
        """Write a file, durably; its name."""
        data = codec.dump(value)
        name = f"{kind}-{hash_fields('example-file', data).hex()}"
        self._durably(name, data)
        return name

    def swing(self, kept: Kept) -> None:
        """Make this what counts. Raises `OutcomeUnknown` if it may have happened or not."""
        data = codec.dump(kept)
        digest = hash_fields("example-file", data).hex()
        with self._temporary(digest.encode() + b"\n" + data) as written:
            written.replace(self.path / "HEAD")
            try:
                self._sync()
            except OSError as error:
                message = f"{self.path}: HEAD was replaced, and the disk did not confirm it ({error})"
                raise OutcomeUnknown(message) from error

    def sweep(self, keep: Collection[str]) -> None:
        """Remove every other file of rows or of a generation, and what a killed writer left."""
        for pattern in ("rows-*", "generation-*", ".writing*"):
            for each in self.path.glob(pattern):
                if each.name not in keep:
                    each.unlink()

    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.stat().st_size for each in self.path.iterdir())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else looks at the head and replaces it meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(self.path / "commit.lock"):
            if not (self.path / "FORMAT").exists():
                self._durably("FORMAT", FORMAT)
            yield

    def _load(self, name: str, data: bytes, digest: str | None) -> Any:
        if digest is None or digest == hash_fields("example-file", data).hex():
            with suppress(ValueError, KeyError, TypeError):
                return codec.load(data)
        message = f"{self.path / name} was changed or cut short; {WAY_OUT}"
        raise StoreCorrupt(message)

    def _durably(self, name: str, data: bytes) -> None:
        with self._temporary(data) as written:
            written.replace(self.path / name)
        self._sync()

    @contextmanager
    def _temporary(self, data: bytes) -> Iterator[Path]:
        """A file with these bytes, on the disk and without its name yet."""
        handle, name = tempfile.mkstemp(dir=self.path, prefix=".writing")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield Path(name)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()

    def _sync(self) -> None:
        """Make names durable; a rename is not, until its folder is."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
