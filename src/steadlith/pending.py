"""The journal of a change that brings a configuration: what lets a commit and a file, which are two places, end as one.

1. It is written before anything is paid for or committed, and removed once the configuration is in place. Its
   generation says whether the commit happened: only a plan of that digest makes it.
2. A configuration file that is neither the one that the journal was made over nor the one that it leads to was edited
   meanwhile: it is not overwritten without a word.
3. A journal whose commit did not happen stands in nobody's way: that of a rollback is void, and a migration can be
   gone on with.
4. What was committed leaves a receipt before its journal goes.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from steadlith import config as configuration
from steadlith import files, receipts
from steadlith.config import STATE_FOLDER
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ChangeUnfinished, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from steadlith.assembly import Assembly
    from steadlith.config import Adapter, Config
    from steadlith.generations import Open
    from steadlith_core.records import Generation

FORMAT_VERSION = "1.0"
KIND = "steadlith-journal"
STORE = "store"
"""What a move is asked for besides: where the index goes."""


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


@dataclass(frozen=True, slots=True)
class Journal:
    """A change on its way: `command` began it (`rollback`, `migrate`), and the plan of `plan_digest` makes it the
    generation `number`, for the reason `why`. `configuration` takes the place of `before`, both whole texts.

    `asked` is what whoever goes on with it must know, `told` what its receipt says besides.
    """

    command: str
    why: str
    number: int
    plan_digest: Digest
    before: str
    configuration: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_move(self) -> bool:
        """Whether the index goes to another store: then no generation of the old one says how far it came."""
        return STORE in self.asked

    @property
    def goes_on(self) -> bool:
        """Whether one that was not committed can be gone on with: it may have paid for something."""
        return self.command != "rollback"


def place(config: Config) -> Path:
    """Where the journal of a configuration file is."""
    return config.root / STATE_FOLDER / f"{config.file.stem}.journal.json"


def named(text: str) -> Digest:
    """The digest that a configuration's text is known by."""
    return hash_fields("configuration", text)


def write(config: Config, journal: Journal) -> None:
    """Make the journal durable. Raises `OSError`."""
    file = place(config)
    file.parent.mkdir(exist_ok=True)
    body = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "command": journal.command,
        "why": journal.why,
        "number": journal.number,
        "plan_digest": str(journal.plan_digest),
        "before": journal.before,
        "configuration": journal.configuration,
        "asked": dict(journal.asked),
        "told": dict(journal.told),
    }
    files.write(file, [json.dumps(receipts.sealed(body), indent=1, sort_keys=True).encode("ascii"), b"\n"])


def read(config: Config) -> Journal | None:
    """The journal, if there is one. `ChangeUnfinished` for one that cannot be read."""
    file = place(config)
    try:
        body = json.loads(file.read_bytes())
        journal = Journal(
            str(body["command"]),
            str(body["why"]),
            int(body["number"]),
            Digest.parse(body["plan_digest"]),
            str(body["before"]),
            str(body["configuration"]),
            dict(body["asked"]),
            dict(body["told"]),
        )
        whole = body["kind"] == KIND and receipts.is_whole(body)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(file, str(error)) from error
    if not whole:
        raise _unreadable(file, "it was changed after it was written")
    return journal


def _unreadable(file: Path, why: str) -> ChangeUnfinished:
    return ChangeUnfinished(
        f"{file} says that a rollback or a migration is on its way, and cannot be read ({why}): look at `steadlith "
        "history` and at the configuration file, and drop the journal with `steadlith migrate --abort --force`"
    )


def stage(config: Config, journal: Journal, history: Sequence[Generation]) -> Stage:
    """How far it came, by what is kept and by what the configuration file holds now.

    `ChangeUnfinished` if it would put another configuration in place than its generation recorded.
    """
    if journal.is_move:
        return Stage.IN_PLACE if config.store == _store_of(config, journal) else Stage.VOID
    made = next((each for each in history if each.number == journal.number), None)
    gone = bool(history) and journal.number < history[0].number
    if not gone and (made is None or made.plan_digest != journal.plan_digest):
        return Stage.VOID
    if made is not None and made.configuration != journal.configuration:
        raise _unreadable(place(config), f"it does not hold the configuration that generation {made.number} recorded")
    now = named(current(config))
    if now == named(journal.configuration):
        return Stage.IN_PLACE
    # Where the generation itself was compacted away meanwhile, nobody can tell any more.
    return Stage.COMMITTED if now == named(journal.before) and not gone else Stage.EDITED


def _store_of(config: Config, journal: Journal) -> Adapter:
    """Where the index of a move goes. `ChangeUnfinished` if this release cannot read that."""
    try:
        return configuration.read(journal.configuration, config.file).store
    except ConfigError as error:
        raise _unreadable(place(config), str(error)) from error


@contextmanager
def alone(assembly: Assembly, open_store: Open, lock_timeout: float) -> Iterator[Sequence[Generation]]:
    """Hold the writer's lock, and say what is kept. Raises `LockHeld`."""
    with ExitStack() as stack:
        lock = assembly.lock(timeout=lock_timeout, holder="steadlith --resume or --abort")
        lock.acquire()
        stack.callback(lock.release)
        yield open_store(stack, readonly=True).history()


def settle(config: Config, history: Sequence[Generation], *, force: bool = False) -> Journal | None:
    """Put the configuration of a committed change in place, write its receipt and remove its journal. One that was not
    committed is removed, or stays where it can be gone on with.

    The journal, if anything was committed under it; called under the writer's lock. With `force` an edited
    configuration is replaced. Raises `ChangeUnfinished` for one that was edited, and if it cannot be written.
    """
    journal = read(config)
    if journal is None:
        return None
    found = stage(config, journal, history)
    if found is Stage.EDITED and not force:
        raise unfinished(config, journal, found)
    if found in {Stage.COMMITTED, Stage.EDITED}:
        _put(config, journal)
    if found is Stage.VOID:
        if not journal.goes_on:
            drop(config)
        return None
    _acknowledge(config, journal, history)
    drop(config)
    return journal


def abandon(config: Config, history: Sequence[Generation], *, force: bool = False) -> bool:
    """Remove the journal of a change that was not committed; whether there was one. With `force` any: the configuration
    stays as it is.

    Called under the writer's lock. Raises `ChangeUnfinished` for one that is committed.
    """
    journal = None if force else read(config)
    if journal is not None:
        found = stage(config, journal, history)
        if found in {Stage.COMMITTED, Stage.EDITED}:
            raise unfinished(config, journal, found)
    there = os.path.exists(place(config))  # noqa: PTH110 -- likewise
    drop(config)
    return there


def begun(config: Config, history: Callable[[], Sequence[Generation]]) -> Journal | None:
    """A change that is on its way and not committed, and can be gone on with. `ChangeUnfinished` for a damaged one.
    The history is looked at where there is a journal.
    """
    journal = read(config)
    if journal is None or not journal.goes_on:
        return None
    return journal if stage(config, journal, history()) is Stage.VOID else None


def refuse_moving(config: Config) -> None:
    """Raise `ChangeUnfinished` while the index is on its way to another store: another change would forget where to."""
    journal = begun(config, tuple) if os.path.exists(place(config)) else None  # noqa: PTH110 -- likewise
    if journal is not None and journal.is_move:
        raise ChangeUnfinished(
            f"the index is on its way to another store ({journal.asked[STORE]}): `steadlith migrate --resume` goes on, "
            "`steadlith migrate --abort` takes away what was copied"
        )


def refuse(
    config: Config, history: Callable[[], Sequence[Generation]], *, but: Callable[[], Digest] | None = None
) -> None:
    """Raise `ChangeUnfinished` if a change is committed and its configuration is not in place, unless its plan has the
    digest `but`. Costs one look at the folder where nothing is on its way.
    """
    if not os.path.exists(place(config)):  # noqa: PTH110 -- False, not an error, where nothing may be looked at
        return
    journal = read(config)
    if journal is None or (but is not None and journal.plan_digest == but()):
        return
    found = stage(config, journal, history())
    if found in {Stage.COMMITTED, Stage.EDITED}:
        raise unfinished(config, journal, found)


def _put(config: Config, journal: Journal) -> None:
    try:
        files.write(config.file, [journal.configuration.encode()])
    except OSError as error:
        raise ChangeUnfinished(
            f"generation {journal.number} ({journal.why}) is committed, and {config.file} cannot be written: "
            f"{error.strerror or error}. Make it writable and run `steadlith {journal.command} --resume`"
        ) from error


def _acknowledge(config: Config, journal: Journal, history: Sequence[Generation]) -> None:
    """The receipt of what was committed. One that cannot be written stops nobody: the history says the same."""
    made = next((each for each in reversed(history) if each.plan_digest == journal.plan_digest), None)
    base = next((each for each in history if made is not None and each.number == made.parent), None)
    if made is not None and made.configuration == journal.configuration and journal.goes_on:
        with suppress(OSError):
            receipts.write(config, receipts.Receipt.of(base, made, journal.before, journal.told))


def drop(config: Config) -> None:
    """Remove the journal. Harmless where there is none; one that stays is found to be done or void."""
    file = place(config)
    with suppress(OSError):
        files.SYSTEM.remove(file)
        files.SYSTEM.sync_folder(file.parent)


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


def current(config: Config) -> str:
    """What the configuration file holds now; nothing if it cannot be read."""
    try:
        return config.file.read_text("utf-8-sig")
    except (OSError, ValueError):
        return ""
