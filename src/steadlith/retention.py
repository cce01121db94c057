"""Retention: which generations a compaction keeps.

1. What is removed is always the oldest part, so whatever holds a generation holds all later ones too.
2. A generation that was given a name is held until the name is taken away.
3. Without a rule everything is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.records import Generation


@dataclass(frozen=True, slots=True)
class Retention:
    """Keep the last so many generations, and those of the last so many days. None is no rule; of two both hold."""

    keep_generations: int | None = None
    keep_days: int | None = None


FOREVER = Retention()


class Kept(NamedTuple):
    """From which generation on all are kept, and the name that holds it, if it would else have gone."""

    oldest: int
    held_by: str | None


def kept(history: Sequence[Generation], tags: Mapping[str, int], rule: Retention, *, since: str | None) -> Kept:
    """What the rule keeps of a history that is not empty; `since` is the time, in UTC, that `keep_days` go back to."""
    numbers = [each.number for each in history]
    wanted = [numbers[-1]]
    if rule.keep_generations is not None:
        wanted.append(numbers[-min(rule.keep_generations, len(numbers))])
    if rule.keep_days is not None and since is not None:
        # What was made by then is what was there when those days began.
        before = [each.number for each in history if each.at < since]
        wanted.append(before[-1] if before else numbers[0])
    oldest = numbers[0] if rule == FOREVER else min(wanted)
    named = min(((number, name) for name, number in tags.items() if number < oldest), default=None)
    return Kept(oldest, None) if named is None else Kept(*named)
