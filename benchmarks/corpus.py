"""The documents: real ones where the bundles of the shared data are, else made up, and then the report says so."""

import gzip
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import histories
from places import CACHE, HISTORY, WORK

BUNDLES = {
    "fastapi-docs": "FastAPI's English documentation, Markdown",
    "peps-commits": "Python Enhancement Proposals, reStructuredText",
}
MANUALS = ("manpages-ja", "manpages-zh")
CJK = ("fastapi-docs-ja", "fastapi-docs-zh")
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
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--branch", "replay", bundle, folder], check=True)
    return folder


def latest(name: str) -> Corpus | None:
    """The last snapshot of a bundle."""
    cloned, folder = clone(name), WORK / "corpora" / name
    if cloned is None:
        return None
    if not folder.exists():
        shutil.copytree(cloned, folder, ignore=shutil.ignore_patterns(".git"))
    return Corpus(name, BUNDLES.get(name, name), folder)


def english(*, quick: bool) -> Corpus | None:
    """Both English corpora as one; a quick run takes the smaller alone."""
    found = [one for name in list(BUNDLES)[: 1 if quick else None] if (one := latest(name))]
    if not found:
        return None
    folder = WORK / "corpora" / "english"
    for one in found:
        shutil.copytree(one.folder, folder / one.name, dirs_exist_ok=True)
    return Corpus("english", " and ".join(one.what for one in found), folder)


def cjk(*, quick: bool) -> Corpus | None:
    """Every version of the Japanese and Chinese documents in any snapshot as a document of its own."""
    folder = WORK / "corpora" / "cjk"
    for name in CJK[: 1 if quick else None]:
        cloned = clone(name)
        if cloned is None:
            return None
        for path, content in histories.snapshots(cloned).items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return Corpus("cjk", "FastAPI's Japanese and Chinese documentation, every version of 15 snapshots", folder)


def manuals(*, quick: bool) -> Corpus | None:
    """Debian's Chinese and Japanese manual pages as plain text, where Debian's packages can be had."""
    if quick or not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    packages, folder = CACHE / "debian", WORK / "corpora" / "manuals"
    packages.mkdir(parents=True, exist_ok=True)
    for name in MANUALS:
        if not list(packages.glob(f"{name}_*.deb")):
            done = subprocess.run(["apt-get", "download", name], cwd=packages, check=False, capture_output=True)
            if done.returncode:
                print(f"  left out: {name} cannot be downloaded")
                return None
        (package,) = packages.glob(f"{name}_*.deb")
        (WORK / "unpacked").mkdir(exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", package, WORK / "unpacked" / name], check=True)
        for number, page in enumerate(sorted((WORK / "unpacked" / name).rglob("*.gz"))):
            if page.is_symlink():
                continue
            place = folder / name / f"{page.stem}.{number}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            content = gzip.decompress(page.read_bytes())
            try:
                content.decode()
            except UnicodeDecodeError:  # a few pages are in an older encoding
                continue
            place.write_bytes(content)
    return Corpus("cjk-manuals", "Debian's Chinese and Japanese manual pages as plain text", folder)


def corpora(*, quick: bool) -> list[Corpus]:
    """The corpora that are here, the smaller first."""
    found: list[Corpus] = []
    for name in BUNDLES:
        if quick and found:
            break
        if one := latest(name):
            found.append(one)
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
