"""Which chunking policy a command means: the one that is named, or the configuration's where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith.config import Config


def chosen(policy: str | None, config: Path | None) -> tuple[str, Mapping[str, Any], str]:
    """A policy, its settings and the folder that its files are relative to.

    A named one has no settings yet, whatever the configuration says. Raises `ConfigError` for a configuration that
    cannot be used.
    """
    from steadlith.cutting import DEFAULT_POLICY

    if policy is not None:
        return policy, {}, "."
    found = configuration(config)
    if found is None:
        return DEFAULT_POLICY, {}, "."
    return found.chunking.type, found.chunking.settings, str(found.root)


def configuration(config: Path | None) -> Config | None:
    """The configuration that is named, else the one in this folder, else none."""
    from steadlith.config import FILE_NAME, load

    usual = Path(FILE_NAME)
    if config is None:
        return load(usual) if usual.is_file() else None
    return load(config / FILE_NAME if config.is_dir() else config)


def merged(table: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`table` with what `above` says instead, table by table."""
    result = dict(table)
    for key, value in above.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result
