"""What is told of an import: what was read, what of it becomes part of the index, what is passed over, how it ended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from steadlith.report import documents
from steadlith.report.lines import LISTED_FINDINGS, STYLES, clean, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.foreign.rows import Passed
    from steadlith.imports import Import
    from steadlith.report.lines import Line
    from steadlith_core.applying.run import Result


def preview(found: Import, *, asked: bool) -> Iterator[Line]:
    """What it would do; `asked` if it is about to be done."""
    for file in found.whole.files:
        yield "", f"Read {clean(str(file.path))}: {file.size:,} bytes, {file.digest}"
    for name, words in found.whole.said.items():
        yield "", f"  {name}: {clean(words)}"
    yield (
        "bold",
        (
            f"{plural(found.read, 'chunk')} read; {plural(found.chunks, 'chunk')} of "
            f"{plural(found.documents, 'document')} to import."
        ),
    )
    yield from _passed(found.passed)
    yield "", ""
    if found.is_nothing:
        yield "bold", "Nothing to import: the index stays as it is."
        return
    target = found.plan.target
    yield STYLES["+"], f"+ {plural(found.documents, 'document')}, of which {found.found:,} are in their source today"
    yield "", f"0 embeddings: every vector is the one that was read, taken for {clean(found.model)}'s."
    yield "", f"The index would hold {plural(target.documents, 'document')}, {plural(target.chunks, 'chunk')}."
    yield "", f"Corpus root: {target.corpus_root}"
    for tripped in found.plan.tripped:
        yield STYLES["!"], f"! {clean(tripped.message)} (pass {tripped.override} if you mean it)"
    if not asked:
        yield "", ""
        yield "", f"Nothing was changed: pass --apply, and --same-model if {clean(found.model)} made these vectors."


def _passed(passed: Sequence[Passed]) -> Iterator[Line]:
    if not passed:
        return
    yield "", ""
    yield "bold yellow", f"Not imported as it is ({len(passed):,}):"
    counted = Counter(each.why for each in passed)
    for each in passed[:LISTED_FINDINGS]:
        yield STYLES["!"], f"! {clean(each.place)}: {each.why}: {clean(each.message)}"
    if len(passed) > LISTED_FINDINGS:
        kinds = ", ".join(f"{count:,} {why}" for why, count in sorted(counted.items()))
        yield STYLES["!"], f"! in all {kinds}; --json lists each"


def document(found: Import) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-import",
        "from": found.request.form,
        "files": [
            {"path": str(file.path), "size": file.size, "digest": str(file.digest)} for file in found.whole.files
        ],
        "said": dict(found.whole.said),
        "model": found.model,
        "read": found.read,
        "documents": found.documents,
        "chunks": found.chunks,
        "found": found.found,
        "nothing": found.is_nothing,
        "passed": [{"place": each.place, "why": str(each.why), "message": each.message} for each in found.passed],
        "plan": documents.plan(found.plan),
    }


def result(found: Import, done: Result) -> Iterator[Line]:
    """How it ended."""
    head = done.head
    yield (
        "bold green",
        (
            f"Imported {plural(found.documents, 'document')}, {plural(found.chunks, 'chunk')} as generation "
            f"{head.generation}; nothing was embedded."
        ),
    )
    yield "", f"The index holds {plural(head.documents, 'document')}, {plural(head.chunks, 'chunk')}."
    yield "", f"Corpus root: {head.corpus_root}"


def result_document(found: Import, done: Result) -> dict[str, Any]:
    """The same as a JSON value: that of an apply, and what was imported."""
    imported = {"documents": found.documents, "chunks": found.chunks, "passed": len(found.passed)}
    return documents.result(done) | {"imported": imported}
