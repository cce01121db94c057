"""Compacting through the engine: what is kept, what is refused, and erasing a document from every file."""

import subprocess
import sys
from contextlib import closing

import apsw
import pytest

from steadlith_adapters.stores.sqlite import returning
from steadlith_core.errors import GenerationGone, LockHeld, StoreCorrupt, UsageError
from steadlith_core.planning.planfile import dump, load
from steadlith_core.records import DocumentId

SECRET = "# Quixotry\n\nThe xylographic secret is kept in the ninth drawer of a zymurgist.\n"
NEEDLES = (b"xylograph", b"zymurg", b"ninth drawer", b"Quixotr", b"quixotri", b"secret.md")


def generations(site):
    return [each.number for each in site.open().history()]


def rows(site, *statements):
    connection = apsw.Connection(str(site.root / ".steadlith" / "index.sqlite3"))
    found = [connection.execute(statement).fetchall() for statement in statements]
    connection.close()
    return found


def test_nothing_goes_unless_it_is_asked_for(churned):
    asked = churned.open().compactable()
    assert (asked.keep_from, asked.generations, asked.removable.generations) == (1, 5, 0)
    done = churned.open().compact()
    assert done.done.removed.generations == 0
    assert generations(churned) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("keep", "left"), [(1, [5]), (2, [4, 5]), (5, [1, 2, 3, 4, 5]), (99, [1, 2, 3, 4, 5])])
def test_the_last_generations_are_kept_and_the_head_is_what_it_was(churned, keep, left):
    head, hits = churned.open().head(), churned.hits()
    asked = churned.open().compactable(keep=keep)
    done = churned.open().compact(keep=keep)
    assert done.asked == asked
    assert done.done.removed.generations == 5 - len(left)
    assert generations(churned) == left
    assert (churned.open().head(), churned.hits()) == (head, hits)
    assert churned.open().verify().problems == ()
    assert churned.plan().is_empty
    for number in range(1, 6):
        if number not in left:
            with pytest.raises(GenerationGone), churned.open().reader(number):
                pass


def test_a_plan_that_was_saved_before_is_applied_afterwards(churned, article):
    churned.write("new.md", article("new"))
    saved = load(dump(churned.plan()))
    churned.open().compact(keep=1)
    assert churned.apply(saved).head.generation == 6
    assert churned.open().verify().problems == ()


def test_looking_changes_no_file(churned):
    before = churned.files()
    churned.open().compactable(keep=1)
    assert churned.files() == before


def test_an_absent_index_stays_absent(site):
    assert site.open().compactable(keep=1).is_nothing
    assert site.open().compact(keep=1).done.removed.is_nothing
    assert not (site.root / ".steadlith" / "index.sqlite3").exists()


def test_a_writer_in_the_way_is_named(churned):
    lock = churned.open()._assembly.lock(timeout=0, holder="somebody")
    lock.acquire()
    with pytest.raises(LockHeld, match="somebody"):
        churned.open().compact(keep=1)
    lock.release()
    assert generations(churned) == [1, 2, 3, 4, 5]


def test_nothing_is_removed_from_an_index_that_is_not_as_it_was_committed(churned):
    rows(churned, "UPDATE text SET body = body || ' and a lie' WHERE text = (SELECT max(text) FROM text)")
    with pytest.raises(StoreCorrupt, match=r"nothing is removed from it.*doctor --repair"):
        churned.open().compact(keep=1)
    assert generations(churned) == [1, 2, 3, 4, 5]


def test_damage_of_old_generations_alone_goes_with_them(churned):
    """`verify` complains of it for ever, and no source can mend it."""
    rows(churned, "UPDATE document_version SET root = zeroblob(32) WHERE valid_to = 2")
    assert not churned.open().verify().ok
    churned.open().compact(keep=1)
    assert churned.open().verify().problems == ()


# ---------------------------------------------------------------------------------------------------- erasing


@pytest.fixture
def erasable(churned):
    """A document that was applied, shared a paragraph with another, and was removed again."""
    churned.write("secret.md", SECRET)
    churned.apply()
    (churned.docs / "secret.md").unlink()
    churned.apply()
    assert found_in(churned, NEEDLES[2]) != []
    return churned


def found_in(site, needle):
    """Files of the state folder that hold these bytes."""
    return [path.name for path in (site.root / ".steadlith").iterdir() if needle in path.read_bytes()]


def secret_vectors(site):
    """The vectors of the document's chunks, as they are in the cache and in the index."""
    index = site.open()
    with index.reader(6) as reader:
        chunks = reader.chunks(DocumentId("docs", "secret.md"))
        entries = [chunk.entry_hash.hex() for chunk in chunks]
    inside = rows(
        site,
        "SELECT hex(entry_hash), hex(vector_key) FROM entry JOIN vector USING (entry)",
    )[0]
    keys = {key for entry, key in inside if entry.lower() in entries}
    cache = apsw.Connection(str(site.root / ".steadlith" / "cache.sqlite3"))
    kept = [bytes(vector) for key, vector in cache.execute("SELECT hex(key), vector FROM embedding") if key in keys]
    cache.close()
    assert kept
    return kept


def test_field_case_24_an_erased_document_is_in_no_file(erasable):
    needles = [*NEEDLES, *secret_vectors(erasable)]
    assert all(found_in(erasable, needle) for needle in needles if needle not in {b"quixotri", b"secret.md"})
    before = erasable.open().head()
    done = erasable.open().compact(erase=["docs:secret.md"])
    assert (done.held_back, done.forgotten, done.asked.unknown) == (None, 1, ())
    for needle in needles:
        assert found_in(erasable, needle) == []
    assert erasable.open().head() == before
    assert generations(erasable) == [7]
    assert erasable.open().verify().problems == ()
    assert erasable.plan().is_empty


def test_field_case_24_what_others_use_stays(erasable, article):
    """The same text in another document is that document's."""
    shared = "# Both\n\nThis paragraph stands in two documents and stays in one of them.\n"
    erasable.write("secret.md", SECRET + "\n" + shared * 6)
    erasable.write("other.md", shared)
    erasable.apply()
    (erasable.docs / "secret.md").unlink()
    erasable.apply()
    erasable.open().compact(erase=["secret.md"])
    assert found_in(erasable, b"zymurg") == []
    assert found_in(erasable, b"stands in two documents") != []
    erasable.write("copy.md", shared)
    planned = erasable.plan()
    assert (planned.cost.embeddings, planned.cost.cached) == (0, 1)


def test_a_document_that_is_still_in_the_index_is_not_erased(erasable):
    with pytest.raises(UsageError, match=r"docs:one\.md is in the index.*remove it from its source, apply"):
        erasable.open().compactable(erase=["docs:secret.md", "docs:one.md"])
    with pytest.raises(UsageError, match=r"docs:one\.md is in the index"):
        erasable.open().compact(erase=["docs:one.md"])
    assert len(generations(erasable)) == 7


def test_a_name_that_no_generation_knows_is_told(erasable):
    asked = erasable.open().compactable(erase=["docs:secret.md", "docs:never.md"])
    assert asked.unknown == (DocumentId("docs", "never.md"),)
    assert asked.keep_from == 7


def test_a_source_that_is_configured_no_more_can_be_named(erasable):
    erasable.configure(rest='[sources.more]\npath = "more"')
    (erasable.root / "more").mkdir()
    asked = erasable.open().compactable(erase=["gone:a.md", "docs:secret.md"])
    assert asked.unknown == (DocumentId("gone", "a.md"),)
    with pytest.raises(UsageError, match=r"'secret\.md' names no document: say which source"):
        erasable.open().compactable(erase=["secret.md"])


def test_while_somebody_reads_a_document_is_not_erased_and_that_is_said(erasable, monkeypatch):
    monkeypatch.setattr(returning, "PATIENCE_MS", 0)
    with erasable.open().reader():
        done = erasable.open().compact(erase=["docs:secret.md"])
        assert done.held_back == "somebody is reading the index"
        assert found_in(erasable, b"zymurg") != []
    again = erasable.open().compact(erase=["docs:secret.md"])
    assert (again.held_back, again.asked.unknown) == (None, (DocumentId("docs", "secret.md"),))
    assert found_in(erasable, b"zymurg") == []


def test_a_fingerprint_file_of_another_head_goes_with_an_erased_document(erasable):
    """It may name documents that the head does not have."""
    place = erasable.root / ".steadlith" / "steadlith.fingerprints"
    older = place.read_bytes()
    erasable.write("more.md", "# More\n\nMore of it.\n")
    erasable.apply()
    place.write_bytes(older)
    erasable.open().compact(erase=["docs:secret.md"])
    assert not place.exists()
    assert erasable.plan().is_empty


SCRIPTS = {
    "latin": (
        "Quixotry zymurgist",
        "The xylographic secret is kept in the ninth drawer.",
        ("xylograph", "ninth drawer"),
    ),
    "cyrillic": ("Тайник", "Ключ от погреба спрятан под яблоней.", ("погреб", "под яблоней")),
    "chinese": ("机密", "钥匙藏在旧磨坊的第九个抽屉里。", ("钥匙", "磨坊", "第九个抽屉")),
    "arabic": ("سري", "المفتاح مخبأ تحت شجرة الزيتون القديمة.", ("المفتاح", "شجرة الزيتون")),
    "hindi": ("गुप्त", "चाबी पुराने कुएँ के पास छिपी है।", ("चाबी", "पुराने कुएँ")),
    "emoji": ("🗝️🦡", "The 🦡 keeps the 🗝️ below 🪵🪵🪵.", ("🦡", "🪵🪵")),
}


def bytes_of(site, path, generation):
    """Every form in which index and cache keep a document that is gone: its name, hashes, vectors and their keys."""
    id_ = DocumentId("docs", path)
    with closing(site.open()._assembly.open_store(readonly=True)) as store:
        keys = sorted(store.traces([id_]).vector_keys)
    with site.open().reader(generation) as reader:
        chunks = reader.chunks(id_)
        space = reader.head.recipe.spaces[0]
        vectors = list(reader.vectors(space, keys).values())
    with closing(site.open()._assembly.open_cache(readonly=True)) as cache:
        vectors += cache.get(keys, space.dimensions).values()
    hashes = [name for row in chunks for name in (row.text_hash, row.entry_hash, row.chunk_hash)]
    assert len(vectors) == 2 * len(chunks)
    return [*map(bytes, vectors), *map(bytes, hashes), *map(bytes, keys), path.encode()]


@pytest.mark.parametrize("script", SCRIPTS)
def test_field_case_24_nothing_is_left_in_any_file_whatever_the_script(churned, script):
    title, sentence, words = SCRIPTS[script]
    path = f"{title}.md"
    churned.write(path, f"# {title}\n\n{sentence}\n")
    churned.apply()
    (churned.docs / path).unlink()
    churned.apply()
    needles = [word.encode() for word in (title, sentence, *words)] + bytes_of(churned, path, 6)
    seen = [needle for needle in needles if found_in(churned, needle)]
    assert len(seen) >= len(needles) - 2  # a title and a word may stand in the index only as their stems
    done = churned.open().compact(erase=[f"docs:{path}"])
    assert (done.held_back, done.asked.unknown, done.asked.uncovered) == (None, (), ())
    assert [needle for needle in needles if found_in(churned, needle)] == []
    assert churned.open().verify().problems == ()
    assert churned.plan().is_empty


def test_files_that_are_known_and_not_covered_are_named(erasable):
    folder = erasable.root / ".steadlith"
    (folder / "saved-plan.json").write_bytes(dump(erasable.plan()).encode())
    (folder / ".steadlith.fingerprints.0123.tmp").write_bytes(NEEDLES[0])  # a killed writer's
    (folder / "index.sqlite3.damaged-1").write_bytes(NEEDLES[0])
    asked = erasable.open().compactable(erase=["secret.md"])
    left = [str(folder / name) for name in ("index.sqlite3.damaged-1", "saved-plan.json")]
    assert [file for file in asked.uncovered if not file.endswith(".tmp")] == left
    erasable.open().compact(erase=["secret.md"])
    assert found_in(erasable, NEEDLES[0]) == ["index.sqlite3.damaged-1"]


# ---------------------------------------------------------------------------------------------------------- races


def child(site, code):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=site.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


RACER = """
import steadlith
from steadlith.cli import main
index = steadlith.open(".")
plan = index.plan()
print("ready", flush=True)
input()
try:
    {work}
except steadlith.SteadlithError as error:
    print(type(error).__name__)
else:
    print("done")
"""


@pytest.mark.parametrize("timeout", [0, 30])
def test_of_a_compaction_and_an_apply_at_once_each_is_done_or_told_that_the_other_one_writes(churned, article, timeout):
    churned.write("new.md", article("new", sections=20))
    works = (f"index.compact(keep=1, lock_timeout={timeout})", f"index.apply(plan, lock_timeout={timeout})")
    children = [child(churned, RACER.format(work=work)) for work in works]
    for each in children:
        assert each.stdout.readline() == "ready\n"
    for each in children:
        each.stdin.write("\n")
        each.stdin.flush()
    compacted, applied = (each.communicate(timeout=60)[0].strip() for each in children)
    assert {compacted, applied} <= ({"done"} if timeout else {"done", "LockHeld"})
    assert "done" in {compacted, applied}
    assert churned.open().head().generation == (6 if applied == "done" else 5)
    assert len(generations(churned)) in ({1, 2} if compacted == "done" else {5, 6})
    assert churned.open().verify().problems == ()


SEARCHER = """
import sys
import steadlith
index = steadlith.open(".")
seen = set()
print("ready", flush=True)
rounds = 0
while not sys.stdin.closed and rounds < {rounds}:
    answer = index.search("alpha sentence", limit=50)
    with index.reader() as reader:
        documents = list(reader.documents())
        assert len(documents) == reader.head.documents
        assert sum(len(reader.chunks(each.id)) for each in documents) == reader.head.chunks
    seen.add(tuple((str(hit.document), hit.span.start, hit.text, hit.score) for hit in answer.hits))
    rounds += 1
print(len(seen), rounds)
"""


def test_four_searching_readers_see_one_state_while_an_index_is_compacted(churned):
    searchers = [child(churned, SEARCHER.format(rounds=12)) for _ in range(4)]
    for each in searchers:
        assert each.stdout.readline() == "ready\n"
    compactions = 0
    while any(each.poll() is None for each in searchers):
        churned.open().compact(keep=max(1, 5 - compactions))
        compactions += 1
    for each in searchers:
        # Not `communicate`: it reads past the file, and misses what came with the line that was read from it.
        with each:
            out, err = each.stdout.read(), each.stderr.read()
        assert (each.returncode, out.split()) == (0, ["1", "12"]), err
    assert compactions >= 1
    assert churned.open().verify().problems == ()
    assert churned.open().compact(keep=1).held_back is None
