"""What stores say of heads, said once: one that moved, and a generation that does not follow it.

1. A write stands on a head by lineage, generation and state root. The empty roots depend on the configured identity
   versions, so generation 0 is compared by its number alone.
2. A compaction stands on the whole head: what it removes was chosen for that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.errors import AdapterError, StaleHead

if TYPE_CHECKING:
    from steadlith_core.records import Generation, Head


def has_moved(head: Head, expected: Head) -> bool:
    """Whether a write that expects one head finds another."""
    unequal = (head.lineage, head.generation, head.state_root) != (
        expected.lineage,
        expected.generation,
        expected.state_root,
    )
    return unequal and bool(head.generation + expected.generation)


def refuse_moved(head: Head, expected: Head, place: object) -> None:
    """Refuse a write on a head that is not the expected one."""
    if has_moved(head, expected):
        raise StaleHead(f"{_unlike(head, expected, place)} as planned; plan again")


def refuse_compacting(head: Head, expected: Head, place: object) -> None:
    """Refuse a compaction of a head that is not the expected one."""
    if head != expected:
        raise StaleHead(f"{_unlike(head, expected, place)} as it was when compacting was decided; compact again")


def refuse_mismatch(base: Head, given: Generation, documents: int, chunks: int, place: object) -> None:
    """Refuse a generation that does not follow `base`, or does not count what the store then holds."""
    expected = (base.generation + 1, base.generation, base.lineage or given.lineage, documents, chunks)
    found = (given.number, given.parent, given.lineage, given.documents, given.chunks)
    names = ("number", "parent", "lineage", "documents", "chunks")
    wrong = [
        f"{name} {is_given!r} where the store has {ours!r}"
        for name, ours, is_given in zip(names, expected, found, strict=True)
        if ours != is_given
    ]
    if wrong:
        message = f"{place}: the generation does not fit the write: {', '.join(wrong)}; nothing was committed"
        raise AdapterError(message)


def _unlike(head: Head, expected: Head, place: object) -> str:
    return (
        f"{place}: the index is at generation {head.generation} ({head.state_root.short}), not at "
        f"{expected.generation} ({expected.state_root.short})"
    )
