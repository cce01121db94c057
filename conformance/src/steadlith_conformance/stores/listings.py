"""Nothing that is listed, looked up or deleted is cut off at some number that a page, a statement or a server has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_conformance.samples import SPACE, doc, generation, pieces, vector, vector_row, write
from steadlith_core.state.moving import EMPTY, build

if TYPE_CHECKING:
    from collections.abc import Sized

    from steadlith_conformance.samples import Changes
    from steadlith_conformance.stores.opening import MakeStore

MANY = 10_001
"""One more than the pages of well-known engines hold."""


def _whole(what: str, found: Sized, wanted: int = MANY) -> None:
    assert len(found) == wanted, (
        f"{what} answered {len(found):,} of {wanted:,}: read page after page until nothing comes, and ask for many "
        "keys in as many statements as they take"
    )


class ListingRules:
    """Field case 28: deleting by a filter stopped at ten thousand."""

    def test_field_case_28_more_than_ten_thousand_documents_are_listed_found_and_deleted(
        self, make_store: MakeStore
    ) -> None:
        """A listing that stops early makes a plan delete what it does not show, and a delete that stops early leaves
        texts that nobody can see any more. Follow cursors and pages to their end.
        """
        store = make_store()
        changes: Changes = {doc(f"{number}.md"): [] for number in range(MANY)}
        head = write(store, changes)
        assert head.documents == MANY
        reader = store.snapshot()
        _whole("documents()", list(reader.documents()))
        _whole("rows('')", reader.rows(""))
        _whole("find()", reader.find(list(changes)))
        # By hand: `write` would ask for the rows below thousands of prefixes, one after the other.
        transaction = store.begin(reader.head)
        for each in changes:
            transaction.close_document(each)
        transaction.put_nodes({}, build(reader.rows("")).put)
        transaction.commit(generation(reader.head, EMPTY, 0))
        reader = store.snapshot()
        _whole("documents() after all were closed", list(reader.documents()), 0)
        _whole("rows('') after all were closed", reader.rows(""), 0)

    def test_field_case_28_more_than_ten_thousand_chunks_are_read_found_and_deleted(
        self, make_store: MakeStore
    ) -> None:
        """As with documents: whoever asks for the chunks of one, or for as many texts, entries or vectors, wants all of
        them, and when they are closed none is found. Split what a statement cannot take at once.
        """
        store = make_store()
        parts = pieces(*(f"{number}" for number in range(MANY)))
        write(store, {doc("many.md"): parts})
        reader = store.snapshot()
        chunks = reader.chunks(doc("many.md"))
        assert [chunk.entry_hash for chunk in chunks] == [part.entry_hash for part in parts]
        keys = [vector_row(part).vector_key for part in parts]
        within = reader.within([doc("many.md")])
        _whole("texts()", reader.texts([part.text_hash for part in parts]))
        _whole("entries()", reader.entries([part.entry_hash for part in parts]))
        _whole("held()", reader.held(SPACE, keys))
        _whole("vectors()", reader.vectors(SPACE, keys))
        _whole("within()", within)
        _whole("occurrences()", reader.occurrences(within, 1))
        _whole("cosines()", reader.cosines(SPACE, vector("q"), within))
        _whole("dense() among them all", reader.dense(SPACE, vector("q"), 9, within), 9)
        write(store, {doc("many.md"): None})
        reader = store.snapshot()
        _whole("within() after the document was closed", reader.within([doc("many.md")]), 0)
        _whole("occurrences() after the document was closed", reader.occurrences(within, 1), 0)
        assert reader.dense(SPACE, vector("q"), 9) == ()
        assert reader.dense(SPACE, vector("q"), 9, within) == ()
