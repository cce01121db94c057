"""Distance to the floor: what an edit costs, against a chunker that may remember where it cut before.

1. For every commit and every document that it changed: the old version is cut by `structural`; its cuts are carried
   over to the new version wherever their line is unchanged (difflib over lines, equal ends first).
2. A carried piece under the minimum joins a neighbour: one that is new anyway, else the smaller; a piece over the
   maximum is cut by `structural` as if it were a document; a document within the maximum is one piece.
3. The cost is the tokens of pieces whose text the old version did not have. A remembering chunker is no candidate: two
   machines with the same text and different histories would disagree.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import histories
from contenders import DEFAULT_SIZES, OURS
from corpus import clone
from places import ROOT, WORK
from process import answer
from tables import ABSENT, Verdict, table

SIZES = (DEFAULT_SIZES, (360, 960))
BAR, BEYOND = 0.05, 0.03


def measure(*, quick: bool) -> Any:
    """Both histories at the default sizes and at larger ones."""
    found = [(name, folder) for name in histories.NAMES[: 1 if quick else None] if (folder := clone(name))]
    return [_history(name, folder, quick=quick) for name, folder in found] or None


def _history(name: str, folder: Path, *, quick: bool) -> Any:
    place = WORK / f"{name}-changes.jsonl"
    with place.open("w", encoding="utf-8") as out:
        for change in histories.changes(folder, histories.commits(folder, quick=quick)):
            out.write(json.dumps([change.path, change.old.decode(), change.new.decode()]) + "\n")
    rows = []
    for least, most in SIZES:
        print(f"  {name}: {least} to {most}", flush=True)
        found = answer([OURS.python, OURS.inside("floor"), place, str(least), str(most)], ROOT)
        rows.append({"sizes": [least, most]} | found)
    place.unlink()
    return {"history": name, "rows": rows}


def verdicts(data: Any) -> Iterable[Verdict]:
    for number, sizes in enumerate(SIZES):
        rows = [(f"`{each['history']}`", [each["rows"][number]]) for each in data]
        if len(data) > 1:
            rows.append(("both histories", [each["rows"][number] for each in data]))
        for name, of in rows:
            apart = sum(row["structural"] for row in of) / sum(row["frozen"] for row in of) - 1
            yield Verdict(
                f"distance to the floor, {name}, {sizes[0]} to {sizes[1]}",
                f"within {BAR:.0%} of the tokens (beyond: {BEYOND:.0%})",
                f"{apart:+.1%}",
                apart <= BAR,
                apart <= BEYOND,
            )


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        "For every commit and every document that it changed: tokens of the new version's chunks that the old version "
        "did not have, as `structural` cuts it and with the old cuts *frozen*. Frozen cuts are those of the old "
        "version, carried over where their line is unchanged; a piece that fell under the minimum joins a neighbour "
        "(one that is new anyway, else the smaller), one that grew over the maximum is cut by `structural` as if it "
        "were a document. Such a chunker is no candidate, since two machines with the same text and different "
        "histories would disagree; it is what any rule without a memory can at best come near to. *All* are the tokens "
        "of all new versions."
    )
    rows = [
        (
            each["history"],
            f"{row['sizes'][0]} to {row['sizes'][1]}",
            f"{row['changes']:,}",
            f"{row['all']:,}",
            f"{row['structural']:,}",
            f"{row['frozen']:,}",
            f"{row['structural'] / row['frozen'] - 1:+.1%}",
            f"{row['dearer']} and {row['cheaper']}",
        )
        for each in data
        for row in each["rows"]
    ]
    names = ("history", "sizes", "changes", "all", "structural", "frozen", "apart", "changes dearer and cheaper")
    yield table(names, rows)
    for each in data:
        row = each["rows"][0]
        path, changes, structural, frozen = row["worst path"]
        rest = (row["structural"] - structural) / (row["frozen"] - frozen) - 1
        yield (
            f"`{each['history']}`, {row['sizes'][0]} to {row['sizes'][1]}: the document furthest from its floor is "
            f"`{path}`, {changes:,} of {row['changes']:,} changes and {structural / frozen - 1:+.1%}; all others "
            f"together are at {rest:+.1%}."
        )
    yield (
        "Why: a cut falls at the joint with the greatest key among those that leave the minimum. A line that is put in "
        "front of a long list lets one more joint in, and that one has the greatest key with a chance of one in their "
        "number; the chunk behind is then cut anew too. No rule without a memory can know which joint was there "
        "before, so only more joints help: a smaller minimum beside the maximum."
    )
