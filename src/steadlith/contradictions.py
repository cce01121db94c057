"""Cache entries that nobody can use, and those that say another thing than the index: found without embedding anything.

1. An entry that does not match its checksum, or that no search could use, counts as absent; it is only in the way.
2. A vector that was replaced together with its checksum looks sound. Where the index has a vector of the same text, the
   two must be the same; which of them is right, only the model can tell (`steadlith cache verify --sample`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from steadlith import paid
from steadlith.border import adapter
from steadlith.caching import opened
from steadlith_core import vectors as vec
from steadlith_core.applying.audit import PROBE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.vectors import Vector

TOGETHER = 500
"""Entries that are compared at a time."""


@dataclass(frozen=True, slots=True)
class Bad:
    """Keys of entries that are `damaged`, and of those that `contradict` the index."""

    damaged: tuple[Digest, ...]
    contradict: tuple[Digest, ...]


def look(assembly: Assembly, reader: Reader | None) -> Bad:
    """Look at every entry; without a reader nothing is compared. O(cache)."""
    damaged: list[Digest] = []
    contradict: list[Digest] = []
    with opened(assembly, readonly=True) as cache:
        entries = cache.entries()
        while some := list(islice(entries, TOGETHER)):
            damaged += (kept.key for kept in some if kept.problem is not None)
            usable = {kept.key: kept.vector for kept in some if kept.problem is None}
            contradict += _unlike(usable, _indexed(assembly, reader, usable))
    return Bad(tuple(damaged), tuple(contradict))


def _indexed(assembly: Assembly, reader: Reader | None, usable: Mapping[Digest, Vector]) -> Mapping[Digest, Vector]:
    if reader is None or not reader.head.generation:
        return {}
    with adapter("reading the index"):
        return paid.vectors(reader, assembly.cutter.space, list(usable))


def _unlike(cached: Mapping[Digest, Vector], indexed: Mapping[Digest, Vector]) -> list[Digest]:
    return [key for key, vector in indexed.items() if not _same(cached[key], vector)]


def _same(cached: Vector, indexed: Vector) -> bool:
    if cached == indexed:
        return True
    if len(cached) != len(indexed):
        return False
    return 1.0 - vec.cosines([vec.unit(cached)], vec.unit(indexed))[0] <= PROBE_TOLERANCE
