"""The two that are measured: this checkout, and steadlith 1.0.1 in an environment of its own.

1. Both run by the same Python, as a user would call them; nothing of the peer is changed.
2. Both embed with their own hash embedder at 256 dimensions, so that no model hides what the rest costs.
3. Both print totals only.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from places import CACHE, INSIDE, PEER_ENVIRONMENT, WORK

from steadlith_core.chunking.structural import MAX_TOKENS, MIN_TOKENS

PEER_VERSION = "1.0.1"
STATE = ".steadlith"

OUR_CONFIG = """\
[sources.docs]
path = "docs"

[embedding]
embedder = "hash"
dimensions = 256
"""

PEER_CONFIG = """\
[sources]
include = ["docs/**/*.md", "docs/**/*.rst", "docs/**/*.txt"]

[embedding]
provider = "hash"
dimensions = 256
"""


DEFAULT_SIZES = (MIN_TOKENS, MAX_TOKENS)
"""Of our default policy, in tokens."""


@dataclass(frozen=True, slots=True)
class Contender:
    """How one of them is called."""

    name: str
    environment: Path
    config: str
    plan: tuple[str, ...]
    apply: tuple[str, ...]

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def program(self) -> Path:
        return self.environment / "bin" / "steadlith"

    def inside(self, what: str) -> Path:
        """The script that does `what` within this contender's own interpreter."""
        return INSIDE / f"{self.name}_{what}.py"

    def project(self, corpus: str) -> Path:
        """A fresh folder with a configuration, still without documents."""
        folder = WORK / self.name / corpus
        (folder / "docs").mkdir(parents=True)
        (folder / "steadlith.toml").write_text(self.config, "utf-8")
        return folder


OURS = Contender("ours", Path(sys.prefix), OUR_CONFIG, ("plan", "--no-steps"), ("apply", "--yes"))
PEER = Contender("peer", PEER_ENVIRONMENT, PEER_CONFIG, ("plan",), ("index", "--allow-delete"))
BOTH = (OURS, PEER)


def install_peer() -> None:
    """Make the peer's environment, unless it is there."""
    if PEER.program.exists():
        return
    CACHE.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", PEER_ENVIRONMENT], check=True)
    wanted = f"steadlith=={PEER_VERSION}"
    done = subprocess.run([PEER.python, "-m", "pip", "install", "--quiet", wanted], check=False)
    if done.returncode:
        sys.exit(f"bench: could not install {wanted}, which everything here is measured against")
