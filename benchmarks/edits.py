"""Edits of documents, the same for both contenders, and undone without a trace: bytes and times are put back."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SENTENCE = "This sentence was added by an edit, and nothing else changed here."
WORD = re.compile(r"(?<= )[a-z]{5,}(?= )")


@contextmanager
def many(docs: Path, documents: Sequence[Path], how_many: int) -> Iterator[None]:
    """A sentence added in the middle of documents spread over the corpus."""
    step = max(1, len(documents) // how_many)
    chosen = [docs / path for path in documents[::step][:how_many]]
    before = [(path, path.read_bytes(), path.stat()) for path in chosen]
    for path, content, _ in before:
        text = content.decode()
        at = text.find("\n\n", len(text) // 2)
        at = len(text.rstrip()) if at < 0 else at
        path.write_bytes(f"{text[:at]}\n{SENTENCE}{text[at:]}".encode())
    yield
    for path, content, status in before:
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def one_word(docs: Path, documents: Sequence[Path], number: int) -> None:
    """Another word in the middle of the document of median size; a different one for every number."""
    path = sorted((docs / path for path in documents), key=lambda path: (path.stat().st_size, path))[
        len(documents) // 2
    ]
    text = path.read_bytes().decode()
    words = list(WORD.finditer(text))
    word = words[len(words) // 2 + number]
    path.write_bytes(f"{text[: word.start()]}replaced{text[word.end() :]}".encode())


def queries(docs: Path, documents: Sequence[Path], how_many: int) -> list[str]:
    """Four words in a row from documents spread over the corpus."""
    found = []
    for path in documents[:: max(1, len(documents) // how_many)]:
        words = re.findall(r"[A-Za-z]{4,}", (docs / path).read_text("utf-8"))
        if len(words) > 8:
            found.append(" ".join(words[len(words) // 2 :][:4]))
    return found[:how_many]
