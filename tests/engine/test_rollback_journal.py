"""A rollback ends as one: killed anywhere, documents and configuration are those of before, or `--resume` ends it."""

import json
import signal
from contextlib import suppress

import pytest

import steadlith
from steadlith import files, hands, journals, pending, receipts
from steadlith_core.errors import ChangeUnfinished, LockHeld, OutcomeUnknown
from steadlith_core.planning.planfile import plan_digest

WHILE_WRITTEN = "a kill while a plan, lock, manifest, proof or configuration is written: by a rollback"


FORGED = '[sources.docs]\npath = "/"\n'


class Crash(BaseException):
    """What nothing catches."""


@pytest.fixture
def make_changed(make_site, article):
    """A site at generation 2, whose configuration and documents were others at 1."""

    def make(name="site"):
        site = make_site(name)
        for each in ("one", "two", "three"):
            site.write(f"{each}.md", article(each))
        site.apply()
        site.write("one.md", article("another"))
        (site.docs / "two.md").unlink()
        site.configure(embedding='template = "breadcrumb"')
        site.apply(allow=("--allow-removals",))
        return site

    return make


@pytest.fixture
def changed(make_changed):
    return make_changed()


def journal(site):
    return site.root / ".steadlith" / "steadlith.journal.json"


def text(site):
    return (site.root / "steadlith.toml").read_text("utf-8")


def committed(site, monkeypatch):
    """Go back to 1 and die before the configuration is in place."""
    plan = site.open().plan_rollback(1).plan
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(pending, "settle", crash)
        site.apply(plan)
    return plan


def crash(*_given, **_named):
    raise Crash


def judge(site, plan):
    """Old or new; what is unfinished says so and is finished."""
    index = site.open()
    head = index.head()
    assert head.generation in {2, 3}
    assert index.verify().ok
    if head.generation == 2:
        assert "breadcrumb" in text(site)
        assert site.plan().is_empty
        assert index.migrations.finish() is None
        assert site.apply(plan).embedded == 0
    elif journal(site).exists() and "breadcrumb" in text(site):
        for use in (site.plan, site.apply, lambda: site.open().plan_rollback(2), lambda: site.open().explain("one.md")):
            committed_as = r"generation 3 \(rollback to 1\) is committed.*--resume"
            with pytest.raises(ChangeUnfinished, match=committed_as) as told:
                use()
            assert told.value.exit_code == 6
        done = site.open().migrations.finish()
        assert (done.why, done.number) == ("rollback to 1", 3)
    assert site.apply(plan).already
    assert "breadcrumb" not in text(site)
    assert not journal(site).exists()
    assert site.open().migrations.finish() is None
    assert site.open().head().generation == 3
    first = next(each for each in site.open().history() if each.number == 1)
    assert site.open().head().state_root == first.state_root
    assert {str(change.id) for change in site.plan().changes} == {"docs:one.md", "docs:two.md"}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_effect_leaves_old_or_new_and_is_finished(make_changed, crashing, after, tried):
    number = 0
    while True:
        number += 1
        site = make_changed(f"site{number}")
        plan = site.open().plan_rollback(1).plan
        with crashing(number, after=after) as seen:
            site.apply(plan)
        judge(site, plan)
        if len(seen) < number:
            break
    assert number > 6
    how = "an exception that nothing catches, before and after each effect"
    tried("a crash at every effect of an apply: a rollback", how, number)


@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.slow)])
def test_sigkill_at_every_step_of_journal_and_configuration(make_changed, killed_while_writing, when, tried):
    number, generations, unfinished = 0, set(), 0
    while True:
        number += 1
        site = make_changed(f"site{number}")
        plan = site.open().plan_rollback(1).plan
        run = killed_while_writing(site, "plan = index.plan_rollback(1).plan", "index.apply(plan)", number, when)
        if run.returncode == 0:
            break
        assert run.returncode == -signal.SIGKILL, run.stderr
        generations.add(site.open().head().generation)
        with suppress(ChangeUnfinished):
            site.plan()
            unfinished -= 1
        unfinished += 1
        judge(site, plan)
    assert number > 9  # journal and configuration: create, sync, replace, sync the folder; and the journal's removal
    assert generations == {2, 3}
    assert unfinished >= 2
    tried(WHILE_WRITTEN, "SIGKILL before, within and after each operation", number - 1)


def test_a_journal_without_its_commit_stands_in_nobodys_way(changed, monkeypatch):
    plan = changed.open().plan_rollback(1).plan
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", crash)
        patch.setattr(pending, "settle", crash)
        changed.apply(plan)
    assert journal(changed).exists()
    assert changed.plan().is_empty
    assert changed.open().migrations.finish() is None
    assert not journal(changed).exists()

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", crash)
        patch.setattr(pending, "settle", crash)
        changed.apply(plan)
    assert changed.open().migrations.abort()
    assert not changed.open().migrations.abort()

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", crash)
        patch.setattr(pending, "settle", crash)
        changed.apply(plan)
    assert changed.apply(plan).head.generation == 3
    assert not journal(changed).exists()


def test_a_commit_that_fails_leaves_no_journal(changed, monkeypatch):
    from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction

    plan = changed.open().plan_rollback(1).plan

    def fail(_self, _generation, _check):
        raise OSError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "commit", fail)
        with pytest.raises(Exception, match="disk I/O error"):
            changed.apply(plan)
    assert not journal(changed).exists()
    assert "breadcrumb" in text(changed)
    assert changed.open().head().generation == 2


@pytest.mark.parametrize("happened", [False, True])
def test_a_commit_without_an_answer_is_looked_at_before_the_configuration_is_touched(changed, monkeypatch, happened):
    from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction

    plan = changed.open().plan_rollback(1).plan
    whole = SqliteTransaction.commit

    def silent(self, generation, check):
        if happened:
            whole(self, generation, check)
        else:
            self.abort()
        raise OutcomeUnknown("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "commit", silent)
        if happened:
            assert changed.apply(plan).head.generation == 3
        else:
            with pytest.raises(Exception, match="the commit did not happen"):
                changed.apply(plan)
    assert ("breadcrumb" in text(changed)) is not happened
    assert not journal(changed).exists()


def test_a_committed_rollback_is_not_dropped_without_force(changed, monkeypatch):
    committed(changed, monkeypatch)
    with pytest.raises(ChangeUnfinished, match="--resume"):
        changed.open().migrations.abort()
    assert journal(changed).exists()
    assert changed.open().migrations.abort(force=True)
    assert "breadcrumb" in text(changed)
    assert changed.plan().recipe_changed


def test_an_edited_configuration_is_not_overwritten_without_a_word(make_changed, monkeypatch):
    for name, end in (("taken", "finish"), ("kept", "abort")):
        site = make_changed(name)
        committed(site, monkeypatch)
        edited = text(site) + "# mine\n"
        (site.root / "steadlith.toml").write_text(edited, "utf-8")
        for use in (site.plan, site.open().migrations.finish, site.open().migrations.abort):
            with pytest.raises(ChangeUnfinished, match=r"was edited before.*--resume --force.*--abort --force"):
                use()
        assert text(site) == edited
        getattr(site.open().migrations, end)(force=True)
        assert (text(site) == edited) is (name == "kept")
        assert not journal(site).exists()
        assert site.plan().changes


def test_a_configuration_that_was_edited_while_it_was_decided_is_not_overwritten(changed):
    index = changed.open()
    plan = index.plan_rollback(1).plan
    edited = text(changed) + "# mine\n"
    (changed.root / "steadlith.toml").write_text(edited, "utf-8")
    with pytest.raises(Exception, match="was edited since this rollback was begun"):
        index.apply(plan)
    assert (text(changed), index.head().generation) == (edited, 2)
    assert not journal(changed).exists()


def test_a_configuration_that_cannot_be_written_is_said_and_finished_later(changed, monkeypatch):
    plan = changed.open().plan_rollback(1).plan
    whole = files.write

    def refuse(file, pieces):
        if file.name == "steadlith.toml":
            raise OSError(30, "Read-only file system")
        return whole(file, pieces)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", refuse)
        with pytest.raises(ChangeUnfinished, match=r"generation 3.*Read-only file system.*--resume"):
            changed.apply(plan)
    judge(changed, plan)


def test_a_damaged_journal_is_said_and_can_be_dropped(changed, monkeypatch):
    plan = committed(changed, monkeypatch)
    whole = journal(changed).read_text("utf-8")
    body = json.loads(whole)
    assert body["plan_digest"] == str(plan_digest(plan))
    unsealed = {name: value for name, value in body.items() if name != "checksum"}
    forged = [
        "",
        "{}",
        "[1]",
        "[" * 100_000,
        whole.replace('"number": 3', '"number": "x"'),
        json.dumps({**body, "configuration": "# somebody else's"}),
        json.dumps({**body, "plan_digest": "b3:00"}),
        json.dumps(receipts.sealed({**unsealed, "configuration": FORGED})),
    ]
    for content in forged:
        journal(changed).write_text(content, "utf-8")
        for use in (changed.plan, changed.open().migrations.finish, changed.open().migrations.abort):
            with pytest.raises(ChangeUnfinished, match=r"cannot be read.*--abort --force"):
                use()
    assert changed.open().migrations.abort(force=True)
    assert changed.plan().recipe_changed


def test_a_journal_of_a_generation_that_was_never_made_is_void(changed, monkeypatch):
    plan = committed(changed, monkeypatch)
    body = json.loads(journal(changed).read_text("utf-8"))
    del body["checksum"]
    journal(changed).write_text(json.dumps(receipts.sealed({**body, "number": 9})), "utf-8")
    assert changed.plan().recipe_changed
    another = receipts.sealed({**body, "plan_digest": str(plan_digest(changed.plan()))})
    journal(changed).write_text(json.dumps(another), "utf-8")
    assert changed.open().migrations.finish() is None
    assert changed.apply(plan).already


def test_what_is_done_but_for_its_journal_is_done(changed, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(journals, "drop", lambda _config: None)
        changed.apply(changed.open().plan_rollback(1).plan)
    assert journal(changed).exists()
    assert "breadcrumb" not in text(changed)
    assert changed.plan().changes
    assert changed.open().migrations.finish().why == "rollback to 1"
    assert not journal(changed).exists()


def test_resuming_waits_for_the_lock(changed, monkeypatch):
    committed(changed, monkeypatch)
    lock = changed.open()._assembly.lock(timeout=0.0, holder="somebody")
    lock.acquire()
    for use in (changed.open().migrations.finish, changed.open().migrations.abort):
        with pytest.raises(LockHeld, match="somebody"):
            use()
    lock.release()
    assert changed.open().migrations.finish().number == 3


def test_the_configuration_keeps_its_mode_and_its_link(changed):
    real = changed.root / "real.toml"
    link = changed.root / "steadlith.toml"
    link.rename(real)
    real.chmod(0o640)
    link.symlink_to("real.toml")
    index = steadlith.open(changed.root)
    index.apply(index.plan_rollback(1).plan)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "breadcrumb" not in real.read_text("utf-8")
