"""Going to another configuration and back. Usage:

ours_migrate.py rollback FOLDER DOCUMENTS ROUNDS CHUNKS   rewords CHUNKS before each of so many applies, then goes back
                                                          over all of them; what it took
ours_migrate.py migrate FOLDER LOG KEY=VALUE...           migrates, or goes on with a migration; every text that the
                                                          model is given is a line of LOG
ours_migrate.py search FOLDER                             searches until its standard input ends; a time and a
                                                          duration for each search
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import generated
import ours_embedder

import steadlith
from steadlith import hands, wiring
from steadlith_core.applying import effects
from steadlith_core.digest import hash_fields
from steadlith_core.ports import EmbedderFactory, Settings
from steadlith_core.vectors import Vector

QUERIES = ("how is it installed", "an item of the list", "the default value", "which version", "an error is raised")


def rollback(folder: Path, documents: str, rounds: str, chunks: str) -> object:
    ours_embedder.install()
    for round_ in range(int(rounds)):
        generated.edit(folder / "docs", int(documents), int(chunks), round_)
        with steadlith.open(folder) as index:
            index.apply(index.plan())
    seconds: list[float] = []
    whole = hands.Hands.perform

    def perform(self: hands.Hands, effect: hands.Performed) -> effects.Outcome:
        start = time.perf_counter()
        outcome = whole(self, effect)
        if isinstance(effect, effects.Commit):
            seconds.append(time.perf_counter() - start)
        return outcome

    hands.Hands.perform = perform  # type: ignore[method-assign]
    told = []
    for _ in range(3):
        with steadlith.open(folder) as index:
            newest = index.head().generation
            start = time.perf_counter()
            found = index.plan_rollback(newest - int(rounds) if not told else newest - 1)
            planned = time.perf_counter()
            index.apply(found.plan)
            done = time.perf_counter()
            changed = len(found.plan.changes)
            told.append({"plan": planned - start, "apply": done - planned, "store": seconds[-1], "documents": changed})
            size = index.head().chunks
    return {"chunks": size, "rounds": int(rounds), "runs": told}


class Logged:
    """The hash embedder, with a line for each text."""

    def __init__(self, inner: EmbedderFactory, log: Path) -> None:
        self._inner, self._log = inner, log

    def describe(self, settings: Settings) -> object:
        return self._inner.describe(settings)

    def build(self, settings: Settings) -> object:
        embedder, log = self._inner.build(settings), self._log

        class Telling:
            def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
                with log.open("a") as out:
                    out.write("".join(f"{hash_fields('text', text)}\n" for text in texts))
                return embedder.embed_documents(texts)

            def embed_query(self, text: str) -> Vector:
                return embedder.embed_query(text)

        return Telling()


def migrate(folder: Path, log: str, *settings: str) -> object:
    whole = wiring.embedder_factory
    wiring.embedder_factory = lambda name: Logged(whole(name), Path(log))  # type: ignore[assignment,return-value]
    with steadlith.open(folder) as index:
        start = time.perf_counter()
        found = index.migrations.begun() or index.migrations.plan(settings=settings)
        done = index.migrations.apply(found)
        return {
            "seconds": time.perf_counter() - start,
            "chunks": done.head.chunks,
            "embeddings": found.plan.cost.embeddings,
            "kept": found.plan.counts["keep"],
        }


def search(folder: Path) -> object:
    ended: list[bool] = []
    Thread(target=lambda: ended.append(not sys.stdin.read()), daemon=True).start()
    found = []
    while not ended:
        for query in QUERIES:
            with steadlith.open(folder) as index:
                start = time.time()
                index.search(query)
                found.append((start, time.time() - start))
    return found


if __name__ == "__main__":
    what, place, *rest = sys.argv[1:]

    print(json.dumps({"rollback": rollback, "migrate": migrate, "search": search}[what](Path(place), *rest)))
