"""Migrations among what people do meanwhile: edits, compactions, other migrations, files that cannot be written."""

from contextlib import suppress

import pytest

import steadlith
from steadlith import hands, journals, pending, receipts
from steadlith.cli import ending
from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction
from steadlith_core.errors import ChangeUnfinished, ChecksFailed, PlanStale, UsageError
from steadlith_core.records import DocumentId

LARGER = ["embedding.dimensions=64"]


class Crash(BaseException):
    """What nothing catches."""


def crash(*_given, **_named):
    raise Crash


@pytest.fixture
def old(make_site, article):
    site = make_site(embedding="batch_size = 4")
    site.write("one.md", article("one", sections=2))
    site.write("two.md", article("two", sections=2))
    site.apply()
    return site


def file(site):
    return site.root / "steadlith.toml"


def text(site):
    return file(site).read_text("utf-8")


def journal(site):
    return site.root / ".steadlith" / "steadlith.journal.json"


def begin(site, monkeypatch, settings=LARGER, **asked):
    """A migration that dies before its commit."""
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", crash)
        index = site.open()
        index.migrations.apply(index.migrations.plan(settings=settings, **asked))
    assert journal(site).exists()


def commit(site, monkeypatch, settings=LARGER):
    """A migration that dies after its commit, before its configuration is in place."""
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(pending, "settle", crash)
        index = site.open()
        index.migrations.apply(index.migrations.plan(settings=settings))
    assert site.open().head().generation == 2


def test_a_committed_one_is_ended_before_another_begins(old, monkeypatch):
    index = old.open()
    found = index.migrations.plan(settings=["embedding.dimensions=48"])
    commit(old, monkeypatch)
    for use in (
        old.open().migrations.plan,
        lambda: old.open().migrations.plan(settings=["embedding.dimensions=16"]),
        lambda: index.migrations.apply(found),
    ):
        with pytest.raises(ChangeUnfinished, match="`steadlith migrate --resume` puts it there"):
            use()
    old.open().migrations.finish()
    assert "dimensions = 64" in text(old)
    assert receipts.find(old.open().config, old.open().head()) is not None


def test_a_damaged_journal_is_not_written_over(old, monkeypatch):
    begin(old, monkeypatch)
    journal(old).write_text("{", "utf-8")
    with pytest.raises(ChangeUnfinished, match=r"cannot be read.*--abort --force"):
        old.open().migrations.plan(settings=LARGER)
    assert old.open().migrations.abort(force=True)
    assert old.open().migrations.plan(settings=LARGER).plan.cost.embeddings == 0


def test_an_edit_since_it_was_begun_is_not_reverted_without_force(old, monkeypatch):
    begin(old, monkeypatch)
    edited = text(old) + "# mine\n"
    file(old).write_text(edited, "utf-8")
    with pytest.raises(ChangeUnfinished, match=r"edited since this migration was begun.*--resume --force"):
        old.open().migrations.begun()
    assert text(old) == edited
    found = old.open().migrations.begun(force=True)
    old.open().migrations.apply(found)
    assert text(old) == found.then
    assert "# mine" not in text(old)


def test_a_saved_plan_overwrites_no_edit(old):
    for planned in (
        old.open().migrations.plan(settings=LARGER).plan,
        old.open().migrations.plan(settings=["guards.max_steps=70"]).plan,
    ):
        before = text(old)
        file(old).write_text(before + "# mine\n", "utf-8")
        with pytest.raises(PlanStale, match="not the one that the plan was made over"):
            old.apply(planned, allow=["--allow-model-change"])
        assert text(old) == before + "# mine\n"
        file(old).write_text(before, "utf-8")


def test_a_saved_rollback_overwrites_no_edit(old, monkeypatch):
    index = old.open()
    index.migrations.apply(index.migrations.plan(settings=LARGER))
    planned = old.open().plan_rollback(1).plan
    edited = text(old) + "# mine\n"
    file(old).write_text(edited, "utf-8")
    with pytest.raises(PlanStale, match="not the one that the plan was made over"):
        old.apply(planned)
    assert text(old) == edited


def test_a_compaction_does_not_make_a_begun_one_look_committed(old, monkeypatch, article):
    begin(old, monkeypatch)
    for number in range(3):
        old.write("one.md", article(f"one {number}", sections=2))
        old.apply()
    old.open().compact(keep=1)
    assert old.plan().is_empty
    found = old.open().migrations.begun()
    old.open().migrations.apply(found)
    assert "dimensions = 64" in text(old)
    assert old.open().head().generation == 5


def test_an_end_that_was_reached_leaves_its_receipt_however_the_journal_goes(old, monkeypatch):
    for end in (
        lambda index: index.migrations.abort(),
        lambda index: index.migrations.finish(),
        lambda index: index.migrations.apply(index.migrations.plan(settings=["guards.max_steps=70"])),
    ):
        index = old.open()
        settings = [f"embedding.dimensions={64 + index.head().generation}"]
        with monkeypatch.context() as patch:
            patch.setattr(journals, "drop", lambda _config: None)
            patch.setattr(receipts, "write", lambda *_given: None)
            index.migrations.apply(index.migrations.plan(settings=settings))
        made = index.head()
        assert journal(old).exists()
        assert receipts.find(index.config, made) is None
        end(old.open())
        assert not journal(old).exists()
        assert receipts.find(index.config, made).after["generation"] == made.generation


def test_a_broken_configuration_file_keeps_no_committed_one_from_its_end(old, monkeypatch):
    commit(old, monkeypatch)
    for broken in ("[sources", "", None):
        file(old).unlink() if broken is None else file(old).write_text(broken, "utf-8")
        with ending.opened(file(old)) as index, pytest.raises(ChangeUnfinished, match="--resume --force"):
            index.migrations.finish()
    with ending.opened(file(old)) as index:
        index.migrations.finish(force=True)
    assert "dimensions = 64" in text(old)
    assert old.plan().is_empty


def test_the_journal_of_another_index_is_not_judged_by_this_ones_history(old, monkeypatch, article):
    commit(old, monkeypatch)
    moved = text(old) + '[store]\npath = "elsewhere.sqlite3"\n'
    kept = journal(old).read_bytes()
    file(old).write_text(moved, "utf-8")
    journal(old).unlink()
    steadlith.open(old.root).apply(steadlith.open(old.root).plan())
    journal(old).write_bytes(kept)
    for use in (old.open().migrations.abort, lambda: old.open().migrations.finish(force=True), old.plan):
        with pytest.raises(ChangeUnfinished, match=r"put its \[store\] back"):
            use()


def test_a_journal_is_dropped_whatever_the_index_is_like(old, monkeypatch):
    begin(old, monkeypatch)
    (old.root / ".steadlith" / "index.sqlite3").write_bytes(b"no index any more" * 1000)
    assert old.open().migrations.abort(force=True)
    assert not journal(old).exists()


def test_what_is_held_stays_held_when_it_is_gone_on_with(old, monkeypatch, article):
    old.write("two.md", article("another", sections=2))
    held = steadlith.Look(held=(DocumentId("docs", "two.md"),))
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", crash)
        index = old.open()
        index.migrations.apply(index.migrations.plan(held, settings=["embedding.dimensions=48"]))
    found = old.open().migrations.begun()
    assert found.plan.held == held.held
    old.open().migrations.apply(found)
    assert {str(change.id) for change in old.plan().changes} == {"docs:two.md"}


@pytest.mark.parametrize(("ends", "mark"), [(b"\r\n", b""), (b"\n", b"\xef\xbb\xbf"), (b"\r\n", b"\xef\xbb\xbf")])
def test_line_ends_and_byte_order_mark_of_the_file_stay(old, ends, mark):
    file(old).write_bytes(mark + text(old).encode().replace(b"\n", ends))
    before = file(old).read_bytes()
    index = old.open()
    index.migrations.apply(index.migrations.plan(settings=LARGER))
    assert file(old).read_bytes() == before.replace(b"dimensions = 32", b"dimensions = 64")
    index.apply(index.plan_rollback(1).plan)
    assert file(old).read_bytes() == before


def test_settings_of_the_sources_are_a_cause_of_their_own(old, article):
    old.write("drafts/three.md", article("three"))
    old.apply()
    found = old.open().migrations.plan(settings=['sources.docs.exclude=["drafts/"]'])
    causes = {each.name: each for each in found.causes}
    assert causes.keys() == {"settings of the sources"}
    assert causes["settings of the sources"].documents == 1


def test_only_chunks_that_are_embedded_are_sampled(make_site):
    site = make_site()
    (site.root / "steadlith.toml").write_text(
        '[sources.docs]\npath = "docs"\n[chunking]\npolicy = "late"\nchild_max_words = 10\n'
        '[embedding]\nembedder = "hash"\ndimensions = 32\n',
        "utf-8",
    )
    for number in range(100):
        site.write(f"{number}.md", f"# N{number}\n\n" + " ".join(f"word{number}x{each}" for each in range(18)) + "\n")
    site.apply()
    index = site.open()
    index.migrations.apply(index.migrations.plan(settings=LARGER))
    told = receipts.newest(index.config).told["checks"]
    assert (told["sampled"], told["found"]) == (100, 100)


def test_a_search_that_answers_nothing_is_not_good_enough(old, monkeypatch):
    from steadlith_adapters.stores.sqlite.reader import SqliteReader

    index = old.open()
    found = index.migrations.plan(settings=LARGER)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteReader, "dense", lambda *_given, **_named: ())
        with pytest.raises(ChecksFailed, match="not found by its own vector"):
            index.migrations.apply(found)


def test_questions_that_ask_nothing_or_cannot_be_answered_are_refused_before_anything_is_paid(old):
    golden = old.root / "golden.jsonl"
    for content, said in (
        ("\n", "holds no question"),
        ('{"question": "x", "documents": ["absent.md"]}\n', "will have no such document"),
        ("[" * 100_000, "is not JSON"),
    ):
        golden.write_text(content, "utf-8-sig")
        with pytest.raises(UsageError, match=said):
            old.open().migrations.plan(settings=LARGER, questions_file=golden)
    (old.docs / "two.md").unlink()
    golden.write_text('{"question": "x", "documents": ["two.md"]}\n', "utf-8")
    with pytest.raises(UsageError, match="will have no such document"):
        old.open().migrations.plan(settings=LARGER, questions_file=golden)


def test_a_receipt_that_cannot_be_written_stops_nothing_and_is_not_another_ones(old, monkeypatch):
    index = old.open()
    index.migrations.apply(index.migrations.plan(settings=LARGER))

    def full(*_given):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(receipts, "write", full)
        index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=48"]))
    assert "dimensions = 48" in text(old)
    assert receipts.find(index.config, index.head()) is None
    assert receipts.newest(index.config).after["generation"] == 2


def test_another_migration_takes_the_place_of_one_that_was_begun(old, monkeypatch):
    begin(old, monkeypatch)
    index = old.open()
    index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=48"]))
    assert "dimensions = 48" in text(old)
    assert old.open().migrations.begun() is None
    assert not journal(old).exists()


def test_nothing_is_committed_where_the_commit_is_refused(old, monkeypatch):
    index = old.open()
    found = index.migrations.plan(settings=LARGER)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "commit", lambda *_given: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(Exception, match="full"):
            index.migrations.apply(found)
    assert (old.open().head().generation, "dimensions = 32" in text(old)) == (1, True)
    old.open().migrations.apply(old.open().migrations.begun())
    assert "dimensions = 64" in text(old)
