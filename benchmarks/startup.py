"""Start-up: what a process costs before it does anything."""

from contenders import OURS, PEER
from places import ROOT
from process import Usage, medians, run

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


def measure() -> dict[str, Usage]:
    """Median of each, taken in turns; one round before, so that all is compiled and cached, does not count."""
    rounds = [{name: run(command, ROOT)[0] for name, command in STARTS.items()} for _ in range(ROUNDS + 1)]
    return {name: medians(one[name] for one in rounds[1:]) for name in STARTS}
