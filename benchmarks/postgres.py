"""The postgres store at a size: what loading, searching and checking take, against a server of its own.

Usage: python benchmarks/postgres.py [CHUNKS]. It starts a server by `tests/postgres_server.py`, and prints what it
found as JSON: rates a second, seconds, and for each kind of query the median and the slowest, in milliseconds. It is
a part of the section `servers` of `make bench`; docs/adapters/postgres.md has its figures.

1. Vectors are synthetic, about topics, of 384 dimensions; texts are 75 words of a vocabulary with Zipf's frequencies.
2. Queries are four words of ranks 50 to 5,000, and a vector near one of the index's.
3. Times are wall times of one client; the median and the slowest of so many queries, after a first round.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steadlith_adapters.stores.postgres import FACTORY, connection, spaces, target, vectors
from steadlith_conformance.samples import (
    Piece,
    doc,
    entry_row,
    generation,
    space,
    text_row,
    trie_row,
    vector_row,
    version,
)
from steadlith_core import vectors as packing
from steadlith_core.ports import Reader, Store
from steadlith_core.retrieval.fusion import additive
from steadlith_core.rows import OccurrenceHit, VectorRow
from steadlith_core.state.moving import build
from steadlith_core.vectors import Vector

DIMENSIONS, TOPICS, WORDS, VOCABULARY, PER_DOCUMENT = 384, 300, 75, 20_000, 20
QUERIES, LIMIT = 50, 50
VARIABLE = "STEADLITH_BENCH_POSTGRES"
SPACE = space(DIMENSIONS)

Rows = NDArray[np.float32]
Query = tuple[list[str], Vector]


def main(chunks: int) -> None:
    script = Path(__file__).parent.parent / "tests" / "postgres_server.py"
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        place = json.loads(server.stdout.readline())
        os.environ[VARIABLE] = " ".join(f"{key}={place[key]}" for key in ("host", "port", "user", "password", "dbname"))
        print(json.dumps(measure(chunks)))
        server.stdin.close()


def measure(chunks: int) -> dict[str, object]:
    generator = np.random.default_rng(1)
    rows, texts = embeddings(generator, chunks), sentences(generator, chunks)
    told: dict[str, object] = {"chunks": chunks, "words": WORDS, "copied": copy_alone(rows)}
    settings = {"dsn_env": VARIABLE, "schema": "bench"}
    with closing(FACTORY.open(settings, root="/", readonly=False)) as store:
        told["loaded"] = load(store, rows, texts)
    asked = queries(generator, rows)
    with closing(FACTORY.open(settings, root="/", readonly=True)) as store, closing(store.snapshot()) as reader:
        told["dense, compared in full"] = times(lambda each: reader.dense(SPACE, each[1], LIMIT), asked)
        some = [int(each) for each in generator.choice(chunks, chunks // 100, replace=False) + 1]
        told["dense, 1 % passes"] = times(lambda each: reader.dense(SPACE, each[1], LIMIT, some), asked)
        told["lexical"] = times(lambda each: reader.lexical(each[0], LIMIT), asked)
    graph = {**settings, "ann": "hnsw"}
    with closing(FACTORY.open(graph, root="/", readonly=False)) as store:
        began = time.perf_counter()
        head = store.head()
        write = store.begin(head)
        write.commit(generation(head, build(store.snapshot().rows("")).after, head.chunks, spaces=[SPACE]))
        told["graph"] = time.perf_counter() - began
    with closing(FACTORY.open(graph, root="/", readonly=True)) as store, closing(store.snapshot()) as reader:
        told["dense, by the graph"] = times(lambda each: reader.dense(SPACE, each[1], LIMIT), asked)
        told["hybrid"] = times(lambda each: hybrid(reader, *each), asked)
        found = sum(
            len(
                {hit.entry for hit in reader.dense(SPACE, vector, 10)}
                & {hit.entry for hit in reader.dense(SPACE, vector, 10, exact=True)}
            )
            for _, vector in asked
        )
        told["recall"] = found / 10 / len(asked)
        began = time.perf_counter()
        assert list(reader.problems(full=True)) == []
        told["checked"] = time.perf_counter() - began
    return told


def embeddings(generator: np.random.Generator, chunks: int) -> Rows:
    topics = generator.standard_normal((TOPICS, DIMENSIONS)).astype("<f4")
    rows = topics[generator.integers(0, TOPICS, chunks)] + generator.standard_normal((chunks, DIMENSIONS)).astype("<f4")
    return (rows / np.linalg.norm(rows.astype(float), axis=1, keepdims=True)).astype("<f4")


def sentences(generator: np.random.Generator, chunks: int) -> list[str]:
    share = 1 / np.arange(1, VOCABULARY + 1)
    words = generator.choice(VOCABULARY, size=(chunks, WORDS), p=share / share.sum())
    return [" ".join(f"w{word}" for word in row) for row in words.tolist()]


def queries(generator: np.random.Generator, rows: Rows) -> list[Query]:
    near = rows[generator.integers(0, len(rows), QUERIES)] + generator.standard_normal((QUERIES, DIMENSIONS)) / 60
    words = generator.integers(50, 5000, size=(QUERIES, 4)).tolist()
    return [
        ([f"w{word}" for word in each], packing.unit(row.astype("<f4").tobytes()))
        for each, row in zip(words, near, strict=True)
    ]


def copy_alone(rows: Rows) -> float:
    """Rows a second of the vector table by itself, as a commit fills it."""
    where = target.target({"dsn_env": VARIABLE, "schema": "alone"})
    with closing(connection.writing(where)) as session, connection.transaction(session):
        table = spaces.create(session, SPACE)
        numbered = [(number + 1, row.tobytes()) for number, row in enumerate(rows)]
        began = time.perf_counter()
        for start in range(0, len(numbered), vectors.SIZE):
            vectors.place(session, table, numbered[start : start + vectors.SIZE])
        return len(rows) / (time.perf_counter() - began)


def load(store: Store, rows: Rows, texts: list[str]) -> float:
    """Occurrences a second of one write of all."""
    parts = [Piece(text) for text in texts]
    lots = range(0, len(parts), PER_DOCUMENT)
    versions = [version(doc(f"{start:07}.md"), parts[start : start + PER_DOCUMENT]) for start in lots]
    trie = build([trie_row(each) for each in versions])
    given = [
        VectorRow(part.entry_hash, vector_row(part, SPACE).vector_key, row.tobytes())
        for part, row in zip(parts, rows, strict=True)
    ]
    head = store.head()
    contents = [text_row(part) for part in parts], [entry_row(part) for part in parts]
    began = time.perf_counter()
    write = store.begin(head)
    write.put_texts(contents[0])
    write.put_entries(contents[1])
    write.put_vectors(SPACE, given)
    for each in versions:
        write.put_document(each)
    write.put_nodes(trie.put, ())
    write.commit(generation(head, trie.after, len(parts), spaces=[SPACE]))
    return len(parts) / (time.perf_counter() - began)


def hybrid(reader: Reader, words: list[str], vector: Vector) -> Sequence[OccurrenceHit]:
    """What a search asks a store for: both arms, cosines of what words alone found, and where the best ten stand."""
    found = reader.dense(SPACE, vector, LIMIT)
    other = reader.lexical(words, LIMIT)
    cosines = reader.cosines(SPACE, vector, sorted({hit.entry for hit in other} - {hit.entry for hit in found}))
    best = additive(found, other, cosines)[:10]
    return reader.occurrences([hit.entry for hit in best], 10)


def times(ask: Callable[[Query], object], asked: list[Query]) -> tuple[float, float]:
    """Median and slowest, in milliseconds."""
    for each in asked:  # a first round: what follows is warm
        ask(each)
    taken = []
    for each in asked:
        began = time.perf_counter()
        ask(each)
        taken.append(1000 * (time.perf_counter() - began))
    return statistics.median(taken), max(taken)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
