"""Two kept generations, compared: documents, chunks and texts, at the cost of what differs."""

from contextlib import closing
from itertools import product

import pytest

from steadlith import between, manifests
from steadlith.differences import Chunks, Kind, Side, compare
from steadlith_core.errors import GenerationGone


def edit(site, article):
    site.write("one.md", article("one").replace("one 2 sentence 3", "another sentence"))


def rename(site, _article):
    (site.docs / "two.md").rename(site.docs / "renamed.md")


def rename_with_an_edit(site, article):
    (site.docs / "three.md").unlink()
    site.write("moved.md", article("three") + "And more of it.\n")


def add_and_remove(site, article):
    (site.docs / "one.md").unlink()
    site.write("new.md", article("new"))


def other_bytes(site, _article):
    site.write("renamed.md", (site.docs / "renamed.md").read_bytes().replace(b"\n", b"\r\n"))


def front_matter(site, article):
    site.write("new.md", "---\ntitle: Another\n---\n" + article("new"))


def back_again(site, article):
    (site.docs / "renamed.md").unlink()
    site.write("two.md", article("two"))


EDITS = (edit, rename, rename_with_an_edit, add_and_remove, other_bytes, front_matter, back_again)


@pytest.fixture
def grown(settled, article):
    """A site of eight generations."""
    for each in EDITS:
        each(settled, article)
        settled.apply(allow=["--allow-removals"])
    return settled


def by_manifests(index, old, new):
    """The same from all that both hold, trie against trie."""
    history = index.history()

    def side(reader):
        trie = manifests.corpus_trie(reader)
        return Side(manifests.header(reader, trie, history), reader, trie)

    with index.reader(old) as left, index.reader(new) as right:
        return compare(side(left), side(right))


def told(found):
    return [(each.id, each.kind, each.origin, each.old_chunks, each.new_chunks) for each in found.documents]


def test_any_two_generations_differ_as_their_whole_contents_do(grown):
    index = grown.open()
    kinds = set()
    for old, new in product(range(1, 9), repeat=2):
        with index.generations.between(old, new) as found:
            other = by_manifests(index, old, new)
            assert told(found.found) == told(other)
            assert (found.found.same, found.found.recipe) == (other.same, other.recipe)
            for side in ("old", "new"):
                for name in ("corpus_root", "state_root", "documents", "chunks"):
                    assert getattr(getattr(found.found, side), name) == getattr(getattr(other, side), name)
            kinds |= {each.kind for each in found.found.documents}
            for each in found.found.documents:
                kept = each.chunks.kept + each.chunks.updated + each.chunks.moved
                assert kept + each.chunks.added == (each.new_chunks or 0)
    assert kinds == set(Kind)


class Counting:
    """A reader that counts what is asked of it."""

    def __init__(self, inner):
        self.inner = inner
        self.asked = []

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if not callable(value):
            return value

        def call(*given, **named):
            self.asked.append((name, len(given[0]) if name == "find" else 1))
            return value(*given, **named)

        return call


def test_what_is_read_follows_from_what_differs(make_site, article):
    reads = []
    for size in (10, 40):
        site = make_site(f"site{size}")
        for number in range(size):
            site.write(f"{number}.md", article(f"{number}", 2))
        site.apply()
        site.write("3.md", article("other", 2))
        site.apply()
        with site.open() as index, closing(index._assembly.open_store(readonly=True)) as store:
            left, right = Counting(store.snapshot(1)), Counting(store.snapshot(2))
            found = between.compare(left, right, store.history())
            texts = [between.Between(found, left, right).text(each) for each in found.documents]
            assert len(texts) == 1
            reads.append(left.asked + right.asked)
            left.inner.close()
            right.inner.close()
    assert reads[0] == reads[1]
    names = [name for name, _ in reads[0]]
    assert not {"documents", "rows", "nodes"} & set(names)
    assert (names.count("changed_since"), names.count("chunks")) == (1, 4)
    assert max(count for name, count in reads[0] if name == "find") == 1


def chunks_of(index, old, new):
    with index.generations.between(old, new) as found:
        return {each.id.path: each.chunks for each in found.found.documents}


def test_what_became_of_chunks_is_told_by_occurrences(site, article):
    parts = [f"# part {number}\n\n{article(f'p{number}', 1)[10:]}" for number in range(6)]
    start = f"# A title\n\n{article('start', 1)[10:]}"
    site.write("a.md", start + "".join(parts))
    site.write("b.md", article("b"))
    total = len(site.plan().changes[0].steps)
    site.apply()
    site.write("a.md", start + "".join([parts[3], *parts[:3], *parts[4:]]))
    site.apply()
    moved = chunks_of(site.open(), 1, 2)["a.md"]
    assert moved.moved > 0
    assert (moved.added, moved.removed, moved.left, moved.kept + moved.moved) == (0, 0, 0, total)
    (site.docs / "a.md").unlink()
    site.write("c.md", start + "".join(parts[:2]))
    site.write("d.md", "".join(parts[2:]) + "# new\n\nSomething new.\n")
    site.apply(allow=["--allow-removals"])
    index = site.open()
    split = chunks_of(index, 2, 3)
    assert split["a.md"].kept == 0
    assert split["a.md"].left == split["c.md"].moved + split["d.md"].moved
    assert split["a.md"].left + split["a.md"].removed == total
    assert split["d.md"].added >= 1
    backwards = chunks_of(index, 3, 2)
    assert backwards["a.md"].moved == split["a.md"].left
    assert (backwards["a.md"].added, backwards["d.md"].removed) == (split["a.md"].removed, split["d.md"].added)


def test_a_chunk_of_another_title_is_updated_where_it_stands(make_site, article):
    site = make_site(embedding='template = "breadcrumb"')
    site.write("a.md", article("a"))
    site.apply()
    site.write("a.md", "---\ntitle: Another\n---\n" + article("a"))
    site.apply()
    (became,) = chunks_of(site.open(), 1, 2).values()
    assert became == Chunks(kept=0, updated=became.updated, moved=0, added=0, removed=0, left=0)
    assert became.updated > 0


def test_texts_differ_line_by_line(grown, article):
    index = grown.open()
    with index.generations.between(1, 2) as found:
        (each,) = found.found.documents
        lines = found.text(each)
    assert lines[:2] == ("--- docs:one.md (generation 1)", "+++ docs:one.md (generation 2)")
    assert [line for line in lines[2:] if line[:1] in "+-"] == [
        "-" + next(line for line in article("one").split("\n") if "one 2 sentence 3" in line),
        "+"
        + next(line for line in article("one").split("\n") if "one 2 sentence 3" in line).replace(
            "one 2 sentence 3", "another sentence"
        ),
    ]
    with index.generations.between(4, 5) as found:
        texts = {each.id.path: found.text(each) for each in found.found.documents}
    assert all(line[0] in "-@" for line in texts["one.md"][2:])
    assert all(line[0] in "+@" for line in texts["new.md"][2:])
    with index.generations.between(2, 3) as found:
        assert [found.text(each) for each in found.found.documents] == [()]


def test_what_is_not_kept_is_not_compared(grown):
    grown.open().compact(keep=2)
    index = grown.open()
    for old, new in ((1, 8), (8, 1), (8, 9)):
        with pytest.raises(GenerationGone), index.generations.between(old, new):
            pass
