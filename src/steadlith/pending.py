"""A change that brings a configuration, on its way: what lets a commit and a file, which are two places, end as one.

1. Its journal is written before anything is paid for or committed, and removed once the configuration is in place. Its
   generation says whether the commit happened: only a plan of that digest makes it.
2. A configuration file that is neither the one that the journal was made over nor the one that it leads to was edited
   meanwhile: it is not overwritten without a word.
3. A journal whose commit did not happen stands in nobody's way: that of a rollback is void, and a migration can be
   gone on with.
4. What was committed leaves a receipt before its journal goes.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from steadlith import config as configuration
from steadlith import files, journals, receipts
from steadlith_core.errors import ChangeUnfinished, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from steadlith.assembly import Assembly
    from steadlith.config import Adapter, Config
    from steadlith.generations import Open
    from steadlith.journals import Journal
    from steadlith_core.digest import Digest
    from steadlith_core.records import Generation


class Stage(Enum):
    """How far the change of a journal came."""

    VOID = auto()
    """Nothing was committed."""
    COMMITTED = auto()
    """The configuration is still the one that the journal was made over."""
    EDITED = auto()
    """It is committed, and somebody wrote another configuration since."""
    IN_PLACE = auto()
    """All is done but for the journal itself."""


def stage(config: Config, journal: Journal, history: Sequence[Generation]) -> Stage:
    """How far it came, by what is kept and by what the configuration file holds now.

    `ChangeUnfinished` if it would put another configuration in place than its generation recorded.
    """
    if journal.is_move:
        return Stage.IN_PLACE if config.store == _store_of(config, journal) else Stage.VOID
    if history and journal.lineage not in {None, history[-1].lineage}:
        raise ChangeUnfinished(
            f"{journals.place(config)} is of index {journal.lineage}, and the configuration leads to index "
            f"{history[-1].lineage}: put its [store] back, or drop the journal with `steadlith migrate --abort --force`"
        )
    made = next((each for each in history if each.number == journal.number), None)
    gone = bool(history) and journal.number < history[0].number
    if not gone and (made is None or made.plan_digest != journal.plan_digest):
        return Stage.VOID
    if made is not None and made.configuration != journal.configuration:
        why = f"it does not hold the configuration that generation {made.number} recorded"
        raise journals.unreadable(journals.place(config), why)
    now = journals.named(journals.current(config))
    if now == journals.named(journal.configuration):
        return Stage.IN_PLACE
    # Where the generation itself was compacted away meanwhile, nobody can tell any more.
    return Stage.COMMITTED if now == journals.named(journal.before) and not gone else Stage.EDITED


def _store_of(config: Config, journal: Journal) -> Adapter:
    """Where the index of a move goes. `ChangeUnfinished` if this release cannot read that."""
    try:
        return configuration.read(journal.configuration, config.file).store
    except ConfigError as error:
        raise journals.unreadable(journals.place(config), str(error)) from error


@contextmanager
def alone(
    assembly: Assembly, open_store: Open, lock_timeout: float, *, blindly: bool = False
) -> Iterator[Sequence[Generation]]:
    """Hold the writer's lock, and say what is kept; with `blindly` nothing, whatever the index is like. `LockHeld`."""
    with ExitStack() as stack:
        lock = assembly.lock(timeout=lock_timeout, holder="steadlith --resume or --abort")
        lock.acquire()
        stack.callback(lock.release)
        yield () if blindly else open_store(stack, readonly=True).history()


def settle(config: Config, history: Sequence[Generation], *, force: bool = False) -> Journal | None:
    """Put the configuration of a committed change in place, write its receipt and remove its journal. One that was not
    committed is removed, or stays where it can be gone on with.

    The journal, if anything was committed under it; called under the writer's lock. With `force` an edited
    configuration is replaced. Raises `ChangeUnfinished` for one that was edited, and if it cannot be written.
    """
    journal = journals.read(config)
    if journal is None:
        return None
    found = stage(config, journal, history)
    if found is Stage.EDITED and not force:
        raise unfinished(config, journal, found)
    if found in {Stage.COMMITTED, Stage.EDITED}:
        _put(config, journal)
    if found is Stage.VOID:
        if not journal.goes_on:
            journals.drop(config)
        return None
    _acknowledge(config, journal, history)
    journals.drop(config)
    return journal


def abandon(config: Config, history: Sequence[Generation], *, force: bool = False) -> bool:
    """Remove the journal of a change that was not committed; whether there was one. With `force` any: the configuration
    stays as it is.

    Called under the writer's lock. Raises `ChangeUnfinished` for one that is committed.
    """
    journal = None if force else journals.read(config)
    if journal is not None:
        found = stage(config, journal, history)
        if found in {Stage.COMMITTED, Stage.EDITED}:
            raise unfinished(config, journal, found)
        if found is Stage.IN_PLACE:
            settle(config, history)
            return False
    there = os.path.exists(journals.place(config))  # noqa: PTH110 -- likewise
    journals.drop(config)
    return there


def make_way(config: Config, history: Callable[[], Sequence[Generation]]) -> None:
    """Before another journal takes the place of one: end what is done. Raises `ChangeUnfinished` for what is committed
    and not in place, for a move, and for a damaged journal. Called under the writer's lock.
    """
    if not os.path.exists(journals.place(config)):  # noqa: PTH110 -- likewise
        return
    refuse_moving(config)
    refuse(config, history)
    settle(config, history())


def outlive(config: Config, kept: Sequence[Generation], head: int) -> None:
    """Before generations are compacted away: a change that was begun and not committed goes on to the next number, so
    that a later look does not take it for one that is gone. Called under the writer's lock. Raises `OSError`.
    """
    with suppress(ChangeUnfinished):
        journal = begun(config, lambda: kept)
        if journal is not None and not journal.is_move:
            journals.write(config, replace(journal, number=head + 1))


def begun(config: Config, history: Callable[[], Sequence[Generation]]) -> Journal | None:
    """A change that is on its way and not committed, and can be gone on with. `ChangeUnfinished` for a damaged one.
    The history is looked at where there is a journal.
    """
    journal = journals.read(config)
    if journal is None or not journal.goes_on:
        return None
    return journal if stage(config, journal, history()) is Stage.VOID else None


def refuse_moving(config: Config) -> None:
    """Raise `ChangeUnfinished` while the index is on its way to another store: another change would forget where to."""
    journal = begun(config, tuple) if os.path.exists(journals.place(config)) else None  # noqa: PTH110 -- likewise
    if journal is not None and journal.is_move:
        raise ChangeUnfinished(
            f"the index is on its way to another store ({journal.asked[journals.STORE]}): `steadlith migrate --resume` "
            "goes on, `steadlith migrate --abort` takes away what was copied"
        )


def refuse(
    config: Config, history: Callable[[], Sequence[Generation]], *, but: Callable[[], Digest] | None = None
) -> None:
    """Raise `ChangeUnfinished` if a change is committed and its configuration is not in place, unless its plan has the
    digest `but`. Costs one look at the folder where nothing is on its way.
    """
    if not os.path.exists(journals.place(config)):  # noqa: PTH110 -- False, not an error, where nothing may be looked at
        return
    journal = journals.read(config)
    if journal is None or (but is not None and journal.plan_digest == but()):
        return
    found = stage(config, journal, history())
    if found in {Stage.COMMITTED, Stage.EDITED}:
        raise unfinished(config, journal, found)


def _put(config: Config, journal: Journal) -> None:
    try:
        files.write(config.file, [_as_the_file_is(config.file, journal.configuration)])
    except OSError as error:
        raise ChangeUnfinished(
            f"generation {journal.number} ({journal.why}) is committed, and {config.file} cannot be written: "
            f"{error.strerror or error}. Make it writable and run `steadlith {journal.command} --resume`"
        ) from error


def _as_the_file_is(file: Path, text: str) -> bytes:
    """The text with the line ends and the byte order mark of the file that it takes the place of."""
    try:
        now = file.read_bytes()
    except OSError:
        now = b""
    ends = text.replace("\n", "\r\n") if b"\r\n" in now else text
    return (BOM_UTF8 if now.startswith(BOM_UTF8) else b"") + ends.encode()


def _acknowledge(config: Config, journal: Journal, history: Sequence[Generation]) -> None:
    """The receipt of what was committed. One that cannot be written stops nobody: the history says the same."""
    made = next((each for each in reversed(history) if each.plan_digest == journal.plan_digest), None)
    base = next((each for each in history if made is not None and each.number == made.parent), None)
    if made is not None and made.configuration == journal.configuration and journal.goes_on:
        with suppress(OSError):
            receipts.write(config, receipts.Receipt.of(base, made, journal.before, journal.told))


def unfinished(config: Config, journal: Journal, found: Stage) -> ChangeUnfinished:
    """What stands in the way of whoever plans or applies, and the ways out."""
    committed, command = f"generation {journal.number} ({journal.why}) is committed", f"steadlith {journal.command}"
    if found is Stage.EDITED:
        return ChangeUnfinished(
            f"{committed}, and {config.file} was edited before that generation's configuration was put in its place. "
            f"`{command} --resume --force` replaces what was edited, `{command} --abort --force` keeps it, and the "
            "next plan shows what it changes"
        )
    return ChangeUnfinished(
        f"{committed}, and its configuration is not in place yet: `{command} --resume` puts it there"
    )
