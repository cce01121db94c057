"""The store alone, through its own port: a first load, commits of an edit, a full verification.

The rows are the real ones: generated documents cut by the folder's own configuration, hashed, and planned by the core;
that and the vectors are made while no clock runs. Each step prints one JSON object, times in seconds.

Usage, in this order, FOLDER having a steadlith.toml with a source `docs`:
  ours_store.py load FOLDER SENTENCES.json DOCUMENTS           replaces the index of FOLDER
  ours_store.py edit FOLDER SENTENCES.json DOCUMENTS CHUNKS ROUNDS   each rewords CHUNKS, in other documents
  ours_store.py verify FOLDER
"""

import hashlib
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

import generated
import numpy as np
import ours_embedder
import stepping

from steadlith import clock, config
from steadlith.assembly import Assembly
from steadlith.collecting import collecting_seldom
from steadlith.verify import Verification, verify
from steadlith_adapters.stores.sqlite.checks import levels
from steadlith_core.digest import hash_fields
from steadlith_core.planning.guards import Limits
from steadlith_core.planning.make import Planned, Terms, make_plan
from steadlith_core.planning.wanted import SourceText, WantedDocument, want_all
from steadlith_core.planning.world import World
from steadlith_core.ports import Reader, Store, Transaction
from steadlith_core.records import Content, DocumentId, Format, Generation, Head
from steadlith_core.rows import DocumentVersion, Placement, TrieNode, TrieRow, VectorRow
from steadlith_core.state.moving import build, move
from steadlith_core.state.roots import corpus_root, state_root
from steadlith_core.state.trie import document_key

LOT = 250
"""Documents that are made, and put, at a time."""
TERMS = Terms("bench", batch_size=64, probe_texts=0, local=True, price=None, limits=Limits())
LEXICAL = "lexical"


class Stopwatch:
    """Seconds by name: wall, and CPU of this process."""

    def __init__(self) -> None:
        self.wall: Counter[str] = Counter()
        self.cpu: Counter[str] = Counter()

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall[name] += time.perf_counter() - wall
        self.cpu[name] += time.process_time() - cpu

    def told(self) -> dict[str, object]:
        return {"wall": dict(self.wall), "cpu": dict(self.cpu)}


def vectors(texts: Sequence[str]) -> list[bytes]:
    """What `generated.vector` makes of each, by numpy."""
    size = generated.DIMENSIONS
    drawn = b"".join(hashlib.shake_256(text.encode()).digest(size) for text in texts)
    rows = np.frombuffer(drawn, dtype=np.int8).reshape(len(texts), size).astype(np.float64)
    unit = (rows / np.sqrt((rows * rows).sum(axis=1, keepdims=True))).astype("<f4")
    return [row.tobytes() for row in unit]


def cut(assembly: Assembly, documents: Iterable[tuple[int, list[str]]]) -> list[WantedDocument]:
    """Generated documents as the configuration wants them."""
    sources = [
        SourceText(
            DocumentId("docs", generated.path(number)),
            Format.MARKDOWN,
            Content(generated.document(sections).encode()),
        )
        for number, sections in documents
    ]
    found = []
    for wanted in want_all(assembly.cutter, sources):
        if isinstance(wanted, Exception):
            raise wanted
        found.append(wanted[0])
    return found


def row_of(document: WantedDocument) -> TrieRow:
    return TrieRow(document_key(document.id), document.root, document.source_digest)


def version_of(document: WantedDocument) -> DocumentVersion:
    placements = tuple(
        Placement(None, chunk.entry.entry_hash, chunk.chunk_hash, chunk.span, chunk.parent) for chunk in document.chunks
    )
    return DocumentVersion(document.id, document.root, document.metadata, document.source_digest, placements)


def generation(assembly: Assembly, head: Head, top: TrieNode, chunks: int) -> Generation:
    """The next one, with the roots that its documents lead to."""
    recipe = assembly.cutter.recipe
    corpus = corpus_root(top.count, top.digest)
    return Generation(
        number=head.generation + 1,
        parent=head.generation,
        lineage=head.lineage or clock.new_lineage(),
        corpus_root=corpus,
        state_root=state_root(corpus, recipe),
        recipe=recipe,
        plan_digest=hash_fields("bench", head.generation),
        documents=top.count,
        chunks=chunks,
        at="2026-01-01T00:00:00Z",
    )


def load(folder: str, sentences: str, count: str) -> dict[str, object]:
    """Everything in one transaction, as a first apply does it, lot after lot so that no more is in memory."""
    shutil.rmtree(Path(folder, ".steadlith"), ignore_errors=True)
    library, assembly, watch = generated.Library(Path(sentences)), assembled(folder), Stopwatch()
    store = assembly.open_store(readonly=False)
    rows, chunks, text, before = [], 0, 0, stepping.written()
    with watch.running("begin"):
        head = store.head()
        transaction = store.begin(head)
    for start in range(0, int(count), LOT):
        numbers = range(start, min(start + LOT, int(count)))
        documents = cut(assembly, ((number, library.sections(number)) for number in numbers))
        rows += [row_of(document) for document in documents]
        lot = [chunk for document in documents for chunk in document.chunks]
        put_lot(watch, assembly, transaction, documents)
        chunks += len(lot)
        text += sum(len(chunk.text.text.encode()) for chunk in lot)
    moved = build(rows)
    with watch.running("nodes"):
        transaction.put_nodes(moved.put, moved.dropped)
    made = generation(assembly, head, moved.after, chunks)
    with watch.running("commit"):
        transaction.commit(made)
    with watch.running("close"):
        store.close()
    return {
        "documents": len(rows),
        "occurrences": chunks,
        "text": text,
        "vectors": chunks * generated.DIMENSIONS * 4,
        "disk": on_disk(folder),
        "written": stepping.written() - before,
        **watch.told(),
    }


def put_lot(
    watch: Stopwatch, assembly: Assembly, transaction: Transaction, documents: Sequence[WantedDocument]
) -> None:
    """One lot of new documents."""
    chunks = [chunk for document in documents for chunk in document.chunks]
    made = vectors([chunk.model_input for chunk in chunks])
    vector_rows = [
        VectorRow(chunk.entry.entry_hash, chunk.vector_key, vector)
        for chunk, vector in zip(chunks, made, strict=True)
        if chunk.vector_key is not None
    ]
    versions = [version_of(document) for document in documents]
    with watch.running("texts"):
        transaction.put_texts([chunk.text for chunk in chunks])
    with watch.running("entries"):
        transaction.put_entries([chunk.entry for chunk in chunks])
    with watch.running("vectors"):
        transaction.put_vectors(assembly.cutter.space, vector_rows)
    with watch.running("documents"):
        for version in versions:
            transaction.put_document(version)


def edit(folder: str, sentences: str, count: str, chunks: str, rounds: str) -> dict[str, object]:
    """Rounds of edits, each in other documents than the one before; what they make of the index stays."""
    library, assembly = generated.Library(Path(sentences)), assembled(folder)
    store = assembly.open_store(readonly=False)
    found = []
    for _ in range(int(rounds)):
        round_ = store.head().generation
        found.append(one_edit(assembly, store, library, generated.chosen(int(count), int(chunks), round_), round_))
    store.close()
    return {
        "chunks": found[-1]["chunks"],
        "documents": found[-1]["documents"],
        "disk": on_disk(folder),
        "rounds": found,
        **{key: median(each[key] for each in found) for key in ("look", "plan", "store", "written")},
    }


def one_edit(
    assembly: Assembly, store: Store, library: generated.Library, numbers: Sequence[int], round_: int
) -> dict[str, float]:
    """Look up what is recorded, plan, and commit; apart."""
    documents = cut(
        assembly,
        ((number, generated.edited(number, library.sections(number), round_, generated.PLACES)) for number in numbers),
    )
    watch, reader = Stopwatch(), store.snapshot()
    with watch.running("look"):
        world = seen(assembly, reader, documents)
    reader.close()
    with watch.running("plan"):
        planned = make_plan(world, TERMS)
        pairs = list(planned.writes.vectors())
    made = vectors([planned.writes.inputs[key] for _, key in pairs])
    vector_rows = [VectorRow(*pair, vector) for pair, vector in zip(pairs, made, strict=True)]
    made_generation = generation(assembly, world.head, world.moved.after, planned.plan.target.chunks)
    before = stepping.written()
    with watch.running("store"):
        commit(watch, store, planned, vector_rows, made_generation)
    return {
        "chunks": len(vector_rows),
        "documents": len(planned.writes.written),
        "written": stepping.written() - before,
        **watch.wall,
        "cpu": watch.cpu["store"],
    }


def seen(assembly: Assembly, reader: Reader, documents: Sequence[WantedDocument]) -> World:
    """What a plan of these changed documents is a function of."""
    wanted = {document.id: document for document in documents}
    recorded = reader.find(sorted(wanted))
    chunks = {id_: reader.chunks(id_) for id_ in sorted(recorded)}
    changes = {row.key: row for row in map(row_of, documents)}
    head = reader.head
    return World(
        head=head,
        recipe=assembly.cutter.recipe,
        config_digest=assembly.config_digest,
        documents=head.documents,
        total_chunks=head.chunks,
        folders={},
        recorded=recorded,
        chunks=chunks,
        entries=reader.entries(sorted({chunk.entry_hash for rows in chunks.values() for chunk in rows})),
        wanted=wanted,
        vanished=frozenset(),
        available=frozenset(),
        moved=move(reader, changes),
        findings=(),
    )


def commit(watch: Stopwatch, store: Store, planned: Planned, vectors: Iterable[VectorRow], made: Generation) -> None:
    """The whole write, as an apply makes it."""
    rows = planned.writes
    with watch.running("begin"):
        transaction = store.begin(store.head())
    with watch.running("puts"):
        transaction.put_texts(rows.texts())
        transaction.put_entries(rows.entries())
        transaction.put_vectors(rows.space, vectors)
        for version in rows.versions():
            transaction.put_document(version)
        transaction.put_nodes(rows.nodes, rows.dropped)
    with watch.running("commit"):
        transaction.commit(made)


def check(folder: str) -> dict[str, object]:
    """A full verification by one process, and how long each of its checks took; the rest of it is recomputing from
    below. Then one by two processes.
    """
    watch, together = Stopwatch(), Stopwatch()
    with together.running("whole"):
        verified(folder, workers=2)
    levels.FULL = {timed(watch, one): kind for one, kind in levels.FULL.items()}
    with watch.running("whole"):
        found = verified(folder, workers=1)
    return {
        "chunks": found.chunks,
        "documents": found.documents,
        LEXICAL: watch.wall[LEXICAL],
        "by_two": together.wall["whole"],
        **watch.told(),
    }


def verified(folder: str, *, workers: int) -> Verification:
    with closing(assembled(folder).open_store(readonly=True)) as store, closing(store.snapshot()) as reader:
        found = verify(reader, workers=workers)
    if not found.ok:
        sys.exit(f"bench: the index is not as it was committed: {found.problems[:5]}")
    return found


def timed(watch: Stopwatch, one: Callable[..., Iterable[object]]) -> Callable[..., Iterator[object]]:
    """The same check under a stopwatch."""

    def checked(*arguments: object) -> Iterator[object]:
        with watch.running(one.__name__):
            found = list(one(*arguments))
        yield from found

    return checked


def assembled(folder: str) -> Assembly:
    return Assembly(config.load(Path(folder, "steadlith.toml")))


def on_disk(folder: str) -> int:
    """Bytes of the index file and of whatever lies beside it."""
    return sum(path.stat().st_size for path in Path(folder, ".steadlith").glob("index.sqlite3*"))


if __name__ == "__main__":
    ours_embedder.install()
    with collecting_seldom:  # as every plan and apply does
        print(json.dumps({"load": load, "edit": edit, "verify": check}[sys.argv[1]](*sys.argv[2:]), indent=1))
