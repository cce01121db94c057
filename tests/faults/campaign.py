"""One fault at every point of a command: run it in a child, look at what is left, run again, compare with the target.

1. A scenario is a site, a command, and the operations on files that are counted. Its target is what the command leaves
   when nothing goes wrong.
2. After a fault the head is the old one or the new one. It is the new one if the commit was acknowledged, and the old
   one if the command says that nothing was committed. Nothing in the index is wrong either way.
3. A vector that the cache took is there. The next run reaches the target, and pays for nothing twice but what the one
   batch in flight held.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faults.fate import FILES, NEEDS_ROOM, SQLITE

ROOT = Path(__file__).parents[2]
CONFIG = """
[sources.pages]
path = "../pages"
[chunking]
policy = "structural"
min_tokens = 32
max_tokens = 128
[embedding]
embedder = "hash"
dimensions = 64
batch_size = {batch}
"""
BATCH = 32
SHARE = 6
"""One page in so many of our documentation: enough for a commit of a hundred writes."""
TYPED = {"AdapterError", "OutcomeUnknown", "StoreCorrupt"}
ERRORS = ("full", "error")


class Forks:
    """The client of `forks.py`."""

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        command = [sys.executable, "-m", "faults.forks", str(self._folder)]
        tests = Path(__file__).parents[1]
        self._process = subprocess.Popen(command, cwd=tests, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __call__(self, job, root, **arguments):
        self._process.stdin.write(json.dumps({"job": job, "root": str(root), **arguments}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Ran(answer["code"], answer["notes"], answer["out"], answer["err"])


@dataclass
class Ran:
    """How a child ended, and what it noted."""

    code: int | str
    notes: list
    out: str
    err: str

    def noted(self, kind):
        return [value for found, *values in self.notes if found == kind for value in values]

    @property
    def committed(self):
        return ["committed"] in self.notes


@dataclass
class Scenario:
    """A command on a site, what it does when nothing goes wrong, and what there was before."""

    forks: Forks
    base: Path
    verbs: tuple[str, ...] = (*SQLITE, *FILES)
    arguments: tuple[str, ...] = ("apply", "--yes", "--json")
    pages: int = 20
    before: dict = field(init=False)
    after: dict = field(init=False)
    operations: list = field(init=False)

    def __post_init__(self):
        self.before = self.judged(self.base)
        self.operations = self.measured()
        self.after = self.judged(self.base.with_name(f"{self.base.name}-whole"))
        assert self.after != self.before

    def measured(self, **more):
        """The operations of a run without a fault, in order: what was done, and the name of the file."""
        ran = self.run(self.copy("whole"), **more)
        assert ran.code == 0, ran.err
        return ran.noted("seen")

    def copy(self, name):
        root = self.base.with_name(f"{self.base.name}-{name}")
        shutil.rmtree(root, ignore_errors=True)
        return shutil.copytree(self.base, root)

    def run(self, root, **more):
        fault = {"verbs": self.verbs, **more.pop("fault", {})}
        return self.forks("command", root, arguments=self.arguments, fault=fault, pages=self.pages, **more)

    def points(self, kind, some):
        """Where to try a fault: at `some` of the operations that it can meet, or at all of them."""
        needs_room = [verb for verb, _ in self.operations if verb in NEEDS_ROOM]
        count = len(needs_room if kind == "full" else self.operations)
        if some is None or some >= count:
            return range(1, count + 1)
        # Spread evenly; the first and the last are always there.
        return sorted({1 + round(step * (count - 1) / (some - 1)) for step in range(some)})

    def judged(self, root, kept=()):
        ran = self.forks("judge", root, kept=list(kept))
        assert ran.code == 0, f"{root}: {ran.err}"
        (answer,) = ran.noted("judged")
        assert answer.pop("fingerprints") != "damaged", root
        return answer

    def try_fault(self, kind, at, *, seed=0, lasting=False, spoiled=None):
        """One fault, judged in full."""
        root = self.copy("tried")
        fault = {"kind": kind, "at": at, "seed": seed, "lasting": lasting}
        ran = self.run(root, fault=fault, spoiled=spoiled)
        where = f"{kind} at {at}, seed {seed}, lasting {lasting}: {ran.err}"
        if kind in ERRORS:
            self._check_told(ran, root, where)
        else:
            assert ran.code == -signal.SIGKILL, where
        found = self.judged(root, ran.noted("kept"))
        state = self.state_of(found, where)
        if ran.committed or ran.code == 0:
            assert state == "new", f"an acknowledged commit is gone: {where}"
        if "nothing was committed" in ran.err or "did not happen" in ran.err:
            assert state == "old", f"it was committed: {where}"
        again = self.run(root)
        assert again.code == 0, f"{where}, then {again.err}"
        assert self.state_of(self.judged(root), where) == "new", where
        paid = Counter(ran.noted("paid") + again.noted("paid"))
        assert sum(paid.values()) - len(paid) <= BATCH, where
        return state

    def state_of(self, found, where):
        """`old` or `new`; anything else is a failure."""
        assert found["problems"] == [], where
        assert found["lost"] == 0, f"vectors that the cache took are gone: {where}"
        for name, whole in (("old", self.before), ("new", self.after)):
            if found == whole:
                return name
        raise AssertionError(f"neither the old state nor the new: {found}: {where}")

    def _check_told(self, ran, root, where):
        """The command went on without what failed, or ended with a sentence that names the file and a way out."""
        assert ran.code in {0, 1, 6}, where
        assert "Traceback" not in ran.err, where
        assert "internal error" not in ran.err, where
        told = json.loads(ran.out) if ran.code else {}
        if ran.code == 6 and told.get("held_back"):
            return  # an erasure whose space could not be given back yet
        if ran.code:
            assert told["error"] in TYPED, where
            assert ran.code == (6 if told["error"] == "OutcomeUnknown" else 1), where
            assert str(root / ".steadlith") in ran.err, where
            assert re.search(r"try again|apply again|run again|check|`steadlith", ran.err), where


def make_base(folder):
    """A site beside our own documentation, nothing applied yet. Its copies share the pages."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    for page in sorted((ROOT / "docs").glob("**/*.md"))[::SHARE]:
        shutil.copy(page, pages / f"{page.parent.name}-{page.name}")
    site = folder / "site"
    site.mkdir()
    (site / "steadlith.toml").write_text(CONFIG.format(batch=BATCH), "utf-8")
    return site


def edit(site):
    """Everyday work on it: a word in every other page, a page gone, one renamed, and some of our own sources as new."""
    folder = site.with_name("pages")
    pages = sorted(folder.iterdir())
    pages[0].unlink()
    pages[1].rename(folder / "renamed.md")
    for page in pages[2::2]:
        page.write_text(page.read_text("utf-8").replace(" the ", " THE ", 9) + "\nOne more line.\n", "utf-8")
    for source in sorted((ROOT / "src/steadlith_core").glob("*.py"))[:: SHARE // 2]:
        shutil.copy(source, folder / f"{source.stem}.md")
