"""A move that is cut short anywhere leaves the old index as it is, and the same move goes on; damage and mix-ups are
found before the configuration says anything.
"""

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from steadlith import carrying, contents, copying, files, journals, pending, receipts, storemoves
from steadlith.assembly import Assembly
from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction
from steadlith_core.errors import (
    AdapterError,
    ChangeUnfinished,
    ConfigError,
    LockHeld,
    PlanStale,
    StaleHead,
    Stopped,
    StoreCorrupt,
    UsageError,
)

HERE = "[store]\ntype = 'sqlite'\npath = '.steadlith/there.sqlite3'\n"
BATCHES = 4


class Crash(BaseException):
    """What nothing catches."""


class Watched:
    """A store or one of its writes: `tell` hears of each call that changes something, before and after it."""

    CALLS = ("begin", "compact", "put_texts", "put_entries", "put_vectors", "put_document", "put_nodes", "commit")

    def __init__(self, whole, tell):
        self._whole, self._tell = whole, tell

    def __getattr__(self, name):
        whole = getattr(self._whole, name)
        if name not in self.CALLS:
            return whole

        def call(*given, **named):
            self._tell(f"before {name}")
            answer = whole(*given, **named)
            self._tell(f"after {name}")
            return Watched(answer, self._tell) if name == "begin" else answer

        return call


class WatchedFiles(files.Posix):
    """The file system, of which `tell` hears."""

    def __init__(self, tell):
        for name in ("create", "sync", "replace", "sync_folder", "remove"):
            setattr(self, name, self._told(name, getattr(files.Posix, name), tell))

    def _told(self, name, whole, tell):
        def call(*given):
            tell(f"before {name}")
            answer = whole(self, *given)
            if name != "create":  # what comes next is told of, and then somebody closes it
                tell(f"after {name}")
            return answer

        return call


def watch(patch, tell):
    """Let `tell` hear of all that a move changes."""
    opened = Assembly.open_store

    def open_store(self, *, readonly):
        whole = opened(self, readonly=readonly)
        return whole if readonly else Watched(whole, tell)

    patch.setattr(Assembly, "open_store", open_store)
    patch.setattr(files, "SYSTEM", WatchedFiles(tell))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Batches of a few chunks, and fewer texts at once than these have."""
    monkeypatch.setattr(copying, "BATCH", 9)
    monkeypatch.setattr(copying, "TOGETHER", 4)
    monkeypatch.setattr(contents, "TOGETHER", 4)


@pytest.fixture
def make_filled(make_site, site_at, article):
    """Sites of one index with a past."""
    first = make_site("first")
    for each in ("one", "two", "three", "four"):
        first.write(f"{each}.md", article(each))
    first.apply()
    first.write("two.md", article("another"))
    first.apply()

    def make(name="site"):
        site = site_at(first.root.with_name(name))
        shutil.rmtree(site.root)
        shutil.copytree(first.root, site.root)
        return site

    return make


@pytest.fixture
def filled(make_filled):
    return make_filled()


def copied(site, store):
    """How many chunks are in the other store."""
    with closing(site.elsewhere(store).open_store(readonly=True)) as there:
        return there.head().chunks


def judge(site, store, was, acknowledged):
    """The old index, or the new one; the same move ends it, and nothing that was committed is copied again."""
    old = "there" not in site.text() and "postgres" not in site.text()
    assert site.open().verify().ok
    assert site.open().head().state_root == was.state_root
    plan = site.plan()
    assert plan.is_empty
    assert not plan.drift
    if not old:
        assert site.open().migrations.stores.begun() is None
        assert site.open().migrations.on_its_way() is None
        assert site.open().migrations.finish() is None
        (receipt,) = map(receipts.read, receipts.folder(site.open().config).glob("*.json"))
        assert receipt.after["state_root"] == str(was.state_root)
        assert receipt.told["moved"]["chunks"] == was.chunks
        assert not journals.place(site.open().config).exists()
        return False
    assert site.open().head() == was
    assert copied(site, store) >= acknowledged
    told = []
    stores = site.open().migrations.stores
    begun = stores.begun() or stores.plan(site.under(store))
    assert begun.copied == copied(site, store)
    stores.apply(begun, report=told.append)
    assert len(told) <= BATCHES - len([each for each in range(BATCHES) if each * was.chunks // BATCHES < acknowledged])
    head = site.open().head()
    assert (head.corpus_root, head.state_root, head.chunks) == (was.corpus_root, was.state_root, was.chunks)
    (made,) = site.open().history()
    assert made.configuration == site.text()
    assert site.open().verify().ok
    assert not journals.place(site.open().config).exists()
    plan = site.plan()
    assert plan.is_empty
    assert not plan.drift
    return True


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_crash_at_every_effect_costs_a_batch_at_most(make_filled, monkeypatch, step, tried):
    seen, ended = [], set()
    for number in range(1, 1000, step):
        site = make_filled(f"site{number}")
        was, seen, acknowledged = site.open().head(), [], []

        def tell(what, seen=seen, number=number):
            seen.append(what)
            if len(seen) == number:
                raise Crash

        with monkeypatch.context() as patch, suppress(Crash):
            watch(patch, tell)
            site.move(HERE, report=lambda event, acknowledged=acknowledged: acknowledged.append(event.done))
        ended.add(judge(site, HERE, was, max(acknowledged, default=0)))
        if len(seen) < number:
            break
    assert number > 90
    assert {what.split()[1] for what in seen} == {*Watched.CALLS, "create", "sync", "replace", "sync_folder", "remove"}
    assert ended == {True, False}
    how = "an exception that nothing catches, before and after each effect"
    tried("a crash at every effect of upkeep: a move to another store", how, number // step)


KILLED = """
import importlib.util, os, signal, sys
from pathlib import Path
import pytest
def loaded(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
cut, site = map(loaded, sys.argv[4:])
from steadlith import contents, copying
copying.BATCH, copying.TOGETHER, contents.TOGETHER = 9, 4, 4
number, seen = int(sys.argv[2]), 0
def tell(what):
    global seen
    seen += 1
    if seen == number:
        os.kill(os.getpid(), signal.SIGKILL)
cut.watch(pytest.MonkeyPatch(), tell)
class Site(site.Site):
    def __init__(self, root):
        self.root = root
Site(Path(sys.argv[1])).move(sys.argv[3])
print(seen)
"""


def killed_at(site, store, number):
    """A move in a process of its own that kills itself at this effect; whether it was killed."""
    here = Path(__file__)
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            KILLED,
            str(site.root),
            str(number),
            store,
            str(here),
            str(here.with_name("conftest.py")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in {0, -signal.SIGKILL}, run.stderr
    return run.returncode != 0


def kills(make_filled, store_of, numbers):
    count = 0
    for number in numbers:
        site, store = make_filled(f"site{number}"), store_of()
        was = site.open().head()
        if not killed_at(site, store, number):
            break
        judge(site, store, was, 0)
        count += 1
    return count


@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_sigkill_at_the_effects_of_a_move_to_a_file(make_filled, step, tried):
    count = kills(make_filled, lambda: HERE, range(3, 1000, step))
    assert count > 60 // step
    tried("a crash at every effect of upkeep: a move to a file", "SIGKILL, before and after each effect", count)


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_sigkill_at_the_effects_of_a_move_to_a_server(make_filled, postgres_settings, step, tried):
    def store():
        return "[store]\ntype = 'postgres'\n" + "".join(f"{k} = {v!r}\n" for k, v in postgres_settings().items())

    count = kills(make_filled, store, range(5, 1000, step))
    assert count > 60 // step
    tried("a crash at every effect of upkeep: a move to a server", "SIGKILL, before and after each effect", count)


def test_one_killed_again_and_again_ends(filled):
    was, number = filled.open().head(), 0
    while HERE not in filled.text() and killed_at(filled, HERE, 40):
        number += 1
        assert number <= 2 * BATCHES
        assert filled.open().verify().ok
    assert number > 1
    assert filled.open().head().state_root == was.state_root
    assert "there" in filled.text()
    assert filled.plan().is_empty


def test_a_server_that_is_killed_half_way_costs_a_batch(filled, own_postgres_server, monkeypatch, tried):
    monkeypatch.setenv("STEADLITH_OWN", own_postgres_server.dsn)
    store = "[store]\ntype = 'postgres'\ndsn_env = 'STEADLITH_OWN'\nschema = 'there'\n"
    was = filled.open().head()
    for moment in ("before put_document", "before commit", "after commit"):
        seen = []

        def tell(what, seen=seen, moment=moment):
            seen.append(what)
            if what == moment:
                own_postgres_server.kill()

        before = copied(filled, store)
        with monkeypatch.context() as patch:
            watch(patch, tell)
            with pytest.raises(AdapterError) as raised:
                filled.move(store)
        assert own_postgres_server.place["password"] not in str(raised.value)
        assert "postgres" not in filled.text()
        own_postgres_server.start()
        assert (copied(filled, store) > before) is (moment == "after commit")
    judge(filled, store, was, copied(filled, store))
    tried("a crash at every effect of upkeep: a move to a server", "SIGKILL of every process of the server", 3)


def test_it_stops_between_two_batches_and_goes_on_behind_them(filled):
    answers = iter([False, False, True])
    with pytest.raises(Stopped, match=r"stopped after \d+ of \d+ chunks; the same move goes on"):
        filled.move(HERE, stop_requested=lambda: next(answers))
    done = copied(filled, HERE)
    told = []
    filled.move(HERE, report=told.append)
    assert told[0].done > done
    assert len(told) == BATCHES - 2


DAMAGE = {
    "a text": "UPDATE text SET body = body || 'x' WHERE text = 20",
    "a heading": "UPDATE entry SET title = 'another' WHERE entry = 20",
    "a vector": "UPDATE vector SET checksum = zeroblob(length(checksum)) WHERE entry = 20",
    "a missing vector": "DELETE FROM vector WHERE entry = 20",
    "a chunk": "UPDATE document_version SET leaves = CAST(zeroblob(length(leaves)) AS BLOB) WHERE document = 4",
    "metadata": "UPDATE document_version SET metadata = x'00' WHERE document = 4",
    "a span": "UPDATE span SET positions = zeroblob(length(positions)) WHERE document = 4",
    "a source": "UPDATE span SET source_digest = zeroblob(32) WHERE document = 4",
    "a document": "DELETE FROM document_version WHERE document = 4",
    "a count": "UPDATE generation SET chunks = chunks + 1",
}


def tamper(file, statement):
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute(statement).rowcount > 0


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_not_copied(filled, what):
    tamper(filled.root / ".steadlith" / "index.sqlite3", DAMAGE[what])
    with pytest.raises(StoreCorrupt, match=r"doctor --repair|apply again"):
        filled.move(HERE)
    assert "there" not in filled.text()
    assert not (filled.root / ".steadlith" / "there.sqlite3").exists()


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_to_what_was_copied_is_found_before_it_is_the_index(filled, monkeypatch, what):
    """Also where it happens between the last batch and the configuration."""
    there = filled.root / ".steadlith" / "there.sqlite3"
    whole = copying.Copy.tidy

    def damaging(self, head):
        whole(self, head)
        tamper(there, DAMAGE[what])

    with monkeypatch.context() as patch:
        patch.setattr(copying.Copy, "tidy", damaging)
        with pytest.raises(StoreCorrupt, match=r"what was copied is not the index|not as it was committed"):
            filled.move(HERE)
    assert "there" not in filled.text()
    assert filled.open().verify().ok
    there, aside = filled.open().migrations.stores.abort()
    assert there
    assert aside.endswith("there.sqlite3.damaged-1")
    filled.move(HERE)
    assert filled.open().verify().ok


def test_a_copy_with_other_contents_is_found_though_it_verifies(filled, monkeypatch):
    """A store that keeps something else than it was given, with checksums that are right."""
    spans = copying._version

    def moved_spans(document, rows):
        made = spans(document, rows)
        first, *rest = made.placements
        span = type(first.span)(first.span.start, first.span.end, 1, 99)
        return replace(made, placements=(replace(first, span=span), *rest))

    with monkeypatch.context() as patch:
        patch.setattr(copying, "_version", moved_spans)
        with pytest.raises(StoreCorrupt, match="has other chunks"):
            filled.move(HERE)
    assert "there" not in filled.text()


@pytest.mark.parametrize(
    ("forgets", "said"),
    [
        ("put_vectors", "has no vector"),
        ("put_texts", "never put"),
        ("put_nodes", "topmost node"),
        ("put_document", "where the store has 0"),
    ],
)
def test_a_store_that_takes_rows_and_keeps_none_is_found_out(filled, monkeypatch, forgets, said):
    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, forgets, lambda *_given: None)
        with pytest.raises((StoreCorrupt, AdapterError), match=said):
            filled.move(HERE)
    assert "there" not in filled.text()
    assert filled.open().verify().ok


def test_nothing_is_added_to_another_index(filled, make_site, article):
    other = make_site("other")
    other.write("a.md", article("a"))
    other.apply()
    taken = f"[store]\ntype = 'sqlite'\npath = '{other.root}/.steadlith/index.sqlite3'\n"
    before = other.files()
    with pytest.raises(UsageError, match=r"another index already \(generation 1 of .*: apply\); name a place that is"):
        filled.move(taken)
    with pytest.raises(UsageError, match="no unfinished move made"):
        carrying.take_away(filled.elsewhere(taken))
    assert not journals.place(filled.open().config).exists()
    assert other.open().verify().ok
    assert other.files().keys() == before.keys()
    assert other.open().head().generation == 1


def test_the_very_store_and_a_copy_of_it_are_told_apart_from_a_place(filled):
    filled.open().backup(filled.root / ".steadlith" / "there.sqlite3")
    with pytest.raises(UsageError, match="this very index, or a copy of its files"):
        filled.move(HERE)
    for same in ("[store]\n", "[store]\npath = '.steadlith/../.steadlith/index.sqlite3'\n"):
        with pytest.raises(UsageError, match="the index is in that store already"):
            filled.move(same)


def test_a_part_of_another_head_is_refused_and_can_be_taken_away(filled, article):
    stops = iter([False, True])
    with suppress(Stopped):
        filled.move(HERE, stop_requested=lambda: next(stops))
    filled.write("five.md", article("five"))
    filled.apply()
    with pytest.raises(UsageError, match=r"left of another copy \(part of a copy of sqlite, generation 2\).*--abort"):
        filled.move(HERE)
    with pytest.raises(UsageError, match="left of another copy"):
        filled.open().migrations.stores.begun()
    there, aside = filled.open().migrations.stores.abort()
    assert there
    assert aside.endswith("there.sqlite3.damaged-1")
    assert filled.open().migrations.stores.abort() == (False, None)
    filled.move(HERE)
    assert filled.plan().is_empty


def test_what_was_added_to_a_copy_is_not_overwritten(filled, article):
    was = filled.text()
    filled.move(HERE)
    filled.write("five.md", article("five"))
    filled.apply()
    (filled.root / "steadlith.toml").write_text(was, "utf-8")
    with pytest.raises(UsageError, match=r"another index already \(generation 5 .*: apply\)"):
        filled.move(HERE)
    with pytest.raises(UsageError, match="no unfinished move made"):
        carrying.take_away(filled.elsewhere(HERE))


def test_a_head_that_moves_meanwhile_stops_the_move(filled, monkeypatch, article):
    """By somebody who does not ask for the lock."""

    class Free:
        def acquire(self):
            pass

        def release(self):
            pass

    def tell(event):
        if event.done < event.total:
            filled.write("five.md", article("five"))
            filled.apply()

    with monkeypatch.context() as patch:
        patch.setattr(Assembly, "lock", lambda _self, **_named: Free())
        with pytest.raises(StaleHead, match="moved to generation 3 since this move was begun at 2"):
            filled.move(HERE, report=tell)
    assert "there" not in filled.text()
    assert filled.plan().is_empty


def test_nobody_else_writes_either_store_meanwhile(filled, article):
    stores = [Assembly(filled.open().config), filled.elsewhere(HERE)]
    filled.write("five.md", article("five"))
    plan, seen = filled.plan(), []

    def tell(event):
        for each in stores:
            with pytest.raises(LockHeld, match="steadlith migrate"):
                each.lock(timeout=0.0, holder="another").acquire()
        with pytest.raises(LockHeld, match="steadlith migrate"):
            filled.apply(plan)
        assert filled.hits()
        seen.append(event)

    for each in stores:
        lock = each.lock(timeout=0.0, holder="another")
        lock.acquire()
        with pytest.raises(LockHeld, match="another"):
            filled.move(HERE)
        lock.release()
    filled.move(HERE, report=tell)
    assert len(seen) == BATCHES
    assert filled.apply().embedded


def test_a_move_changes_nothing_else(filled):
    other = filled.under(HERE).replace("max_tokens = 48", "max_tokens = 50")
    with pytest.raises(UsageError, match=r"changes \[store\] alone"):
        filled.open().migrations.stores.plan(other)
    with pytest.raises(UsageError, match="to copy the index there is a move of its own"):
        filled.open().migrations.plan(text=filled.under(HERE))


def test_while_it_is_under_way_no_other_change_is_begun_and_applies_go_on(filled, article):
    stops = iter([False, True])
    with suppress(Stopped):
        filled.move(HERE, stop_requested=lambda: next(stops))
    elsewhere = HERE.replace("there", "elsewhere")
    for use in (
        lambda: filled.move(elsewhere),
        lambda: filled.open().migrations.plan(settings=["chunking.max_tokens=50"]),
        filled.open().migrations.abort,
    ):
        with pytest.raises(ChangeUnfinished, match=r"there\.sqlite3.*--resume.*--abort") as raised:
            use()
        assert raised.value.exit_code == 6
    assert filled.open().migrations.begun() is None
    assert filled.open().migrations.on_its_way().is_move
    filled.write("five.md", article("five"))
    assert filled.apply().embedded
    assert filled.open().migrations.stores.abort()[0]
    assert filled.open().migrations.on_its_way() is None
    assert filled.open().migrations.plan(settings=["chunking.max_tokens=50"]).plan.changes


def test_a_rollback_that_brings_a_configuration_waits_for_its_end(filled):
    filled.configure(embedding='template = "breadcrumb"')
    filled.apply()
    stops = iter([False, True])
    with suppress(Stopped):
        filled.move(HERE, stop_requested=lambda: next(stops))
    with pytest.raises(ChangeUnfinished, match="is on its way to another store"):
        filled.apply(filled.open().plan_rollback(2).plan)
    stores = filled.open().migrations.stores
    stores.apply(stores.begun())
    assert filled.plan().is_empty


def test_a_store_that_was_put_into_the_configuration_by_hand_is_left_alone(filled):
    with pytest.MonkeyPatch.context() as patch, suppress(Crash):
        patch.setattr(storemoves.StoreMoves, "_put", crash)
        filled.move(HERE)
    (filled.root / "steadlith.toml").write_text("# by hand\n" + filled.under(HERE), "utf-8")
    assert filled.open().migrations.stores.begun() is None
    assert filled.open().migrations.stores.abort() == (False, None)
    assert filled.open().migrations.on_its_way() is None
    assert filled.open().verify().ok
    assert filled.plan().is_empty


def test_a_head_that_moved_since_it_was_shown_is_not_copied_without_a_word(filled, article):
    stores = filled.open().migrations.stores
    found = stores.plan(filled.under(HERE))
    filled.write("five.md", article("five"))
    filled.apply()
    with pytest.raises(StaleHead, match="moved to generation 3 since this move was begun at 2"):
        stores.apply(found)
    stores = filled.open().migrations.stores
    stores.apply(stores.begun())
    assert filled.plan().is_empty


def test_a_move_waits_for_what_is_committed_and_not_in_place(filled, monkeypatch):
    index = filled.open()
    found = index.migrations.plan(settings=["chunking.max_tokens=60"])
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(pending, "settle", crash)
        index.migrations.apply(found)
    with pytest.raises(ChangeUnfinished, match="is committed, and its configuration is not in place"):
        filled.move(HERE)
    assert filled.open().migrations.finish() is not None
    filled.move(HERE)
    assert filled.plan().is_empty


def test_a_journal_that_cannot_be_read_is_said_and_dropped_with_force(filled):
    journals.place(filled.open().config).write_text("{", "utf-8")
    with pytest.raises(ChangeUnfinished, match=r"cannot be read.*migrate --abort --force"):
        filled.move(HERE)
    with pytest.raises(ChangeUnfinished, match="cannot be read"):
        filled.open().migrations.stores.abort()
    assert filled.open().migrations.stores.abort(force=True) == (False, None)
    assert filled.open().migrations.abort(force=True)
    filled.move(HERE)


def test_a_configuration_that_is_edited_meanwhile_is_not_overwritten(filled):
    file = filled.root / "steadlith.toml"
    was = filled.text()

    def edit(event):
        if event.done == event.total:
            file.write_text(was + "# mine\n", "utf-8")

    with pytest.raises(PlanStale, match="was edited since this move was begun"):
        filled.move(HERE, report=edit)
    assert filled.text() == was + "# mine\n"
    with pytest.raises(ChangeUnfinished, match=r"was edited since.*--abort"):
        filled.open().migrations.stores.begun()
    file.write_text(was, "utf-8")
    stores = filled.open().migrations.stores
    stores.apply(stores.begun())
    assert "there" in filled.text()


def test_a_configuration_that_cannot_be_written_is_said_and_the_move_ended_later(filled, monkeypatch):
    whole = files.write

    def refuse(file, pieces):
        if file.name == "steadlith.toml":
            raise OSError(30, "Read-only file system")
        return whole(file, pieces)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", refuse)
        with pytest.raises(ChangeUnfinished, match=r"in its new store.*Read-only file system.*--resume"):
            filled.move(HERE)
    assert filled.plan().is_empty
    stores, told = filled.open().migrations.stores, []
    stores.apply(stores.begun(), report=told.append)
    assert told == []
    assert "there" in filled.text()


def test_a_journal_that_cannot_be_written_stops_a_move_before_it_begins(filled, monkeypatch):
    def refuse(_config, _journal):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journals, "write", refuse)
    with pytest.raises(AdapterError, match=r"No space left.*nothing was copied"):
        filled.move(HERE)
    assert not (filled.root / ".steadlith" / "there.sqlite3").exists()


def test_a_whole_copy_for_another_configuration_is_not_taken(filled, monkeypatch):
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(storemoves.StoreMoves, "_put", crash)
        filled.move(HERE)
    journals.drop(filled.open().config)
    (filled.root / "steadlith.toml").write_text("# more\n" + filled.text(), "utf-8")
    with pytest.raises(UsageError, match="made for another text of the configuration"):
        filled.move(HERE)


def crash(*_given, **_named):
    raise Crash


def test_it_leaves_a_receipt_which_is_no_pace_of_a_migration(filled):
    index = filled.open()
    index.migrations.apply(index.migrations.plan(settings=["chunking.max_tokens=60"]))
    paced = receipts.newest(filled.open().config)
    moved = filled.move(HERE)
    found = [receipts.read(file) for file in receipts.folder(filled.open().config).glob("*.json")]
    (receipt,) = [each for each in found if "moved" in each.told]
    assert receipt.before["generation"] == moved.before.number == 3
    assert receipt.after["state_root"] == receipt.before["state_root"]
    assert receipt.told["moved"]["chunks"] == filled.open().head().chunks
    assert receipts.newest(filled.open().config) == paced
    index = filled.open()
    index.migrations.apply(index.migrations.plan(settings=["chunking.max_tokens=56"]))
    assert receipts.newest(filled.open().config).after["generation"] == filled.open().head().generation


def test_a_password_is_in_no_error_and_no_file(filled, monkeypatch):
    secret = "hunter2"
    monkeypatch.setenv("STEADLITH_LEADS_NOWHERE", f"host=127.0.0.1 port=1 user=me password={secret} connect_timeout=2")
    for lines in (
        f"password = '{secret}'",
        f"dsn = 'postgresql://me:{secret}@127.0.0.1:1/docs'",
        f"dsn = 'host=127.0.0.1 password={secret} ?'",
        "dsn_env = 'STEADLITH_LEADS_NOWHERE'",
    ):
        store = f"[store]\ntype = 'postgres'\n{lines}\n"
        for use in (
            lambda store=store: filled.open().migrations.stores.plan(filled.under(store)),
            lambda store=store: carrying.take_away(filled.elsewhere(store)),
            lambda store=store: filled.elsewhere(store).lock(timeout=0.0, holder="x").acquire(),
        ):
            with pytest.raises((ConfigError, AdapterError)) as raised:
                use()
            assert secret not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"
    assert [name for name, (data, _) in filled.files().items() if secret.encode() in data] == []
