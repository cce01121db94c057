"""JSON documents of upkeep: what compacting would do and did, a backup, what the doctor found."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steadlith.report.documents import FORMAT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steadlith.backups import BackedUp
    from steadlith.compacting import Compactable, Compacted
    from steadlith.doctor import Diagnosis
    from steadlith.repairing import Repaired
    from steadlith_core.ports import Trouble
    from steadlith_core.records import DocumentId


def compactable(asked: Compactable) -> dict[str, Any]:
    """What compacting would do."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-compactable",
        "generation": asked.head.generation,
        "generations": asked.generations,
        "keep_from": asked.keep_from,
        "held_by": asked.held_by,
        "removable": asdict(asked.removable),
        "erased": _ids(asked.erased),
        "unknown": _ids(asked.unknown),
        "uncovered": list(asked.uncovered),
    }


def compacted(result: Compacted) -> dict[str, Any]:
    """What was done."""
    done = result.done
    return compactable(result.asked) | {
        "kind": "steadlith-compacted",
        "removed": asdict(done.removed),
        "bytes_before": done.bytes_before,
        "bytes_after": done.bytes_after,
        "forgotten": result.forgotten,
        "held_back": result.held_back,
    }


def backed_up(made: BackedUp) -> dict[str, Any]:
    """A copy that was made."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-backup",
        "path": str(made.path),
        "bytes": made.bytes,
        "lineage": made.head.lineage,
        "generation": made.head.generation,
        "corpus_root": str(made.head.corpus_root),
        "state_root": str(made.head.state_root),
    }


def diagnosis(found: Diagnosis) -> dict[str, Any]:
    """What is wrong."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-diagnosis",
        "ok": found.ok,
        "troubles": _troubles(found.troubles),
    }


def repaired(result: Repaired) -> dict[str, Any]:
    """What was done about it, and what is left."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "steadlith-repair",
        "ok": result.left.ok,
        "found": _troubles(result.found.troubles),
        "done": list(result.done),
        "embedded": result.embedded,
        "unpaid": None if result.unpaid is None else asdict(result.unpaid),
        "refused": result.refused,
        "left": _troubles(result.left.troubles),
    }


def _troubles(found: Iterable[Trouble]) -> list[dict[str, Any]]:
    return [asdict(each) for each in found]


def _ids(ids: Iterable[DocumentId]) -> list[dict[str, str]]:
    return [{"source": each.source, "path": each.path} for each in ids]
