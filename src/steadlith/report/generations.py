"""What is told of the past: the kept generations, newest first, and their names, as lines and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steadlith.report.documents import FORMAT_VERSION
from steadlith.report.lines import clean, plural
from steadlith_core.planning import planfile, spent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith.report.lines import Line
    from steadlith_core.records import Generation, Recipe

OF_THE_RECIPE = {
    "normalizer_id": "text",
    "chunker_id": "chunker",
    "chunker_params_hash": "chunker settings",
    "content_hash": "what is kept of front matter and paths",
    "template_id": "template",
    "lexical_id": "words",
}
"""What may change besides the embedding spaces, in the words of a line."""


def lines(history: Sequence[Generation], tags: Mapping[str, int], limit: int | None) -> Iterator[Line]:
    """One generation a line, newest first, with its names; below it what changed of the recipe, where something did."""
    if not history:
        yield "", "No generation yet: `steadlith plan` shows what the first apply would do."
        return
    listed = _newest(history, limit)
    width = len(str(listed[0][0].number))
    for made, before in listed:
        paid = cost(made)
        what = f"{counts(made)}; {paid}" if paid else counts(made)
        size = f"{plural(made.documents, 'document')}, {plural(made.chunks, 'chunk')}"
        why = "" if made.why == "apply" else f"{clean(made.why)}: "
        named = "".join(f"  [{clean(name)}]" for name in _names(tags, made.number))
        yield "", f"{made.number:>{width}}  {clean(made.at)}  {made.corpus_root.short}  {why}{size} ({what}){named}"
        for change in [] if before is None else _changed(before, made.recipe):
            yield "yellow", f"{'':>{width}}  {change}"
    left = len(history) - len(listed)
    if left:
        yield "dim", f"(and {left:,} older; --limit 0 lists all)"


def counts(made: Generation) -> str:
    """The steps that led to a generation, by kind."""
    steps = sorted(spent.steps(made.summary).items())
    return ", ".join(f"{name} {count:,}" for name, count in steps if count) or "no steps"


def cost(made: Generation) -> str:
    """What was embedded for it; empty where that was not noted."""
    paid = spent.spent(made.summary)
    if paid is None:
        return ""
    if not paid.embedded:
        return "nothing embedded"
    tokens = "" if paid.tokens is None else f", about {plural(paid.tokens, 'token')}"
    amount = "" if paid.amount is None else f", {paid.amount} {clean(paid.currency or '')}"
    return f"embedded {paid.embedded:,}{tokens}{amount}"


def document(history: Sequence[Generation], tags: Mapping[str, int], limit: int | None) -> dict[str, Any]:
    """The same as a JSON value, with whole digests, recipes and configurations."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-history",
        "kept": len(history),
        "generations": [fields(made, _names(tags, made.number)) for made, _ in _newest(history, limit)],
    }


def names(tags: Mapping[str, int]) -> Iterator[Line]:
    """The names, one a line."""
    if not tags:
        yield "", "No generation has a name: `steadlith tag GENERATION NAME` gives one."
    for name, number in tags.items():
        yield "", f"{clean(name)}  generation {number}"


def names_document(tags: Mapping[str, int]) -> dict[str, Any]:
    """The names as a JSON value."""
    return {"format_version": FORMAT_VERSION, "kind": "steadlith-tags", "tags": dict(tags)}


def restored(document: str, number: int, text: str) -> dict[str, Any]:
    """The text of a document as a generation has it, as a JSON value."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-restored",
        "document": document,
        "generation": number,
        "text": text,
    }


def _newest(history: Sequence[Generation], limit: int | None) -> list[tuple[Generation, Recipe | None]]:
    """The newest generations, newest first, each with the recipe before it if that is known."""
    pairs = [(made, before.recipe) for before, made in pairwise(history)]
    every = [*reversed(pairs), *((each, None) for each in history[:1])]
    return every[:limit]


def _changed(before: Recipe, after: Recipe) -> Iterator[str]:
    for name, words in OF_THE_RECIPE.items():
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{words}: {clean(str(old))} -> {clean(str(new))}"
    if before.spaces != after.spaces:
        old, new = (
            ", ".join(f"{each.model_id} {each.dimensions} {each.quantization}" for each in recipe.spaces)
            for recipe in (before, after)
        )
        yield f"vectors: {clean(old)} -> {clean(new)}"


def _names(tags: Mapping[str, int], number: int) -> list[str]:
    return [name for name, named in tags.items() if named == number]


def fields(made: Generation, names: list[str]) -> dict[str, Any]:
    """All that is kept of a generation itself. What was spent is null where it is unknown or was not noted."""
    paid = spent.spent(made.summary)
    return {
        "generation": made.number,
        "names": names,
        "why": made.why,
        "configuration": made.configuration,
        "parent": made.parent,
        "at": made.at,
        "corpus_root": str(made.corpus_root),
        "state_root": str(made.state_root),
        "plan_digest": str(made.plan_digest),
        "documents": made.documents,
        "chunks": made.chunks,
        "counts": dict(spent.steps(made.summary)),
        "spent": None if paid is None else asdict(paid),
        "recipe": planfile.recipe_document(made.recipe),
    }
