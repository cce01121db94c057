"""The embedding cache: how fast paid vectors are kept, found, carried and checked, and what they take on disk.

1. The cache is driven through its port, in one process: no start-up, no configuration, no model.
2. Every put is durable when it returns, so its wall time holds what the disk takes.
"""

from collections.abc import Iterable
from typing import Any

from contenders import OURS
from places import ROOT, WORK
from process import answer
from tables import Verdict, mb, table

COUNT, QUICK_COUNT = 100_000, 5_000
LEAST = {"get, all there": 150_000, "put, 1,024 a transaction": 80_000}
"""Keys a second."""


def measure(*, quick: bool) -> Any:
    """All works of one process."""
    return answer([OURS.python, OURS.inside("cache"), WORK, str(QUICK_COUNT if quick else COUNT)], ROOT)


def verdicts(data: Any) -> Iterable[Verdict]:
    for work, least in LEAST.items():
        rate = data["count"] / data["works"][work]["wall"]
        what = f"cache: {work}, {data['dimensions']} dimensions"
        yield Verdict(what, f"at least {least:,} keys a second", f"{rate:,.0f}", rate >= least)


def render(data: Any) -> Iterable[str]:
    yield (
        f"{data['count']:,} vectors of {data['dimensions']} dimensions, through the cache's port, median of "
        f"{data['rounds']} runs. Keys are digests, so they come in no order; each is asked for and judged (checksum, "
        "finite, not zero). An apply keeps its batches of 64 one by one, each durable before another is asked for. "
        f"On disk {mb(data['full'])}, after pruning half {mb(data['pruned'])}, exported {mb(data['exported'])}; the "
        f"vectors themselves are {mb(data['count'] * data['dimensions'] * 4)}."
    )
    names = ("work", "wall", "CPU", "keys a second (wall)", "keys a CPU second")
    rows = [
        (
            work,
            f"{each['wall']:.2f} s",
            f"{each['cpu']:.2f} s",
            f"{data['count'] / each['wall']:,.0f}",
            f"{data['count'] / each['cpu']:,.0f}",
        )
        for work, each in data["works"].items()
    ]
    yield table(names, rows)
