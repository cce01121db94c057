"""Hands: what performs the effects that an apply run asks for.

1. One method an effect; each returns one outcome and decides nothing.
2. Vectors go to the cache before anything else; rows and head go to the store in one transaction.
"""

from __future__ import annotations

import os
import socket
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from steadlith import clock
from steadlith.border import adapter
from steadlith.observe import observe
from steadlith_core.applying import effects as fx
from steadlith_core.applying.audit import answer_problems
from steadlith_core.errors import OutcomeUnknown, SteadlithError
from steadlith_core.events import Warned
from steadlith_core.planning.make import Terms, make_plan
from steadlith_core.planning.planfile import plan_digest
from steadlith_core.records import Generation
from steadlith_core.rows import VectorRow
from steadlith_core.vectors import unit

if TYPE_CHECKING:
    from steadlith.assembly import Assembly
    from steadlith_core.events import Reporter
    from steadlith_core.planning.plan import Plan
    from steadlith_core.ports import Cache, Lock, Store, Transaction


def holder() -> str:
    """Who we are, for the message that a waiting process shows."""
    return f"process {os.getpid()} on {socket.gethostname()}, since {clock.utc_now()}"


@dataclass(slots=True)
class Hands:
    """Everything an apply touches. `cache` is open for reading; it is opened for writing when there is something to
    keep, so that a refused apply leaves no file behind. The caller closes what it opened, and these hands.
    """

    assembly: Assembly
    store: Store
    cache: Cache
    lock: Lock
    plan: Plan
    terms: Terms
    report: Reporter
    _kept_in: Cache | None = None

    def close(self) -> None:
        """Release what these hands opened themselves."""
        if self._kept_in is not None:
            self._kept_in.close()

    def _writable_cache(self) -> Cache:
        if self._kept_in is None:
            self._kept_in = self.assembly.open_cache(readonly=False)
        return self._kept_in

    def perform(self, effect: fx.Effect) -> fx.Outcome:
        """Do it; what goes wrong becomes an outcome, so that the run decides."""
        try:
            with adapter(f"{type(effect).__name__.lower()} failed"):
                return self._do(effect)
        except OutcomeUnknown as error:
            return fx.CommitUnknown(error)
        except SteadlithError as error:
            if isinstance(effect, fx.Embed | fx.Keep):
                return fx.EmbedFailed(effect.batch, error)
            return fx.Failed(error)

    def _do(self, effect: fx.Effect) -> fx.Outcome:
        match effect:
            case fx.Lock():
                self.lock.acquire()
                return fx.Locked()
            case fx.ReadHead():
                return fx.HeadRead(self.store.head())
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
                return fx.Kept(effect.batch)
            case fx.Commit():
                return self._commit(effect)
            case fx.Release():
                self.lock.release()
                return fx.Released()
            case _:
                assert_never(effect)

    def _recompute(self) -> fx.Outcome:
        only = frozenset(change.id for change in self.plan.changes)
        with closing(self.store.snapshot()) as reader:
            observed = observe(self.assembly, reader, self.cache, only=only)
        told = {finding.place for finding in self.plan.findings}
        for id_ in observed.left:
            if str(id_) in told:
                continue  # the plan said already that this is no document it could use
            self.report(Warned(f"{id_} changed since the plan was made; it is left to the next plan"))
        return fx.Recomputed(make_plan(observed.world, self.terms))

    def _resolve(self, effect: fx.Resolve) -> fx.Outcome:
        found = dict(self.cache.get(effect.keys))
        missing = [key for key in effect.keys if key not in found]
        with closing(self.store.snapshot()) as reader:
            found |= reader.vectors(self.assembly.cutter.space, missing)
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
            plan_digest=plan_digest(self.plan),
            documents=planned.target.documents,
            chunks=planned.target.chunks,
            at=clock.utc_now(),
            summary=dict(planned.counts),
        )
        transaction = self.store.begin(head, mend=effect.planned.writes.mend)
        try:
            self._write(transaction, effect)
        except BaseException:
            transaction.abort()
            raise
        return fx.CommitDone(transaction.commit(generation))

    @staticmethod
    def _write(transaction: Transaction, effect: fx.Commit) -> None:
        rows = effect.planned.writes
        vectors = (VectorRow(entry, key, unit(effect.vectors[key])) for entry, key in rows.vectors.items())
        transaction.put_texts(rows.texts.values())
        transaction.put_entries(rows.entries.values())
        transaction.put_vectors(rows.space, vectors)
        for version in rows.versions:
            transaction.put_document(version)
        for respan in rows.respans:
            transaction.respan(respan.id, respan.source_digest, respan.spans)
        for id_ in rows.closed:
            transaction.close_document(id_)
        transaction.put_nodes(rows.nodes, rows.dropped)
