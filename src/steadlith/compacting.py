"""Compacting: generations that nobody needs go, or a document is erased from every file.

1. Nothing goes unless it is asked for: without a number of generations to keep, or a rule, all are kept.
2. Nothing is removed from an index that is not as it was committed: an older generation may be what mends it.
3. Erasing keeps the head alone, since an older generation could not be shown truthfully without the document. The cache
   goes first: a document that is still in the index can be asked for its inputs again.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import clock, remembering
from steadlith.border import adapter
from steadlith.config import STATE_FOLDER
from steadlith.retention import Kept, Retention, kept
from steadlith_core.errors import StoreCorrupt, UsageError
from steadlith_core.ports import Ailment
from steadlith_core.records import DocumentId, DriftKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from steadlith.assembly import Assembly
    from steadlith_core.ports import Compaction, Removable, Store
    from steadlith_core.records import Head


@dataclass(frozen=True, slots=True)
class Compactable:
    """What compacting would do: to which head, from which generation on it keeps, how many generations there are.

    `erased` are documents to be erased; no kept generation shows those that are `unknown`. `uncovered` are files of
    the state folder that erasing does not touch: saved plans, copies, what was set aside as damaged. `held_by` is the
    name of a generation that would else have gone, if there is one.
    """

    head: Head
    keep_from: int
    generations: int
    removable: Removable
    erased: tuple[DocumentId, ...] = ()
    unknown: tuple[DocumentId, ...] = ()
    uncovered: tuple[str, ...] = ()
    held_by: str | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to do."""
        return self.removable.is_nothing and not self.erased


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was done. `forgotten` vectors left the cache; `held_back` says why space or bytes are still there, if so."""

    asked: Compactable
    done: Compaction
    forgotten: int = 0
    held_back: str | None = None


def document_ids(names: Sequence[str], sources: Collection[str]) -> tuple[DocumentId, ...]:
    """The documents that a person names: `SOURCE:PATH`, also of a source that is configured no more, or `PATH` alone
    where there is one source.
    """
    return tuple(dict.fromkeys(_document_id(name, sources) for name in names))


def _document_id(name: str, sources: Collection[str]) -> DocumentId:
    source, colon, path = name.partition(":")
    if colon and source and path and (source in sources or len(sources) != 1):
        return DocumentId(source, path)
    if len(sources) == 1 and name:
        return DocumentId(next(iter(sources)), name)
    names = ", ".join(f"{each}:PATH" for each in sources)
    raise UsageError(f"{name!r} names no document: say which source it is of ({names})")


def compactable(assembly: Assembly, store: Store, keep: int | None, erased: tuple[DocumentId, ...] = ()) -> Compactable:
    """What compacting to the last `keep` generations would do; without a number, to what `[retention]` says.

    A generation that has a name is kept, and so is all that came later. Raises `UsageError` for a document to be erased
    that is in the head, or that a generation with a name may still show.
    """
    rule = assembly.config.retention if keep is None else Retention(keep_generations=keep)
    since = None if rule.keep_days is None else clock.utc_before(rule.keep_days)
    with adapter("looking at what can be compacted"):
        head, history, tags = store.head(), store.history(), store.tags()
        if not history:
            return Compactable(head, 0, 0, store.removable(0))
        held = kept(history, tags, rule, since=since)
        if erased:
            _refuse_present(store, erased)
            _refuse_named(head, tags)
            held = Kept(head.generation, None)
        known = store.traces(erased).documents
        unknown = tuple(id_ for id_ in erased if id_ not in known)
        uncovered = _uncovered(assembly) if erased else ()
        gone = store.removable(held.oldest)
        return Compactable(head, held.oldest, len(history), gone, erased, unknown, uncovered, held.held_by)


def _refuse_named(head: Head, tags: Mapping[str, int]) -> None:
    named = min(((number, name) for name, number in tags.items() if number < head.generation), default=None)
    if named is not None:
        message = (
            f"generation {named[0]} is named {named[1]!r}, and erasing keeps the head alone: take the name away first "
            f"(`steadlith tag --delete {named[1]}`)"
        )
        raise UsageError(message)


def _uncovered(assembly: Assembly) -> tuple[str, ...]:
    """Files that are known to be there and may hold anything: none that erasing rewrites."""
    folder = assembly.config.root / STATE_FOLDER
    covered = {*assembly.private_files, str(remembering.place(assembly)), str(folder / ".gitignore")}
    found = {str(file) for file in folder.rglob("*") if file.is_file()} if folder.is_dir() else set()
    found |= {trouble.place for trouble in assembly.troubles() if trouble.kind is Ailment.SET_ASIDE}
    return tuple(sorted(found - covered))


def _refuse_present(store: Store, erased: tuple[DocumentId, ...]) -> None:
    with closing(store.snapshot()) as reader:
        present = sorted(reader.find(erased))
    if present:
        message = (
            f"{present[0]} is in the index, so it is not erased: remove it from its source, apply, and erase it then"
        )
        raise UsageError(message)


def compact(assembly: Assembly, store: Store, asked: Compactable) -> Compacted:
    """Do it; the caller holds the writer's lock. Raises `StaleHead`, `StoreCorrupt`."""
    if asked.head.generation == 0:
        return Compacted(asked, store.compact(asked.head, 0))
    _refuse_damaged(store)
    forgotten, held_back = _forget(assembly, store, asked.erased)
    with adapter("compacting the index"):
        done = store.compact(asked.head, asked.keep_from, scrub=bool(asked.erased))
    if asked.erased:
        remembering.forget_stale(assembly, asked.head)
    if not done.given_back:
        held_back = "somebody is reading the index"
    return Compacted(asked, done, forgotten, held_back)


def _refuse_damaged(store: Store) -> None:
    with adapter("verifying the index"), closing(store.snapshot()) as reader:
        for problem in reader.problems(full=True):
            if problem.kind is not DriftKind.HISTORY:
                fault = f"the index is not as it was committed, so nothing is removed from it: {problem.message}"
                raise StoreCorrupt(f"{fault}; `steadlith doctor` names all of it, `steadlith doctor --repair` mends it")


def _forget(assembly: Assembly, store: Store, erased: tuple[DocumentId, ...]) -> tuple[int, str | None]:
    """Take the vectors out of the cache that were made for these documents alone; how many, and why some bytes stay."""
    if not erased or not any(map(os.path.exists, assembly.cache_files)):
        return 0, None
    keys = sorted(store.traces(erased).vector_keys)
    with closing(assembly.open_cache(readonly=False)) as cache, adapter("erasing in the cache"):
        return cache.drop(keys), cache.reclaim().held_back
