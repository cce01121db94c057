"""Assembly: a configuration with its adapters found and its identities known, and nothing opened yet.

1. Cheap: no store, no cache, no model, no network; so planning needs no credential (invariant 1).
2. Everything that decides an index is in one `Recipe`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from steadlith import clock, relexing, wiring
from steadlith.border import adapter
from steadlith.config import STATE_FOLDER
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ConfigError
from steadlith_core.planning import pathrules
from steadlith_core.planning.wanted import Cutter
from steadlith_core.records import Recipe, Space
from steadlith_core.retrieval import quantization
from steadlith_core.state import identity
from steadlith_core.state.template import TEMPLATES
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith.config import Config
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Embedder, EmbedderIdentity, Lock, Source, Store, Trouble
    from steadlith_core.records import DocumentId, Finding, Format


@dataclass(frozen=True)
class Assembly:
    """Adapters by name, made once a use. Open what you need, close what you opened."""

    config: Config
    given: Mapping[str, Any] = field(default_factory=dict)
    """Sources that were handed over as objects, or the records of one, by name: they take the place of what the
    configuration says of them.
    """
    cut_before: dict[tuple[DocumentId, Format, Digest], tuple[WantedDocument, tuple[Finding, ...]]] = field(
        default_factory=dict
    )
    """Documents as they were cut, by id, format and digest of their bytes: an apply need not cut what its plan cut."""

    @cached_property
    def embedder_identity(self) -> EmbedderIdentity:
        """Who would make the vectors."""
        chosen = self.config.embedding.embedder
        with adapter(f"describing embedder {chosen.type!r}"):
            return wiring.embedder_factory(chosen.type).describe(chosen.settings)

    @cached_property
    def cutter(self) -> Cutter:
        """What turns bytes into wanted documents."""
        chosen = self.config.chunking
        with adapter(f"building chunking policy {chosen.type!r}"):
            chunker = wiring.chunker(chosen.type, chosen.settings, root=str(self.config.root))
        who = self.embedder_identity
        sources = self.config.sources.items()
        kept = {name: tuple(sorted(source.front_matter)) for name, source in sources if source.front_matter}
        rules = {name: source.path_rules for name, source in sources if source.path_rules}
        recipe = Recipe(
            normalizer_id=NORMALIZER_ID,
            chunker_id=chunker.id,
            chunker_params_hash=identity.params_hash(chunker.params),
            content_hash=pathrules.content_hash(kept, rules),
            template_id=TEMPLATES[self.config.embedding.template].id,
            lexical_id=relexing.LEXICAL_ID,
            spaces=(self._space(who),),
        )
        return Cutter(
            recipe,
            chunker,
            TEMPLATES[self.config.embedding.template],
            front_matter=kept,
            path_rules=rules,
            max_input_tokens=who.max_tokens,
            max_input_bytes=who.max_bytes,
        )

    def _space(self, who: EmbedderIdentity) -> Space:
        kept_as = self.config.embedding.quantization
        found = quantization.problem(kept_as, who.dimensions)
        if found:
            raise ConfigError(f"embedding.quantization = {kept_as!r}: {found} ({who.model_id})")
        return Space(who.model_id, identity.params_hash(who.document_params), who.dimensions, kept_as)

    @cached_property
    def config_digest(self) -> Digest:
        """H[config]: what a plan depends on besides its recipe: which sources, how they are scoped."""
        sources = {
            name: [source.adapter.type, repr(sorted(source.adapter.settings.items()))]
            for name, source in self.config.sources.items()
        }
        moves = [list(move) for move in self.config.moves]
        return hash_fields("config", sources, self.cutter.recipe.content_hash, moves)

    @cached_property
    def private_files(self) -> tuple[str, ...]:
        """Our own files: never documents."""
        state, config = str(self.config.root / STATE_FOLDER), str(self.config.file)
        return (*self.store_files, *self.cache_files, state, config)

    @cached_property
    def store_files(self) -> tuple[str, ...]:
        """The store's files."""
        store = self.config.store
        with adapter(f"naming the files of store {store.type!r}"):
            return tuple(wiring.store_factory(store.type).files(store.settings, root=str(self.config.root)))

    @cached_property
    def cache_files(self) -> tuple[str, ...]:
        """The cache's files. `ConfigError` if one is the store's as well: neither adapter sees the other's settings."""
        cache = self.config.cache
        with adapter(f"naming the files of cache {cache.type!r}"):
            files = tuple(wiring.cache_factory(cache.type).files(cache.settings, root=str(self.config.root)))
        shared = {os.path.realpath(file) for file in files} & {os.path.realpath(file) for file in self.store_files}
        if shared:
            raise ConfigError(
                f"{min(shared)} would be a file of the index and of the cache; give each a file of its own "
                "(store.path, cache.path)"
            )
        return files

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """The sources by name, in the configuration's order."""
        made = {}
        for name, source in self.config.sources.items():
            if name in self.given:
                is_source = all(hasattr(self.given[name], method) for method in ("list", "read", "stamp"))
                made[name] = self.given[name] if is_source else wiring.source_over(self.given[name])
                continue
            with adapter(f"building source {name!r}"):
                factory = wiring.source_factory(source.adapter.type, f"sources.{name}.type")
                made[name] = factory.build(
                    name, source.adapter.settings, root=str(self.config.root), private=self.private_files
                )
        return made

    def open_store(self, *, readonly: bool) -> Store:
        """The store; with `readonly` nothing is created or changed."""
        chosen = self.config.store
        with adapter(f"opening store {chosen.type!r}"):
            return wiring.store_factory(chosen.type).open(
                chosen.settings, root=str(self.config.root), readonly=readonly
            )

    def open_cache(self, *, readonly: bool) -> Cache:
        """The embedding cache; with `readonly` nothing is created or changed."""
        chosen = self.config.cache
        _ = self.cache_files  # raises for one that is the store's
        with adapter(f"opening cache {chosen.type!r}"):
            return wiring.cache_factory(chosen.type).open(
                chosen.settings, root=str(self.config.root), readonly=readonly, today=clock.today()
            )

    def set_aside(self) -> str:
        """Move a damaged index out of the way; where it is now."""
        chosen = self.config.store
        with adapter(f"setting the index of store {chosen.type!r} aside"):
            return wiring.store_factory(chosen.type).set_aside(chosen.settings, root=str(self.config.root))

    def troubles(self) -> tuple[Trouble, ...]:
        """What can be seen to be wrong around the index and the cache, without opening them."""
        store, cache, root = self.config.store, self.config.cache, str(self.config.root)
        with adapter("looking around the index and the cache"):
            return (
                *wiring.store_factory(store.type).troubles(store.settings, root=root),
                *wiring.cache_factory(cache.type).troubles(cache.settings, root=root),
            )

    def set_cache_aside(self) -> str:
        """Move a damaged cache out of the way; where it is now."""
        chosen = self.config.cache
        with adapter(f"setting the file of cache {chosen.type!r} aside"):
            return wiring.cache_factory(chosen.type).set_aside(chosen.settings, root=str(self.config.root))

    def lock(self, *, timeout: float, holder: str) -> Lock:
        """The writer's lock, not yet taken."""
        chosen = self.config.store
        with adapter(f"making the lock of store {chosen.type!r}"):
            return wiring.store_factory(chosen.type).lock(
                chosen.settings, root=str(self.config.root), timeout=timeout, holder=holder
            )

    @cached_property
    def embedder(self) -> Embedder:
        """The model itself: loaded on first use, and only by what embeds."""
        chosen = self.config.embedding.embedder
        with adapter(f"loading embedder {chosen.type!r}"):
            return wiring.embedder_factory(chosen.type).build(chosen.settings)
