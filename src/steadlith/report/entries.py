"""What the list of a plan's documents holds, for every form of a report.

1. A document that goes on under another name is named there, and what is left of it is deleted there.
2. Every document is in one entry, whatever a plan file claims: one is left out only where another one names it.
3. Documents of one folder that did nothing but get another name may stand in one row together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.report.lines import clean
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import NAMES, Move, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.planning.steps import Step
    from steadlith_core.records import DocumentId

    Folders: TypeAlias = tuple[str, str]

LEAST_RENAMED = 5
"""Fewer renames stand in a row of their own."""

NAMED_HEIRS = 3
"""Of more documents that a document's chunks went to only the number is said."""

OUT_OF_SCOPE = "left out by the settings now"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document: `steps` are its own and the deletions of what it continues, `went` how many of its chunks go on in
    which other documents.
    """

    change: DocumentChange
    steps: tuple[Step, ...]
    went: Mapping[DocumentId, int]

    documents = 1

    @property
    def glyph(self) -> str:
        """What becomes of the document."""
        fates = {Fate.ADDED: "+", Fate.CHANGED: "~", Fate.REMOVED: "-"}
        return ">" if self.change.origin else fates[self.change.fate]

    @property
    def left_out(self) -> bool:
        """Whether the document goes because of the settings."""
        return self.change.fate is Fate.REMOVED and any(step.reason is Reason.OUT_OF_SCOPE for step in self.steps)

    def counts(self, name: Callable[[str], str] = clean, *, steps: bool = True) -> Iterator[str]:
        """What there is to say in a few words, the steps by kind first unless they are listed anyway."""
        kinds = Counter(map(type, self.steps)) if steps else Counter()
        yield from (f"{kinds[kind]:,} {word}" for kind, word in NAMES.items() if kinds[kind])
        if self.change.kept:
            yield f"{self.change.kept:,} kept"
        if len(self.went) > NAMED_HEIRS:
            yield f"{sum(self.went.values()):,} went to {len(self.went):,} documents"
        else:
            yield from (f"{count:,} went to {name(str(heir))}" for heir, count in self.went.items())
        if self.left_out:
            yield OUT_OF_SCOPE


@dataclass(frozen=True, slots=True)
class Renamed:
    """So many documents below one folder that are below another one now, and nothing else about them changed."""

    old: str
    new: str
    documents: int


def entries(planned: Plan) -> list[Entry]:
    """Rule 1 and 2."""
    heirs: dict[DocumentId, DocumentId] = {}
    for change in planned.changes:
        if change.origin and change.fate is Fate.ADDED:
            heirs.setdefault(change.origin, change.id)
    gone_on = {change.id: change for change in planned.changes if change.fate is Fate.REMOVED and change.id in heirs}
    went = _went(planned)
    return [
        Entry(change, _with_rest(change, heirs, gone_on), went.get(change.id, {}))
        for change in planned.changes
        if change.id not in gone_on
    ]


def rows(found: Iterable[Entry]) -> list[Entry | Renamed]:
    """Rule 3: a row of several documents stands where the first of them would."""
    found = list(found)
    pairs = [_folders(entry) for entry in found]
    counts = Counter(pair for pair in pairs if pair)
    together = {pair for pair, count in counts.items() if count >= LEAST_RENAMED}
    shown: list[Entry | Renamed] = []
    seen: set[Folders] = set()
    for entry, pair in zip(found, pairs, strict=True):
        if pair is None or pair not in together:
            shown.append(entry)
        elif pair not in seen:
            seen.add(pair)
            shown.append(Renamed(*pair, counts[pair]))
    return shown


def continued(planned: Plan) -> set[DocumentId]:
    """The documents at least half of whose chunks go on in others, and those that one continues: not removed, as the
    guards judge it too.
    """
    went = {id_: sum(heirs.values()) for id_, heirs in _went(planned).items()}
    gone = {change.id: len(change.steps) for change in planned.changes}
    half = {id_ for id_, count in went.items() if count >= gone.get(id_, 0)}
    return half | {change.origin for change in planned.changes if change.origin}


def _went(planned: Plan) -> dict[DocumentId, Counter[DocumentId]]:
    went: dict[DocumentId, Counter[DocumentId]] = defaultdict(Counter)
    for change in planned.changes:
        for step in change.steps:
            origin = getattr(step, "origin", None)
            if origin is not None and origin != change.id:
                went[origin][change.id] += 1
    return went


def _with_rest(
    change: DocumentChange, heirs: Mapping[DocumentId, DocumentId], gone_on: Mapping[DocumentId, DocumentChange]
) -> tuple[Step, ...]:
    if change.origin is None or change.origin not in gone_on or heirs[change.origin] != change.id:
        return change.steps
    return (*change.steps, *gone_on[change.origin].steps)


def _folders(entry: Entry) -> Folders | None:
    """The folders between which a document went that kept its name and all else; none if it did not."""
    old, new = entry.change.origin, entry.change.id
    if old is None or entry.went or not all(_follows(step, old) for step in entry.steps):
        return None
    left, right = old.path.split("/"), new.path.split("/")
    if left[-1] != right[-1]:
        return None
    while left and right and left[-1] == right[-1]:
        left.pop()
        right.pop()
    return _folder(old.source, left), _folder(new.source, right)


def _follows(step: Step, old: DocumentId) -> bool:
    return isinstance(step, Move) and step.origin == old and step.old_position == step.position


def _folder(source: str, parts: list[str]) -> str:
    return f"{source}:{'/'.join(parts)}/" if parts else f"{source}:"
