"""The doctor: each damage is done for real, found by its name, repaired without paying, and judged by the roots."""

import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import apsw
import pytest

from steadlith_adapters.sqlite import network, surroundings
from steadlith_adapters.stores.sqlite import session
from steadlith_core.cachefile import entry_checksum
from steadlith_core.errors import LockHeld

NEWER = 999


@pytest.fixture
def sick(settled, article):
    """Two generations, to be made sick."""
    settled.write("one.md", article("one again"))
    settled.apply()
    return settled


def file(site, name="index.sqlite3"):
    return site.root / ".steadlith" / name


def sql(path, *statements):
    connection = apsw.Connection(str(path))
    found = [
        connection.execute(*each).fetchall() if isinstance(each, tuple) else connection.execute(each).fetchall()
        for each in statements
    ]
    connection.close()
    return found


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def somebodys(path):
    path.unlink()
    sql(path, "CREATE TABLE theirs(x)")


def half_made(path):
    (mark,) = sql(path, "PRAGMA application_id")[0][0]
    path.unlink()
    sql(path, f"PRAGMA application_id = {mark}", "PRAGMA user_version = 3")


def replace_vectors(path, vector):
    """Other vectors in the cache, each with a checksum of its own: nothing but the index can tell."""
    connection = apsw.Connection(str(path))
    for key, kept in connection.execute("SELECT key, vector FROM embedding ORDER BY key LIMIT 2").fetchall():
        other = vector(kept)
        connection.execute(
            "UPDATE embedding SET vector = ?, checksum = ? WHERE key = ?", (other, entry_checksum(key + other), key)
        )
    connection.close()


def kinds(diagnosis, *, grave=True):
    return {str(trouble.kind) for trouble in diagnosis.troubles if trouble.grave is grave}


MENDED = {
    "index removed": ("index.sqlite3", os.unlink, {"index_missing"}),
    "index cut in half": ("index.sqlite3", halve, {"index_damaged"}),
    "index half-made": ("index.sqlite3", half_made, {"index_damaged"}),
    "index without a head": ("index.sqlite3", lambda path: sql(path, "DELETE FROM head"), {"index_damaged"}),
    "a text changed": (
        "index.sqlite3",
        lambda path: sql(path, "UPDATE text SET body = body || ' and a lie' WHERE text = (SELECT max(text) FROM text)"),
        {"text"},
    ),
    "lexical rows removed": (
        "index.sqlite3",
        lambda path: sql(path, "DELETE FROM lexical WHERE rowid > 3"),
        {"lexical"},
    ),
    "vectors removed": ("index.sqlite3", lambda path: sql(path, "DELETE FROM vector WHERE entry > 3"), {"vector"}),
    "the trie's top changed": (
        "index.sqlite3",
        lambda path: sql(path, "UPDATE trie_node SET digest = zeroblob(32) WHERE prefix = ''"),
        {"nodes"},
    ),
    "cache cut in half": ("cache.sqlite3", halve, {"cache_damaged"}),
    "cache of zeros": ("cache.sqlite3", lambda path: path.write_bytes(bytes(50_000)), {"cache_damaged"}),
    "a cached vector changed": (
        "cache.sqlite3",
        lambda path: sql(path, "UPDATE embedding SET vector = zeroblob(length(vector)) WHERE id = 1"),
        {"cache_entry"},
    ),
    "cached vectors poisoned": (
        "cache.sqlite3",
        lambda path: replace_vectors(path, lambda vector: vector[4:] + vector[:4]),
        {"cache_contradicts"},
    ),
    "cached vectors of another width": (
        "cache.sqlite3",
        lambda path: replace_vectors(path, lambda vector: vector[: len(vector) // 2]),
        {"cache_contradicts"},
    ),
    "fingerprints overwritten": (
        "steadlith.fingerprints",
        lambda path: path.write_bytes(b"nothing that anybody wrote"),
        {"fingerprints"},
    ),
    "a block of fingerprints changed": ("steadlith.fingerprints", lambda path: flip(path, 40), {"fingerprints"}),
}


def check_whole(site, before):
    """The index that it was, nothing wrong, and nothing to pay for."""
    after = site.open().head()
    assert (after.corpus_root, after.state_root) == (before.corpus_root, before.state_root)
    assert site.open().verify().problems == ()
    left = site.open().examine()
    assert left.ok, left.troubles
    assert site.plan().is_empty
    assert site.open().cache.check().damaged == ()


@pytest.mark.parametrize("damage", MENDED)
def test_what_is_damaged_is_found_by_name_and_repaired_without_paying(sick, damage):
    name, do, wanted = MENDED[damage]
    before, hits = sick.open().head(), sick.hits()
    do(file(sick, name))
    seen = sick.open().examine()
    assert wanted <= kinds(seen)
    assert all(trouble.way_out and trouble.mendable for trouble in seen.troubles if trouble.grave)
    done = sick.open().repair()
    assert done.found == seen
    assert (done.embedded, done.unpaid, done.refused) == (0, None, None)
    assert done.done
    assert done.left.ok
    check_whole(sick, before)
    assert [(hit.text, hit.score) for hit in sick.hits()] == [(hit.text, hit.score) for hit in hits]


def test_everything_at_once_is_found_and_repaired_at_once(sick):
    before = sick.open().head()
    chosen = ("a text changed", "cache cut in half", "a block of fingerprints changed")
    for damage in chosen:
        name, do, _ = MENDED[damage]
        do(file(sick, name))
    assert kinds(sick.open().examine()) == {"text", "cache_damaged", "fingerprints"}
    done = sick.open().repair()
    assert (done.embedded, done.left.ok) == (0, True)
    check_whole(sick, before)


def test_a_lost_cache_is_filled_from_the_index(sick):
    """So that a later loss of the index costs nothing either."""
    before = sick.open().head()
    halve(file(sick, "cache.sqlite3"))
    sick.open().repair()
    file(sick).unlink()
    done = sick.open().repair()
    assert (done.embedded, done.unpaid) == (0, None)
    check_whole(sick, before)


def test_a_set_up_that_is_well_is_looked_at_without_a_change(sick):
    before = sick.files()
    seen = sick.open().examine()
    assert (seen.ok, seen.troubles) == (True, ())
    done = sick.open().repair()
    assert (done.done, done.left) == ((), seen)
    assert sick.files() == before


def test_a_set_up_without_an_index_is_well(site, article):
    site.write("one.md", article("one"))
    assert site.open().examine().troubles == ()
    assert not file(site).exists()


# ------------------------------------------------------------------------------------------------- money and guards


def test_what_neither_cache_nor_index_has_is_not_paid_for_without_a_word(sick):
    before = sick.open().head()
    file(sick).unlink()
    file(sick, "cache.sqlite3").unlink()
    done = sick.open().repair()
    assert done.unpaid is not None
    count = done.unpaid.embeddings
    assert count > 0
    assert (done.embedded, kinds(done.left)) == (0, {"index_missing"})
    assert not file(sick).exists()
    paid = sick.open().repair(pay=True)
    assert (paid.embedded, paid.unpaid, paid.left.ok) == (count, None, True)
    check_whole(sick, before)


def test_only_what_is_lost_on_both_sides_costs(sick):
    before = sick.open().head()
    sql(file(sick), "DELETE FROM vector WHERE entry IN (SELECT entry FROM entry WHERE live = 1 LIMIT 2)")
    file(sick, "cache.sqlite3").unlink()
    done = sick.open().repair()
    assert (done.unpaid.embeddings, done.embedded) == (2, 0)
    assert sick.open().repair(pay=True).embedded == 2
    check_whole(sick, before)


def test_an_index_of_another_configuration_is_left_to_a_plan(sick):
    sql(file(sick), "UPDATE text SET body = body || ' and a lie' WHERE text = (SELECT max(text) FROM text)")
    configured = (sick.root / "steadlith.toml").read_text("utf-8")
    (sick.root / "steadlith.toml").write_text(configured.replace("max_tokens = 48", "max_tokens = 40"), "utf-8")
    done = sick.open().repair()
    assert "plan --refresh full" in done.refused
    assert (done.done, kinds(done.left)) == ((), {"text"})


def test_a_source_that_changed_is_not_applied_by_a_repair_of_rows(sick, article):
    """A document that is damaged and changed is a plan's matter; what changed elsewhere stays for the next plan."""
    before = sick.open().head()
    sql(file(sick), "DELETE FROM lexical WHERE rowid = 1")
    sick.write("new.md", article("new"))
    done = sick.open().repair()
    assert done.left.ok
    assert sick.open().head().corpus_root == before.corpus_root
    assert len(sick.plan().changes) == 1


def test_a_writer_at_work_is_not_disturbed(sick):
    file(sick, "steadlith.fingerprints").write_bytes(b"no")
    lock = sick.open()._assembly.lock(timeout=0, holder="somebody")
    lock.acquire()
    assert kinds(sick.open().examine()) == {"fingerprints"}
    with pytest.raises(LockHeld, match="somebody"):
        sick.open().repair()
    lock.release()


# ----------------------------------------------------------------------------------------- what only a person can do

LEFT_ALONE = {
    "index of a newer version": (
        "index.sqlite3",
        lambda path: sql(path, f"PRAGMA user_version = {NEWER}"),
        "index_foreign",
    ),
    "index of another program": ("index.sqlite3", somebodys, "index_foreign"),
    "text at the index's place": ("index.sqlite3", lambda path: path.write_text("mine " * 99), "index_foreign"),
    "cache of a newer version": (
        "cache.sqlite3",
        lambda path: sql(path, f"PRAGMA user_version = {NEWER}"),
        "cache_foreign",
    ),
    "cache of another program": ("cache.sqlite3", somebodys, "cache_foreign"),
}


@pytest.mark.parametrize("damage", LEFT_ALONE)
def test_what_may_be_somebodys_is_named_and_left_alone(sick, damage):
    name, do, wanted = LEFT_ALONE[damage]
    do(file(sick, name))
    before = file(sick, name).read_bytes()
    seen = sick.open().examine()
    assert wanted in kinds(seen)
    (trouble,) = [each for each in seen.troubles if each.kind == wanted]
    assert str(file(sick, name)) in trouble.message
    assert "set another" in trouble.message
    assert not trouble.mendable
    done = sick.open().repair()
    assert wanted in kinds(done.left)
    assert file(sick, name).read_bytes() == before


def test_older_generations_are_not_mended_and_the_way_out_works(sick):
    sql(file(sick), "UPDATE document_version SET root = zeroblob(32) WHERE valid_to = 2")
    seen = sick.open().examine()
    assert kinds(seen) == {"history"}
    assert "compact --keep 1" in seen.troubles[0].way_out
    assert sick.open().repair().left == seen
    sick.open().compact(keep=1)
    assert sick.open().examine().ok


def test_rows_that_are_lost_are_written_anew_and_the_generation_that_had_them_stays_damaged(sick):
    before = sick.open().head()
    sql(file(sick), "DELETE FROM occurrence WHERE valid_from = 2")
    assert {"document", "counts"} <= kinds(sick.open().examine())
    done = sick.open().repair()
    assert (done.embedded, kinds(done.left)) == (0, {"history"})
    sick.open().compact(keep=1)
    check_whole(sick, before)


def test_another_index_with_the_same_content_is_noted(sick, make_site, article):
    """As after a repair that was killed before it was remembered."""
    other = make_site("other")
    for document in sick.docs.iterdir():
        other.write(document.name, document.read_bytes())
    other.apply()
    shutil.copy(file(other), file(sick))
    assert kinds(sick.open().examine()) == {"index_replaced"}
    sick.write("new.md", article("new"))
    assert "plan --refresh full" in sick.open().repair().refused
    (sick.docs / "new.md").unlink()
    assert sick.open().repair().left.ok


def test_an_older_index_is_named_and_a_plan_brings_it_there(sick, article):
    kept = file(sick).read_bytes()
    sick.write("two.md", article("two again"))
    sick.apply()
    newest = sick.open().head().corpus_root
    file(sick).write_bytes(kept)
    assert kinds(sick.open().examine()) == {"index_older"}
    sick.apply()
    assert sick.open().head().corpus_root == newest
    assert sick.open().examine().ok


def test_a_source_that_is_gone_and_a_document_that_cannot_be_read_are_named(sick):
    (sick.docs / "out.md").symlink_to(sick.root / "steadlith.toml")
    seen = sick.open().examine()
    assert (kinds(seen), kinds(seen, grave=False)) == (set(), {"document"})
    assert seen.troubles[0].place == "docs:out.md"
    shutil.move(sick.docs, sick.root / "elsewhere")
    seen = sick.open().examine()
    assert kinds(seen) == {"source"}
    assert str(sick.docs) in seen.troubles[0].message


def test_an_adapter_that_is_not_installed_is_named_once(sick):
    configured = (sick.root / "steadlith.toml").read_text("utf-8")
    (sick.root / "steadlith.toml").write_text(configured.replace('"hash"', '"nowhere"'), "utf-8")
    seen = sick.open().examine()
    assert kinds(seen) == {"configuration"}
    assert [("nowhere" in each.message) for each in seen.troubles] == [True]


def test_a_network_file_system_is_named(sick, monkeypatch, tmp_path):
    table = tmp_path / "mounts"
    table.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {sick.root} rw - nfs4 server:/x rw\n")
    monkeypatch.setattr(network, "MOUNTS", table)
    seen = sick.open().examine()
    assert kinds(seen) == {"network"}
    assert all("nfs4" in each.message and "local disk" in each.message for each in seen.troubles)


def test_an_extension_that_cannot_be_loaded_is_named(sick, monkeypatch):
    monkeypatch.setattr(session, "_extension", lambda: None)
    seen = sick.open().examine()
    assert "extension" in kinds(seen)
    assert "pip install sqlite-vec" in seen.troubles[0].message


def test_too_little_room_for_a_second_copy_is_worth_knowing(sick, monkeypatch):
    monkeypatch.setattr(surroundings.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    seen = sick.open().examine()
    assert seen.ok
    assert kinds(seen, grave=False) == {"disk_space"}
    assert "1,000 bytes are free" in seen.troubles[0].message


# ---------------------------------------------------------------------------------------------- what the dead leave

DIES = """
import os, signal
import steadlith
from steadlith import remembering
remembering.finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
index = steadlith.open(".")
index.apply(index.plan())
"""


def test_what_a_killed_writer_left_is_told_and_gone_after_a_repair(sick, article):
    sick.write("new.md", article("new"))
    done = subprocess.run([sys.executable, "-c", DIES], cwd=sick.root, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert file(sick, "index.sqlite3-wal").stat().st_size > 0
    assert file(sick, "index.sqlite3.lock.info").exists()
    seen = sick.open().examine()
    assert seen.ok
    assert {"log_left", "lock_left"} <= kinds(seen, grave=False)
    (left,) = [each for each in seen.troubles if each.kind == "lock_left"]
    assert "steadlith apply, process" in left.message
    sick.open().repair()
    assert not file(sick, "index.sqlite3.lock.info").exists()
    assert not file(sick, "index.sqlite3-wal").exists()
    assert sick.open().examine().troubles == ()
    assert sick.open().head().generation == 3
    assert sick.plan().is_empty


def test_what_was_set_aside_is_worth_knowing(sick):
    halve(file(sick))
    sick.open().repair()
    seen = sick.open().examine()
    assert (seen.ok, kinds(seen, grave=False)) == (True, {"set_aside"})
    assert seen.troubles[0].place == str(file(sick, "index.sqlite3.damaged-1"))


def test_an_index_in_memory_is_looked_at_and_lives_on(make_site, article):
    site = make_site(rest='[store]\ntype = "memory"')
    site.write("one.md", article("one"))
    with site.open() as index:
        index.apply(index.plan())
        assert index.examine().ok
        assert index.head().generation == 1
        assert index.repair().done == ()


def test_a_folder_without_rights_is_told_and_no_traceback(public_path, site_at, article, as_nobody):
    site = site_at(public_path / "site")
    site.write("one.md", article("one"))
    site.apply()
    (site.root / ".steadlith").chmod(0o700)
    script = (
        "import steadlith, steadlith.doctor, steadlith.hands\n"
        "from steadlith_adapters.stores.sqlite import store, surroundings\n"
        "steadlith.open(arguments[0]).examine()\n"
        "drop()\n"
        "seen = steadlith.open(arguments[0]).examine()\n"
        "answer([[str(each.kind), each.message] for each in seen.troubles if each.grave])"
    )
    found = dict(as_nobody(script, str(site.root)))
    assert found.keys() == {"index_unusable", "cache_unusable"}
    assert all("permissions" in message or "may" in message for message in found.values())


def test_a_repair_that_needs_a_source_that_is_gone_says_so(sick):
    file(sick).unlink()
    shutil.move(sick.docs, sick.root / "elsewhere")
    done = sick.open().repair()
    assert str(sick.docs) in done.refused
    assert kinds(done.left) == {"index_missing", "source"}
    shutil.move(sick.root / "elsewhere", sick.docs)
    assert sick.open().repair().left.ok
