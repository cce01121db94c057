"""Checks before a swap: whether what a migration built may take the place of what is there.

1. Every root, text, vector and lexical row is checked from below, as `verify` does; counts and roots are the plan's.
2. Self-retrieval: a sample of chunks must be found by the vector that was paid for, and by their own words. An adapter
   that takes vectors and keeps none of them fails here, not in front of a user.
3. Recall, if it is asked for: how much of what an exact search answers the usual one answers too, over that sample; and
   how many golden questions find a document that they should. Below the threshold nothing is swapped.
4. The sample follows from the documents alone: the same index is asked the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith import keeping
from steadlith.border import adapter
from steadlith.search import search
from steadlith.verify import verify
from steadlith_core import vectors
from steadlith_core.errors import ChecksFailed, UsageError
from steadlith_core.planning.wanted import rewant
from steadlith_core.text.query import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith.assembly import Assembly
    from steadlith.questions import Question
    from steadlith_core.ports import Cache, Reader
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedDocument
    from steadlith_core.vectors import Vector

SAMPLE = 100
DEPTH = 10
"""Hits that are looked at for each chunk and each question."""
SAME = 1e-5
"""Vectors that are this near are one: what is kept of a vector is its direction, in float32."""
LEAST_FOUND = 0.95
"""Of the sample, by a search for its vector: a store that approximates may miss some. Nothing else may be missing."""
NAMED = 3
"""Failures named in the message."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What is asked of an index before it is swapped in. `min_recall`, from 0 to 1, is asked of the sample's
    recall and of the golden questions.
    """

    sample: int = SAMPLE
    questions: tuple[Question, ...] = ()
    min_recall: float | None = None

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise UsageError(f"sample = {self.sample}: at least one chunk must be looked for")
        if self.min_recall is not None and not 0 <= self.min_recall <= 1:
            raise UsageError(f"min_recall = {self.min_recall}: choose from 0 to 1")


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, as a JSON value."""

    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Sampled:
    """A chunk, the vector that was paid for it, and the one that the index keeps."""

    id: DocumentId
    chunk_hash: bytes
    text: str
    paid: Vector
    kept: Vector | None


def check(assembly: Assembly, reader: Reader, cache: Cache, asked: Checks) -> Checked:
    """Look at what would be the head. `ChecksFailed` says what of it is not good enough. O(index), and the sample."""
    found = verify(reader)
    if found.problems:
        _refuse(f"{len(found.problems):,} things are wrong with it", found.problems)
    told: dict[str, Any] = {"documents": found.documents, "chunks": found.chunks}
    told |= _self_retrieval(assembly, reader, cache, asked)
    if asked.questions:
        told |= _questions(assembly, reader, asked)
    return Checked(told)


def _self_retrieval(assembly: Assembly, reader: Reader, cache: Cache, asked: Checks) -> dict[str, Any]:
    space = assembly.cutter.space
    sampled, unlike, lost, unworded, recalls = 0, [], [], [], []
    with adapter("searching what was built"):
        for each in _sample(assembly, reader, cache, asked.sample):
            sampled += 1
            if each.kept is None or vectors.cosines([each.kept], each.paid)[0] < 1 - SAME:
                unlike.append(f"{each.id}: the vector of a chunk of it is not the one that was paid for")
                continue
            hits = reader.dense(space, each.paid, DEPTH)
            # With more of the same vector than there are hits, any of them is as good.
            crowded = len(hits) == DEPTH and hits[-1].score >= 1 - SAME
            if not crowded and not _is_among(reader, each, [hit.entry for hit in hits]):
                lost.append(f"{each.id}: a chunk of it is not found by its own vector")
            words, among = terms(each.text), reader.within([each.id])
            if words and not _is_among(reader, each, [hit.entry for hit in reader.lexical(words, len(among), among)]):
                unworded.append(f"{each.id}: a chunk of it is not found by its own words")
            if asked.min_recall is not None:
                best = {hit.entry for hit in reader.dense(space, each.paid, DEPTH, exact=True)}
                recalls.append(len(best & {hit.entry for hit in hits}) / max(1, len(best)))
    if unlike or unworded or len(lost) > sampled * (1 - LEAST_FOUND):
        wrong = [*unlike, *unworded, *lost]
        _refuse(f"{len(wrong):,} of {sampled:,} sampled chunks are not found as they should be", wrong)
    told: dict[str, Any] = {"sampled": sampled, "found": sampled - len(lost)}
    if recalls:
        recall = sum(recalls) / len(recalls)
        _refuse_below("the recall of the sample", recall, asked.min_recall, ())
        told["recall"] = round(recall, 4)
    return told


def _sample(assembly: Assembly, reader: Reader, cache: Cache, size: int) -> Iterator[_Sampled]:
    """Embedded chunks at equal distances, in the order of the documents."""
    embedded = {each.id: [row.embed for row in reader.chunks(each.id)].count(True) for each in reader.documents()}
    total = sum(embedded.values())
    chosen = iter(sorted({number * total // size for number in range(size)} if total else ()))
    wanted, begins = next(chosen, None), 0
    for document in reader.documents():
        at = []
        while wanted is not None and wanted < begins + embedded[document.id]:
            at.append(wanted - begins)
            wanted = next(chosen, None)
        begins += embedded[document.id]
        if at:
            yield from _chunks_of(assembly, reader, cache, document, at)


def _chunks_of(
    assembly: Assembly, reader: Reader, cache: Cache, document: RecordedDocument, at: Sequence[int]
) -> Iterator[_Sampled]:
    """Of the chunks that are embedded, those of these numbers."""
    space = assembly.cutter.space
    kept = keeping.read(reader, document.id)
    wanted = rewant(assembly.cutter, document.id, document.metadata, document.source_digest, kept)
    embedded = [(chunk.vector_key, chunk) for chunk in wanted.chunks if chunk.vector_key is not None]
    chosen = dict(embedded[each] for each in at)
    there = reader.vectors(space, list(chosen))
    paid = cache.get(list(chosen), space.dimensions)
    for key, chunk in chosen.items():
        known = paid.get(key, there.get(key))
        if known is None:
            _refuse(
                "a vector is missing", [f"{document.id}: a chunk of it has one neither in the cache nor in the index"]
            )
            return
        held = vectors.unit(there[key]) if key in there else None
        yield _Sampled(document.id, chunk.chunk_hash, chunk.text.text, vectors.unit(known), held)


def _is_among(reader: Reader, sampled: _Sampled, entries: Sequence[int]) -> bool:
    rows = reader.occurrences(entries, DEPTH, [sampled.id])
    return any(row.chunk_hash == sampled.chunk_hash for row in rows)


def _questions(assembly: Assembly, reader: Reader, asked: Checks) -> dict[str, Any]:
    """How many questions find, among the first hits, a document that they should."""
    missed = []
    for question in asked.questions:
        hits = search(assembly, reader, question.text, limit=DEPTH).hits
        if not question.documents & {hit.document for hit in hits}:
            missed.append(f"{question.text!r:.80} does not find {min(question.documents)}")
    rate = 1 - len(missed) / len(asked.questions)
    _refuse_below("the golden questions' recall", rate, asked.min_recall, missed)
    return {"questions": len(asked.questions), "questions_found": len(asked.questions) - len(missed)}


def _refuse_below(what: str, found: float, least: float | None, why: Sequence[str]) -> None:
    if least is not None and found < least:
        _refuse(f"{what} is {found:.4g}, the threshold is {least:.4g}", why)


def _refuse(what: str, why: Sequence[str]) -> None:
    named = "".join(f"\n  {each}" for each in why[:NAMED])
    raise ChecksFailed(
        f"what was built was not swapped in: {what}.{named}\nThe index is as it was (`steadlith doctor` says whether "
        "something was wrong with it before), and what was embedded is kept in the cache: `steadlith migrate --resume` "
        "asks again, `steadlith migrate --abort` drops it; other checks are asked by migrating anew"
    )
