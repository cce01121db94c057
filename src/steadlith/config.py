"""Configuration: `steadlith.toml` to frozen records.

1. Nothing is guessed: an unknown key, a wrong type or an impossible value is an error that names the key, the
   value and the choices.
2. Adapters judge their own tables; this module knows which table belongs to whom.
3. A secret is never in here: a setting names an environment variable (invariant 9).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from steadlith_core.errors import ConfigError
from steadlith_core.planning.cost import Price
from steadlith_core.planning.guards import Limits
from steadlith_core.state.template import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from steadlith_core.ports import Settings

FILE_NAME = "steadlith.toml"
STATE_FOLDER = ".steadlith"

REJECTED = {
    "collection": "one index file holds one logical index: use a folder and a steadlith.toml for each",
    "alias": "one index file holds one logical index, and its head is swapped in one commit: no alias is needed",
}
"""Settings that other tools have and that cannot mean anything here."""

PRICE_LIMIT = 10**9
"""No price is as high; a mistyped exponent is."""

VERSION_1_TABLES = frozenset({"chunker", "index"})
"""Tables that only a configuration of steadlith 1.x has."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """Which adapter, and its own settings as TOML gave them."""

    type: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One source: its adapter and the front-matter keys that are kept as metadata."""

    adapter: Adapter
    front_matter: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """The embedder, what it is given, how it is called and what it costs."""

    embedder: Adapter
    template: str = "plain"
    batch_size: int = 64
    concurrency: int = 1
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """A whole configuration. `file` is where it was read from; relative paths start from its folder, `root`."""

    file: Path
    sources: Mapping[str, SourceConfig]
    chunking: Adapter
    embedding: EmbeddingConfig
    store: Adapter
    cache: Adapter
    limits: Limits

    @property
    def root(self) -> Path:
        """The folder that relative paths start from."""
        return self.file.parent


def load(path: Path) -> Config:
    """Read a configuration file. `ConfigError` for anything that cannot be used."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"no configuration at {path}: run `steadlith init` there, or pass --config FILE") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    try:
        return parse(_tables(text, path), path.resolve())
    except RecursionError:
        raise ConfigError(f"{path} cannot be read: nested too deeply") from None


def _tables(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:  # TOMLDecodeError is one; a whole number with thousands of digits is another
        raise ConfigError(f"{path} is not TOML: {error}") from error
    except InvalidOperation:
        raise ConfigError(f"{path} is not TOML: a number in it has an impossible exponent") from None


def parse(tables: Mapping[str, Any], file: Path) -> Config:
    """Check a parsed configuration and freeze it."""
    _refuse_version_1(tables)
    table = _Table("", tables)
    table.allow("sources", "chunking", "embedding", "store", "cache", "guards")
    store = _adapter(table.table("store"), "type", "sqlite")
    cache = _adapter(table.table("cache"), "type", "sqlite")
    _refuse_one_file(store, cache, file.parent)
    return Config(
        file=file,
        sources=_sources(table.table("sources")),
        chunking=_adapter(table.table("chunking"), "policy", "structural"),
        embedding=_embedding(table.table("embedding")),
        store=store,
        cache=cache,
        limits=_limits(table.table("guards")),
    )


def _refuse_version_1(tables: Mapping[str, Any]) -> None:
    sources, store = tables.get("sources"), tables.get("store")
    old = VERSION_1_TABLES & tables.keys()
    flat = isinstance(sources, dict) and isinstance(sources.get("include"), list)
    cached = isinstance(store, dict) and isinstance(store.get("cache"), str)
    if old or flat or cached:
        what = f"[{min(old)}]" if old else "sources.include" if flat else "store.cache"
        raise ConfigError(
            f"this is a configuration of steadlith 1.x (it has {what}); that is another program with other files. "
            "Run `steadlith init` in a new folder; adopting a 1.x index without paying again will be `steadlith import`"
        )


def _refuse_one_file(store: Adapter, cache: Adapter, root: Path) -> None:
    """The two are different files, and neither adapter sees the other's settings."""
    paths = [adapter.settings.get("path") for adapter in (store, cache) if adapter.type == "sqlite"]
    if len(paths) < 2 or not all(isinstance(path, str) for path in paths):
        return
    try:
        index, other = ((root / str(path)).resolve() for path in paths)
    except (OSError, RuntimeError, ValueError):
        return  # the adapters say what is wrong with a path
    if index == other:
        raise ConfigError(
            f"store.path = {paths[0]!r} and cache.path = {paths[1]!r} are one file; "
            "the index and the cache need a file each"
        )


def _sources(table: _Table) -> dict[str, SourceConfig]:
    if not table.values:
        raise ConfigError('[sources] names no source; add one, for example [sources.docs] with path = "docs"')
    sources = {}
    for name in table.values:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise ConfigError(f"[sources.{name}]: a source's name has ASCII letters, digits, - and _ only")
        own = table.table(name)
        kept = own.pop("front_matter", _names, ())
        sources[name] = SourceConfig(_adapter(own, "type", "filesystem"), kept)
    return sources


def _embedding(table: _Table) -> EmbeddingConfig:
    template = table.pop("template", _text, "plain")
    if template not in TEMPLATES:
        raise ConfigError(f"embedding.template = {template!r}: choose from {', '.join(sorted(TEMPLATES))}")
    return EmbeddingConfig(
        template=template,
        batch_size=table.pop("batch_size", _whole(1, 4096), 64),
        concurrency=table.pop("concurrency", _whole(1, 64), 1),
        price=_price(table),
        embedder=_adapter(table, "embedder", None),
    )


def _price(table: _Table) -> Price | None:
    per_million = table.pop("price_per_million_tokens", _money, None)
    currency = table.pop("price_currency", _text, "USD")
    as_of = table.pop("price_as_of", _date, None)
    return None if per_million is None else Price(per_million, currency, as_of)


def _limits(table: _Table) -> Limits:
    usual = Limits()
    table.allow(*Limits.__dataclass_fields__)
    many, percent = _whole(0, 2**31), _whole(0, 100)
    return Limits(
        removed_documents=table.pop("removed_documents", many, usual.removed_documents),
        removed_documents_percent=table.pop("removed_documents_percent", percent, usual.removed_documents_percent),
        deleted_chunks=table.pop("deleted_chunks", many, usual.deleted_chunks),
        deleted_chunks_percent=table.pop("deleted_chunks_percent", percent, usual.deleted_chunks_percent),
        paid_tokens=table.pop("paid_tokens", many, None),
    )


def _adapter(table: _Table, key: str, usual: str | None) -> Adapter:
    """The table's adapter; whatever is left in the table is the adapter's own."""
    kind = table.pop(key, _text, usual)
    if kind is None:
        raise ConfigError(f'{table.path(key)} is missing: name an embedder, for example "use" or "hash"')
    return Adapter(kind, dict(table.values))


class _Table:
    """One table of the file on its way into records; keys are taken out as they are understood."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self.values = dict(values)
        for key in sorted(REJECTED.keys() & self.values.keys()):
            raise ConfigError(f"{self.path(key)} = {self.values[key]!r:.80}: not a setting here; {REJECTED[key]}")

    def path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def allow(self, *keys: str) -> None:
        for key in self.values:
            if key not in keys:
                raise unknown_key(self.path(key), key, keys)

    def table(self, key: str) -> _Table:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path(key)} = {value!r:.80}: expected a table, [{self.path(key)}]")
        return _Table(self.path(key), value)

    def pop(self, key: str, read: Callable[[Any], Any], usual: Any) -> Any:
        if key not in self.values:
            return usual
        value = self.values.pop(key)
        try:
            return read(value)
        except ValueError as error:
            raise ConfigError(f"{self.path(key)} = {value!r:.80}: {error}") from error


def unknown_key(path: str, key: str, choices: Collection[str]) -> ConfigError:
    """The error for a key that nobody knows, with the nearest one that somebody does."""
    near = get_close_matches(key, choices, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return ConfigError(f"unknown setting {path!r}: {hint}there are {', '.join(sorted(choices))}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expected text")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError("expected a list of keys")
    return tuple(value)


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"expected a whole number from {least} to {most}")
        return value

    return read


def _money(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("expected a number")  # noqa: TRY004 -- the caller turns it into a ConfigError with the key
    try:
        amount = Decimal(value)
    except InvalidOperation as error:
        raise ValueError("expected a number") from error
    if not amount.is_finite() or not 0 <= amount < PRICE_LIMIT:
        raise ValueError(f"expected a number from 0 up, less than {PRICE_LIMIT}")
    return amount


def _date(value: Any) -> str:
    """A day, as TOML's own date or as text; kept as text."""
    written = value if isinstance(value, str) else str(value) if type(value) is date else ""
    try:
        if date.fromisoformat(written).isoformat() == written:
            return written
    except ValueError:
        pass
    raise ValueError("expected a date, YYYY-MM-DD")
