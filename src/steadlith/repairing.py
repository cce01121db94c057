"""Repairing: what the doctor found wrong with our own files is set right from the sources, the index and the cache.

1. Nothing is paid for without a word: a repair that needs embeddings stops before them, and says what they cost.
2. Nothing is deleted that holds anything: a damaged index or cache is moved aside. What goes is a fingerprint file
   that cannot be read, a dead writer's record, and entries of the cache that nobody can use or that contradict a sound
   index.
3. The index is repaired by a plan and an apply, with their checks and guards: documents are written anew as they are
   recorded, or all of the index is built anew from the sources as they are.
4. What is left wrong afterwards is looked for again, not worked out.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from steadlith import cachecheck, contradictions, doctor, paid, remembering
from steadlith.border import adapter
from steadlith.caching import opened
from steadlith.observe import Look
from steadlith_core.errors import ConfigError, ForeignFile, GuardRefused, SourceError, SteadlithError, UsageError
from steadlith_core.planning.overrides import REBUILD
from steadlith_core.ports import Ailment
from steadlith_core.records import DriftKind, Level

if TYPE_CHECKING:
    from steadlith.assembly import Assembly
    from steadlith.doctor import Diagnosis
    from steadlith.index import Index
    from steadlith_core.planning.cost import Cost
    from steadlith_core.planning.plan import Plan
    from steadlith_core.ports import Reader

TOGETHER = 500
"""Vectors that are put back into a cache at a time."""
BEYOND = (
    "the index, or the configuration, is not the one of the last apply, so that repairs alone do not do: "
    "`steadlith plan --refresh full` shows a whole plan, and applying that repairs it"
)


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was `found`, what was `done` about it in sentences, and what is `left`.

    `unpaid` is what the rest would cost, where it would; `refused` says why else the index was left as it is.
    """

    found: Diagnosis
    done: tuple[str, ...]
    left: Diagnosis
    embedded: int = 0
    unpaid: Cost | None = None
    refused: str | None = None


def repair(index: Index, assembly: Assembly, *, pay: bool, lock_timeout: float) -> Repaired:
    """Examine, repair, examine again. Raises `LockHeld`."""
    found = index.examine()
    wrong = {trouble.kind for trouble in found.troubles if trouble.mendable or trouble.kind in doctor.MOVED}
    if not wrong:
        return Repaired(found, (), found)
    done: list[str] = []
    lock = assembly.lock(timeout=lock_timeout, holder="steadlith doctor --repair")
    lock.acquire()
    try:
        done += _around(assembly, wrong)
        done += _cache(index, assembly, wrong)
    finally:
        lock.release()
    drift = {kind for kind in wrong if isinstance(kind, DriftKind)}
    ended = _index(index, drift, pay=pay, lock_timeout=lock_timeout)
    done += ended.done
    done += _refilled(index, assembly, wrong)
    return Repaired(found, tuple(done), index.examine(), ended.embedded, ended.unpaid, ended.refused)


class _Ended(NamedTuple):
    """How the repair of the index ended; see `Repaired`."""

    done: tuple[str, ...] = ()
    embedded: int = 0
    unpaid: Cost | None = None
    refused: str | None = None


def _index(index: Index, drift: set[DriftKind], *, pay: bool, lock_timeout: float) -> _Ended:
    if not drift:
        return _Ended()
    try:
        plan = _plan(index, drift)
        if plan is None:
            return _Ended(refused=BEYOND)
        if plan.cost.embeddings and not pay:
            return _Ended(unpaid=plan.cost)
        result = index.apply(plan, allow={REBUILD}, lock_timeout=lock_timeout)
    except (ConfigError, ForeignFile, SourceError) as error:
        return _Ended(refused=str(error))
    except GuardRefused as error:
        return _Ended(refused=f"{error}; `steadlith plan --refresh full` shows the whole plan")
    return _Ended((_built(plan),), result.embedded)


def _plan(index: Index, drift: set[DriftKind]) -> Plan | None:
    """The plan that repairs; none where more than a repair is needed."""
    if drift & doctor.WHOLE:
        return index.plan(Look(Level.FULL))
    if drift & doctor.MOVED:
        plan = index.plan(Look(Level.FULL))
        return None if plan.changes or plan.recipe_changed else plan
    try:
        return index.plan(Look(Level.FULL, repair_only=True))
    except UsageError:
        return None


def _built(plan: Plan) -> str:
    if plan.mended:
        return f"wrote anew what was wrong with {len(plan.mended):,} documents"
    if plan.changes:
        return f"built the index anew: {plan.target.documents:,} documents"
    return "noted that the index is the one of these sources"


def _around(assembly: Assembly, wrong: set[Ailment | DriftKind]) -> list[str]:
    """Under the lock; taking it was what removes a dead writer's record."""
    done = []
    if Ailment.LOCK_LEFT in wrong:
        done.append("removed the record of a writer that has ended")
    if Ailment.FINGERPRINTS in wrong:
        remembering.place(assembly).unlink(missing_ok=True)
        done.append("removed a fingerprint file that could not be read")
    return done


def _cache(index: Index, assembly: Assembly, wrong: set[Ailment | DriftKind]) -> list[str]:
    if Ailment.CACHE_DAMAGED in wrong:
        return [f"moved the damaged cache to {assembly.set_cache_aside()}"]
    if not wrong & {Ailment.CACHE_ENTRY, Ailment.CACHE_CONTRADICTS}:
        return []
    try:
        with index.reader() as reader:
            bad = contradictions.look(assembly, reader)
    except SteadlithError:  # the index is to be repaired as well: it can be asked for nothing yet
        bad = contradictions.look(assembly, None)
    with opened(assembly, readonly=False) as cache:
        count = cache.drop([*bad.damaged, *bad.contradict])
    return [f"removed {count:,} entries from the cache"]


def _refilled(index: Index, assembly: Assembly, wrong: set[Ailment | DriftKind]) -> list[str]:
    """Put back into the cache what the index has and the cache lost."""
    if not wrong & {Ailment.CACHE_DAMAGED, Ailment.CACHE_ENTRY, Ailment.CACHE_CONTRADICTS}:
        return []
    try:
        with index.reader() as reader:
            count = _fill(assembly, reader)
    except SteadlithError:  # it is left as damaged as it was found, and told so
        return []
    return [f"put {count:,} vectors of the index back into the cache"] if count else []


def _fill(assembly: Assembly, reader: Reader) -> int:
    space, count = assembly.cutter.space, 0
    wanted = (asked.key for asked in cachecheck.asked(assembly, reader))
    with closing(assembly.open_cache(readonly=False)) as cache, adapter("filling the cache"):
        while keys := list(islice(wanted, TOGETHER)):
            there = cache.contains(keys, space.dimensions)
            vectors = paid.vectors(reader, space, [key for key in keys if key not in there])
            if vectors:
                cache.put(vectors)
                count += len(vectors)
    return count
