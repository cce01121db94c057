"""One contender's apply in a folder, in its own interpreter: what it takes without start-up and without vectors.

1. A folder of one document is applied before, so that what is imported on first use is there.
2. Bytes are those of this process's write calls while it applied: log, checkpoint, cache and all.

Usage of every script that runs this: FOLDER, or FOLDER DOCUMENTS CHUNKS FIRST ROUNDS to reword CHUNKS of the folder's
generated documents before each of so many applies. Prints a list of JSON objects.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import generated

Told = dict[str, float]
Apply = Callable[[Path, generated.Embedding], Told]
"""Brings the folder's index up to date; tells `chunks` and the seconds of its parts."""


def run(apply: Apply) -> None:
    """As the command line says."""
    folder, *edits = sys.argv[1:]
    with TemporaryDirectory() as small:
        place = Path(small, "docs", "0000")
        place.mkdir(parents=True)
        (place / "000.md").write_text("# A word\n\nAnd another.\n", "utf-8")
        with suppress(FileNotFoundError):
            shutil.copy(Path(folder, "steadlith.toml"), small)
        apply(Path(small), generated.Embedding())
    if not edits:
        print(json.dumps([measured(apply, Path(folder))]))
        return
    documents, chunks, first, rounds = map(int, edits)
    found = []
    for round_ in range(first, first + rounds):
        generated.edit(Path(folder, "docs"), documents, chunks, round_)
        found.append(measured(apply, Path(folder)))
    print(json.dumps(found))


def measured(apply: Apply, folder: Path) -> Told:
    """One apply."""
    embedding = generated.Embedding()
    before, wall, cpu = written(), time.perf_counter(), time.process_time()
    told = apply(folder, embedding)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "wall": wall - embedding.seconds,
        "cpu": cpu - embedding.seconds,
        "embedding": embedding.seconds,
        "embedded": embedding.texts,
        "written": written() - before,
        **told,
    }


def written() -> int:
    """Bytes that this process gave to write calls so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])
