"""JSON documents about the embedding cache; see `report.documents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith import clock
from steadlith.report import documents

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith.cachecheck import Astray, Checked, Compared
    from steadlith.caching import Exported, Imported, Pruned
    from steadlith_core.ports import CacheStats


def _document(kind: str, **values: Any) -> dict[str, Any]:
    return {"format_version": documents.FORMAT_VERSION, "kind": f"steadlith-cache-{kind}", **values}


def stats(found: CacheStats) -> dict[str, Any]:
    """What is there."""
    return _document("stats", **_counts(found))


def _counts(found: CacheStats) -> dict[str, Any]:
    return {
        "entries": found.entries,
        "imported": found.imported,
        "vector_bytes": found.vector_bytes,
        "file_bytes": found.file_bytes,
        "dimensions": {str(dimensions): count for dimensions, count in found.widths.items()},
        "oldest_use": None if found.oldest_use is None else clock.written_day(found.oldest_use),
        "latest_use": None if found.latest_use is None else clock.written_day(found.latest_use),
    }


def pruned(found: Pruned) -> dict[str, Any]:
    """What went, or would go."""
    reclaimed = found.reclaimed
    return _document(
        "pruned",
        done=found.done,
        entries=found.gone.entries,
        vector_bytes=found.gone.vector_bytes,
        of=_counts(found.before),
        file_bytes_before=None if reclaimed is None else reclaimed.before,
        file_bytes_after=None if reclaimed is None else reclaimed.after,
        held_back=None if reclaimed is None else reclaimed.held_back,
    )


def exported(found: Exported, file: Path) -> dict[str, Any]:
    """A cache file that was written."""
    return _document(
        "exported",
        file=str(file),
        entries=found.entries,
        bytes=found.size,
        digest=str(found.digest),
        left_out=found.left_out,
    )


def imported(found: Imported, file: Path) -> dict[str, Any]:
    """A cache file that was read."""
    return _document("imported", file=str(file), entries=found.entries, added=found.added, digest=str(found.digest))


def verified(checked: Checked, compared: Compared | None, dropped: int | None) -> dict[str, Any]:
    """What is wrong."""
    return _document(
        "verified",
        entries=checked.entries,
        damaged=[{"key": str(kept.key), "problem": kept.problem} for kept in checked.damaged],
        sample=None
        if compared is None
        else {
            "texts": compared.sampled,
            "in_cache": compared.held,
            "astray_in_cache": [_astray(each) for each in compared.cache],
            "astray_in_index": [_astray(each) for each in compared.index],
        },
        dropped=dropped,
    )


def _astray(each: Astray) -> dict[str, Any]:
    document = each.asked.document
    return {
        "key": str(each.asked.key),
        "document": {"source": document.source, "path": document.path},
        "distance": round(each.distance, 6),
    }
