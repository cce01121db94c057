"""Text for people about the embedding cache; see `report.lines`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith import clock
from steadlith.report.lines import STYLES, Line, clean, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from steadlith.cachecheck import Astray, Checked, Compared
    from steadlith.caching import Exported, Imported, Pruned
    from steadlith_core.ports import CacheStats

LISTED = 10
ASTRAY = "is not what the model makes of its text"


def stats(found: CacheStats) -> Iterator[Line]:
    """What is there."""
    if not found.file_bytes:
        yield "", "There is no cache yet."
        return
    origin = f", {found.imported:,} of them imported" if found.imported else ""
    yield "bold", f"{plural(found.entries, 'entry', 'entries')}{origin}"
    for dimensions, count in found.widths.items():
        yield "", f"  {count:,} of {plural(dimensions, 'dimension')}"
    yield "", f"Vectors: {size(found.vector_bytes)}; files: {size(found.file_bytes)}"
    if found.oldest_use is not None and found.latest_use is not None:
        first, last = clock.written_day(found.oldest_use), clock.written_day(found.latest_use)
        yield "", f"Used by an apply: from {first} to {last}"


def pruned(found: Pruned) -> Iterator[Line]:
    """What went, or would go."""
    entries, taken = found.gone
    if not entries:
        yield "bold green", f"Nothing to prune: {plural(found.before.entries, 'entry', 'entries')} stay."
    else:
        how = "Removed" if found.done else "Would remove"
        style = STYLES["-"] if found.done else "bold"
        yield (
            style,
            f"{how} {entries:,} of {plural(found.before.entries, 'entry', 'entries')}, {size(taken)} of vectors.",
        )
        if not found.done:
            yield "", "Nothing was changed: pass --yes to remove them."
    if found.reclaimed is not None:
        before, after, held_back = found.reclaimed.before, found.reclaimed.after, found.reclaimed.held_back
        if before != after or held_back:
            yield "", f"Files: {size(before)} before, {size(after)} after."
        if held_back:
            yield STYLES["!"], f"! Not all space could be given back: {held_back}."


def exported(found: Exported, file: Path) -> Iterator[Line]:
    """A cache file that was written."""
    entries = plural(found.entries, "entry", "entries")
    yield "bold green", f"Wrote {clean(str(file))}: {entries}; {found.size:,} bytes"
    yield "", f"Digest: {found.digest}"
    if found.left_out:
        yield STYLES["!"], f"! {plural(found.left_out, 'damaged entry', 'damaged entries')} left out"


def imported(found: Imported, file: Path) -> Iterator[Line]:
    """A cache file that was read."""
    there = found.entries - found.added
    yield "bold green", f"Imported {found.added:,} of {plural(found.entries, 'entry', 'entries')} of {clean(str(file))}"
    if there:
        yield "", f"{plural(there, 'entry was', 'entries were')} there already."
    yield "", f"Digest: {found.digest}"


def verified(checked: Checked, compared: Compared | None, dropped: int | None) -> Iterator[Line]:
    """What is wrong."""
    yield from _listed([f"{kept.key} {kept.problem}" for kept in checked.damaged])
    count = len(checked.damaged)
    if compared is not None:
        count += len(compared.cache)
        yield from _listed([f"{_named(each)} {ASTRAY}" for each in compared.cache])
        yield from _listed([f"{_named(each)}: the index's vector {ASTRAY}" for each in compared.index])
    entries = plural(checked.entries, "entry", "entries")
    sampled = f", {compared.held:,} of {plural(compared.sampled, 'sampled text')} there" if compared else ""
    if count:
        yield "bold red", f"{plural(count, 'problem')}: {entries}{sampled}"
    else:
        yield "bold green", f"OK: {entries}{sampled}"
    if dropped is not None and count:
        yield "", f"Dropped {plural(dropped, 'entry', 'entries')}; what is needed of them is embedded anew."
    elif count:
        yield "", "They count as absent if damaged; --repair drops them all."
    if compared is not None and compared.index:
        yield (
            "bold red",
            (
                f"The index holds {plural(len(compared.index), 'such vector')}: repair the cache, move the index away "
                "and apply, and it is built anew from the cache."
            ),
        )


def size(count: int) -> str:
    """Bytes, exactly while they are few."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:,} bytes"


def _named(each: Astray) -> str:
    return f"{each.asked.key} ({clean(str(each.asked.document))}, cosine distance {each.distance:.3f})"


def _listed(problems: Sequence[str]) -> Iterator[Line]:
    for problem in problems[:LISTED]:
        yield "bold red", f"! {problem}"
    if len(problems) > LISTED:
        yield "bold red", f"! and {len(problems) - LISTED:,} more; --json lists all"
