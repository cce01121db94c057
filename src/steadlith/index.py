"""The Python API: one index, described by one configuration file.

1. Planning opens everything read-only and builds no model; what only an apply needs is imported by `apply`.
2. Applying holds the lock from before the first check until after the last write.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from steadlith import config as configuration
from steadlith import pending
from steadlith.assembly import Assembly
from steadlith.books import of_manifest
from steadlith.looking import planning
from steadlith.observe import USUAL, Look, observe
from steadlith.standing import Standing
from steadlith.terms import counted, terms
from steadlith_core import events
from steadlith_core.errors import ConfigError
from steadlith_core.planning.make import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from steadlith.backups import BackedUp
    from steadlith.books import Books
    from steadlith.caching import Caching
    from steadlith.compacting import Compactable, Compacted
    from steadlith.config import Config
    from steadlith.doctor import Diagnosis
    from steadlith.explain import Explained
    from steadlith.generations import Generations
    from steadlith.goals import Goal
    from steadlith.imports import Imports
    from steadlith.migrating import Migrations
    from steadlith.repairing import Repaired
    from steadlith.rollback import Rollback
    from steadlith.search import Answer
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.digest import Digest
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.plan import Plan
    from steadlith_core.planning.world import World
    from steadlith_core.ports import Reader, Source, Store
    from steadlith_core.records import Generation, Head
    from steadlith_core.rows import RecordedDocument
    from steadlith_core.text.record import Record


Records: TypeAlias = "Iterable[Record | Mapping[str, Any]] | Callable[[], Iterable[Record | Mapping[str, Any]]]"
"""What a program has in place of a source."""


class Index:
    """One index. Holds no file open between calls, but for the store of `type = "memory"`, and for what searches in a
    `with` block, until its end.
    """

    def __init__(self, config: Config, sources: Mapping[str, Source | Records] | None = None) -> None:
        self.config = config
        for name in sorted((sources or {}).keys() - config.sources.keys()):
            raise ConfigError(
                f"sources[{name!r}]: the configuration has no such source; there are {', '.join(config.sources)}"
            )
        self._assembly = Assembly(config, sources or {})
        self._memory: Store | None = None
        self._standing: Standing | None = None

    def __enter__(self) -> Self:
        if self.config.store.type != "memory":
            self._standing = Standing(lambda: self._assembly.open_store(readonly=True))
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Release what is held. Closing twice is harmless."""
        for held in (self._memory, self._standing):
            if held is not None:
                held.close()
        self._memory = self._standing = None

    def plan(
        self,
        look: Look = USUAL,
        *,
        stat_cache: bool = True,
        against: Path | None = None,
        exact: bool = False,
        workers: int = 1,
    ) -> Plan:
        """What would change, and what it costs. Needs no credential and no network, and changes nothing.

        `look` says how closely to look, and where documents may be removed. Without `stat_cache` every document is
        read; the plan is the same. `against` an exported manifest neither index nor cache is looked at: the plan is a
        preview, and its embeddings are at most what is needed. With `exact` the tokenizer of `[embedding.tokenizer]`
        counts what is paid for; the steps keep their estimates. `workers` is how many processes may cut, this one
        among them: others start where much is to be cut, and the plan is the same.
        Raises `ConfigError`, `SourceError`, `ForeignFile`, `ManifestError`; a bad document is a finding, a damaged
        index is drift.
        """
        self._refuse_unfinished()
        if against is not None:
            world = observe(self._assembly, of_manifest(against), look, workers=workers).world
            planned = make_plan(world, terms(self._assembly))
            return counted(self._assembly, planned, world) if exact else planned.plan
        with self._planning(look, stat_cache=stat_cache, workers=workers) as (_, world, planned):
            return counted(self._assembly, planned, world) if exact else planned.plan

    def kept(self, plan: Plan, *, against: Path | None = None) -> tuple[RecordedDocument, ...]:
        """The recorded documents that `plan`, just made, has no step for, in the order of their ids. O(documents)."""
        changed = {change.id for change in plan.changes}
        if against is not None:
            return tuple(each for each in of_manifest(against).index.documents() if each.id not in changed)
        with self.reader(plan.base.generation or None) as reader:
            return tuple(each for each in reader.documents() if each.id not in changed)

    def explain(self, document: str, look: Look = USUAL, *, stat_cache: bool = True, workers: int = 1) -> Explained:
        """The plan, and why it does to one document (`SOURCE:PATH`, or `PATH` of the only source) what it does.

        Raises as `plan` does, and `UsageError` for a name that says no source.
        """
        from steadlith.explain import document_id, explained

        self._refuse_unfinished()
        id_ = document_id(document, self.config.sources)
        with self._planning(look, stat_cache=stat_cache, workers=workers) as (books, world, planned):
            return explained(books, world, planned.plan, id_)

    def apply(
        self,
        plan: Plan,
        *,
        allow: Iterable[str] = (),
        lock_timeout: float = 0.0,
        max_retry_time: float | None = None,
        stat_cache: bool = True,
        workers: int = 1,
        report: events.Reporter = events.silent,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Do exactly what `plan` says, or refuse before the first write.

        `allow` overrides guards by their flags (`--allow-removals`, ...). `lock_timeout` is in seconds, and so is
        `max_retry_time`: the most that a failing call to the embedder is made again for, by default as configured.
        Applying a plan that made the current generation does nothing (`Result.already`). `workers` is as for `plan`.
        Raises `PlanStale`, `PlanRejected`, `GuardRefused`, `LockHeld`, `Stopped`, `AdapterError` and its kinds.
        """
        from steadlith.running import How, run

        goal = self._goal(plan)
        allowed = frozenset(allow)
        how = How(allowed, lock_timeout, max_retry_time, stat_cache, workers, report, stop_requested)
        done = run(self._assembly, self._open, plan, how, goal)
        if goal is not None:
            self._configure(goal.assembly)
        return done

    def plan_rollback(self, generation: int) -> Rollback:
        """What going back to a kept generation would do: to its documents and to its configuration. Looks at no source,
        and changes nothing; `apply` its plan to do it.

        Raises `GenerationGone`, `RollbackRefused`, and `ChangeUnfinished` if another one is not finished.
        """
        from steadlith import rollback

        self._refuse_unfinished()
        with ExitStack() as stack:
            store = self._open(stack, readonly=True)
            goal = rollback.goal(self._assembly, store, generation)
            return rollback.preview(self._assembly, goal, rollback.plan(goal, store, terms(goal.assembly)))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        parents: bool = False,
        places: Sequence[str] = (),
        exact: bool = False,
        at: int | None = None,
    ) -> Answer:
        """Dense and lexical hits with exact source spans, best first. Raises `UsageError` for a limit out of range.

        With `parents`, a hit that is a part of another chunk has that one's text as well (`Hit.parent`). With `places`
        (`SOURCE:PATH` or `PATH`, a document or a folder) only these answer. With `exact` nothing is approximated.
        `at` a kept generation it is what that one answered as the head. Raises `GenerationGone`, and `ConfigError` if
        nothing here embeds as it was embedded.
        """
        from steadlith.search import search

        options: Any = {"limit": limit, "parents": parents, "places": places, "exact": exact}
        with self.reader(at) as reader:
            try:
                return search(self._assembly, reader, query, history=self.history, **options)
            except ConfigError:
                self._refuse_unfinished()  # the index may be that of a configuration which is not in place yet
                raise

    def verify(self, *, root: Digest | None = None, state_root: Digest | None = None, workers: int = 1) -> Verification:
        """Recompute every root from what is stored, and compare with the head and with pinned roots. `workers` is how
        many processes may look, this one among them: others look at large indexes, at what takes longest.
        """
        from steadlith.verify import verify

        with self.reader() as reader:
            return verify(reader, root=root, expected_state_root=state_root, workers=workers)

    def compactable(self, *, keep: int | None = None, erase: Iterable[str] = ()) -> Compactable:
        """What `compact` would do. Changes nothing.

        Without `keep`, the number of generations to keep, all are kept. `erase` are documents (`SOURCE:PATH`) to be
        removed from all files: then the head alone is kept. Raises `UsageError` for one that is still in the index.
        """
        from steadlith import compacting

        erased = compacting.document_ids(tuple(erase), self.config.sources)
        with ExitStack() as stack:
            return compacting.compactable(self._assembly, self._open(stack, readonly=True), keep, erased)

    def compact(self, *, keep: int | None = None, erase: Iterable[str] = (), lock_timeout: float = 0.0) -> Compacted:
        """Remove for good what no kept generation shows, and give its space back. Head and saved plans stay.

        Raises as `compactable` does, `LockHeld`, and `StoreCorrupt` for an index that is not as it was committed.
        """
        from steadlith import compacting

        erased = compacting.document_ids(tuple(erase), self.config.sources)
        with ExitStack() as stack:
            lock = self._assembly.lock(timeout=lock_timeout, holder="steadlith compact")
            stack.callback(lock.release)
            lock.acquire()
            store = self._open(stack, readonly=False)
            asked = compacting.compactable(self._assembly, store, keep, erased)
            pending.outlive(self.config, store.history(), store.head().generation)
            return compacting.compact(self._assembly, store, asked)

    def backup(self, path: str | PathLike[str], *, replace: bool = False) -> BackedUp:
        """Copy the index to `path`, verified, while others read and write it. `UsageError` if there is a file, unless
        it is to be replaced; `StoreCorrupt` for an index that does not verify.
        """
        from steadlith import backups

        with ExitStack() as stack:
            return backups.backup(self._assembly, self._open(stack, readonly=True), Path(path), replace=replace)

    def examine(self) -> Diagnosis:
        """What is wrong with the whole set-up, each thing by name and with its way out. Changes and embeds nothing."""
        from steadlith import doctor

        with ExitStack() as stack:
            return doctor.examine(self._assembly, partial(self._open, stack, readonly=True))

    def repair(self, *, pay: bool = False, lock_timeout: float = 0.0) -> Repaired:
        """Set right what `examine` calls mendable, from the sources, the index and the cache; then examine again.

        Without `pay` it stops before anything is embedded, and says what that costs. Raises `LockHeld`.
        """
        from steadlith import repairing

        return repairing.repair(self, self._assembly, pay=pay, lock_timeout=lock_timeout)

    def head(self) -> Head:
        """What was last committed."""
        with ExitStack() as stack:
            return self._open(stack, readonly=True).head()

    def history(self) -> tuple[Generation, ...]:
        """Kept generations, oldest first."""
        with ExitStack() as stack:
            return self._open(stack, readonly=True).history()

    @property
    def generations(self) -> Generations:
        """What is kept of the past: names of generations, and texts of documents as they were."""
        from steadlith.generations import Generations

        return Generations(self._assembly, self._open)

    @property
    def migrations(self) -> Migrations:
        """Other configurations: what leading the index there would do, doing it, and ending what was killed."""
        from steadlith.migrating import Migrations

        return Migrations(self._assembly, self._open, self._configure)

    @property
    def imports(self) -> Imports:
        """What other programs left: what adopting it would do, and doing it."""
        from steadlith.imports import Imports

        self._refuse_unfinished()
        return Imports(self._assembly, self._open)

    @property
    def cache(self) -> Caching:
        """The embedding cache: what is in it, and its upkeep."""
        from steadlith.caching import Caching

        return Caching(self._assembly)

    def _goal(self, plan: Plan) -> Goal | None:
        """Where a plan leads that brings a configuration; none for any other one."""
        from steadlith_core.planning.planfile import plan_digest

        self._refuse_unfinished(but=partial(plan_digest, plan))
        if plan.rollback_to is None:
            return None if plan.configuration is None else self.migrations.goal(plan.configuration.text, {})
        from steadlith import rollback

        with ExitStack() as stack:
            return rollback.goal(self._assembly, self._open(stack, readonly=True), plan.rollback_to)

    def _configure(self, assembly: Assembly) -> None:
        """Go on under another configuration of the same store."""
        self.config, self._assembly = assembly.config, assembly

    def _refuse_unfinished(self, but: Callable[[], Digest] | None = None) -> None:
        pending.refuse(self.config, self.history, but=but)

    @contextmanager
    def _planning(self, look: Look, *, stat_cache: bool, workers: int) -> Iterator[tuple[Books, World, Planned]]:
        with ExitStack() as stack:
            open_store = partial(self._open, stack, readonly=True)
            made = planning(self._assembly, open_store, look, stat_cache=stat_cache, workers=workers)
            yield stack.enter_context(made)

    @contextmanager
    def reader(self, generation: int | None = None) -> Iterator[Reader]:
        """A snapshot of the head, or of a kept generation. Raises `GenerationGone`."""
        with ExitStack() as stack:
            standing = self._standing
            store = stack.enter_context(standing.one()) if standing else self._open(stack, readonly=True)
            yield stack.enter_context(closing(store.snapshot(generation)))

    def _open(self, stack: ExitStack, *, readonly: bool) -> Store:
        """The store for one call; a memory store lives as long as this object."""
        if self.config.store.type != "memory":
            store = self._assembly.open_store(readonly=readonly)
            stack.callback(store.close)
            return store
        if self._memory is None:
            self._memory = self._assembly.open_store(readonly=False)
        return self._memory


def open(  # noqa: A001 -- steadlith.open(path), as in gzip.open
    path: str | PathLike[str] = ".", *, sources: Mapping[str, Source | Records] | None = None
) -> Index:
    """The index that the configuration at `path` describes: a `steadlith.toml` or the folder that holds one.

    `sources` take the place of configured sources, by name: those of `type = "python"` need one. Each is a source, an
    iterable of records (mappings with `ref`, `body_text`, ...), or a callable that answers one at each look.
    Raises `ConfigError`. Opens nothing yet.
    """
    place = Path(path)
    return Index(configuration.load(place / configuration.FILE_NAME if place.is_dir() else place), sources)
