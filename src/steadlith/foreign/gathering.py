"""Gathering: rows to documents, under the ids that they will have here.

1. A document's chunks stand in the order of their numbers, where each has one; else in the order of the rows. Where all
   of them are found in today's source, in the order of the source.
2. An id that was seen is a duplicate. Without ids nothing is: the same text may stand twice.
3. Metadata are the document's if all its chunks agree on them, and they are text; everything else is counted and left.
4. Vectors are named and let go: what is in memory is texts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steadlith.foreign.rows import Passed, Why, is_unicode
from steadlith_core.records import DocumentId
from steadlith_core.state import foreign
from steadlith_core.state.identity import text_hash
from steadlith_core.text.composition import composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steadlith.foreign.rows import Read, Row
    from steadlith_core.digest import Digest
    from steadlith_core.records import Space

OUR_OWN = frozenset({"title", "format", foreign.KEY})
"""Metadata that mean something here: a title is taken as the title, the others are not taken."""

UNUSED = frozenset({"start_index"})
"""Metadata that say where a chunk stands: they are used, and they are of no document."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk, its vector only by name."""

    text: str
    context_hash: Digest
    at: int | None

    @property
    def vector_key(self) -> Digest:
        """What its vector is kept under."""
        return foreign.vector_key(text_hash(self.text), self.context_hash)


@dataclass(slots=True)
class Gathered:
    """The chunks of one document, and what they all say of it."""

    pieces: list[Piece] = field(default_factory=list)
    metadata: dict[str, str] | None = None

    def ordered(self) -> list[Piece]:
        """See rule 1."""
        numbered = all(piece.at is not None for piece in self.pieces)
        return sorted(self.pieces, key=lambda piece: piece.at or 0) if numbered else self.pieces


@dataclass(frozen=True, slots=True)
class Naming:
    """How documents are named here: the source that they are of, and what their paths begin with over there."""

    source: str
    path_key: str
    strip: str = ""

    def id(self, document: str) -> DocumentId | None:
        """The document of that name; none for a name that cannot be a path below a source."""
        path = document.removeprefix(self.strip)
        if path != document:
            path = path.lstrip("/")
        path = path.removeprefix("./")
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in path or not is_unicode(path):
            return None
        return DocumentId(self.source, composed(path))


@dataclass(slots=True)
class Gathering:
    """All documents so far. `read` counts rows, `kept` those that are of a document."""

    naming: Naming
    space: Space
    documents: dict[DocumentId, Gathered] = field(default_factory=dict)
    passed: list[Passed] = field(default_factory=list)
    read: int = 0
    kept: int = 0
    not_kept: Counter[str] = field(default_factory=Counter)
    _ids: set[str] = field(default_factory=set)

    def take(self, rows: Iterable[Read]) -> None:
        """Take all of them."""
        for each in rows:
            if isinstance(each, Passed):
                self.read += each.why is not Why.ABSENT
                self.passed.append(each)
                continue
            self.read += 1
            problem = self._add(each)
            if problem is not None:
                self.passed.append(problem)

    def _add(self, row: Row) -> Passed | None:
        if row.id is not None and row.id in self._ids:
            return Passed(row.place, Why.DUPLICATE, f"its id {row.id!r:.80} was read before")
        id_ = self.naming.id(row.document)
        if id_ is None:
            message = f"it is of {row.document!r:.200}, which names no place below a source (see --strip)"
            return Passed(row.place, Why.PATH, message)
        if row.id is not None:
            self._ids.add(row.id)
        gathered = self.documents.setdefault(id_, Gathered())
        gathered.pieces.append(Piece(row.text, foreign.context_hash(self.space, row.vector), row.at))
        gathered.metadata = self._agreed(gathered.metadata, row.metadata)
        self.kept += 1
        return None

    def _agreed(self, before: dict[str, str] | None, said: Mapping[str, Any]) -> dict[str, str]:
        """What the chunks so far agree on."""
        usable = {}
        for key, value in said.items():
            if key == self.naming.path_key or key in UNUSED:
                continue
            if (key == "title" or key not in OUR_OWN) and _is_plain(key) and _is_plain(value):
                usable[key] = value
            else:
                self.not_kept[key] += 1
        if before is None:
            return usable
        for key in before.keys() ^ usable.keys():
            self.not_kept[key] += 1
        both = before.keys() & usable.keys()
        self.not_kept.update(key for key in both if before[key] != usable[key])
        return {key: before[key] for key in before if key in both and before[key] == usable[key]}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and is_unicode(value)
