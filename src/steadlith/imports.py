"""Importing: chunks and vectors that another program made and somebody paid for become part of the index as they are.

1. Nothing is embedded. That the configured model made the vectors, only a person can say.
2. A document that the index has already is left alone; nothing that is recorded is written over.
3. A document that a source holds is recorded with what the source holds now: the next plan finds nothing to do, and an
   edit has that document cut anew, like any other.
4. Vectors go to the cache first, some at a time, so that a kill loses nothing of them; then all documents are committed
   at once, by the run that commits every plan.
5. The files are read twice, for the names of all vectors and for the vectors. One that changed in between is refused: a
   name is a hash over the vector.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith.caching import opened, untold
from steadlith.foreign import request as requests
from steadlith.foreign.arriving import Goal
from steadlith.foreign.gathering import Gathering, Naming
from steadlith.foreign.request import FORMS, PATH_KEY, Request
from steadlith.foreign.rows import Passed, Row, Why
from steadlith.terms import terms
from steadlith_core import events
from steadlith_core.errors import ApprovalMissing, ImportRefused, Stopped
from steadlith_core.planning.steps import Add
from steadlith_core.state import foreign
from steadlith_core.state.identity import text_hash

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from steadlith.assembly import Assembly
    from steadlith.caching import Told
    from steadlith.foreign.rows import Reading
    from steadlith.foreign.whole import Whole
    from steadlith.generations import Open
    from steadlith_core.applying.run import Result
    from steadlith_core.digest import Digest
    from steadlith_core.planning.plan import Plan
    from steadlith_core.vectors import Vector

__all__ = ["FORMS", "PATH_KEY", "Import", "Imports", "Request"]

TOGETHER = 1000
"""Vectors that are kept in one transaction of the cache."""


@dataclass(frozen=True, slots=True)
class Import:
    """What an import would do: its plan, what was read, and what of that is not imported as it is.

    `read` counts chunks. `found` documents stand in their source today. `model` is the configured one, which is to have
    made the vectors.
    """

    request: Request
    plan: Plan
    whole: Whole
    read: int
    documents: int
    chunks: int
    found: int
    model: str
    passed: tuple[Passed, ...]
    goal: Goal = field(repr=False)

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to import."""
        return self.plan.is_empty

    @property
    def is_of_no_use(self) -> bool:
        """Whether nothing of what was read can be imported, or has been before."""
        return self.is_nothing and bool(self.passed) and all(each.why is not Why.RECORDED for each in self.passed)


class Imports:
    """Imports into one index. Every call opens the store anew."""

    def __init__(self, assembly: Assembly, open_store: Open) -> None:
        self._assembly = assembly
        self._open = open_store

    def preview(self, request: Request) -> Import:
        """What importing would do. Changes nothing.

        Raises `UsageError` for a request that cannot be meant, `ImportFileError` for a file that is not of its form,
        `ImportRefused` for an index that nothing can be imported into as it is.
        """
        assembly = self._assembly
        reading = requests.reading(request, assembly.cutter.space.dimensions)
        naming = Naming(requests.source(request, assembly.config.sources), request.path_key, request.strip)
        whole = reading.whole()
        gathering = Gathering(naming, assembly.cutter.space)
        gathering.take(reading.rows())
        with ExitStack() as stack:
            store = self._open(stack, readonly=True)
            with closing(store.snapshot()) as reader, adapter("reading the index"):
                recorded = reader.find(sorted(gathering.documents))
            for id_ in sorted(recorded):
                count = len(gathering.documents.pop(id_).pieces)
                message = f"the index has this document; its {count:,} chunks are left alone"
                gathering.passed.append(Passed(str(id_), Why.RECORDED, message))
            goal = Goal(assembly, reading, gathering.documents, request.only_found)
            seen = goal.look()
            planned = goal.plan(store, terms(assembly), seen, in_hand=True)
        lost = [Passed(f"metadata:{key:.80}", Why.METADATA, words) for key, words in _not_kept(gathering.not_kept)]
        return Import(
            request=request,
            plan=planned.plan,
            whole=whole,
            read=gathering.read,
            documents=len(seen.wanted),
            chunks=sum(len(each.chunks) for each in seen.wanted.values()),
            found=seen.found,
            model=assembly.embedder_identity.model_id,
            passed=(*gathering.passed, *seen.passed, *lost),
            goal=goal,
        )

    def confirm(self, found: Import, *, same_model: bool) -> None:
        """Raise `ApprovalMissing` unless somebody says that the configured model made the vectors."""
        if not same_model:
            raise ApprovalMissing(
                f"whether {found.model} made these vectors cannot be seen from them, and no search finds its way "
                "among vectors of another model: pass --same-model if you know that it did"
            )

    def apply(
        self,
        found: Import,
        *,
        same_model: bool,
        allow: Iterable[str] = (),
        lock_timeout: float = 0.0,
        told: Told = untold,
        report: events.Reporter = events.silent,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Do what was previewed. `same_model` says that the configured model made the vectors. Killed at any time it is
        done again, and what was kept is not kept twice; `told` hears how many vectors are.

        Raises `ApprovalMissing`, `ImportRefused` and `ImportFileError` for files that changed since, and as
        `Index.apply` does.
        """
        from steadlith.running import How, run

        self.confirm(found, same_model=same_model)
        if found.is_nothing:
            raise ImportRefused("there is nothing to import: every row was passed over")
        _keep(self._assembly, found, told, stop_requested)
        how = How(frozenset(allow), lock_timeout, report=report, stop_requested=stop_requested)
        return run(self._assembly, self._open, found.plan, how, found.goal)


def _keep(assembly: Assembly, found: Import, told: Told, stop_requested: Callable[[], bool]) -> None:
    """Put the vectors that are needed into the cache, as far as they are not there. `ImportRefused` if any is not in
    the files any more.
    """
    space = assembly.cutter.space
    steps = (step for change in found.plan.changes for step in change.steps if isinstance(step, Add))
    needed = {step.vector_key for step in steps if step.vector_key is not None}
    total = len(needed)
    with opened(assembly, readonly=False) as cache:
        rows = _needed(found.goal.reading, assembly, needed)
        while some := dict(islice(rows, TOGETHER)):
            there = cache.contains(list(some), space.dimensions)
            cache.add({key: vector for key, vector in some.items() if key not in there})
            told(total - len(needed), total)
            if stop_requested():
                raise Stopped(f"stopped: {total - len(needed):,} of {total:,} vectors are kept; import again to go on")
    if needed:
        raise ImportRefused(
            f"{len(needed):,} of the {total:,} vectors that the files had are not in them any more: they changed since "
            "they were read. What was kept is sound; begin again"
        )


def _needed(reading: Reading, assembly: Assembly, needed: set[Digest]) -> Iterator[tuple[Digest, Vector]]:
    """Each vector that is needed, once; what is yielded is needed no more."""
    space = assembly.cutter.space
    for row in reading.rows():
        if isinstance(row, Row):
            key = foreign.vector_key(text_hash(row.text), foreign.context_hash(space, row.vector))
            if key in needed:
                needed.discard(key)
                yield key, row.vector


def _not_kept(counted: Counter[str]) -> Iterator[tuple[str, str]]:
    for key in sorted(counted):
        yield key, f"not kept of {counted[key]:,} chunks: it is not one text that a whole document has"
