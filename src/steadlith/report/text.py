"""Text for people: lines of (style, words), rendered by rich on a terminal and plain everywhere else.

1. Glyphs carry the meaning; colour only repeats it.
2. Control characters from documents and file names never reach the terminal.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import (
    GLYPHS,
    NAMES,
    Add,
    Delete,
    Move,
    Reembed,
    Rekey,
    Step,
    Update,
)
from steadlith_core.retrieval.snippet import snippet
from steadlith_core.text.query import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.search import Answer, Hit
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.planning.cost import Cost
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.records import DocumentId, Finding, Head

Line: TypeAlias = "tuple[str, str]"
"""A style (empty for none) and the words of one line."""

Segments: TypeAlias = "tuple[Line, ...]"
"""One line of several styles."""

STYLES = {"+": "green", ">": "cyan", "~": "yellow", "-/+": "magenta", "=": "blue", "-": "red"}
VERBS = {
    "add": "add",
    "move": "move",
    "update": "update",
    "reembed": "re-embed",
    "rekey": "rekey",
    "delete": "delete",
}
ALWAYS_COUNTED = {"add", "delete"}
LISTED_STEPS = 20
LISTED_FINDINGS = 10
SNIPPET_LINES = 4
SNIPPET_WIDTH = 100

NO_CHANGES = "No changes. The index matches the sources."


def clean(text: str) -> str:
    """`text` with control, format and surrogate characters shown as escapes; tabs become spaces."""
    return "".join(
        char
        if unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else " "
        if char == "\t"
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def plan(planned: Plan, *, steps: bool | None, hint: str = "--steps") -> Iterator[Line]:
    """The plan: documents with their steps, totals, embeddings, cost, findings, guards.

    `steps` lists every step, or only counts them per document; none lists them while they are few, and else says
    with `hint` what would list them.
    """
    if planned.is_empty:
        yield "bold green", NO_CHANGES
    else:
        total = sum(len(change.steps) for change in planned.changes)
        listed = total <= LISTED_STEPS if steps is None else steps
        if planned.recipe_changed:
            yield STYLES["~"], "~ configuration  (the index was made under another one; the new one is recorded)"
        continued = _continued(planned)
        for change in planned.changes:
            if change.id not in continued or change.steps:
                yield from _change(change, listed=listed)
        if steps is None and not listed:
            yield "dim", f"({hint} lists all {total:,} steps)"
        yield "", ""
        yield "bold", _totals(planned)
        yield "", embeddings(planned.cost)
        yield "", f"Root: {planned.base.corpus_root.short} -> {planned.target.corpus_root.short}"
    yield from findings(planned.findings, "the rest of the corpus goes on")
    for tripped in planned.tripped:
        yield (
            "bold red",
            f"Refused: {clean(tripped.message)} (pass {tripped.override} to apply if you mean it)",
        )


def _continued(planned: Plan) -> set[DocumentId]:
    """The documents that go on under another name."""
    return {change.origin for change in planned.changes if change.origin}


def _change(change: DocumentChange, *, listed: bool) -> Iterator[Line]:
    glyph = ">" if change.origin else {Fate.ADDED: "+", Fate.CHANGED: "~", Fate.REMOVED: "-"}[change.fate]
    name = clean(str(change.id))
    if change.origin:
        name = f"{clean(str(change.origin))} -> {name}"
    counts = ", ".join(_counts(change, steps=not listed))
    yield STYLES[glyph], f"{glyph} {name}" + (f"  ({counts})" if counts else "")
    if listed:
        for step in change.steps:
            yield STYLES[GLYPHS[type(step)]], f"    {GLYPHS[type(step)]} {_step(step)}"


def _counts(change: DocumentChange, *, steps: bool) -> Iterator[str]:
    for kind, name in NAMES.items() if steps else ():
        count = sum(isinstance(step, kind) for step in change.steps)
        if count:
            yield f"{count} {name}"
    if change.kept:
        yield f"{change.kept} kept"


def _step(step: Step) -> str:
    reason = str(step.reason).replace("_", " ")
    match step:
        case Add() | Reembed() | Rekey():
            who = "embed" if step.paid else "cached"
            how = "not embedded" if step.vector_key is None else f"{who}, about {step.tokens} tokens"
            return f"chunk {step.position}  {step.chunk_hash.short}  {how}  ({reason})"
        case Move():
            where = f"{clean(str(step.origin))} " if step.origin else ""
            return f"{where}chunk {step.old_position} -> {step.position}  {step.chunk_hash.short}  ({reason})"
        case Update():
            place = "document" if step.position is None else f"chunk {step.position}"
            return f"{place}  no embedding  ({reason})"
        case Delete():
            return f"chunk {step.old_position}  {step.chunk_hash.short}  ({reason})"


def _totals(planned: Plan) -> str:
    counts = planned.counts
    adds = [step for change in planned.changes for step in change.steps if isinstance(step, Add)]
    bare = sum(step.vector_key is None for step in adds)
    free = sum(not step.paid for step in adds) - bare
    note = f" ({free:,} cached" + (f", {bare:,} not embedded)" if bare else ")")
    parts = [
        f"{counts[name]:,} to {verb}" + (note if name == "add" else "")
        for name, verb in VERBS.items()
        if counts[name] or name in ALWAYS_COUNTED
    ]
    return f"Plan: {', '.join(parts)}; {counts['keep']:,} kept ({_documents(planned)})."


def _documents(planned: Plan) -> str:
    """How many of the documents that will be there are touched, and how many will not be there."""
    gone = [change.id for change in planned.changes if change.fate is Fate.REMOVED]
    removed = len(set(gone) - _continued(planned))
    touched = f"{len(planned.changes) - len(gone):,} of {planned.target.documents:,} documents"
    return touched + (f", {removed:,} removed" if removed else "")


def embeddings(cost: Cost) -> str:
    """What is paid for, with unknown said as unknown."""
    if not cost.embeddings:
        return "Embeddings: none needed."
    money = "cost unknown (no price in the configuration)"
    if cost.amount is not None:
        when = f", price of {cost.price_as_of}" if cost.price_as_of else ""
        money = f"about {cost.amount} {cost.currency}{when}"
    elif cost.local:
        money = "no charge (local model)"
    calls = f"{cost.calls:,} call" + ("s" if cost.calls != 1 else "")
    return (
        f"Embeddings: {cost.embeddings:,} in {calls}, about {cost.tokens:,} tokens, {money}; "
        f"besides, {cost.probe_texts} probe texts."
    )


def findings(found: Sequence[Finding], outcome: str) -> Iterator[Line]:
    """What needs a person's eye, each while they are few; `outcome` says what became of it."""
    if not found:
        return
    yield "", ""
    yield "bold yellow", f"Findings ({len(found):,}), {outcome}:"
    if len(found) > LISTED_FINDINGS:
        kinds = Counter(finding.kind for finding in found).most_common()
        yield "yellow", f"! {', '.join(f'{count:,} {kind}' for kind, count in kinds)}; --json lists all"
        return
    for finding in found:
        yield "yellow", f"! {clean(finding.place)}: {finding.kind}: {clean(finding.message)}"


def result(done: Result) -> Iterator[Line]:
    """How an apply ended."""
    head = done.head
    if done.already:
        yield "bold green", f"Already applied as generation {head.generation}. Nothing to do."
        return
    yield (
        "bold green",
        (
            f"Applied generation {head.generation}: {head.documents:,} documents, {head.chunks:,} chunks; "
            f"{done.embedded:,} embedded, {done.cached:,} from the cache."
        ),
    )
    yield "", f"Corpus root: {head.corpus_root}"


def status(head: Head) -> Iterator[Line]:
    """The committed state."""
    if head.recipe is None:
        yield "", "No generation yet: `steadlith plan` shows what the first apply would do."
        return
    yield "bold", f"Generation {head.generation}: {head.documents:,} documents, {head.chunks:,} chunks"
    yield "", f"Corpus root: {head.corpus_root}"
    yield "", f"State root:  {head.state_root}"
    for space in head.recipe.spaces:
        yield "", f"Space:       {clean(space.model_id)}, {space.dimensions} dimensions, {space.quantization}"
    yield "", f"Chunking:    {head.recipe.chunker_id}, text {head.recipe.normalizer_id}"
    yield "", f"Lineage:     {head.lineage}"


def answer(found: Answer) -> Iterator[Line]:
    """The hits, best first."""
    if not found.hits:
        yield "", "No hits." if found.generation else "No hits: there is no index yet; run `steadlith apply`."
    asked = terms(found.query)
    for rank, hit in enumerate(found.hits, 1):
        yield from _hit(rank, hit, asked)


def _hit(rank: int, hit: Hit, asked: Sequence[str]) -> Iterator[Line]:
    arms = f"dense {hit.dense:.3f}" if hit.dense is not None else "dense -"
    arms += f", lexical {hit.lexical:.2f}" if hit.lexical is not None else ", lexical -"
    span = hit.span
    yield (
        "bold",
        f"{rank}. {clean(str(hit.document))}:{span.first_line}-{span.last_line}  {hit.score:.3f} ({arms})",
    )
    if hit.headings:
        yield "cyan", "   " + clean(" > ".join(hit.headings))
    for line in snippet(hit.text, asked, SNIPPET_LINES):
        yield "", "   " + _fit(clean(line), asked)
    yield "dim", f"   bytes {span.start}-{span.end} of {hit.source_digest.short}"


def _fit(line: str, asked: Sequence[str]) -> str:
    """At most `SNIPPET_WIDTH` characters of a line, around the longest word of the query that it holds."""
    if len(line) <= SNIPPET_WIDTH:
        return line
    lower = line.lower()
    found = max((term for term in asked if term in lower), key=len, default="")
    start = max(0, lower.find(found) + len(found) - SNIPPET_WIDTH + 2)
    shown = line[start : start + SNIPPET_WIDTH - (2 if start else 1)]
    return ("…" if start else "") + shown + ("…" if start + len(shown) < len(line) else "")


def verification(found: Verification) -> Iterator[Line]:
    """What was recomputed and what is wrong."""
    for problem in found.problems:
        yield "bold red", f"! {clean(problem)}"
    count = len(found.problems)
    outcome = "OK" if found.ok else f"{count} problem" + ("s" if count != 1 else "")
    style = "bold green" if found.ok else "bold red"
    yield (
        style,
        f"{outcome}: generation {found.generation}, {found.documents:,} documents, {found.chunks:,} chunks",
    )
    yield "", f"Corpus root: {found.corpus_root}"
    yield "", f"State root:  {found.state_root}"
