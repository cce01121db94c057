"""What is told of a move to another store: what it would do, what it did, what was taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith.report import configured, documents
from steadlith.report.lines import clean, plural
from steadlith.report.upkeep import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.carrying import Moved, StoreMove
    from steadlith.report.lines import Line


def preview(found: StoreMove, *, asked: bool) -> Iterator[Line]:
    """From where to where, how much, what stays behind and what differs; `asked` if it is about to be done."""
    held = found.contents
    yield (
        "bold",
        (
            f"The index moves, as generation {found.head.generation} has it: {plural(held.documents, 'document')}, "
            f"{plural(held.chunks, 'chunk')}."
        ),
    )
    yield "red", f"- {clean(found.old)}"
    yield "green", f"+ {clean(found.new)}"
    yield (
        "",
        (
            f"To copy: {plural(held.texts, 'text')}, {plural(held.vectors, 'vector')} of {size(held.vector_bytes)}; "
            "nothing is embedded, and no source is looked at."
        ),
    )
    if found.copied:
        yield "", f"An earlier run copied {found.copied:,} of {plural(held.chunks, 'chunk')}."
    yield from _left(found)
    if found.differences:
        yield "", "What the stores do otherwise:"
        for name, was, becomes in found.differences:
            yield "", f"  {name}: {clean(was)} -> {clean(becomes)}"
    yield "bold", "The configuration becomes:"
    yield from configured.differing(found.now, found.then)
    yield "", "Before that: every root and row of the copy is checked, and all of it compared with the original."
    if not asked:
        yield "", ""
        yield "", "Nothing was changed: pass --apply to do it. Searches go on with the old store until then."


def _left(found: StoreMove) -> Iterator[Line]:
    kinds = [plural(found.generations, "older generation")] if found.generations else []
    if found.names:
        kinds.append(f"{plural(len(found.names), 'name')} ({clean(', '.join(found.names))})")
    if kinds:
        yield "", f"Stays behind, in the old store: {' and '.join(kinds)}. No rollback leads there from the new one."


def document(found: StoreMove) -> dict[str, Any]:
    """The same as a JSON value."""
    held = found.contents
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-store-move",
        "from": found.old,
        "to": found.new,
        "generation": found.head.generation,
        "corpus_root": str(found.head.corpus_root),
        "state_root": str(found.head.state_root),
        "documents": held.documents,
        "chunks": held.chunks,
        "texts": held.texts,
        "entries": held.entries,
        "vectors": held.vectors,
        "vector_bytes": held.vector_bytes,
        "copied": found.copied,
        "left": {"generations": found.generations, "names": list(found.names)},
        "differences": [{"what": name, "was": was, "becomes": then} for name, was, then in found.differences],
        "configuration": {"now": found.now, "then": found.then},
    }


def result(found: StoreMove, done: Moved) -> Iterator[Line]:
    """How it ended."""
    made = done.after
    yield (
        "bold green",
        (
            f"Moved, as generation {made.number}: {plural(made.documents, 'document')}, "
            f"{plural(made.chunks, 'chunk')}; nothing was embedded."
        ),
    )
    yield "", "The copy was verified, and the configuration is in place."
    yield "", f"The old store is as it was ({clean(found.old)}): remove it when nobody needs its history."
    yield "", f"Corpus root: {made.corpus_root}"


def result_document(found: StoreMove, done: Moved) -> dict[str, Any]:
    """The same as a JSON value."""
    made = done.after
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-store-moved",
        "from": found.old,
        "to": found.new,
        "moved": done.before.number,
        "generation": made.number,
        "lineage": made.lineage,
        "corpus_root": str(made.corpus_root),
        "state_root": str(made.state_root),
        "documents": made.documents,
        "chunks": made.chunks,
    }


def aborted(aside: str | None) -> Iterator[Line]:
    """What became of what was copied."""
    yield "", "The move is dropped. The index and its configuration are as they were."
    if aside is not None:
        yield "", f"What was copied is now {clean(aside)}: nothing needs it, so remove it when you like."


def aborted_document(aside: str | None) -> dict[str, Any]:
    """The same as a JSON value."""
    return {
        "format_version": documents.FORMAT_VERSION,
        "kind": "steadlith-store-move-aborted",
        "dropped": True,
        "aside": aside,
    }
