"""One store on its way through a history, with a model of plain dictionaries beside it.

1. The model knows the port's promises and no adapter: it keeps, per generation, each document's occurrences in order.
2. Ids of new occurrences are learned from the store after the commit, and must never have been seen before.
3. What a side tells of itself (`told`) leaves out what a store may number as it likes: two stores that were led through
   one history tell the same.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from steadlith_core.state.moving import DIGITS, build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_conformance.samples import Changes
    from steadlith_core.ports import Reader, Store, Transaction
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import ArmHit, RecordedDocument


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


class Side:
    """One store and its model. `open_store` opens the index again, as another process would."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self.open_store = open_store
        self.store = open_store()
        self.past = [Model({})]
        self.oldest = 0
        self.used: set[int] = set()

    @property
    def now(self) -> Model:
        """The head's model."""
        return self.past[-1]

    @property
    def has_words(self) -> bool:
        """Whether the store has a lexical arm."""
        return self.store.capabilities.lexical != "none"

    def write(self, id: DocumentId, texts: Sequence[str], *, keep: bool, tree: Sequence[tuple[int, bool]]) -> None:  # noqa: A002
        """Replace a document; with `keep`, equal texts keep their ids, in the order they are met."""
        old = list(self.now.documents.get(id, ())) if keep else []
        parts = []
        for position, (text, (parent, embed)) in enumerate(zip(texts, tree, strict=False)):
            match = next((part for part in old if part.text == text), None)
            if match:
                old.remove(match)
            parts.append(replace(match or Piece(text), parent=min(parent, position - 1), embed=embed))
        self.commit({id: parts})

    def relocate(self, old: DocumentId, new: DocumentId, extra: Sequence[str]) -> None:
        """Move all of a document into another one, ahead of new pieces."""
        self.commit({old: None, new: [*self.now.documents[old], *(Piece(text) for text in extra)]})

    def respan(self, id: DocumentId, shift: int) -> None:  # noqa: A002
        """Same document, other source bytes."""
        parts = [replace(part, shift=shift) for part in self.now.documents[id]]
        after = Model({**self.now.documents, id: parts})
        self._perform(after, {id: parts}, lambda to: to.respan(id, source_digest(id, parts), spans(parts)))

    def abort(self, id: DocumentId, texts: Sequence[str]) -> None:  # noqa: A002
        """Put a whole document, and think better of it."""
        with closing(self.store.snapshot()) as reader:
            transaction = self.store.begin(reader.head)
            stage(transaction, reader, {id: [Piece(text) for text in texts]})
        transaction.abort()

    def mend(self, *, keep: bool) -> None:
        """Write every document anew, believing nothing; with `keep` under the ids that its chunks have."""
        documents = {
            each: [part if keep else replace(part, occurrence=None) for part in parts]
            for each, parts in self.now.documents.items()
        }
        mend(self.store, documents)
        self._learn(Model(documents))

    def roll_back(self, number: int) -> None:
        """Commit a kept generation's documents again, under their old ids."""
        target = self.past[number]
        changes: dict[DocumentId, list[Piece] | None] = dict.fromkeys(
            self.now.documents.keys() - target.documents.keys()
        )
        changes |= {each: parts for each, parts in target.documents.items() if parts != self.now.documents.get(each)}
        self.commit(changes)

    def compact(self, keep_from: int, *, scrub: bool) -> None:
        """Remove the generations before one that is kept."""
        self.oldest = keep_from
        assert self.store.compact(self.store.head(), self.oldest, scrub=scrub).given_back
        assert [each.number for each in self.store.history()] == list(range(self.oldest, len(self.past)))

    def reopen(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = self.open_store()

    def check(self) -> None:
        """Manifests at all generations, arms at the head: all as the model says."""
        head = self.store.head()
        assert head.generation == len(self.past) - 1
        assert (head.documents, head.chunks) == self.now.counts()
        for number in range(max(1, self.oldest), len(self.past)):
            with closing(self.store.snapshot(number)) as reader:
                _same_manifest(reader, self.past[number])
        with closing(self.store.snapshot()) as reader:
            _same_manifest(reader, self.now)
            _same_trie(reader, self.now)
            self._same_arms(reader)

    def told(self, *, words: bool) -> Mapping[str, object]:
        """All that the store answers about its head and its history, but for what it numbers as it likes."""
        with closing(self.store.snapshot()) as reader:
            documents = list(reader.documents())
            answers: dict[str, object] = {
                "history": self.store.history(),
                "tags": dict(self.store.tags()),
                "documents": documents,
                "chunks": [[replace(c, occurrence=0) for c in reader.chunks(each.id)] for each in documents],
                "rows": list(reader.rows("")),
                "nodes": reader.nodes(["", *DIGITS]),
            }
            answers |= _searched(reader, documents, words=words)
        return answers

    def searched(self, number: int, *, words: bool) -> Mapping[str, object]:
        """What the arms find in a kept generation."""
        with closing(self.store.snapshot(number)) as reader:
            return _searched(reader, list(reader.documents()), words=words)

    def told_of_upkeep(self) -> Mapping[str, object]:
        """What is wrong, what compacting would remove, and what is left of a document."""
        with closing(self.store.snapshot()) as reader:
            found: dict[str, object] = {"problems": list(reader.problems(full=True))}
        for number in range(max(1, self.oldest), len(self.past)):
            told = self.store.removable(number)
            # How many rows a version or an occurrence is kept in is the store's own business.
            found[f"removable, {number}"] = (told.generations, told.entries, told.texts, told.vectors)
        for id in sorted({id for model in self.past for id in model.documents}):  # noqa: A001
            found[f"traces, {id}"] = self.store.traces([id])
        return found

    def commit(self, changes: dict[DocumentId, list[Piece] | None]) -> None:
        """Commit the changes and learn what came of them."""
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
            after.documents[id] = self._identified(reader, id, parts)
        reader.close()
        self.past.append(after)

    def _identified(self, reader: Reader, id: DocumentId, parts: Sequence[Piece]) -> list[Piece]:  # noqa: A002
        found = []
        for part, chunk in zip(parts, reader.chunks(id), strict=True):
            if part.occurrence is None:
                assert chunk.occurrence not in self.used, f"occurrence {chunk.occurrence} was given out twice"
                self.used.add(chunk.occurrence)
            else:
                assert chunk.occurrence == part.occurrence
            found.append(replace(part, occurrence=chunk.occurrence))
        return found

    def _same_arms(self, reader: Reader) -> None:
        dense = [hit.entry for hit in reader.dense(SPACE, vector("any"), 100)]
        if self.has_words:
            lexical = [hit.entry for hit in reader.lexical(["shared"], 100)]
            assert sorted(dense) == sorted(lexical)
        wanted = [
            (each, position, part.parent, part.occurrence, part.text)
            for each, parts in sorted(self.now.documents.items())
            for position, part in enumerate(parts)
            if part.embed
        ]
        found = reader.occurrences(dense, 100)
        assert [(hit.id, hit.position, hit.parent, hit.occurrence, hit.text) for hit in found] == wanted
        assert len(dense) == len(self.now.texts())


def _searched(reader: Reader, documents: Sequence[RecordedDocument], *, words: bool) -> dict[str, object]:
    answers: dict[str, object] = {}
    first = [each.id for each in documents[:1]]
    for name, among in (("all", None), ("filtered", reader.within(first)), ("nothing", ())):
        dense = reader.dense(SPACE, vector("any"), 100, among, exact=True)
        answers[f"dense, {name}"] = sorted((text, round(hit.score, 5)) for text, hit in _named(reader, dense))
        if words:
            hits = reader.lexical(["shared", "alpha"], 100, among)
            answers[f"lexical, {name}"] = sorted(text for text, _ in _named(reader, hits))
    return answers


def _named(reader: Reader, hits: Sequence[ArmHit]) -> list[tuple[str, ArmHit]]:
    """Each hit with its text."""
    text = {found.entry: found.text for found in reader.occurrences([hit.entry for hit in hits], 1)}
    return [(text[hit.entry], hit) for hit in hits]


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
