"""Start-up: what a process costs before it does anything."""

from collections.abc import Iterable
from typing import Any

from contenders import OURS, PEER
from places import ROOT
from process import medians, run
from tables import Verdict, ms, table

ROUNDS = 21

STARTS = {
    "`python -c pass`, our environment": (OURS.python, "-c", "pass"),
    '`python -c "import steadlith_core"`': (OURS.python, "-c", "import steadlith_core"),
    "`steadlith --help`": (OURS.program, "--help"),
    "`python -c pass`, the peer's environment": (PEER.python, "-c", "pass"),
    "peer: `steadlith --help`": (PEER.program, "--help"),
}
BARE, CORE, HELP, PEER_BARE, PEER_HELP = STARTS
OF_PEER = (PEER_BARE, PEER_HELP)


def measure(*, quick: bool) -> Any:
    """Median of each, taken in turns; one round before, so that all is compiled and cached, does not count."""
    rounds = [
        {name: run(command, ROOT)[0] for name, command in STARTS.items()} for _ in range(4 if quick else ROUNDS + 1)
    ]
    return {name: medians(one[name] for one in rounds[1:]) for name in STARTS}


def verdicts(data: Any) -> Iterable[Verdict]:
    core, shown = data[CORE]["wall"], data[HELP]["wall"] - data[BARE]["wall"]
    yield Verdict("import of the core", "under 60 ms in total", ms(core), core < 0.06)
    yield Verdict("`--help`", "under 150 ms beyond a bare interpreter", ms(shown), shown < 0.15)


def render(data: Any) -> Iterable[str]:
    rows = []
    for name, used in data.items():
        bare = data[PEER_BARE if name in OF_PEER else BARE]
        rows.append((name, ms(used["wall"]), ms(used["wall"] - bare["wall"]), ms(used["cpu"])))
    yield f"{ROUNDS} runs each, files in the page cache."
    yield table(("process", "wall", "beyond bare", "CPU"), rows)
