"""The cold core: documents in, roots out, nothing opened, nothing written. `cold` is the only way in.

Usage: ours_core.py files FOLDER | peak FOLDER | documents FILE.json | twice FOLDER
"""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import NamedTuple

from steadlith_adapters.sources.filesystem.formats import Formats
from steadlith_core.chunking.structural import FACTORY
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId, Format, Recipe
from steadlith_core.state import identity
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key, trie_root
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import NORMALIZER_ID, CanonicalText, canonicalise

CHUNKER = FACTORY.build({})
FORMATS = Formats()
RECIPE = Recipe(
    NORMALIZER_ID, CHUNKER.id, identity.params_hash(CHUNKER.params), hash_fields("content", {}), "none", "none", ()
)
NAME = hasher("chunk", IDENTITY_SCHEMA, RECIPE.normalizer_id, RECIPE.chunker_id, RECIPE.chunker_params_hash)
WORKERS = 2
CUT_TOGETHER = 1 << 22
"""As the engine does: bytes read after which they are cut."""


class Core(NamedTuple):
    """What the core says of documents: a row for the trie and a digest of its bytes for each, and their chunks."""

    rows: list[tuple[Digest, Digest]]
    digests: list[Digest]
    chunks: int
    size: int


def cold(documents: Iterable[tuple[str, bytes]], format_of: Callable[[str], Format] = FORMATS.of) -> Core:
    """Normalise, chunk, hash, and the root of every document, from (path, bytes)."""
    core = Core([], [], 0, 0)
    stretch: list[tuple[str, bytes]] = []
    size = 0
    for path, content in documents:
        stretch.append((path, content))
        size += len(content)
        if size > CUT_TOGETHER:
            core = _add(core, stretch, format_of)
            stretch, size = [], 0
    return _add(core, stretch, format_of)


def _add(core: Core, documents: list[tuple[str, bytes]], format_of: Callable[[str], Format]) -> Core:
    texts: defaultdict[Format, list[tuple[str, CanonicalText, frontmatter.FrontMatter]]] = defaultdict(list)
    for path, content in documents:
        how = format_of(path)
        text = canonicalise(content)
        front = frontmatter.read(text, how, ())
        texts[how].append((path, replace(text, body=front.end), front))
        core.digests.append(identity.source_digest(content))
    chunks = 0
    for how, rows in texts.items():
        at = 0
        for cuts in CHUNKER.cut_many([text for _, text, _ in rows], how):
            for index in range(len(cuts)):
                path, _, front = rows[at]
                metadata = {"title": front.title or cuts.title(index), "format": str(how)}
                hashes = [NAME(content) for content in cuts.contents(index)]
                core.rows.append((document_key(DocumentId("docs", path)), document_root(hashes, metadata)))
                chunks += len(hashes)
                at += 1
    return core._replace(chunks=core.chunks + chunks, size=core.size + sum(len(content) for _, content in documents))


def root(rows: list[tuple[Digest, Digest]]) -> Digest:
    """The root of a corpus."""
    return corpus_root(len(rows), trie_root(rows))


def reading(paths: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    """Documents as they are read, one at a time."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 -- a path object costs as much as the reading
            yield path, file.readall()


def listed(folder: str) -> list[str]:
    """All files below a folder, in order."""
    return sorted(os.path.join(above, name) for above, _, names in os.walk(folder) for name in names)  # noqa: PTH118


def warm() -> None:
    """Cut next to nothing, so that what is imported on first use is there: imports are not measured."""
    word = "Title\n=====\n\nA word. \u8a9e\u3002 e\u0301\n".encode()
    cold((f"{name}.{suffix}", word) for name in ("a", "b") for suffix in ("md", "rst", "txt"))


def files(folder: str, format_of: Callable[[str], Format] = FORMATS.of) -> dict[str, object]:
    """Every file of a folder, once."""
    warm()
    wall, cpu = time.perf_counter(), time.process_time()
    core = cold(reading(listed(folder)), format_of)
    shown = str(root(core.rows))
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "chunks": core.chunks,
        "bytes": core.size,
        "documents": len(core.rows),
        "root": shown,
    }


def plain(folder: str) -> dict[str, object]:
    """Every file of a folder, once, as if it were plain text."""
    return files(folder, lambda _path: Format.TEXT)


def work(paths: list[str]) -> Core:
    """One worker's share."""
    return cold(reading(paths))


def ready(all_ready: Barrier) -> None:
    """A worker's start, over when all have started."""
    warm()
    all_ready.wait()


def twice(folder: str) -> dict[str, object]:
    """The same by two processes that are there already: paths go in, packed rows come out."""
    start = time.perf_counter()
    context = get_context("forkserver")
    all_ready = context.Barrier(WORKERS + 1)
    with ProcessPoolExecutor(WORKERS, context, ready, (all_ready,)) as pool:
        begun = [pool.submit(work, []) for _ in range(WORKERS)]
        all_ready.wait()
        for each in begun:
            each.result()
        started = time.perf_counter()
        shares: list[list[str]] = [[] for _ in range(WORKERS)]
        sizes = [0] * WORKERS
        for size, path in sorted(((Path(path).stat().st_size, path) for path in listed(folder)), reverse=True):
            least = sizes.index(min(sizes))
            shares[least].append(path)
            sizes[least] += size
        cores = list(pool.map(work, shares))
        shown = str(root([row for core in cores for row in core.rows]))
        wall = time.perf_counter() - started
    return {"wall": wall, "start": started - start, "root": shown}


def documents(file: str) -> dict[str, object]:
    """One document at a time: median seconds by size."""
    found = {}
    for size, texts in json.loads(Path(file).read_text("utf-8")).items():
        contents = [text.encode() for text in texts]
        found[size] = median(_seconds(content) for _ in range(3) for content in contents)
    return found


def _seconds(content: bytes) -> float:
    start = time.process_time()
    cold((("document.md", content),))
    return time.process_time() - start


if __name__ == "__main__":
    ways = {"files": files, "plain": plain, "peak": files, "documents": documents, "twice": twice}
    print(json.dumps(ways[sys.argv[1]](sys.argv[2])))
