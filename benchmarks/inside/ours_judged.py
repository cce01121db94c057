"""Ask an applied index all questions, by both arms together and by each alone. Usage: ours_judged.py QUESTIONS

Prints for every arm and question how far down the passage is (`Found`); nothing but zeros if no hit is on it.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import steadlith
from steadlith import config as configuration
from steadlith.assembly import Assembly
from steadlith_core import vectors
from steadlith_core.records import Span
from steadlith_core.text.query import terms

DEPTH = 30

asked, passages = json.loads(Path(sys.argv[1]).read_text("utf-8"))
index = steadlith.open(".")
assembly = Assembly(configuration.load(Path("steadlith.toml")))


def hits(span: Span, start: int, end: int) -> bool:
    """Whether a chunk and a passage share at least half of the shorter of both."""
    shared = min(span.end, end) - max(span.start, start)
    return 2 * shared >= min(span.end - span.start, end - start)


class Found(NamedTuple):
    """Where the first hit on the passage stands.

    `chunk` is its rank among the hits, `read` are the bytes of all hits up to its end. As passages go, `before` others
    come first, and `among` come with the same hit, the one asked for included, in no order.
    """

    chunk: int
    read: int
    before: int
    among: int


def first(found: list[tuple[str, Span]], path: str, start: int) -> Found:
    """The first hit on a passage. A hit on no passage at all counts as one that is wrong."""
    read = before = 0
    seen: set[tuple[str, int]] = set()
    for rank, (where, span) in enumerate(found, 1):
        read += span.end - span.start
        new = {(where, first) for first, last in passages[where] if hits(span, first, last)} - seen
        if (path, start) in new:
            return Found(rank, read, before, len(new))
        known = not new and any(hits(span, first, last) for first, last in passages[where])
        before += 0 if known else max(1, len(new))
        seen |= new
    return Found(0, 0, 0, 0)


ranks: dict[str, list[Found]] = {"both arms": [], "dense alone": [], "lexical alone": []}
with closing(assembly.open_store(readonly=True)) as store, closing(store.snapshot()) as reader:
    head = reader.head
    assert head.recipe is not None
    space = head.recipe.spaces[0]
    for query, path, start, _ in asked:
        answer = index.search(query, limit=DEPTH)
        found = [(hit.document.path, hit.span) for hit in answer.hits]
        ranks["both arms"].append(first(found, path, start))
        vector = vectors.unit(assembly.embedder.embed_query(query))
        for name, arm in (
            ("dense alone", reader.dense(space, vector, DEPTH)),
            ("lexical alone", reader.lexical(terms(query), DEPTH)),
        ):
            order = {hit.entry: n for n, hit in enumerate(arm)}
            rows = sorted(reader.occurrences(list(order), DEPTH), key=lambda row: (order[row.entry], row.id))
            ranks[name].append(first([(row.id.path, row.span) for row in rows[:DEPTH]], path, start))
print(json.dumps({"ranks": ranks, "chunks": head.chunks}))
