"""One store through its own port and through a search, whatever store the folder's configuration names.

Documents are the generated ones, cut by the folder's configuration; vectors are those of the embedder `hash` at 384
dimensions, so that near texts have near vectors. All of it is made while no clock runs. Prints one JSON object.

Usage, in this order, FOLDER having a steadlith.toml with a source `docs` and the embedder `hash`:
  ours_stores.py load FOLDER SENTENCES.json DOCUMENTS     into an index that is empty
  ours_stores.py ask FOLDER SENTENCES.json QUESTIONS ROUNDS
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import generated
import ours_store

from steadlith.assembly import Assembly
from steadlith.search import search
from steadlith_adapters.embedders.hash import FACTORY
from steadlith_core.ports import Reader, Store
from steadlith_core.records import Space
from steadlith_core.rows import VectorRow
from steadlith_core.state.moving import build
from steadlith_core.text.query import terms
from steadlith_core.vectors import Vector, unit

EMBEDDER = FACTORY.build({"dimensions": generated.DIMENSIONS})
AGAIN = "another-model/1"
"""A second space over the entries that are there: what vectors alone cost to keep."""
LIMIT, CANDIDATES = 10, 50
SHARE = 100
"""One document in so many passes the filter."""


def vectors(texts: Sequence[str]) -> list[Vector]:
    return [unit(vector) for vector in EMBEDDER.embed_documents(texts)]


def load(folder: str, sentences: str, count: str) -> dict[str, object]:
    """A first load in one write, and then one vector more for each entry, in a write of its own."""
    ours_store.vectors = vectors
    library, assembly, watch = generated.Library(Path(sentences)), ours_store.assembled(folder), ours_store.Stopwatch()
    store = assembly.open_store(readonly=False)
    rows, chunks, text, again = [], 0, 0, []
    with watch.running("begin"):
        head = store.head()
        transaction = store.begin(head)
    for start in range(0, int(count), ours_store.LOT):
        numbers = range(start, min(start + ours_store.LOT, int(count)))
        documents = ours_store.cut(assembly, ((number, library.sections(number)) for number in numbers))
        rows += [ours_store.row_of(document) for document in documents]
        ours_store.put_lot(watch, assembly, transaction, documents)
        lot = [chunk for document in documents for chunk in document.chunks]
        again += [(chunk.entry.entry_hash, chunk.vector_key, chunk.model_input) for chunk in lot]
        chunks += len(lot)
        text += sum(len(chunk.text.text.encode()) for chunk in lot)
    moved = build(rows)
    with watch.running("nodes"):
        transaction.put_nodes(moved.put, moved.dropped)
    made = ours_store.generation(assembly, head, moved.after, chunks)
    with watch.running("commit"):
        transaction.commit(made)
    alone = _vectors_alone(assembly, store, again)
    store.close()
    return {"documents": len(rows), "chunks": chunks, "text": text, "vectors_alone": alone, **watch.told()}


def _vectors_alone(assembly: Assembly, store: Store, again: Sequence[tuple[Any, Any, str]]) -> float:
    """Seconds for as many vectors in a space of their own, from begin to commit; nothing of it stays."""
    other = Space(AGAIN, assembly.cutter.space.params_hash, generated.DIMENSIONS)
    made = vectors([text for _, _, text in again])
    rows = [VectorRow(entry, key, vector) for (entry, key, _), vector in zip(again, made, strict=True)]
    head = store.head()
    with closing(store.snapshot()) as reader:
        top = reader.nodes([""])[""]
    start = time.perf_counter()
    transaction = store.begin(head)
    transaction.put_vectors(other, rows)
    transaction.commit(ours_store.generation(assembly, head, top, head.chunks))
    return time.perf_counter() - start


class Given:
    """An embedder that has one vector ready."""

    vector = b""

    def embed_query(self, _text: str) -> Vector:
        return self.vector


def ask(folder: str, sentences: str, count: str, rounds: str) -> dict[str, object]:
    """Questions in the words of the documents: how long each way of asking takes, and what it finds."""
    assembly, given = ours_store.assembled(folder), Given()
    assembly.__dict__["embedder"] = given
    library = generated.Library(Path(sentences))
    step = len(library.sentences) // int(count)
    questions = [" ".join(library.sentences[number * step].split()[:8]) for number in range(int(count))]
    asked = list(zip(questions, vectors(questions), strict=True))
    store = assembly.open_store(readonly=True)
    with closing(store.snapshot()) as reader:
        space = assembly.cutter.space
        some = [document.id for document in reader.documents()][::SHARE]
        among = reader.within(some)

        def whole(question: str, vector: Vector, *, exact: bool) -> Any:
            given.vector = vector
            return search(assembly, reader, question, limit=LIMIT, exact=exact)

        ways: dict[str, Callable[[str, Vector], Any]] = {
            "hybrid": lambda question, vector: whole(question, vector, exact=False),
            "hybrid, exact": lambda question, vector: whole(question, vector, exact=True),
            "dense": lambda _, vector: reader.dense(space, vector, CANDIDATES),
            "dense, exact": lambda _, vector: reader.dense(space, vector, CANDIDATES, exact=True),
            "lexical": lambda question, _: reader.lexical(terms(question), CANDIDATES),
            "dense, 1 % passes": lambda _, vector: reader.dense(space, vector, CANDIDATES, among),
            "lexical, 1 % passes": lambda question, _: reader.lexical(terms(question), CANDIDATES, among),
        }
        times = {name: _times(way, asked, int(rounds)) for name, way in ways.items()}
        found = _found(reader, space, [vector for _, vector in asked], among)
    store.close()
    return {"chunks": reader.head.chunks, "passing": len(among), "times": times, **found}


def _times(way: Callable[[str, Vector], Any], asked: Sequence[tuple[str, Vector]], rounds: int) -> list[float]:
    """The median and the ninth decile, warm."""
    for question, vector in asked:
        way(question, vector)
    taken = []
    for _ in range(rounds):
        for question, vector in asked:
            start = time.perf_counter()
            way(question, vector)
            taken.append(time.perf_counter() - start)
    return [median(taken), quantiles(taken, n=10)[-1]]


def _found(reader: Reader, space: Space, asked: Sequence[Vector], among: Sequence[int]) -> dict[str, object]:
    """Recall of what is found without asking for exactness, and how many hits the filter leaves."""
    recall, full = [], []
    for vector in asked:
        truth = {hit.entry for hit in reader.dense(space, vector, LIMIT, exact=True)}
        found = {hit.entry for hit in reader.dense(space, vector, LIMIT)}
        recall.append(len(truth & found) / len(truth))
        full.append(len(reader.dense(space, vector, CANDIDATES, among)))
    return {"recall": sum(recall) / len(recall), "least_filtered": min(full)}


if __name__ == "__main__":
    print(json.dumps({"load": load, "ask": ask}[sys.argv[1]](*sys.argv[2:])))
