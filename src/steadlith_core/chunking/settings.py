"""What the policies that count words have in common in the configuration: sizes, their limits, and one factory.

1. An unknown key, a wrong type or an impossible size is a `ConfigError` that shows the value and the way out.
2. A policy's `params` are exactly what can move one of its cuts: a key that is switched off is not among them, and
   `max_sections`, which only refuses, never is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_core.policies import Chunker
    from steadlith_core.ports import Settings

BYTES_PER_WORD = 16
"""Of the default byte cap. Prose has about six, so it bites only where words are no measure: base64, wide tables."""

LEAST_BYTES_PER_WORD = 4
"""Of any byte cap: a lower one would be the maximum in disguise."""

LEAST_CAP = 256
"""A cap holds several of the longest words (`words.LONG`)."""

MAX_SECTIONS = 0


@dataclass(frozen=True, slots=True)
class PolicyFactory:
    """Makes one policy: `make` is called with the settings, `numbers` are its whole-number keys, `switches` are true or
    false.
    """

    id: str
    make: Callable[..., Chunker]
    numbers: tuple[str, ...]
    switches: tuple[str, ...] = ()

    def build(self, settings: Settings) -> Chunker:
        """A chunker; every key is optional unless the policy says otherwise. Raises `ConfigError`."""
        for key, value in settings.items():
            if key in self.switches:
                if not isinstance(value, bool):
                    raise ConfigError(f"{key} = {value!r}: true or false is needed")
            elif key not in self.numbers:
                keys = ", ".join((*self.numbers, *self.switches))
                raise ConfigError(f"unknown key {key} = {value!r} for the {self.id} chunker; it has {keys}")
            elif not isinstance(value, int) or isinstance(value, bool):
                raise ConfigError(f"{key} = {value!r}: a whole number is needed")
        return self.make(**settings)


def at_least(key: str, value: int, least: int, reason: str) -> None:
    """Refuse a value below `least`; the reason ends the message."""
    if value < least:
        raise ConfigError(f"{key} = {value}: at least {least} is needed, {reason}")


def check_sections(max_sections: int) -> None:
    """Refuse a limit that is none."""
    at_least("max_sections", max_sections, 0, "and 0 is no limit")


def check_overlap(key: str, overlap: int, size_key: str, size: int) -> None:
    """Refuse an overlap that is negative or leaves no step."""
    at_least(key, overlap, 0, "and 0 is no overlap")
    if size and overlap >= size:
        raise ConfigError(f"{key} = {overlap}: less than {size_key} = {size} is needed, or no chunk would go on")


def byte_cap(max_bytes: int | None, size_key: str, size: int) -> int:
    """The byte cap of chunks of at most `size` words, checked; without one it follows the size."""
    if max_bytes is None:
        return max(size * BYTES_PER_WORD, LEAST_CAP)
    least = max(size * LEAST_BYTES_PER_WORD, LEAST_CAP)
    reason = f"the greater of {LEAST_BYTES_PER_WORD} x {size_key} and {LEAST_CAP}, or it would cut ordinary text"
    at_least("max_bytes", max_bytes, least, reason)
    return max_bytes
