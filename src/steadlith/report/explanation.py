"""An explanation of one document's steps, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith.report.documents import FORMAT_VERSION
from steadlith.report.lines import STYLES, clean, plural
from steadlith_core.planning.explain import Answer
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import GLYPHS, NAMES, Delete

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith.explain import Explained
    from steadlith.report.lines import Line
    from steadlith_core.planning.explain import Explanation, Lines, Why
    from steadlith_core.records import DocumentId

ANSWERS: Mapping[Answer, str] = {
    Answer.CACHE: "the cache has its vector",
    Answer.INDEX: "the index has its vector",
    Answer.PLAN: "another step of this plan pays for its vector",
    Answer.NOBODY: "nobody has its vector: it is embedded",
}
CHUNKS_NAMED = 8
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
    yield "bold", f"{name} {_fate(found, explanation)}"
    if explanation.new:
        yield "", f"  new in the source: {_lines(explanation.new)}"
    if explanation.gone:
        yield "", f"  gone from it:      {_lines(explanation.gone)}, as {_were(explanation.gone)} numbered"
    for why in explanation.steps:
        glyph = GLYPHS[type(why.step)]
        yield STYLES[glyph], f"  {glyph} {_where(why)}: {'; '.join(_because(why))}"
    if explanation.change.kept:
        are = "is" if explanation.change.kept == 1 else "are"
        yield "dim", f"  {plural(explanation.change.kept, 'chunk')} {are} kept: the same text, in the same order"


def document(found: Explained) -> dict[str, Any]:
    """A JSON value."""
    explanation = found.explanation
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-explanation",
        "document": {"source": found.id.source, "path": found.id.path},
        "origin": _id(explanation.change.origin) if explanation and explanation.change.origin else None,
        "goes_on_as": [_id(id_) for id_ in found.goes_on_as],
        "unread": found.unread,
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
        "metadata": list(why.keys),
        "before": list(why.before),
        "after": list(why.after),
        "vector": str(why.answer) if why.answer else None,
    }


def _id(id: DocumentId) -> dict[str, str]:  # noqa: A002
    return {"source": id.source, "path": id.path}


def _nothing(found: Explained) -> str:
    if found.unread:
        return (
            "nothing changes: its source cannot be used just now (see the findings of the plan), so it stays as it is"
        )
    return "nothing changes: its source has the bytes that are recorded"


def _fate(found: Explained, explanation: Explanation) -> str:
    change = explanation.change
    if change.origin is not None:
        return f"goes on from {clean(str(change.origin))}"
    if found.goes_on_as:
        return f"goes on as {', '.join(clean(str(id_)) for id_ in found.goes_on_as)}"
    return FATES[change.fate]


def _where(why: Why) -> str:
    step = why.step
    position = step.old_position if isinstance(step, Delete) else step.position
    chunk = "document" if position is None else f"chunk {position}"
    return f"{chunk} ({_lines((why.lines,))})" if why.lines else chunk


def _because(why: Why) -> Iterator[str]:
    gone = isinstance(why.step, Delete)
    yield str(why.step.reason).replace("_", " ") + (f" ({', '.join(map(clean, why.keys))})" if why.keys else "")
    places = why.after if gone else why.before
    if why.changed:
        yield f"{_lines(why.changed)} {'gone' if gone else 'new'}"
    if why.cut_moved and places:
        which, stood = "its other lines" if why.changed else "its lines", "stand" if gone else "stood"
        yield f"a cut moved: {which} {stood} in {_chunks(places)}"
    elif places and not why.changed:
        edit = "put into it: it goes on as" if gone else "taken out of it: it was"
        yield f"lines were {edit} {_chunks(places)}"
    origin = getattr(why.step, "origin", None)
    if origin is not None:
        yield f"from {clean(str(origin))}"
    if why.answer is not None:
        yield ANSWERS[why.answer]


def _chunks(positions: tuple[int, ...]) -> str:
    if len(positions) == 1:
        return f"chunk {positions[0]}"
    more = f" and {len(positions) - CHUNKS_NAMED:,} more" if len(positions) > CHUNKS_NAMED else ""
    return f"chunks {', '.join(map(str, positions[:CHUNKS_NAMED]))}{more}"


def _lines(ranges: tuple[Lines, ...]) -> str:
    words = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return f"line {words}" if _is_one(ranges) else f"lines {words}"


def _were(ranges: tuple[Lines, ...]) -> str:
    return "it was" if _is_one(ranges) else "they were"


def _is_one(ranges: tuple[Lines, ...]) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
