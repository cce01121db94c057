"""What is told of a migration: what follows from which change, what it did, how one was ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith.causes import SCOPE, SOURCES
from steadlith.report import configured, documents, text
from steadlith.report.lines import clean, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith.causes import Cause
    from steadlith.journals import Journal
    from steadlith.migrating import Migration
    from steadlith.receipts import Receipt
    from steadlith.report.lines import Line
    from steadlith_core.applying.run import Result

WORDS = {
    "add": "cut anew",
    "delete": "gone",
    "rekey": "rekeyed",
    "reembed": "re-embedded",
    "move": "moved",
    "update": "updated",
}
"""A step's kind in the words of a migration."""


def preview(found: Migration, *, steps: bool, asked: bool) -> Iterator[Line]:
    """What becomes of the configuration, what follows from it, the plan; `asked` if it is about to be done."""
    if found.is_nothing:
        yield "bold green", "Nothing to migrate: the index is as this configuration wants it."
        return
    if found.now != found.then:
        yield "bold", "The configuration becomes:"
        yield from configured.differing(found.now, found.then)
        yield "", ""
    for upgrade in found.upgrades:
        yield "bold", clean(upgrade[:1].upper() + upgrade[1:])
    for cause in found.causes:
        yield from _cause(cause)
    if found.causes:
        yield "", ""
    yield from text.plan(found.plan, steps=steps)
    yield from _last(found)
    yield from _checks(found)
    if not asked:
        yield "", ""
        searches = " Searches go on with the old generation until the swap." if found.plan.base.generation else ""
        yield "", f"Nothing was changed: pass --apply to do it.{searches}"


def _cause(cause: Cause) -> Iterator[Line]:
    if cause.name == SOURCES:
        yield "bold", f"Besides, {plural(cause.documents, 'document')} changed in the sources:"
    elif cause.name == SCOPE and cause.was == cause.becomes:
        yield "bold", f"{cause.name}:"
    else:
        yield "bold", f"{cause.name}: {clean(cause.was)} -> {clean(cause.becomes)}"
    if not cause.documents:
        yield "", "  nothing that is not counted above"
        return
    counts = ", ".join(f"{count:,} {WORDS[kind]}" for kind, count in sorted(cause.steps.items()) if count)
    paid = f"; {plural(cause.embeddings, 'text')} to embed, about {plural(cause.tokens, 'token')}"
    where = "" if cause.name == SOURCES else f" in {plural(cause.documents, 'document')}"
    yield "", f"  {counts}{where}{paid if cause.embeddings else ''}"


def _last(found: Migration) -> Iterator[Line]:
    if found.last is None or not isinstance(found.last.told.get("seconds"), int | float):
        return
    seconds, embedded = found.last.told["seconds"], found.last.told.get("embedded", 0)
    line = f"The last migration embedded {plural(embedded, 'text')} in {seconds:,.1f} s"
    if found.seconds is not None and found.plan.cost.embeddings:
        line += f"; at that pace this one takes about {found.seconds:,.1f} s"
    yield "", f"{line}."


def _checks(found: Migration) -> Iterator[Line]:
    asked = found.goal.checks
    line = f"Before the swap: every root and row, and {plural(asked.sample, 'sampled chunk')}"
    if asked.questions:
        line += f"; {plural(len(asked.questions), 'golden question')}, which are embedded too"
    if asked.min_recall is not None:
        line += f"; recall of at least {asked.min_recall:g}"
    yield "", f"{line}."


def document(found: Migration) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-migration",
        "nothing": found.is_nothing,
        "plan": documents.plan(found.plan),
        "configuration": {"now": found.now, "then": found.then},
        "upgrades": list(found.upgrades),
        "causes": [
            {
                "cause": cause.name,
                "was": cause.was,
                "becomes": cause.becomes,
                "documents": cause.documents,
                "steps": dict(cause.steps),
                "embeddings": cause.embeddings,
                "tokens": cause.tokens,
            }
            for cause in found.causes
        ],
        "last": None if found.last is None else dict(found.last.told),
        "seconds": None if found.seconds is None else str(round(found.seconds, 1)),
        "checks": {
            "sample": found.goal.checks.sample,
            "questions": len(found.goal.checks.questions),
            "min_recall": None if found.goal.checks.min_recall is None else str(found.goal.checks.min_recall),
        },
    }


def result(found: Migration, done: Result, receipt: Receipt | None) -> Iterator[Line]:
    """How it ended."""
    yield from text.result(done)
    if done.already or done.unchanged:
        return
    if receipt is None:
        yield "yellow", "It was checked before the swap; the receipt that says how could not be written."
    else:
        yield "", f"Checked before the swap: {_told(receipt.told.get('checks', {}))}."
    if found.now != found.then:
        yield "", "The configuration is in place."
    if done.head.generation > 1:
        yield "", f"Back: `steadlith rollback {done.head.generation - 1}`."


def _told(checks: Mapping[str, Any]) -> str:
    sampled, found = checks.get("sampled", 0), checks.get("found", 0)
    told = f"{plural(checks.get('chunks', 0), 'chunk')}; {found:,} of {sampled:,} sampled ones found"
    if "recall" in checks:
        told += f", recall {checks['recall']:g}"
    if "questions" in checks:
        told += f"; {checks['questions_found']:,} of {plural(checks['questions'], 'golden question')} answered"
    return told


def result_document(found: Migration, done: Result, receipt: Receipt | None) -> dict[str, Any]:
    """The same as a JSON value: that of an apply, and what was checked."""
    told = {} if receipt is None else dict(receipt.told)
    return documents.result(done) | {"configured": found.now != found.then, "told": told}


def ended(done: Journal | None) -> Iterator[Line]:
    """What there was to finish."""
    if done is None:
        yield "", "Nothing to go on with: no migration is on its way."
        return
    yield from configured.in_place(done)


def ended_document(done: Journal | None) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-migration-ended",
        "generation": None if done is None else done.number,
        "why": None if done is None else done.why,
    }


def aborted(*, dropped: bool, force: bool) -> Iterator[Line]:
    """Whether there was anything to drop."""
    if not dropped:
        yield "", "Nothing to drop: no migration is on its way. The index and its configuration stay as they are."
        return
    if force:
        yield from configured.kept()
        return
    yield "", "The migration is dropped. The index and its configuration are as they were; what was embedded is cached."


def aborted_document(*, dropped: bool) -> dict[str, Any]:
    """The same as a JSON value."""
    return {"format_version": documents.FORMAT_VERSION, "kind": "steadlith-migration-aborted", "dropped": dropped}
