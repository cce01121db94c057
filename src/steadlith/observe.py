"""Observing: gather the three states into a `World`, reading and never writing.

1. Nothing is loaded that does not differ: no manifest and no trie where the fingerprint file is of this head.
2. Whatever the store sees is wrong with its head makes the look a full one: no plan stands on a doubtful head.
3. In a full look nothing that is derived is believed: documents and chunks are counted from rows, the trie is built.
4. A foreign document whose source did not change comes from what is recorded of it, unless what decides cuts changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from steadlith import drift, paid, relexing
from steadlith.border import adapter
from steadlith.fingerprints import Damaged
from steadlith.keeping import as_recorded, cuts_alike
from steadlith.ledger import FileLedger, ManifestLedger
from steadlith.remembering import header, is_of
from steadlith.scope import allows
from steadlith.survey import Survey
from steadlith_core.errors import StoreCorrupt
from steadlith_core.planning.settled import unsettled
from steadlith_core.planning.world import World
from steadlith_core.records import Level
from steadlith_core.rows import TrieRow
from steadlith_core.state import foreign
from steadlith_core.state.moving import move
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from steadlith.assembly import Assembly
    from steadlith.books import Books
    from steadlith.ledger import Ledger
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Source
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import Problem, RecordedChunk, RecordedDocument
    from steadlith_core.state.moving import Moved


@dataclass(frozen=True, slots=True)
class Look:
    """How to look: how closely the index is compared with what it recorded (`level`), and where documents may be
    removed (`scope`: each `SOURCE:PATH`, or `PATH` in any source; without any, everywhere).

    With `repair_only` the look is a full one, and nothing is wanted but what drift makes necessary. `held` documents
    are not read: they stay as they are recorded, and where they are not, they stay out.
    """

    level: Level = Level.HEAD
    scope: tuple[str, ...] = ()
    repair_only: bool = False
    held: tuple[DocumentId, ...] = ()


USUAL = Look()
EMPTY: Mapping[DocumentId, WantedDocument] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Observed:
    """A world, the documents outside the asked-for ones that changed meanwhile, and the survey that showed it."""

    world: World
    left: tuple[DocumentId, ...]
    survey: Survey
    ledger: Ledger


def observe(
    assembly: Assembly,
    books: Books,
    look: Look,
    *,
    only: frozenset[DocumentId] | None = None,
    taken_at: int | None = None,
    workers: int = 1,
) -> Observed:
    """Look at everything, or closely at `only` some documents; `taken_at` and `workers` are as in `Survey`.

    An index that cannot even be read in full counts as none, and is drift.
    """
    glance = _Glance(assembly, books, look, only, taken_at, workers)
    drift.refuse_repairs_alone(books.drift, look, same_recipe=glance.same_recipe)
    try:
        if look.level is Level.HEAD and not look.repair_only and not glance.relexes:
            try:
                return glance.at_head()
            except StoreCorrupt:
                pass  # rule 2
        return glance.in_full()
    except Damaged:
        books = replace(books, fingerprints=None)
        return observe(assembly, books, look, only=only, taken_at=taken_at, workers=workers)
    except StoreCorrupt as error:
        lost = books.without_index(error)
        drift.refuse_repairs_alone(lost.drift, look, same_recipe=glance.same_recipe)
        return replace(glance, books=lost).at_head()


@dataclass(frozen=True, slots=True)
class _Glance:
    assembly: Assembly
    books: Books
    look: Look
    only: frozenset[DocumentId] | None
    taken_at: int | None
    workers: int

    @property
    def same_recipe(self) -> bool:
        """Whether what is recorded was cut as it would be now."""
        return self.books.index.head.recipe == self.assembly.cutter.recipe

    @property
    def relexes(self) -> bool:
        """Whether every lexical row is to be made anew, which takes a full look."""
        return relexing.is_due(self.books.index.head.recipe)

    @property
    def _believes_stamps(self) -> bool:
        return self.books.stamps and self.same_recipe

    def at_head(self) -> Observed:
        """Believe what the head vouches for; or nothing, where the index counts as none."""
        problems = drift.problems(self.books.index, Level.HEAD)
        if problems:
            raise StoreCorrupt(problems[0].message)
        ledger = self._ledger()
        survey = self._survey(ledger, frozenset())
        wanted, touched = self._differing(ledger, survey)
        with adapter("reading the index"):
            recorded = self.books.index.find(sorted(touched))
            chunks = {id_: self.books.index.chunks(id_) for id_ in sorted(recorded)}
            moved = move(self.books.index, _changes(wanted, survey.gone))
        head = self.books.index.head
        # What a full look alone found to be lost is found again by whoever looks in full.
        seen = drift.Seen(self.look.level, (), frozenset(), head.documents, head.chunks)
        return self._observed(ledger, survey, wanted, recorded, chunks, moved, seen)

    def in_full(self) -> Observed:
        """Believe nothing but rows that prove themselves."""
        found = drift.problems(self.books.index, Level.FULL, workers=self.workers)
        problems = tuple(relexing.judged(found, self.books.index.head.recipe))
        drift.refuse_lost(problems)
        with adapter("reading the index"):
            documents = tuple(self.books.index.documents())
        ledger = ManifestLedger(documents, self.books.fingerprints, stamps=self._believes_stamps)
        problems, damaged = drift.holders(self.books.index, documents, problems)
        kept = self._kept(ledger, damaged, problems)
        survey = self._survey(ledger, damaged - kept.keys())
        wanted, touched = self._differing(ledger, survey, kept)
        recorded = {id_: ledger.documents[id_] for id_ in sorted(touched) if id_ in ledger.documents}
        chunks = {id_: drift.chunks(self.books.index, id_) for id_ in recorded}
        changes = _changes(wanted, survey.gone)
        if drift.is_mendable(problems) or self.relexes:
            moved = relexing.from_rows(documents, changes)
        else:
            with adapter("reading the index"):
                moved = move(self.books.index, changes)
        counted = sum(document.chunk_count for document in documents)
        seen = drift.Seen(Level.FULL, problems, damaged, len(documents), counted)
        return self._observed(ledger, survey, wanted, recorded, chunks, moved, seen)

    def _ledger(self) -> Ledger:
        head = self.books.index.head
        file = self.books.fingerprints
        if file is not None and self._believes_stamps and is_of(file.header, header(self.assembly, head)):
            ledger = FileLedger(file)
            counted = sum(tally.recorded for name in ledger.sources() for tally in ledger.folders(name).values())
            if counted == head.documents:
                return ledger
        with adapter("reading the index"):
            return ManifestLedger(self.books.index.documents(), file, stamps=self._believes_stamps)

    def _survey(self, ledger: Ledger, damaged: frozenset[DocumentId]) -> Survey:
        held, in_scope = frozenset(self.look.held), allows(self.look.scope, self.assembly.sources)
        survey = Survey(
            self.assembly,
            ledger,
            believe=self.same_recipe,
            only=damaged if self.look.repair_only else self.only,
            force=damaged,
            may_go=lambda id_: id_ not in held and in_scope(id_),
            stay=held,
            as_is=self._as_is(ledger),
            repair_only=self.look.repair_only,
            taken_at=self.taken_at,
            workers=self.workers,
        )
        survey.look(self._sources)
        return survey

    @property
    def _sources(self) -> Mapping[str, Source]:
        return self.assembly.sources

    def _as_is(self, ledger: Ledger) -> frozenset[DocumentId]:
        """Documents that are not cut anew while their sources are the same (rule 4)."""
        if not isinstance(ledger, ManifestLedger) or self.same_recipe or self.books.preview:
            return frozenset()
        if not cuts_alike(self.books.index.head.recipe, self.assembly.cutter.recipe):
            return frozenset()
        documents = ledger.documents.values()
        return frozenset(each.id for each in documents if foreign.policy(each.metadata) is not None)

    def _kept(
        self, ledger: ManifestLedger, damaged: frozenset[DocumentId], problems: tuple[Problem, ...]
    ) -> dict[DocumentId, WantedDocument]:
        """Damaged documents that are written anew from what is left of them (rule 4)."""
        documents = [ledger.documents[id_] for id_ in sorted(damaged & ledger.documents.keys())]
        if not any(foreign.policy(each.metadata) for each in documents):
            return {}
        from steadlith.foreign.lasting import mended

        found = mended(self.assembly, self.books.index, self.books.cache, documents, problems)
        return {document.id: document for document in found}

    def _differing(
        self, ledger: Ledger, survey: Survey, kept: Mapping[DocumentId, WantedDocument] = EMPTY
    ) -> tuple[dict[DocumentId, WantedDocument], set[DocumentId]]:
        """What is wanted, and which of the recorded documents that touches."""
        wanted = {id_: document for id_, document in kept.items() if id_ not in survey.gone} | survey.wanted
        # A manifest has no texts: what cannot be read stays out of a preview's recipe change, and is a finding.
        if isinstance(ledger, ManifestLedger) and not self.same_recipe and not self.books.preview:
            for id_ in sorted(survey.unread & ledger.documents.keys()):
                wanted[id_] = as_recorded(self.assembly, self.books.index, ledger.documents[id_], self.books.cache)
                survey.keep(wanted[id_])
        wanted |= self._moved(survey)
        return wanted, wanted.keys() | survey.gone

    def _moved(self, survey: Survey) -> dict[DocumentId, WantedDocument]:
        """New documents that are foreign ones under another name (rule 4)."""
        recipe = self.books.index.head.recipe
        if not survey.gone or self.books.preview or not cuts_alike(recipe, self.assembly.cutter.recipe):
            return {}
        from steadlith.foreign.lasting import moved

        found = moved(self.assembly, self.books.index, self.books.cache, survey.wanted, survey.gone)
        return {document.id: document for document in found}

    def _observed(
        self,
        ledger: Ledger,
        survey: Survey,
        wanted: dict[DocumentId, WantedDocument],
        recorded: Mapping[DocumentId, RecordedDocument],
        chunks: Mapping[DocumentId, tuple[RecordedChunk, ...]],
        moved: Moved,
        seen: drift.Seen,
    ) -> Observed:
        space = self.assembly.cutter.space
        keys, asked = unsettled(chunks, wanted, self._sure(chunks, seen))
        with adapter("reading the index"):
            entries = self.books.index.entries(asked)
            cached = self.books.cache.contains(keys, space.dimensions) if self.books.cache else frozenset()
            available = cached | paid.held(self.books.index, space, [key for key in keys if key not in cached])
        vanished = frozenset(survey.gone)
        world = World(
            head=self.books.index.head,
            recipe=self.assembly.cutter.recipe,
            config_digest=self.assembly.config_digest,
            documents=seen.documents,
            total_chunks=seen.chunks,
            folders={
                (name, folder): tally.recorded
                for name in (ledger.sources() if vanished else ())
                for folder, tally in ledger.folders(name).items()
            },
            recorded=recorded,
            chunks=chunks,
            entries=entries,
            wanted=wanted,
            vanished=vanished,
            available=frozenset(available),
            moved=moved,
            findings=tuple(survey.findings),
            left_out=self._left_out(vanished),
            replaced=frozenset(
                name for name, place in survey.places.items() if ledger.place(name) not in {None, place}
            ),
            level=seen.level,
            drift=(*drift.told(seen, wanted, survey), *self.books.drift),
            mended=seen.damaged & wanted.keys(),
            mend=drift.is_mendable(seen.problems) or self.relexes,
            repair_only=self.look.repair_only,
            scope=self.look.scope,
            held=tuple(sorted(set(self.look.held))),
            preview=self.books.preview,
            store=self.books.store,
            moves=self.assembly.config.moves,
        )
        return Observed(world, tuple(sorted(survey.left)), survey, ledger)

    def _sure(self, recorded: Mapping[DocumentId, object], seen: drift.Seen) -> Collection[DocumentId]:
        """Recorded documents that are written neither anew nor into another space."""
        was = self.books.index.head.recipe
        return recorded.keys() - seen.damaged if was and was.spaces == self.assembly.cutter.recipe.spaces else ()

    def _left_out(self, vanished: frozenset[DocumentId]) -> frozenset[DocumentId]:
        sources = self._sources
        with adapter("looking for what is out of scope"):
            return frozenset(
                id_ for id_ in vanished if id_.source in sources and sources[id_.source].leaves_out(id_.path)
            )


def _changes(wanted: Mapping[DocumentId, WantedDocument], gone: set[DocumentId]) -> dict[Digest, TrieRow | None]:
    changes: dict[Digest, TrieRow | None] = {document_key(id_): None for id_ in gone}
    for document in wanted.values():
        key = document_key(document.id)
        changes[key] = TrieRow(key, document.root, document.source_digest)
    return changes
