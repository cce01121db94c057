"""The words of a first load are indexed by a thread beside it: the same index, whatever becomes of that thread."""

import threading
from contextlib import closing

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, ahead, connection, lexical
from steadlith_adapters.stores.sqlite.checks import remade
from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    follow,
    pieces,
    text_row,
    vector_row,
    version,
    versions,
    write,
)
from steadlith_core.errors import AdapterError

MANY = 4_200
TEXTS = [f"page {number} of many words, each of them {number % 7} times" for number in range(MANY)]


def open_store(folder):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False)


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("words")]


def load(folder):
    with closing(open_store(folder)) as store:
        write(store, {doc("large.md"): pieces(*TEXTS)})


def check(folder, found=MANY):
    with closing(open_store(folder)) as store, closing(store.snapshot()) as reader:
        assert list(reader.problems(full=True)) == []
        assert len(reader.lexical(["page"], 1000)) == min(found, 1000)
        answers = [reader.lexical(terms, 1000) for terms in (["page"], ["many", "3"], ["times", "41"])]
    with closing(connection.reading(folder / "index.sqlite3")) as session:
        assert remade.is_same(session)  # merged as if for the first time, they have the same bytes
    return answers


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """As if some hundreds were many."""
    monkeypatch.setattr(lexical, "AT_ONCE", 400)


@pytest.fixture
def put(monkeypatch):
    """Whether each commit's words came from beside it."""
    told = []
    real = ahead.Ahead.put

    def telling(self):
        told.append(real(self))
        return told[-1]

    monkeypatch.setattr(ahead.Ahead, "put", telling)
    return told


def test_the_index_is_the_one_that_the_commit_itself_makes(tmp_path, put, monkeypatch):
    (tmp_path / "beside").mkdir()
    (tmp_path / "itself").mkdir()
    load(tmp_path / "beside")
    assert (put, threads()) == ([True], [])
    monkeypatch.setattr(lexical, "AT_ONCE", MANY + 1)
    load(tmp_path / "itself")
    assert put == [True]
    assert check(tmp_path / "beside") == check(tmp_path / "itself")


def test_later_commits_go_on_from_it(tmp_path, put):
    load(tmp_path)
    with closing(open_store(tmp_path)) as store:
        write(store, {doc("small.md"): pieces("one more page"), doc("large.md"): pieces(*TEXTS[:50])})
    assert put == [True]
    check(tmp_path, 51)


def staged(store, used=TEXTS):
    """A write of all texts and entries, whose one document holds those that are used."""
    transaction = store.begin(store.head())
    parts = [Piece(text) for text in TEXTS]
    transaction.put_texts(map(text_row, parts))
    transaction.put_entries(map(entry_row, parts))
    held = [Piece(text) for text in used]
    transaction.put_vectors(SPACE, [vector_row(part, SPACE) for part in held])
    transaction.put_document(version(doc("large.md"), held))
    return transaction, follow(transaction, store.snapshot(), versions({doc("large.md"): held}), (SPACE,))


def test_entries_that_no_document_holds_have_no_words(tmp_path, put):
    with closing(open_store(tmp_path)) as store:
        transaction, generation = staged(store, TEXTS[::3])
        transaction.commit(generation)
    assert put == [True]
    check(tmp_path, len(TEXTS[::3]))


def test_entries_that_are_never_embedded_have_no_words(tmp_path, put):
    held = [*pieces(*TEXTS), *(Piece(f"page {text}", embed=False) for text in TEXTS[:600])]
    with closing(open_store(tmp_path)) as store:
        write(store, {doc("large.md"): tuple(held)})
    assert put == [True]
    check(tmp_path)


def test_where_the_thread_has_no_room_the_commit_does_it_itself(tmp_path, put, monkeypatch):
    real = ahead.lexical_index

    def small():
        session = real()
        session.run("PRAGMA max_page_count = 12")  # SQLITE_FULL, as of a full disk
        return session

    monkeypatch.setattr(ahead, "lexical_index", small)
    load(tmp_path)
    assert (put, threads()) == ([False], [])
    check(tmp_path)


@pytest.mark.parametrize("ending", ["aborted", "refused", "closed"])
def test_a_write_that_ends_otherwise_leaves_no_thread(tmp_path, ending):
    with closing(open_store(tmp_path)) as store:
        transaction, _ = staged(store)
        assert len(threads()) == 1
        if ending == "aborted":
            transaction.abort()
        elif ending == "refused":
            with pytest.raises(AdapterError, match="which was never put"):
                transaction.put_entries([entry_row(Piece("of a text that nobody put"))])
    assert threads() == []
    with closing(open_store(tmp_path)) as store:
        assert store.head().generation == 0


def test_a_check_before_the_commit_finds_the_words(tmp_path, put):
    seen = []
    with closing(open_store(tmp_path)) as store:
        transaction, generation = staged(store)
        transaction.commit(
            generation, lambda reader: seen.append((len(reader.lexical(["page"], 1000)), [*reader.problems(full=True)]))
        )
    assert (seen, put) == ([(1000, [])], [True])


def test_it_is_never_more_than_some_batches_behind(tmp_path, monkeypatch):
    waiting, real = [], ahead.Ahead._start

    def counting(self, work):
        real(self, work)
        waiting.append(sum(not each.done() for each in self._running))

    monkeypatch.setattr(ahead.Ahead, "_start", counting)
    load(tmp_path)
    assert len(waiting) > MANY / lexical.AT_ONCE
    assert max(waiting) <= ahead.WAITING + 2  # those, and the two statements at the end
