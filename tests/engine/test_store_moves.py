"""An index goes to another store and is there what it was: nothing is paid, and nothing is lost."""

from contextlib import closing, suppress
from dataclasses import replace
from operator import attrgetter

import pytest

from steadlith import contents, copying, manifests
from steadlith.assembly import Assembly
from steadlith_adapters.embedders import hash as hashing
from steadlith_adapters.stores.memory.store import MemoryStore
from steadlith_core.errors import GenerationGone, Stopped, UsageError
from steadlith_core.events import Copied
from steadlith_core.retrieval.quantization import QUANTIZATIONS
from steadlith_core.vectors import unit

LATE = """
[sources.docs]
path = "docs"
front_matter = ["title", "author"]
[chunking]
policy = "late"
child_max_words = 8
[embedding]
embedder = "hash"
dimensions = 32
"""


PROBES = 8
"""Texts that an apply asks the model for before any other."""


def table(**settings):
    return "[store]\n" + "".join(f"{key} = {value!r}\n" for key, value in settings.items())


def shown(site):
    """All that the head shows, but for the store's own numbers."""
    with site.open().reader() as reader:
        documents = list(reader.documents())
        chunks = [[replace(row, occurrence=0) for row in reader.chunks(document.id)] for document in documents]
        names = sorted({row.entry_hash for rows in chunks for row in rows})
        entries = dict(reader.entries(names))
        texts = dict(reader.texts(sorted({row.text_hash for rows in chunks for row in rows})))
        vectors = [
            sorted(contents.vectors(reader, space, entries, texts), key=attrgetter("entry_hash"))
            for space in reader.head.recipe.spaces
        ]
        return documents, chunks, entries, texts, vectors, reader.nodes([""])


def manifest(site):
    with site.open().reader() as reader:
        return b"".join(manifests.export(reader, manifests.header(reader, manifests.corpus_trie(reader))))


def dense(site, query="sentence 4", *, exact=False):
    """What the dense arm answers, by names: equal scores in the order of the texts."""
    index = site.open()
    vector = unit(Assembly(index.config).embedder.embed_query(query))
    with index.reader() as reader:
        hits = reader.dense(reader.head.recipe.spaces[0], vector, 50, exact=exact)
        held = {hit.entry: hit for hit in reader.occurrences([hit.entry for hit in hits], 1)}
        return sorted((-hit.score, held[hit.entry].text, held[hit.entry].id) for hit in hits)


@pytest.fixture
def embedded(monkeypatch):
    """Texts that the model was given."""
    given = []
    kind = type(hashing.FACTORY.build({"dimensions": 32}))
    whole = kind.embed_documents
    monkeypatch.setattr(kind, "embed_documents", lambda self, texts: given.extend(texts) or whole(self, texts))
    return given


@pytest.fixture
def small(monkeypatch):
    """Batches of a few chunks, and fewer texts at once than these have."""
    monkeypatch.setattr(copying, "BATCH", 6)
    monkeypatch.setattr(copying, "TOGETHER", 3)
    monkeypatch.setattr(contents, "TOGETHER", 3)


@pytest.fixture
def past(settled, article):
    """An index with a past, names, a document without chunks, equal texts in two documents, and texts of many kinds."""
    settled.write("one.md", article("another"))
    settled.write("copy/one.md", article("another"))
    settled.write("empty.md", "")
    settled.write("cjk.md", "# 数据库\r\n\r\n数据库事务处理。\r\n")
    settled.apply()
    settled.open().generations.tag("first", 1)
    return settled


def test_there_and_back_it_is_the_same_index(past, server, small, embedded):
    before, roots, found = shown(past), past.open().head(), dense(past)
    exported, places = manifest(past), {(hit.document, hit.span) for hit in past.hits()}
    for store in (server, table(type="sqlite", path=".steadlith/back.sqlite3")):
        told = []
        done = past.move(store, report=told.append)
        assert [type(event) for event in told] == [Copied] * 4
        assert (told[-1].done, told[-1].total) == (roots.chunks, roots.chunks)
        head = past.open().head()
        assert head == done.after.head
        assert head.lineage != roots.lineage
        assert replace(head, lineage="", generation=1, plan_digest=None) == replace(
            roots, lineage="", generation=1, plan_digest=None
        )
        assert shown(past) == before
        assert manifest(past) == exported
        assert past.open().verify().ok
        assert past.open().examine().ok
        assert dense(past) == found
        assert {(hit.document, hit.span) for hit in past.hits()} == places
        plan = past.plan()
        assert plan.is_empty
        assert not plan.drift
    assert embedded == []


def test_what_moved_goes_on_like_any_index(past, server, small, embedded, article):
    past.move(server)
    (made,) = past.open().history()
    assert made.why == "moved from sqlite, generation 2"
    assert made.configuration == past.text()
    assert made.summary == {"copied": made.chunks}
    past.write("two.md", article("two").replace("sentence 2", "phrase 2"))
    assert past.apply().embedded == len(embedded) - PROBES > 0
    with pytest.raises(
        GenerationGone, match=r"moved from sqlite, generation 2, and what came before stayed in that store"
    ):
        past.open().plan_rollback(1)
    back = past.open().plan_rollback(made.number).plan
    past.apply(back)
    assert past.open().head().state_root == made.state_root
    assert past.open().verify().ok


def test_the_old_store_is_left_as_it_was(past, server):
    index = past.root / ".steadlith" / "index.sqlite3"
    before, was = index.read_bytes(), past.text()
    past.move(server)
    assert index.read_bytes() == before
    (past.root / "steadlith.toml").write_text(was, "utf-8")
    assert [made.number for made in past.open().history()] == [1, 2]
    assert past.open().generations.tags() == {"first": 1}
    assert past.open().verify().ok


@pytest.mark.parametrize("form", sorted(QUANTIZATIONS))
@pytest.mark.parametrize("embedding", ["", 'template = "breadcrumb"'])
def test_every_form_of_vectors_moves_bit_for_bit(make_site, server, article, embedded, form, embedding):
    site = make_site(embedding=f'quantization = "{form}"\n{embedding}')
    for name in ("one", "two"):
        site.write(f"{name}.md", article(name))
    site.apply()
    before, paid = shown(site), len(embedded)
    found, exactly = dense(site), dense(site, exact=True)
    for store in (server, table(type="sqlite", path=".steadlith/back.sqlite3")):
        site.move(store)
        assert shown(site) == before
        assert dense(site) == found
        assert dense(site, exact=True) == exactly
    assert len(embedded) == paid


def test_parents_move_and_are_still_no_hits(make_site, server, small, embedded):
    site = make_site()
    (site.root / "steadlith.toml").write_text(LATE, "utf-8")
    words = " ".join(f"word{number}" for number in range(40))
    site.write("guide.md", f"---\ntitle: A guide\nauthor: me\n---\n# Alpha\n\n{words}\n\n# Short\n\nfew words\n")
    site.apply()
    before, paid = shown(site), len(embedded)
    assert {row.embed for rows in before[1] for row in rows} == {True, False}
    for store in (server, table(type="sqlite", path=".steadlith/back.sqlite3")):
        site.move(store)
        assert shown(site) == before
        answer = site.open().search("word7", parents=True).hits[0]
        assert answer.parent is not None
    assert len(embedded) == paid


def test_an_empty_index_moves(make_site, server):
    site = make_site()
    site.write("a.md", "# A\n")
    site.apply()
    (site.docs / "a.md").unlink()
    site.apply(allow=("--allow-removals", "--allow-empty"))
    roots = site.open().head()
    assert roots.documents == 0
    for store in (server, table(type="sqlite", path=".steadlith/back.sqlite3")):
        site.move(store)
        head = site.open().head()
        assert (head.documents, head.corpus_root, head.state_root) == (0, roots.corpus_root, roots.state_root)
        assert site.open().verify().ok


def test_where_there_is_no_index_nothing_moves(make_site, server):
    site = make_site()
    for use in (lambda: site.open().migrations.stores.plan(site.under(server)), lambda: site.move(server)):
        with pytest.raises(UsageError, match="there is no index yet"):
            use()


def test_a_memory_store_takes_a_copy_and_gives_it_back(past, small, tmp_path):
    """Through the ports alone: any store will do."""
    with past.open().reader() as reader, closing(MemoryStore(readonly=False)) as memory:
        there = copying.Copy(reader, memory, "here")
        heads = list(there.steps())
        assert [head.generation for head in heads] == [1, 2, 3, 4]
        there.tidy(heads[-1])
        assert len(memory.history()) == 1
        with closing(memory.snapshot()) as copied:
            assert list(contents.differences(reader, copied)) == []
            again = past.elsewhere(table(type="sqlite", path=str(tmp_path / "third.sqlite3")))
            with closing(again.open_store(readonly=False)) as third:
                assert len(list(copying.Copy(copied, third, "memory").steps())) == 4
                with closing(third.snapshot()) as back:
                    assert list(contents.differences(reader, back)) == []


class Counting:
    """A reader that notes how much it is asked for at once."""

    def __init__(self, whole):
        self._whole, self.most = whole, {}

    def __getattr__(self, name):
        whole = getattr(self._whole, name)
        if name not in {"texts", "entries", "vectors"}:
            return whole

        def call(*given):
            self.most[name] = max(self.most.get(name, 0), len(given[-1]))
            return whole(*given)

        return call


def test_what_is_in_memory_at_once_is_a_batch_of_names_and_some_texts(past, small):
    for number in range(20):
        past.write(f"more/{number}.md", "\n\n".join(f"# Part {part}\n\nof {number} and {part}" for part in range(12)))
    past.apply()
    with past.open().reader() as reader, closing(MemoryStore(readonly=False)) as memory:
        counting, before = Counting(reader), 0
        largest = max(document.chunk_count for document in reader.documents())
        for head in copying.Copy(counting, memory, "here").steps():
            assert head.chunks - before <= copying.BATCH + largest
            before = head.chunks
        assert before == reader.head.chunks > 10 * copying.BATCH
    assert counting.most == {"texts": 3, "entries": 3, "vectors": 3}


def test_an_index_in_memory_does_not_move(past):
    with pytest.raises(UsageError, match="ends with its process"):
        past.move(table(type="memory"))


def test_a_preview_counts_and_changes_nothing(past, server, small):
    before, head = past.files(), past.open().head()
    found = past.open().migrations.stores.plan(past.under(server))
    assert (found.old, found.head) == ("type = 'sqlite'", head)
    assert found.new.startswith("type = 'postgres', dsn_env = 'STEADLITH_TEST_POSTGRES', schema = ")
    assert (found.contents.documents, found.contents.chunks) == (head.documents, head.chunks)
    entries, texts, vectors = shown(past)[2:5]
    assert found.contents.entries == len(entries) < head.chunks
    assert found.contents.texts == len(texts)
    assert found.contents.vectors == len(vectors[0])
    assert found.contents.vector_bytes == len(vectors[0]) * 32 * 4
    assert (found.copied, found.generations, found.names) == (0, 1, ("first",))
    assert ("lexical", "bm25", "ts_rank") in found.differences
    assert ("writers", "serialized", "cas") in found.differences
    assert past.files() == before
    with suppress(Stopped):
        stops = iter([False, False, True])
        past.move(server, stop_requested=lambda: next(stops))
    assert 0 < past.open().migrations.stores.plan(past.under(server)).copied < head.chunks
