"""What one would write by hand with psycopg and pgvector: one table of chunks, COPY, an HNSW index, two queries fused.

The chunks and vectors are those of ours_stores.py, made by the same code while no clock runs. Prints one JSON object.

Usage: byhand_pgvector.py FOLDER SENTENCES.json DOCUMENTS QUESTIONS ROUNDS      with the server in BYHAND_DSN
"""

import json
import os
import sys
import time
from pathlib import Path
from statistics import median, quantiles

import generated
import ours_store
import ours_stores
import psycopg

CREATE = f"""
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE TABLE byhand(
        id bigint PRIMARY KEY, path text NOT NULL, body text NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED,
        embedding vector({generated.DIMENSIONS}) NOT NULL
    )"""
INDEXES = (
    "CREATE INDEX ON byhand USING gin (words)",
    "SET maintenance_work_mem = '1GB'",
    "CREATE INDEX ON byhand USING hnsw (embedding vector_cosine_ops)",
    "ANALYZE byhand",
)
DENSE = "SELECT id, path, body FROM byhand ORDER BY embedding <=> %s::vector LIMIT 50"
LEXICAL = """
    SELECT id, path, body
    FROM byhand, CAST(replace(CAST(plainto_tsquery('english', %s) AS text), '&', '|') AS tsquery) AS q
    WHERE words @@ q ORDER BY ts_rank(words, q) DESC, id LIMIT 50"""


def main() -> None:
    folder, sentences, count, questions, rounds = sys.argv[1:]
    library, assembly = generated.Library(Path(sentences)), ours_store.assembled(folder)
    with psycopg.connect(os.environ["BYHAND_DSN"], autocommit=True) as connection:
        for statement in CREATE.split(";"):
            connection.execute(statement)
        seconds, chunks = 0.0, 0
        for start in range(0, int(count), ours_store.LOT):
            numbers = range(start, min(start + ours_store.LOT, int(count)))
            documents = ours_store.cut(assembly, ((number, library.sections(number)) for number in numbers))
            made = [(str(each.id), chunk) for each in documents for chunk in each.chunks]
            vectors = ours_stores.vectors([chunk.model_input for _, chunk in made])
            written = [text_of(vector) for vector in vectors]
            began = time.perf_counter()
            with connection.cursor().copy("COPY byhand(id, path, body, embedding) FROM STDIN") as copy:
                for number, ((path, chunk), vector) in enumerate(zip(made, written, strict=True), chunks):
                    copy.write_row((number, path, chunk.text.text, vector))
            seconds += time.perf_counter() - began
            chunks += len(made)
        began = time.perf_counter()
        for statement in INDEXES:
            connection.execute(statement)
        indexing = time.perf_counter() - began
        step = len(library.sentences) // int(questions)
        asked = [" ".join(library.sentences[number * step].split()[:8]) for number in range(int(questions))]
        given = [text_of(vector) for vector in ours_stores.vectors(asked)]
        taken = []
        for round_ in range(int(rounds) + 1):
            for question, vector in zip(asked, given, strict=True):
                began = time.perf_counter()
                fused(connection, question, vector)
                if round_:
                    taken.append(time.perf_counter() - began)
        connection.execute("DROP TABLE byhand")
    times = [median(taken), quantiles(taken, n=10)[-1]]
    print(json.dumps({"chunks": chunks, "load": seconds, "indexing": indexing, "hybrid": times}))


def text_of(vector: bytes) -> str:
    from steadlith_core.vectors import unpack

    return "[" + ",".join(f"{value:.8g}" for value in unpack(vector).tolist()) + "]"


def fused(connection: psycopg.Connection, question: str, vector: str) -> list[tuple[int, str, str]]:
    """Reciprocal ranks of both answers, the ten best."""
    scores: dict[tuple[int, str, str], float] = {}
    for rows in (connection.execute(DENSE, [vector]).fetchall(), connection.execute(LEXICAL, [question]).fetchall()):
        for rank, row in enumerate(rows):
            scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda row: (-scores[row], row[0]))[:10]


if __name__ == "__main__":
    main()
