"""Replay of real histories: how much text an index would have had embedded, commit by commit.

1. Every distinct chunk text counts once over the whole history, and not at all if the first snapshot had it.
2. Both contenders cut the same versions of the same documents, each version once: what a chunk is does not depend
   on when it was made, so the order of the commits does not matter after the first.
3. Sizes at which ours are as large as the peer's are looked for anew in every run, never written down.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import histories
from contenders import DEFAULT_SIZES, OURS, PEER
from corpus import clone
from places import ROOT, WORK
from process import answer, run
from tables import ABSENT, Verdict, table

DEFAULTS = DEFAULT_SIZES
EQUAL = 0.03
"""How far means may be apart to count as equal."""

BARS = {
    # at equal mean, and beyond; at the default sizes
    "fastapi-commits": (0.74, 0.71, 0.47),
    "peps-commits": (0.93, 0.88, 0.80),
}


def measure(*, quick: bool) -> Any:
    """The histories that are here."""
    found = [(name, folder) for name in histories.NAMES[: 1 if quick else None] if (folder := clone(name))]
    return [_replay(name, folder, quick=quick) for name, folder in found] or None


def stream(name: str, folder: Path, commits: list[str]) -> tuple[Path, int, int]:
    """All versions as lines of JSON: the file, how many, and their bytes."""
    place = WORK / f"{name}.jsonl"
    count = size = 0
    with place.open("w", encoding="utf-8") as out:
        for version in histories.versions(folder, commits):
            count += 1
            size += len(version.content)
            out.write(json.dumps([version.first, version.path, version.content.decode()]) + "\n")
    return place, count, size


def _replay(name: str, folder: Path, *, quick: bool) -> Any:
    print(f"  {name}: reading the history", flush=True)
    commits = histories.commits(folder, quick=quick)
    place, count, size = stream(name, folder, commits)

    def cut(called: str, command: list[str | Path]) -> Any:
        print(f"  {name}: {called}", flush=True)
        usage, out = run([*command[:2], place, *command[2:]], ROOT)
        return {"name": called, "cpu": usage["cpu"]} | json.loads(out)

    peer = cut("peer, its default", [PEER.python, PEER.inside("cut")])
    print(f"  {name}: looking for sizes", flush=True)
    sizes = answer([OURS.python, OURS.inside("equal"), place, str(peer["mean"])], ROOT)
    equal = sizes["min_tokens"], sizes["max_tokens"]
    cuts = [peer]
    for least, most in (DEFAULTS, equal):
        called = f"ours, {least} to {most}" + (", the default" if (least, most) == DEFAULTS else "")
        cuts.append(cut(called, [OURS.python, OURS.inside("cut"), str(least), str(most)]))
    place.unlink()
    return {"history": name, "commits": len(commits), "versions": count, "size": size, "cuts": cuts, "sizes": equal}


def verdicts(data: Any) -> Iterable[Verdict]:
    for each in data:
        peer, default, equal = each["cuts"]
        bar, beyond, at_default = BARS[each["history"]]
        apart = equal["mean"] / peer["mean"] - 1
        share = equal["embedded_bytes"] / peer["embedded_bytes"]
        yield Verdict(
            f"replay of `{each['history']}` at equal mean size (within {EQUAL:.0%})",
            f"at most {bar:.2f} of the peer (beyond: {beyond:.2f})",
            f"{share:.3f} (means {apart:+.1%} apart)",
            share <= bar and abs(apart) <= EQUAL,
            share <= beyond and abs(apart) <= EQUAL,
        )
        share = default["embedded_bytes"] / peer["embedded_bytes"]
        yield Verdict(
            f"replay of `{each['history']}` at the default sizes",
            f"at most {at_default:.2f} of the peer",
            f"{share:.3f}",
            share <= at_default,
        )


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        "Bytes of chunk text that would have been embedded after the first snapshot, each distinct text counted once "
        "over the whole history. Smaller chunks alone make an edit cheaper; the last row shows ours at sizes that were "
        "searched for in this run so that the mean is the peer's. *Mean* is that of the distinct texts of the first "
        "snapshot, *largest* that of all. One run each: the counts do not vary."
    )
    for each in data:
        base = each["cuts"][0]["embedded_bytes"]
        yield f"### {each['history']}"
        yield f"{each['commits']} commits, {each['versions']:,} versions of documents, {each['size'] / 1e6:.1f} MB."
        rows = [
            (
                cut["name"],
                f"{cut['embedded_bytes'] / 1e6:.2f} MB",
                f"{cut['embedded_bytes'] / base:.3f}",
                f"{cut['embedded_texts']:,}",
                f"{cut['mean']:,.0f} B",
                f"{cut['largest']:,} B",
                f"{cut['cpu']:.1f} s",
            )
            for cut in each["cuts"]
        ]
        names = ("chunker, its sizes", "embedded", "relative", "texts", "mean", "largest", "CPU to cut all")
        yield table(names, rows)
