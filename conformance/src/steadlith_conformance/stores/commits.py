"""A commit is all or nothing, on top of the head that was expected, and seen by later readers only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    follow,
    pieces,
    stage,
    text_row,
    vector,
    vector_row,
    version,
    versions,
    word_hits,
    write,
)
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.rows import TextRow

ODD_TEXTS = (
    "",
    "nul \0 inside",
    "事务 トランザクション",
    "emoji \U0001f680",
    "line\none\n\n\ttab",
    "  white space round it \t\n",
    "carriage\rreturns\r\n",
    "e\u0301 decomposed, \u00e9 composed",
    "\ufeffmark, \u2028 separator, \x1a control",
    "    indented, and with blanks after it  ",
    "'; DROP TABLE text; --",
)


class CommitRules:
    """Rules 7 to 17 of the storage specification."""

    def test_the_first_commit_makes_generation_1(self, make_store: MakeStore) -> None:
        """The store is made by its first write, with all that was given to `commit`."""
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")})
        assert (head.generation, head.documents, head.chunks) == (1, 2, 3)
        assert store.head() == head
        assert [kept.number for kept in store.history()] == [1]
        assert store.history()[0].summary == {"add": 3}

    def test_documents_come_back_as_they_were_put(self, make_store: MakeStore) -> None:
        """Root, metadata and source digest decide whether a document has changed. Order by source and path, by code
        points: most databases sort by a locale.
        """
        store = make_store()
        ids = [doc("z.md"), doc("a/b.md"), doc("a.md"), doc("é.md"), doc("a.md", "other")]
        write(store, {each: pieces(f"text of {each}", "shared") for each in ids})
        found = list(store.snapshot().documents())
        assert [each.id for each in found] == sorted(ids)
        for each in found:
            wanted = version(each.id, pieces(f"text of {each.id}", "shared"))
            assert (each.root, each.metadata, each.source_digest) == (
                wanted.root,
                wanted.metadata,
                wanted.source_digest,
            )
            assert each.chunk_count == 2

    def test_chunks_come_back_in_source_order(self, make_store: MakeStore) -> None:
        """A document is read from top to bottom. Keep the order of its placements, not that of ids or hashes."""
        store = make_store()
        parts = pieces("zulu", "alpha", "mike", "alpha")
        write(store, {doc("a.md"): parts})
        chunks = store.snapshot().chunks(doc("a.md"))
        wanted = version(doc("a.md"), parts).placements
        assert [(c.chunk_hash, c.entry_hash, c.span) for c in chunks] == [
            (p.chunk_hash, p.entry_hash, p.span) for p in wanted
        ]
        assert [c.text_hash for c in chunks] == [part.text_hash for part in parts]
        assert len({c.occurrence for c in chunks}) == 4

    def test_texts_and_entries_come_back_exactly(self, make_store: MakeStore) -> None:
        """A text is kept under the hash of its bytes. Keep NUL, line ends and white space as they are; a column type
        that changes any of them breaks it.
        """
        store = make_store()
        parts = [Piece(text, title="T 'quoted'", headings=("One", "", "事")) for text in ODD_TEXTS]
        write(store, {doc("odd.md"): parts})
        reader = store.snapshot()
        assert reader.texts([part.text_hash for part in parts]) == {part.text_hash: part.text for part in parts}
        assert reader.entries([part.entry_hash for part in parts]) == {p.entry_hash: entry_row(p) for p in parts}
        store.close()
        reader = make_store().snapshot()
        assert reader.texts([part.text_hash for part in parts]) == {part.text_hash: part.text for part in parts}
        assert reader.texts([]) == {}
        assert reader.texts([parts[0].entry_hash]) == {}

    def test_an_empty_document_is_a_document(self, make_store: MakeStore) -> None:
        """A file without text is recorded, or every plan would add it again."""
        store = make_store()
        head = write(store, {doc("empty.md"): []})
        assert (head.documents, head.chunks) == (1, 0)
        assert [each.id for each in store.snapshot().documents()] == [doc("empty.md")]

    def test_puts_may_come_in_any_order(self, make_store: MakeStore) -> None:
        """A document may be put before its entries, a node before its documents. Check what belongs together
        at commit.
        """
        store = make_store()
        part = Piece("one")
        transaction = store.begin(store.head())
        given = follow(transaction, store.snapshot(), versions({doc("a.md"): [part]}))
        transaction.put_document(version(doc("a.md"), [part]))
        transaction.put_texts([text_row(part)])
        transaction.put_entries([entry_row(part)])
        transaction.put_vectors(SPACE, [vector_row(part)])
        transaction.commit(given)
        assert len(store.snapshot().dense(SPACE, vector("one"), 5)) == 1

    def test_what_is_kept_already_is_skipped(self, make_store: MakeStore) -> None:
        """Content that is there is not written again, and keeps its number: cached answers name it."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        first = store.snapshot().dense(SPACE, vector("one"), 5)
        write(store, {doc("b.md"): pieces("one")})
        assert store.snapshot().dense(SPACE, vector("one"), 5) == first

    def test_abort_leaves_no_trace(self, make_store: MakeStore) -> None:
        """Not in any table, nor in a text that could be found by its hash. Stage inside a transaction, or under names
        that nobody reads.
        """
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        transaction = store.begin(head)
        stage(transaction, store.snapshot(), {doc("a.md"): None, doc("b.md"): pieces("two")})
        transaction.abort()
        transaction.abort()
        reader = store.snapshot()
        assert reader.head == head
        assert [each.id for each in reader.documents()] == [doc("a.md")]
        assert reader.entries([Piece("two").entry_hash]) == {}
        assert reader.texts([Piece("two").text_hash]) == {}
        assert write(store, {doc("b.md"): pieces("two")}).generation == 2

    def test_abort_of_the_first_write_leaves_generation_0(self, make_store: MakeStore) -> None:
        """A first write that was given up leaves an index that still is absent, and can be begun again."""
        store = make_store()
        transaction = store.begin(store.head())
        stage(transaction, store.snapshot(), {doc("a.md"): pieces("one")})
        transaction.abort()
        assert store.head().generation == 0
        assert make_store(readonly=True).head().generation == 0
        assert write(make_store(), {doc("a.md"): pieces("one")}).generation == 1

    def test_abort_after_commit_is_harmless(self, make_store: MakeStore) -> None:
        """Callers abort in a `finally`. A commit that was answered for stays."""
        store = make_store()
        transaction = store.begin(store.head())
        committed = transaction.commit(stage(transaction, store.snapshot(), {doc("a.md"): pieces("one")}))
        transaction.abort()
        assert store.head() == committed

    def test_a_write_is_usable_once(self, make_store: MakeStore) -> None:
        """A write that goes on after its commit would belong to no head. Raise `UsageError` for whatever is
        put then.
        """
        store = make_store()
        transaction = store.begin(store.head())
        given = stage(transaction, store.snapshot(), {doc("a.md"): pieces("one")})
        transaction.commit(given)
        with pytest.raises(UsageError):
            transaction.commit(given)
        with pytest.raises(UsageError):
            transaction.put_texts([])

    def test_root_and_rows_appear_together(self, make_store: MakeStore) -> None:
        """A reader that sees the new head with old rows, or the other way round, proves what is not there. Move the
        head in the transaction of the rows.
        """
        write(make_store(), {doc("0.md"): pieces("text 0")})
        watching, seen = make_store(readonly=True), []
        done = threading.Event()

        def watch() -> None:
            while not done.is_set():
                reader = watching.snapshot()
                documents = list(reader.documents())
                hits = reader.dense(SPACE, vector("q"), 50)
                seen.append(
                    (reader.head.documents, len(documents), len(hits), len(word_hits(watching, reader, "text")))
                )
                reader.close()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            store = make_store()
            for number in range(1, 15):
                write(store, {doc(f"{number}.md"): pieces(f"text {number}")})
        finally:
            done.set()
            thread.join()
        assert seen
        assert [each for each in seen if len(set(each)) != 1] == []

    def test_a_reader_never_sees_a_later_commit(self, make_store: MakeStore) -> None:
        """A search reads several times, and all of it must be of one generation. Pin a snapshot when the reader is
        made.
        """
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        for watching in (store, make_store(readonly=True)):
            reader = watching.snapshot()
            hits = reader.dense(SPACE, vector("one"), 5)
            changed = write(store, {doc("a.md"): pieces("two"), doc("b.md"): pieces("one", "three")})
            assert reader.head == head
            assert [each.id for each in reader.documents()] == [doc("a.md")]
            assert reader.dense(SPACE, vector("one"), 5) == hits
            assert len(word_hits(store, reader, "one", "two", "three")) == 1
            assert [hit.text for hit in reader.occurrences([hits[0].entry], 100)] == ["one"]
            reader.close()
            assert store.snapshot().head == changed
            head = write(store, {doc("a.md"): pieces("one"), doc("b.md"): None})

    def test_field_case_22_what_is_put_twice_is_there_once(self, make_store: MakeStore) -> None:
        """A row may come twice in one write, and again in the next. Insert what is not there, and count
        nothing twice.
        """
        store, part = make_store(), Piece("one")
        for path in ("a.md", "b.md"):  # in one write, and again in the next
            transaction = store.begin(store.head())
            for _ in range(2):
                transaction.put_texts([text_row(part)] * 2)
                transaction.put_entries([entry_row(part)] * 2)
                transaction.put_vectors(SPACE, [vector_row(part)] * 2)
            given = follow(transaction, store.snapshot(), versions({doc(path): [part]}))
            transaction.put_document(version(doc(path), [part]))
            transaction.commit(given)
        reader = store.snapshot()
        (hit,) = reader.dense(SPACE, vector("one"), 9)
        assert [found.entry for found in word_hits(store, reader, "one")] == [hit.entry]
        assert [found.id for found in reader.occurrences([hit.entry], 9)] == [doc("a.md"), doc("b.md")]
        assert list(reader.problems(full=True)) == []

    def test_an_exception_in_a_put_iterator_ends_the_write(self, make_store: MakeStore) -> None:
        """Rows come from the caller, and so may an exception, in the middle of a batch. Let it through, and end the
        write as `abort` does.
        """
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        transaction = store.begin(head)

        def rows() -> Iterator[TextRow]:
            yield text_row(Piece("two"))
            message = "the caller's own failure"
            raise RuntimeError(message)

        with pytest.raises(RuntimeError, match="the caller's own failure"):
            transaction.put_texts(rows())
        with pytest.raises(UsageError):
            transaction.commit(follow(transaction, store.snapshot(), {}))
        assert store.head() == head
        assert store.snapshot().texts([Piece("two").text_hash]) == {}
        assert write(store, {doc("b.md"): pieces("two")}).generation == 2

    def test_generations_strictly_increase(self, make_store: MakeStore) -> None:
        """Numbers go up by one, and a parent is the one before. A number of a write that was aborted may be taken by
        the next.
        """
        store = make_store()
        numbers = [write(store, {doc(f"{each}.md"): pieces("text")}).generation for each in range(4)]
        assert numbers == [1, 2, 3, 4]
        assert [kept.number for kept in store.history()] == numbers
        assert [kept.parent for kept in store.history()] == [0, 1, 2, 3]

    @pytest.mark.slow
    def test_a_commit_of_ten_thousand_chunks(self, make_store: MakeStore) -> None:
        """A first index is one large write. Stream rows in batches; one statement with all of them meets a limit."""
        store = make_store()
        changes = {doc(f"{d:04}.md"): pieces(*(f"chunk {d} {c}" for c in range(20))) for d in range(500)}
        head = write(store, changes)
        assert (head.documents, head.chunks) == (500, 10_000)
        assert list(store.snapshot().problems(full=True)) == []
