"""Hands: what performs the effects that an apply run asks for.

1. One method an effect; each returns one outcome and decides nothing.
2. Vectors go to the cache before anything else; rows and head go to the store in one transaction.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, assert_never

from steadlith import clock, paid, remembering
from steadlith.books import IN_PROCESS, is_rebuilt, opened
from steadlith.border import adapter
from steadlith.observe import Look, observe
from steadlith_core.applying import effects as fx
from steadlith_core.applying.audit import answer_problems
from steadlith_core.applying.recheck import is_applied
from steadlith_core.errors import (
    AdapterError,
    OutcomeUnknown,
    SteadlithError,
    StoreCorrupt,
)
from steadlith_core.events import Warned
from steadlith_core.planning import spent
from steadlith_core.planning.make import Terms, make_plan
from steadlith_core.planning.planfile import plan_digest
from steadlith_core.records import Generation
from steadlith_core.rows import VectorRow
from steadlith_core.state.roots import empty_head
from steadlith_core.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith.assembly import Assembly
    from steadlith.fingerprints import Draft
    from steadlith.goals import Goal
    from steadlith.observe import Observed
    from steadlith.underway import Underway
    from steadlith_core.digest import Digest
    from steadlith_core.errors import ChangeUnfinished
    from steadlith_core.events import Reporter
    from steadlith_core.planning.plan import Plan
    from steadlith_core.planning.writes import Writes
    from steadlith_core.ports import Cache, Lock, Reader, Store, Transaction
    from steadlith_core.records import DocumentId, Head


Performed: TypeAlias = (
    fx.Lock
    | fx.ReadHead
    | fx.Recompute
    | fx.Resolve
    | fx.Probe
    | fx.Embed
    | fx.Keep
    | fx.Commit
    | fx.Remember
    | fx.Release
)
"""Every effect but `Wait`, which is the driver's."""

TOGETHER = 500
"""Vectors that are read together for a commit: it holds so many of them, and no more."""
LEFT_NAMED = 5
"""Documents named that changed since the plan was made; more are counted."""


@dataclass(slots=True)
class Hands:
    """Everything an apply touches. `cache` is open for reading; it is opened for writing when there is something to
    keep, so that a refused apply leaves no file behind. The caller closes what it opened, and these hands.

    With a `goal` the plan leads there, and the assembly is that of its configuration. `unfinished` says, after the run,
    why that configuration is not in place.
    """

    assembly: Assembly
    open_store: Callable[[], Store]
    lock: Lock
    plan: Plan
    terms: Terms
    report: Reporter
    stat_cache: bool = True
    workers: int = 1
    goal: Goal | None = None
    unfinished: ChangeUnfinished | None = None
    _store: Store | None = None
    _cache: Cache | None = None
    _kept_in: Cache | None = None
    _draft: Draft | None = None
    _seen: Observed | None = None
    _locked: bool = False
    _paid: int = 0
    _used: tuple[Digest, ...] = ()
    _way: Underway | None = field(init=False)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self._way = None
        if self.goal is not None:
            from steadlith.underway import Underway

            self._way = Underway(self.goal, self.plan)

    def close(self) -> None:
        """Release what these hands opened themselves."""
        self._stack.close()
        if self._draft is not None:
            self._draft.drop()
        for cache in (self._cache, self._kept_in):
            if cache is not None:
                cache.close()

    @property
    def cache(self) -> Cache:
        """The cache, open for reading; first looked at under the lock, so that what another run kept is seen."""
        if self._cache is None:
            self._cache = self.assembly.open_cache(readonly=True)
        return self._cache

    @property
    def store(self) -> Store:
        """The index, open for writing."""
        if self._store is None:
            self._store = self.open_store()
        return self._store

    def _writable_cache(self) -> Cache:
        if self._kept_in is None:
            self._kept_in = self.assembly.open_cache(readonly=False)
        return self._kept_in

    def perform(self, effect: Performed) -> fx.Outcome:
        """Do it; what goes wrong becomes an outcome, so that the run decides."""
        try:
            with adapter(f"{type(effect).__name__.lower()} failed"):
                return self._do(effect)
        except OutcomeUnknown as error:
            self._store = None  # what the look must read is the file, whatever has become of this store
            return fx.CommitUnknown(error)
        except SteadlithError as error:
            match effect:
                case fx.Embed():
                    return fx.EmbedFailed(effect.batch, error)
                case fx.Keep():
                    return fx.KeepFailed(effect.batch, error)
                case _:
                    return fx.Failed(error)

    def _do(self, effect: Performed) -> fx.Outcome:  # noqa: C901 -- one case an effect
        match effect:
            case fx.Lock():
                self.lock.acquire()
                self._locked = True
                return fx.Locked()
            case fx.ReadHead():
                return fx.HeadRead(self._head())
            case fx.Recompute():
                return self._recompute()
            case fx.Resolve():
                return self._resolve(effect)
            case fx.Probe():
                return self._probe(effect)
            case fx.Embed():
                return fx.Embedded(effect.batch, self.assembly.embedder.embed_documents(effect.texts))
            case fx.Keep():
                self._writable_cache().put(effect.vectors)
                self._paid += len(effect.vectors)
                return fx.Kept(effect.batch)
            case fx.Remember():
                return self._remember(effect)
            case fx.Commit():
                return self._commit(effect)
            case fx.Release():
                try:
                    if self._way is not None and self._locked:
                        self.unfinished = self._way.settle(self.store)
                finally:
                    self.lock.release()
                return fx.Released()
            case _:
                assert_never(effect)

    def _head(self) -> Head:
        if self._store is not None or not is_rebuilt(self.plan.drift):
            return self.store.head()
        try:
            head = self.store.head()
        except StoreCorrupt:
            return empty_head()
        # The plan claims that there is no index to stand on. That is believed here alone: recomputing finds the one
        # that is there, and then the plan is refused for claiming another drift than there is.
        return head if is_applied(plan_digest(self.plan), head) else empty_head()

    def _recompute(self) -> fx.Outcome:
        planned = None if self.goal is None else self.goal.planned(self.store, self.terms)
        if planned is not None:
            return fx.Recomputed(planned)
        if is_rebuilt(self.plan.drift) or self.store.capabilities.durability != IN_PROCESS:
            self._draft = remembering.begin(self.assembly)
        plan = self.plan
        look = Look(plan.level, plan.scope, repair_only=plan.repair_only, held=plan.held)
        only = frozenset((*(change.id for change in self.plan.changes), *self.plan.mended))
        taken_at = self._draft.taken_at if self._draft else None
        books = self._stack.enter_context(opened(self.assembly, lambda: self.store, stat_cache=self.stat_cache))
        observed = observe(self.assembly, books, look, only=only, taken_at=taken_at, workers=self.workers)
        self._seen = observed
        if not self.plan.repair_only:
            self._tell_left(observed.left)
        world = observed.world
        if self.goal is not None and plan.configuration is not None:
            from steadlith import journals

            world = replace(world, configuration=journals.brought(self.assembly.config, self.goal.replaces))
        return fx.Recomputed(make_plan(world, self.terms))

    def _tell_left(self, left: tuple[DocumentId, ...]) -> None:
        for id_ in left[:LEFT_NAMED]:
            self.report(Warned(f"{id_} changed since the plan was made; it is left to the next plan"))
        if len(left) > LEFT_NAMED:
            self.report(Warned(f"{len(left) - LEFT_NAMED:,} more documents changed too, and are left to the next plan"))

    def _resolve(self, effect: fx.Resolve) -> fx.Outcome:
        if self._way is not None:
            self._way.begin(self.store)
        space = self.assembly.cutter.space
        found = self.cache.contains(effect.keys, space.dimensions)
        self._used = tuple(found)
        missing = [key for key in effect.keys if key not in found]
        if missing and not is_rebuilt(self.plan.drift):
            with closing(self.store.snapshot()) as reader:
                found |= paid.held(reader, space, missing)
        return fx.Resolved(found)

    def _probe(self, effect: fx.Probe) -> fx.Outcome:
        space = self.assembly.cutter.space
        now = self.assembly.embedder.embed_documents(effect.texts)
        recorded = self.cache.probe(space.model_id, space.params_hash)
        if recorded is None and not answer_problems(len(effect.texts), space.dimensions, now):
            self._writable_cache().put_probe(space.model_id, space.params_hash, now)
        return fx.Probed(now, recorded)

    def _commit(self, effect: fx.Commit) -> fx.Outcome:
        head, planned = effect.expected, effect.planned.plan
        generation = Generation(
            number=head.generation + 1,
            parent=head.generation,
            lineage=head.lineage or clock.new_lineage(),
            corpus_root=planned.target.corpus_root,
            state_root=planned.target.state_root,
            recipe=planned.recipe,
            plan_digest=effect.plan_digest,
            documents=planned.target.documents,
            chunks=planned.target.chunks,
            at=clock.utc_now(),
            summary=spent.note(planned, self._paid),
            why="apply" if self.goal is None else self.goal.why,
            configuration=self.assembly.config.text,
        )
        if self._seen is not None and is_rebuilt(self._seen.world.drift):
            if self._store is not None:
                self._store.close()
                self._store = None
            self.report(Warned(f"the damaged index was moved to {self.assembly.set_aside()}"))
        if self._way is not None:
            self._way.refuse_edited()
        transaction = self.store.begin(head, mend=effect.planned.writes.mend)
        try:
            self._write(transaction, effect.planned.writes)
        except BaseException:
            transaction.abort()
            raise
        check = None if self._way is None else partial(self._way.check, self._kept(), self._paid)
        return fx.CommitDone(transaction.commit(generation, check))

    def _remember(self, effect: fx.Remember) -> fx.Outcome:
        if self._used:
            from steadlith import caching

            caching.note_uses(self.assembly, self._used)
        draft, seen, self._draft = self._draft, self._seen, None
        if draft is None or seen is None:
            return fx.Remembered()
        try:
            remembering.finish(draft, seen, remembering.header(self.assembly, effect.head, draft.taken_at))
        finally:
            draft.drop()
        return fx.Remembered()

    def _write(self, transaction: Transaction, rows: Writes) -> None:
        transaction.put_texts(rows.texts())
        transaction.put_entries(rows.entries())
        transaction.put_vectors(rows.space, self._vectors(rows))
        for version in rows.versions():
            transaction.put_document(version)
        for respan in rows.respans():
            transaction.respan(respan.id, respan.source_digest, respan.spans)
        for id_ in rows.closed:
            transaction.close_document(id_)
        transaction.put_nodes(rows.nodes, rows.dropped)

    def _vectors(self, rows: Writes) -> Iterator[VectorRow]:
        """The vectors of the rows, read from where they are kept, some at a time."""
        wanted = rows.vectors()
        with ExitStack() as stack:
            reader: Reader | None = None
            while some := list(islice(wanted, TOGETHER)):
                keys = list(dict.fromkeys(key for _, key in some))
                found = dict(self._kept().get(keys, rows.space.dimensions))
                missing = [key for key in keys if key not in found]
                if missing and not is_rebuilt(self.plan.drift):
                    reader = reader or stack.enter_context(closing(self.store.snapshot()))
                    found |= paid.vectors(reader, rows.space, missing)
                lost = [key for key in keys if key not in found]
                if lost:
                    raise AdapterError(
                        f"a vector that was there when this apply began is gone from the cache and the index "
                        f"({lost[0]}); nothing was committed: apply again, and what is lost is embedded anew"
                    )
                yield from (VectorRow(entry, key, unit(found[key])) for entry, key in some)

    def _kept(self) -> Cache:
        return self.cache if self._kept_in is None else self._kept_in
