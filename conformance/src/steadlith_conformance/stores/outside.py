"""Rules that go round the adapter, by its hooks `raw_read` and `raw_write`: what it keeps is what it says it keeps."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, Piece, doc, pieces, vector, vector_row, write
from steadlith_conformance.stores.opening import Part
from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore, RawRead, RawWrite
    from steadlith_core.ports import Store
    from steadlith_core.rows import Problem

NEEDLE = Piece("a needle that stands by itself and nowhere else")


class OutsideRules:
    """Rules 3, 37 and 52 of the storage specification, and what scrubbing and durability promise."""

    def test_reading_changes_not_a_byte(self, make_store: MakeStore, raw_read: RawRead) -> None:
        """Planning and searching must be safe where nothing may be written: on a read-only disk, beside a backup, with
        a role that may only select. Open for reading without migrations, journals or counters of use.
        """
        assert raw_read() == b""
        make_store(readonly=True).snapshot().close()
        assert raw_read() == b"", "an absent index was made by reading it"
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        write(store, {doc("b.md"): pieces("three")})
        store.close()
        before = raw_read()
        _read_everything(make_store(readonly=True))
        assert raw_read() == before

    def test_a_commit_is_kept_outside_the_store(self, make_store: MakeStore, raw_read: RawRead) -> None:
        """`durability = "fsync"`: when `commit` returns, what was put is where a crash leaves it. Sync, then answer."""
        store = make_store()
        if store.capabilities.durability == "process":
            inapplicable("the store promises nothing beyond its process")
        write(store, {doc("a.md"): [NEEDLE]})
        assert NEEDLE.text.encode() in raw_read()
        assert vector_row(NEEDLE).vector in raw_read()

    def test_what_is_given_back_is_missing_outside(self, make_store: MakeStore, raw_read: RawRead) -> None:
        """`reclaims_space` is what a user sees on the disk, so what is kept must shrink with what was removed."""
        store = make_store()
        if not store.capabilities.reclaims_space:
            inapplicable("the store says that it gives no space back")
        write(store, {doc(f"{each}.md"): [Piece(f"{each} {'body ' * 800}")] for each in range(200)})
        write(store, {doc(f"{each}.md"): None for each in range(1, 200)})
        before = len(raw_read())
        assert store.compact(store.head(), 2).given_back
        store.close()
        assert len(raw_read()) < before / 2

    def test_what_was_scrubbed_is_nowhere_left(self, make_store: MakeStore, raw_read: RawRead) -> None:
        """Who erases a person's text promises that nobody can read it any more. Deleted rows stay in free pages, logs
        and dead tuples: overwrite or rewrite them when `scrub` is asked for.
        """
        store = make_store()
        write(store, {doc("a.md"): [NEEDLE], doc("b.md"): pieces("kept")})
        write(store, {doc("a.md"): None})
        assert store.compact(store.head(), 2, scrub=True).given_back
        store.close()
        left = raw_read()
        assert NEEDLE.text.encode() not in left
        assert vector_row(NEEDLE).vector not in left
        assert b"kept" in left

    @pytest.mark.parametrize("part", Part)
    def test_a_changed_byte_is_found_and_named(self, make_store: MakeStore, raw_write: RawWrite, part: Part) -> None:
        """Disks rot and people edit tables. `problems(full=True)` compares everything with its hash or checksum and
        says whose it is; what cannot even be read raises `StoreCorrupt` with the way out.
        """
        store = make_store()
        write(store, {doc("a.md"): [NEEDLE], doc("b.md"): pieces("other")})
        with closing(store.snapshot()) as reader:
            root = reader.find([doc("a.md")])[doc("a.md")].root
        old = {
            Part.TEXT: NEEDLE.text.encode(),
            Part.VECTOR: vector_row(NEEDLE).vector,
            Part.DOCUMENT_ROOT: bytes(root),
            Part.HEAD_ROOT: bytes(store.head().corpus_root),
        }[part]
        store.close()
        raw_write(part, old, _flipped(old))
        found = _problems(make_store)
        assert found, f"one bit of a {part} was changed, and nothing was found"
        named = [each for each in found if isinstance(each, StoreCorrupt) or _names(each, part)]
        assert named, f"one bit of a {part} was changed, and what was found does not say so: {found}"

    def test_a_damaged_vector_is_neither_held_nor_given_out(self, make_store: MakeStore, raw_write: RawWrite) -> None:
        """`held` decides what is paid for: a vector that is damaged is absent, so that the next apply puts it anew."""
        store, row = make_store(), vector_row(NEEDLE)
        intact = vector_row(Piece("other"))
        write(store, {doc("a.md"): [NEEDLE], doc("b.md"): pieces("other")})
        store.close()
        raw_write(Part.VECTOR, row.vector, _flipped(row.vector))
        store = make_store()
        with closing(store.snapshot()) as reader:
            assert reader.held(SPACE, [row.vector_key, intact.vector_key]) == {intact.vector_key}
            assert reader.vectors(SPACE, [row.vector_key, intact.vector_key]) == {intact.vector_key: intact.vector}
        write(store, {doc("c.md"): [NEEDLE]})
        with closing(store.snapshot()) as reader:
            assert reader.held(SPACE, [row.vector_key]) == {row.vector_key}, "putting it again must set it right"


def _flipped(old: bytes) -> bytes:
    middle = len(old) // 2
    return old[:middle] + bytes([old[middle] ^ 1]) + old[middle + 1 :]


def _read_everything(store: Store) -> None:
    with closing(store.snapshot()) as reader:
        for each in reader.documents():
            reader.chunks(each.id)
        hits = reader.dense(SPACE, vector("q"), 5)
        reader.lexical(["one"], 5)
        reader.occurrences([hit.entry for hit in hits], 5)
        assert list(reader.problems(full=True)) == []
    store.snapshot(1).close()
    assert store.history()
    store.removable(2)
    store.traces([doc("a.md")])
    store.close()


def _problems(make_store: MakeStore) -> list[Problem | StoreCorrupt]:
    """What opening, reading the head and looking through everything finds."""
    try:
        store = make_store(readonly=True)
        with closing(store.snapshot()) as reader:
            return list(reader.problems(full=True))
    except StoreCorrupt as error:
        return [error]


def _names(problem: Problem, part: Part) -> bool:
    match part:
        case Part.TEXT:
            return problem.kind == DriftKind.TEXT and problem.text == NEEDLE.text_hash
        case Part.VECTOR:
            return problem.kind == DriftKind.VECTOR
        case Part.DOCUMENT_ROOT:
            return problem.kind == DriftKind.DOCUMENT and problem.document == doc("a.md")
        case Part.HEAD_ROOT:
            return problem.kind in {DriftKind.HEAD, DriftKind.NODES}
