"""Plans, locks, manifests, proofs, configuration: after any fault the old file is there or the new one, whole."""

import errno
import json
import os
import shutil
import signal

import pytest
from faults.campaign import ERRORS, make_base
from faults.fate import FILES

COMMANDS = {
    "p.json": ("plan", "--out", "p.json", "--json"),
    "steadlith.lock": ("lock", "--json"),
    "m.bin": ("manifest", "export", "--out", "m.bin", "--json"),
    "team.cache": ("cache", "export", "team.cache", "--json"),
    "d.proof": ("prove", "docs-apply.md", "--out", "d.proof", "--json"),
    "steadlith.toml": ("init", "pages", "--embedder", "hash", "--force", "--json"),
}
OLD = b"# what was here before\n"


@pytest.fixture(scope="module")
def applied(forks, tmp_path_factory):
    site = make_base(tmp_path_factory.mktemp("files"))
    (site / "pages").symlink_to(site.with_name("pages"))
    assert forks("command", site, arguments=["apply", "--yes"]).code == 0
    (site.with_name("pages") / "new.md").write_text("# New\n\nA page that the plan is about.\n", "utf-8")
    return site


class Writing:
    """One command that writes one file, tried with one fault after the other."""

    def __init__(self, forks, applied, name, *, old):
        self._forks, self._applied, self._name = forks, applied, name
        self._old = OLD if old else None
        self._command = [each for each in COMMANDS[name] if old or each != "--force"]
        whole = self._site()
        ran = self._run(whole)
        self.operations = [verb for verb, _ in ran.noted("seen")]
        self._new = (whole / name).read_bytes()
        self._others = self._files(whole)
        assert self._new != self._old

    def points(self, kind):
        """Where a fault can be tried."""
        needs_room = [verb for verb in self.operations if verb in {"create", "write file"}]
        return range(1, len(needs_room if kind == "full" else self.operations) + 1)

    def try_fault(self, kind, at, *, seed=0, lasting=False, careless=False):
        site = self._site()
        ran = self._run(site, careless=careless, kind=kind, at=at, seed=seed, lasting=lasting)
        where = f"{kind} at {at} ({self.operations}), seed {seed}: {ran.err}"
        if kind in ERRORS:
            self._check_told(ran, where)
            if not lasting:
                self._check_clean(site, where)
        else:
            assert ran.code == -signal.SIGKILL, where
        state = self._state(site, where)
        if ran.code == 0:
            assert state == "new", where
        again = self._run(site)
        # `init` does not replace what it has made; everything else may be done twice.
        assert again.code in ({0, 64} if state == "new" and self._command[0] == "init" else {0}), (
            f"{where}, {again.err}"
        )
        assert self._state(site, where) == "new", where
        self._check_clean(site, where)
        return state

    def _site(self):
        site = self._applied.with_name("tried")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(self._applied, site, symlinks=True)
        (site / self._name).unlink(missing_ok=True)
        if self._old:
            (site / self._name).write_bytes(self._old)
        return site

    def _run(self, site, careless=False, **fault):
        fault = {"verbs": FILES, **fault}
        return self._forks("command", site, arguments=self._command, fault=fault, careless=careless)

    def _state(self, site, where):
        found = (site / self._name).read_bytes() if (site / self._name).exists() else None
        if found == self._new:
            return "new"
        assert found == self._old, where
        return "old"

    def _check_told(self, ran, where):
        assert "Traceback" not in ran.err, where
        assert "internal error" not in ran.err, where
        if ran.code:
            told = json.loads(ran.out)
            assert (ran.code, told["error"]) == (64, "UsageError"), where
            assert self._name in told["message"] or ".steadlith" in told["message"], where
            assert os.strerror(errno.EIO) in ran.err or os.strerror(errno.ENOSPC) in ran.err, where

    def _check_clean(self, site, where):
        """Nothing is there that a run without a fault would not leave."""
        assert self._files(site) <= self._others, where

    @staticmethod
    def _files(site):
        return {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}


each = pytest.mark.parametrize(
    ("name", "old"),
    [
        ("p.json", True),
        *(pytest.param(name, True, marks=pytest.mark.faults) for name in COMMANDS if name != "p.json"),
        *(pytest.param(name, False, marks=pytest.mark.faults) for name in ("p.json", "steadlith.toml")),
    ],
    ids=lambda value: value if isinstance(value, str) else "replaced" if value else "first",
)
WHAT = "while a plan, lock, manifest, proof or configuration is written"


@each
def test_a_kill_leaves_the_old_file_or_the_new_and_the_next_run_removes_what_is_left(forks, applied, tried, name, old):
    writing = Writing(forks, applied, name, old=old)
    places = [(kind, at) for kind in ("kill within", "kill after") for at in writing.points(kind)]
    assert {writing.try_fault(kind, at, seed=at) for kind, at in places} == {"old", "new"}
    tried(f"a kill {WHAT}: {name}", "SIGKILL before, within and after each operation", len(places))


@each
def test_a_power_cut_leaves_the_old_file_or_the_new(forks, applied, tried, name, old):
    writing = Writing(forks, applied, name, old=old)
    points = writing.points("power cut")
    # Once everything is written, what is left of the names depends on chance.
    places = [(at, seed) for at in points for seed in range(6 if at == points[-1] else 2)]
    assert {writing.try_fault("power cut", at, seed=seed) for at, seed in places} == {"old", "new"}
    tried(
        f"a power cut {WHAT}: {name}",
        "at each operation, what was not synced is dropped, torn or reordered",
        len(places),
    )


@each
@pytest.mark.parametrize("kind", ERRORS)
def test_a_full_or_failing_disk_is_told_and_leaves_the_old_file_or_the_new(forks, applied, tried, name, kind, old):
    writing = Writing(forks, applied, name, old=old)
    places = [(at, lasting) for at in writing.points(kind) for lasting in (False, True)]
    assert "old" in {writing.try_fault(kind, at, lasting=lasting) for at, lasting in places}
    code = {"full": "ENOSPC", "error": "EIO"}[kind]
    tried(f"a full or failing disk {WHAT}: {name}", f"{code} at each operation, once or from then on", len(places))


def test_the_campaign_notices_a_file_that_is_not_synced_before_it_is_renamed(forks, applied):
    """A test that cannot fail proves nothing."""
    writing = Writing(forks, applied, "p.json", old=True)
    renamed = writing.operations.index("rename") + 1

    def sweep():
        for seed in range(100):
            writing.try_fault("power cut", renamed, seed=seed, careless=True)

    with pytest.raises(AssertionError, match="power cut"):
        sweep()
