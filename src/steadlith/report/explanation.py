"""An explanation of one document's steps, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith.report.lines import STYLES, clean
from steadlith_core.planning.explain import Answer
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import GLYPHS, NAMES, Delete

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith.explain import Explained
    from steadlith.report.lines import Line
    from steadlith_core.planning.explain import Explanation, Lines, Why

ANSWERS: Mapping[Answer, str] = {
    Answer.CACHE: "the cache has its vector",
    Answer.INDEX: "the index has its vector",
    Answer.PLAN: "another step of this plan pays for its vector",
    Answer.NOBODY: "nobody has its vector: it is embedded",
}
FATES: Mapping[Fate, str] = {
    Fate.ADDED: "is new",
    Fate.CHANGED: "changed",
    Fate.REMOVED: "is removed",
}


def text(found: Explained) -> Iterator[Line]:
    """Sentences for people."""
    name = clean(str(found.id))
    if found.explanation is None:
        yield "", f"{name}: {_nothing(found)}"
        return
    explanation = found.explanation
    yield "bold", f"{name} {_fate(explanation)}"
    if explanation.new:
        yield "", f"  new in the source: {_lines(explanation.new)}"
    if explanation.gone:
        yield "", f"  gone from it:      {_lines(explanation.gone)}, as they were numbered"
    for why in explanation.steps:
        glyph = GLYPHS[type(why.step)]
        yield STYLES[glyph], f"  {glyph} {_where(why)}: {'; '.join(_because(why))}"
    if explanation.change.kept:
        yield "dim", f"  {explanation.change.kept} chunks are kept: the same text, in the same order"


def document(found: Explained) -> dict[str, Any]:
    """A JSON value."""
    explanation = found.explanation
    return {
        "document": {"source": found.id.source, "path": found.id.path},
        "recorded": found.recorded,
        "new_lines": list(explanation.new) if explanation else [],
        "gone_lines": list(explanation.gone) if explanation else [],
        "kept": explanation.change.kept if explanation else None,
        "steps": [_step(why) for why in explanation.steps] if explanation else [],
    }


def _step(why: Why) -> dict[str, Any]:
    return {
        "kind": NAMES[type(why.step)],
        "reason": str(why.step.reason),
        "lines": why.lines,
        "changed_lines": list(why.changed),
        "cut_moved": why.cut_moved,
        "before": list(why.before),
        "after": list(why.after),
        "vector": str(why.answer) if why.answer else None,
    }


def _nothing(found: Explained) -> str:
    if not found.recorded:
        return "no source lists it, and the index does not have it"
    return "nothing changes: its source has the bytes that are recorded, or cannot be read just now"


def _fate(explanation: Explanation) -> str:
    change = explanation.change
    if change.origin is not None:
        return f"goes on from {clean(str(change.origin))}"
    return FATES[change.fate]


def _where(why: Why) -> str:
    step = why.step
    position = step.old_position if isinstance(step, Delete) else step.position
    chunk = "document" if position is None else f"chunk {position}"
    return f"{chunk} ({_lines((why.lines,))})" if why.lines else chunk


def _because(why: Why) -> Iterator[str]:
    yield str(why.step.reason).replace("_", " ")
    if why.cut_moved:
        verb = "stand" if isinstance(why.step, Delete) else "stood"
        places = why.after if isinstance(why.step, Delete) else why.before
        yield f"no line changed, a cut moved: its lines {verb} in {_chunks(places)}"
    elif why.changed:
        yield f"{_lines(why.changed)} {'gone' if isinstance(why.step, Delete) else 'new'}"
    origin = getattr(why.step, "origin", None)
    if origin is not None:
        yield f"from {clean(str(origin))}"
    if why.answer is not None:
        yield ANSWERS[why.answer]


def _chunks(positions: tuple[int, ...]) -> str:
    return f"chunk {positions[0]}" if len(positions) == 1 else f"chunks {', '.join(map(str, positions))}"


def _lines(ranges: tuple[Lines, ...]) -> str:
    words = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"line {words}" if one else f"lines {words}"
