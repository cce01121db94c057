"""Text for people: a plan, an apply, the committed state, hits, a verification.

1. Glyphs carry the meaning; colour only repeats it.
2. Control characters from documents and file names never reach the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.report import sentences
from steadlith.report.changelines import changes
from steadlith.report.lines import STYLES, Line, Segments, clean, findings, plural
from steadlith_core.retrieval.snippet import snippet
from steadlith_core.text.query import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.journals import Journal
    from steadlith.search import Answer, Hit
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Head
    from steadlith_core.rows import RecordedDocument

__all__ = ["Line", "Segments", "answer", "clean", "drift", "findings", "plan", "result", "status", "verification"]

LISTED_DRIFT = 20
SNIPPET_LINES = 4
SNIPPET_WIDTH = 100


def plan(
    planned: Plan, *, steps: bool | None, hint: str = "--steps", kept: Sequence[RecordedDocument] = ()
) -> Iterator[Line]:
    """The plan: drift, documents with their steps, totals, embeddings, cost, findings, guards.

    `steps` lists every step, or only counts them per document; none lists them while they are few, and else says
    with `hint` what would list them. `kept` are documents without a step that are listed too. The totals follow all
    lists that can be long.
    """
    for sentence in sentences.surroundings(planned):
        yield "bold", sentence
    yield from drift(planned, every=steps is True)
    if not planned.is_empty:
        yield from changes(planned, steps=steps, hint=hint)
    yield from _kept(kept)
    if planned.is_empty:
        yield "bold yellow" if planned.drift else "bold green", sentences.nothing(planned)
    else:
        if planned.changes or planned.recipe_changed or kept:
            yield "", ""
        yield "bold", sentences.totals(planned)
        yield "", sentences.embeddings(planned.cost)
        for sentence in sentences.mending(planned):
            yield "", sentence
        yield "", sentences.roots(planned)
    yield from findings(planned.findings, "the rest of the corpus goes on")
    for tripped in planned.tripped:
        yield (
            "bold red",
            f"Refused: {clean(tripped.message)} (pass {clean(tripped.override)} to apply if you mean it)",
        )


def drift(planned: Plan, *, every: bool) -> Iterator[Line]:
    """What is not as it was committed, each with what repairs it; the first ones unless `every` is asked for."""
    if not planned.drift:
        return
    yield "bold yellow", f"Drift ({len(planned.drift):,}), the index is not as it was committed:"
    listed = planned.drift if every else planned.drift[:LISTED_DRIFT]
    for each in listed:
        words = f"{clean(each.place)}: {each.kind}: {clean(each.message)}"
        yield STYLES["!"], f"! {words} ({sentences.repair(each)})"
    if len(listed) < len(planned.drift):
        yield "dim", f"(and {len(planned.drift) - len(listed):,} more; --json lists all)"
    yield "", ""


def _kept(documents: Sequence[RecordedDocument]) -> Iterator[Line]:
    for document in documents:
        yield "dim", f"  {clean(str(document.id))}  ({document.chunk_count:,} kept)"


def result(done: Result) -> Iterator[Line]:
    """How an apply ended."""
    head = done.head
    if done.already:
        yield "bold green", f"Already applied as generation {head.generation}. Nothing to do."
        return
    if done.unchanged:
        yield "bold green", f"Nothing to do: the index is at generation {head.generation}."
        return
    yield (
        "bold green",
        (
            f"Applied generation {head.generation}: {head.documents:,} documents, {head.chunks:,} chunks; "
            f"{done.embedded:,} embedded, {done.cached:,} from the cache."
        ),
    )
    yield "", f"Corpus root: {head.corpus_root}"


def status(head: Head, begun: Journal | None) -> Iterator[Line]:
    """The committed state, and the change that was begun and is not committed, if there is one."""
    if begun is not None:
        way_on = f"`steadlith {begun.command} --resume` goes on with it, `--abort` drops it"
        yield "bold yellow", f"On its way, and not committed: {clean(begun.why)}; {way_on}."
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
    lines = f":{span.first_line}-{span.last_line}" if span.first_line else ""
    yield "bold", f"{rank}. {clean(str(hit.document))}{lines}  {hit.score:.3f} ({arms})"
    if hit.headings:
        yield "cyan", "   " + clean(" > ".join(hit.headings))
    for line in snippet(hit.text, asked, SNIPPET_LINES):
        yield "", "   " + _fit(clean(line), asked)
    where = f"bytes {span.start}-{span.end} of" if lines else "imported text, not found in"
    yield "dim", f"   {where} {hit.source_digest.short}"


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
    outcome = "OK" if found.ok else plural(len(found.problems), "problem")
    style = "bold green" if found.ok else "bold red"
    yield (
        style,
        f"{outcome}: generation {found.generation}, {found.documents:,} documents, {found.chunks:,} chunks",
    )
    yield "", f"Corpus root: {found.corpus_root}"
    yield "", f"State root:  {found.state_root}"
    if not found.ok and found.generation:
        yield "", "`steadlith plan --refresh full` says what applying can repair."
