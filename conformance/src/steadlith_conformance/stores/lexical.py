"""The lexical arm answers any string, finds what is written, and orders it the same way every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import Piece, doc, pieces, write
from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import UsageError
from steadlith_core.text.query import terms

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader

# storage.md 3: raw, 14 of 18 such strings raised in FTS5 and two changed meaning.
HOSTILE = (
    "",
    " ",
    "auto-apply",
    "foo.bar",
    "C++",
    "AND",
    "OR NOT",
    "NEAR(a b)",
    '"',
    '"unclosed',
    "*",
    "word*",
    "title:x",
    "^a",
    "-minus",
    "(paren",
    "nul \0 inside",
    "'; DROP TABLE text; --",
    "{} [] \\ % _",
    "\U0001f680",
    "word " * 500,
)


def _found(reader: Reader, query: str, limit: int = 50) -> set[str]:
    entries = [hit.entry for hit in reader.lexical(terms(query), limit)]
    return {hit.text for hit in reader.occurrences(entries, 100)}


class LexicalRules:
    """Rules 47 and 49 to 51 of the storage specification."""

    def test_hostile_queries_never_raise(self, make_store: MakeStore) -> None:
        """A query language of your engine must never see what a user typed: quote every term as a phrase, and drop what
        its quoting cannot hold.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("auto-apply foo.bar C++ AND word", "nothing of it")})
        reader = store.snapshot()
        for query in HOSTILE:
            reader.lexical(terms(query), 10)
            reader.lexical([query], 10)
        assert _found(reader, "auto-apply") == {"auto-apply foo.bar C++ AND word"}
        assert _found(reader, "title:nothing") == {"nothing of it"}

    def test_no_terms_no_hits(self, make_store: MakeStore) -> None:
        """A query of punctuation has no terms. Answer with nothing, and do not ask the engine."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        assert store.snapshot().lexical([], 10) == ()

    def test_lexical_limits_out_of_range_are_refused(self, make_store: MakeStore) -> None:
        """Raise `UsageError` with the number, for none, for less, and for more than `max_limit`; at
        `max_limit` answer.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        reader, most = store.snapshot(), store.capabilities.max_limit
        assert len(reader.lexical(["one", "two"], most)) == 2
        assert len(reader.lexical(["one", "two"], 1)) == 1
        for limit in (0, -1, most + 1):
            with pytest.raises(UsageError, match=str(limit)):
                reader.lexical(["one"], limit)

    def test_terms_are_joined_by_or(self, make_store: MakeStore) -> None:
        """Fusion wants candidates: an entry with one of the terms is one."""
        store = make_store()
        write(store, {doc("a.md"): pieces("red apple", "red pear", "blue plum", "black cherry")})
        reader = store.snapshot()
        assert _found(reader, "red plum") == {"red apple", "red pear", "blue plum"}
        assert _found(reader, "absent apple") == {"red apple"}

    def test_the_rarer_term_and_the_fuller_match_come_first(self, make_store: MakeStore) -> None:
        """The best comes first, and scores fall. Some engines' BM25 is better when it is smaller: turn its sign."""
        store = make_store()
        if store.capabilities.lexical != "bm25":
            inapplicable("the store does not say that it ranks by BM25")
        filler = [f"common filler number {number}" for number in range(12)]
        write(store, {doc("a.md"): pieces("common rare words", "rare rare rare", *filler)})
        reader = store.snapshot()
        hits = reader.lexical(terms("common rare"), 20)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert {hit.text for hit in reader.occurrences([hit.entry for hit in hits[:2]], 100)} == {
            "common rare words",
            "rare rare rare",
        }

    def test_title_and_headings_are_searched(self, make_store: MakeStore) -> None:
        """A section is often named above its text alone. Index title, headings and body; terms come in lower case."""
        store = make_store()
        write(store, {doc("a.md"): [Piece("body words", title="Zebra manual", headings=("Install", "On quokkas"))]})
        reader = store.snapshot()
        for query in ("zebra", "install", "quokkas", "body"):
            assert _found(reader, query) == {"body words"}

    def test_case_and_scripts_without_word_breaks(self, make_store: MakeStore) -> None:
        """Give texts to the index as `text.query.index_text` makes them, and lower their case with `str.lower`; terms
        come in that form. `casefold` turns ß into ss, and the term is not found.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("Straße und CAFÉ", "数据库事务处理", "トランザクション管理", "plain")})
        reader = store.snapshot()
        assert _found(reader, "café") == {"Straße und CAFÉ"}
        assert _found(reader, "UND") == {"Straße und CAFÉ"}
        assert _found(reader, "straße") == {"Straße und CAFÉ"}
        assert _found(reader, "事务") == {"数据库事务处理"}
        assert _found(reader, "トランザクション") == {"トランザクション管理"}

    def test_the_order_is_total_and_the_same_after_reopening(self, make_store: MakeStore) -> None:
        """Equal scores are ordered by the entry's number, before the cut."""
        store = make_store()
        write(store, {doc("a.md"): pieces(*(f"same length {number:03}" for number in range(50)))})
        hits = store.snapshot().lexical(["same", "length"], 50)
        assert len(hits) == 50
        assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.entry))
        for limit in (1, 13, 49):
            assert store.snapshot().lexical(["same", "length"], limit) == hits[:limit]
        store.close()
        assert make_store().snapshot().lexical(["same", "length"], 50) == hits

    def test_scores_after_a_delete_are_those_of_a_fresh_index(self, make_store: MakeStore) -> None:
        """Statistics that still count the dead rank by what nobody can see. Remove rows from the index, and not from
        its answers.
        """
        kept, gone = [f"kept word {number}" for number in range(20)], [f"gone word {number}" for number in range(30)]
        used, fresh = make_store("used"), make_store("fresh")
        write(used, {doc("a.md"): pieces(*kept), doc("b.md"): pieces(*gone)})
        write(used, {doc("b.md"): None})
        write(fresh, {doc("a.md"): pieces(*kept)})
        scores = [[hit.score for hit in each.snapshot().lexical(["kept", "word", "7"], 50)] for each in (used, fresh)]
        assert scores[0] == pytest.approx(scores[1])

    def test_a_large_index_still_finds_what_is_rare_and_what_is_common(self, make_store: MakeStore) -> None:
        """Leaving common words out is allowed for speed, unless nothing else is asked for."""
        store = make_store()
        texts = [f"the common chunk number{number} {'needle' if number == 700 else 'hay'}" for number in range(1200)]
        write(store, {doc("a.md"): pieces(*texts)})
        reader = store.snapshot()
        best = reader.lexical(["the", "needle"], 5)[0].entry
        assert texts[700] in {hit.text for hit in reader.occurrences([best], 1)}
        assert len(reader.lexical(["common"], 10)) == 10
        assert len(reader.lexical(["the", "common"], 10)) == 10
