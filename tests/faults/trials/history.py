"""The history checker: what several processes were told by one index, and whether one index can have told it.

1. Pure: it judges records of what was asked and answered, and never asks the index itself.
2. An apply that was never answered (its process was killed) may have happened or not; one that was answered did what
   the answer says.
3. The list of what is wrong is complete, and each line names the process and the generation.
"""

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

COMMITTED, ALREADY, REFUSED = "committed", "already", "refused"


@dataclass(frozen=True)
class Apply:
    """One apply. `content` is all that its plan leads to, as (path, text); nobody answered if `ended` is none."""

    process: str
    began: int
    base: int
    plan: str
    root: str
    content: tuple[tuple[str, str], ...]
    ended: int | None = None
    outcome: str | None = None
    generation: int | None = None


@dataclass(frozen=True)
class Read:
    """One answered search: the generation that it names and every chunk that it shows; the root if it was asked."""

    process: str
    began: int
    ended: int
    generation: int
    content: tuple[tuple[str, str], ...]
    root: str | None = None


@dataclass(frozen=True)
class Kept:
    """One generation, as the index tells its own history when all is over."""

    number: int
    parent: int
    plan: str
    root: str


def problems(operations, kept, *, compacted=False):
    """Everything that no single index can have done, in words.

    Of a `compacted` index the oldest generations are gone; what they were is known by who committed them.
    """
    applies = [each for each in operations if isinstance(each, Apply)]
    reads = [each for each in operations if isinstance(each, Read)]
    generations = {each.number: each for each in kept}
    return [
        *_chain(kept, compacted),
        *_acknowledged(applies, generations, kept[0].number if kept and compacted else 1),
        *_attributed(applies, generations),
        *_whole(reads, _contents(applies, generations)),
        *_forward(reads),
        *_fresh(applies, reads),
    ]


def _chain(kept, compacted):
    numbers = [(each.number, each.parent) for each in kept]
    first = numbers[0][0] if numbers and compacted else 1
    if numbers != [(number, number - 1) for number in range(first, first + len(kept))]:
        yield f"the generations are no chain: {numbers}"


def _acknowledged(applies, generations, oldest):
    """Every acknowledged commit is there, unless it is older than what is kept; no other one stood on the same base or
    took the same number.
    """
    by_base, by_number = defaultdict(list), defaultdict(list)
    for each in applies:
        if each.outcome == COMMITTED:
            by_base[each.base].append(each.process)
            by_number[each.generation].append(each.process)
            if each.generation != each.base + 1:
                yield f"{each.process}: generation {each.generation} was acknowledged on base {each.base}"
        if each.outcome in {COMMITTED, ALREADY} and each.generation >= oldest:
            held = generations.get(each.generation)
            if held is None or (held.plan, held.root) != (each.plan, each.root):
                yield f"{each.process}: lost update: generation {each.generation} was acknowledged and is not its own"
    for what, found in (("base", by_base), ("number", by_number)):
        for at, processes in found.items():
            if len(processes) > 1:
                yield f"double {what}: {', '.join(sorted(processes))} all committed with {what} {at}"


def _attributed(applies, generations):
    """Every generation comes of an apply that may have made it: acknowledged, or never answered."""
    makers = {(each.plan, each.base) for each in applies if each.outcome in {COMMITTED, None}}
    for each in generations.values():
        if (each.plan, each.parent) not in makers:
            yield f"phantom: generation {each.number} was made by an apply that nobody asked for, or that was refused"


def _contents(applies, generations):
    by_plan = {each.plan: each for each in applies}
    found = {each.generation: each for each in applies if each.outcome == COMMITTED}
    found |= {number: by_plan[held.plan] for number, held in generations.items() if held.plan in by_plan}
    return {0: ((), None)} | {number: (each.content, each.root) for number, each in found.items()}


def _whole(reads, contents):
    """What a read shows is one whole generation: the one that it names."""
    for each in reads:
        if each.generation not in contents:
            yield f"{each.process}: read generation {each.generation}, which nobody committed"
            continue
        content, root = contents[each.generation]
        if sorted(each.content) != sorted(content):
            more = sorted(set(each.content) - set(content))
            lost = len(set(content) - set(each.content))
            yield f"{each.process}: torn read of generation {each.generation}: {lost} chunks missing, foreign: {more}"
        if each.root is not None and root is not None and each.root != root:
            yield f"{each.process}: read the root of another generation than {each.generation}"


def _forward(reads):
    """No read goes back behind one that had ended before it began: of its own process, or of another."""
    newest = 0
    ended = sorted(reads, key=lambda each: each.ended)
    at = 0
    for each in sorted(reads, key=lambda each: each.began):
        while at < len(ended) and ended[at].ended < each.began:
            newest = max(newest, ended[at].generation)
            at += 1
        if each.generation < newest:
            yield f"{each.process}: read went back to generation {each.generation} after {newest} had been read"


def _fresh(applies, reads):
    """A read that began after a commit was acknowledged sees it; one that ended before it was asked for does not."""
    done = [each for each in applies if each.outcome == COMMITTED]
    for read in reads:
        for each in done:
            if each.ended < read.began and read.generation < each.generation:
                yield f"{read.process}: read generation {read.generation} after {each.generation} was acknowledged"
            if read.ended < each.began and read.generation >= each.generation:
                yield f"{read.process}: read generation {read.generation} before it was asked for"


class Log:
    """What one process writes down: each line is on the disk before the process goes on."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._next = 0

    def began(self, **what):
        """Note that something is asked for; the number to answer to."""
        self._next += 1
        self._line({"began": self._next, **what})
        return self._next

    def ended(self, number, **what):
        """Note what was answered."""
        self._line({"ended": number, **what})

    def _line(self, record):
        os.write(self._file, (json.dumps(record) + "\n").encode())
        os.fsync(self._file)


def gather(folder):
    """All operations that the logs in `folder` tell of; a read that was never answered is left out."""
    found = []
    for path in sorted(Path(folder).glob("*.log")):
        began, ended = {}, {}
        for line in path.read_text("utf-8").splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # killed while it wrote: what this line announces was not begun
            record = json.loads(line)
            (began if "began" in record else ended)[record.get("began") or record["ended"]] = record
        for number, asked in began.items():
            found += _operation(path.stem, asked, ended.get(number))
    return found


def compacted_away(folder):
    """How many generations were removed, by all who compact in turn: one number for each time that was answered."""
    lines = [line for path in sorted(Path(folder).glob("*.log")) for line in path.read_text("utf-8").splitlines()]
    return [record["removed"] for record in map(json.loads, lines) if "removed" in record]


def _operation(process, asked, answered):
    answered = answered or {}
    content = tuple(map(tuple, asked.get("content") or answered.get("content") or ()))
    if asked["what"] == "apply":
        yield Apply(
            process,
            asked["at"],
            asked["base"],
            asked["plan"],
            asked["root"],
            content,
            answered.get("at"),
            answered.get("outcome"),
            answered.get("generation"),
        )
    elif asked["what"] == "read" and answered:
        yield Read(process, asked["at"], answered["at"], answered["generation"], content, answered.get("root"))
