"""Going back: the world in which a kept generation is wanted again, from what is recorded of it alone.

1. No source is looked at and nothing is embedded: what cannot be had from the index or the cache is named, and nothing
   is done.
2. It leads to the roots of that generation, under a configuration that leads to its recipe; anything else is refused.
3. What did not change since is not read: the rest costs what it holds.
4. Its chunks are the occurrences that they were, so what was closed is opened again and no id means two things.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from steadlith import config as configuration
from steadlith import drift, journals, keeping, paid, relexing
from steadlith.assembly import Assembly
from steadlith.books import told
from steadlith.border import adapter
from steadlith.copying import WHOLE
from steadlith.lockfile import recipe_differences
from steadlith_core.errors import ConfigError, GenerationGone, PlanStale, RollbackRefused, SteadlithError, StoreCorrupt
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.wanted import rewant
from steadlith_core.planning.world import World
from steadlith_core.records import Level
from steadlith_core.rows import TrieRow
from steadlith_core.state.moving import move
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.make import Planned, Terms
    from steadlith_core.planning.plan import Plan
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Reader, Store
    from steadlith_core.records import DocumentId, Generation
    from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument


@dataclass(frozen=True, slots=True)
class Goal:
    """A generation that can be gone back to, and its configuration. `replaces` is the text of the configuration file
    that this one takes the place of; none if it stays.
    """

    generation: Generation
    assembly: Assembly
    replaces: str | None
    command: str = "rollback"
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """See `goals.Goal`."""
        return f"rollback to {self.generation.number}"

    def planned(self, store: Store, terms: Terms) -> Planned:
        """See `goals.Goal`."""
        return plan(self, store, terms)

    def check(self, _reader: Reader, _cache: Cache) -> None:
        """See `goals.Goal`. Its roots were compared before anything was written."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """What going back would do: its plan, the generation that it leads to, and the configuration now and then."""

    plan: Plan
    generation: Generation
    now: str
    then: str

    @property
    def is_nothing(self) -> bool:
        """Whether all is as that generation has it."""
        return not self.plan.changes and not self.plan.recipe_changed and self.now == self.then


def goal(assembly: Assembly, store: Store, number: int) -> Goal:
    """The generation of this number, under the configuration that it was made under.

    Raises `GenerationGone`, and `RollbackRefused` where that configuration cannot be used here and now.
    """
    with adapter("looking for a generation"):
        made = _find(store.history(), number)
    then = _configured(assembly, made)
    try:
        recipe = then.cutter.recipe
    except SteadlithError as error:
        raise RollbackRefused(f"the configuration of generation {number} cannot be used here: {error}") from error
    for name, today, was in recipe_differences(recipe, made.recipe):
        noted = "its configuration" if made.configuration else "it did not note its configuration, and this one"
        raise RollbackRefused(
            f"generation {number} cannot be gone back to: {noted} leads to another {name} today: {today}, where the "
            f"generation has {was}"
        )
    replaces = None if then.config.text == assembly.config.text else assembly.config.text
    return Goal(made, then, replaces)


def _find(history: Sequence[Generation], number: int) -> Generation:
    for made in history:
        if made.number == number:
            return made
    kept = f"kept are {history[0].number} to {history[-1].number}" if history else "there is no index yet"
    if history and history[0].why.startswith(WHOLE):
        raise GenerationGone(
            f"generation {number} is not kept here; {kept}. The index was {history[0].why}, and what came before "
            "stayed in that store: a rollback moves no index"
        )
    raise GenerationGone(
        f"generation {number} is not kept, so it cannot be gone back to; {kept} (`steadlith tag` keeps a generation "
        "from being compacted away). The sources of then, planned and applied, lead to the same state"
    )


def _configured(assembly: Assembly, made: Generation) -> Assembly:
    """The configuration of a generation; where it did not note one, that of now."""
    if not made.configuration:
        return assembly
    try:
        then = configuration.read(made.configuration, assembly.config.file)
    except ConfigError as error:
        raise RollbackRefused(f"the configuration of generation {made.number} cannot be used here: {error}") from error
    back = Assembly(then, assembly.given)
    if then.store != assembly.config.store and not _same_files(back, assembly):
        raise RollbackRefused(
            f"generation {made.number} was made under [store] {_store(back)}, the configuration has "
            f"{_store(assembly)}: a rollback moves no index. Put the [store] of then into the configuration first"
        )
    return back


def _same_files(one: Assembly, other: Assembly) -> bool:
    return one.config.store.type == other.config.store.type and one.store_files == other.store_files != ()


def _store(assembly: Assembly) -> str:
    store = assembly.config.store
    settings = (f"{name} = {value!r}" for name, value in sorted(store.settings.items()))
    return ", ".join((f"type = {store.type!r}", *settings))


def preview(assembly: Assembly, found: Goal, planned: Planned) -> Rollback:
    """What going back comes to."""
    return Rollback(planned.plan, found.generation, assembly.config.text, found.assembly.config.text)


def plan(found: Goal, store: Store, terms: Terms) -> Planned:
    """The plan that goes back. Raises `RollbackRefused`; `PlanStale` if the head moved while it was read."""
    made = found.generation
    try:
        with closing(store.snapshot()) as head, closing(store.snapshot(made.number)) as then:
            if head.head != then.head:
                raise PlanStale("the index moved while it was read; try again")
            for problem in drift.problems(head, Level.HEAD):
                raise RollbackRefused(
                    f"the index is not as it was committed, so nothing in it is gone back from: {problem.message}; "
                    "`steadlith doctor --repair` mends it"
                )
            planned = make_plan(_world(found, store, head, then), terms)
    except StoreCorrupt as error:
        raise RollbackRefused(
            f"what is kept of generation {made.number} is damaged: {error.fault}; `steadlith doctor` says how far"
        ) from error
    _refuse_other_state(planned.plan, made)
    cost = planned.plan.cost
    if cost.embeddings:
        raise RollbackRefused(
            f"{cost.embeddings:,} vectors of generation {made.number} are neither in the cache nor in the index, and a "
            f"rollback never pays: put its configuration and its sources in place and apply, which embeds about "
            f"{cost.tokens:,} tokens"
        )
    return planned


def _world(found: Goal, store: Store, head: Reader, then: Reader) -> World:
    recipe, made = found.assembly.cutter.recipe, found.generation
    same_recipe = head.head.recipe == recipe
    with adapter("comparing two generations"):
        touched = head.changed_since(made.number)
        now, was = head.find(touched), then.find(touched)
        chunks, rows = {id_: head.chunks(id_) for id_ in now}, {id_: then.chunks(id_) for id_ in was}
    for id_, document in was.items():
        if same_recipe and now.get(id_) == document and chunks[id_] == rows[id_]:
            del chunks[id_], rows[id_]  # it changed and changed back
    with adapter("reading the index"):
        entries = head.entries(sorted({row.entry_hash for each in (chunks, rows) for row in chain(*each.values())}))
        texts = head.texts(sorted({row.text_hash for row in chain(*rows.values())}))
    wanted = {id_: _as_it_was(found, was[id_], rows[id_], entries, texts) for id_ in rows}
    vanished = frozenset(now.keys() - was.keys())
    changes: dict[Digest, TrieRow | None] = {document_key(id_): None for id_ in vanished}
    for each in wanted.values():
        key = document_key(each.id)
        changes[key] = TrieRow(key, each.root, each.source_digest)
    with adapter("reading the index"):
        relexes = relexing.is_due(head.head.recipe)
        moved = relexing.from_rows(head.documents(), changes) if relexes else move(head, changes)
        available = _available(found.assembly, head, wanted)
    return World(
        head=head.head,
        recipe=recipe,
        config_digest=found.assembly.config_digest,
        documents=head.head.documents,
        total_chunks=head.head.chunks,
        folders={},
        recorded={id_: now[id_] for id_ in chunks},
        chunks=chunks,
        entries=entries,
        wanted=wanted,
        vanished=vanished,
        available=available,
        moved=moved,
        findings=(),
        store=told(store.capabilities),
        rollback_to=made.number,
        configuration=journals.brought(found.assembly.config, found.replaces),
        mend=relexes,
    )


def _as_it_was(
    found: Goal,
    document: RecordedDocument,
    rows: Sequence[RecordedChunk],
    entries: Mapping[Digest, EntryRow],
    texts: Mapping[Digest, str],
) -> WantedDocument:
    """The document as that generation has it, checked against its root. `RollbackRefused` for a damaged one."""
    fault = "its chunks do not lead to its root"
    try:
        wanted = rewant(
            found.assembly.cutter,
            document.id,
            document.metadata,
            document.source_digest,
            keeping.together(rows, entries, texts),
            same_occurrences=True,
        )
        names = [(chunk.chunk_hash, chunk.entry.entry_hash) for chunk in wanted.chunks]
        if wanted.root == document.root and names == [(row.chunk_hash, row.entry_hash) for row in rows]:
            return wanted
    except StoreCorrupt as error:
        fault = error.fault
    except KeyError:
        fault = "texts or entries of it are gone"
    raise RollbackRefused(
        f"{document.id} is not as generation {found.generation.number} committed it: {fault}; `steadlith doctor` says "
        "what is damaged"
    )


def _available(assembly: Assembly, head: Reader, wanted: Mapping[DocumentId, WantedDocument]) -> frozenset[Digest]:
    """Which vectors of the wanted chunks are there: in the cache, or in the index."""
    space = assembly.cutter.space
    needed = (chunk.vector_key for document in wanted.values() for chunk in document.chunks)
    keys = sorted({key for key in needed if key is not None})
    with closing(assembly.open_cache(readonly=True)) as cache:
        cached = cache.contains(keys, space.dimensions)
    return cached | paid.held(head, space, [key for key in keys if key not in cached])


def _refuse_other_state(planned: Plan, made: Generation) -> None:
    target = planned.target
    for name, is_now, was in (
        ("corpus root", target.corpus_root, made.corpus_root),
        ("state root", target.state_root, made.state_root),
        ("number of documents", target.documents, made.documents),
        ("number of chunks", target.chunks, made.chunks),
    ):
        if is_now != was:
            raise RollbackRefused(
                f"what is kept of generation {made.number} does not lead to its state: its {name} is {was}, its rows "
                f"make {is_now}; `steadlith doctor` says what is damaged"
            )
