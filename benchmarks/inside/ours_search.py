"""Search in process, in a folder with an applied index; prints seconds."""

import json
import sys
import time
from pathlib import Path
from statistics import median, quantiles

import steadlith
from steadlith import wiring

ROUNDS = 5
LIMIT = 5

queries = json.loads(Path(sys.argv[1]).read_text("utf-8"))


def seconds(index: steadlith.Index, query: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    index.search(query, limit=LIMIT)
    return time.perf_counter() - wall, time.process_time() - cpu


with steadlith.open(".") as index:  # as a service has it
    first, _ = seconds(index, queries[0])
    warm = [seconds(index, query) for _ in range(ROUNDS) for query in queries]
    chunks = index.head().chunks
embedder = wiring.embedder_factory("hash").build({"dimensions": 256})
embedding = []
for query in queries * ROUNDS:
    start = time.perf_counter()
    embedder.embed_query(query)
    embedding.append(time.perf_counter() - start)
print(
    json.dumps(
        {
            "chunks": chunks,
            "first": first,
            "warm": median(wall for wall, _ in warm),
            "slow": quantiles([wall for wall, _ in warm], n=10)[-1],
            "cpu": median(cpu for _, cpu in warm),
            "embedding": median(embedding),
        }
    )
)
