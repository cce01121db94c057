"""Manifests, proofs and differences of a generated corpus, in memory: sizes and times.

Usage: ours_offline.py [DOCUMENTS] [CHANGES]. Prints one JSON object: bytes, and milliseconds of CPU.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import DocumentId, Recipe, Space
from steadlith_core.rows import TrieRow
from steadlith_core.state.difference import WholeTrie, differences
from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument
from steadlith_core.state.manifestreading import Unpacking
from steadlith_core.state.manifestwriting import pack
from steadlith_core.state.moving import build
from steadlith_core.state.proof import verify_absence, verify_chunk, verify_document
from steadlith_core.state.proving import StoredTrie
from steadlith_core.state.roots import corpus_root, sources_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

SAMPLES = 2000
CHUNKS = 4096
"""Chunks of the document whose chunks are proven."""
EXPORTED = 20_000
"""Documents of the manifest that is written and read, eight chunks each."""

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
changes = int(sys.argv[2]) if len(sys.argv) > 2 else 100


def corpus(count: int) -> list[TrieRow]:
    """Rows of documents; digests are drawn, which is what digests look like."""
    raw = random.Random(count).randbytes(64 * count)
    return [
        TrieRow(
            document_key(DocumentId("docs", f"{number}.md")),
            Digest(raw[64 * number : 64 * number + 32]),
            Digest(raw[64 * number + 32 : 64 * number + 64]),
        )
        for number in range(count)
    ]


def milliseconds(work: Callable[[], object], rounds: int = 1) -> float:
    """CPU time of one round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return round(median(times), 3)


def proofs(rows: list[TrieRow], trie: WholeTrie) -> Iterator[tuple[str, float]]:
    """Sizes of the largest of many proofs, and the time to make and to verify one."""
    root = corpus_root(trie.top.count, trie.top.digest)
    chunks = [hash_fields("demo", number) for number in range(CHUNKS)]
    own = rows[0]
    stored = StoredTrie(trie)
    sampled = rows[1 :: max(1, count // SAMPLES)]
    present = [stored.prove(row.key) for row in sampled]
    missing = [hash_fields("key", "missing", number) for number in range(SAMPLES)]
    absent = [stored.prove(key) for key in missing]
    last = CHUNKS - 1
    chunk = stored.prove_chunk(own.key, chunks, {}, last)
    yield "document proof, largest of the sampled, bytes", max(map(len, present))
    yield "absence proof, largest of the sampled, bytes", max(map(len, absent))
    yield "chunk proof (of 4,096 chunks), bytes", len(chunk)
    yield (
        "chunk proof at the largest document proof, bytes",
        max(map(len, present)) + len(chunk) - len(stored.prove(own.key)),
    )
    yield "make a document proof, ms", milliseconds(lambda: stored.prove(own.key), 200)
    pairs = list(zip(sampled, present, strict=True))[:500]
    whole = milliseconds(lambda: [verify_document(root, row.key, row.root, proof) for row, proof in pairs], 3)
    yield "verify a document proof, ms", round(whole / len(pairs), 3)
    gone = list(zip(missing, absent, strict=True))[:500]
    whole = milliseconds(lambda: [verify_absence(root, key, proof) for key, proof in gone], 3)
    yield "verify an absence proof, ms", round(whole / len(gone), 3)
    yield "verify a chunk proof, ms", milliseconds(lambda: verify_chunk(root, own.key, chunks[last], chunk), 200)


def changed(rows: list[TrieRow]) -> list[TrieRow]:
    """A third of the changes each: other roots, gone, new."""
    rng = random.Random(7)
    picked = rng.sample(range(1, len(rows)), changes)
    new = dict(enumerate(rows))
    for turn, number in enumerate(picked):
        row = rows[number]
        if turn % 3 == 0:
            new[number] = TrieRow(row.key, hash_fields("demo", number), row.source_digest)
        elif turn % 3 == 1:
            del new[number]
        else:
            new[len(rows) + number] = TrieRow(hash_fields("key", "new", number), row.root, row.source_digest)
    return list(new.values())


def exported(count: int) -> list[ManifestDocument]:
    """Documents as a manifest holds them."""
    context = hash_fields("context", "plain/0", [])
    made = []
    for number in range(count):
        raw = random.Random(number).randbytes(32 * 24)
        hashes = [Digest(raw[at : at + 32]) for at in range(0, len(raw), 32)]
        chunks = tuple(ManifestChunk(*hashes[at : at + 3], context) for at in range(0, 24, 3))
        metadata = {"format": "markdown", "title": f"Page {number}"}
        root = document_root([chunk.chunk_hash for chunk in chunks], metadata)
        id_ = DocumentId("docs", f"guide/part-{number // 100:05}/page-{number:07}.md")
        made.append(ManifestDocument(id_, root, hashes[0], metadata, chunks))
    return made


def manifests() -> Iterator[tuple[str, float]]:
    """Writing and reading one."""
    documents = exported(min(EXPORTED, count))
    digest = hash_fields("demo")
    recipe = Recipe("text/1", "structural/1", digest, digest, "plain/0", "lexical/0", (Space("model", digest, 4),))
    top = build(TrieRow(document_key(each.id), each.root, each.source_digest) for each in documents).after
    root = corpus_root(top.count, top.digest)
    header = Header(recipe, root, state_root(root, recipe), sources_root(top), len(documents), 8 * len(documents))
    pieces = list(pack(header, documents))
    size = sum(map(len, pieces))
    digests = len(documents) * (2 + 8 * 3) * 32
    yield "manifest, documents of 8 chunks", len(documents)
    yield "manifest, bytes a document", round(size / len(documents), 1)
    yield "manifest, bytes that are no digests, a document", round((size - digests) / len(documents), 1)
    yield "write a manifest, ms", milliseconds(lambda: list(pack(header, documents)))
    yield "read and check a manifest, ms", milliseconds(lambda: list(Unpacking(pieces).documents()))


rows = corpus(count)
chunked = document_root([hash_fields("demo", number) for number in range(CHUNKS)], {})
rows[0] = TrieRow(rows[0].key, chunked, rows[0].source_digest)
start = time.process_time()
old = WholeTrie(rows)
answer: dict[str, float] = {"documents": count, "build a trie, ms": round((time.process_time() - start) * 1000)}
answer |= dict(proofs(rows, old))
new = WholeTrie(changed(rows))
found = differences(old, new)
answer |= {"differences": len(found), "find them, ms": milliseconds(lambda: differences(old, new), 20)}
answer |= dict(manifests())
print(json.dumps(answer, indent=1))
