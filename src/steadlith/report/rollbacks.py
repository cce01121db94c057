"""What is told of a rollback: what it would do to documents and configuration, what it did, how one was ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith.report import configured, documents, text
from steadlith.report.lines import clean, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.journals import Journal
    from steadlith.report.lines import Line
    from steadlith.rollback import Rollback
    from steadlith_core.applying.run import Result


def preview(found: Rollback, *, steps: bool | None, asked: bool) -> Iterator[Line]:
    """Where it leads, its plan, and what becomes of the configuration; `asked` if it is about to be done."""
    made = found.generation
    yield (
        "bold",
        (
            f"Back to generation {made.number} ({clean(made.at)}, {clean(made.why)}): "
            f"{plural(made.documents, 'document')}, {plural(made.chunks, 'chunk')}."
        ),
    )
    if found.is_nothing:
        yield "bold green", "Nothing to do: documents and configuration are as that generation has them."
        return
    yield from text.plan(found.plan, steps=steps)
    yield from _configuration(found)
    if not asked:
        yield "", ""
        yield "", "Nothing was changed: pass --apply to do it. How the sources differ, the next plan shows."


def _configuration(found: Rollback) -> Iterator[Line]:
    if found.now == found.then:
        noted = "" if found.generation.configuration else ": that generation did not note its own"
        yield "", f"The configuration stays as it is{noted}."
        return
    yield "", ""
    yield "bold", "The configuration becomes that of then:"
    yield from configured.differing(found.now, found.then)


def document(found: Rollback) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-rollback",
        "generation": found.generation.number,
        "nothing": found.is_nothing,
        "plan": documents.plan(found.plan),
        "configuration": {"now": found.now, "then": found.then},
    }


def result(found: Rollback, done: Result) -> Iterator[Line]:
    """How it ended."""
    head, number = done.head, found.generation.number
    yield (
        "bold green",
        (
            f"Went back to generation {number}, as generation {head.generation}: "
            f"{plural(head.documents, 'document')}, {plural(head.chunks, 'chunk')}; nothing was embedded."
        ),
    )
    if found.now != found.then:
        yield "", f"The configuration is that of generation {number}."
    yield "", f"Corpus root: {head.corpus_root}"


def result_document(found: Rollback, done: Result) -> dict[str, Any]:
    """The same as a JSON value: that of an apply, and where it went back to."""
    return documents.result(done) | {"rollback_to": found.generation.number, "configured": found.now != found.then}


def resumed(done: Journal | None) -> Iterator[Line]:
    """What there was to finish."""
    if done is None:
        yield "", "Nothing to finish: nothing is committed that is not in place."
        return
    yield from configured.in_place(done)


def resumed_document(done: Journal | None) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-rollback-resumed",
        "generation": None if done is None else done.number,
        "why": None if done is None else done.why,
    }


def aborted(*, dropped: bool, force: bool) -> Iterator[Line]:
    """Whether there was anything to drop."""
    if dropped and force:
        yield from configured.kept()
        return
    words = "What was left of a rollback is dropped." if dropped else "Nothing to drop: no rollback is on its way."
    yield "", f"{words} The index and its configuration are as they were."


def aborted_document(*, dropped: bool) -> dict[str, Any]:
    """The same as a JSON value."""
    return {"format_version": documents.FORMAT_VERSION, "kind": "steadlith-rollback-aborted", "dropped": dropped}
