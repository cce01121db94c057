"""The settings of a folder of documents, checked before anything is listed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.sources.filesystem.formats import Formats
from steadlith_adapters.sources.filesystem.rules import Rules
from steadlith_core.errors import ConfigError
from steadlith_core.records import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import Settings

KEYS = ("path", "include", "exclude", "hidden", "gitignore", "formats", "max_file_bytes")
MAX_FILE_BYTES = 64 * 1024 * 1024
LARGEST_MAX_FILE_BYTES = 2**40


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """What to list and how. `root` is the real path of the folder, without links in it."""

    name: str
    root: str
    include: Rules
    exclude: Rules
    hidden: bool
    gitignore: bool
    formats: Formats
    max_file_bytes: int
    private: tuple[str, ...]


def read_settings(name: str, settings: Settings, *, root: str, private: Sequence[str]) -> FolderSettings:
    """Check `settings` of the source `name`; `root` is the folder that a relative path starts from."""
    table = Table(f"source {name!r}", settings)
    rules = read_rules(name, settings)
    if not _names_are_utf8():
        # Names would be read by the locale, so the same folder would have other document ids elsewhere.
        message = f"file names are read as {sys.getfilesystemencoding()} here; set PYTHONUTF8=1 in the environment"
        raise ConfigError(message)
    given = table.text("path", ".")
    folder = Path(root, given)
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise table.wrong("path", given, f"an existing folder, relative to {root!r} ({str(folder)!r} {problem})")
    return replace(
        rules,
        root=str(folder.resolve()),
        # The folder is resolved, the name is not: a private file may not exist yet.
        private=tuple(str(Path(path).parent.resolve() / Path(path).name) for path in private),
    )


def read_rules(name: str, settings: Settings) -> FolderSettings:
    """What `settings` say of any folder, without a folder: `root` is empty."""
    table = Table(f"source {name!r}", settings)
    table.only(*KEYS)
    return FolderSettings(
        name=name,
        root="",
        include=_rules(table, "include", ("**",)),
        exclude=_rules(table, "exclude", ()),
        hidden=table.flag("hidden", default=False),
        gitignore=table.flag("gitignore", default=True),
        formats=_formats(table),
        max_file_bytes=table.integer("max_file_bytes", MAX_FILE_BYTES, least=1, most=LARGEST_MAX_FILE_BYTES),
        private=(),
    )


def _names_are_utf8() -> bool:
    try:
        return os.fsencode("é") == "é".encode()
    except UnicodeEncodeError:  # a locale of ASCII alone
        return False


def _rules(table: Table, key: str, default: tuple[str, ...]) -> Rules:
    lines = table.texts(key, default)
    try:
        return Rules.strict(lines)
    except ValueError as error:
        raise table.wrong(key, list(lines), f"patterns as in a .gitignore: {error}") from None


def _formats(table: Table) -> Formats:
    chosen: dict[str, Format] = {}
    for key, value in table.mapping("formats").items():
        if not key or not isinstance(value, str) or value not in set(Format):
            choices = ", ".join(Format)
            raise table.wrong(f"formats.{key!r}", value, f"a suffix or a pattern, and one of {choices}")
        chosen[key] = Format(value)
    try:
        return Formats.configured(chosen)
    except ValueError as error:
        raise table.wrong("formats", dict(chosen), f"suffixes, or patterns as in a .gitignore: {error}") from None
