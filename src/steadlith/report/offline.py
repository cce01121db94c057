"""Text for people about manifests, locks, differences and proofs; see `report.lines`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from steadlith import proofs
from steadlith.differences import Kind
from steadlith.report.lines import STYLES, Line, clean, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from steadlith.differences import Changed, Comparison, PlansCompared
    from steadlith.proofs import Proven
    from steadlith.verify import Verification
    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.state.manifest import Header

Texts: TypeAlias = "Callable[[Changed], Sequence[str]]"
"""The lines of a document's unified difference."""

GLYPHS = {
    Kind.ADDED: "+",
    Kind.REMOVED: "-",
    Kind.RENAMED: ">",
    Kind.CHANGED: "~",
    Kind.METADATA: "~",
    Kind.SOURCE_BYTES: "~",
}
BECAME = {"left": "now elsewhere"}
EXPECTED = {Kind.ADDED: "added", Kind.REMOVED: "removed"}
"""What became of all chunks of such a document, if nothing is said."""
TEXT_STYLES = {"+": "green", "-": "red", "@": "cyan"}
WORDS = {Kind.METADATA: "metadata only", Kind.SOURCE_BYTES: "source bytes only"}


def written(file: Path, header: Header, size: int) -> Iterator[Line]:
    """A manifest or a lock that was written."""
    yield "bold green", f"Wrote {clean(str(file))}: {counted(header.documents, header.chunks)}; {size:,} bytes"
    yield "", f"Corpus root: {header.corpus_root}"
    yield "", f"State root:  {header.state_root}"


def counted(documents: int, chunks: int) -> str:
    """Both counts in words."""
    return f"{plural(documents, 'document')}, {plural(chunks, 'chunk')}"


def verification(found: Verification, manifest: Path) -> Iterator[Line]:
    """How a manifest compares with what is pinned."""
    for problem in found.problems:
        yield "bold red", f"! {clean(problem)}"
    outcome = "OK" if found.ok else plural(len(found.problems), "problem")
    style = "bold green" if found.ok else "bold red"
    yield style, f"{outcome}: manifest {clean(str(manifest))}, {counted(found.documents, found.chunks)}"
    yield "", f"Corpus root: {found.corpus_root}"
    yield "", f"State root:  {found.state_root}"


def comparison(found: Comparison, texts: Texts | None = None) -> Iterator[Line]:
    """What two states differ in; with `texts` the difference of each document's text below it."""
    if found.same:
        yield "bold green", f"No differences: {counted(found.new.documents, found.new.chunks)}, same roots."
        return
    yield from recipe(found)
    for each in found.documents:
        yield changed(each)
        for line in texts(each) if texts else ():
            yield TEXT_STYLES.get(line[:1], ""), f"    {clean(line)}".rstrip()
    yield "", ""
    yield "bold", totals(found)
    yield "", f"Before: {counted(found.old.documents, found.old.chunks)}, root {found.old.corpus_root.short}"
    yield "", f"After:  {counted(found.new.documents, found.new.chunks)}, root {found.new.corpus_root.short}"


def recipe(found: Comparison) -> Iterator[Line]:
    """What of the recipe differs."""
    for name, left, right in found.recipe:
        yield STYLES["~"], f"~ {name}: {clean(left)} -> {clean(right)}"


def totals(found: Comparison) -> str:
    """How many documents differ, and how."""
    kinds = Counter(each.kind for each in found.documents)
    counts = ", ".join(f"{count:,} {WORDS.get(kind, kind)}" for kind in Kind if (count := kinds[kind]))
    return f"Documents: {counts or 'no differences'}."


def changed(each: Changed) -> Line:
    """How a document differs."""
    glyph = GLYPHS[each.kind]
    name = clean(str(each.id))
    if each.origin is not None:
        name = f"{clean(str(each.origin))} -> {name}"
    counts = [count for count in (each.old_chunks, each.new_chunks) if count is not None]
    chunks = plural(counts[0], "chunk") if len(set(counts)) == 1 else f"{counts[0]:,} -> {plural(counts[1], 'chunk')}"
    word = f"{WORDS[each.kind]}, " if each.kind in WORDS else ""
    return STYLES[glyph], f"{glyph} {name}  ({word}{chunks}{_became(each)})"


def _became(each: Changed) -> str:
    """What became of the chunks, where that is more than the kind of the difference says."""
    counts = {} if each.chunks is None else {name: count for name, count in asdict(each.chunks).items() if count}
    if counts.keys() <= {EXPECTED.get(each.kind, "kept")}:
        return ""
    return ": " + ", ".join(f"{count:,} {BECAME.get(name, name)}" for name, count in counts.items())


def plans(found: PlansCompared) -> Iterator[Line]:
    """What two plans differ in."""
    if found.same:
        yield "bold green", "No differences: both plans do the same."
        return
    for name, left, right in found.facts:
        yield STYLES["~"], f"~ {name}: {clean(left)} -> {clean(right)}"
    for change in found.only_old:
        yield STYLES["-"], f"- {_steps(change)}"
    for change in found.only_new:
        yield STYLES["+"], f"+ {_steps(change)}"
    for left_change, right_change in found.other_steps:
        yield STYLES["~"], f"~ {_steps(left_change)} -> {_steps(right_change, named=False)}"
    yield "", ""
    yield (
        "bold",
        (
            f"Documents: {len(found.only_old):,} only in the first plan, {len(found.only_new):,} only in the second, "
            f"{len(found.other_steps):,} with other steps."
        ),
    )


def _steps(change: DocumentChange, *, named: bool = True) -> str:
    name = f"{clean(str(change.id))}  " if named else ""
    return f"{name}({change.fate}, {plural(len(change.steps), 'step')})"


def proven(found: Proven) -> Iterator[Line]:
    """What is proven, in a sentence."""
    yield "bold green", f"Proven: {clean(proofs.sentence(found))}"
