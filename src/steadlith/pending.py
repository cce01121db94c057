"""The journal of a rollback: what lets its commit and its configuration file, which are two places, end as one.

1. It is written before the commit, and removed once the configuration is in place. Its generation says whether the
   commit happened: only a plan of that digest makes it.
2. A configuration file that is neither the one that the journal was made over nor the one that it leads to was edited
   meanwhile: it is not overwritten without a word.
3. A journal whose commit did not happen is void, and stands in nobody's way.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from steadlith import files
from steadlith.config import STATE_FOLDER
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import RollbackUnfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from steadlith.assembly import Assembly
    from steadlith.config import Config
    from steadlith.generations import Open
    from steadlith_core.records import Generation

FORMAT_VERSION = "1.0"
KIND = "steadlith-rollback-journal"


class Stage(Enum):
    """How far the rollback of a journal came."""

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
    """A rollback on its way: `target` is gone back to by the generation `number`, which the plan of `plan_digest`
    makes. `over` names the text of the configuration file that `configuration` replaces.
    """

    target: int
    number: int
    plan_digest: Digest
    over: Digest
    configuration: str


def place(config: Config) -> Path:
    """Where the journal of a configuration file is."""
    return config.root / STATE_FOLDER / f"{config.file.stem}.rollback.json"


def named(text: str) -> Digest:
    """The digest that a configuration's text is known by."""
    return hash_fields("configuration", text)


def write(config: Config, journal: Journal) -> None:
    """Make the journal durable. Raises `OSError`."""
    file = place(config)
    file.parent.mkdir(exist_ok=True)
    body: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "target": journal.target,
        "number": journal.number,
        "plan_digest": str(journal.plan_digest),
        "over": str(journal.over),
        "configuration": journal.configuration,
        "configuration_digest": str(named(journal.configuration)),
    }
    files.write(file, [json.dumps(body, indent=1, sort_keys=True).encode("ascii"), b"\n"])


def read(config: Config) -> Journal | None:
    """The journal, if there is one. `RollbackUnfinished` for one that cannot be read."""
    file = place(config)
    try:
        body = json.loads(file.read_bytes())
        journal = Journal(
            int(body["target"]),
            int(body["number"]),
            Digest.parse(body["plan_digest"]),
            Digest.parse(body["over"]),
            str(body["configuration"]),
        )
        whole = body["kind"] == KIND and body["configuration_digest"] == str(named(journal.configuration))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(file, str(error)) from error
    if not whole:
        raise _unreadable(file, "it was changed after it was written")
    return journal


def _unreadable(file: Path, why: str) -> RollbackUnfinished:
    return RollbackUnfinished(
        f"{file} says that a rollback is on its way, and cannot be read ({why}): look at `steadlith history` and at "
        "the configuration file, and drop the journal with `steadlith rollback --abort --force`"
    )


def stage(config: Config, journal: Journal, history: Sequence[Generation]) -> Stage:
    """How far it came, by what is kept and by what the configuration file holds now.

    `RollbackUnfinished` if it would put another configuration in place than its generation recorded.
    """
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
    return Stage.COMMITTED if now == journal.over and not gone else Stage.EDITED


@contextmanager
def alone(assembly: Assembly, open_store: Open, lock_timeout: float) -> Iterator[Sequence[Generation]]:
    """Hold the writer's lock, and say what is kept. Raises `LockHeld`."""
    with ExitStack() as stack:
        lock = assembly.lock(timeout=lock_timeout, holder="steadlith rollback")
        lock.acquire()
        stack.callback(lock.release)
        yield open_store(stack, readonly=True).history()


def settle(config: Config, history: Sequence[Generation], *, force: bool = False) -> Journal | None:
    """Put the configuration of a committed rollback in place, and remove its journal; a void one is just removed.

    The journal, if anything was committed under it; called under the writer's lock. With `force` an edited
    configuration is replaced. Raises `RollbackUnfinished` for one that was edited, and if it cannot be written.
    """
    journal = read(config)
    if journal is None:
        return None
    found = stage(config, journal, history)
    if found is Stage.EDITED and not force:
        raise unfinished(config, journal, found)
    if found in {Stage.COMMITTED, Stage.EDITED}:
        _put(config, journal)
    drop(config)
    return None if found is Stage.VOID else journal


def abandon(config: Config, history: Sequence[Generation], *, force: bool = False) -> bool:
    """Remove a void journal; whether there was one. With `force` any: the configuration stays as it is.

    Called under the writer's lock. Raises `RollbackUnfinished` for one whose rollback is committed.
    """
    journal = None if force else read(config)
    if journal is not None:
        found = stage(config, journal, history)
        if found in {Stage.COMMITTED, Stage.EDITED}:
            raise unfinished(config, journal, found)
    there = os.path.exists(place(config))  # noqa: PTH110 -- likewise
    drop(config)
    return there


def refuse(
    config: Config, history: Callable[[], Sequence[Generation]], *, but: Callable[[], Digest] | None = None
) -> None:
    """Raise `RollbackUnfinished` if a rollback is committed and its configuration is not in place, unless its plan has
    the digest `but`. Costs one look at the folder where nothing is on its way.
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
        raise RollbackUnfinished(
            f"generation {journal.number}, a rollback to {journal.target}, is committed, and {config.file} cannot be "
            f"written: {error.strerror or error}. Make it writable and run `steadlith rollback --resume`"
        ) from error


def drop(config: Config) -> None:
    """Remove the journal. Harmless where there is none; one that stays is found to be done or void."""
    file = place(config)
    with suppress(OSError):
        files.SYSTEM.remove(file)
        files.SYSTEM.sync_folder(file.parent)


def unfinished(config: Config, journal: Journal, found: Stage) -> RollbackUnfinished:
    """What stands in the way of whoever plans or applies, and the ways out."""
    committed = f"a rollback to generation {journal.target} is committed as generation {journal.number}"
    if found is Stage.EDITED:
        return RollbackUnfinished(
            f"{committed}, and {config.file} was edited before that generation's configuration was put in its place. "
            "`steadlith rollback --resume --force` replaces what was edited, `steadlith rollback --abort --force` "
            "keeps it, and the next plan shows what it changes"
        )
    return RollbackUnfinished(
        f"{committed}, and its configuration is not in place yet: `steadlith rollback --resume` puts it there"
    )


def current(config: Config) -> str:
    """What the configuration file holds now; nothing if it cannot be read."""
    try:
        return config.file.read_text("utf-8-sig")
    except (OSError, ValueError):
        return ""
