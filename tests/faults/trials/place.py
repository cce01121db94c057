"""A place for trials: one index, and for each writer a configuration and a folder of its own over it.

1. Writers have other documents under the same names, so every apply of another writer changes everything.
2. Every chunk carries the mark of the writer and the round that it was written for: a mix of two states shows.
3. What a plan must lead to is worked out from the folder by the core's cutter, never asked of the index.
"""

from pathlib import Path

import steadlith
from steadlith_core.planning.wanted import SourceText, want
from steadlith_core.records import Content, DocumentId, Format

CONFIG = """
[sources.docs]
path = "docs-{writer}"
[chunking]
policy = "structural"
min_tokens = 16
max_tokens = 48
[embedding]
embedder = "hash"
dimensions = 32
batch_size = {batch_size}
concurrency = 2
"""

EVERYTHING = ("--allow-removals", "--allow-empty", "--allow-replaced-root")


def sentence(mark, name, part):
    """A paragraph too large to share a chunk with another one and too small to be cut."""
    return f"{mark} holds {name} part {part} " + "silver gamma under delta " * 5


def texts(mark, number, documents):
    """The documents of one round: most names are always there, one comes and goes."""
    names = [f"{name}.txt" for name in range(documents)] + [f"only-{number % 3}.txt"]
    return {name: "\n\n".join(sentence(mark, name, part) for part in range(2)) + "\n" for name in names}


class Place:
    """The folder `root`. Every call opens the index anew."""

    def __init__(self, root, *, documents=4, batch_size=3):
        self.root = Path(root)
        self._documents = documents
        self._batch_size = batch_size

    def settle(self, *writers):
        """Make the configurations of these writers."""
        for writer in writers:
            (self.root / f"docs-{writer}").mkdir(parents=True)
            text = CONFIG.format(writer=writer, batch_size=self._batch_size)
            (self.root / f"{writer}.toml").write_text(text, "utf-8")
        return self

    def write(self, writer, number):
        """Give a writer's folder the documents of one round, and nothing else."""
        wanted = texts(f"{writer}{number}", number, self._documents)
        folder = self.root / f"docs-{writer}"
        for old in folder.iterdir():
            if old.name not in wanted:
                old.unlink()
        for name, text in wanted.items():
            (folder / name).write_text(text, "utf-8")

    def open(self, writer="a"):
        """The index, as a writer's configuration has it."""
        return steadlith.open(self.root / f"{writer}.toml")

    def content(self, writer):
        """Every chunk that the writer's folder makes, as (path, text)."""
        cutter = self.open(writer)._assembly.cutter
        found = []
        for path in sorted((self.root / f"docs-{writer}").iterdir()):
            text = SourceText(DocumentId("docs", path.name), Format.TEXT, Content(path.read_bytes()))
            found += ((path.name, chunk.text.text) for chunk in want(cutter, text)[0].chunks)
        return sorted(found)

    def held(self, reader):
        """Every chunk that a snapshot holds, as (path, text)."""
        found = []
        for document in reader.documents():
            rows = reader.chunks(document.id)
            bodies = reader.texts([row.text_hash for row in rows])
            found += ((document.id.path, bodies[row.text_hash]) for row in rows)
        return sorted(found)
