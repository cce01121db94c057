"""Carrying an index over to another store, where it is what it was, bit for bit.

1. Both writers' locks are held until the configuration names the new store, so that no apply is left behind.
2. The old store is read and never changed: until the configuration is replaced it is the index, afterwards it is what
   the past is kept in.
3. The copy is verified in full and compared with the original, row by row, before anybody may call it the index.
4. Nothing is embedded, and no source and no model is asked for.
5. Whatever ends a move, the same move goes on behind the last batch that it committed.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import contents, drift, relexing, remembering
from steadlith.books import IN_PROCESS, told
from steadlith.border import adapter
from steadlith.copying import Copy, begun_in
from steadlith.verify import verify
from steadlith_core.errors import StaleHead, Stopped, StoreCorrupt, UsageError
from steadlith_core.events import Copied, silent
from steadlith_core.records import DriftKind, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith.assembly import Assembly
    from steadlith.contents import Contents
    from steadlith_core.events import Reporter
    from steadlith_core.ports import Reader, Store
    from steadlith_core.records import Generation, Head

HOLDER = "steadlith migrate"


@dataclass(frozen=True, slots=True)
class StoreMove:
    """What a move comes to: from where to where, how much, and how much of it an earlier run copied (`copied` chunks);
    the text of the configuration now and then.

    `generations` and `names` stay behind: the older generations, and the names that any has. `differences` are what
    both stores do otherwise: a capability, what the old one has, and what the new one has.
    """

    old: str
    new: str
    head: Head
    contents: Contents
    copied: int
    generations: int
    names: tuple[str, ...]
    differences: tuple[tuple[str, str, str], ...]
    now: str
    then: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A copy that is the index as soon as the configuration says so, and the generation that it is a copy of."""

    before: Generation
    after: Generation


def preview(old: Assembly, new: Assembly) -> StoreMove:
    """What moving the index of `old` to the store of `new` would do. Changes nothing.

    Raises `ConfigError` for a store that cannot be used, `UsageError` for one that cannot take this index.
    """
    with ExitStack() as stack:
        store, target = _opened(stack, old, new, readonly=True)
        copy = _copy(stack, old, new, store, target)
        head = copy.begun()
        history = store.history()
        return StoreMove(
            old=place(old),
            new=place(new),
            head=copy.source.head,
            contents=contents.count(copy.source),
            copied=head.chunks,
            generations=len(history) - 1,
            names=tuple(store.tags()),
            differences=tuple(_differences(store, target)),
            now=old.config.text,
            then=new.config.text,
        )


@contextmanager
def locked(old: Assembly, new: Assembly, lock_timeout: float) -> Iterator[None]:
    """Hold both writers' locks. Raises `UsageError` for one and the same store, `LockHeld`."""
    refuse_same(old, new)
    with ExitStack() as stack:
        for each in (old, new):
            lock = each.lock(timeout=lock_timeout, holder=HOLDER)
            lock.acquire()
            stack.callback(lock.release)
        yield


@contextmanager
def carried_over(
    old: Assembly,
    new: Assembly,
    expected: Head,
    *,
    report: Reporter = silent,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Iterator[Moved]:
    """The index of `old`, whose head is the expected one, in the store of `new`, whole and verified; inside, the
    configuration is to be replaced.

    Called under both locks. Raises as `preview` does, `Stopped` between two batches, `StoreCorrupt` for an index or a
    copy that is not what was committed, `StaleHead` for one that somebody else writes.
    """
    with ExitStack() as stack:
        store, target = _opened(stack, old, new, readonly=False)
        copy = _copy(stack, old, new, store, target)
        _refuse_moved(copy.source.head, expected)
        _refuse_damaged(copy.source)
        head = _run(copy, store, report, stop_requested)
        _refuse_unequal(copy.source, target, place(new))
        stack.enter_context(remembering.handed_over(old, copy.source.head, head))
        yield Moved(store.history()[-1], target.history()[-1])


def take_away(new: Assembly) -> str | None:
    """Move what a move left unfinished in the store of `new` out of the way; where it is now, none if nothing is there.

    Called under the lock. Raises `UsageError` for what is no copy.
    """
    with adapter("looking at what was copied"), closing(new.open_store(readonly=True)) as target:
        history = target.history()
    if not history:
        return None
    if not begun_in(history):
        raise UsageError(f"{place(new)}: there is an index that no unfinished move made, so it is left alone")
    return new.set_aside()


def place(assembly: Assembly) -> str:
    """The store of a configuration as its table says it, once the store itself found no secret in there."""
    _ = assembly.store_files
    store = assembly.config.store
    settings = (f"{name} = {value!r}" for name, value in sorted(store.settings.items()))
    return ", ".join((f"type = {store.type!r}", *settings))


def refuse_same(old: Assembly, new: Assembly) -> None:
    """Raise `UsageError` if both lead to one place."""
    files = [{os.path.realpath(file) for file in each.store_files} for each in (old, new)]
    if old.config.store == new.config.store or files[0] & files[1]:
        raise UsageError(f"the index is in that store already ({place(old)})")


def _opened(stack: ExitStack, old: Assembly, new: Assembly, *, readonly: bool) -> tuple[Store, Store]:
    refuse_same(old, new)
    store = stack.enter_context(closing(old.open_store(readonly=True)))
    target = stack.enter_context(closing(new.open_store(readonly=readonly)))
    for each in (store, target):
        if each.capabilities.durability == IN_PROCESS:
            raise UsageError("an index in memory ends with its process, so none moves from there or to there")
    return store, target


def _copy(stack: ExitStack, old: Assembly, new: Assembly, store: Store, target: Store) -> Copy:
    with adapter("reading the index"):
        reader = stack.enter_context(closing(store.snapshot()))
    head = reader.head
    if head.recipe is None:
        raise UsageError(f"{place(old)}: there is no index yet, so none moves: change [store] in {old.config.file}")
    if relexing.is_due(head.recipe):
        raise UsageError(
            f"the words of the index are those of another tokeniser ({head.recipe.lexical_id}): `steadlith migrate "
            "--apply` makes them anew; then move it"
        )
    offered = target.capabilities.quantization
    for space in head.recipe.spaces:
        if space.quantization not in offered:
            raise UsageError(
                f"store {new.config.store.type!r} keeps {', '.join(sorted(offered))} vectors, the index has "
                f"{space.quantization} ones: change embedding.quantization first, which embeds nothing"
            )
    return Copy(reader, target, f"{old.config.store.type}, generation {head.generation}", new.config.text)


def _refuse_moved(found: Head, expected: Head) -> None:
    if found != expected:
        raise StaleHead(
            f"the index moved to generation {found.generation} since this move was begun at {expected.generation}; "
            "begin it again"
        )


def _refuse_damaged(reader: Reader) -> None:
    for problem in drift.problems(reader, Level.FULL):
        if problem.kind is not DriftKind.HISTORY:
            raise contents.damaged(problem.message)


def _run(copy: Copy, store: Store, report: Reporter, stop_requested: Callable[[], bool]) -> Head:
    """Copy batch by batch; the head of the whole."""
    head, total = copy.begun(), copy.source.head.chunks
    steps = copy.steps()
    while not copy.is_whole(head):
        if stop_requested():
            raise Stopped(f"stopped after {head.chunks:,} of {total:,} chunks; the same move goes on behind them")
        with adapter("reading the index"):
            _refuse_moved(store.head(), copy.source.head)
        head = next(steps)
        report(Copied(head.chunks, total))
    copy.tidy(head)
    return head


def _refuse_unequal(source: Reader, target: Store, where: str) -> None:
    """Refuse a copy that does not verify, or shows anything otherwise than its original."""
    with adapter("verifying the copy"), closing(target.snapshot()) as there:
        found = verify(there, root=source.head.corpus_root, expected_state_root=source.head.state_root).problems
        try:
            wrong = next(iter(found), None) or next(contents.differences(source, there), None)
        except StoreCorrupt as error:
            wrong = error.fault
    if wrong is not None:
        raise StoreCorrupt(
            f"{where}: what was copied is not the index ({wrong}); the index is where it was. `steadlith migrate "
            "--abort` takes the copy away; then begin again",
            wrong,
        )


def _differences(old: Store, new: Store) -> Iterator[tuple[str, str, str]]:
    ours, theirs = told(old.capabilities), told(new.capabilities)
    for name, value in ours.items():
        if value != theirs[name]:
            yield name, _shown(value), _shown(theirs[name])


def _shown(value: str | int | tuple[str, ...]) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value).lower()
