"""A recipe as bytes: how a store and a manifest keep what decides an index (format.md 7).

1. The bytes are canonical: equal recipes have equal bytes.
2. `decode` accepts exactly what `encode` makes; anything else is a `ValueError` that names the field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from steadlith_core import canon
from steadlith_core.digest import Digest
from steadlith_core.records import Recipe, Space

T = TypeVar("T", str, int, bytes)

_TEXTS = ("normalizer_id", "chunker_id", "template_id", "lexical_id")
_DIGESTS = ("chunker_params_hash", "content_hash")
_FIELDS = {*_TEXTS, *_DIGESTS, "spaces"}
_SPACE_FIELDS = {"model_id", "params_hash", "dimensions", "quantization"}


def encode(recipe: Recipe) -> bytes:
    """Canonical bytes of a map of the recipe's fields, spaces in their order."""
    fields: dict[str, canon.Value] = {name: getattr(recipe, name) for name in (*_TEXTS, *_DIGESTS)}
    fields["spaces"] = [{name: getattr(space, name) for name in _SPACE_FIELDS} for space in recipe.spaces]
    return canon.encode(fields)


def decode(data: bytes) -> Recipe:
    """The recipe whose bytes are `data`."""
    fields = _map(canon.decode(data), _FIELDS, "a recipe")
    spaces = fields["spaces"]
    if isinstance(spaces, str | bytes) or not isinstance(spaces, Sequence):
        message = f"a recipe's spaces are a list, got {spaces!r}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    return Recipe(
        normalizer_id=_field(fields, "normalizer_id", str),
        chunker_id=_field(fields, "chunker_id", str),
        chunker_params_hash=Digest(_field(fields, "chunker_params_hash", bytes)),
        content_hash=Digest(_field(fields, "content_hash", bytes)),
        template_id=_field(fields, "template_id", str),
        lexical_id=_field(fields, "lexical_id", str),
        spaces=tuple(map(_space, spaces)),
    )


def _space(value: canon.Value) -> Space:
    fields = _map(value, _SPACE_FIELDS, "a space")
    return Space(
        model_id=_field(fields, "model_id", str),
        params_hash=Digest(_field(fields, "params_hash", bytes)),
        dimensions=_field(fields, "dimensions", int),
        quantization=_field(fields, "quantization", str),
    )


def _map(value: canon.Value, names: set[str], what: str) -> Mapping[str, canon.Value]:
    if not isinstance(value, Mapping) or set(value) != names:
        message = f"{what} is a map of {', '.join(sorted(names))}; got {value!r}"
        raise ValueError(message)
    return value


def _field(fields: Mapping[str, canon.Value], name: str, kind: type[T]) -> T:
    value = fields[name]
    if not isinstance(value, kind) or isinstance(value, bool):  # a boolean is no integer here
        message = f"{name} is a {kind.__name__}, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    return value
