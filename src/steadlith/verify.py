"""Verify: which state is this index really in, recomputed from what it stores and not from what it says.

1. Every root is recomputed from below: texts to chunk hashes to document roots to the corpus root to the state root.
2. A problem names what is wrong and where; the list is complete, not the first find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import StoreCorrupt
from steadlith_core.state import identity
from steadlith_core.state.roots import corpus_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key, trie_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import Recipe
    from steadlith_core.rows import RecordedChunk, RecordedDocument


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. The roots are the recomputed ones."""

    generation: int
    corpus_root: Digest
    state_root: Digest
    documents: int
    chunks: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


def verify(reader: Reader, *, root: Digest | None = None, expected_state_root: Digest | None = None) -> Verification:
    """Recompute everything; compare with the head, and with pinned roots if they are given. O(all text)."""
    with adapter("verifying the index"):
        head = reader.head
        problems = [problem.message for problem in reader.problems(full=True)]
        roots: dict[Digest, Digest] = {}
        chunks = 0
        for document in reader.documents():
            key = document_key(document.id)
            try:
                rows = reader.chunks(document.id)
                topology = [(row.parent, row.embed) for row in rows]
                roots[key] = document_root([row.chunk_hash for row in rows], document.metadata, topology)
                problems += _document_problems(reader, head.recipe, document, rows, roots[key])
                chunks += len(rows)
            except StoreCorrupt as error:
                # Named, and taken as recorded, so that one bad row does not hide the others.
                problems.append(f"{document.id}: {error}")
                roots[key] = document.root
                chunks += document.chunk_count
        normalizer = {"normalizer_id": head.recipe.normalizer_id} if head.recipe else {}
        corpus = corpus_root(len(roots), trie_root(roots.items()), **normalizer)
        state = state_root(corpus, head.recipe)
    for name, recomputed, recorded in (
        ("corpus root", corpus, head.corpus_root),
        ("state root", state, head.state_root),
        ("number of documents", len(roots), head.documents),
        ("number of chunks", chunks, head.chunks),
    ):
        if recomputed != recorded:
            problems.append(f"the {name} is {recomputed}, the head says {recorded}")
    for name, recomputed, pinned in (
        ("corpus root", corpus, root),
        ("state root", state, expected_state_root),
    ):
        if pinned is not None and recomputed != pinned:
            problems.append(f"the {name} is {recomputed}, expected {pinned}")
    return Verification(head.generation, corpus, state, len(roots), chunks, tuple(problems))


def _document_problems(
    reader: Reader,
    recipe: Recipe | None,
    document: RecordedDocument,
    rows: tuple[RecordedChunk, ...],
    root: Digest,
) -> Iterator[str]:
    if root != document.root:
        yield f"{document.id}: its chunks and metadata lead to root {root}, recorded is {document.root}"
    if recipe is None:
        return
    name = identity.chunk_hasher(recipe)
    texts = reader.texts(sorted({row.text_hash for row in rows}))
    for position, row in enumerate(rows):
        text = texts.get(row.text_hash)
        if text is None:
            yield f"{document.id}: the text of chunk {position} is missing ({row.text_hash})"
        elif identity.text_hash(text) != row.text_hash or name(text) != row.chunk_hash:
            yield f"{document.id}: the text of chunk {position} is not the one that was committed ({row.text_hash})"
