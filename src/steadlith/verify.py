"""Verify: which state is this index really in, recomputed from what it stores and not from what it says.

1. Every root is recomputed from below: texts to chunk hashes to document roots to the corpus root to the state root.
2. A problem names what is wrong and where; the list is complete, not the first find.
3. At `Level.HEAD` only the head and what it vouches for is read, in a time that does not grow with the index.
4. A manifest was checked from below when it was read, so it is only compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import lockfile, relexing
from steadlith.border import adapter
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import Level
from steadlith_core.state import foreign, identity
from steadlith_core.state.moving import EMPTY
from steadlith_core.state.roots import corpus_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key, trie_root
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.lockfile import Lock
    from steadlith.manifests import ManifestReader
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import Head, Recipe
    from steadlith_core.rows import RecordedChunk, RecordedDocument


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. The roots are the recomputed ones; a manifest has no generation."""

    generation: int | None
    corpus_root: Digest
    state_root: Digest
    documents: int
    chunks: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Pinned:
    """What the state has to be: roots, or a whole lock; none is not asked about."""

    root: Digest | None = None
    state_root: Digest | None = None
    lock: Lock | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """What was recomputed."""

    corpus: Digest
    state: Digest
    documents: int
    chunks: int


def verify(
    reader: Reader,
    *,
    root: Digest | None = None,
    expected_state_root: Digest | None = None,
    lock: Lock | None = None,
    level: Level = Level.FULL,
    workers: int = 1,
) -> Verification:
    """Recompute everything; compare with the head, and with what is pinned. O(all text), or O(1) of the head alone.

    `workers` is how many processes the store may look with.
    """
    with adapter("verifying the index"):
        head = reader.head
        seen = reader.problems(full=level is Level.FULL, workers=workers)  # the others look while this one recomputes
        below: list[str] = []
        found = _recompute(reader, below) if level is Level.FULL else _top(reader)
        problems = [problem.message for problem in relexing.judged(seen, head.recipe)] + below
    for name, recomputed, recorded in (
        ("corpus root", found.corpus, head.corpus_root),
        ("state root", found.state, head.state_root),
        ("number of documents", found.documents, head.documents),
        ("number of chunks", found.chunks, head.chunks),
    ):
        if recomputed != recorded:
            problems.append(f"the {name} is {recomputed}, the head says {recorded}")
    problems += _unlike(found, head.recipe, Pinned(root, expected_state_root, lock))
    return Verification(head.generation, found.corpus, found.state, found.documents, found.chunks, tuple(problems))


def verify_manifest(manifest: ManifestReader, pinned: Pinned) -> Verification:
    """Compare a manifest, which was read whole, with what is pinned."""
    header = manifest.header
    found = _Found(header.corpus_root, header.state_root, header.documents, header.chunks)
    problems = tuple(_unlike(found, header.recipe, pinned))
    return Verification(None, found.corpus, found.state, found.documents, found.chunks, problems)


def _recompute(reader: Reader, problems: list[str]) -> _Found:
    """All of it from below. What is wrong on the way goes to `problems`."""
    head = reader.head
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
    corpus = corpus_root(len(roots), trie_root(roots.items()), normalizer_id=_normalizer(head))
    return _Found(corpus, state_root(corpus, head.recipe), len(roots), chunks)


def _top(reader: Reader) -> _Found:
    """What the trie's topmost node leads to."""
    head = reader.head
    top = reader.nodes([""]).get("", EMPTY)
    corpus = corpus_root(top.count, top.digest, normalizer_id=_normalizer(head))
    return _Found(corpus, state_root(corpus, head.recipe), top.count, head.chunks)


def _normalizer(head: Head) -> str:
    return head.recipe.normalizer_id if head.recipe else NORMALIZER_ID


def _unlike(found: _Found, recipe: Recipe | None, pinned: Pinned) -> Iterator[str]:
    for name, recomputed, expected in (
        ("corpus root", found.corpus, pinned.root),
        ("state root", found.state, pinned.state_root),
    ):
        if expected is not None and recomputed != expected:
            yield f"the {name} is {recomputed}, expected {expected}"
    if pinned.lock is not None:
        yield from lockfile.deviations(
            pinned.lock,
            recipe=recipe,
            corpus=found.corpus,
            state=found.state,
            documents=found.documents,
            chunks=found.chunks,
        )


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
    name = identity.chunk_hasher(foreign.cut_by(recipe, document.metadata))
    texts = reader.texts(sorted({row.text_hash for row in rows}))
    for position, row in enumerate(rows):
        text = texts.get(row.text_hash)
        if text is None:
            yield f"{document.id}: the text of chunk {position} is missing ({row.text_hash})"
        elif name(text) != row.chunk_hash:  # that it is what its text hash says, the store looks at itself
            yield f"{document.id}: the text of chunk {position} is not the one that was committed ({row.text_hash})"
