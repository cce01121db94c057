"""Lines for people about a plan's documents and their steps; see `report.lines`.

1. Steps that say the same of one chunk after the other, and have no hash to tell, stand in one line.
2. Without the steps, the list of documents ends after a screen or two, and says how many more there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.report.entries import Renamed, entries, rows
from steadlith.report.lines import STYLES, Line, clean, plural
from steadlith_core.planning.steps import GLYPHS, Add, Delete, Move, Reembed, Rekey, Step, Update

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.report.entries import Entry
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import DocumentId

LISTED_STEPS = 20
LISTED_DOCUMENTS = 60


def changes(planned: Plan, *, steps: bool | None, hint: str) -> Iterator[Line]:
    """What becomes of each document; `steps` and `hint` are those of `text.plan`."""
    total = sum(len(change.steps) for change in planned.changes)
    listed = total <= LISTED_STEPS if steps is None else steps
    if planned.recipe_changed:
        yield STYLES["~"], "~ configuration  (the index was made under another one; the new one is recorded)"
    found = entries(planned)
    every: Sequence[Entry | Renamed] = found if listed else rows(found)
    shown = every if listed else every[:LISTED_DOCUMENTS]
    for row in shown:
        if isinstance(row, Renamed):
            names = f"{clean(row.old)} -> {clean(row.new)}"
            yield STYLES[">"], f"> {names}  ({plural(row.documents, 'document')})"
        else:
            yield from _document(row, listed=listed)
    more = sum(row.documents for row in every[len(shown) :])
    if more:
        yield "dim", f"... and {plural(more, 'more document')} ({hint} lists all)"
    elif steps is None and not listed:
        yield "dim", f"({hint} lists all {total:,} steps)"


def _document(entry: Entry, *, listed: bool) -> Iterator[Line]:
    change, glyph = entry.change, entry.glyph
    name = clean(str(change.id))
    if change.origin:
        name = f"{clean(str(change.origin))} -> {name}"
    counts = ", ".join(entry.counts(steps=not listed))
    yield STYLES[glyph], f"{glyph} {name}" + (f"  ({counts})" if counts else "")
    if listed:
        for run in _runs(entry.steps):
            mark = GLYPHS[type(run[0])]
            yield STYLES[mark], f"    {mark} {_run(run) if len(run) > 1 else _step(run[0], change.id)}"


def _runs(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Rule 1."""
    run: list[Step] = []
    for step in steps:
        if run and not _goes_on(run[-1], step):
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _goes_on(before: Step, step: Step) -> bool:
    if not isinstance(before, Update) or not isinstance(step, Update) or before.reason is not step.reason:
        return False
    return before.position is not None and step.position == before.position + 1


def _run(run: Sequence[Step]) -> str:
    first, last = run[0], run[-1]
    assert isinstance(first, Update)  # of other steps each is a run of its own
    assert isinstance(last, Update)
    return f"chunks {first.position}-{last.position}  no embedding  ({_reason(first)})"


def _reason(step: Step) -> str:
    return str(step.reason).replace("_", " ")


def _step(step: Step, id: DocumentId) -> str:  # noqa: A002
    reason = _reason(step)
    match step:
        case Add() | Reembed() | Rekey():
            who = "embed" if step.paid else "cached" if not isinstance(step, Rekey) else "vector reused"
            how = "not embedded" if step.vector_key is None else f"{who}, about {plural(step.tokens, 'token')}"
            came = "" if isinstance(step, Add) or step.origin is None else f"from {clean(str(step.origin))}, "
            return f"chunk {step.position}  {step.chunk_hash.short}  {came}{how}  ({reason})"
        case Move():
            old, new = f"chunk {step.old_position}", f"{step.position}"
            if step.origin is not None:
                old, new = f"{clean(str(step.origin))} {old}", f"{clean(str(id))} chunk {step.position}"
            return f"{old} -> {new}  {step.chunk_hash.short}  ({reason})"
        case Update():
            place = "document" if step.position is None else f"chunk {step.position}"
            return f"{place}  no embedding  ({reason})"
        case Delete():
            return f"chunk {step.old_position}  {step.chunk_hash.short}  ({reason})"
