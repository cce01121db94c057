"""The same as ours_apply.py by steadlith 1.0.1. Runs in the peer's environment only."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import generated
import stepping
from steadlith.embed.providers.hash import HashEmbeddingProvider

from steadlith.config import load_config
from steadlith.index import service


@dataclass(frozen=True)
class Provider(HashEmbeddingProvider):
    """Its own hash provider by name, with the vectors that all get."""

    embedding: generated.Embedding | None = None

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [tuple(row) for row in self.embedding(texts)]


def apply(folder: Path, embedding: generated.Embedding) -> stepping.Told:
    service.create_provider = lambda config: Provider(config.model, config.dimensions, embedding)
    config = load_config(folder / "steadlith.toml")
    start = time.perf_counter()
    prepared = service.prepare_index(config)
    planned = time.perf_counter()
    result = service.apply_prepared(prepared)
    done = time.perf_counter()
    return {
        "plan": planned - start,
        "apply": done - planned - embedding.seconds,
        "chunks": result.active_chunks,
    }


if __name__ == "__main__":
    stepping.run(apply)
