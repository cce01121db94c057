"""The same as ours_search.py by steadlith 1.0.1. Runs in the peer's environment only."""

import json
import sys
import time
from pathlib import Path
from statistics import median, quantiles

from steadlith.embed import create_provider, embed_texts
from steadlith.index.service import index_status, query_index

from steadlith.config import load_config

ROUNDS = 5
LIMIT = 5

queries = json.loads(Path(sys.argv[1]).read_text("utf-8"))
config = load_config("steadlith.toml")


def seconds(query: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    query_index(config, query, limit=LIMIT)
    return time.perf_counter() - wall, time.process_time() - cpu


first, _ = seconds(queries[0])
warm = [seconds(query) for _ in range(ROUNDS) for query in queries]
provider = create_provider(config.embedding)
embedding = []
for query in queries * ROUNDS:
    start = time.perf_counter()
    embed_texts((query,), provider=provider)
    embedding.append(time.perf_counter() - start)
print(
    json.dumps(
        {
            "chunks": index_status(config).active_chunks,
            "first": first,
            "warm": median(wall for wall, _ in warm),
            "slow": quantiles([wall for wall, _ in warm], n=10)[-1],
            "cpu": median(cpu for _, cpu in warm),
            "embedding": median(embedding),
        }
    )
)
