"""Explaining a document's steps: which lines changed, which cuts moved, and who answers for each vector.

1. Lines are compared, not chunks. A cut moved where lines that stayed stand together with other ones than before.
2. A line is its text in the chunks that are embedded; line numbers are those of the source, 1-based.
3. Nothing here is needed to apply a plan, and nothing of a text is shown.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.planning.diff import diff
from steadlith_core.planning.steps import Delete, Move, Reembed, Rekey, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.planning.steps import Step
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.records import Span
    from steadlith_core.rows import RecordedChunk

Lines: TypeAlias = "tuple[int, int]"
"""A range of lines, both ends in it."""


class Answer(StrEnum):
    """Who has the vector that a step needs."""

    CACHE = "cache"
    INDEX = "index"
    PLAN = "plan"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Why:
    """One step and what led to it.

    `lines` is where the chunk stands: in the source as it is now, for a deletion as it was recorded. `changed` are
    those of its lines that are new (of a deletion: gone). `before` are the recorded chunks that its other lines stood
    in, `after` those that a deleted chunk's other lines stand in now; `cut_moved` if these lines stood, or stand, in
    other company. `answer` says who has the vector that the step needs, `keys` which metadata changed.
    """

    step: Step
    lines: Lines | None
    changed: tuple[Lines, ...] = ()
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    cut_moved: bool = False
    answer: Answer | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A document's change: the lines that are new in its source, those that are gone, and each step's reason."""

    change: DocumentChange
    new: tuple[Lines, ...]
    gone: tuple[Lines, ...]
    steps: tuple[Why, ...]


def explain(
    change: DocumentChange,
    recorded: Sequence[tuple[RecordedChunk, str]],
    wanted: WantedDocument | None,
    in_cache: frozenset[Digest],
    in_index: frozenset[Digest],
    keys: tuple[str, ...] = (),
) -> Explanation:
    """Why each of the document's steps is taken. `recorded` are its chunks with their texts, as they stand in order; of
    a document that goes on from another one, that one's. `keys` are the metadata that differ.
    """
    old = _Page([(chunk.span, text) for chunk, text in recorded], [chunk.embed for chunk, _ in recorded])
    chunks = wanted.chunks if wanted else ()
    new = _Page([(chunk.span, chunk.text.text) for chunk in chunks], [chunk.entry.embed for chunk in chunks])
    result = diff([old.text[line] for line in old.numbers], [new.text[line] for line in new.numbers])
    pairs = [*result.kept, *result.moved]
    comes_from = {new.numbers[there]: old.numbers[here] for here, there in pairs}
    goes_to = {was: now for now, was in comes_from.items()}
    asked = _Asked(in_cache, in_index)
    steps = tuple(_why(step, old, new, comes_from, goes_to, asked, keys) for step in change.steps)
    return Explanation(
        change,
        _ranges(line for line in new.numbers if line not in comes_from),
        _ranges(line for line in old.numbers if line not in goes_to),
        steps,
    )


class _Page:
    """The lines of a document as its chunks hold them. A line that a cut divides is put together again."""

    def __init__(self, chunks: Iterable[tuple[Span, str]], embedded: Iterable[bool]) -> None:
        pieces: defaultdict[int, list[str]] = defaultdict(list)
        self.holders: defaultdict[int, list[int]] = defaultdict(list)
        self.spans: list[Span] = []
        self._lines: list[list[int]] = []
        for position, ((span, text), embed) in enumerate(zip(chunks, embedded, strict=True)):
            self.spans.append(span)
            self._lines.append([])
            for line, piece in enumerate(text.split("\n") if embed else (), span.first_line):
                if piece.strip():
                    pieces[line].append(piece.strip())
                    self.holders[line].append(position)
                    self._lines[position].append(line)
        self.numbers = sorted(pieces)
        self.text = {line: " ".join(found) for line, found in pieces.items()}

    def lines(self, position: int) -> list[int]:
        """The lines of one chunk that hold text."""
        return self._lines[position]


class _Asked:
    """Who has a vector: asked in the order of the steps, since a later one has what an earlier one pays for."""

    def __init__(self, in_cache: frozenset[Digest], in_index: frozenset[Digest]) -> None:
        self._in_cache = in_cache
        self._in_index = in_index

    def answer(self, key: Digest | None, *, paid: bool) -> Answer | None:
        if key is None:
            return None
        if paid:
            return Answer.NOBODY
        if key in self._in_cache:
            return Answer.CACHE
        return Answer.INDEX if key in self._in_index else Answer.PLAN


def _why(
    step: Step,
    old: _Page,
    new: _Page,
    comes_from: Mapping[int, int],
    goes_to: Mapping[int, int],
    asked: _Asked,
    keys: tuple[str, ...],
) -> Why:
    if isinstance(step, Delete):
        lines = old.lines(step.old_position)
        gone = _ranges(line for line in lines if line not in goes_to)
        after = _positions(new, (goes_to[line] for line in lines if line in goes_to))
        moved = _is_parted(old, new, goes_to, step.old_position, after, comes_from)
        return Why(step, _span(old, step.old_position), gone, after=after, cut_moved=moved)
    if step.position is None:
        return Why(step, None, keys=keys)
    if isinstance(step, Move | Update | Reembed | Rekey):
        answer = None
        if isinstance(step, Reembed | Rekey):
            answer = asked.answer(step.vector_key, paid=step.paid)
        return Why(step, _span(new, step.position), answer=answer)  # the text is the same
    lines = new.lines(step.position)
    changed = _ranges(line for line in lines if line not in comes_from)
    before = _positions(old, (comes_from[line] for line in lines if line in comes_from))
    moved = _is_parted(new, old, comes_from, step.position, before, goes_to)
    answer = asked.answer(step.vector_key, paid=step.paid)
    return Why(step, _span(new, step.position), changed, before, cut_moved=moved, answer=answer)


def _is_parted(
    here: _Page,
    there: _Page,
    across: Mapping[int, int],
    position: int,
    others: tuple[int, ...],
    back: Mapping[int, int],
) -> bool:
    """Whether the lines of a chunk that stand on both pages stand there in another company than here."""
    mine = {line for line in here.lines(position) if line in across}
    company = {back[line] for other in others for line in there.lines(other) if line in back}
    return len(others) > 1 or company != mine


def _positions(page: _Page, lines: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({position for line in lines for position in page.holders[line]}))


def _span(page: _Page, position: int) -> Lines | None:
    if position >= len(page.spans):
        return None
    span = page.spans[position]
    return span.first_line, span.last_line


def _ranges(lines: Iterable[int]) -> tuple[Lines, ...]:
    """Ascending line numbers as ranges without gaps."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return tuple((first, last) for first, last in found)
