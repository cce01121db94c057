"""Arriving: documents of another program as they would be recorded here, and the plan that records them.

1. Sources are looked at when the plan is made, and again under the lock when it is applied.
2. What is recorded stays: a document that the index has is no part of the plan.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith import drift, paid
from steadlith.books import told
from steadlith.border import adapter
from steadlith.caching import opened
from steadlith.foreign import places
from steadlith.foreign.rows import Passed, Why
from steadlith.verify import verify
from steadlith_core import vectors
from steadlith_core.errors import DocumentError, ImportRefused, PlanStale
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.wanted import ForeignChunk, as_given
from steadlith_core.planning.world import World
from steadlith_core.records import Format, Level, gather
from steadlith_core.rows import TrieRow
from steadlith_core.state import foreign
from steadlith_core.state.identity import content_digest, source_digest
from steadlith_core.state.moving import move
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith.assembly import Assembly
    from steadlith.foreign.gathering import Gathered
    from steadlith.foreign.rows import Reading
    from steadlith_core.digest import Digest
    from steadlith_core.planning.make import Planned, Terms
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Reader, Source, Store
    from steadlith_core.records import DocumentId


SAMPLE = 100
"""Vectors, at least, that are read back before a commit, as far as there are so many."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The documents as they would be recorded, how many of them stand in their source, and what is to be said."""

    wanted: Mapping[DocumentId, WantedDocument]
    found: int
    passed: tuple[Passed, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """What an apply run leads to: documents that were read, as their sources have them when it looks."""

    assembly: Assembly
    reading: Reading
    documents: Mapping[DocumentId, Gathered]
    only_found: bool

    @property
    def command(self) -> str:
        """See `goals.Goal`."""
        return "import"

    @property
    def why(self) -> str:
        """See `goals.Goal`."""
        return f"import from {self.reading.name}"

    @property
    def replaces(self) -> str | None:
        """See `goals.Goal`: the configuration stays."""
        return None

    @property
    def asked(self) -> Mapping[str, Any]:
        """See `goals.Goal`: nothing, it is begun again as it was."""
        return {}

    def planned(self, store: Store, terms: Terms) -> Planned:
        """See `goals.Goal`: from the documents that were read, as their sources are now."""
        return self.plan(store, terms, self.look(), in_hand=False)

    def check(self, reader: Reader, cache: Cache) -> None:
        """See `goals.Goal`: what would be the head is verified, and a sample of vectors read back. `ImportRefused`."""
        problems = verify(reader).problems
        if not problems:
            space = self.assembly.cutter.space
            keys = [piece.vector_key for document in self.documents.values() for piece in document.pieces]
            keys = keys[:: max(1, len(keys) // SAMPLE)]
            held = reader.vectors(space, keys)
            given = cache.get(list(held), space.dimensions)
            problems = tuple(
                "a vector is not the one that was read" for key in given if held[key] != vectors.unit(given[key])
            )
        if problems:
            raise ImportRefused(f"what was written is not what was read, and nothing was committed: {problems[0]}")

    def plan(self, store: Store, terms: Terms, seen: Seen, *, in_hand: bool) -> Planned:
        """The plan that imports what was `seen`; `in_hand` says that its vectors are at hand, if not kept yet."""
        with closing(store.snapshot()) as head:
            _refuse(head, self.assembly)
            with adapter("reading the index"):
                known = head.find(sorted(seen.wanted))
            for id_ in sorted(known):
                raise PlanStale(f"{id_}: the index has it meanwhile; begin the import again")
            keys = sorted({key for each in seen.wanted.values() for key in _keys(each)})
            available = frozenset(keys) if in_hand else self._available(head, keys)
            return make_plan(_world(self.assembly, store, head, seen.wanted, available), terms)

    def look(self) -> Seen:
        """The documents as their sources have them now."""
        names = {id_.source for id_ in self.documents}
        wanted: dict[DocumentId, WantedDocument] = {}
        passed: list[Passed] = []
        found = 0
        for name in sorted(names):
            source = self.assembly.sources[name]
            with adapter(f"listing source {name!r}"):
                listing = gather(source.list())
            formats = {entry.path: entry.format for entry in listing.entries}
            lost = []
            for id_ in sorted(id_ for id_ in self.documents if id_.source == name):
                document, said = self._document(id_, source, formats.get(id_.path))
                passed += said
                if document is not None:
                    wanted[id_] = document
                    found += id_.path in formats
                    if id_.path not in formats and not _stays(id_.path, listing.unread):
                        lost.append(id_)
            passed += _lost(name, lost)
        return Seen(wanted, found, tuple(passed))

    def _document(
        self,
        id: DocumentId,  # noqa: A002
        source: Source,
        format: Format | None,  # noqa: A002
    ) -> tuple[WantedDocument | None, list[Passed]]:
        gathered = self.documents[id]
        pieces = gathered.ordered()
        spans, missed, passed = [places.NOWHERE] * len(pieces), 0, []
        digest = source_digest("\n\n".join(piece.text for piece in pieces).encode("utf-8"))
        if format is not None:
            try:
                with adapter(f"reading {id}"):
                    content = source.read(id.path)
                spans, missed = places.find(content.body, [piece.text for piece in pieces], format)
                digest = content_digest(content)
            except DocumentError as error:
                passed.append(Passed(str(id), Why.NOT_FOUND, f"its source cannot be read: {error}"))
            lost = spans.count(places.NOWHERE)
            if not passed:
                passed += _unlike(id, lost, len(pieces), missed, left_out=self.only_found)
            if self.only_found and passed:
                return None, passed
            if not lost:
                order = sorted(range(len(pieces)), key=lambda each: (spans[each].start, spans[each].end))
                pieces, spans = [pieces[each] for each in order], [spans[each] for each in order]
        metadata = {
            **(gathered.metadata or {}),
            foreign.KEY: foreign.PREFIX + self.reading.name,
            "title": (gathered.metadata or {}).get("title", ""),
            "format": str(format or Format.TEXT),
        }
        chunks = [ForeignChunk(piece.text, piece.context_hash, span) for piece, span in zip(pieces, spans, strict=True)]
        return as_given(self.assembly.cutter, id, metadata, digest, chunks), passed

    def _available(self, head: Reader, keys: Sequence[Digest]) -> frozenset[Digest]:
        space = self.assembly.cutter.space
        with opened(self.assembly, readonly=True) as cache:
            cached = cache.contains(keys, space.dimensions)
        return cached | paid.held(head, space, [key for key in keys if key not in cached])


def _refuse(head: Reader, assembly: Assembly) -> None:
    was = head.head.recipe
    if was is not None and was != assembly.cutter.recipe:
        raise ImportRefused(
            "the index was made under another configuration than this one: plan and apply that change first"
        )
    for problem in drift.problems(head, Level.HEAD):
        raise ImportRefused(
            f"the index is not as it was committed: {problem.message}; `steadlith doctor --repair` mends it"
        )


def _world(
    assembly: Assembly, store: Store, head: Reader, wanted: Mapping[DocumentId, WantedDocument], held: frozenset[Digest]
) -> World:
    changes: dict[Digest, TrieRow | None] = {}
    for each in wanted.values():
        key = document_key(each.id)
        changes[key] = TrieRow(key, each.root, each.source_digest)
    with adapter("reading the index"):
        moved = move(head, changes)
    return World(
        head=head.head,
        recipe=assembly.cutter.recipe,
        config_digest=assembly.config_digest,
        documents=head.head.documents,
        total_chunks=head.head.chunks,
        folders={},
        recorded={},
        chunks={},
        entries={},
        wanted=wanted,
        vanished=frozenset(),
        available=held,
        moved=moved,
        findings=(),
        store=told(store.capabilities),
    )


def _keys(document: WantedDocument) -> Iterator[Digest]:
    return (chunk.vector_key for chunk in document.chunks if chunk.vector_key is not None)


def _stays(path: str, unread: Sequence[str]) -> bool:
    """Whether a source that does not list a document keeps what is recorded of it all the same."""
    return any(each in ("", "/", path) or (each.endswith("/") and path.startswith(each)) for each in unread)


def _lost(name: str, lost: Sequence[DocumentId]) -> Iterator[Passed]:
    if lost:
        more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
        yield Passed(
            name,
            Why.NO_SOURCE,
            f"{lost[0].path}{more}: the source does not have it, so that the next plan would remove it; "
            'have --strip take off what the paths begin with, or import into a source of type = "imported"',
        )


def _unlike(
    id: DocumentId,  # noqa: A002
    lost: int,
    total: int,
    missed: int,
    *,
    left_out: bool,
) -> Iterator[Passed]:
    what = "it is left out" if left_out else "it is taken to be as it was cut (--only-found leaves it out)"
    if lost:
        message = f"{lost:,} of its {total:,} chunks are not in its source as it is today: {what}"
        yield Passed(str(id), Why.NOT_FOUND, message)
    elif missed:
        message = f"{missed:,} words of its source are in none of its chunks, so no search finds them: {what}"
        yield Passed(str(id), Why.INCOMPLETE, message)
