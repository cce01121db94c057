"""The fingerprint file: an unchanged document costs one stat, a touched one a read, and no lie is believed."""

import os
import random
import shutil
from dataclasses import replace

import pytest

from steadlith import blocks, remembering, survey
from steadlith.observe import Look
from steadlith_core.digest import Digest
from steadlith_core.planning.planfile import dump

LONG_AGO = 1_600_000_000_000_000_000


@pytest.fixture
def settled(make_site, article):
    """Twelve documents in three folders, applied, with times long past."""
    site = make_site()
    for number in range(12):
        site.write(f"{'abc'[number % 3]}/{number}.md", article(f"n{number}", sections=2))
    age(site)
    site.apply()
    return site


def age(site):
    for path in site.docs.rglob("*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))


def wait_for_the_clock(site):
    """Until a file made now is younger than every document: then their stamps are believed."""
    newest = max(max(s.st_mtime_ns, s.st_ctime_ns) for s in (path.stat() for path in site.docs.rglob("*.md")))
    probe = site.root / "probe"
    while True:
        probe.write_text("x")
        if probe.stat().st_mtime_ns > newest:
            probe.unlink()
            return


@pytest.fixture
def reads(monkeypatch):
    """The documents that were read since."""
    found = []
    read = survey.Survey._read

    def counting(self, id_, *rest):
        found.append(id_.path)
        return read(self, id_, *rest)

    monkeypatch.setattr(survey.Survey, "_read", counting)
    return found


def again(site):
    """A no-op apply: what the first one saw too young to be believed is old enough now."""
    wait_for_the_clock(site)
    site.apply()


def test_an_unchanged_document_is_not_read(settled, reads):
    again(settled)
    reads.clear()
    assert settled.plan().is_empty
    assert reads == []


def test_a_touched_document_is_read_and_nothing_changes(settled, reads):
    again(settled)
    os.utime(settled.docs / "a" / "3.md")
    reads.clear()
    assert settled.plan().is_empty
    assert reads == ["a/3.md"]


def test_only_the_edited_document_is_read(settled, reads):
    again(settled)
    place = settled.docs / "b" / "4.md"
    place.write_text(place.read_text() + "\nMore.\n")
    reads.clear()
    assert [change.id.path for change in settled.plan().changes] == ["b/4.md"]
    assert reads == ["b/4.md"]


def test_the_same_size_and_mtime_with_other_bytes_is_caught(settled):
    again(settled)
    place = settled.docs / "b" / "4.md"
    before = place.stat()
    place.write_text(place.read_text().replace("n4", "m4"))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert place.stat().st_size == before.st_size
    assert [change.id.path for change in settled.plan().changes] == ["b/4.md"]


def test_a_file_moved_over_another_with_its_times_is_caught(settled):
    again(settled)
    one, other = settled.docs / "b" / "4.md", settled.docs / "b" / "1.md"
    kept = one.stat()
    other.write_bytes(one.read_bytes().replace(b"n4", b"q4"))
    os.utime(other, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    other.replace(one)
    assert {change.id.path for change in settled.plan().changes} == {"b/1.md", "b/4.md"}


def test_a_document_as_young_as_the_look_is_read_again(settled, reads):
    """Within one tick of the clock a second write leaves no trace in the times."""
    place = settled.docs / "c" / "2.md"
    place.write_text(place.read_text() + "\nYoung.\n")
    far = 4_000_000_000_000_000_000
    wait_for_the_clock(settled)
    os.utime(place, ns=(far, far))
    for _ in range(2):
        settled.apply()
    reads.clear()
    assert settled.plan().is_empty
    assert reads == ["c/2.md"]


@pytest.mark.parametrize("edit", ["nothing", "edit", "delete", "new", "rename", "folder"])
def test_without_the_stat_cache_the_plan_is_the_same(settled, edit):
    again(settled)
    if edit == "edit":
        (settled.docs / "a" / "0.md").write_text("# Other\n\nwords\n")
    elif edit == "delete":
        (settled.docs / "a" / "0.md").unlink()
    elif edit == "new":
        settled.write("d/new.md", "# New\n\nwords\n")
    elif edit == "rename":
        (settled.docs / "a" / "0.md").rename(settled.docs / "z.md")
    elif edit == "folder":
        (settled.docs / "a").rename(settled.docs / "e")
    believed = settled.plan()
    assert believed.is_empty is (edit == "nothing")
    assert dump(settled.open().plan(stat_cache=False)) == dump(believed)


def test_planning_writes_nothing(settled):
    again(settled)
    before = settled.files()
    (settled.docs / "a" / "0.md").write_text("# Other\n")
    settled.plan()
    assert settled.files() == before


def fingerprint_file(site):
    (found,) = (site.root / ".steadlith").glob("*.fingerprints")
    return found


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "index", "block", "magic"])
def test_a_damaged_file_counts_as_absent(settled, damage):
    again(settled)
    (settled.docs / "a" / "0.md").write_text("# Other\n\nwords\n")
    honest = dump(settled.plan())
    place = fingerprint_file(settled)
    content = bytearray(place.read_bytes())
    if damage == "gone":
        place.unlink()
    elif damage == "empty":
        place.write_bytes(b"")
    else:
        at = {"cut": len(content) // 2, "index": len(content) - 5, "block": 100, "magic": 0}[damage]
        content[at] ^= 0xFF
        place.write_bytes(content[:at] if damage == "cut" else content)
    assert dump(settled.plan()) == honest
    settled.apply()
    assert settled.plan().is_empty


def test_a_file_of_another_head_is_only_asked_for_stamps(settled, reads, tmp_path):
    again(settled)
    (settled.docs / "a" / "0.md").write_text("# Other\n\nwords\n")
    old = tmp_path / "old"
    shutil.copy(fingerprint_file(settled), old)
    wait_for_the_clock(settled)
    settled.apply()
    shutil.copy(old, fingerprint_file(settled))
    reads.clear()
    assert settled.plan().is_empty
    assert reads == ["a/0.md"]


def test_an_older_index_is_drift_and_the_steps_bring_it_up(settled, tmp_path):
    again(settled)
    index = settled.root / ".steadlith" / "index.sqlite3"
    shutil.copy(index, tmp_path / "old")
    (settled.docs / "a" / "0.md").write_text("# Other\n\nwords\n")
    settled.apply()
    shutil.copy(tmp_path / "old", index)
    plan = settled.plan()
    assert [(drift.kind, drift.repair) for drift in plan.drift] == [("index_older", "steps")]
    assert [change.id.path for change in plan.changes] == ["a/0.md"]
    assert plan.cost.embeddings == 0
    settled.apply(plan)
    assert settled.plan().drift == ()


def test_what_is_left_to_the_next_plan_is_not_remembered_as_applied(settled):
    again(settled)
    (settled.docs / "a" / "0.md").write_text("# One\n\nwords\n")
    plan = settled.plan()
    (settled.docs / "a" / "3.md").write_text("# Two\n\nwords\n")
    (settled.docs / "b" / "1.md").unlink()
    settled.write("d/late.md", "# Late\n\nwords\n")
    settled.apply(plan)
    assert {change.id.path for change in settled.plan().changes} == {"a/3.md", "b/1.md", "d/late.md"}


def test_a_document_that_changes_while_it_is_read_is_read_again(settled, monkeypatch, reads):
    again(settled)
    from steadlith_adapters.sources.filesystem.source import FilesystemSource

    place = settled.docs / "a" / "0.md"
    place.write_text("# One\n\nwords\n")
    plan = settled.plan()
    read = FilesystemSource.read

    def slow(self, path):
        content = read(self, path)
        if path == "a/0.md":
            place.write_text("# Two\n\nother words\n")
        return content

    monkeypatch.setattr(FilesystemSource, "read", slow)
    settled.apply(plan)
    monkeypatch.setattr(FilesystemSource, "read", read)
    assert [change.id.path for change in settled.plan().changes] == ["a/0.md"]


def test_a_refused_document_is_told_again_without_being_read(settled, reads):
    settled.write("a/bad.md", b"\xff\xfe broken")
    settled.write("a/3.md", b"\xff\xfe broken too")
    settled.apply()
    again(settled)
    first = settled.plan().findings
    reads.clear()
    plan = settled.plan()
    assert plan.findings == first
    assert {finding.place for finding in plan.findings} == {"docs:a/bad.md", "docs:a/3.md"}
    assert plan.is_empty
    assert reads == []
    (settled.docs / "a" / "bad.md").write_text("# Good now\n")
    assert [change.id.path for change in settled.plan().changes] == ["a/bad.md"]


def test_another_recipe_believes_nothing(settled, reads):
    again(settled)
    place = settled.root / "steadlith.toml"
    place.write_text(place.read_text().replace("max_tokens = 48", "max_tokens = 90"))
    reads.clear()
    settled.plan()
    assert len(reads) == 12


def test_another_format_of_the_same_bytes_is_cut_anew(settled):
    again(settled)
    settled.configure(source='formats = { ".md" = "text" }')
    plan = settled.plan()
    assert len(plan.changes) == 12
    settled.apply(plan)
    assert settled.plan().is_empty
    assert settled.open().verify().ok


def test_a_recreated_root_folder_is_noticed(settled):
    again(settled)
    shutil.copytree(settled.docs, settled.root / "copy")
    shutil.rmtree(settled.docs)
    (settled.root / "copy").rename(settled.docs)
    assert settled.plan().is_empty
    (settled.docs / "a" / "0.md").unlink()
    assert [guard.guard for guard in settled.plan().tripped] == ["replaced_root"]


def test_scope_limits_what_may_be_deleted(settled):
    again(settled)
    (settled.docs / "a" / "0.md").unlink()
    (settled.docs / "b" / "1.md").unlink()
    plan = settled.open().plan(Look(scope=("docs:b/",)))
    assert [change.id.path for change in plan.changes] == ["b/1.md"]
    settled.apply(plan)
    assert [change.id.path for change in settled.plan().changes] == ["a/0.md"]


RECORDS = {
    "a.md": blocks.Record(b"x" * 40, Digest(b"\x01" * 32), "markdown"),
    "b.md": blocks.Record(b"", Digest(b"\x02" * 32), "rst", blocks.Refusal("binary", "a NUL")),
    "c é.md": blocks.Record(b"y" * 20, None, "", blocks.Refusal("undecodable", "byte 3")),
}


def test_the_records_of_a_folder_survive_their_bytes():
    block = blocks.Block(blocks.encode(RECORDS))
    found = blocks.Records(block)
    assert {name: found.get(name) for name in found.names} == RECORDS
    assert block.identities() == {name: row.identity for name, row in RECORDS.items()}
    assert found.tally() == (3, 2, 2)
    assert set(found.recorded()) == {"a.md", "b.md"}


@pytest.mark.parametrize("seed", range(40))
def test_a_block_that_was_changed_is_the_block_made_from_nothing(seed):
    rng = random.Random(seed)

    def drawn():
        refusal = rng.choice([None, blocks.Refusal("binary", "a NUL")])
        digest = rng.choice([None, Digest(rng.randbytes(32))])
        return blocks.Record(rng.randbytes(rng.choice([0, 20, 40])), digest, rng.choice(["", "rst"]), refusal)

    names = [f"{number}.md" for number in range(12)]
    rows = {name: drawn() for name in names if rng.random() < 0.7}
    found = blocks.Records(blocks.Block(blocks.encode(rows)))
    kept = found.copy()
    for name in rng.sample(names, rng.randint(1, 6)):
        if rng.random() < 0.3:
            found.drop(name)
            rows.pop(name, None)
        else:
            rows[name] = drawn()
            found.put(name, rows[name])
    assert found.encode() == blocks.encode(rows)
    assert found.tally() == blocks.Records(blocks.Block(blocks.encode(rows))).tally()
    assert found.names == rows.keys()
    assert dict(found.refused) == {name: row.refusal for name, row in rows.items() if row.refusal}
    assert not kept.changed


def test_of_a_folder_in_which_one_document_changed_that_one_is_read(settled, monkeypatch):
    again(settled)
    read = []
    record = blocks.Block.record
    monkeypatch.setattr(blocks.Block, "record", lambda block, name: read.append(name) or record(block, name))
    (settled.docs / "a" / "0.md").write_text("# Other\n\nwords\n", "utf-8")
    settled.apply()
    assert set(read) == {"0.md"}
    assert settled.plan().is_empty


def test_the_header_says_when_the_look_began(settled):
    again(settled)
    with settled.open() as index:
        file = remembering.known(index._assembly)
        head = index.head()
        file.close()
    assert file.header == replace(remembering.header(index._assembly, head), taken_at=file.header.taken_at)
    assert file.header.taken_at >= max(path.stat().st_ctime_ns for path in settled.docs.rglob("*.md"))
