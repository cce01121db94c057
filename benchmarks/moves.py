"""A move to another store at a size: from a file to a server and back, in seconds of CPU.

Usage: python benchmarks/moves.py [CHUNKS]. It is not part of `make bench`: it needs a server, which
`tests/postgres_server.py` starts. What it printed stands in docs/moving.md.

1. Documents of 20 chunks of 75 words each, of a vocabulary with Zipf's frequencies; vectors of 384 dimensions by the
   `hash` embedder. The index is made by a usual apply.
2. Seconds are those that the processors worked: ours, and the server's beside them. What waits for a disk is not in
   there.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import steadlith
from steadlith import carrying, copying

PER_DOCUMENT, WORDS, VOCABULARY = 20, 75, 20_000
VARIABLE = "STEADLITH_BENCH_POSTGRES"
CONFIG = """
[sources.docs]
path = "docs"
[chunking]
policy = "fixed"
max_words = 75
[embedding]
embedder = "hash"
dimensions = 384
"""
SERVER = f"[store]\ntype = 'postgres'\ndsn_env = '{VARIABLE}'\nschema = 'moved'\n"
FILE = "[store]\ntype = 'sqlite'\npath = '.steadlith/back.sqlite3'\n"


def main(chunks: int) -> None:
    script = Path(__file__).parent.parent / "tests" / "postgres_server.py"
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        place = json.loads(server.stdout.readline())
        os.environ[VARIABLE] = " ".join(f"{key}={place[key]}" for key in ("host", "port", "user", "password", "dbname"))
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), chunks, lambda: ticks_below(server.pid))
        server.stdin.close()


def measure(root: Path, chunks: int, of_server: Callable[[], float]) -> None:
    write_documents(root / "docs", chunks // PER_DOCUMENT)
    (root / "steadlith.toml").write_text(CONFIG, "utf-8")
    with steadlith.open(root) as index:
        index.apply(index.plan())
        head = index.head()
    print(f"{head.documents:,} documents, {head.chunks:,} chunks")
    for name, store in (("file -> server", SERVER), ("server -> file", FILE)):
        taken: dict[str, float] = {}
        began = spent(of_server)
        with steadlith.open(root) as index, timed(taken, of_server):
            stores = index.migrations.stores
            text = index.config.text.partition("[store]")[0] + store
            found = stores.plan(text)
            taken["preview"] = spent(of_server) - began
            stores.apply(found)
        whole = spent(of_server) - began
        with steadlith.open(root) as index:
            assert index.head().state_root == head.state_root
        taken["checked before, and the rest"] = whole - sum(taken.values())
        parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in taken.items())
        print(f"{name}: {whole:.1f} s of CPU, {head.chunks / whole:,.0f} chunks a second; of it {parts}")
        copied = head.chunks / taken["copied"]
        print(f"  copying alone: {copied:,.0f} chunks a second")


@contextmanager
def timed(taken: dict[str, float], of_server: Callable[[], float]) -> Iterator[None]:
    """Note what the parts of a move take."""
    parts: tuple[tuple[str, Any, str], ...] = (
        ("copied", copying.Copy, "_commit"),
        ("tidied", copying.Copy, "tidy"),
        ("verified and compared", carrying, "_refuse_unequal"),
    )
    whole = {part: getattr(owner, name) for part, owner, name in parts}

    def watched(part: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            began = spent(of_server)
            answer = whole[part](*given)
            taken[part] = taken.get(part, 0.0) + spent(of_server) - began
            return answer

        return call

    for part, owner, name in parts:
        setattr(owner, name, watched(part))
    try:
        yield
    finally:
        for part, owner, name in parts:
            setattr(owner, name, whole[part])


def spent(of_server: Callable[[], float]) -> float:
    time.sleep(0.1)  # a session that ended is counted by its server once that has noticed
    return time.process_time() + of_server()


def ticks_below(pid: int) -> float:
    """Seconds that this process and all below it worked, those that ended included."""
    below, own = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(int(entry.name))
            own[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    found, todo = 0.0, [pid]
    while todo:
        at = todo.pop()
        found += own.get(at, 0.0)
        todo += below.get(at, [])
    return found


def write_documents(folder: Path, count: int) -> None:
    generator = np.random.default_rng(1)
    words = np.array([f"word{number}" for number in range(VOCABULARY)])
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    frequency /= frequency.sum()
    folder.mkdir()
    for number in range(count):
        chosen = generator.choice(words, size=(PER_DOCUMENT, WORDS), p=frequency)
        (folder / f"{number:06}.md").write_text("\n\n".join(" ".join(row) for row in chosen) + "\n", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
