"""Documents as large as a benchmark wants them, out of sentences that authors wrote. The same in every environment.

1. A document is sections of a heading and one paragraph, so that a policy that respects headings makes chunks of them.
2. What stands in a section depends on its document's number and its place alone; every section is another one.
3. A vector is a cheap function of the text, unit length, the same for all who are measured; how long it took is told.

Usage: generated.py sentences FOLDER SENTENCES.json          gathers the plain sentences of the texts below FOLDER
       generated.py write SENTENCES.json FOLDER DOCUMENTS    writes documents below FOLDER
"""

import hashlib
import json
import math
import re
import struct
import sys
import time
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random

SECTIONS = 20
LEAST, MOST = 1050, 1500
"""Bytes of a section's paragraph, about; chunks have 1,400 then."""
FOLDER = 1000
PLACES = 2
"""Chunks of a document that an edit rewords."""
DIMENSIONS = 384
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
PLAIN = re.compile(r"[A-Z][\w ,;:()'\"-]{40,240}[.!?]")
SECTION = re.compile(r"\n(?=#)")
WORD = re.compile(r"(?<= )[a-z]{5,}(?= )")


def sentences(folder: Path) -> list[str]:
    """Every plain sentence of the texts below a folder, once, in order."""
    found: dict[str, None] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".md", ".rst", ".txt"} and path.is_file():
            for paragraph in path.read_text("utf-8", "replace").split("\n\n"):
                for sentence in SENTENCE.split(" ".join(paragraph.split())):
                    if sentence.isascii() and PLAIN.fullmatch(sentence):
                        found[sentence] = None
    return list(found)


class Library:
    """Documents by number, out of the sentences of a file that `sentences` made."""

    def __init__(self, place: Path) -> None:
        self.sentences: list[str] = json.loads(place.read_text("utf-8"))

    @cached_property
    def _titles(self) -> list[str]:
        return [" ".join(sentence.split()[:5]).strip(" ,.;:()'\"-") for sentence in self.sentences]

    def sections(self, number: int) -> list[str]:
        """The sections of a document."""
        draw = Random(number)
        return [self._section(draw, number, place) for place in range(SECTIONS)]

    def _section(self, draw: Random, number: int, place: int) -> str:
        wanted = draw.randint(LEAST, MOST)
        # A sentence has 41 bytes at least, so these are always enough.
        drawn = draw.choices(self.sentences, k=wanted // 41 + 1)
        sizes = accumulate(len(sentence) + 1 for sentence in drawn)
        many = next(count for count, size in enumerate(sizes, 1) if size >= wanted)
        title = draw.choice(self._titles)
        return f"{'#' if place == 0 else '##'} {title}\n\nItem {number}-{place}. {' '.join(drawn[:many])}\n"


def document(sections: list[str]) -> str:
    """The text of a document."""
    return "\n".join(sections)


def path(number: int) -> str:
    """Where a document lies."""
    return f"{number // FOLDER:04}/{number % FOLDER:03}.md"


def chosen(documents: int, chunks: int, round_: int) -> list[int]:
    """Which documents an edit of so many chunks is in, spread over all of them; other ones in the next round."""
    count = max(1, min(chunks // PLACES, documents))
    return [(round_ + each * documents // count) % documents for each in range(count)]


def edited(number: int, sections: list[str], round_: int, places: int) -> list[str]:
    """The sections of a document with another word in `places` of them, spread over it."""
    places_ = {(number + step * (SECTIONS // places)) % SECTIONS for step in range(places)}
    return [_reworded(text, round_) if place in places_ else text for place, text in enumerate(sections)]


def _reworded(section: str, round_: int) -> str:
    words = list(WORD.finditer(section))
    word = words[(len(words) // 2 + round_) % len(words)]
    return f"{section[: word.start()]}replaced{round_}{section[word.end() :]}"


class Embedding:
    """A direction for each text that is this text's own; how many were made, and how long that took."""

    def __init__(self) -> None:
        self.texts = 0
        self.seconds = 0.0

    def __call__(self, texts: Iterable[str]) -> list[list[float]]:
        start = time.perf_counter()
        made = [vector(text) for text in texts]
        self.texts += len(made)
        self.seconds += time.perf_counter() - start
        return made


def vector(text: str) -> list[float]:
    """One of them."""
    whole = hashlib.shake_256(text.encode()).digest(DIMENSIONS)
    row = struct.unpack(f"{DIMENSIONS}b", whole)
    length = math.sqrt(sum(value * value for value in row))
    return [value / length for value in row]


def write(library: Library, folder: Path, documents: int) -> int:
    """Write documents below a folder; how many bytes they have."""
    size = 0
    for number in range(documents):
        place = folder / path(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        size += place.write_bytes(document(library.sections(number)).encode())
    return size


def edit(folder: Path, documents: int, chunks: int, round_: int) -> int:
    """Reword chunks of documents as they are below a folder, two a document where there are two; in how many."""
    numbers = chosen(documents, chunks, round_)
    for number in numbers:
        place = folder / path(number)
        sections = SECTION.split(place.read_text("utf-8"))
        place.write_bytes(document(edited(number, sections, round_, min(PLACES, chunks))).encode())
    return len(numbers)


def gather(folder: Path, place: Path) -> int:
    """Keep the sentences of a folder as a file for `Library`; how many there are."""
    found = sentences(folder)
    place.write_text(json.dumps(found), "utf-8")
    return len(found)


if __name__ == "__main__":
    what, first, second, *rest = sys.argv[1:]
    if what == "sentences":
        print(gather(Path(first), Path(second)))
    else:
        print(write(Library(Path(first)), Path(second), int(rest[0])))
