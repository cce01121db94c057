"""What is told of one kept generation, as lines and as JSON."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from steadlith.report import documents, generations, offline, offlinedocuments
from steadlith.report.lines import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.described import Described
    from steadlith.report.lines import Line

LISTED = 20
"""Documents that are listed; `steadlith diff` lists all."""


def lines(found: Described) -> Iterator[Line]:
    """All that is known of it, and the documents that it changed."""
    made, recipe = found.generation, found.generation.recipe
    named = "".join(f"  [{clean(name)}]" for name in found.names)
    yield "bold", f"Generation {made.number}: {offline.counted(made.documents, made.chunks)}{named}"
    yield "", f"Made:          {clean(made.at)}, {clean(made.why)}, from generation {made.parent}"
    yield "", f"Steps:         {generations.counts(made)}"
    yield "", f"Cost:          {generations.cost(made) or 'not noted'}"
    yield "", f"Corpus root:   {made.corpus_root}"
    yield "", f"State root:    {made.state_root}"
    yield "", f"Plan:          {made.plan_digest}"
    for space in recipe.spaces:
        yield "", f"Space:         {clean(space.model_id)}, {space.dimensions} dimensions, {space.quantization}"
    yield "", f"Chunking:      {clean(recipe.chunker_id)}, text {clean(recipe.normalizer_id)}"
    yield "", f"Configuration: {_configuration(found)}"
    yield "", ""
    yield from _changes(found)


def document(found: Described) -> dict[str, Any]:
    """The same as a JSON value; `changes` is null where the parent is not kept."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-generation",
        **generations.fields(found.generation, list(found.names)),
        "reconfigured": found.reconfigured,
        "changes": None if found.changes is None else offlinedocuments.differing(found.changes),
    }


def _configuration(found: Described) -> str:
    if found.generation.configuration is None:
        return "not noted"
    other = f"not that of generation {found.generation.parent}; " if found.reconfigured else ""
    return f"{other}`steadlith show {found.generation.number} --configuration` prints it"


def _changes(found: Described) -> Iterator[Line]:
    made, changes = found.generation, found.changes
    if changes is None and made.parent == 0:
        yield "", "It is the first one: everything in it is new."
    elif changes is None:
        yield "", f"Generation {made.parent}, which it was made from, is not kept: what it changed cannot be told."
    elif changes.same:
        yield "", f"Its documents and its recipe are those of generation {made.parent}."
    else:
        yield from offline.recipe(changes)
        yield from map(offline.changed, islice(changes.documents, LISTED))
        left = len(changes.documents) - LISTED
        if left > 0:
            yield "dim", f"(and {left:,} more; `steadlith diff {made.parent} {made.number}` lists all)"
        yield "bold", offline.totals(changes)
