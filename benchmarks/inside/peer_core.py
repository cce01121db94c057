"""The same as ours_core.py by steadlith 1.0.1. Runs in the peer's environment only, in a folder with a configuration.

Usage: peer_core.py files FOLDER | peak FOLDER | documents FILE.json
"""

import json
import sys
import time
from pathlib import Path
from statistics import median

from steadlith.content.manifest import manifest_from_chunks
from steadlith.index.service import build_target_manifest, prepare_index

from steadlith import CDCChunker, CDCParams
from steadlith.config import load_config

CHUNKER = CDCChunker(CDCParams())


def files(_folder: str) -> dict[str, object]:
    """Every source of the project: its core alone, and then its whole plan."""
    config = load_config("steadlith.toml")
    warm()
    wall, cpu = time.perf_counter(), time.process_time()
    manifest, built = build_target_manifest(config)
    shown = manifest.root_hash
    core_cpu, core_wall = time.process_time() - cpu, time.perf_counter() - wall
    chunks, documents = sum(len(one.chunks) for one in built.values()), len(built)
    del manifest, built
    cpu = time.process_time()
    prepare_index(config)
    return {
        "cpu": core_cpu,
        "wall": core_wall,
        "plan": time.process_time() - cpu,
        "chunks": chunks,
        "documents": documents,
        "root": shown,
    }


def warm() -> None:
    """Cut next to nothing, so that what is imported on first use is there: imports are not measured."""
    chunks = tuple(CHUNKER.split("A word. \u8a9e\u3002 e\u0301", {"path": "a.md"}))
    assert manifest_from_chunks("a.md", chunks, metadata={}).root_hash


def peak(_folder: str) -> dict[str, object]:
    """The core alone: who called looks at this process's memory."""
    manifest, _ = build_target_manifest(load_config("steadlith.toml"))
    return {"root": manifest.root_hash}


def documents(file: str) -> dict[str, object]:
    """One document at a time: median seconds by size."""
    found = {}
    for size, texts in json.loads(Path(file).read_text("utf-8")).items():
        contents = [text.encode() for text in texts]
        found[size] = median(_seconds(content) for _ in range(3) for content in contents)
    return found


def _seconds(content: bytes) -> float:
    start = time.process_time()
    chunks = CHUNKER.split(content.decode(), {"path": "document.md"})
    manifest_from_chunks("document.md", tuple(chunks), metadata={}).root_hash  # noqa: B018
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps({"files": files, "peak": peak, "documents": documents}[sys.argv[1]](sys.argv[2])))
