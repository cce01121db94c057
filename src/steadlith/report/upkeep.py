"""Text for people: what compacting would do and did, a backup, what the doctor found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steadlith.report import sentences
from steadlith.report.lines import STYLES, Line, clean, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.backups import BackedUp
    from steadlith.compacting import Compactable, Compacted
    from steadlith.doctor import Diagnosis
    from steadlith.repairing import Repaired
    from steadlith_core.ports import Removable, Trouble

LISTED = 10
"""Things of one kind that are named."""
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """A number of bytes for people: three digits and a unit of 1,000."""
    number, unit = float(count), 0
    while number >= 999.5 and unit + 1 < len(UNITS):
        number, unit = number / 1000, unit + 1
    digits = 0 if unit == 0 or number >= 99.95 else 1
    return f"{number:,.{digits}f} {UNITS[unit]}"


def compactable(asked: Compactable) -> Iterator[Line]:
    """What compacting would do."""
    for id_ in asked.unknown:
        yield "bold yellow", f"! {clean(str(id_))}: no generation that is kept holds it, under this name"
    if asked.head.generation == 0:
        yield "", "There is no index yet, so there is nothing to compact."
        return
    yield "bold", _kept(asked)
    if asked.held_by is not None:
        yield "", f"Generation {asked.keep_from} is named {clean(asked.held_by)}, which keeps it and all later ones."
    for id_ in asked.erased:
        yield "", f"Erase {clean(str(id_))} from the index, its history and the cache."
    if asked.is_nothing:
        yield "bold green", "Nothing to remove, and no space to give back."
        return
    yield from _removable(asked.removable, "Would remove")
    yield "", f"About {size(asked.removable.bytes)} would be given back."
    if asked.removable.generations:
        yield (
            "",
            "The head, its roots and saved plans stay as they are; a generation that goes cannot be rolled back to.",
        )
    if asked.erased:
        yield "", "Backups, exported manifests and saved plans are not covered, wherever they are."
    for file in asked.uncovered:
        yield "bold yellow", f"! {clean(file)} is not covered, and may hold it: delete it if you do not need it"


def _kept(asked: Compactable) -> str:
    left, head = asked.generations - asked.removable.generations, asked.head.generation
    if left == asked.generations:
        return f"All {plural(left, 'generation')} are kept (`--keep N` keeps the last N)." if left > 1 else _only(asked)
    if left == 1:
        return f"Of {asked.generations:,} generations the head is kept, {head}."
    return f"Of {asked.generations:,} generations the last {left:,} are kept, {asked.keep_from} to {head}."


def _only(asked: Compactable) -> str:
    return f"The head is the only generation, {asked.head.generation}."


def _removable(gone: Removable, verb: str) -> Iterator[Line]:
    kinds = {
        "generation": gone.generations,
        "document version": gone.versions,
        "text": gone.texts,
        "vector": gone.vectors,
    }
    named = [plural(count, kind) for kind, count in kinds.items() if count]
    if named:
        yield "red", f"{verb}: {', '.join(named)}."


def compacted(result: Compacted) -> Iterator[Line]:
    """What was done."""
    done, asked = result.done, result.asked
    yield from _removable(done.removed, "Removed")
    if asked.erased:
        yield "", f"Removed from the cache: {plural(result.forgotten, 'vector')}."
    style = "bold yellow" if result.held_back else "bold green"
    yield style, f"The index takes {size(done.bytes_after)}, before {size(done.bytes_before)}."
    if result.held_back and asked.erased:
        yield "bold red", f"Not erased yet: {result.held_back}. Run this again when that has ended."
    elif result.held_back:
        yield "bold yellow", f"Space is not given back yet: {result.held_back}. A later compact does it."
    elif asked.erased:
        gone = [clean(str(id_)) for id_ in asked.erased if id_ not in asked.unknown]
        yield "bold green", f"Erased: {', '.join(gone) or 'what was removed before'}."


def backed_up(made: BackedUp) -> Iterator[Line]:
    """A copy that was made."""
    place = f"{clean(str(made.path))} ({size(made.bytes)})"
    yield "bold green", f"Backed up generation {made.head.generation} to {place}, verified."
    yield "", f"State root: {made.head.state_root}"


def diagnosis(found: Diagnosis) -> Iterator[Line]:
    """What is wrong, what is worth knowing, and how much of it a repair sets right."""
    yield from _troubles(found.troubles)
    grave = sum(trouble.grave for trouble in found.troubles)
    if not grave:
        yield "bold green", "Nothing is wrong."
        return
    mendable = sum(trouble.grave for trouble in found.mendable)
    some = "" if mendable == grave else f" {mendable:,} of them"
    repaired = f"; `steadlith doctor --repair` repairs{some or ' it'}" if mendable else ""
    yield "bold red", f"{plural(grave, 'thing')} wrong{repaired}."


def _troubles(found: Sequence[Trouble]) -> Iterator[Line]:
    """Each, while there are few of its kind."""
    count: Counter[str] = Counter()
    for trouble in found:
        count[trouble.kind] += 1
        if count[trouble.kind] <= LISTED:
            yield from _trouble(trouble)
    for kind, seen in count.items():
        if seen > LISTED:
            yield STYLES["!"], f"! {kind}: {seen - LISTED:,} more; --json lists all"


def _trouble(trouble: Trouble) -> Iterator[Line]:
    glyph, style = ("!", "bold red") if trouble.grave else ("-", "yellow")
    yield style, f"{glyph} {trouble.kind}: {clean(trouble.place)}: {clean(trouble.message)}"
    if trouble.way_out:
        yield "", f"    {clean(trouble.way_out)}"


def repaired(result: Repaired) -> Iterator[Line]:
    """What was found, what was done about it, and what is left."""
    yield from _troubles(result.found.troubles)
    for done in result.done:
        yield "green", f"+ {clean(done)}"
    if result.done:
        yield "", f"Embedded: {plural(result.embedded, 'text')}."
    if result.unpaid is not None:
        yield "bold yellow", f"The index is not repaired yet. {sentences.embeddings(result.unpaid)}"
        yield "", "Pass --yes to pay for that."
    if result.refused is not None:
        yield "bold yellow", f"The index is not repaired: {clean(result.refused)}"
    grave = [trouble for trouble in result.left.troubles if trouble.grave]
    if not grave:
        yield "bold green", "Nothing is wrong any more." if result.done else "Nothing is wrong."
        return
    yield "bold red", f"Still wrong: {plural(len(grave), 'thing')}."
    if result.done:
        yield from _troubles(grave)
