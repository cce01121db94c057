"""Store `example`: an index in a folder of files that are never changed, and a head that one rename moves.

It is small, and it is slow: opening it reads all of it, every search looks at everything. It is meant to be read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import filelock

from steadlith_adapters.settings import Table
from steadlith_core.errors import GenerationGone, LockHeld, StaleHead, StoreCorrupt, UsageError
from steadlith_core.ports import Capabilities, Compaction, Removable, Traces
from steadlith_example.folder import WAY_OUT, Folder, Kept
from steadlith_example.reader import MAX_LIMIT, ExampleReader
from steadlith_example.state import Rows, State, used
from steadlith_example.writing import QUANTIZATION, ExampleTransaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.ports import Settings, Store, StoreFactory, Trouble
    from steadlith_core.records import DocumentId, Generation, Head

CAPABILITIES = Capabilities(
    commit="atomic",  # one rename
    cas="transactional",  # the head is compared and replaced under one lock
    writers="cas",  # a second write runs, and loses at its commit
    isolation="snapshot",
    durability="fsync",
    dense=frozenset({"exact"}),
    prefilter="exact",
    lexical="bm25",
    lexical_stats="head",
    quantization=QUANTIZATION,
    time_travel="manifest",  # "search", if old generations are searched
    max_limit=MAX_LIMIT,
    reclaims_space=True,
    remote=False,
)


class ExampleStore:
    """One index. The kept generations stay in memory: no file is read twice."""

    def __init__(self, folder: Folder, *, readonly: bool) -> None:
        folder.check()
        self._folder = folder
        self._readonly = readonly
        self._closed = False
        self._loaded: dict[str, State] = {}
        self._readers = WeakSet[ExampleReader]()
        self._writes = WeakSet[ExampleTransaction]()

    capabilities = CAPABILITIES

    def head(self) -> Head:
        return self._states()[-1].head

    def snapshot(self, generation: int | None = None) -> ExampleReader:
        states = self._states()
        reader = ExampleReader(_kept(states, generation), states[-1].head, partial(_kept, states))
        self._readers.add(reader)
        return reader

    def begin(self, expected: Head, *, mend: bool = False) -> ExampleTransaction:
        self._refuse_to_write()
        base = self._states()[-1]
        found, wanted = base.head, expected
        # At generation 0 the roots depend on the configured versions; there the number alone counts.
        if found.generation != wanted.generation or (found.generation and found != wanted):
            message = (
                f"the index is at generation {found.generation}, not at {wanted.generation} as expected; plan again"
            )
            raise StaleHead(message)
        write = ExampleTransaction(base, self._save, mend=mend)
        self._writes.add(write)
        return write

    def history(self) -> tuple[Generation, ...]:
        return tuple(state.generation for state in self._states() if state.generation)

    def tags(self) -> Mapping[str, int]:
        self._states()
        return dict(sorted(self._folder.head().tags.items()))

    def tag(self, name: str, generation: int | None) -> None:
        self._refuse_to_write()
        self._refuse_during_a_write()
        if generation is None and name not in self.tags():
            return
        _kept(self._states(), generation)  # of an absent index not even the folder is made
        with self._folder.alone():
            _kept(self._states(), generation)  # and now nobody compacts
            files, tags = self._folder.head()
            others = {given: number for given, number in tags.items() if given != name}
            self._folder.swing(Kept(files, others if generation is None else {**others, name: generation}))

    def removable(self, keep_from: int) -> Removable:
        states = self._states()
        _kept(states, keep_from)
        return self._removed(states, keep_from)

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        states = self._states()
        versions = [state.documents[id_] for state in states for id_ in ids if id_ in state.documents]
        theirs = {each.entry_hash for version in versions for each in version.placements}
        rows, placed = states[-1].rows.vectors, states[-1].placed()
        keys = {row.vector_key for (_, entry), row in rows.items() if entry in theirs}
        still = {row.vector_key for (_, entry), row in rows.items() if entry in placed}
        return Traces(frozenset(version.id for version in versions), frozenset(keys - still))

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        self._refuse_to_write()
        self._refuse_during_a_write()
        if not self._folder.path.exists():
            return Compaction(keep_from, self.removable(keep_from), 0, 0, given_back=True)
        with self._folder.alone():
            states = self._states()
            if states[-1].head != expected:
                message = f"the index is at generation {states[-1].head.generation}, not at {expected.generation}"
                raise StaleHead(message)
            _kept(states, keep_from)
            removed, before = self._removed(states, keep_from), self._folder.size()
            if states[-1].generation:
                self._rewrite([state for state in states if state.head.generation >= keep_from])
            # What is removed has no file any more, so there is nothing left to scrub.
            return Compaction(keep_from, removed, before, self._folder.size(), given_back=True)

    def backup(self, path: str) -> Store:
        message = f"{path}: this index is a folder, not a file; stop writing and copy {self._folder.path} as it is"
        raise UsageError(message)

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        for write in self._writes:
            write.abort()
        self._closed = True

    def _save(self, base: State, made: State, new: Rows) -> None:
        """Commit: compare and swing, nobody else between."""
        with self._folder.alone():
            states = self._states()
            # Not only another head is another base: a compaction leaves the head, and takes rows that we count on.
            if (states[-1].head, states[-1].files) != (base.head, base.files):
                message = f"the index moved from generation {base.head.generation} during this write; plan again"
                raise StaleHead(message)
            rows = self._folder.write("rows", new.plain())
            made = replace(made, files=(*base.files, rows))
            files, tags = self._folder.head()
            self._folder.swing(Kept((*files, self._write(made)), tags))

    def _rewrite(self, states: Sequence[State]) -> None:
        rows = used(states)
        file = self._folder.write("rows", rows.plain())
        numbers = {entry: states[-1].numbers[entry] for entry in rows.entries}
        names = [self._write(replace(state, files=(file,), rows=rows, numbers=numbers)) for state in states]
        tags = {
            name: number for name, number in self._folder.head().tags.items() if number >= states[0].head.generation
        }
        self._folder.swing(Kept(tuple(names), tags))
        self._folder.sweep({file, *names})

    def _write(self, state: State) -> str:
        numbers, following = state.numbers, (state.next_occurrence, state.next_entry)
        parts = (state.generation, state.documents, state.nodes, numbers, *following, state.files)
        return self._folder.write("generation", parts)

    def _states(self) -> list[State]:
        """The kept generations, oldest first; of an absent index generation 0 alone."""
        if self._closed:
            message = "this store is closed; open it again"
            raise UsageError(message)
        names = self._folder.head().files
        while True:
            try:
                self._loaded = {name: self._state(name) for name in names}
                return list(self._loaded.values()) or [State()]
            except FileNotFoundError as error:
                # A compaction may have removed it since we looked at the head. If the head did not move, it is damage.
                before, names = names, self._folder.head().files
                if names == before:
                    message = f"{error.filename} is missing; {WAY_OUT}"
                    raise StoreCorrupt(message) from error

    def _state(self, name: str) -> State:
        if name in self._loaded:
            return self._loaded[name]
        generation, documents, nodes, numbers, occurrence, entry, files = self._folder.read(name)
        rows = Rows()
        for file in files:
            rows.update(Rows(*self._folder.read(file, whole=False)))
        damaged = rows.take_damaged()
        state = State(generation, documents, nodes, numbers, occurrence, entry, files, rows, damaged)
        if not state.is_whole():
            message = f"{self._folder.path}: rows are missing that {name} counts on; {WAY_OUT}"
            raise StoreCorrupt(message)
        return state

    def _removed(self, states: Sequence[State], keep_from: int) -> Removable:
        kept = [state for state in states if state.head.generation >= keep_from]
        gone = [state for state in states if state.head.generation < keep_from]
        old, new = states[-1].rows, used(kept)
        versions = _versions(states) - _versions(kept)
        return Removable(
            generations=len(gone),
            versions=len(versions),
            occurrences=len(_occurrences(states) - _occurrences(kept)),
            entries=len(old.entries) - len(new.entries),
            texts=len(old.texts) - len(new.texts),
            vectors=len(old.vectors) - len(new.vectors),
        )

    def _refuse_during_a_write(self) -> None:
        if any(write.is_open for write in self._writes):
            message = "a write of this store is in progress; commit or abort it first"
            raise UsageError(message)

    def _refuse_to_write(self) -> None:
        self._states()
        if self._readonly:
            message = "opened for reading only, so nothing can be written"
            raise UsageError(message)


def _kept(states: Sequence[State], number: int | None) -> State:
    head = states[-1].head.generation
    for state in states:
        if state.head.generation == (head if number is None else number):
            return state
    message = f"generation {number} is not kept; the index is at generation {head}"
    raise GenerationGone(message)


def _versions(states: Sequence[State]) -> set[object]:
    """What `Removable` counts as a version: a document under one root and source, at one set of occurrences."""
    return {
        (version.id, version.root, version.source_digest, *(each.occurrence for each in version.placements))
        for state in states
        for version in state.documents.values()
    }


def _occurrences(states: Sequence[State]) -> set[int | None]:
    return {each.occurrence for state in states for version in state.documents.values() for each in version.placements}


class ExampleLock:
    """One writer at a time among the processes of this machine. The file stays: removing it would let in two."""

    def __init__(self, path: Path, *, timeout: float, holder: str) -> None:
        self._path = path
        self._note = path.with_suffix(".holder")
        self._timeout = max(0.0, timeout)
        self._holder = holder
        self._lock = filelock.FileLock(path, thread_local=False)

    def acquire(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=self._timeout)
        except filelock.Timeout as error:
            holder = self._note.read_text("utf-8") if self._note.exists() else "it left no name"
            message = f"another writer holds {self._path}: {holder}; wait for it (--lock-timeout SECONDS)"
            raise LockHeld(message) from error
        self._note.write_text(self._holder, "utf-8")

    def release(self) -> None:
        if self._lock.is_locked:
            self._note.unlink(missing_ok=True)
            self._lock.release()


class ExampleStores:
    """Makes them. `path` is the one setting: the folder, relative to the configuration's."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        path = _path(settings, root)
        return [str(path), *(str(path) + end for end in (".lock", ".holder"))]

    def open(self, settings: Settings, *, root: str, readonly: bool) -> ExampleStore:
        return ExampleStore(Folder(_path(settings, root)), readonly=readonly)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        path = _path(settings, root)
        Folder(path).check()
        number = 1
        while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
            number += 1
        return str(path.rename(aside))

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        _path(settings, root)
        return ()

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> ExampleLock:
        path = _path(settings, root)
        # Beside the folder: a lock must be there before the index is, and stay when the index is set aside.
        return ExampleLock(path.with_name(path.name + ".lock"), timeout=timeout, holder=holder)


FACTORY: StoreFactory = ExampleStores()


def _path(settings: Settings, root: str) -> Path:
    table = Table("store 'example'", settings)
    table.only("path")
    return Path(root) / table.text("path", ".steadlith/example")
