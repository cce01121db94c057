"""Copying: the head of one store into another one, through the ports alone.

1. What is copied is what the head shows: documents with their metadata and source digests, chunks with their spans and
   parents, texts, entries, and the full vectors bit for bit. No source is looked at, and no model.
2. Documents go in their order, in batches: each is a generation of the new store, whose roots are true for what it
   holds so far. Whatever ends a copy, at most one batch of it is lost, and the next run goes on behind the last one.
3. Every generation of a copy bears the name of the head that it is of. Nothing is added to an index that is no copy of
   this very head, and what an earlier run copied has to be what this head shows.
4. What is read is held against its name before it is put, so that no damage gets new checksums.
5. What is in memory is the chunks of a batch; texts and vectors pass some at a time.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from steadlith import clock
from steadlith.border import adapter
from steadlith.contents import TOGETHER, damaged, read, vectors
from steadlith_core.digest import hash_fields
from steadlith_core.errors import UsageError
from steadlith_core.records import Generation
from steadlith_core.rows import DocumentVersion, Placement, TextRow, TrieRow
from steadlith_core.state.moving import move
from steadlith_core.state.roots import corpus_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader, Store, Transaction
    from steadlith_core.records import Head, Recipe
    from steadlith_core.rows import RecordedChunk, RecordedDocument

BATCH = 5_000
"""Chunks that are committed together; a document is never divided."""
PART = "part of a copy of "
WHOLE = "moved from "


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy on its way: what `source` shows, which is the head of its store, into `target`.

    `what` names the head in messages and in the new history (`sqlite, generation 12`); `configuration` is noted with
    the whole copy.
    """

    source: Reader
    target: Store
    what: str
    configuration: str | None = None

    @property
    def name(self) -> Digest:
        """The name that every generation of the copy bears in the place of a plan's."""
        return name_of(self.source.head)

    @property
    def recipe(self) -> Recipe:
        """What decides the index besides its documents. `UsageError` where there is none yet."""
        if self.source.head.recipe is None:
            raise UsageError("there is no index yet, so there is nothing to copy")
        return self.source.head.recipe

    def begun(self) -> Head:
        """The head of what an earlier run copied, generation 0 without any. `UsageError` for anything else there."""
        with adapter("looking at where the copy goes"):
            history = self.target.history()
            head = self.target.head()
        for made in history:
            if made.plan_digest != self.name or made.recipe != self.recipe:
                raise UsageError(f"there is {_told(made, self.source.head)}")
            if made.configuration not in {None, self.configuration}:
                raise UsageError(
                    "there is a copy of this index that was made for another text of the configuration; `steadlith "
                    "migrate --abort` takes it away, or name a place that is empty"
                )
        return head

    def is_whole(self, head: Head) -> bool:
        """Whether all of it is there."""
        ours = self.source.head
        return bool(head.generation) and (head.corpus_root, head.state_root) == (ours.corpus_root, ours.state_root)

    def steps(self) -> Iterator[Head]:
        """Copy what is not there yet: the head after each batch that is committed, the last one with the whole.

        Ask for the next when the last one may be followed. Raises `UsageError` as `begun` does, `StoreCorrupt` for what
        cannot be read as it was committed, `StaleHead` if somebody else writes where the copy goes.
        """
        head = self.begun()
        with adapter("reading the index"):
            documents = self.source.documents()
        self._pass(documents)
        batches = _in_batches(documents, BATCH)
        while not self.is_whole(head):
            with adapter("reading the index"):
                some = next(batches, ())
            if not some and head.generation:
                raise damaged("its documents do not lead to its root")
            head = self._commit(head, some)
            yield head

    def tidy(self, head: Head) -> None:
        """Leave the whole as the one generation that is kept: its parts are no states that anybody had."""
        with adapter("tidying the copy"):
            if len(self.target.history()) > 1:
                self.target.compact(head, head.generation)

    # ------------------------------------------------------------------------------------------ inside

    def _pass(self, documents: Iterator[RecordedDocument]) -> None:
        """Take those that are there already from the documents that are to be copied."""
        with adapter("comparing what is copied already"), closing(self.target.snapshot()) as there:
            for found in there.documents():
                ours = next(documents, None)
                if found != ours:
                    raise UsageError(f"there is a copy begun of this index, but {found.id} in it is another one")

    def _commit(self, head: Head, documents: Sequence[RecordedDocument]) -> Head:
        chunks = {document.id: self._chunks(document) for document in documents}
        entries = {row.entry_hash: row for rows in chunks.values() for row in rows}
        changes = {key: TrieRow(key, each.root, each.source_digest) for each in documents for key in [_key(each)]}
        with adapter("writing the copy"), closing(self.target.snapshot()) as there:
            moved = move(there, changes)
            kept = there.entries(list(entries))
        corpus = corpus_root(moved.after.count, moved.after.digest, normalizer_id=self.recipe.normalizer_id)
        copied = sum(map(len, chunks.values()))
        whole = corpus == self.source.head.corpus_root
        generation = Generation(
            number=head.generation + 1,
            parent=head.generation,
            lineage=head.lineage or clock.new_lineage(),
            corpus_root=corpus,
            state_root=state_root(corpus, self.recipe),
            recipe=self.recipe,
            plan_digest=self.name,
            documents=head.documents + len(documents),
            chunks=head.chunks + copied,
            at=clock.utc_now(),
            summary={"copied": self.source.head.chunks if whole else copied},
            why=f"{WHOLE if whole else PART}{self.what}",
            configuration=self.configuration if whole else None,
        )
        with adapter("writing the copy"):
            transaction = self.target.begin(head)
            try:
                self._put_entries(transaction, [row for name, row in entries.items() if name not in kept])
                for document in documents:
                    transaction.put_document(_version(document, chunks[document.id]))
                transaction.put_nodes(moved.put, moved.dropped)
            except BaseException:
                transaction.abort()
                raise
            return transaction.commit(generation)

    def _chunks(self, document: RecordedDocument) -> tuple[RecordedChunk, ...]:
        """A document's chunks, if they lead to its root."""
        with adapter("reading the index"):
            rows = self.source.chunks(document.id)
        topology = [(row.parent, row.embed) for row in rows]
        if document_root([row.chunk_hash for row in rows], document.metadata, topology) != document.root:
            raise damaged(f"the chunks of {document.id} do not lead to its root")
        return rows

    def _put_entries(self, transaction: Transaction, wanted: Iterable[RecordedChunk]) -> None:
        """Put texts, entries and vectors, some at a time."""
        rows = iter(wanted)
        while some := list(islice(rows, TOGETHER)):
            texts, entries = read(self.source, some)
            transaction.put_texts(TextRow(name, text) for name, text in texts.items())
            transaction.put_entries(entries.values())
            for space in self.recipe.spaces:
                transaction.put_vectors(space, vectors(self.source, space, entries, texts))


def name_of(head: Head) -> Digest:
    """The name of a copy of this head."""
    return hash_fields("copy", head.lineage, head.generation, head.corpus_root, head.state_root, head.plan_digest)


def begun_in(history: Sequence[Generation]) -> bool:
    """Whether all that a store holds is one copy, whole or in part, to which nothing was added."""
    last = history[-1].plan_digest
    return all(made.plan_digest == last and made.why.startswith((PART, WHOLE)) for made in history)


def _in_batches(documents: Iterable[RecordedDocument], size: int) -> Iterator[Sequence[RecordedDocument]]:
    """Documents of about so many chunks together. One without chunks costs something as well."""
    some: list[RecordedDocument] = []
    room = size
    for document in documents:
        some.append(document)
        room -= document.chunk_count + 1
        if room <= 0:
            yield some
            some, room = [], size
    if some:
        yield some


def _version(document: RecordedDocument, rows: Sequence[RecordedChunk]) -> DocumentVersion:
    placements = tuple(Placement(None, row.entry_hash, row.chunk_hash, row.span, row.parent) for row in rows)
    return DocumentVersion(document.id, document.root, document.metadata, document.source_digest, placements)


def _key(document: RecordedDocument) -> Digest:
    return document_key(document.id)


def _told(made: Generation, ours: Head) -> str:
    """What stands where a copy is to go, and what to do about it."""
    if made.lineage == ours.lineage:
        return (
            "this very index, or a copy of its files; name a place that is empty. Where only a setting of the same "
            "store changes, write it into the configuration"
        )
    if made.why.startswith(PART):
        return (
            f"what is left of another copy ({made.why}); `steadlith migrate --abort` takes it away, or name a place "
            "that is empty"
        )
    return (
        f"another index already (generation {made.number} of {made.lineage}: {made.why}); name a place that is empty, "
        "or move that index away"
    )
