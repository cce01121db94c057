"""Chunks of many documents, packed: arrays for all of them, and records only of those that somebody asks for.

Documents are counted as they were given. What is in a chunk, `structural.py` says.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.chunking.parts import paths
from steadlith_core.records import Chunk, Finding, FindingKind
from steadlith_core.text.tokens import UNIT, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.rest import Run
    from steadlith_core.chunking.structure import Structure
    from steadlith_core.chunking.tree import Limits, Pieces
    from steadlith_core.text.canonical import CanonicalText


@dataclass(frozen=True, slots=True)
class Cuts:
    """The chunks of the documents `texts`, which share an arena."""

    texts: Sequence[CanonicalText]
    arena: Arena
    structure: Structure
    pieces: Pieces
    limits: Limits

    def __len__(self) -> int:
        return len(self.texts)

    def contents(self, document: int) -> list[bytes]:
        """The canonical text of each chunk of a document, in order."""
        data = self.arena.data
        here = self._here(document)
        return [
            data[start:end]
            for start, end in zip(self.pieces.start[here].tolist(), self.pieces.end[here].tolist(), strict=True)
        ]

    def title(self, document: int) -> str:
        """Title of the document's first heading that has one, else empty."""
        return self.structure.outline.title(*self._lines(document))

    def chunks(self, document: int) -> tuple[Chunk, ...]:
        """The chunks of a document, in order."""
        pieces, here = self.pieces, self._here(document)
        ranges = list(zip(pieces.start[here].tolist(), pieces.end[here].tolist(), strict=True))
        shift = self.arena.origins[document] - self.arena.starts[document]
        spans = self.texts[document].spans([(start + shift, end + shift) for start, end in ranges])
        return tuple(
            Chunk(
                text=self.arena.data[start:end].decode(),
                span=span,
                headings=path,
                level=level,
                tokens=whole(weight),
                height=height,
            )
            for (start, end), span, path, level, weight, height in zip(
                ranges,
                spans,
                self._paths(document, ranges),
                pieces.level[here].tolist(),
                pieces.weight[here].tolist(),
                pieces.height[here].tolist(),
                strict=True,
            )
        )

    def findings(self, document: int) -> tuple[Finding, ...]:
        """One for every run of a document that may not be cut and is too large."""
        runs, data = self.pieces.runs, self.texts[document].data
        first, last = self.arena.starts[document], self.arena.ends[document]
        shift = self.arena.origins[document] - first
        found = []
        at, line = 0, 1
        for run in runs[bisect_left(runs, (first,)) : bisect_left(runs, (last,))]:
            line += data.count(b"\n", at, run.start + shift)
            at = run.start + shift
            found.append(self._finding(run, line))
        return tuple(found)

    def _finding(self, run: Run, line: int) -> Finding:
        limits, size = self.limits, run.end - run.start
        outcome = "cut at the byte cap" if size > limits.max_bytes else "kept whole"
        message = (
            f"line {line}: {whole(run.weight)} tokens ({size} bytes) without a place where a cut is allowed, {outcome} "
            f"(max_tokens = {limits.maximum // UNIT}, max_bytes = {limits.max_bytes})"
        )
        return Finding(place="", kind=FindingKind.UNSPLITTABLE, message=message)

    def _here(self, document: int) -> slice:
        return slice(*self.pieces.bounds[document : document + 2].tolist())

    def _lines(self, document: int) -> tuple[int, int]:
        first, last = self.structure.lines.bounds[document : document + 2].tolist()
        return first, last

    def _paths(self, document: int, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
        """Titles in force in each range, by rule 4 of `structural.py`."""
        headings = self.structure.outline.headings_of(*self._lines(document))
        starts = self.structure.lines.start[[heading.line for heading in headings]].tolist()
        in_force = [(), *paths(headings)]
        found = []
        for start, end in ranges:
            index = bisect_right(starts, start)
            if index:
                while index < len(starts) and headings[index].chained and starts[index] < end:
                    index += 1
            found.append(in_force[index])
        return found
