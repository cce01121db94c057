"""Drift through the whole: each fault is injected, found at its level, named, and repaired from sources and cache."""

import os
import shutil

import apsw
import pytest

from steadlith.observe import Look
from steadlith_core.errors import ForeignFile, GuardRefused
from steadlith_core.records import Level

FULL = Look(Level.FULL)

AT_HEAD = {
    "head row": ("UPDATE generation SET at = 'yesterday' WHERE number = 2", {"head"}),
    "next occurrence": ("UPDATE head SET next_occurrence = 2", {"head"}),
    "documents counted": ("UPDATE trie_node SET documents = 99 WHERE prefix = ''", {"nodes", "counts"}),
    "trie's top": ("UPDATE trie_node SET digest = zeroblob(32) WHERE prefix = ''", {"nodes"}),
}
IN_FULL = {
    "occurrences removed": ("DELETE FROM occurrence WHERE document = 1", {"document", "counts", "entry"}),
    "version removed": ("DELETE FROM document_version WHERE document = 2", {"document"}),
    "document's rows removed": (
        "; ".join(f"DELETE FROM {table} WHERE document = 1" for table in ("occurrence", "span", "document_version")),
        {"counts"},
    ),
    "root changed": ("UPDATE document_version SET root = zeroblob(32) WHERE document = 1", {"document"}),
    "metadata changed": ("UPDATE document_version SET metadata = x'6d' WHERE document = 1", {"document"}),
    "spans changed": ("UPDATE span SET positions = zeroblob(length(positions)) WHERE document = 1", {"spans"}),
    "text changed": ("UPDATE text SET body = body || ' and a lie' WHERE text = 1", {"text"}),
    "title changed": ("UPDATE entry SET title = 'Other' WHERE entry = 1", {"entry"}),
    "made dead": ("UPDATE entry SET live = 0 WHERE entry = 1", {"entry"}),
    "lexical row removed": ("DELETE FROM lexical WHERE rowid = 1", {"lexical"}),
    "lexical row changed": (
        "DELETE FROM lexical WHERE rowid = 1; INSERT INTO lexical(rowid, body) VALUES (1, 'lie')",
        {"lexical"},
    ),
    "vector's row removed": ("DELETE FROM vector WHERE entry = 1", {"vector"}),
    "checksum changed": ("UPDATE vector SET checksum = zeroblob(8) WHERE entry = 1", {"vector"}),
    "deep node changed": ("UPDATE trie_node SET sources = zeroblob(32) WHERE prefix = ''", {"nodes"}),
}


@pytest.fixture
def settled(make_site, article):
    """Eight documents in two generations."""
    site = make_site()
    for number in range(8):
        site.write(f"{number}.md", article(f"n{number}", sections=3))
    site.apply()
    site.write("7.md", article("seven", sections=3))
    site.apply()
    return site


def index_file(site):
    return site.root / ".steadlith" / "index.sqlite3"


def behind_our_back(site, statements):
    connection = apsw.Connection(str(index_file(site)))
    connection.execute(statements).fetchall()
    connection.close()


def kinds(plan):
    return {drift.kind for drift in plan.drift}


def assert_whole(site, before):
    """The index is the one that it was, in a later generation, and nothing is wrong with its head any more."""
    after = site.open().head()
    assert (after.corpus_root, after.state_root) == (before.corpus_root, before.state_root)
    assert (after.documents, after.chunks) == (before.documents, before.chunks)
    left = site.open().plan(FULL)
    assert left.is_empty
    assert kinds(left) <= {"history"}
    assert site.open().search("alpha", limit=20).hits


@pytest.mark.parametrize("fault", AT_HEAD)
def test_what_is_wrong_with_the_head_is_found_by_any_plan(settled, fault):
    statement, found = AT_HEAD[fault]
    before = settled.open().head()
    behind_our_back(settled, statement)
    plan = settled.plan()
    assert kinds(plan) & found
    assert plan.level == "full"
    assert plan.cost.embeddings == 0
    settled.apply(plan)
    assert_whole(settled, before)


@pytest.mark.parametrize("fault", IN_FULL)
def test_what_is_wrong_with_rows_is_found_in_full_and_repaired(settled, fault):
    statement, found = IN_FULL[fault]
    before = settled.open().head()
    behind_our_back(settled, statement)
    plan = settled.open().plan(FULL)
    assert kinds(plan) & found, plan.drift
    assert plan.cost.embeddings == 0
    settled.apply(plan)
    assert_whole(settled, before)


@pytest.mark.parametrize("fault", sorted(set(IN_FULL) - {"deep node changed"}))
def test_a_plan_at_head_level_does_not_read_the_rows(settled, fault):
    settled.apply()
    behind_our_back(settled, IN_FULL[fault][0])
    assert settled.plan().is_empty


def test_a_vector_that_the_cache_lost_too_is_paid_for_and_the_plan_says_so(settled):
    before = settled.open().head()
    behind_our_back(settled, "DELETE FROM vector WHERE entry = 1")
    for path in (settled.root / ".steadlith").glob("cache*"):
        path.unlink()
    plan = settled.open().plan(FULL)
    assert (plan.cost.embeddings, kinds(plan) & {"vector"}) == (1, {"vector"})
    assert settled.apply(plan).embedded == 1
    assert_whole(settled, before)


def test_repairs_alone_leave_what_changed_to_the_next_plan(settled, article):
    behind_our_back(settled, "UPDATE text SET body = body || ' and a lie' WHERE text = 1")
    settled.write("3.md", article("three", sections=2))
    settled.write("new.md", article("new"))
    (settled.docs / "5.md").unlink()
    plan = settled.open().plan(Look(repair_only=True))
    assert (plan.changes, kinds(plan), len(plan.mended)) == ((), {"text"}, 1)
    settled.apply(plan)
    assert settled.open().verify().ok
    assert {change.id.path for change in settled.plan().changes} == {"3.md", "5.md", "new.md"}


def test_a_document_that_is_damaged_and_unreadable_is_not_repaired_and_told(settled):
    behind_our_back(settled, "UPDATE text SET body = body || ' and a lie' WHERE text = 1")
    held = next(drift.place for drift in settled.open().plan(FULL).drift)
    (settled.docs / held.split(":")[1]).write_bytes(b"\xff\xfe no text")
    plan = settled.open().plan(FULL)
    assert {drift.repair for drift in plan.drift if drift.place == held} == {"none"}


def test_a_deleted_index_is_rebuilt_and_nothing_is_paid(settled):
    before = settled.open().head()
    for path in (settled.root / ".steadlith").glob("index*"):
        path.unlink()
    plan = settled.plan()
    assert kinds(plan) == {"index_missing"}
    assert plan.cost.embeddings == 0
    settled.apply(plan)
    after = settled.open().head()
    assert (after.generation, after.corpus_root, after.state_root) == (1, before.corpus_root, before.state_root)
    assert settled.plan().drift == ()


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "points back"])
def test_an_index_that_cannot_be_read_is_set_aside_and_built_anew(settled, damage):
    before = settled.open().head()
    place = index_file(settled)
    if damage == "truncated":
        os.truncate(place, place.stat().st_size // 2)
    elif damage == "overwritten":
        content = bytearray(place.read_bytes())
        content[200 : len(content) // 2] = bytes(len(content) // 2 - 200)
        place.write_bytes(content)
    else:
        behind_our_back(settled, "UPDATE head SET generation = 1")
    plan = settled.plan()
    assert [(drift.kind, drift.repair) for drift in plan.drift] == [("index_damaged", "rebuild")]
    assert [guard.guard for guard in plan.tripped] == ["rebuild"]
    assert plan.cost.embeddings == 0
    with pytest.raises(GuardRefused):
        settled.apply(plan)
    assert not list(place.parent.glob("*.damaged-*"))
    settled.apply(plan, allow=["--allow-rebuild"])
    after = settled.open().head()
    assert (after.generation, after.corpus_root, after.state_root) == (1, before.corpus_root, before.state_root)
    assert settled.plan().is_empty
    assert settled.open().verify().ok
    assert len(list(place.parent.glob("index.sqlite3.damaged-*"))) >= 1


def test_damage_that_only_a_full_look_sees_is_built_anew_by_the_plan_that_saw_it(settled):
    """The plan says that it looked in full, so apply does too, and comes to the same."""
    before = settled.open().head()
    place = index_file(settled)
    connection = apsw.Connection(str(place))
    root, size = connection.execute(
        "SELECT rootpage, (SELECT page_size FROM pragma_page_size()) FROM sqlite_schema WHERE name = 'span'"
    ).fetchone()
    connection.close()
    with place.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)
    assert kinds(settled.plan()) == set()
    plan = settled.open().plan(FULL)
    assert [(drift.kind, drift.repair) for drift in plan.drift] == [("index_damaged", "rebuild")]
    done = settled.apply(plan, allow=["--allow-rebuild"])
    assert (done.head.state_root, done.embedded) == (before.state_root, 0)
    assert settled.open().verify().ok


def test_a_rebuild_that_is_killed_after_the_file_was_moved_is_finished_by_the_same_plan(settled, monkeypatch):
    before = settled.open().head()
    place = index_file(settled)
    os.truncate(place, place.stat().st_size // 2)
    plan = settled.plan()

    class Killed(BaseException):
        pass

    def killed(*_arguments, **_options):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("steadlith_adapters.stores.sqlite.store.SqliteStore.begin", killed)
        with pytest.raises(Killed):
            settled.apply(plan, allow=["--allow-rebuild"])
    assert not place.exists()
    settled.apply(plan, allow=["--allow-rebuild"])
    assert settled.open().head().state_root == before.state_root
    assert settled.open().verify().ok


def test_another_index_at_this_place_is_drift_and_is_brought_to_the_sources(settled, make_site, article):
    other = make_site("other")
    other.write("x.md", article("x"))
    other.apply()
    shutil.copy(index_file(other), index_file(settled))
    plan = settled.plan()
    assert kinds(plan) == {"index_replaced"}
    assert {change.id.path for change in plan.changes} == {"x.md", *(f"{number}.md" for number in range(8))}
    settled.apply(plan, allow=["--allow-removals", "--allow-empty"])
    assert settled.plan().drift == ()


def test_a_file_of_another_program_is_never_touched(settled):
    place = index_file(settled)
    place.unlink()
    connection = apsw.Connection(str(place))
    connection.execute("CREATE TABLE notes(x)").fetchall()
    connection.close()
    before = place.read_bytes()
    with pytest.raises(ForeignFile, match=r"store\.path"):
        settled.plan()
    assert place.read_bytes() == before


def test_a_restored_backup_is_an_older_index(settled, tmp_path, article):
    shutil.copy(index_file(settled), tmp_path / "backup")
    settled.write("1.md", article("one again"))
    settled.apply()
    shutil.copy(tmp_path / "backup", index_file(settled))
    plan = settled.plan()
    assert kinds(plan) == {"index_older"}
    assert [change.id.path for change in plan.changes] == ["1.md"]
    settled.apply(plan)
    assert settled.plan().drift == ()
