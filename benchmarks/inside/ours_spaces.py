"""An index of vectors in one form: its size, its answers, its time. Usage: ours_spaces.py VECTORS QUERIES FORM FOLDER

The first rows of VECTORS are indexed, one a document of a few bytes, the last QUERIES are asked. Answers are held
against the product of the matrix in float64.
"""

import json
import sys
import time
from contextlib import closing
from pathlib import Path
from statistics import median

import apsw
import numpy as np

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.samples import space, write_vectors
from steadlith_core import vectors

WANTED = 10
LIMITS = (10, 50)
"""Hits that the arm is asked for; a search with 10 hits asks it for 50."""
ROUNDS = 3

rows = np.load(sys.argv[1])
queries, form, folder = int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
kept, asked = rows[:-queries], rows[-queries:]
where = space(rows.shape[1], quantization=form)
settings = {"path": "index.sqlite3"}


def filled() -> float:
    """Write the index; seconds."""
    start = time.perf_counter()
    with closing(FACTORY.open(settings, root=str(folder), readonly=False)) as store:
        write_vectors(store, {str(number): row.tobytes() for number, row in enumerate(kept)}, where)
    return time.perf_counter() - start


def sizes() -> dict[str, int]:
    """Bytes of the whole file, of what vec0 keeps, and of the full vectors beside it."""
    connection = apsw.Connection(str(folder / "index.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    found = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    return {
        "file": sum(found.values()),
        "searched": sum(size for name, size in found.items() if name.startswith("vec_")),
        "beside": sum(size for name, size in found.items() if name.startswith("full_")),
    }


def answers() -> dict[str, list[float]]:
    """For each limit: recall of the true ten, median milliseconds, median CPU milliseconds."""
    exact = asked.astype(np.float64) @ kept.astype(np.float64).T
    best = [set(np.argsort(-scores, kind="stable")[:WANTED].tolist()) for scores in exact]
    found = {}
    with closing(FACTORY.open(settings, root=str(folder), readonly=True)) as store:
        reader = store.snapshot()
        for limit in LIMITS:
            hits, wall, cpu = 0, [], []
            for number, query in list(enumerate(asked)) * ROUNDS:
                began, used = time.perf_counter(), time.process_time()
                arm = reader.dense(where, vectors.pack(query), limit)
                wall.append(time.perf_counter() - began)
                cpu.append(time.process_time() - used)
                # Entries are numbered in the order in which they were put.
                hits += len({hit.entry - 1 for hit in arm[:WANTED]} & best[number])
            found[str(limit)] = [hits / (WANTED * len(asked) * ROUNDS), median(wall), median(cpu)]
    return found


wrote = filled()
print(json.dumps({"seconds": wrote} | sizes() | {"answers": answers()}))
