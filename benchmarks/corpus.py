"""The documents: real ones where the bundles of the shared data are, else made up, and then the report says so."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from places import HISTORY, WORK

BUNDLES = {
    "fastapi-docs": "FastAPI's English documentation, Markdown",
    "peps-commits": "Python Enhancement Proposals, reStructuredText",
}
SYNTHETIC_DOCUMENTS = 300
SYNTHETIC_BYTES = 12_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of documents, never changed itself."""

    name: str
    what: str
    folder: Path

    @property
    def documents(self) -> list[Path]:
        """Paths relative to the folder, in order."""
        return sorted(path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())

    @property
    def size(self) -> int:
        return sum((self.folder / path).stat().st_size for path in self.documents)


def clone(name: str) -> Path | None:
    """A clone of a bundle at its last snapshot, or nothing if the data is not here."""
    bundle, folder = HISTORY / f"{name}.bundle", WORK / "clones" / name
    if not bundle.exists():
        return None
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--branch", "replay", bundle, folder], check=True)
    return folder


def corpora(*, quick: bool) -> list[Corpus]:
    """The corpora that are here, the smaller first."""
    found: list[Corpus] = []
    for name, what in BUNDLES.items():
        if quick and found:
            break
        cloned = clone(name)
        if cloned:
            folder = WORK / "corpora" / name
            shutil.copytree(cloned, folder, ignore=shutil.ignore_patterns(".git"))
            found.append(Corpus(name, what, folder))
    return found or [_synthetic()]


def _synthetic() -> Corpus:
    print(f"No bundles in ../shared/data/history: measuring {SYNTHETIC_DOCUMENTS} synthetic documents instead.")
    folder = WORK / "corpora" / "synthetic"
    folder.mkdir(parents=True)
    for number in range(SYNTHETIC_DOCUMENTS):
        (folder / f"{number:04}.md").write_text(markdown(SYNTHETIC_BYTES, seed=number), "utf-8")
    return Corpus("synthetic", "made up by the script, Markdown (the real data was absent)", folder)


def markdown(size: int, seed: int) -> str:
    """At least `size` bytes of ASCII Markdown; the same for the same seed."""
    parts, total = [], 0
    for part in _blocks(Random(seed)):
        parts.append(part)
        total += len(part)
        if total >= size:
            return "".join(parts)
    raise AssertionError


def _blocks(random: Random) -> Iterator[str]:
    syllables = [first + last for first in "bdfgklmnprstv" for last in ("a", "e", "i", "o", "u", "an", "er", "ou")]
    words = ["".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(20_000)]

    def sentence() -> str:
        return " ".join(random.choices(words, k=random.randint(6, 22))).capitalize() + "."

    for number in count():
        if number % 8 == 0:
            yield f"{'#' * random.randint(1, 4)} {sentence()}\n\n"
        elif number % 11 == 0:
            yield "```text\n" + "\n".join(sentence() for _ in range(6)) + "\n```\n\n"
        elif number % 13 == 0:
            yield "".join(f"- {sentence()}\n" for _ in range(5)) + "\n"
        else:
            yield " ".join(sentence() for _ in range(random.randint(2, 7))) + "\n\n"
