"""The Python API: one index, described by one configuration file.

1. Planning opens everything read-only and builds no model; what only an apply needs is imported by `apply`.
2. Applying holds the lock from before the first check until after the last write.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Self

from steadlith import config as configuration
from steadlith.assembly import Assembly
from steadlith.observe import observe
from steadlith.search import search
from steadlith.verify import verify
from steadlith_core import events
from steadlith_core.applying.audit import PROBE_TEXTS
from steadlith_core.planning.make import Terms, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike
    from types import TracebackType

    from steadlith.config import Config
    from steadlith.search import Answer
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.digest import Digest
    from steadlith_core.planning.plan import Plan
    from steadlith_core.ports import Reader, Store
    from steadlith_core.records import Generation, Head


def tool() -> str:
    """Who makes plans: name and version."""
    return f"steadlith {version('steadlith')}"


class Index:
    """One index. Holds no file open between calls, but for the store of `type = "memory"`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._assembly = Assembly(config)
        self._memory: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release what is held. Closing twice is harmless."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def plan(self) -> Plan:
        """What would change, and what it costs. Needs no credential and no network, and changes nothing.

        Raises `ConfigError`, `SourceError`, `StoreCorrupt`, `ForeignFile`; a bad document is a finding instead.
        """
        with self.reader() as reader, ExitStack() as stack:
            cache = self._assembly.open_cache(readonly=True)
            stack.callback(cache.close)
            return make_plan(observe(self._assembly, reader, cache).world, self._terms()).plan

    def apply(
        self,
        plan: Plan,
        *,
        allow: Iterable[str] = (),
        lock_timeout: float = 0.0,
        report: events.Reporter = events.silent,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Do exactly what `plan` says, or refuse before the first write.

        `allow` overrides guards by their flags (`--allow-removals`, ...). `lock_timeout` is in seconds. Applying a
        plan that made the current generation does nothing (`Result.already`).
        Raises `PlanStale`, `PlanRejected`, `GuardRefused`, `LockHeld`, `Stopped`, `AdapterError` and its kinds.
        """
        from steadlith.driver import drive
        from steadlith.hands import Hands, holder
        from steadlith_core.applying.run import ApplyRun

        with ExitStack() as stack:
            store = self._open(stack, readonly=False)
            cache = self._assembly.open_cache(readonly=True)
            stack.callback(cache.close)
            lock = self._assembly.lock(timeout=lock_timeout, holder=holder())
            stack.callback(lock.release)  # the run gives it back; this is for an exception that nobody expected
            hands = Hands(self._assembly, store, cache, lock, plan, self._terms(), report)
            stack.callback(hands.close)
            run = ApplyRun(
                plan,
                batch_size=self.config.embedding.batch_size,
                concurrency=self.config.embedding.concurrency,
                allowed=frozenset(allow),
                report=report,
            )
            drive(run, hands, stop_requested)
        if run.error is not None:
            raise run.error
        assert run.result is not None  # an ended run has one or the other
        return run.result

    def search(self, query: str, *, limit: int = 10, parents: bool = False) -> Answer:
        """Dense and lexical hits with exact source spans, best first. Raises `UsageError` for a limit out of range.

        With `parents`, a hit that is a part of another chunk has that one's text as well (`Hit.parent`).
        """
        with self.reader() as reader:
            return search(self._assembly, reader, query, limit=limit, parents=parents)

    def verify(self, *, root: Digest | None = None, state_root: Digest | None = None) -> Verification:
        """Recompute every root from what is stored, and compare with the head and with pinned roots."""
        with self.reader() as reader:
            return verify(reader, root=root, expected_state_root=state_root)

    def head(self) -> Head:
        """What was last committed."""
        with ExitStack() as stack:
            return self._open(stack, readonly=True).head()

    def history(self) -> tuple[Generation, ...]:
        """Kept generations, oldest first."""
        with ExitStack() as stack:
            return self._open(stack, readonly=True).history()

    def _terms(self) -> Terms:
        embedding = self.config.embedding
        return Terms(
            tool=tool(),
            batch_size=embedding.batch_size,
            probe_texts=len(PROBE_TEXTS),
            local=self._assembly.embedder_identity.local,
            price=embedding.price,
            limits=self.config.limits,
        )

    @contextmanager
    def reader(self, generation: int | None = None) -> Iterator[Reader]:
        """A snapshot of the head, or of a kept generation. Raises `GenerationGone`."""
        with ExitStack() as stack:
            reader = self._open(stack, readonly=True).snapshot(generation)
            stack.callback(reader.close)
            yield reader

    def _open(self, stack: ExitStack, *, readonly: bool) -> Store:
        """The store for one call; a memory store lives as long as this object."""
        if self.config.store.type != "memory":
            store = self._assembly.open_store(readonly=readonly)
            stack.callback(store.close)
            return store
        if self._memory is None:
            self._memory = self._assembly.open_store(readonly=False)
        return self._memory


def open(path: str | PathLike[str] = ".") -> Index:  # noqa: A001 -- steadlith.open(path), as in gzip.open
    """The index that the configuration at `path` describes: a `steadlith.toml` or the folder that holds one.

    Raises `ConfigError`. Opens nothing yet.
    """
    place = Path(path)
    return Index(configuration.load(place / configuration.FILE_NAME if place.is_dir() else place))
