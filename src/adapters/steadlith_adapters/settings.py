"""An adapter's table of settings, read once and strictly.

1. An unknown key is an error, with the known ones beside it: a typing mistake never becomes a default.
2. Every error names the table, the key, the value as given and what would be accepted.
3. A boolean is not a number here, although Python says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.ports import Settings


@dataclass(frozen=True, slots=True)
class Table:
    """The settings of one adapter; `where` is how messages call it."""

    where: str
    values: Settings

    def only(self, *known: str) -> None:
        """Refuse keys that are not `known`."""
        for key in self.values:
            if key not in known:
                choices = ", ".join(known) if known else "none, it takes no settings"
                raise ConfigError(f"{self.where}: unknown setting {key!r} (known: {choices})")

    def text(self, key: str, default: str) -> str:
        """A non-empty string."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or not value or "\0" in value:
            raise self.wrong(key, value, "a non-empty string without NUL")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return value

    def integer(self, key: str, default: int, *, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(key, value, f"a whole number from {least} to {most}")
        return value

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of non-empty strings."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, value, 'a list of non-empty strings, such as ["*.md"]')
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A sub-table; empty when absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, value, "a table")
        return value

    def wrong(self, key: str, value: Any, expected: str) -> ConfigError:
        """The error for a value of `key` that cannot be used."""
        return ConfigError(f"{self.where}: {key} = {value!r:.80} is not usable; expected {expected}")
