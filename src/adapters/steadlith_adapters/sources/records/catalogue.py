"""What a source of records holds, by path, while its records are looked at one by one.

1. Two records with one reference are both findings: which of them a recorded document was cannot be told, so that
   document stays as it is.
2. A record whose reference cannot be told may be any of the recorded ones: nothing of the source counts as gone.
3. No text is kept, only where it is found again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from steadlith_core.records import Finding, FindingKind, Listed, SourceEntry, Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.sources.records.documents import RecordDocument, Refused
    from steadlith_core.ports import Known
    from steadlith_core.records import Format

Where = TypeVar("Where")

EVERYTHING = "/"
RULES = b"records/1"


class Row(NamedTuple, Generic[Where]):
    """One document: the how manieth record it is, and where that is found."""

    number: int
    where: Where
    size: int
    format: Format
    identity: bytes


class Catalogue(Generic[Where]):
    """All records of one look; `noun` is what messages call one, before its number."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._rows: dict[str, Row[Where]] = {}
        self._findings: list[Finding] = []
        self._unread: set[str] = set()

    def add(self, number: int, document: RecordDocument, where: Where) -> None:
        """Take up a document."""
        path = document.path
        if self._displaces(path) or path in self._unread:
            self._conflict(path, number)
        else:
            size = len(document.content.body)
            self._rows[path] = Row(number, where, size, document.format, bytes(document.stamp.identity))

    def refuse(self, number: int, refused: Refused) -> None:
        """Take up a record that is no document."""
        path, place = refused.path, f"{self._noun} {number}"
        self._findings.append(Finding(place if path is None else path, refused.kind, f"{place} {refused}"))
        if path is not None:
            self._displaces(path)
            self._unread.add(path)
        elif refused.kind != FindingKind.LINK_OUTSIDE:  # no document was ever recorded under such a reference
            self._unread.add(EVERYTHING)

    def get(self, path: str) -> Row[Where] | None:
        """The document at `path`."""
        return self._rows.get(path)

    def parts(self, known: Known) -> Iterator[Listed]:
        """The listing, folder by folder."""
        folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._rows):
            folders[path[: path.rfind("/") + 1]].append(path)
        if self._findings:
            folders[""] += ()
        for folder in sorted(folders):
            yield self._part(folder, folders[folder], known)

    def _part(self, folder: str, paths: list[str], known: Known) -> Listed:
        before = known(folder)
        identities = before.identities if before is not None and before.rules == RULES else {}
        entries, same = [], []
        for path in paths:
            row = self._rows[path]
            name = path[len(folder) :]
            if identities.get(name) == row.identity:
                same.append(name)
            else:
                entries.append(SourceEntry(path, row.format, row.size, Stamp(row.identity, changed_at=0)))
        odd = (tuple(sorted(self._findings)), tuple(sorted(self._unread))) if not folder else ((), ())
        return Listed(folder, tuple(entries), same, RULES, *odd)

    def _displaces(self, path: str) -> bool:
        """Whether there is a document at `path` already; if so, it is none any more."""
        before = self._rows.pop(path, None)
        if before is None:
            return False
        self._conflict(path, before.number)
        self._unread.add(path)
        return True

    def _conflict(self, path: str, number: int) -> None:
        message = f"{self._noun} {number} has a reference that another one has, too; give each its own, or remove one"
        self._findings.append(Finding(path, FindingKind.NAME_CONFLICT, message))
