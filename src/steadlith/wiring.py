"""Wiring: the one module that finds adapters, by entry point.

1. The engine imports no adapter; a third party's is found by its entry point, as ours can be.
2. An unknown name is an error that lists the installed ones.
3. Asking the environment for entry points takes a quarter of a plan without changes: those of ours that most plans
   need stand here too. A test holds the table to the entry points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadlith_core.chunking.router import RouterFactory
from steadlith_core.errors import AdapterError, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from steadlith_core.policies import Chunker, ChunkerFactory, TokenizerFactory
    from steadlith_core.ports import CacheFactory, EmbedderFactory, Settings, Source, SourceFactory, StoreFactory


OURS: Mapping[str, Mapping[str, str]] = {
    "sources": {
        "filesystem": "steadlith_adapters.sources.filesystem:FACTORY",
        "git": "steadlith_adapters.sources.git:FACTORY",
        "imported": "steadlith_adapters.sources.imported:FACTORY",
        "python": "steadlith_adapters.sources.python:FACTORY",
        "records": "steadlith_adapters.sources.records:FACTORY",
    },
    "embedders": {"hash": "steadlith_adapters.embedders.hash:FACTORY"},
    "stores": {
        "postgres": "steadlith_adapters.stores.postgres:FACTORY",
        "sqlite": "steadlith_adapters.stores.sqlite:FACTORY",
    },
    "caches": {"sqlite": "steadlith_adapters.caches.sqlite:FACTORY"},
    "chunkers": {"structural": "steadlith_core.chunking.structural:FACTORY"},
}
"""Some of our own entry points, by group and name, as a table that needs no search (rule 3)."""


@cache
def _points(group: str) -> EntryPoints:
    """The installed entry points of a group; the disk is asked once a process."""
    from importlib.metadata import entry_points

    return entry_points(group=f"steadlith.{group}")


def installed(group: str) -> tuple[str, ...]:
    """Names of the installed adapters of a group: what follows `steadlith.` in its name (`sources`, `stores`)."""
    return tuple(sorted({point.name for point in _points(group)}))


def _find(group: str, name: str, key: str) -> Any:
    where = OURS.get(group, {}).get(name)
    try:
        if where is not None:
            module, _, attribute = where.partition(":")
            return getattr(import_module(module), attribute)
        for point in _points(group).select(name=name):
            where = point.value
            return point.load()
    except Exception as error:
        raise AdapterError(f"{key} = {name!r}: {where} cannot be loaded ({error})") from error
    choices = ", ".join(installed(group)) or "none"
    raise ConfigError(f"{key} = {name!r}: no such adapter is installed; there are {choices}")


def source_factory(name: str, key: str) -> SourceFactory:
    """The factory behind `[sources.*] type`."""
    return _find("sources", name, key)  # type: ignore[no-any-return]  # what a third party put there is checked by use


def source_over(records: Any) -> Source:
    """A source of what a program has: an iterable of records, or a callable that answers one."""
    return _find("sources", "python", "sources").over(records)  # type: ignore[no-any-return]  # see source_factory


def embedder_factory(name: str) -> EmbedderFactory:
    """The factory behind `[embedding] embedder`."""
    return _find("embedders", name, "embedding.embedder")  # type: ignore[no-any-return]  # see source_factory


def chunker_factory(name: str, key: str = "chunking.policy") -> ChunkerFactory:
    """The factory behind `[chunking] policy`, or behind the option `key`."""
    return _find("chunkers", name, key)  # type: ignore[no-any-return]  # see source_factory


def chunker(name: str, settings: Settings, *, root: str, key: str = "chunking.policy") -> Chunker:
    """A policy as its table says. With `tokenizer = {type = ..., ...}` its sizes are counted by an exact tokeniser.

    Raises `ConfigError`.
    """
    settings = dict(settings)
    tokenizer = settings.pop("tokenizer", None)
    factory = chunker_factory(name, key)
    if isinstance(factory, RouterFactory):  # its own table names policies, and these may be anybody's
        factory = RouterFactory(lambda name: _Policy(name, root))
    policy = factory.build(settings)
    if tokenizer is None:
        return policy
    if not isinstance(tokenizer, Mapping) or not isinstance(tokenizer.get("type"), str):
        raise ConfigError(
            f"chunking.tokenizer = {tokenizer!r:.80}: expected a table with a type, "
            f"one of {', '.join(installed('tokenizers'))}"
        )
    measured_by = getattr(policy, "measured_by", None)
    if measured_by is None:
        raise ConfigError(f"chunking.tokenizer: policy {name!r} counts no tokens; leave the setting out")
    own = {key: value for key, value in tokenizer.items() if key != "type"}
    measured: Chunker = measured_by(tokenizer_factory(tokenizer["type"]).build(own, root=root))
    return measured


@dataclass(frozen=True, slots=True)
class _Policy:
    """A policy inside another one's table."""

    name: str
    root: str

    def build(self, settings: Settings) -> Chunker:
        return chunker(self.name, settings, root=self.root)


def cache_factory(name: str) -> CacheFactory:
    """The factory behind `[cache] type`."""
    return _find("caches", name, "cache.type")  # type: ignore[no-any-return]  # see source_factory


def store_factory(name: str) -> StoreFactory:
    """The factory behind `[store] type`."""
    return _find("stores", name, "store.type")  # type: ignore[no-any-return]  # see source_factory


def tokenizer_factory(name: str) -> TokenizerFactory:
    """The factory behind `[chunking] tokenizer.type`."""
    return _find("tokenizers", name, "chunking.tokenizer.type")  # type: ignore[no-any-return]  # see source_factory
