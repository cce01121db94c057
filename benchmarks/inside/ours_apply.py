"""Plan and apply of a folder in process, with vectors that cost next to nothing. Usage: see stepping.py.

With PLAN_ONLY in the environment nothing is applied: for the memory of a plan alone.
"""

import os
import time
from pathlib import Path

import generated
import ours_embedder
import stepping

import steadlith


def apply(folder: Path, embedding: generated.Embedding) -> stepping.Told:
    ours_embedder.Embedder.embedding = embedding
    with steadlith.open(folder) as index:
        start = time.perf_counter()
        plan = index.plan()
        planned = time.perf_counter()
        if "PLAN_ONLY" not in os.environ:
            index.apply(plan)
        done = time.perf_counter()
        return {
            "plan": planned - start,
            "apply": done - planned - embedding.seconds,
            "chunks": plan.target.chunks,
        }


if __name__ == "__main__":
    ours_embedder.install()
    stepping.run(apply)
