"""A crash at every effect of compacting, erasing, backing up and repairing: the head stays, and doing it again ends it.

1. A crash is an exception that nothing catches. An effect is what changes a file: a statement that is no question, a
   call to the cache, an effect of an apply, a renaming.
2. What is judged is what a new process would find: every call opens everything anew.
"""

import os
import shutil
from contextlib import contextmanager
from itertools import count

import apsw
import pytest

import steadlith
from steadlith import files, hands
from steadlith_adapters.caches.sqlite.cache import SqliteCache
from steadlith_adapters.stores.sqlite.session import Session

EFFECTS = (
    *((Session, name) for name in ("run", "run_many", "copy_to")),
    *((SqliteCache, name) for name in ("put", "drop", "reclaim")),
    *((files.Posix, name) for name in ("replace", "sync_folder", "remove")),
    (hands.Hands, "perform"),
)
QUESTIONS = ("SELECT", "WITH", "PRAGMA", "BEGIN", "\n")
CONFIG = """
[sources.docs]
path = "docs"
[chunking]
policy = "structural"
min_tokens = 16
max_tokens = 48
[embedding]
embedder = "hash"
dimensions = 32
"""
WORD = "xylographic"
COPY = "copy.sqlite3"


class Crash(BaseException):
    """What nothing catches."""


@contextmanager
def crashing(moment):
    """Within, the process crashes before an effect (odd moments) or after it (even ones)."""
    moments = count(1)

    def wrapped(perform, *, asks):
        def performing(own, *arguments, **named):
            if asks and arguments[0].lstrip(" ").startswith(QUESTIONS):
                return perform(own, *arguments, **named)
            if next(moments) == moment:
                raise Crash
            outcome = perform(own, *arguments, **named)
            if next(moments) == moment:
                raise Crash
            return outcome

        return performing

    with pytest.MonkeyPatch.context() as patched:
        for owner, name in EFFECTS:
            patched.setattr(owner, name, wrapped(getattr(owner, name), asks=name == "run"))
        yield


def article(name, word="alpha"):
    return "".join(f"# {name} {part}\n\n{f'{word} {name} {part} sentence. ' * 5}\n\n" for part in range(3))


def index_file(root):
    return root / ".steadlith" / "index.sqlite3"


def apply(root):
    index = steadlith.open(root)
    index.apply(index.plan(), allow={"--allow-removals"})


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    root = tmp_path_factory.mktemp("effects") / "settled"
    (root / "docs").mkdir(parents=True)
    (root / "steadlith.toml").write_text(CONFIG, "utf-8")
    for name in ("one", "two", "secret"):
        (root / "docs" / f"{name}.md").write_text(article(name, WORD if name == "secret" else "alpha"), "utf-8")
    apply(root)
    (root / "docs" / "secret.md").unlink()
    (root / "docs" / "two.md").write_text(article("two, again"), "utf-8")
    apply(root)
    return root


def spoil_rows(root):
    connection = apsw.Connection(str(index_file(root)))
    connection.execute(
        "UPDATE text SET body = body || ' and a lie' WHERE text = (SELECT max(text) FROM text)"
    ).fetchall()
    connection.close()


def spoil_file(root):
    os.truncate(index_file(root), index_file(root).stat().st_size // 2)


def spoil_cache(root):
    os.truncate(root / ".steadlith" / "cache.sqlite3", 30_000)


def check_compacted(root):
    assert [each.number for each in steadlith.open(root).history()] == [2]


def check_erased(root):
    check_compacted(root)
    for file in (root / ".steadlith").iterdir():
        assert WORD.encode() not in file.read_bytes(), file


def check_copied(root):
    new = root.with_name(f"{root.name}-restored")
    shutil.copytree(root, new, ignore=shutil.ignore_patterns(".steadlith"))
    (new / ".steadlith").mkdir()
    shutil.copy(root / COPY, index_file(new))
    assert (steadlith.open(new).head(), steadlith.open(new).verify().problems) == (steadlith.open(root).head(), ())
    shutil.rmtree(new)


def repair(root):
    done = steadlith.open(root).repair()
    assert done.embedded == 0
    assert done.unpaid is None


def check_repaired(root):
    assert steadlith.open(root).examine().ok


# name: what is done before, what is done, what must be true when it is done to its end, whether the head is readable
# on the way
SCENES = {
    "a compaction": (None, lambda root: steadlith.open(root).compact(keep=1), check_compacted),
    "an erasure": (None, lambda root: steadlith.open(root).compact(erase=["secret.md"]), check_erased),
    "a backup": (None, lambda root: steadlith.open(root).backup(root / COPY, replace=True), check_copied),
    "a repair of rows": (spoil_rows, repair, check_repaired),
    "a repair of the index": (spoil_file, repair, check_repaired),
    "a repair of the cache": (spoil_cache, repair, check_repaired),
}


def roots(root):
    head = steadlith.open(root).head()
    return head.corpus_root, head.state_root, head.documents, head.chunks


def sweep(settled, folder, name, step):
    """Crash at every `step`-th moment; how often it crashed."""
    spoil, do, check = SCENES[name]
    wanted = roots(settled)
    for crashes, moment in enumerate(count(1, step)):
        root = shutil.copytree(settled, folder / str(moment))
        if spoil:
            spoil(root)
        try:
            with crashing(moment):
                do(root)
        except Crash:
            pass
        else:
            return crashes
        if not spoil:
            assert roots(root) == wanted, moment
            assert steadlith.open(root).verify().problems == (), moment
        do(root)
        check(root)
        assert roots(root) == wanted, moment
        assert steadlith.open(root).verify().problems == (), moment
        assert steadlith.open(root).plan().is_empty, moment
        shutil.rmtree(root)
    raise AssertionError


@pytest.mark.parametrize(
    ("name", "step"),
    [
        *(pytest.param(name, 17, marks=pytest.mark.sample) for name in SCENES),
        *(pytest.param(name, 1, marks=pytest.mark.faults) for name in SCENES),
    ],
)
def test_an_exception_at_every_effect_leaves_the_head_and_the_work_can_be_redone(settled, tmp_path, tried, name, step):
    crashes = sweep(settled, tmp_path, name, step)
    assert crashes >= (2 if step > 1 else 6)
    tried(
        f"a crash at every effect of upkeep: {name}", "an exception that nothing catches, before and after it", crashes
    )
