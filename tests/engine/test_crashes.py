"""Apply may be killed at any instant: afterwards the index is old or new, and nothing acknowledged is paid twice."""

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest

import steadlith
from steadlith import wiring
from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_adapters.wrappers.factories import WrappedEmbedders
from steadlith_adapters.wrappers.faults import Fault, Faults, nth
from steadlith_core.errors import AdapterError, EmbeddingError, LockHeld


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_effect_leaves_old_or_new_and_resumes(make_site, article, paid, crashing, after):
    number = 0
    while True:
        number += 1
        site = make_site(f"site{number}", embedding="batch_size = 3")
        site.write("one.md", article("one"))
        site.apply()
        old = site.open().head()
        for name in ("one", "two"):
            site.write(f"{name}.md", article(f"fresh {name}"))
        planned = site.plan()
        paid.clear()
        with crashing(number, after=after) as seen:
            site.apply(planned)
        if len(seen) < number:
            assert number > 10
            return
        # Reopened: the old state or the new one, whole either way.
        head = site.open().head()
        assert head.corpus_root in {old.corpus_root, planned.target.corpus_root}
        assert site.open().verify().ok
        # Rerun to the target.
        done = site.apply(planned)
        assert done.head.corpus_root == planned.target.corpus_root
        assert site.plan().is_empty
        # At most the one batch in flight was paid twice.
        assert sum(paid.values()) - len(paid) <= 3
        assert max(paid.values()) <= 2


KILLED = """
import os, signal, sys
import steadlith
from steadlith import hands
number, after, log = int(sys.argv[2]), sys.argv[3] == "after", open(sys.argv[4], "a", buffering=1)
seen = 0
whole = hands.Hands.perform
def perform(self, effect):
    global seen
    seen += 1
    if seen == number and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    outcome = whole(self, effect)
    if type(effect).__name__ == "Embed":
        for key in effect.keys:
            log.write(str(key) + "\\n")
    if seen == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return outcome
hands.Hands.perform = perform
index = steadlith.open(sys.argv[1])
index.apply(index.plan())
"""


def killed(site, number, when, log):
    return subprocess.run(
        [sys.executable, "-c", KILLED, str(site.root), str(number), when, str(log)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("number", [6, 8, 10, pytest.param(0, marks=pytest.mark.slow)])
def test_a_killed_process_leaves_old_or_new_and_pays_no_acknowledged_embedding_twice(
    make_site, article, tmp_path, number
):
    """0 stands for every effect, one after the other."""
    for at in [number] if number else range(1, 30):
        for when in ("before", "after"):
            site = make_site(f"site-{at}-{when}", embedding="batch_size = 4")
            site.write("one.md", article("one", sections=3))
            log = tmp_path / f"paid-{at}-{when}"
            run = killed(site, at, when, log)
            if run.returncode == 0:
                assert at > 8
                return
            assert run.returncode == -signal.SIGKILL, run.stderr
            assert site.open().verify().ok
            assert killed(site, 10**6, "before", log).returncode == 0
            assert site.plan().is_empty
            keys = Counter(log.read_text("utf-8").split())
            assert sum(keys.values()) - len(keys) <= 4
            assert site.open().verify().ok


def test_a_killed_holder_frees_the_lock(settled, article):
    """The kernel gives the lock back; no stale lock is left to be removed by hand."""
    code = (
        "import steadlith, sys, time\nfrom steadlith import hands\nwhole = hands.Hands.perform\n"
        "def perform(self, effect):\n    out = whole(self, effect)\n"
        "    if type(effect).__name__ == 'Lock':\n        print('locked', flush=True); time.sleep(60)\n    return out\n"
        "hands.Hands.perform = perform\nindex = steadlith.open(sys.argv[1])\nindex.apply(index.plan())\n"
    )
    settled.write("new.md", article("new"))
    with subprocess.Popen([sys.executable, "-c", code, str(settled.root)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "locked\n"
        with pytest.raises(LockHeld, match=f"process {child.pid} ") as raised:
            settled.apply()
        assert raised.value.exit_code == 4
        child.kill()
        child.wait()
    assert settled.apply(lock_timeout=5).head.generation == 2


def test_two_processes_with_one_plan_commit_once(settled, article):
    """Field cases 36 and 37: whoever comes second waits, and finds the work done or the world moved."""
    settled.write("new.md", article("new", sections=8))
    code = (
        "import steadlith, sys\nindex = steadlith.open(sys.argv[1])\nplan = index.plan()\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "done = index.apply(plan, lock_timeout=30)\nprint(done.already, done.embedded)\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(settled.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    outcomes = sorted(child.communicate()[0].split()[0] for child in children)
    assert outcomes == ["False", "True"]
    assert settled.open().head().generation == 2
    assert settled.open().verify().ok


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_at_the_next_safe_point_and_the_next_apply_goes_on(make_site, article, number):
    site = make_site(embedding="batch_size = 2")
    site.write("one.md", article("one", sections=20))
    code = (
        "import sys, time\nfrom steadlith import hands\nfrom steadlith.cli.main import main\n"
        "whole = hands.Hands.perform\n"
        "def perform(self, effect):\n    out = whole(self, effect)\n"
        "    if type(effect).__name__ == 'Embed':\n        print('embedded', flush=True); time.sleep(0.3)\n"
        "    return out\n"
        "hands.Hands.perform = perform\nsys.argv = ['steadlith', 'apply', '--yes', '--json']\nmain()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=site.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "embedded\n"
        os.kill(child.pid, number)
        _, told = child.communicate(timeout=30)
    assert child.returncode == 6
    assert "apply again to go on from there" in told
    assert site.open().head().generation == 0
    planned = site.plan()
    assert planned.cost.cached > 0
    assert site.apply(planned).cached == planned.counts["add"] - planned.cost.embeddings


def test_a_reader_sees_one_generation_while_a_writer_commits(settled, article):
    with steadlith.open(settled.root).reader() as reader:
        before = [(document.id, document.root) for document in reader.documents()]
        settled.write("new.md", article("new"))
        settled.apply()
        assert [(document.id, document.root) for document in reader.documents()] == before
        assert reader.head.generation == 1
    assert settled.open().head().generation == 2


def fail_embedding(patch, error, turns):
    """Calls of the embedder fail at their turns."""
    failing = WrappedEmbedders(HASH, Faults(Fault("embedder.embed_documents", turns, before=error)))
    patch.setattr(wiring, "embedder_factory", lambda _: failing)


def test_field_case_31_a_partial_failure_is_finished_by_the_next_run(make_site, article, monkeypatch):
    site = make_site(embedding="batch_size = 4")
    site.write("one.md", article("one", sections=12))
    with monkeypatch.context() as patch:
        fail_embedding(patch, EmbeddingError("503 from a provider"), nth(4))
        with pytest.raises(EmbeddingError, match="503"):
            site.apply()
    assert site.open().head().generation == 0
    planned = site.plan()
    assert planned.cost.embeddings == planned.counts["add"] - 8  # probe, two good batches, one bad
    assert site.apply(planned).embedded == planned.cost.embeddings


def test_an_exception_of_an_adapter_becomes_an_adapter_error(make_site, article, monkeypatch):
    site = make_site()
    site.write("one.md", article("one"))
    with monkeypatch.context() as patch:
        fail_embedding(patch, ZeroDivisionError("oops"), nth(1))
        with pytest.raises(AdapterError, match=r"probe failed: ZeroDivisionError: oops") as raised:
            site.apply()
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert site.apply().head.generation == 1  # the lock was given back
