"""The file of a journal: what a change that brings a configuration is, and how far it came, beside the index.

1. It is sealed: one that was changed, or that this release does not know, is never believed.
2. It is written whole or not at all.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steadlith import files, receipts
from steadlith.config import STATE_FOLDER
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ChangeUnfinished
from steadlith_core.planning.plan import Brought

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from steadlith.config import Config

FORMAT_VERSION = "1.0"
KIND = "steadlith-journal"
STORE = "store"
"""What a move is asked for besides: where the index goes."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A change on its way: `command` began it (`rollback`, `migrate`), and the plan of `plan_digest` makes it the
    generation `number` of the index `lineage` (none for one that it makes), for the reason `why`. `configuration` takes
    the place of `before`, both whole texts.

    `asked` is what whoever goes on with it must know, `told` what its receipt says besides.
    """

    command: str
    why: str
    lineage: str | None
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


def brought(config: Config, over: str | None) -> Brought | None:
    """What putting this configuration in place of the text `over` is to a plan; none where the file stays."""
    return None if over is None else Brought(config.text, named(over))


def write(config: Config, journal: Journal) -> None:
    """Make the journal durable. Raises `OSError`."""
    file = place(config)
    file.parent.mkdir(exist_ok=True)
    body = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "command": journal.command,
        "why": journal.why,
        "lineage": journal.lineage,
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
            None if body["lineage"] is None else str(body["lineage"]),
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
        raise unreadable(file, str(error)) from error
    if not whole:
        raise unreadable(file, "it was changed after it was written")
    return journal


def before(path: Path) -> str | None:
    """The configuration that the journal beside this configuration file was begun over; none without one."""
    file = path.resolve()
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        body = json.loads((file.parent / STATE_FOLDER / f"{file.stem}.journal.json").read_bytes())
        return str(body["before"]) if receipts.is_whole(body) else None
    return None


def unreadable(file: Path, why: str) -> ChangeUnfinished:
    """The error for a journal that nothing can be made of."""
    return ChangeUnfinished(
        f"{file} says that a rollback or a migration is on its way, and cannot be read ({why}): look at `steadlith "
        "history` and at the configuration file, and drop the journal with `steadlith migrate --abort --force`"
    )


def drop(config: Config) -> None:
    """Remove the journal. Harmless where there is none; one that stays is found to be done or void."""
    file = place(config)
    with suppress(OSError):
        files.SYSTEM.remove(file)
        files.SYSTEM.sync_folder(file.parent)


def current(config: Config) -> str:
    """What the configuration file holds now; nothing if it cannot be read."""
    try:
        return config.file.read_text("utf-8-sig")
    except (OSError, ValueError):
        return ""
