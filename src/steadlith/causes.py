"""Causes: what of a migration's plan follows from which change of the recipe, and what from the sources alone.

1. A step is counted once, under the first cause in the order of `CAUSES` that can bring it about.
2. What happens to a document whose bytes are others than recorded is the sources' doing: the next plan would do it
   anyway.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.planning.steps import NAMES, Add, Reason, Reembed, Rekey

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.records import DocumentId, Recipe

SOURCES = "sources"
"""What no change of the configuration brings about."""
SCOPE = "settings of the sources"
"""Where documents come from and which of them count: not part of the recipe."""

CAUSES: Mapping[str, Callable[[Recipe], str]] = {
    "normaliser": lambda recipe: recipe.normalizer_id,
    "chunker": lambda recipe: recipe.chunker_id,
    "chunker settings": lambda recipe: recipe.chunker_params_hash.short,
    "front matter and paths": lambda recipe: recipe.content_hash.short,
    "model": lambda recipe: recipe.spaces[0].model_id,
    "dimensions": lambda recipe: str(recipe.spaces[0].dimensions),
    "prefix and other settings of the model": lambda recipe: recipe.spaces[0].params_hash.short,
    "template": lambda recipe: recipe.template_id,
    "quantization": lambda recipe: recipe.spaces[0].quantization,
    "lexical tokeniser": lambda recipe: recipe.lexical_id,
}
"""Each cause, and what of a recipe it is a change of, as a person reads it."""

_CUT = ("normaliser", "chunker", "chunker settings", "front matter and paths", "template")
_MODEL = ("model", "dimensions", "prefix and other settings of the model")
BROUGHT_ABOUT: Mapping[Reason, tuple[str, ...]] = {
    Reason.NORMALIZER: ("normaliser",),
    **dict.fromkeys((Reason.CHUNKER, Reason.NEW_TEXT, Reason.TEXT_GONE, Reason.HEADINGS, Reason.CONTEXT), _CUT),
    **dict.fromkeys((Reason.REORDERED, Reason.RELOCATED, Reason.PARENT), _CUT),
    Reason.METADATA: ("front matter and paths",),
    Reason.MODEL: _MODEL,
    Reason.TEMPLATE: ("template",),
    Reason.QUANTIZATION: ("quantization",),
}
"""What can be behind a step of this reason, where the bytes of its document did not change."""


COMING_AND_GOING: Mapping[Reason, tuple[str, ...]] = dict.fromkeys(
    (Reason.NEW_DOCUMENT, Reason.DOCUMENT_VANISHED, Reason.OUT_OF_SCOPE), (SCOPE,)
)
"""The same where a document was not there before, or is not any more."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One change of the recipe: what it was and becomes, and what follows from it: documents, steps by kind, and the
    texts and tokens that are paid for.
    """

    name: str
    was: str
    becomes: str
    documents: int
    steps: Mapping[str, int]
    embeddings: int
    tokens: int


def causes(
    was: Recipe | None,
    plan: Plan,
    unchanged: Collection[DocumentId],
    *,
    scope: tuple[str, str] | None = None,
) -> tuple[Cause, ...]:
    """Every change of the recipe, in the order of `CAUSES`, then that of the sources' settings (`scope`), and last what
    the sources' own changes come to, if there are any. `unchanged` are documents of the plan whose bytes are as they
    are recorded. O(steps).
    """
    differing = {} if was is None else {name: (read(was), read(plan.recipe)) for name, read in CAUSES.items()}
    differing = {name: pair for name, pair in differing.items() if pair[0] != pair[1]}
    if scope is not None:
        differing[SCOPE] = scope
    told = {name: _Tally() for name in (*differing, SOURCES)}
    for change in plan.changes:
        for name, tally in _of(change, differing, is_unchanged=change.id in unchanged).items():
            told[name].add(tally)
    made = [told[name].cause(name, *differing.get(name, ("", ""))) for name in told]
    return tuple(cause for cause in made if cause.name != SOURCES or cause.documents)


def _of(change: DocumentChange, differing: Collection[str], *, is_unchanged: bool) -> dict[str, _Tally]:
    """What the steps of one document come to, by cause."""
    found: dict[str, _Tally] = {}
    for step in change.steps:
        possible = BROUGHT_ABOUT.get(step.reason, ()) if is_unchanged else COMING_AND_GOING.get(step.reason, ())
        name = next(_present(possible, differing), SOURCES)
        tally = found.setdefault(name, _Tally(documents=1))
        tally.steps[NAMES[type(step)]] += 1
        if isinstance(step, Add | Rekey | Reembed) and step.paid:
            tally.embeddings += 1
            tally.tokens += step.tokens
    return found or {SOURCES: _Tally(documents=1)}


def _present(names: tuple[str, ...], differing: Collection[str]) -> Iterator[str]:
    return (name for name in names if name in differing)


class _Tally:
    """Counts on their way into a cause."""

    __slots__ = ("documents", "embeddings", "steps", "tokens")

    def __init__(self, documents: int = 0) -> None:
        self.documents, self.embeddings, self.tokens = documents, 0, 0
        self.steps: Counter[str] = Counter()

    def add(self, other: _Tally) -> None:
        self.documents += other.documents
        self.embeddings += other.embeddings
        self.tokens += other.tokens
        self.steps += other.steps

    def cause(self, name: str, was: str, becomes: str) -> Cause:
        return Cause(name, was, becomes, self.documents, dict(self.steps), self.embeddings, self.tokens)
