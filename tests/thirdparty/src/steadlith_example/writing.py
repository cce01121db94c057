"""A write: everything is gathered and checked in memory; only `commit` touches the disk.

1. Nothing that is committed is changed: documents are a copy, new rows lie over the old ones.
2. Whatever raises, also inside the caller's iterator, ends the write.
"""

from __future__ import annotations

from collections import ChainMap
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_embedded, check_parents, check_root, check_space, check_vectors
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.retrieval.quantization import QUANTIZATIONS
from steadlith_example.reader import ExampleReader
from steadlith_example.state import Rows, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

QUANTIZATION = frozenset(QUANTIZATIONS)
"""Every form is kept as full vectors, which answers exactly, whatever the form."""


class ExampleTransaction:
    """On top of `base`; `save` makes the state that it leads to the head, or raises."""

    def __init__(self, base: State, save: Callable[[State, State, Rows], None], *, mend: bool) -> None:
        self._base = base
        self._save = save
        self._mend = mend
        self._ended = False
        self._new = Rows()
        self._texts = ChainMap(self._new.texts, base.rows.texts)
        self._entries = ChainMap(self._new.entries, base.rows.entries)
        self._documents = dict(base.documents)
        self._nodes = dict(base.nodes)
        self._numbers = dict(base.numbers)
        self._named: set[DocumentId] = set()
        self._next_occurrence, self._next_entry = base.next_occurrence, base.next_entry

    @property
    def is_open(self) -> bool:
        """Whether it may still commit."""
        return not self._ended

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        with self._writing():
            for row in rows:
                if self._mend or row.text_hash not in self._texts:
                    self._texts[row.text_hash] = row.text

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        with self._writing():
            for row in rows:
                if row.text_hash not in self._texts:
                    message = f"entry {row.entry_hash.short} is of text {row.text_hash.short}, which was never put"
                    raise AdapterError(message)
                if row.entry_hash not in self._entries:
                    self._numbers[row.entry_hash] = self._next_entry
                    self._next_entry += 1
                elif not self._mend:
                    continue
                self._entries[row.entry_hash] = row

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        with self._writing():
            check_space(space, QUANTIZATION)
            rows = list(rows)
            check_vectors(space, rows)
            for row in rows:
                if row.entry_hash not in self._entries:
                    message = f"a vector for entry {row.entry_hash.short}, which was never put"
                    raise AdapterError(message)
                check_embedded(row.entry_hash, embed=self._entries[row.entry_hash].embed)
                self._new.put_vector(space, row)

    def put_document(self, version: DocumentVersion) -> None:
        with self._writing():
            self._name(version.id)
            check_parents(version)
            placements = []
            for each in version.placements:
                if each.occurrence is None:
                    placements.append(replace(each, occurrence=self._next_occurrence))
                    self._next_occurrence += 1
                elif 1 <= each.occurrence < self._base.next_occurrence:
                    placements.append(each)
                else:
                    message = f"occurrence {each.occurrence} does not exist; new ones are placed with none"
                    raise AdapterError(message)
            self._documents[version.id] = replace(version, placements=tuple(placements))

    def close_document(self, id: DocumentId) -> None:
        with self._writing():
            self._name(id)
            if self._documents.pop(id, None) is None:
                message = f"{id} is not in the index, so it cannot be closed"
                raise AdapterError(message)

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:
        with self._writing():
            self._name(id)
            version = self._documents.get(id)
            if version is None or len(version.placements) != len(spans):
                held = len(version.placements) if version else "no"
                message = f"{id} has {held} chunks, got {len(spans)} spans"
                raise AdapterError(message)
            moved = [replace(each, span=span) for each, span in zip(version.placements, spans, strict=True)]
            self._documents[id] = replace(version, source_digest=source_digest, placements=tuple(moved))

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        with self._writing():
            for prefix in list(self._nodes) if self._mend else dropped:
                self._nodes.pop(prefix, None)
            self._nodes.update(nodes)

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        with self._writing():
            self._refuse_wrong(generation)
            rows = Rows()
            rows.update(self._base.rows)
            rows.update(self._new)
            made = State(
                generation,
                self._documents,
                self._nodes,
                self._numbers,
                self._next_occurrence,
                self._next_entry,
                self._base.files,
                rows,
            )
            if check:
                with closing(ExampleReader(made, made.head, lambda _number: made)) as reader:
                    check(reader)
            self._save(self._base, made, self._new)
        self._ended = True
        return made.head

    def abort(self) -> None:
        self._ended = True

    def _refuse_wrong(self, generation: Generation) -> None:
        placements = [each for version in self._documents.values() for each in version.placements]
        seen: set[int | None] = set()
        for each in placements:
            if each.entry_hash not in self._entries:
                message = f"an occurrence is placed with entry {each.entry_hash.short}, which was never put"
                raise AdapterError(message)
            if each.occurrence in seen:
                message = f"occurrence {each.occurrence} is placed twice"
                raise AdapterError(message)
            seen.add(each.occurrence)
        base = self._base.head
        given = (generation.number, generation.parent, generation.documents, generation.chunks)
        found = (base.generation + 1, base.generation, len(self._documents), len(placements))
        if given != found or base.lineage not in {None, generation.lineage}:
            message = (
                f"the generation does not fit: (number, parent, documents, chunks) are {given} of lineage "
                f"{generation.lineage}, the store has {found} of {base.lineage}; nothing was committed"
            )
            raise AdapterError(message)
        check_root(self._nodes.get(""), generation)

    def _name(self, id_: DocumentId) -> None:
        if id_ in self._named:
            message = f"{id_} is put, closed or respanned twice in one write"
            raise AdapterError(message)
        self._named.add(id_)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._ended:
            message = "this write has ended (committed, aborted or failed); begin another one"
            raise UsageError(message)
        try:
            yield
        except BaseException:
            self._ended = True
            raise
