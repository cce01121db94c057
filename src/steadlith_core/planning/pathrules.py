"""Path rules: metadata that a configuration gives to documents by where they stand.

1. A pattern is matched with the whole path, upper and lower case told apart; `*` crosses slashes.
2. Later rules win over earlier ones; front matter wins over rules, and what a source says of a document over both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from steadlith_core.digest import hash_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core import canon
    from steadlith_core.digest import Digest

RESERVED = ("title", "format")
"""Metadata that a document has by itself: no rule may set it."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """`values` are metadata of every document whose path matches `match`."""

    match: str
    values: Mapping[str, str]


def path_metadata(rules: Sequence[PathRule], path: str) -> dict[str, str]:
    """What the rules say of one document."""
    found: dict[str, str] = {}
    for rule in rules:
        if fnmatchcase(path, rule.match):
            found |= rule.values
    return found


def content_hash(
    front_matter: Mapping[str, Sequence[str]],
    path_rules: Mapping[str, Sequence[PathRule]],
) -> Digest:
    """H[content]: which metadata a recipe keeps, by source: keys of front matter, and rules where there are any."""
    kept = {source: sorted(keys) for source, keys in front_matter.items() if keys}
    rules: dict[str, canon.Value] = {
        source: [[rule.match, dict(rule.values)] for rule in given] for source, given in path_rules.items() if given
    }
    # Without rules the hash is the one that indexes of builds without rules have.
    return hash_fields("content", kept, rules) if rules else hash_fields("content", kept)
