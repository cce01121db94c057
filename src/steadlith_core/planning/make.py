"""Making a plan: what is recorded against what is wanted, given which vectors are already paid for.

1. Pure: the same world gives the same plan, byte for byte (invariant 1).
2. The plan and the writes that carry it out come from one matching, so neither can say what the other does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from steadlith_core.planning.cost import cost
from steadlith_core.planning.guards import Limits, judge
from steadlith_core.planning.matching import match
from steadlith_core.planning.outcome import losses, models, origin, target
from steadlith_core.planning.plan import Base, DocumentChange, Fate, Plan
from steadlith_core.planning.steps import Add, Delete, Move, Reason, Reembed, Rekey, Step, Update
from steadlith_core.planning.writes import writes
from steadlith_core.state.roots import sources_root
from steadlith_core.state.tree import distance
from steadlith_core.text.tokens import ESTIMATOR_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from steadlith_core.digest import Digest
    from steadlith_core.planning.cost import Price
    from steadlith_core.planning.matching import Match, Matching, Pair, Recorded
    from steadlith_core.planning.wanted import WantedChunk, WantedDocument
    from steadlith_core.planning.world import World
    from steadlith_core.planning.writes import Writes
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk


@dataclass(frozen=True, slots=True)
class Terms:
    """What the plan costs and how much it may lose. `counted_by` is whoever counted the tokens of wanted chunks."""

    tool: str
    batch_size: int
    probe_texts: int
    local: bool
    price: Price | None
    limits: Limits
    counted_by: str = ESTIMATOR_ID


@dataclass(frozen=True)
class Planned:
    """A plan and the writes that carry it out, which are made when somebody asks: most plans are only looked at."""

    plan: Plan
    carry_out: Callable[[], Writes]

    @cached_property
    def writes(self) -> Writes:
        """The rows to put and the documents to close."""
        return self.carry_out()


def make_plan(world: World, terms: Terms) -> Planned:
    """Compare the two states; O(documents + chunks of changed documents)."""
    before = {id_: (world.recorded[id_], world.chunks[id_]) for id_ in world.chunks}
    matching = match(before, world.wanted, world.moves)
    ledger = _Payers(set(world.available))
    changes = tuple(_changes(world, matching, before, ledger))
    touched = [world.recorded[change.id] for change in changes if change.id in world.recorded]

    plan = Plan(
        tool=terms.tool,
        config_digest=world.config_digest,
        recipe=world.recipe,
        recipe_changed=world.head.recipe not in (None, world.recipe),
        base=Base(
            world.head.lineage,
            world.head.generation,
            world.head.corpus_root,
            world.head.state_root,
            sources_root(world.moved.before),
        ),
        target=target(world),
        changes=changes,
        kept_documents=world.documents - len(touched),
        kept_chunks=world.total_chunks - sum(document.chunk_count for document in touched),
        cost=cost(
            ledger.paid_tokens,
            cached=ledger.cached,
            rekeyed=ledger.rekeyed,
            repeated=ledger.repeated,
            counted_by=terms.counted_by,
            batch_size=terms.batch_size,
            probe_texts=terms.probe_texts,
            local=terms.local,
            price=terms.price,
        ),
        level=world.level,
        drift=tuple(sorted(world.drift, key=lambda drift: (drift.place, drift.kind, drift.message))),
        mended=tuple(sorted(world.mended)),
        repair_only=world.repair_only,
        scope=world.scope,
        held=world.held,
        rollback_to=world.rollback_to,
        configuration=world.configuration,
        preview=world.preview,
        store=world.store,
        tripped=(),
        findings=tuple(sorted(world.findings)),
    )
    # What a rollback leads to was there, and somebody named it: nothing of it is lost by accident.
    tripped = () if world.rollback_to is not None else judge(plan, losses(world, matching), terms.limits)
    carry_out = partial(writes, before, world, matching, changes)
    return Planned(replace(plan, tripped=tripped), carry_out)


@dataclass(slots=True)
class _Payers:
    """Who pays: the first step, in plan order, that needs a vector nobody has."""

    available: set[Digest]
    paid_tokens: list[int] = field(default_factory=list)
    cached: int = 0
    rekeyed: int = 0
    repeated: int = 0
    _bought: set[Digest] = field(default_factory=set)

    def pays(self, chunk: WantedChunk, *, rekey: bool = False) -> bool:
        if chunk.vector_key is None:
            return False  # it needs none
        if chunk.vector_key in self.available:
            again = chunk.vector_key in self._bought
            self.repeated += again
            self.rekeyed += rekey and not again
            self.cached += not rekey and not again
            return False
        self.available.add(chunk.vector_key)
        self._bought.add(chunk.vector_key)
        self.paid_tokens.append(chunk.tokens)
        return True


def _why_gone(world: World, id: DocumentId, continued: Container[DocumentId]) -> Reason:  # noqa: A002
    """Why what is left of a vanished document goes: the document itself may go on under another name."""
    if id in continued:
        return Reason.TEXT_GONE
    return Reason.OUT_OF_SCOPE if id in world.left_out else Reason.DOCUMENT_VANISHED


def _changes(world: World, matching: Matching, before: Recorded, ledger: _Payers) -> Iterator[DocumentChange]:
    origins = {id_: origin(world, id_, matching) for id_ in world.wanted if id_ not in world.recorded}
    continued = {origin for origin in origins.values() if origin is not None}
    anew = _why_anew(world)
    for id_ in sorted(world.wanted.keys() | world.vanished):
        if id_ in world.vanished:
            gone = tuple(_deletes(world, matching, id_, _why_gone(world, id_, continued)))
            yield DocumentChange(id_, Fate.REMOVED, None, None, 0, gone)
            continue
        document = world.wanted[id_]
        goes_on = id_ in world.recorded or origins[id_] is not None
        pairs = matching.pairs(before, document)
        own = tuple(_chunk_steps(world, pairs, document, ledger, anew, new=not goes_on))
        steps: tuple[Step, ...] = (*own, *_deletes(world, matching, id_, Reason.TEXT_GONE))
        kept = len(document.chunks) - len(own)
        recorded = world.recorded.get(id_)
        if recorded is None:
            yield DocumentChange(id_, Fate.ADDED, origins[id_], document.source_digest, kept, steps)
            continue
        if dict(recorded.metadata) != dict(document.metadata):
            steps = (Update(None, Reason.METADATA), *steps)
        elif recorded.root == document.root and recorded.source_digest != document.source_digest:
            steps = steps or (Update(None, Reason.SOURCE_BYTES),)
        # Without a step of its own a document changes when occurrences left it for one that appeared (a split).
        if steps or recorded.root != document.root:
            yield DocumentChange(id_, Fate.CHANGED, None, document.source_digest, kept, steps)


def _chunk_steps(
    world: World,
    pairs: Iterable[Pair],
    document: WantedDocument,
    ledger: _Payers,
    anew: Reason | None,
    *,
    new: bool,
) -> Iterator[Step]:
    mended = document.id in world.mended
    for position, (chunk, found, recorded) in enumerate(pairs):
        if found is None or recorded is None:
            reason = Reason.NEW_DOCUMENT if new else Reason.NEW_TEXT
            paid = ledger.pays(chunk)
            yield Add(position, chunk.chunk_hash, chunk.vector_key, chunk.tokens, paid, reason)
        else:
            why = _reembed_reason(world, recorded, chunk, anew, mended=mended) if chunk.entry.embed else None
            origin = found.origin if found.origin != document.id else None
            step = _continued(world, position, chunk, found, recorded, origin, why, ledger)
            if step is not None:
                yield step


def _continued(
    world: World,
    position: int,
    chunk: WantedChunk,
    found: Match,
    recorded: RecordedChunk,
    origin: DocumentId | None,
    reason: Reason | None,
    ledger: _Payers,
) -> Step | None:
    """The step of a chunk that continues a recorded occurrence; none when nothing about it changed."""
    if reason is None and recorded.chunk_hash != chunk.chunk_hash:
        was = world.head.recipe
        other_text = was is not None and was.normalizer_id != world.recipe.normalizer_id
        return Rekey(
            origin,
            found.old_position,
            position,
            recorded.chunk_hash,
            chunk.chunk_hash,
            chunk.vector_key,
            chunk.tokens,
            ledger.pays(chunk, rekey=True),
            Reason.NORMALIZER if other_text else Reason.CHUNKER,
        )
    if reason is not None and chunk.vector_key is not None:
        return Reembed(
            origin,
            found.old_position,
            position,
            chunk.chunk_hash,
            chunk.vector_key,
            chunk.tokens,
            ledger.pays(chunk),
            reason,
        )
    if found.moved:
        why = Reason.RELOCATED if origin else Reason.REORDERED
        return Move(origin, found.old_position, position, chunk.chunk_hash, why)
    if recorded.entry_hash != chunk.entry.entry_hash:
        return Update(position, Reason.HEADINGS)
    if distance(found.old_position, recorded.parent) != distance(position, chunk.parent):
        return Update(position, Reason.PARENT)
    return None


def _why_anew(world: World) -> Reason | None:
    """Why every vector is put anew, if it is."""
    was = world.head.recipe
    if was is None or models(was) != models(world.recipe):
        return Reason.MODEL
    return Reason.QUANTIZATION if was.spaces != world.recipe.spaces else None


def _reembed_reason(
    world: World, recorded: RecordedChunk, chunk: WantedChunk, anew: Reason | None, *, mended: bool
) -> Reason | None:
    if anew is Reason.MODEL:
        return anew
    other = recorded.entry_hash != chunk.entry.entry_hash
    was = world.head.recipe
    # A vector that was brought along is made of no template, and its entry stays.
    if other and was is not None and was.template_id != world.recipe.template_id:
        return Reason.TEMPLATE
    # Under one name an entry has one context.
    if other and world.entries[recorded.entry_hash].context_hash != chunk.entry.context_hash:
        return Reason.CONTEXT
    if anew is not None:
        return anew
    lost = (other or mended) and recorded.chunk_hash == chunk.chunk_hash and chunk.vector_key not in world.available
    return Reason.DRIFT if lost else None


def _deletes(
    world: World,
    matching: Matching,
    id: DocumentId,  # noqa: A002
    reason: Reason,
) -> Iterator[Delete]:
    for position in matching.gone.get(id, ()):
        yield Delete(position, world.chunks[id][position].chunk_hash, reason)
