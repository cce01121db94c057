"""The books: what planning reads besides the sources: the index, the cache, and what the last apply remembered."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from steadlith import drift, remembering
from steadlith.absent import AbsentIndex
from steadlith_core.errors import ConfigError, StoreCorrupt
from steadlith_core.planning.plan import Drift, Repair
from steadlith_core.records import DriftKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from steadlith.assembly import Assembly
    from steadlith.fingerprints import Fingerprints
    from steadlith_core.ports import Cache, Capabilities, Recorded, Store

IN_PROCESS = "process"
"""The durability of a store that ends with its process: nothing is remembered for it."""


@dataclass(frozen=True, slots=True)
class Books:
    """All open. `drift` is what is wrong with the index as a whole, `store` what its store says it can do.

    With `stamps` an unchanged stamp in the fingerprint file spares reading a document; without, the file only tells
    which index and which root folders the last apply saw. Without a cache the index is an exported manifest, and a plan
    is a preview: it cannot know who has a vector.
    """

    index: Recorded
    cache: Cache | None
    fingerprints: Fingerprints | None
    stamps: bool
    drift: tuple[Drift, ...]
    store: Mapping[str, str | int | tuple[str, ...]]

    @property
    def preview(self) -> bool:
        """Whether there is a manifest in place of an index."""
        return self.cache is None

    def without_index(self, error: StoreCorrupt) -> Books:
        """The same, for an index that is too damaged to be read: planning goes on as if there were none."""
        return replace(self, index=AbsentIndex(), stamps=False, drift=(_lost(error),))


@contextmanager
def opened(assembly: Assembly, open_store: Callable[[], Store], *, stat_cache: bool = True) -> Iterator[Books]:
    """Open the books for reading; with `stat_cache` false nothing is taken for unchanged without reading it."""
    with ExitStack() as stack:
        cache = assembly.open_cache(readonly=True)
        stack.callback(cache.close)
        try:
            store = open_store()
            _refuse_unkept(assembly, store.capabilities)
            index = store.snapshot()
        except StoreCorrupt as error:
            yield Books(AbsentIndex(), cache, None, False, (_lost(error),), {})
            return
        stack.callback(index.close)
        file = remembering.known(assembly) if _is_durable(store) else None
        if file is not None:
            stack.callback(file.close)
        found = drift.replaced(index.head, file.header if file else None)
        yield Books(index, cache, file, stat_cache, found, told(store.capabilities))


def of_manifest(path: Path) -> Books:
    """The books that a manifest stands for. Raises `ManifestError`."""
    from steadlith import manifests

    return Books(manifests.load(path), None, None, stamps=False, drift=(), store={})


def is_rebuilt(found: tuple[Drift, ...]) -> bool:
    """Whether a plan with this drift builds the index anew in the place of a damaged one."""
    return any(each.repair is Repair.REBUILD for each in found)


def _refuse_unkept(assembly: Assembly, capabilities: Capabilities) -> None:
    """Refuse what the store would refuse at the commit, before anything is paid for."""
    wanted, offered = assembly.cutter.space.quantization, sorted(capabilities.quantization)
    if wanted not in offered:
        store = assembly.config.store.type
        raise ConfigError(f"embedding.quantization = {wanted!r}: store {store!r} keeps {', '.join(offered)} vectors")


def _lost(error: StoreCorrupt) -> Drift:
    return Drift(drift.INDEX, DriftKind.INDEX_DAMAGED, error.fault, Repair.REBUILD)


def _is_durable(store: Store) -> bool:
    return store.capabilities.durability != IN_PROCESS


def told(capabilities: Capabilities) -> Mapping[str, str | int | tuple[str, ...]]:
    """What a store says that it can do, as a plan shows it."""
    values = ((field.name, getattr(capabilities, field.name)) for field in fields(capabilities))
    return {name: tuple(sorted(value)) if isinstance(value, frozenset) else value for name, value in values}
