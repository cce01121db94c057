"""Ways in which a plan could have lied, each found by a reviewer and shut."""

import shutil

import apsw
import pytest

import steadlith
from steadlith.observe import Look
from steadlith_core.errors import SourceError, UsageError
from steadlith_core.planning.planfile import dump
from steadlith_core.records import Level

FULL = Look(Level.FULL)
LICENCE = "\n\n".join(
    f"Permission number {n} is granted to any person who obtains a copy of this text." for n in range(3)
)


def edit_config(site, before, after):
    place = site.root / "steadlith.toml"
    place.write_text(place.read_text().replace(before, after))


def behind_our_back(site, statement):
    connection = apsw.Connection(str(site.root / ".steadlith" / "index.sqlite3"))
    connection.execute(statement).fetchall()
    connection.close()


def put_aside(site):
    """Another folder in the place of `docs`, which goes on existing: else it may be given the same inode."""
    site.docs.rename(site.root / "aside")
    site.docs.mkdir()


@pytest.fixture
def applied(make_site, article):
    site = make_site()
    for number in range(4):
        site.write(f"{number}.md", article(f"n{number}", sections=3))
    site.apply()
    return site


def test_repairs_alone_never_record_another_configuration(applied):
    edit_config(applied, "max_tokens = 48", "max_tokens = 90")
    with pytest.raises(UsageError, match="--refresh-only"):
        applied.open().plan(Look(repair_only=True))


def test_two_forks_of_one_index_do_not_believe_each_other_s_fingerprints(applied, tmp_path):
    fork = tmp_path / "fork"
    shutil.copytree(applied.root, fork)
    place = applied.docs / "0.md"
    text = place.read_text()
    place.write_bytes(text.replace("\n", "\r\n").encode())
    applied.apply()
    (fork / "docs" / "0.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    with steadlith.open(fork) as index:
        index.apply(index.plan())
    shutil.copy(fork / ".steadlith" / "index.sqlite3", applied.root / ".steadlith" / "index.sqlite3")
    for path in (applied.root / ".steadlith").glob("index.sqlite3-*"):
        path.unlink()
    believed, read = applied.open().plan(), applied.open().plan(stat_cache=False)
    assert dump(believed) == dump(read)
    assert [change.id.path for change in believed.changes] == ["0.md"]


def test_a_damaged_text_is_never_committed_under_another_name(applied):
    behind_our_back(applied, "UPDATE text SET body = body || ' and a lie'")
    for path in applied.docs.glob("*.md"):
        path.write_bytes(b"\xff\xfe no text")
    edit_config(applied, "max_tokens = 48", "max_tokens = 90")
    with pytest.raises(SourceError, match="make it readable"):
        applied.plan()


def test_a_document_that_cannot_be_read_is_never_lost_with_a_rebuild_unnamed(applied):
    (applied.docs / "0.md").write_bytes(b"\xff\xfe no text")
    place = applied.root / ".steadlith" / "index.sqlite3"
    place.write_bytes(place.read_bytes()[: place.stat().st_size // 2])
    (tripped,) = applied.plan().tripped
    assert "1 input cannot be used now and would not be in it" in tripped.message


def test_a_shared_licence_is_no_continuation(make_site, article):
    site = make_site()
    for number in range(20):
        site.write(f"a{number}.md", article(f"old{number}", sections=4) + LICENCE)
    site.apply()
    put_aside(site)
    for number in range(20):
        site.write(f"b{number}.md", article(f"other{number}", sections=4, word="omega") + LICENCE)
    plan = site.plan()
    assert {guard.guard for guard in plan.tripped} >= {"removed_documents", "replaced_root"}
    assert all(change.origin is None for change in plan.changes)


def test_a_root_that_was_replaced_stays_replaced_while_its_documents_are_held(make_site, article):
    site = make_site()
    for number in range(3):
        site.write(f"{number}.md", article(f"n{number}"))
    site.apply()
    put_aside(site)
    site.write("0.md", article("n0"))
    held = site.open().plan(Look(scope=("docs:elsewhere",)))
    assert held.is_empty
    assert "missing" in {finding.kind for finding in held.findings}
    site.apply(held)
    assert "replaced_root" in {guard.guard for guard in site.plan().tripped}


def test_a_changed_heading_pays_for_a_vector_that_is_nowhere(make_site):
    site = make_site()
    site.write("a.md", "# Title\n\n" + "alpha beta gamma delta epsilon zeta " * 6)
    site.apply()
    behind_our_back(site, "DELETE FROM vector")
    for path in (site.root / ".steadlith").glob("cache*"):
        path.unlink()
    text = (site.docs / "a.md").read_text()
    (site.docs / "a.md").write_text("---\ntitle: Another\n---\n" + text)
    plan = site.plan()
    if not plan.is_empty:
        done = site.apply(plan)
        assert done.embedded == plan.cost.embeddings


def test_a_plan_file_over_a_recorded_document_is_missing_and_obeys_the_scope(applied):
    (applied.docs / "0.md").write_text(dump(applied.plan()))
    held = applied.open().plan(Look(scope=("docs:elsewhere",)))
    assert held.is_empty
    assert [finding.kind for finding in held.findings] == ["missing"]
    applied.apply(held)
    plan = applied.plan()
    assert [(change.id.path, str(change.fate)) for change in plan.changes] == [("0.md", "removed")]


def test_a_draft_that_was_left_by_a_killed_apply_is_swept(applied):
    left = applied.root / ".steadlith" / ".steadlith.fingerprints.999999.tmp"
    left.write_bytes(b"half")
    applied.apply()
    assert not left.exists()
    assert not list((applied.root / ".steadlith").glob("*.tmp"))


def test_what_was_cut_is_forgotten_but_for_the_last_look(applied, article):
    with applied.open() as index:
        for number in range(5):
            applied.write("0.md", article(f"round{number}", sections=3))
            index.apply(index.plan())
            assert len(index._assembly.cut_before) <= 1


def test_repairs_alone_cut_nothing_that_is_not_damaged(applied, article, monkeypatch):
    from steadlith_core.planning import wanted

    for number in range(4):
        applied.write(f"{number}.md", article(f"other{number}", sections=3))
    cut = []
    monkeypatch.setattr("steadlith.crew.want_all", lambda how, texts: cut.append(texts) or wanted.want_all(how, texts))
    plan = applied.open().plan(Look(repair_only=True))
    assert (plan.is_empty, cut) == (True, [])


def test_many_documents_left_to_the_next_plan_are_counted(make_site, article):
    site = make_site()
    for number in range(9):
        site.write(f"{number}.md", article(f"n{number}"))
    site.apply()
    site.write("new.md", article("new"))
    plan = site.plan()
    for number in range(9):
        site.write(f"{number}.md", article(f"later{number}"))
    told = []
    site.apply(plan, report=told.append)
    warnings = [event.message for event in told if type(event).__name__ == "Warned"]
    assert len(warnings) == 6
    assert warnings[-1].startswith("4 more documents")
