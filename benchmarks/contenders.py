"""Those that are measured: this checkout, and steadlith 1.0.1 in an environment of its own; in one section LangChain.

1. All run by the same Python, as a user would call them; nothing of the others is changed.
2. Both steadliths embed with their own hash embedder at 256 dimensions, so that no model hides what the rest costs.
3. Both print totals only.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from places import CACHE, INSIDE, LANGCHAIN_ENVIRONMENT, PEER_ENVIRONMENT, WORK

from steadlith_core.chunking.structural import MAX_TOKENS, MIN_TOKENS

PEER_VERSION = "1.0.1"
LANGCHAIN_PACKAGES = (
    "langchain-core==1.8.3",  # index()
    "langchain-classic==1.0.8",  # SQLRecordManager
    "langchain-community==0.4.2",  # SQLiteVec
    "SQLAlchemy[asyncio]==2.1.9",  # the record manager imports its asyncio part
    "sqlite-vec==0.1.9",
    "pysqlite3-binary==0.5.4.post2",  # a SQLite that loads extensions, which this Python's own may not
)
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
class Party:
    """One of them, as far as it has an interpreter."""

    name: str
    environment: Path

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    def inside(self, what: str) -> Path:
        """The script that does `what` within this one's own interpreter."""
        return INSIDE / f"{self.name}_{what}.py"


@dataclass(frozen=True, slots=True)
class Contender(Party):
    """How a steadlith is called."""

    config: str
    plan: tuple[str, ...]
    apply: tuple[str, ...]

    @property
    def program(self) -> Path:
        return self.environment / "bin" / "steadlith"

    def project(self, corpus: str) -> Path:
        """A fresh folder with a configuration, still without documents."""
        folder = WORK / self.name / corpus
        (folder / "docs").mkdir(parents=True)
        (folder / "steadlith.toml").write_text(self.config, "utf-8")
        return folder


OURS = Contender("ours", Path(sys.prefix), OUR_CONFIG, ("plan", "--no-steps"), ("apply", "--yes"))
PEER = Contender("peer", PEER_ENVIRONMENT, PEER_CONFIG, ("plan",), ("index", "--allow-delete"))
BOTH = (OURS, PEER)
LANGCHAIN = Party("langchain", LANGCHAIN_ENVIRONMENT)


def install_peer() -> None:
    """Make the peer's environment, unless it is there."""
    if not PEER.program.exists():
        _install(PEER, [f"steadlith=={PEER_VERSION}"])


def install_langchain() -> None:
    """Make LangChain's environment, unless it is there with these very packages."""
    note = LANGCHAIN_ENVIRONMENT / "packages.txt"
    wanted = "\n".join(LANGCHAIN_PACKAGES)
    if not note.exists() or note.read_text("utf-8") != wanted:
        _install(LANGCHAIN, LANGCHAIN_PACKAGES)
        note.write_text(wanted, "utf-8")


def _install(party: Party, wanted: Sequence[str]) -> None:
    CACHE.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", party.environment], check=True)
    done = subprocess.run([party.python, "-m", "pip", "install", "--quiet", *wanted], check=False)
    if done.returncode:
        sys.exit(f"bench: could not install {', '.join(wanted)}, which this checkout is measured against")
