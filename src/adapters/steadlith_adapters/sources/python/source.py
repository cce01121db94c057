"""Records of a program as a source.

1. A callable is asked at each listing, and so is a collection, which may have changed. An iterator can be read once: it
   is, at the first listing, and its records are kept.
2. What is read is what was listed, whatever the program did since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from steadlith_adapters.settings import Table
from steadlith_adapters.sources.records.catalogue import Catalogue
from steadlith_adapters.sources.records.documents import Refused, document_of, format_rule
from steadlith_core.errors import ConfigError, DocumentError
from steadlith_core.ports import nothing_known
from steadlith_core.records import Content, FindingKind, Listed, Stamp
from steadlith_core.text.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import FormatRule, Known, Settings

Records: TypeAlias = Iterable[Record | Mapping[str, Any]]


class PythonSource:
    """The records of an iterable, or of what a callable answers: `Record`s, or mappings with their fields."""

    def __init__(self, records: Records | Callable[[], Records]) -> None:
        self._records = records
        self._listed: Catalogue[Content] | None = None

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Every record there is now. What the program raises meanwhile ends the listing."""
        self._listed = self._look()
        yield from self._listed.parts(known)

    def read(self, path: str) -> Content:
        """The document at `path`, as it was listed. Raises `DocumentError`."""
        row = self._catalogue.get(path)
        if row is None:
            raise DocumentError(FindingKind.VANISHED, f"{path!r:.200} is none of the records")
        return row.where

    def stamp(self, path: str) -> Stamp | None:
        """The listed record's stamp."""
        row = self._catalogue.get(path)
        return None if row is None else Stamp(row.identity, changed_at=0)

    def leaves_out(self, path: str) -> bool:
        """No: every record is a document, or a finding."""
        del path
        return False

    def place(self) -> bytes | None:
        """Nothing: a program's memory is no place."""
        return None

    @property
    def _catalogue(self) -> Catalogue[Content]:
        if self._listed is None:
            self._listed = self._look()
        return self._listed

    def _look(self) -> Catalogue[Content]:
        catalogue: Catalogue[Content] = Catalogue("record")
        for number, record in enumerate(self._asked(), 1):
            try:
                document = document_of(record)
                catalogue.add(number, document, document.content)
            except Refused as refused:
                catalogue.refuse(number, refused)
        return catalogue

    def _asked(self) -> Records:
        if callable(self._records):
            return self._records()
        if isinstance(self._records, Iterator):
            self._records = tuple(self._records)
        return self._records


class PythonFactory:
    """Says how such a source is made: a configuration cannot hold one."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> PythonSource:
        """Raises `ConfigError`, always."""
        del settings, root, private
        raise ConfigError(
            f"source {name!r}: records of a program cannot be read from a configuration; "
            f'give it to steadlith.open(sources={{"{name}": ...}})'
        )

    def over(self, records: Records | Callable[[], Records]) -> PythonSource:
        """The source of these records: what `steadlith.open(sources=...)` makes of what is no source yet."""
        return PythonSource(records)

    def formats(self, settings: Settings) -> FormatRule:
        """See `documents.format_rule`. Raises `ConfigError`."""
        Table("formats", settings).only()
        return format_rule()


FACTORY = PythonFactory()
