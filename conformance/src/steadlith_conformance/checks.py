"""The numbered checks of the storage specification, and the rules that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKS: Mapping[int, tuple[str, ...]] = {}


def checks_of(port: str, rule: str) -> list[int]:
    """The numbers of the checks that a rule makes."""
    return [number for number, rules in CHECKS.items() if port == "store" and rule in rules]
