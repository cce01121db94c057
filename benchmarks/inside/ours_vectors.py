"""Unit vectors to search in. Usage: ours_vectors.py FOLDER COUNT CACHE OUT

Of short chunks of the documents below FOLDER, a seeded choice, embedded by `use`; CACHE keeps what was embedded. Where
FOLDER is `-`, made up: topics with noise, 384 dimensions. Writes a float32 matrix (COUNT, dimensions), as numpy keeps
one, and prints what it is.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np

from steadlith import clock, wiring
from steadlith_core import vectors
from steadlith_core.state import identity

SIZES = (24, 72)
SEED = 1
TOPICS, NOISE, DIMENSIONS = 500, 1.0, 384
BATCH = 512


def embedded(folder: str, count: int, kept: Path) -> np.ndarray:
    """Distinct chunks of the documents, and their vectors, from the cache as far as they are there."""
    import cutting

    chunker = cutting.policy(*SIZES)
    texts = sorted({chunk.text for document in cutting.folder(chunker, folder) for chunk in document.chunks})
    Random(SEED).shuffle(texts)
    who = wiring.embedder_factory("use").describe({})
    params = identity.params_hash(who.document_params)
    keys = {identity.vector_key(text, who.model_id, params): text for text in texts[:count]}
    found = {}
    settings = {"path": str(kept)}
    with closing(wiring.cache_factory("sqlite").open(settings, root="/", readonly=False, today=clock.today())) as cache:
        found |= cache.get(list(keys), who.dimensions)
        missing = [key for key in keys if key not in found]
        embedder = wiring.embedder_factory("use").build({}) if missing else None
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            made = dict(zip(batch, embedder.embed_documents([keys[key] for key in batch]), strict=True))
            cache.put(made)
            found |= made
    return vectors.matrix([vectors.unit(found[key]) for key in keys], who.dimensions)


def made_up(count: int) -> np.ndarray:
    """Vectors about topics, with as much noise as topic."""
    random = np.random.default_rng(SEED)
    topics = random.normal(size=(TOPICS, DIMENSIONS))
    rows = topics[random.integers(TOPICS, size=count)] + NOISE * random.normal(size=(count, DIMENSIONS))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


folder, wanted, kept, out = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
rows = made_up(wanted) if folder == "-" else embedded(folder, wanted, kept)
np.save(out, rows)
print(json.dumps({"count": len(rows), "dimensions": rows.shape[1], "real": folder != "-"}))
