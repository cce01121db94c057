"""What is closed vanishes from every arm, what moves keeps its id, and what returns costs no vector."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    follow,
    held,
    pieces,
    source_digest,
    space,
    spans,
    stage,
    texts_of,
    vector,
    vector_row,
    version,
    versions,
    word_hits,
    write,
)

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader, Store


def _dense_texts(reader: Reader) -> set[str]:
    entries = [hit.entry for hit in reader.dense(SPACE, vector("any query"), 100)]
    return {hit.text for hit in reader.occurrences(entries, 100)}


def _lexical_texts(reader: Reader, *terms: str) -> set[str]:
    entries = [hit.entry for hit in reader.lexical(terms, 100)]
    return {hit.text for hit in reader.occurrences(entries, 100)}


def _healthy(store: Store) -> None:
    assert list(store.snapshot().problems(full=False)) == []
    assert list(store.snapshot().problems(full=True)) == []


class TombstoneRules:
    """Rules 24 to 28 of the storage specification, and what a rollback needs."""

    def test_a_closed_occurrence_vanishes_from_every_arm(self, make_store: MakeStore) -> None:
        """A deleted text that is still found is the worst a user can meet. Every arm looks at the same liveness: set it
        at commit, in all of them.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("red apple", "green pear"), doc("b.md"): pieces("blue plum")})
        reader = store.snapshot()
        apple = word_hits(store, reader, "red apple", "apple")[0].entry
        assert _dense_texts(reader) == {"red apple", "green pear", "blue plum"}
        write(store, {doc("a.md"): pieces("green pear"), doc("b.md"): None})
        reader = store.snapshot()
        assert _dense_texts(reader) == {"green pear"}
        found = word_hits(store, reader, "apple", "plum", "pear")
        assert texts_of(reader, found) == ["green pear"]
        assert reader.occurrences([apple], 100) == ()
        assert [each.id for each in reader.documents()] == [doc("a.md")]
        assert reader.chunks(doc("b.md")) == ()
        _healthy(store)

    def test_what_is_not_live_is_still_kept(self, make_store: MakeStore) -> None:
        """What was closed may return, and old generations show it. Keep texts, entries and vectors until a compaction
        removes them; only the arms forget.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        write(store, {doc("a.md"): None})
        reader, part = store.snapshot(), Piece("one")
        row = vector_row(part)
        assert reader.texts([part.text_hash]) == {part.text_hash: "one"}
        assert list(reader.entries([part.entry_hash])) == [part.entry_hash]
        unknown = vector_row(Piece("never put")).vector_key
        assert reader.held(SPACE, [row.vector_key, unknown, row.vector_key]) == {row.vector_key}
        assert reader.vectors(SPACE, [row.vector_key, unknown]) == {row.vector_key: row.vector}

    def test_a_reordered_document_keeps_its_ids(self, make_store: MakeStore) -> None:
        """A paragraph that moved up is the same paragraph. Take the ids that placements claim, and keep the order that
        they were given in.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two", "three")})
        reader = store.snapshot()
        one, two, three = (held(reader, doc("a.md"), text=text) for text in ("one", "two", "three"))
        write(store, {doc("a.md"): [three, one, two]})
        reader = store.snapshot()
        chunks = reader.chunks(doc("a.md"))
        assert [chunk.occurrence for chunk in chunks] == [three.occurrence, one.occurrence, two.occurrence]
        hits = reader.occurrences([hit.entry for hit in reader.dense(SPACE, vector("q"), 5)], 100)
        assert [(hit.text, hit.position) for hit in hits] == [("three", 0), ("one", 1), ("two", 2)]
        _healthy(store)

    def test_a_relocated_occurrence_keeps_its_id_and_its_entry(self, make_store: MakeStore) -> None:
        """A renamed file must cost nothing. The id moves with its new document, in the write that closes the old one;
        the entry, its vector and its words stay untouched.
        """
        store = make_store()
        write(store, {doc("old.md"): pieces("one", "two")})
        reader = store.snapshot()
        entries = reader.dense(SPACE, vector("q"), 5)
        moved = [held(reader, doc("old.md"), text=text) for text in ("one", "two")]
        transaction = store.begin(store.head())  # no text, no entry, no vector is put
        transaction.close_document(doc("old.md"))
        transaction.put_document(version(doc("new.md"), moved))
        transaction.commit(follow(transaction, reader, versions({doc("old.md"): None, doc("new.md"): moved})))
        reader = store.snapshot()
        assert [c.occurrence for c in reader.chunks(doc("new.md"))] == [part.occurrence for part in moved]
        assert reader.dense(SPACE, vector("q"), 5) == entries
        assert {hit.id for hit in reader.occurrences([hit.entry for hit in entries], 100)} == {doc("new.md")}
        _healthy(store)

    def test_the_same_content_twice_is_two_occurrences_of_one_entry(self, make_store: MakeStore) -> None:
        """Content is kept once, its places each. Closing one place must leave the other searchable: count users, do not
        delete with the first.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("same", "other", "same")})
        reader = store.snapshot()
        (best,) = reader.dense(SPACE, vector("same"), 1)
        assert [hit.position for hit in reader.occurrences([best.entry], 100)] == [0, 2]
        first, other, second = (Piece("x", chunk.occurrence) for chunk in reader.chunks(doc("a.md")))
        write(store, {doc("a.md"): [replace(other, text="other"), replace(second, text="same")]})
        reader = store.snapshot()
        assert reader.dense(SPACE, vector("same"), 1) == (best,)
        assert [hit.occurrence for hit in reader.occurrences([best.entry], 100)] == [second.occurrence]
        assert first.occurrence not in {chunk.occurrence for chunk in reader.chunks(doc("a.md"))}
        _healthy(store)

    def test_of_many_occurrences_the_first_of_each_entry_are_given(self, make_store: MakeStore) -> None:
        """Boilerplate stands in thousands of documents, and a search shows a few. Cut off per entry, in the order of
        source, path and position, and by code points of the path.
        """
        store = make_store()
        same, pair = pieces("same"), pieces("same", "other", "same")
        write(store, {doc("z.md", "a"): same, doc("\uffff.md"): same, doc("\U0001f600.md"): pair, doc("b.md"): pair})
        write(store, {doc("a.md"): pieces("same", "same")})
        reader = store.snapshot()
        one, other = (word_hits(store, reader, term)[0].entry for term in ("same", "other"))
        every = [
            (doc("z.md", "a"), 0),
            (doc("a.md"), 0),
            (doc("a.md"), 1),
            (doc("b.md"), 0),
            (doc("b.md"), 2),
            (doc("\uffff.md"), 0),
            (doc("\U0001f600.md"), 0),
            (doc("\U0001f600.md"), 2),
        ]
        for most in range(1, len(every) + 2):
            assert [(hit.id, hit.position) for hit in reader.occurrences([one], most)] == every[:most]
            assert [(hit.id, hit.position) for hit in reader.occurrences([one, other, one], most)] == sorted(
                every[:most] + [(doc("b.md"), 1), (doc("\U0001f600.md"), 1)][:most]
            )
        held_again = pieces("moved", "same")
        write(store, {doc("a.md"): held_again, doc("z.md", "a"): None})
        assert [(hit.id, hit.position) for hit in store.snapshot().occurrences([one], 2)] == [
            (doc("a.md"), 1),
            (doc("b.md"), 0),
        ]
        assert [(hit.id, hit.position) for hit in store.snapshot(2).occurrences([one], 2)] == every[:2]

    def test_new_content_under_an_old_id_is_what_is_found(self, make_store: MakeStore) -> None:
        """An id may claim a new entry, when a heading above it changed. Drop the old entry from the arms unless
        somebody else uses it.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        kept = held(store.snapshot(), doc("a.md"), text="one")
        write(store, {doc("a.md"): [replace(kept, headings=("New heading",))]})
        reader = store.snapshot()
        (chunk,) = reader.chunks(doc("a.md"))
        assert chunk.occurrence == kept.occurrence
        assert _lexical_texts(reader, "heading") == {"one"}
        assert len(reader.lexical(["one"], 5)) == 1
        _healthy(store)

    def test_ids_are_never_used_twice(self, make_store: MakeStore) -> None:
        """Whoever kept an id from an answer would be shown another text under it. Count upwards in what the commit
        keeps, not from the rows that are left.
        """
        store, seen = make_store(), set()
        for text in ("one", "two", "three"):
            write(store, {doc("a.md"): pieces(text)})
            (chunk,) = store.snapshot().chunks(doc("a.md"))
            assert chunk.occurrence not in seen
            seen.add(chunk.occurrence)
            write(store, {doc("a.md"): None})
            store.close()
            store = make_store()

    def test_what_was_closed_returns_with_its_id_and_no_vector(self, make_store: MakeStore) -> None:
        """A rollback must cost nothing. A placement may claim an id that nobody holds any more, and its entry becomes
        live again with the vector that is still there.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        old = [held(store.snapshot(), doc("a.md"), text=text) for text in ("one", "two")]
        found = store.snapshot().dense(SPACE, vector("q"), 5)
        write(store, {doc("a.md"): pieces("three")})
        transaction = store.begin(store.head())
        transaction.put_document(version(doc("a.md"), old))
        transaction.commit(follow(transaction, store.snapshot(), versions({doc("a.md"): old})))
        reader = store.snapshot()
        assert [chunk.occurrence for chunk in reader.chunks(doc("a.md"))] == [part.occurrence for part in old]
        assert reader.dense(SPACE, vector("q"), 5) == found
        assert _lexical_texts(reader, "one", "two", "three") == {"one", "two"}
        _healthy(store)

    def test_a_respan_changes_spans_and_source_and_nothing_else(self, make_store: MakeStore) -> None:
        """Only line ends or a comment outside the chunks changed: new spans, in the order of the old ones, under the
        same version, root and ids.
        """
        store = make_store()
        parts = pieces("one", "two")
        write(store, {doc("a.md"): parts})
        before = store.snapshot()
        shifted = [replace(part, shift=3) for part in parts]
        transaction = store.begin(store.head())
        digest = source_digest(doc("a.md"), shifted)
        transaction.respan(doc("a.md"), digest, spans(shifted))
        transaction.commit(follow(transaction, before, versions({doc("a.md"): shifted})))
        after = store.snapshot()
        assert [chunk.span for chunk in after.chunks(doc("a.md"))] == spans(shifted)
        assert [replace(c, span=spans(parts)[i]) for i, c in enumerate(after.chunks(doc("a.md")))] == list(
            before.chunks(doc("a.md"))
        )
        (old,), (new,) = before.documents(), after.documents()
        assert new == replace(old, source_digest=digest)
        hits = after.occurrences([hit.entry for hit in after.dense(SPACE, vector("q"), 5)], 100)
        assert [(hit.source_digest, hit.span) for hit in hits] == [(digest, span) for span in spans(shifted)]
        _healthy(store)

    def test_only_metadata_may_change(self, make_store: MakeStore) -> None:
        """A new title is a new version of the document with the same chunks: ids stay, and hits show the new
        metadata.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        kept = held(store.snapshot(), doc("a.md"), text="one")
        transaction = store.begin(store.head())
        made = version(doc("a.md"), [kept], {"title": "New", "team": "docs"})
        transaction.put_document(made)
        transaction.commit(follow(transaction, store.snapshot(), {made.id: made}))
        reader = store.snapshot()
        assert [dict(each.metadata) for each in reader.documents()] == [{"title": "New", "team": "docs"}]
        (hit,) = reader.occurrences([hit.entry for hit in reader.lexical(["one"], 5)], 100)
        assert (hit.metadata, hit.occurrence) == ({"title": "New", "team": "docs"}, kept.occurrence)

    def test_a_replaced_vector_is_what_is_found(self, make_store: MakeStore) -> None:
        """A vector that is put again is there because the old one was wrong. Replace it in what is searched too, and
        its checksum with it.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        row = replace(vector_row(Piece("one")), vector=vector("elsewhere"))
        transaction = store.begin(store.head())
        transaction.put_vectors(SPACE, [row])
        transaction.commit(follow(transaction, store.snapshot(), {}))
        reader = store.snapshot()
        (best,) = reader.dense(SPACE, vector("elsewhere"), 1)
        assert [hit.text for hit in reader.occurrences([best.entry], 100)] == ["one"]
        assert reader.vectors(SPACE, [row.vector_key]) == {row.vector_key: row.vector}
        _healthy(store)

    def test_liveness_reaches_every_space(self, make_store: MakeStore) -> None:
        """An index may be searched in two spaces while it moves from one model to the next. What dies, dies in each of
        them.
        """
        store = make_store()
        both = (SPACE, space(16, "another-model"))
        write(store, {doc("a.md"): pieces("one"), doc("b.md"): pieces("two")}, spaces=both)
        write(store, {doc("b.md"): None}, spaces=both)
        reader = store.snapshot()
        for each in both:
            hits = reader.dense(each, vector("q", each.dimensions), 5)
            assert len(hits) == 1, (
                f"dead entries are hits in the space of {each.model_id!r}: make liveness reach them all"
            )
            assert [hit.text for hit in reader.occurrences([hit.entry for hit in hits], 100)] == ["one"]

    def test_a_write_that_puts_nothing_commits(self, make_store: MakeStore) -> None:
        """A generation may differ from the one before by its recipe alone. A commit without rows is a commit."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        before = store.snapshot()
        transaction = store.begin(store.head())
        assert transaction.commit(stage(transaction, before, {})).generation == 2
        assert store.snapshot().chunks(doc("a.md")) == before.chunks(doc("a.md"))
