"""The sequence diff of one very long document: its time, its exactness, and inputs made to hurt it."""

from collections.abc import Iterable
from typing import Any

from contenders import OURS, PEER
from places import WORK
from process import answer, run
from tables import Verdict, ms, table

SIZE, EDITS, REPEATS = 100_000, 200, 0.05
ROUNDS = 7
SEEDS = ("0", "1", "4242")
BAR = 0.12
HOSTILE = 1.0
"""Seconds that no input of this size may take."""
CORE = 0


def measure(*, quick: bool) -> Any:
    """Ours and what else there is, on the same two sequences."""
    given = [str(SIZE // (10 if quick else 1)), str(EDITS), str(REPEATS), str(ROUNDS)]
    print("  ours, rapidfuzz, difflib", flush=True)
    ours = answer([OURS.python, OURS.inside("diff"), *given, "1"], WORK, core=CORE)
    print("  peer", flush=True)
    peer = answer([PEER.python, PEER.inside("diff"), *given], WORK, core=CORE)
    print("  hash seeds", flush=True)
    seen = {
        run([OURS.python, OURS.inside("diff"), *given, "0"], WORK, environment={"PYTHONHASHSEED": seed})[1]
        for seed in SEEDS
    }
    return {"size": int(given[0]), "ours": ours, "peer": peer, "same": len(seen) == 1 and ours["result"] in seen.pop()}


def verdicts(data: Any) -> Iterable[Verdict]:
    ours = data["ours"]
    what = f"sequence diff, {data['size']:,} chunks, {EDITS} edits, {REPEATS:.0%} repeats"
    yield Verdict(what, f"under {ms(BAR)}", ms(ours["time"]), ours["time"] < BAR)
    exact = ours["kept"] == ours["longest"]
    yield Verdict(what, "keeps a longest common subsequence", f"{ours['kept']:,} of {ours['longest']:,} kept", exact)
    slowest = max(ours["hostile"].values())
    yield Verdict("sequence diff, hostile inputs", f"each under {HOSTILE:.0f} s", ms(slowest), slowest < HOSTILE)
    said = "the same" if data["same"] else "differs"
    yield Verdict("sequence diff under other hash seeds", "the same result", said, data["same"])


def render(data: Any) -> Iterable[str]:
    ours, peer = data["ours"], data["peer"]
    yield (
        f"One document of {data['size']:,} chunks, {REPEATS:.0%} of them one of 40 boilerplate texts, and {EDITS} "
        "edits in equal parts of four kinds: insert, delete, replace, move of one to five. CPU time on one core, "
        f"median of {ROUNDS} for ours and the peer, once for the others. The exact length is rapidfuzz's. In the peer "
        "an occurrence is kept only where its offsets are; here every chunk has the same length, and an inserted one "
        "shifts all behind it."
    )
    rows = [
        ("ours", ms(ours["time"]), f"{ours['kept']:,}", f"{ours['moved']:,}", f"{ours['new']:,}", f"{ours['gone']:,}"),
        (
            "peer",
            ms(peer["time"]),
            *(f"{peer.get(kind, 0):,}" for kind in ("keep", "move", "add", "delete")),
        ),
        ("rapidfuzz `LCSseq`, the length alone", ms(ours["rapidfuzz"]), f"{ours['longest']:,}", "", "", ""),
        ("difflib without `autojunk`", ms(ours["difflib"]), f"{ours['difflib kept']:,}", "", "", ""),
    ]
    yield table(("", "CPU", "kept", "moved", "new", "gone"), rows)
    yield "Inputs on which an exact comparison takes quadratic time:"
    yield table(("input", "ours, CPU"), [(name, ms(took)) for name, took in ours["hostile"].items()])
