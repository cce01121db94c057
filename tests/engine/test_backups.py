"""Backups: whole, verified and made while others write; and restored by being put in place."""

import os
import shutil
import subprocess
import sys

import apsw
import pytest

import steadlith
from steadlith_core.errors import StoreCorrupt, UsageError

WRITER = """
import sys
import steadlith
from pathlib import Path
index = steadlith.open(".")
print("ready", flush=True)
for number in range(12):
    Path("docs/one.md").write_text("# One\\n\\n" + f"alpha sentence {number} of many. " * 40)
    index.apply(index.plan())
"""


def index_file(site):
    return site.root / ".steadlith" / "index.sqlite3"


def opened(site, copy, tmp_path):
    """The copy in the place of another site's index, over the same sources."""
    root = tmp_path / f"restored-{copy.name}"
    shutil.copytree(site.root, root, ignore=shutil.ignore_patterns(".steadlith", "*.sqlite3"))
    (root / ".steadlith").mkdir()
    shutil.copy(copy, root / ".steadlith" / "index.sqlite3")
    return steadlith.open(root)


def test_a_backup_is_the_index(settled, tmp_path):
    made = settled.open().backup(settled.root / "copy.sqlite3")
    assert (made.path.name, made.head) == ("copy.sqlite3", settled.open().head())
    assert made.bytes == made.path.stat().st_size
    assert sorted(path.name for path in settled.root.iterdir()) == [
        *(".steadlith", "copy.sqlite3", "docs", "steadlith.toml"),
    ]
    index = opened(settled, made.path, tmp_path)
    assert index.head() == made.head
    assert index.verify().problems == ()
    assert index.search("alpha", limit=50).hits == settled.hits()
    assert [each.number for each in index.history()] == [1]


def test_a_backup_made_while_a_writer_commits_is_one_of_its_generations(settled, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER], cwd=settled.root, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "ready\n"
        made = []
        while writer.poll() is None:
            made.append(settled.open().backup(settled.root / f"copy-{len(made)}.sqlite3"))
    assert writer.returncode == 0
    roots = {each.number: each.state_root for each in settled.open().history()}
    assert len(roots) == 13
    assert len(made) >= 2
    for each in made:
        assert roots[each.head.generation] == each.head.state_root
        index = opened(settled, each.path, tmp_path)
        assert index.head() == each.head
        assert index.verify().problems == ()


def test_nothing_is_replaced_unless_that_is_asked_for(settled):
    place = settled.root / "copy.sqlite3"
    place.write_text("mine")
    with pytest.raises(UsageError, match=r"copy\.sqlite3: there is a file already; pass --force"):
        settled.open().backup(place)
    assert place.read_text() == "mine"
    settled.open().backup(place, replace=True)
    assert place.stat().st_size > 10_000


@pytest.mark.parametrize("name", ["index.sqlite3", "index.sqlite3-wal", "cache.sqlite3"])
def test_a_file_of_the_index_itself_is_never_replaced(settled, name):
    before = settled.files()
    with pytest.raises(UsageError, match="that is a file of the index itself"):
        settled.open().backup(settled.root / ".steadlith" / name, replace=True)
    link = settled.root / "link.sqlite3"
    link.symlink_to(settled.root / ".steadlith" / name)
    with pytest.raises(UsageError, match="that is a file of the index itself"):
        settled.open().backup(link, replace=True)
    link.unlink()
    assert settled.files() == before


@pytest.mark.parametrize("place", ["", "docs", "nowhere/copy.sqlite3"])
def test_a_place_that_cannot_be_written_is_named(settled, place):
    with pytest.raises(UsageError, match="expected the name of a file"):
        settled.open().backup(settled.root / place)


def test_a_log_beside_the_place_is_not_taken_for_the_copys(settled):
    """Whoever opened the copy would take over what another file's writer left."""
    (settled.root / "copy.sqlite3-wal").write_bytes(b"another file's")
    with pytest.raises(UsageError, match=r"copy\.sqlite3-wal stands there"):
        settled.open().backup(settled.root / "copy.sqlite3", replace=True)


def test_a_damaged_index_is_not_backed_up_and_the_older_copy_stays(settled):
    place = settled.root / "copy.sqlite3"
    settled.open().backup(place)
    kept = place.read_bytes()
    connection = apsw.Connection(str(index_file(settled)))
    connection.execute("UPDATE text SET body = body || ' and a lie' WHERE text = 1").fetchall()
    connection.close()
    with pytest.raises(StoreCorrupt, match=r"was not written: the index does not verify.*doctor --repair"):
        settled.open().backup(place, replace=True)
    assert place.read_bytes() == kept
    assert sorted(path.name for path in settled.root.glob("*sqlite3*")) == ["copy.sqlite3"]


def test_without_an_index_there_is_nothing_to_back_up(site):
    with pytest.raises(UsageError, match="run `steadlith apply` first"):
        site.open().backup(site.root / "copy.sqlite3")
    assert not (site.root / "copy.sqlite3").exists()


KILLED = """
import os, signal
import steadlith
from steadlith import remembering
remembering.finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
index = steadlith.open(".")
index.apply(index.plan())
"""


def test_restoring_over_a_killed_writer_as_the_manual_says(settled, article):
    """Its log is removed with the index: SQLite would put it into whatever file has that name."""
    made = settled.open().backup(settled.root / "copy.sqlite3")
    settled.write("new.md", article("new"))
    subprocess.run([sys.executable, "-c", KILLED], cwd=settled.root, capture_output=True, check=False)
    assert index_file(settled).with_name("index.sqlite3-wal").stat().st_size > 0
    for suffix in ("", "-wal", "-shm"):
        index_file(settled).with_name(f"index.sqlite3{suffix}").unlink(missing_ok=True)
    shutil.copy(made.path, index_file(settled))
    assert settled.open().head() == made.head
    assert settled.open().verify().problems == ()
    plan = settled.plan()
    assert [each.fate for each in plan.changes] == ["added"]
    assert plan.cost.embeddings == 0
    settled.apply(plan)
    assert settled.open().examine().ok


def test_a_backup_of_a_folder_that_may_only_be_read(settled, public_path, as_nobody):
    shutil.copytree(settled.root, public_path / "site")
    for path in (public_path / "site").rglob("*"):
        os.chmod(path, 0o755 if path.is_dir() else 0o644)  # noqa: PTH101
    (public_path / "out").mkdir()
    (public_path / "out").chmod(0o777)
    answer = as_nobody(
        "import steadlith.index, steadlith.backups; from pathlib import Path\n"
        "with steadlith.index.open(arguments[0]).reader():\n    pass\n"
        "drop()\n"
        "made = steadlith.open(arguments[0]).backup(Path(arguments[1]) / 'copy.sqlite3')\n"
        "answer(made.head.generation)",
        str(public_path / "site"),
        str(public_path / "out"),
    )
    assert answer == 1
