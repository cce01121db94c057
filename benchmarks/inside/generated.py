"""Documents as large as a benchmark wants them, out of sentences that authors wrote. The same in every environment.

1. A document is sections of a heading and one paragraph, so that a policy that respects headings makes chunks of them.
2. What stands in a section depends on its document's number and its place alone; every section is another one.
3. A vector is a cheap function of the text, unit length, the same for all who are measured.

Usage: generated.py SENTENCES.json FOLDER DOCUMENTS writes them below FOLDER and prints their number and bytes.
"""

import hashlib
import json
import math
import re
import struct
import sys
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random

SECTIONS = 20
LEAST, MOST = 1050, 1500
"""Bytes of a section's paragraph, about; chunks have 1,400 then."""
FOLDER = 1000
DIMENSIONS = 384
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
PLAIN = re.compile(r"[A-Z][\w ,;:()'\"-]{40,240}[.!?]")
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


def reworded(section: str, round_: int) -> str:
    """A section with another word in its middle; a different one for every round."""
    words = list(WORD.finditer(section))
    word = words[(len(words) // 2 + round_) % len(words)]
    return f"{section[: word.start()]}replaced{round_}{section[word.end() :]}"


def edited(number: int, sections: list[str], round_: int, places: int) -> list[str]:
    """The sections of a document with another word in `places` of them, spread over it."""
    chosen = {(number + step * (SECTIONS // places)) % SECTIONS for step in range(places)}
    return [reworded(text, round_) if place in chosen else text for place, text in enumerate(sections)]


def vector(text: str) -> list[float]:
    """A direction that is this text's own."""
    whole = hashlib.shake_256(text.encode()).digest(DIMENSIONS)
    row = struct.unpack(f"{DIMENSIONS}b", whole)
    length = math.sqrt(sum(value * value for value in row))
    return [value / length for value in row]


def packed(text: str) -> bytes:
    """The same as little-endian float32."""
    return struct.pack(f"<{DIMENSIONS}f", *vector(text))


def write(library: Library, folder: Path, numbers: range) -> Iterator[int]:
    """Write documents below a folder; the bytes of each."""
    for number in numbers:
        place = folder / path(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        yield place.write_bytes(document(library.sections(number)).encode())


if __name__ == "__main__":
    count = int(sys.argv[3])
    size = sum(write(Library(Path(sys.argv[1])), Path(sys.argv[2]), range(count)))
    print(json.dumps({"documents": count, "bytes": size}))
