"""One document at a time through the Python API: what a caller pays who has a text and wants its chunks and root."""

import json
from collections.abc import Iterable
from typing import Any

import corpus
from contenders import BOTH, OURS, PEER
from places import WORK
from process import answer, middle
from tables import ABSENT, Verdict, table

SIZES = (2_000, 6_000, 20_000, 50_000, 200_000)
EACH = 20
ROUNDS = 3
CORE = 0
FASTER = 5
FROM = 50_000


def measure(*, quick: bool) -> Any:
    """Texts out of the English documents, cut at line ends to each size; the same for both."""
    found = corpus.english(quick=quick)
    if found is None:
        return None
    rows = b"".join((found.folder / path).read_bytes() for path in found.documents).decode().splitlines(keepends=True)
    texts = {size: list(_slices(rows, size)) for size in SIZES}
    place = WORK / "single.json"
    place.write_text(json.dumps(texts), "utf-8")
    rounds: dict[str, list[dict[str, float]]] = {one.name: [] for one in BOTH}
    for number in range(2 if quick else ROUNDS):
        print(f"  round {number + 1}", flush=True)
        for one in BOTH:
            rounds[one.name].append(answer([one.python, one.inside("core"), "documents", place], WORK, core=CORE))
    return {"texts": {str(size): len(each) for size, each in texts.items()}} | {
        name: middle(each) for name, each in rounds.items()
    }


def _slices(rows: list[str], size: int) -> Iterable[str]:
    """`EACH` texts of about `size` bytes from all over, none overlapping."""
    total = sum(map(len, rows))
    count = max(1, min(EACH, total // size))
    gap = max(0, total // count - size)
    text, length, skip = [], 0, 0
    for row in rows:
        if skip > 0:
            skip -= len(row)
            continue
        text.append(row)
        length += len(row.encode())
        if length >= size:
            yield "".join(text)
            text, length, skip = [], 0, gap


def verdicts(data: Any) -> Iterable[Verdict]:
    ratios = {size: data[PEER.name][str(size)] / data[OURS.name][str(size)] for size in SIZES}
    yield Verdict("one document of 6 KB", "no slower than the peer", f"{ratios[6_000]:.1f} times", ratios[6_000] >= 1)
    for size in SIZES:
        if size >= FROM:
            said = f"{ratios[size]:.1f} times"
            yield Verdict(
                f"one document of {size // 1000} KB", f"at least {FASTER} times faster", said, ratios[size] >= FASTER
            )


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        f"Median CPU time in process of bytes to chunks to document root, on one core; up to {EACH} texts a size out "
        "of the English documents, three times each in a process, the median of processes in turns. Ours also digests "
        "the bytes, reads front matter and makes the document's key; the peer's is its chunker and its document "
        "manifest with its root."
    )
    rows = [
        (
            f"{size // 1000} KB",
            f"{data['texts'][str(size)]}",
            f"{data[OURS.name][str(size)] * 1e6:,.0f} us",
            f"{data[PEER.name][str(size)] * 1e6:,.0f} us",
            f"{data[PEER.name][str(size)] / data[OURS.name][str(size)]:.1f}",
        )
        for size in SIZES
    ]
    yield table(("document", "texts", "ours", "peer", "times faster"), rows)
