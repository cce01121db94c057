"""A write that mends: nothing that is kept is believed, and whatever can be made anew is.

1. What is put replaces what is kept under its name; numbers stay where their rows do, and no number of a lost row is
   given to another one.
2. Rows that no reader can reach (of a document without a name, of a generation to come) go before anything is put; of
   texts and entries that stand twice, one is made.
3. At the commit, an occurrence is open if and only if an open version lists it; liveness, lexical rows and tombstones
   of vectors follow for all entries, and a vector that does not match its checksum goes: it counted as absent.
4. Closed rows stay as they are: what is damaged in older generations is not in any source.

It scans the index: a write that mends follows a check that did, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import (
    blocks,
    doubles,
    lexical,
    rewriting,
    settle,
    soundness,
    spaces,
    versions,
    wording,
)
from steadlith_adapters.stores.sqlite.contents import PUT_ENTRY, PUT_TEXT, columns
from steadlith_adapters.stores.sqlite.schema import CREATE_LEXICAL, INDEX, OPEN, TUNE_LEXICAL
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DocumentId
from steadlith_core.state.identity import text_hash
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.contents import Contents
    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.rows import EntryRow, TextRow

_UNREACHABLE = (
    "DELETE FROM {table} WHERE document NOT IN (SELECT document FROM document)",
    "DELETE FROM {table} WHERE valid_from >= ?1",
    f"UPDATE {{table}} SET valid_to = ?1 WHERE valid_to > ?1 AND valid_to < {OPEN}",  # noqa: S608
)
_REPLACE_TEXT = "UPDATE text SET body = ?2 WHERE text = ?1 AND body <> ?2"
_REPLACE_ENTRY = "UPDATE entry SET text = ?, title = ?, headings = ?, context_hash = ? WHERE entry = ?"
# What was open before this write and is not held by a version that was, or whose version this write replaces.
_RELEASED = f"""
    INSERT OR IGNORE INTO released
    SELECT o.occurrence FROM occurrence o
    WHERE o.valid_to = {OPEN} AND NOT EXISTS (
        SELECT 1 FROM document_version v WHERE v.document = o.document AND v.valid_to = {OPEN} AND v.valid_from < ?)"""  # noqa: S608
_UNVERSIONED = f"""
    UPDATE span SET valid_to = ?
    WHERE valid_to = {OPEN} AND NOT EXISTS (
        SELECT 1 FROM document_version v
        WHERE v.document = span.document AND v.valid_from = span.version AND v.valid_to = {OPEN})"""  # noqa: S608
_LIVE_ROWS_OF = f"{lexical.LIVE_ROWS} AND e.entry IN ({{}})"
_UNUSED_TEXTS = "SELECT text, text_hash, CAST(body AS BLOB) FROM text WHERE text NOT IN (SELECT text FROM entry)"


class Mending:
    """What a write does besides, from its beginning to its commit. `first_new` is an occurrence id never used."""

    __slots__ = ("_contents", "_entries", "_generation", "_session", "_texts", "first_new")

    def __init__(self, session: Session, contents: Contents, generation: int) -> None:
        self._session = session
        self._contents = contents
        self._generation = generation
        last = session.value("SELECT coalesce(max(number), 0) FROM generation")
        if last >= generation:
            # What the arms hold belongs to the last one; no write can tell it from what the head shows.
            raise INDEX.damaged(session.path, f"its head is generation {generation - 1}, and {last} was committed")
        self.first_new: int = 1 + session.value("SELECT coalesce(max(occurrence), 0) FROM occurrence")
        for table in ("span", "document_version", "occurrence"):  # no row goes before those that refer to it
            for sql in _UNREACHABLE:
                session.run(sql.format(table=table), *([generation] if "?1" in sql else []))
        self._name_keys()
        doubles.merge(session)
        self._place_vectors()
        self._texts: int = session.value(
            "SELECT max((SELECT coalesce(max(text), 0) FROM text), (SELECT coalesce(max(text), 0) FROM entry))"
        )
        self._entries: int = session.value(
            "SELECT max((SELECT coalesce(max(entry), 0) FROM entry), (SELECT coalesce(max(entry), 0) FROM occurrence),"
            " (SELECT coalesce(max(entry), 0) FROM vector))"
        )

    def put_texts(self, rows: Sequence[TextRow]) -> None:
        """Keep these texts under their hashes, whatever was there."""
        there = dict(self._contents.texts([row.text_hash for row in rows]))
        for row in rows:
            if row.text_hash in there:
                self._session.run(_REPLACE_TEXT, there[row.text_hash], row.text)
                continue
            self._texts += 1
            self._session.run(PUT_TEXT, self._texts, row.text_hash, row.text)
            there[row.text_hash] = self._texts

    def put_entries(self, rows: Sequence[EntryRow], texts: Mapping[bytes, int]) -> None:
        """Keep these entries of texts whose numbers are given under their hashes, whatever was there."""
        there = {name: entry.number for name, entry in self._contents.entries([row.entry_hash for row in rows]).items()}
        for row in rows:
            kept = columns(row, texts[row.text_hash])
            if row.entry_hash in there:
                self._session.run(_REPLACE_ENTRY, *kept, there[row.entry_hash])
                continue
            self._entries += 1
            self._session.run(PUT_ENTRY, self._entries, row.entry_hash, *kept)
            there[row.entry_hash] = self._entries

    def settle(self, first_new: int) -> tuple[int, int]:
        """Make everything follow from the open versions; how many documents and chunks they hold."""
        self._session.run(_RELEASED, self._generation)
        settle.occurrences(self._session, self._generation, first_new)
        self._session.run(_UNVERSIONED, self._generation)
        self._forget_unused_texts()
        wrong = [entry for entry, _, _ in self._session.run(settle.WRONG_LIVENESS)]
        for entry in wrong:
            self._session.run(settle.SET_LIVENESS, entry)
        self._mend_lexical()
        self._mend_vectors()
        return versions.count(self._session)

    def _name_keys(self) -> None:
        """Give each document the key of its name: the name is what everybody reads."""
        wrong = [
            (number, document_key(DocumentId(source, path)))
            for number, source, path, key in self._session.stream("SELECT document, source, path, key FROM document")
            if document_key(DocumentId(source, path)) != key
        ]
        for number, _ in wrong:  # out of the way first: two of them may have each other's
            self._session.run("UPDATE document SET key = CAST('wrong ' || ?1 AS BLOB) WHERE document = ?1", number)
        for number, key in wrong:
            self._session.run("UPDATE document SET key = ? WHERE document = ?", key, number)

    def _forget_unused_texts(self) -> None:
        """Drop texts that no entry uses and that are not what their hash says: an entry was given the right one."""
        damaged = [
            number
            for number, name, body in self._session.stream(_UNUSED_TEXTS)
            if text_hash(body.decode("utf-8", "replace")) != name
        ]
        for number in damaged:
            self._session.run("DELETE FROM text WHERE text = ?", number)

    def _mend_lexical(self) -> None:
        if wording.broken(self._session) is None:
            try:
                wrong = self._wrong_lexical_rows()
                if wrong:
                    self._index(wrong)
                    wrong = self._wrong_lexical_rows()
                if not wrong:
                    return
            except StoreCorrupt:
                pass  # as good as broken
        self._session.run("DROP TABLE IF EXISTS lexical")
        for statement in (CREATE_LEXICAL, *TUNE_LEXICAL):
            self._session.run(statement)
        lexical.add_live(self._session, self._session)

    def _wrong_lexical_rows(self) -> frozenset[int]:
        session = self._session
        return frozenset(
            [*wording.unindexed(session), *wording.overindexed(session), *wording.differing(session)],
        )

    def _index(self, entries: Iterable[int]) -> None:
        wrong = sorted(entries)
        lexical.remove_many(self._session, [(entry,) for entry in wrong])
        lexical.add_many(self._session, self._session.lookup(_LIVE_ROWS_OF, wrong))

    def _place_vectors(self) -> None:
        """Make the tables anew in which rows are not found where they stand: vec0 could put others over them."""
        for table in self._vector_tables():
            misplaced = frozenset(blocks.misplaced(self._session, table))
            if misplaced:
                rewriting.rewrite(self._session, table, misplaced)

    def _vector_tables(self) -> Sequence[SpaceTable]:
        """Those that are there; none without the extension: what is put needs it."""
        tables = [table for table in spaces.find_all(self._session) if spaces.exist(self._session, table)]
        return tables if tables and self._session.can_load_vectors() else ()

    def _mend_vectors(self) -> None:
        session = self._session
        tables = self._vector_tables()
        if not tables:
            return
        spaces.drop_lost(session)
        for table in tables:
            for fault in tuple(soundness.faults(session, table)):
                soundness.mend(session, table, fault)
