"""Random histories against a model of plain dictionaries: whatever is done, every generation reads as it should.

1. The model knows the port's promises and no adapter: it keeps, per generation, each document's occurrences in order.
2. Ids of new occurrences are learned from the store after the commit, and must never have been seen before.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    follow,
    mend,
    source_digest,
    spans,
    stage,
    stage_rows,
    trie_row,
    vector,
    version,
    versions,
)
from steadlith_core.records import DocumentId
from steadlith_core.state.moving import DIGITS, build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadlith_conformance.samples import Changes
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader, Transaction

IDS = st.sampled_from([DocumentId("docs", name) for name in ("a.md", "b.md", "c/d.md")])
TEXTS = st.lists(st.sampled_from(["alpha", "bravo", "charlie", "delta", "echo"]).map("shared {}".format), max_size=5)
PARENTS = st.lists(st.tuples(st.integers(-1, 4), st.booleans()), min_size=5, max_size=5)
_numbers = count()


@dataclass(frozen=True)
class Model:
    """One generation: the pieces of each document, with the ids that the store gave them."""

    documents: dict[DocumentId, list[Piece]]

    def counts(self) -> tuple[int, int]:
        """Documents and chunks."""
        return len(self.documents), sum(map(len, self.documents.values()))

    def texts(self) -> set[str]:
        """Texts that some occurrence holds and that may be found."""
        return {part.text for parts in self.documents.values() for part in parts if part.embed}


class StoreMachine(RuleBasedStateMachine):
    """Drives one index through its life."""

    def __init__(self, make_store: MakeStore) -> None:
        super().__init__()
        self.make_store = make_store
        self.name = f"machine-{next(_numbers)}"
        self.store = make_store(self.name)
        self.past = [Model({})]
        self.oldest = 0
        self.used: set[int] = set()

    @property
    def now(self) -> Model:
        """The head's model."""
        return self.past[-1]

    @rule(id=IDS, texts=TEXTS, keep=st.booleans(), tree=st.none() | PARENTS)
    def write(self, id: DocumentId, texts: list[str], keep: bool, tree: list[tuple[int, bool]] | None) -> None:  # noqa: A002
        """Replace a document; with `keep`, equal texts keep their ids, in the order they are met."""
        old = list(self.now.documents.get(id, ())) if keep else []
        parts = []
        for position, text in enumerate(texts):
            parent, embed = tree[position] if tree else (-1, True)
            match = next((part for part in old if part.text == text), None)
            if match:
                old.remove(match)
            parts.append(replace(match or Piece(text), parent=min(parent, position - 1), embed=embed))
        self._commit({id: parts})

    @rule(old=IDS, new=IDS, extra=TEXTS)
    def relocate(self, old: DocumentId, new: DocumentId, extra: list[str]) -> None:
        """Move all of a document into another one, ahead of new pieces."""
        if old != new and old in self.now.documents:
            moved = [*self.now.documents[old], *(Piece(text) for text in extra)]
            self._commit({old: None, new: moved})

    @rule(id=IDS)
    def close(self, id: DocumentId) -> None:  # noqa: A002
        """Close a document."""
        if id in self.now.documents:
            self._commit({id: None})

    @rule(id=IDS, shift=st.integers(0, 5))
    def respan(self, id: DocumentId, shift: int) -> None:  # noqa: A002
        """Same document, other source bytes."""
        if id in self.now.documents:
            parts = [replace(part, shift=shift) for part in self.now.documents[id]]
            after = Model({**self.now.documents, id: parts})
            self._perform(after, {id: parts}, lambda to: to.respan(id, source_digest(id, parts), spans(parts)))

    @rule(id=IDS, texts=TEXTS)
    def abort(self, id: DocumentId, texts: list[str]) -> None:  # noqa: A002
        """Put a whole document, and think better of it."""
        with closing(self.store.snapshot()) as reader:
            transaction = self.store.begin(reader.head)
            stage(transaction, reader, {id: [Piece(text) for text in texts]})
        transaction.abort()

    @rule(keep=st.booleans())
    def mend(self, keep: bool) -> None:
        """Write every document anew, believing nothing; with `keep` under the ids that its chunks have."""
        documents = {
            each: [part if keep else replace(part, occurrence=None) for part in parts]
            for each, parts in self.now.documents.items()
        }
        mend(self.store, documents)
        self._learn(Model(documents))

    @precondition(lambda self: len(self.past) > 1)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        """Commit a kept generation's documents again, under their old ids."""
        target = data.draw(st.sampled_from(self.past[self.oldest :]))
        changes: dict[DocumentId, list[Piece] | None] = dict.fromkeys(
            self.now.documents.keys() - target.documents.keys()
        )
        changes |= {each: parts for each, parts in target.documents.items() if parts != self.now.documents.get(each)}
        self._commit(changes)

    @precondition(lambda self: len(self.past) > 1)
    @rule(data=st.data(), scrub=st.booleans())
    def compact(self, data: st.DataObject, scrub: bool) -> None:
        """Remove the generations before one that is kept."""
        self.oldest = data.draw(st.integers(max(1, self.oldest), len(self.past) - 1))
        assert self.store.compact(self.store.head(), self.oldest, scrub=scrub).given_back
        assert [each.number for each in self.store.history()] == list(range(self.oldest, len(self.past)))

    @rule()
    def reopen(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = self.make_store(self.name)

    @invariant()
    def every_generation_reads_as_the_model_says(self) -> None:
        """Manifests at all generations, arms at the head."""
        head = self.store.head()
        assert head.generation == len(self.past) - 1
        assert (head.documents, head.chunks) == self.now.counts()
        for number in range(max(1, self.oldest), len(self.past)):
            reader = self.store.snapshot(number)
            _same_manifest(reader, self.past[number])
            reader.close()
        reader = self.store.snapshot()
        _same_manifest(reader, self.now)
        _same_trie(reader, self.now)
        _same_arms(reader, self.now)
        reader.close()

    def teardown(self) -> None:
        """Nothing that the store can see may be wrong at the end."""
        assert list(self.store.snapshot().problems(full=True)) == []
        self.store.close()

    def _commit(self, changes: dict[DocumentId, list[Piece] | None]) -> None:
        documents = dict(self.now.documents)
        for id, parts in changes.items():  # noqa: A001
            if parts is None:
                del documents[id]
            else:
                documents[id] = parts
        self._perform(Model(documents), changes, lambda to: stage_rows(to, changes))

    def _perform(self, after: Model, changes: Changes, put: Callable[[Transaction], None]) -> None:
        reader = self.store.snapshot()
        transaction = self.store.begin(reader.head)
        put(transaction)
        given = follow(transaction, reader, versions(changes))
        reader.close()
        assert (given.documents, given.chunks) == after.counts()
        transaction.commit(given)
        self._learn(after)

    def _learn(self, after: Model) -> None:
        """Take what was committed for the head's model, with the ids that new occurrences were given."""
        reader = self.store.snapshot()
        for id, parts in after.documents.items():  # noqa: A001
            after.documents[id] = self._named(reader, id, parts)
        reader.close()
        self.past.append(after)

    def _named(self, reader: Reader, id: DocumentId, parts: Sequence[Piece]) -> list[Piece]:  # noqa: A002
        named = []
        for part, chunk in zip(parts, reader.chunks(id), strict=True):
            if part.occurrence is None:
                assert chunk.occurrence not in self.used, f"occurrence {chunk.occurrence} was given out twice"
                self.used.add(chunk.occurrence)
            else:
                assert chunk.occurrence == part.occurrence
            named.append(replace(part, occurrence=chunk.occurrence))
        return named


def _same_manifest(reader: Reader, model: Model) -> None:
    wanted = {each: version(each, parts) for each, parts in model.documents.items()}
    documents = list(reader.documents())
    assert [each.id for each in documents] == sorted(wanted)
    for each in documents:
        assert (each.root, each.metadata) == (wanted[each.id].root, wanted[each.id].metadata)
        assert each.source_digest == wanted[each.id].source_digest
        chunks = reader.chunks(each.id)
        assert [(c.occurrence, c.entry_hash, c.chunk_hash, c.span, c.parent) for c in chunks] == [
            (p.occurrence, p.entry_hash, p.chunk_hash, p.span, p.parent) for p in wanted[each.id].placements
        ]
        assert [c.embed for c in chunks] == [part.embed for part in model.documents[each.id]]


def _same_trie(reader: Reader, model: Model) -> None:
    """What moved from commit to commit is what is built from nothing."""
    rows = sorted((trie_row(version(each, parts)) for each, parts in model.documents.items()), key=lambda row: row.key)
    assert list(reader.rows("")) == rows
    made = build(rows).put
    assert reader.nodes(["", *DIGITS]) == made


def _same_arms(reader: Reader, model: Model) -> None:
    dense = [hit.entry for hit in reader.dense(SPACE, vector("any"), 100)]
    lexical = [hit.entry for hit in reader.lexical(["shared"], 100)]
    assert sorted(dense) == sorted(lexical)
    wanted = [
        (each, position, part.parent, part.occurrence, part.text)
        for each, parts in sorted(model.documents.items())
        for position, part in enumerate(parts)
        if part.embed
    ]
    found = reader.occurrences(dense, 100)
    assert [(hit.id, hit.position, hit.parent, hit.occurrence, hit.text) for hit in found] == wanted
    assert len(dense) == len(model.texts())


class MachineRules:
    """The port as a whole."""

    def test_any_history_reads_as_the_model_says(self, make_store: MakeStore) -> None:
        run_state_machine_as_test(
            lambda: StoreMachine(make_store),  # type: ignore[arg-type]  # any factory will do, whatever the stub says
            settings=settings(
                max_examples=25,
                stateful_step_count=20,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
