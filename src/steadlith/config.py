"""Configuration: `steadlith.toml` to frozen records.

1. Nothing is guessed: an unknown key, a wrong type or an impossible value is an error that names the key, the
   value and the choices.
2. Adapters judge their own tables; this module knows which table belongs to whom.
3. A secret is never in here: a setting names an environment variable (invariant 9).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from steadlith.retention import FOREVER, Retention
from steadlith.tables import Table, day, names, one_of, text, whole
from steadlith_core.errors import ConfigError
from steadlith_core.planning import moves
from steadlith_core.planning.cost import Price
from steadlith_core.planning.guards import Limits, Unreadable
from steadlith_core.planning.pathrules import RESERVED, PathRule
from steadlith_core.retrieval.quantization import FLOAT32, QUANTIZATIONS
from steadlith_core.state.template import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
"""No price and no budget is as high; a mistyped exponent is."""

LONGEST_RETRY = 86_400
"""Nobody waits for an embedder longer than a day; a mistyped number does."""

AUDITS = ("usual", "strict")
"""How an embedder's answers are judged: by what is a fact about each vector, or by comparing them as well."""

VERSION_1_TABLES = frozenset({"chunker", "index"})
"""Tables that only a configuration of steadlith 1.x has."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """Which adapter, and its own settings as TOML gave them."""

    type: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One source: its adapter, the front-matter keys that are kept as metadata, and metadata by path."""

    adapter: Adapter
    front_matter: tuple[str, ...] = ()
    path_rules: tuple[PathRule, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """The embedder, what it is given, how it is called, what it costs, what counts its tokens exactly, and how its
    vectors are kept.
    """

    embedder: Adapter
    template: str = "plain"
    batch_size: int = 64
    concurrency: int = 1
    max_retry_time: float = 60.0
    strict_audit: bool = False
    price: Price | None = None
    tokenizer: Adapter | None = None
    quantization: str = FLOAT32


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """A price for the models whose id matches `model`, a glob."""

    model: str
    price: Price


@dataclass(frozen=True, slots=True)
class Config:
    """A whole configuration. `file` is where it was read from, `text` what it holds; relative paths start from its
    folder, `root`.
    """

    file: Path
    sources: Mapping[str, SourceConfig]
    chunking: Adapter
    embedding: EmbeddingConfig
    store: Adapter
    cache: Adapter
    limits: Limits
    prices: tuple[ModelPrice, ...] = ()
    moves: moves.Moves = ()
    retention: Retention = FOREVER
    text: str = ""

    @property
    def root(self) -> Path:
        """The folder that relative paths start from."""
        return self.file.parent

    def price_of(self, model_id: str) -> Price | None:
        """What this model costs: as `[embedding]` says, else as the first match in `[[prices]]` does; else unknown."""
        if self.embedding.price is not None:
            return self.embedding.price
        matching = (each.price for each in self.prices if fnmatchcase(model_id, each.model))
        return next(matching, None)


def load(path: Path) -> Config:
    """Read a configuration file. `ConfigError` for anything that cannot be used."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"no configuration at {path}: run `steadlith init` there, or pass --config FILE") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    return read(text, path)


def read(text: str, path: Path) -> Config:
    """The configuration that the file at `path` would be with this text. `ConfigError` for anything unusable."""
    try:
        return replace(parse(_tables(text, path), path.resolve()), text=text)
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
    table = Table("", tables, REJECTED)
    table.allow("sources", "chunking", "embedding", "store", "cache", "guards", "prices", "moved", "retention")
    store = _adapter(table.table("store"), "type", "sqlite")
    cache = _adapter(table.table("cache"), "type", "sqlite")
    return Config(
        file=file,
        sources=_sources(table.table("sources")),
        chunking=_adapter(table.table("chunking"), "policy", "structural"),
        embedding=_embedding(table.table("embedding")),
        store=store,
        cache=cache,
        limits=_limits(table.table("guards")),
        prices=tuple(map(_model_price, table.tables("prices"))),
        moves=_moves(table.tables("moved"), table.table("sources").values),
        retention=_retention(table.table("retention")),
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
            "Run `steadlith init` in a new folder; `steadlith import --from steadlith-1` adopts a 1.x index without "
            "paying again"
        )


def _sources(table: Table) -> dict[str, SourceConfig]:
    if not table.values:
        raise ConfigError('[sources] names no source; add one, for example [sources.docs] with path = "docs"')
    sources = {}
    for name in table.values:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise ConfigError(f"[sources.{name}]: a source's name has ASCII letters, digits, - and _ only")
        own = table.table(name)
        kept = own.pop("front_matter", names, ())
        rules = tuple(map(_path_rule, own.tables("metadata")))
        sources[name] = SourceConfig(_adapter(own, "type", "filesystem"), kept, rules)
    return sources


def _path_rule(table: Table) -> PathRule:
    match = table.need("match", text, 'a pattern of paths, for example "reference/*"')
    for key in sorted(set(RESERVED) & table.values.keys()):
        raise ConfigError(f"{table.path(key)}: every document has a {key} of its own; name the metadata otherwise")
    if not table.values:
        raise ConfigError(f'{table.name} gives no metadata to {match!r}; add some, for example kind = "reference"')
    return PathRule(match, {key: table.pop(key, text, None) for key in sorted(table.values)})


def _moves(tables: Sequence[Table], sources: Mapping[str, Any]) -> moves.Moves:
    found = []
    for table in tables:
        old = table.need("from", text, "the place that a document or a folder had, source:path")
        new = table.need("to", text, "the place that it has now, source:path")
        table.allow()
        name = new.partition(":")[0]
        if name not in sources:
            known = ", ".join(sources)
            raise ConfigError(f"{table.path('to')} = {new!r}: no source is named {name!r}; there are {known}")
        found.append((old, new))
    wrong = moves.problem(found)
    if wrong is not None:
        raise ConfigError(f"[[moved]]: {wrong}")
    return tuple(found)


def _embedding(table: Table) -> EmbeddingConfig:
    template = table.pop("template", text, "plain")
    if template not in TEMPLATES:
        raise ConfigError(f"embedding.template = {template!r}: choose from {', '.join(sorted(TEMPLATES))}")
    return EmbeddingConfig(
        template=template,
        batch_size=table.pop("batch_size", whole(1, 4096), 64),
        concurrency=table.pop("concurrency", whole(1, 64), 1),
        max_retry_time=table.pop("max_retry_time", _seconds, 60.0),
        strict_audit=table.pop("audit", one_of(*AUDITS), AUDITS[0]) == "strict",
        price=_price(table),
        tokenizer=_tokenizer(table),
        quantization=table.pop("quantization", one_of(*QUANTIZATIONS), FLOAT32),
        embedder=_adapter(table, "embedder", None),
    )


def _price(table: Table) -> Price | None:
    per_million = table.pop("price_per_million_tokens", _money, None)
    currency = table.pop("price_currency", text, "USD")
    as_of = table.pop("price_as_of", day, None)
    return None if per_million is None else Price(per_million, currency, as_of)


def _model_price(table: Table) -> ModelPrice:
    model = table.need("model", text, 'the id of a model, or a pattern of ids, for example "openai:*-small*"')
    per_million = table.need("per_million_tokens", _money, "the price of a million input tokens")
    currency = table.pop("currency", text, "USD")
    as_of = table.need("as_of", day, "the day on which somebody looked the price up, YYYY-MM-DD")
    table.allow()
    return ModelPrice(model, Price(per_million, currency, as_of))


def _tokenizer(table: Table) -> Adapter | None:
    if "tokenizer" not in table.values:
        return None
    own = table.table("tokenizer")
    del table.values["tokenizer"]
    kind = own.need("type", text, 'name a tokenizer, for example "tokenizers" or "tiktoken"')
    return Adapter(kind, dict(own.values))


def _limits(table: Table) -> Limits:
    usual = Limits()
    table.allow(*Limits.__dataclass_fields__)
    many, percent = whole(0, 2**31), whole(0, 100)
    return Limits(
        removed_documents=table.pop("removed_documents", many, usual.removed_documents),
        removed_documents_percent=table.pop("removed_documents_percent", percent, usual.removed_documents_percent),
        deleted_chunks=table.pop("deleted_chunks", many, usual.deleted_chunks),
        deleted_chunks_percent=table.pop("deleted_chunks_percent", percent, usual.deleted_chunks_percent),
        max_steps=table.pop("max_steps", many, usual.max_steps),
        paid_tokens=table.pop("paid_tokens", many, None),
        paid_amount=table.pop("paid_amount", _money, None),
        unreadable=Unreadable(table.pop("unreadable", one_of(*Unreadable), usual.unreadable)),
    )


def _retention(table: Table) -> Retention:
    table.allow(*Retention.__dataclass_fields__)
    many = whole(1, 2**31)
    return Retention(table.pop("keep_generations", many, None), table.pop("keep_days", many, None))


def _adapter(table: Table, key: str, usual: str | None) -> Adapter:
    """The table's adapter; whatever is left in the table is the adapter's own."""
    kind = table.pop(key, text, usual)
    if kind is None:
        raise ConfigError(f'{table.path(key)} is missing: name an embedder, for example "use" or "hash"')
    return Adapter(kind, dict(table.values))


def _seconds(value: Any) -> float:
    """A time to wait at most."""
    if not isinstance(value, bool) and isinstance(value, int | Decimal):
        seconds = Decimal(value)
        if seconds.is_finite() and 0 <= seconds <= LONGEST_RETRY:
            return float(seconds)
    raise ValueError(f"expected a number of seconds from 0 to {LONGEST_RETRY}")


def _money(value: Any) -> Decimal:
    """An amount or a price: a decimal number, not negative and not absurd."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("expected a number")  # noqa: TRY004 -- the caller turns it into a ConfigError with the key
    try:
        amount = Decimal(value)
    except InvalidOperation as error:
        raise ValueError("expected a number") from error
    if not amount.is_finite() or not 0 <= amount < PRICE_LIMIT:
        raise ValueError(f"expected a number from 0 up, less than {PRICE_LIMIT}")
    return amount
