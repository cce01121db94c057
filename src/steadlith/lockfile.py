"""The lock file: which state an index must be in, in a few lines of TOML made for git.

1. It pins both roots, the counts, and every identity that decided them; a difference is named by what differs.
2. The sources root is for people to compare: bytes that leave every text as it is change it, so it refuses nothing.
3. The same state gives the same text.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from steadlith_core.digest import Digest
from steadlith_core.errors import ConfigError, UsageError
from steadlith_core.records import IDENTITY_SCHEMA, Recipe, Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from steadlith_core.state.manifest import Header

FORMAT_VERSION = "1.0"
COMMENT = "# Made by `steadlith lock`. `steadlith verify --locked` compares an index or a manifest with it.\n"

_IDENTITIES = ("normalizer_id", "chunker_id", "chunker_params_hash", "content_hash", "template_id", "lexical_id")


@dataclass(frozen=True, slots=True)
class Lock:
    """A pinned state."""

    corpus_root: Digest
    state_root: Digest
    sources_root: Digest
    documents: int
    chunks: int
    recipe: Recipe
    identity_schema: str = IDENTITY_SCHEMA


def pin(header: Header) -> Lock:
    """The lock of this state. `UsageError` where there is none yet."""
    if header.recipe is None:
        raise UsageError("there is no index yet, so there is nothing to pin: run `steadlith apply` first")
    return Lock(
        header.corpus_root, header.state_root, header.sources_root, header.documents, header.chunks, header.recipe
    )


def dump(lock: Lock) -> str:
    """The file's text."""
    import tomli_w

    recipe = lock.recipe
    identities = {name: _printed(getattr(recipe, name)) for name in _IDENTITIES}
    return COMMENT + tomli_w.dumps(
        {
            "format_version": FORMAT_VERSION,
            "corpus_root": str(lock.corpus_root),
            "state_root": str(lock.state_root),
            "sources_root": str(lock.sources_root),
            "documents": lock.documents,
            "chunks": lock.chunks,
            "identities": {"identity_schema": lock.identity_schema, **identities},
            "spaces": [
                {
                    "model_id": space.model_id,
                    "params_hash": str(space.params_hash),
                    "dimensions": space.dimensions,
                    "quantization": space.quantization,
                }
                for space in recipe.spaces
            ],
        }
    )


def load(file: Path) -> Lock:
    """The lock in `file`. `ConfigError` names the key and the value that cannot be used."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror or error} (`steadlith lock` makes it)") from error
    except ValueError as error:
        raise ConfigError(f"{file} is no lock file: {error}") from error
    version = table.get("format_version")
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".", maxsplit=1)[0]:
        raise ConfigError(f"{file} has format {version!r}; this version reads {FORMAT_VERSION} (lock again)")
    try:
        return _read(table)
    except ValueError as error:
        raise ConfigError(f"{file} is no lock file: {error} (lock again)") from error


def _read(table: Mapping[str, Any]) -> Lock:
    identities = _get(table, "identities", dict)
    recipe = Recipe(
        normalizer_id=_get(identities, "normalizer_id", str),
        chunker_id=_get(identities, "chunker_id", str),
        chunker_params_hash=_hash(identities, "chunker_params_hash"),
        content_hash=_hash(identities, "content_hash"),
        template_id=_get(identities, "template_id", str),
        lexical_id=_get(identities, "lexical_id", str),
        spaces=tuple(_space(space) for space in _get(table, "spaces", list)),
    )
    return Lock(
        corpus_root=_hash(table, "corpus_root"),
        state_root=_hash(table, "state_root"),
        sources_root=_hash(table, "sources_root"),
        documents=_get(table, "documents", int),
        chunks=_get(table, "chunks", int),
        recipe=recipe,
        identity_schema=_get(identities, "identity_schema", str),
    )


def _space(value: Any) -> Space:
    if not isinstance(value, dict):
        message = f"spaces = {value!r:.60}: expected tables"
        raise ValueError(message)  # noqa: TRY004 -- the file is wrong, not a caller's type
    return Space(
        model_id=_get(value, "model_id", str),
        params_hash=_hash(value, "params_hash"),
        dimensions=_get(value, "dimensions", int),
        quantization=_get(value, "quantization", str),
    )


def _hash(table: Mapping[str, Any], key: str) -> Digest:
    try:
        return Digest.parse(_get(table, key, str))
    except ValueError as error:
        message = f"{key}: {error}"
        raise ValueError(message) from error


def _get(table: Mapping[str, Any], key: str, kind: type) -> Any:
    value = table.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        message = f"{key} = {value!r:.60}: expected a value of type {kind.__name__}"
        raise ValueError(message)  # noqa: TRY004 -- the file is wrong, not a caller's type
    return value


def deviations(
    lock: Lock, *, recipe: Recipe | None, corpus: Digest, state: Digest, documents: int, chunks: int
) -> Iterator[str]:
    """How a state differs from the locked one, a sentence each."""
    for name, found, pinned in (
        ("corpus root", corpus, lock.corpus_root),
        ("state root", state, lock.state_root),
        ("number of documents", documents, lock.documents),
        ("number of chunks", chunks, lock.chunks),
        ("identity schema", IDENTITY_SCHEMA, lock.identity_schema),
    ):
        if found != pinned:
            yield f"the {name} is {found}, the lock has {pinned}"
    for name, found, pinned in recipe_differences(recipe, lock.recipe):
        yield f"the {name} is {found}, the lock has {pinned}"


def recipe_differences(left: Recipe | None, right: Recipe | None) -> Iterator[tuple[str, str, str]]:
    """What two recipes differ in: a field of theirs, and what each has there."""
    for field in fields(Recipe):
        mine, other = (None if recipe is None else getattr(recipe, field.name) for recipe in (left, right))
        if mine != other:
            yield field.name, _printed(mine), _printed(other)


def _printed(value: str | Digest | tuple[Space, ...] | None) -> str:
    if isinstance(value, tuple):
        spaces = (
            f"{each.model_id} ({each.dimensions}, {each.quantization}, {each.params_hash.short})" for each in value
        )
        return ", ".join(spaces) or "none"
    return "none" if value is None else str(value)
