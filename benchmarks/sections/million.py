"""A million documents: what a plan costs when almost nothing changed."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from contenders import OURS
from places import INSIDE, ROOT
from process import answer, medians, run
from tables import Verdict, mb, table

ROUNDS = 5
CHANGED = 100
SECTIONS = 5
FOLDER = 1000
VARIANTS = 1000
LOTS = 10

CONFIG = """\
[sources.docs]
path = "docs"

[chunking]
min_tokens = 16
max_tokens = 48

[embedding]
embedder = "hash"
dimensions = 8
batch_size = 4096
"""
SYLLABLES = (("ba", "co", "du", "fe", "gi", "lo", "mu", "na"), ("ker", "lint", "mor"))
WORDS = ["".join(parts) for parts in product(*SYLLABLES)]


def measure(*, quick: bool) -> Any:
    """Applied in lots, as a corpus of this size is; then plans."""
    count = 20_000 if quick else 1_000_000
    place = OURS.project("million")
    (place / "steadlith.toml").write_text(CONFIG, "utf-8")
    per_lot, loading = count // LOTS, []
    for lot in range(LOTS):
        _generate(place / "docs", range(lot * per_lot, (lot + 1) * per_lot))
        used, _ = run([OURS.program, "apply", "--yes", "--allow-large-plan"], place)
        loading.append(used)
        print(f"  lot {lot + 1} of {LOTS}: {used['wall']:.0f} s, {mb(used['memory'])}", flush=True)
    run([OURS.program, "apply", "--yes"], place)
    bare = medians(run([OURS.python, "-c", "pass"], ROOT)[0] for _ in range(ROUNDS))
    walks = [answer([OURS.python, INSIDE / "bare_walk.py", place / "docs"], place) for _ in range(ROUNDS)]
    unchanged = medians(run([OURS.program, "plan"], place)[0] for _ in range(ROUNDS))
    chosen = [_path(place / "docs", number) for number in range(0, count, count // CHANGED)]
    for path in chosen:
        path.write_text(path.read_text("utf-8").replace("alpha", "omega", 1), "utf-8")
    edited = medians(run([OURS.program, "plan", "--no-steps"], place)[0] for _ in range(ROUNDS))
    trie = answer([OURS.python, INSIDE / "ours_trie.py", str(CHANGED)], place)
    return {
        "documents": walks[0]["files"],
        "bare": bare,
        "walk": sorted(each["seconds"] for each in walks)[ROUNDS // 2],
        "unchanged": unchanged,
        "edited": edited,
        "trie": trie,
        "loading": loading,
        "disk": sum(path.stat().st_size for path in (place / ".steadlith").iterdir()),
        "fingerprints": sum(path.stat().st_size for path in (place / ".steadlith").glob("*.fingerprints")),
        "bytes": chosen[0].stat().st_size,
    }


def _path(docs: Path, number: int) -> Path:
    return docs / f"{number // FOLDER:04}" / f"{number % FOLDER:03}.md"


def _generate(docs: Path, numbers: Iterable[int]) -> None:
    """One section of each document is its own, the others are one of `VARIANTS`, as boilerplate is."""
    shared = [
        "".join(
            f"## Part {section}\n\n{_words(Random(variant * SECTIONS + section))}.\n\n"
            for section in range(1, SECTIONS)
        )
        for variant in range(VARIANTS)
    ]
    for number in numbers:
        path = _path(docs, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = f"# Document {number}\n\nalpha {_words(Random(-number - 1))} {number}.\n\n"
        path.write_text(own + shared[number % VARIANTS], "utf-8")


def _words(draw: Random) -> str:
    return " ".join(draw.choices(WORDS, k=18))


def verdicts(data: Any) -> Iterable[Verdict]:
    bare, edited = data["bare"], data["edited"]
    times = (data["unchanged"]["wall"] - bare["wall"]) / data["walk"]
    yield Verdict("plan, nothing changed", "under 3 times a bare walk with stat", f"{times:.1f} times", times < 3)
    memory = edited["memory"] - bare["memory"]
    what = f"plan, {CHANGED} documents changed"
    yield Verdict(what, "under 300 MB beyond a bare interpreter", mb(memory), memory < 300e6)
    took = data["trie"]["milliseconds"]
    yield Verdict(f"moving the trie by {CHANGED} documents", "under 50 ms", f"{took:.0f} ms", took < 50)


def render(data: Any) -> Iterable[str]:
    yield (
        f"{data['documents']:,} generated documents of {SECTIONS} chunks, about {data['bytes']} bytes each, in folders "
        f"of {FOLDER:,}. The texts are small and four of five chunks shared, so that the index fits a test machine. "
        f"Applied in {LOTS} lots, and once more without changes. The index takes {mb(data['disk'])}, of it the "
        f"fingerprint file {mb(data['fingerprints'])}. {ROUNDS} runs each."
    )
    rows = [("a bare walk that stats every file", f"{data['walk']:.2f} s", "", "")]
    for name, key in (("plan, nothing changed", "unchanged"), (f"plan, {CHANGED} documents changed", "edited")):
        used, bare = data[key], data["bare"]
        beyond = (used["wall"] - bare["wall"], used["cpu"], used["memory"] - bare["memory"])
        rows.append((name, f"{beyond[0]:.2f} s", f"{beyond[1]:.2f} s", mb(beyond[2])))
    yield table(("", "wall beyond bare", "CPU", "memory beyond bare"), rows)
    trie, loading = data["trie"], data["loading"]
    yield (
        f"Moving the trie by {trie['changes']} documents: {trie['milliseconds']:.1f} ms, {trie['nodes']} nodes put. "
        f"Loading: {loading[0]['wall']:.0f} s for the first lot, {loading[-1]['wall']:.0f} s for the last."
    )
