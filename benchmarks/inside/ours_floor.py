"""What edits cost the structural chunker, and what they cost a chunker that remembers its former cuts.

Usage: ours_floor.py CHANGES MIN MAX, with a JSON array [path, old, new] in every line of CHANGES. See sections/floor.py
for the rules.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

import cutting
from cutting import Document, tokens

stream, least, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chunker = cutting.policy(least, most)
SPACE = " \t\v\f\n\r"


def texts(document: Document) -> list[str]:
    """What is embedded of a document."""
    return [chunk.text for chunk in document.chunks]


def unchanged(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers of lines that an edit left alone."""
    start, stop = 0, 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    while stop < shorter - start and old[-1 - stop] == new[-1 - stop]:
        stop += 1
    yield from zip(range(start), range(start), strict=True)
    matcher = SequenceMatcher(None, old[start : len(old) - stop], new[start : len(new) - stop], autojunk=False)
    for i, j, length in matcher.get_matching_blocks():
        yield from zip(range(start + i, start + i + length), range(start + j, start + j + length), strict=True)
    yield from zip(range(len(old) - stop, len(old)), range(len(new) - stop, len(new)), strict=True)


def lines_of(body: str) -> list[str]:
    """Lines with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", body)


def line_starts(lines: Sequence[str]) -> list[int]:
    """Where each line begins."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def frozen(old: Document, new: Document) -> list[str]:
    """The new text in the old pieces, as far as there are any left."""
    body = new.body
    if tokens(trim(body)) <= most:
        return [trim(body)]
    old_lines, new_lines = lines_of(old.body), lines_of(body)
    old_starts, new_starts = line_starts(old_lines), line_starts(new_lines)
    moved = {old_starts[i]: new_starts[j] for i, j in unchanged(old_lines, new_lines)}
    carried, line = [], 0
    for start in old.starts[1:]:
        while old_starts[line + 1] <= start:
            line += 1
        if old_starts[line] in moved:
            carried.append(moved[old_starts[line]] + start - old_starts[line])
    bounds = [0, *carried, len(body)]
    pieces = [trim(body[start:end]) for start, end in pairwise(bounds)]
    sizes = [tokens(piece) for piece in pieces]
    kept = set(texts(old))
    while len(sizes) > 1 and (small := next((n for n, size in enumerate(sizes) if size < least), None)) is not None:
        # With the neighbour that has to be embedded anyway, else with the smaller one.
        beside = [n for n in (small - 1, small + 1) if 0 <= n < len(sizes)]
        other = min(beside, key=lambda n: (pieces[n] in kept, sizes[n]))
        first = min(small, other)
        del bounds[first + 1]
        pieces[first : first + 2] = [trim(body[bounds[first] : bounds[first + 1]])]
        sizes[first : first + 2] = [tokens(pieces[first])]
    return [part for piece, size in zip(pieces, sizes, strict=True) for part in recut(new.path, piece, size)]


def recut(path: str, piece: str, size: int) -> list[str]:
    """A piece that has grown over the maximum, as if it were a document."""
    return [piece] if size <= most else texts(cutting.cut(chunker, path, piece.encode()))


def trim(piece: str) -> str:
    """Without blank lines before and white space behind."""
    kept = piece.rstrip(SPACE)
    indented = len(kept) - len(kept.lstrip(SPACE))
    return kept[kept.rfind("\n", 0, indented) + 1 :]


def cost(pieces: Sequence[str], old: Document) -> int:
    """Tokens of the pieces that the old version did not have, each text once."""
    return sum(tokens(piece) for piece in set(pieces) - set(texts(old)))


totals = {"changes": 0, "structural": 0, "frozen": 0, "dearer": 0, "cheaper": 0, "all": 0}
by_excess: list[tuple[int, int, int, str]] = []
by_path: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
last: dict[str, tuple[str, Document]] = {}
with Path(stream).open(encoding="utf-8") as lines:
    for line in lines:
        path, before, after = json.loads(line)
        known = last.get(path)
        old = known[1] if known and known[0] == before else cutting.cut(chunker, path, before.encode())
        new = cutting.cut(chunker, path, after.encode())
        last[path] = after, new
        structural, floor = cost(texts(new), old), cost(frozen(old, new), old)
        totals["changes"] += 1
        totals["structural"] += structural
        totals["frozen"] += floor
        totals["dearer"] += structural > floor
        totals["cheaper"] += structural < floor
        totals["all"] += sum(chunk.tokens for chunk in new.chunks)
        by_excess.append((structural - floor, structural, floor, path))
        for field, value in enumerate((1, structural, floor)):
            by_path[path][field] += value
by_excess.sort(reverse=True)
worst_path = max(by_path, key=lambda path: by_path[path][1] - by_path[path][2])
print(json.dumps(totals | {"worst": by_excess[:10], "worst path": [worst_path, *by_path[worst_path]]}))
