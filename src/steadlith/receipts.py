"""Receipts: what a migration did, in a file that nothing but a person removes.

1. Each holds both configurations, recipes, roots and generations, and a checksum over all of it.
2. It is written once the configuration is in place; the history of the index says the same as long as it is kept.
3. How long the last one took is told to whoever previews the next.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith import files
from steadlith.config import STATE_FOLDER
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import UsageError
from steadlith_core.planning import spent
from steadlith_core.planning.planfile import recipe_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from steadlith.config import Config
    from steadlith_core.records import Generation

FORMAT_VERSION = "1.0"
KIND = "steadlith-receipt"
FOLDER = "receipts"


@dataclass(frozen=True, slots=True)
class Receipt:
    """One migration: `before` and `after` are generations as JSON values, `told` says what it took and what was
    checked (`seconds`, `embedded`, `checks`).
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    told: Mapping[str, Any]

    @classmethod
    def of(cls, base: Generation | None, made: Generation, before: str, told: Mapping[str, Any]) -> Receipt:
        """The receipt of the generation `made`, which was made from `base` under the configuration `before`."""
        was = {} if base is None else _plain(base)
        return cls({**was, "configuration": before}, _plain(made), told)

    @property
    def from_generation(self) -> int | None:
        """The generation that was the head before."""
        number = self.before.get("generation")
        return number if isinstance(number, int) else None

    @property
    def pace(self) -> float | None:
        """Texts embedded a second; none where too few were embedded to tell."""
        seconds, embedded = self.told.get("seconds"), self.told.get("embedded")
        if not isinstance(seconds, int | float) or not isinstance(embedded, int) or seconds <= 0 or not embedded:
            return None
        return embedded / seconds


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a file, with its checksum."""
    return {**body, "checksum": str(_checksum(body))}


def is_whole(body: Mapping[str, Any]) -> bool:
    """Whether the body is as it was sealed."""
    return body.get("checksum") == str(_checksum({name: value for name, value in body.items() if name != "checksum"}))


def _checksum(body: Mapping[str, Any]) -> Digest:
    return hash_fields("sealed-file", json.dumps(body, sort_keys=True, separators=(",", ":")))


def folder(config: Config) -> Path:
    """Where the receipts of a configuration file are."""
    return config.root / STATE_FOLDER / FOLDER


def write(config: Config, receipt: Receipt) -> Path:
    """Make it durable, under the number of its generation and the beginning of its plan's digest. Raises `OSError`."""
    after = receipt.after
    file = folder(config) / f"{after['generation']:06}-{Digest.parse(after['plan_digest']).short}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    body = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "before": dict(receipt.before),
        "after": dict(after),
        "told": dict(receipt.told),
    }
    files.write(file, [json.dumps(sealed(body), indent=1, sort_keys=True).encode("ascii"), b"\n"])
    return file


def read(file: Path) -> Receipt:
    """A receipt. `UsageError` for a file that is none, or that was changed."""
    try:
        body = json.loads(file.read_bytes())
        whole = body["kind"] == KIND and is_whole(body)
        receipt = Receipt(dict(body["before"]), dict(body["after"]), dict(body["told"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"{file} is no receipt of a migration: {error}"
        raise UsageError(message) from error
    if not whole:
        message = f"{file} is no receipt, or was changed after it was written"
        raise UsageError(message)
    return receipt


def newest(config: Config) -> Receipt | None:
    """The last migration that is known here, by when it was; none without one that can be read. A move to another store
    took no time that tells anything, and numbers begin anew after it.
    """
    found = []
    for file in sorted(folder(config).glob("*.json")):
        with suppress(UsageError):
            found.append(read(file))
    timed = [each for each in found if "seconds" in each.told]
    return max(timed, key=lambda each: (str(each.after.get("at")), each.after["generation"]), default=None)


def _plain(made: Generation) -> dict[str, Any]:
    return {
        "generation": made.number,
        "lineage": made.lineage,
        "at": made.at,
        "why": made.why,
        "corpus_root": str(made.corpus_root),
        "state_root": str(made.state_root),
        "plan_digest": str(made.plan_digest),
        "documents": made.documents,
        "chunks": made.chunks,
        "recipe": recipe_document(made.recipe),
        "configuration": made.configuration,
        "counts": dict(spent.steps(made.summary)),
    }
