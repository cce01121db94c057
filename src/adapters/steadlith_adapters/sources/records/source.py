"""A file of records as a source.

1. A listing reads the file once, from start to end; a document is read again from where its line stood.
2. What is read is what was listed, or the document is a finding: the file may be written anew at any moment.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.sources.records.catalogue import Catalogue
from steadlith_adapters.sources.records.documents import Refused, format_rule
from steadlith_adapters.sources.records.lines import document_in, line_at, lines
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.ports import nothing_known
from steadlith_core.records import FindingKind, Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_core.ports import FormatRule, Known, Settings
    from steadlith_core.records import Content, Listed

KEYS = ("path",)
USUAL = "records.jsonl"


class RecordsSource:
    """The records of one file."""

    def __init__(self, name: str, file: Path) -> None:
        self._name = name
        self._file = file
        self._listed: _Look | None = None
        self._latest: _Look | None = None

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Every record of the file as it is now. Raises `SourceError` if it cannot be read to its end."""
        try:
            with self._open() as stream:
                self._listed = self._latest = _Look(stream)
        except OSError as error:
            raise SourceError(
                f"source {self._name!r}: {str(self._file)!r} cannot be read ({error.strerror}), so nothing is known "
                "about its records; mend it, or take the source out of the configuration"
            ) from error
        yield from self._listed.catalogue.parts(known)

    def read(self, path: str) -> Content:
        """The document at `path`, as it was listed. Raises `DocumentError`."""
        try:
            with self._open() as stream:
                now = self._now(stream)
                listed = (self._listed or now).catalogue.get(path)
                if listed is None:
                    raise DocumentError(FindingKind.VANISHED, f"{path!r:.200} is no record of {self._file.name!r}")
                row = now.catalogue.get(path)
                if row is None:
                    raise DocumentError(FindingKind.VANISHED, f"{path!r:.200} is not there any more; run again")
                document = document_in(line_at(stream, row.where))
        except OSError as error:
            raise DocumentError(
                FindingKind.UNREADABLE_FILE, f"{path!r:.200} cannot be read ({error.strerror}: {str(self._file)!r})"
            ) from error
        except Refused as error:
            raise _changed(path) from error
        if document.path != path or document.stamp.identity != listed.identity:
            raise _changed(path)
        return document.content

    def stamp(self, path: str) -> Stamp | None:
        """The record's stamp as the file has it now."""
        try:
            with self._open() as stream:
                row = self._now(stream).catalogue.get(path)
        except OSError:
            return None
        return None if row is None else Stamp(row.identity, changed_at=0)

    def leaves_out(self, path: str) -> bool:
        """No: every record is a document, or a finding."""
        del path
        return False

    def place(self) -> bytes | None:
        """Nothing: records are told by what they say, wherever the file stands."""
        return None

    def _open(self) -> IO[bytes]:
        file = os.open(self._file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        stream = os.fdopen(file, "rb")
        if not stat.S_ISREG(os.fstat(file).st_mode):
            stream.close()
            raise OSError(0, "it is not a file", str(self._file))
        return stream

    def _now(self, stream: IO[bytes]) -> _Look:
        """The file as it is now: looked at again only if it is another one than the last time."""
        if self._latest is None or self._latest.version != _version(stream):
            self._latest = _Look(stream)
        return self._latest


class RecordsFactory:
    """Makes sources of records."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> RecordsSource:
        """A source named `name`. Raises `ConfigError`."""
        del private
        given = _path(Table(f"source {name!r}", settings))
        file = Path(root, given)
        if not file.is_file():
            problem = "is not a file" if file.exists() else "does not exist"
            raise Table(f"source {name!r}", settings).wrong(
                "path", given, f"an existing file, relative to {root!r} ({str(file)!r} {problem})"
            )
        return RecordsSource(name, file)

    def formats(self, settings: Settings) -> FormatRule:
        """See `documents.format_rule`. Raises `ConfigError`."""
        _path(Table("formats", settings))
        return format_rule()


class _Look:
    """One look at the whole file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.version = _version(stream)
        self.catalogue: Catalogue[int] = Catalogue("line")
        for number, offset, line in lines(stream):
            try:
                self.catalogue.add(number, document_in(line), offset)
            except Refused as refused:
                self.catalogue.refuse(number, refused)


def _version(stream: IO[bytes]) -> tuple[int, ...]:
    status = os.fstat(stream.fileno())
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _path(table: Table) -> str:
    table.only(*KEYS)
    return table.text("path", USUAL)


def _changed(path: str) -> DocumentError:
    return DocumentError(FindingKind.CHANGED_WHILE_READING, f"{path!r:.200} is not as it was listed; run again")


FACTORY = RecordsFactory()
