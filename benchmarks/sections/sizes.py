"""Sizes that are promised, and blocks that should stay whole, on every document that is here."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import corpus
from contenders import DEFAULT_SIZES, OURS
from places import WORK
from process import answer
from tables import ABSENT, Verdict, percent, table

NAMES = (*corpus.BUNDLES, *corpus.CJK)
SIZES = DEFAULT_SIZES
BAR = 0.02


def measure(*, quick: bool) -> Any:
    """Every corpus at the default sizes."""
    found = []
    for name in NAMES[: 1 if quick else None]:
        print(f"  {name}", flush=True)
        if one := corpus.latest(name):
            asked = [OURS.python, OURS.inside("blocks"), one.folder, *map(str, SIZES)]
            found.append({"name": name} | answer(asked, WORK))
    return found or None


def verdicts(data: Any) -> Iterable[Verdict]:
    total: Counter[str] = Counter()
    for each in data:
        total.update({key: value for key, value in each.items() if isinstance(value, int)})
        total.update(fitting=sum(each["fitting"].values()), cut=sum(each["cut"].values()))
    for what, limit in (("over", "over the maximum"), ("under", "under the minimum, document over the maximum")):
        count = total[f"{what}, unexplained"]
        yield Verdict(f"chunks {limit}", "none", f"{count} of {total['chunks']:,}", count == 0)
    share = total["cut"] / total["fitting"]
    said = f"{percent(share)} ({total['cut']} of {total['fitting']:,})"
    yield Verdict("atomic blocks cut though they fit", f"under {BAR:.0%}", said, share < BAR)


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        f"The last snapshot of every corpus at {SIZES[0]} to {SIZES[1]} tokens. Sizes are the chunker's own estimate "
        "of the span; documents with a finding `unsplittable` are left out of both counts. Blocks are those that "
        "others read: fences, tables and HTML blocks by markdown-it-py, literal blocks by docutils (found again in "
        "the source by their lines), tables of reStructuredText outside of those by their borders. A block counts if "
        "it is within the maximum by itself, and as cut if a chunk begins strictly inside it."
    )
    rows = [
        (
            each["name"],
            f"{each['documents']:,}",
            f"{each['chunks']:,}",
            str(each["over, unexplained"]),
            str(each["under, unexplained"]),
            str(each["over the cap"]),
            str(each["unsplittable"]),
        )
        for each in data
    ]
    yield table(("corpus", "documents", "chunks", "over", "under", "over the byte cap", "unsplittable runs"), rows)
    rows = [
        (each["name"], kind, f"{count:,}", str(each["cut"].get(kind, 0)), percent(each["cut"].get(kind, 0) / count))
        for each in data
        for kind, count in sorted(each["fitting"].items())
    ]
    yield table(("corpus", "block", "within the maximum", "cut", "share"), rows)
    examples = [f"`{each['name']}/{line.replace(' ', '` ', 1)}" for each in data for line in each["examples"][:5]]
    if examples:
        yield "Some that were cut: " + "; ".join(examples) + "."
