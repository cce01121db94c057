"""The cache through its own port: entries in, out, carried, checked, pruned. Usage: ours_cache.py FOLDER COUNT

COUNT unit vectors of 384 dimensions, made while no clock runs. Each work is done ROUNDS times, on a cache of its own
where it changes one; prints medians as JSON, times in seconds.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_core.cachefile import Unpacking, pack
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.ports import Cache, PruneRule
from steadlith_core.vectors import Vector

DIMENSIONS = 384
BATCH = 64
"""Vectors that an apply keeps at a time, by default."""
LOT = 1024
"""Vectors that an import keeps at a time."""
ROUNDS = 5
TODAY = 20_000

folder, count = Path(sys.argv[1]), int(sys.argv[2])
numbers = np.random.default_rng(1).normal(size=(count, DIMENSIONS))
numbers = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype("<f4")
keys = [hash_fields("bench", number) for number in range(count)]
"""In no order: a digest is anywhere among others."""
entries = {key: row.tobytes() for key, row in zip(keys, numbers, strict=True)}
absent = [hash_fields("bench", -1 - number) for number in range(count)]


def opened(name: str) -> Cache:
    """The cache in the folder `name`."""
    return FACTORY.open({}, root=str(folder / name), readonly=False, today=TODAY)


def lots(vectors: Mapping[Digest, Vector], size: int) -> list[dict[Digest, Vector]]:
    """`vectors`, so many at a time."""
    given = list(vectors.items())
    return [dict(given[start : start + size]) for start in range(0, len(given), size)]


def put(size: int, cache: Cache) -> None:
    """Keep all, so many a transaction."""
    for lot in lots(entries, size):
        cache.put(lot)


def get(asked: list[Digest], cache: Cache) -> None:
    """One question for all."""
    cache.get(asked, DIMENSIONS)


def export(cache: Cache) -> None:
    """All entries to a file."""
    with (folder / "exported").open("wb") as stream:
        for piece in pack((kept.key, kept.vector) for kept in cache.entries()):
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())


def load(cache: Cache) -> None:
    """All entries of the file, read twice as an import reads it."""
    for keep in (False, True):
        with (folder / "exported").open("rb") as stream:
            for batch in Unpacking(iter(partial(stream.read, 1 << 20), b"")).batches():
                if keep:
                    cache.add(dict(batch))


def check(cache: Cache) -> None:
    """Every entry against its checksum."""
    assert all(kept.problem is None for kept in cache.entries())


def prune(cache: Cache) -> None:
    """Half of the entries, and their space given back."""
    cache.prune(PruneRule(max_bytes=count // 2 * DIMENSIONS * 4))
    cache.reclaim()


def measured(work: Callable[[Cache], None], start: str | None) -> dict[str, float]:
    """One work, on a copy of `start`, or on a new cache."""
    shutil.rmtree(folder / "tried", ignore_errors=True)
    if start is not None:
        shutil.copytree(folder / start, folder / "tried")
    with closing(opened("tried")) as cache:
        wall, cpu = time.perf_counter(), time.process_time()
        work(cache)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu}


def middle(work: Callable[[Cache], None], start: str | None = "full") -> dict[str, float]:
    """The median of several."""
    rows = [measured(work, start) for _ in range(ROUNDS)]
    return {name: median(row[name] for row in rows) for name in rows[0]}


def size(name: str) -> int:
    """Bytes of the cache in the folder `name`."""
    return sum(path.stat().st_size for path in (folder / name / ".steadlith").iterdir())


with closing(opened("full")) as cache:
    put(LOT, cache)
found = {
    f"put, {BATCH} a transaction": middle(partial(put, BATCH), None),
    f"put, {LOT:,} a transaction": middle(partial(put, LOT), None),
    "get, all there": middle(partial(get, keys)),
    "get, half of them there": middle(partial(get, [*keys[::2], *absent[::2]])),
    "export": middle(export),
    "import": middle(load, None),
    "verify": middle(check),
    "prune half, space given back": middle(prune),
}
print(
    json.dumps(
        {
            "count": count,
            "dimensions": DIMENSIONS,
            "rounds": ROUNDS,
            "works": found,
            "full": size("full"),
            "pruned": size("tried"),
            "exported": (folder / "exported").stat().st_size,
        }
    )
)
