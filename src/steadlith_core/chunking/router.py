"""The policy `router`: another policy for each kind of document.

1. The kind is the document's format. A kind without a policy of its own has `default`; without that either, the first
   such document is an error that names its kind.
2. The parameters are the whole routing table: under `KIND` the policy's id, and each of its parameters under
   `KIND.PARAMETER`. No kind has a dot in its name, so no two tables have the same parameters.
3. Which policies there are is the caller's to say: `RouterFactory` is given the look-up. `FACTORY` knows those that are
   built in (`BUILT_IN`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from steadlith_core.errors import ConfigError
from steadlith_core.records import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.policies import Chunker, ChunkerFactory
    from steadlith_core.ports import Settings
    from steadlith_core.records import Chunk, Finding
    from steadlith_core.text.canonical import CanonicalText

POLICY_ID = "router/1"

DEFAULT = "default"
KINDS = (*map(str, Format), DEFAULT)

BUILT_IN: Mapping[str, tuple[str, str]] = {
    "cdc": ("cdc", "FACTORY"),
    "fixed": ("packed", "FIXED"),
    "late": ("late", "FACTORY"),
    "markdown": ("sections", "MARKDOWN"),
    "plain": ("sections", "PLAIN"),
    "recursive": ("packed", "RECURSIVE"),
    "semantic": ("semantic", "FACTORY"),
    "sentence": ("packed", "SENTENCE"),
    "structural": ("structural", "FACTORY"),
    "word": ("packed", "WORD"),
}
"""Policies that a kind may have: name in the configuration, module beside this one, name of its factory."""


@dataclass(frozen=True, slots=True)
class RouterChunker:
    """Cuts a document by the policy of its kind; `routes` are (kind, policy) pairs, each kind once, by name."""

    routes: tuple[tuple[str, Chunker], ...]

    @property
    def id(self) -> str:
        """Versioned name of the policy."""
        return POLICY_ID

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The routing table, flat."""
        named: dict[str, int | str | bool] = {}
        for kind, policy in self.routes:
            named[kind] = policy.id
            named.update({f"{kind}.{key}": value for key, value in policy.params.items()})
        return named

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002
        """What the kind's policy makes of the document."""
        return self.route(format).cut(text, format)

    def route(self, format: Format) -> Chunker:  # noqa: A002
        """The policy of a kind. Raises `ConfigError` for a kind that has none."""
        routes = dict(self.routes)
        policy = routes.get(str(format)) or routes.get(DEFAULT)
        if policy is None:
            raise ConfigError(
                f"chunking.kinds has no policy for kind {str(format)!r} and no default; "
                f"add [chunking.kinds.{format}] or [chunking.kinds.{DEFAULT}], or exclude such documents"
            )
        return policy


def built_in(name: str) -> ChunkerFactory:
    """The factory of a built-in policy. Raises `ConfigError` naming those that there are."""
    if name not in BUILT_IN:
        raise ConfigError(f"policy = {name!r}: a kind has one of {', '.join(BUILT_IN)}")
    module, factory = BUILT_IN[name]
    found: ChunkerFactory = getattr(import_module(f"steadlith_core.chunking.{module}"), factory)
    return found


@dataclass(frozen=True, slots=True)
class RouterFactory:
    """Makes the policy from the table `[chunking.kinds]`; `find` leads from a policy's name to its factory."""

    find: Callable[[str], ChunkerFactory]

    def build(self, settings: Settings) -> RouterChunker:
        """A chunker. Every problem is a `ConfigError` that names the kind."""
        for key in settings:
            if key != "kinds":
                raise ConfigError(f"unknown key {key} = {settings[key]!r} for the {POLICY_ID} chunker; it has kinds")
        kinds = settings.get("kinds", {})
        if not isinstance(kinds, dict):
            raise ConfigError(f"kinds = {kinds!r}: a table is needed, with a policy for each of {', '.join(KINDS)}")
        routes = tuple((kind, self._route(kind, kinds[kind])) for kind in sorted(kinds) if kinds[kind] is not None)
        if not routes:
            raise ConfigError(f"kinds is empty: name a policy for {DEFAULT}, or for each of {', '.join(Format)}")
        return RouterChunker(routes)

    def _route(self, kind: str, settings: object) -> Chunker:
        if kind not in KINDS:
            raise ConfigError(f"kinds.{kind}: no such kind; there are {', '.join(KINDS)}")
        if not isinstance(settings, dict) or not isinstance(settings.get("policy"), str):
            raise ConfigError(
                f'kinds.{kind} = {settings!r}: a table with a policy is needed, as {{ policy = "fixed" }}'
            )
        own = dict(settings)
        try:
            return self.find(own.pop("policy")).build(own)
        except ConfigError as error:
            raise ConfigError(f"kinds.{kind}: {error}") from error


FACTORY: ChunkerFactory = RouterFactory(built_in)
