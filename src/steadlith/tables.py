"""Tables of a configuration file on their way into records: keys are taken out as they are understood.

1. An unknown key, a wrong type or an impossible value is an error that names the key, the value and the choices.
2. Readers of single values raise `ValueError`; the table knows which key that was.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


class Table:
    """One table of the file. What is left in `values` nobody has understood yet.

    `rejected` are keys that no table may have, each with the reason.
    """

    def __init__(self, name: str, values: Mapping[str, Any], rejected: Mapping[str, str]) -> None:
        self.name = name
        self.values = dict(values)
        self._rejected = rejected
        for key in sorted(rejected.keys() & self.values.keys()):
            raise ConfigError(f"{self.path(key)} = {self.values[key]!r:.80}: not a setting here; {rejected[key]}")

    def path(self, key: str) -> str:
        """The key as a person would write it."""
        return f"{self.name}.{key}" if self.name else key

    def allow(self, *keys: str) -> None:
        """Refuse every key but these."""
        for key in self.values:
            if key not in keys:
                raise unknown_key(self.path(key), key, keys)

    def table(self, key: str) -> Table:
        """The table under `key`; an empty one where there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path(key)} = {value!r:.80}: expected a table, [{self.path(key)}]")
        return Table(self.path(key), value, self._rejected)

    def tables(self, key: str) -> list[Table]:
        """Take out the tables that are listed under `key`, `[[key]]` each; none where there is no such list."""
        value = self.values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise ConfigError(f"{self.path(key)} = {value!r:.80}: expected tables, [[{self.path(key)}]] each")
        return [Table(f"{self.path(key)}[{number}]", item, self._rejected) for number, item in enumerate(value)]

    def pop(self, key: str, read: Callable[[Any], Any], usual: Any) -> Any:
        """Take out one value; `usual` where it is not set."""
        if key not in self.values:
            return usual
        value = self.values.pop(key)
        try:
            return read(value)
        except ValueError as error:
            raise ConfigError(f"{self.path(key)} = {value!r:.80}: {error}") from error

    def need(self, key: str, read: Callable[[Any], Any], what: str) -> Any:
        """Take out one value that must be there; `what` says what it is for."""
        if key not in self.values:
            raise ConfigError(f"{self.path(key)} is missing: {what}")
        return self.pop(key, read, None)


def unknown_key(path: str, key: str, choices: Collection[str]) -> ConfigError:
    """The error for a key that nobody knows, with the nearest one that somebody does."""
    from difflib import get_close_matches  # for a slip of the pen alone

    near = get_close_matches(key, choices, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return ConfigError(f"unknown setting {path!r}: {hint}there are {', '.join(sorted(choices))}")


def text(value: Any) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError("expected text")
    return value


def names(value: Any) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError("expected a list of keys")
    return tuple(value)


def whole(least: int, most: int) -> Callable[[Any], int]:
    """A whole number within bounds."""

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"expected a whole number from {least} to {most}")
        return value

    return read


def one_of(*choices: str) -> Callable[[Any], str]:
    """One of a few words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"choose from {', '.join(choices)}")
        return value

    return read


def day(value: Any) -> str:
    """A day, as TOML's own date or as text; kept as text."""
    written = value if isinstance(value, str) else str(value) if type(value) is date else ""
    try:
        if date.fromisoformat(written).isoformat() == written:
            return written
    except ValueError:
        pass
    raise ValueError("expected a date, YYYY-MM-DD")
