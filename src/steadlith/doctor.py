"""The doctor: what is wrong with a set-up, each thing by its name and with its way out.

1. Looking changes nothing, embeds nothing, and takes no lock.
2. One thing that is wrong hides no other: what cannot be looked at is a trouble, and the look goes on.
3. What can be seen without opening a file is looked at first: opening one takes over a log that was left.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import contradictions, drift, pending, relexing, remembering
from steadlith.border import adapter
from steadlith.fingerprints import Damaged
from steadlith_core.errors import (
    ChangeUnfinished,
    ConfigError,
    DocumentError,
    ForeignFile,
    SteadlithError,
    StoreCorrupt,
)
from steadlith_core.ports import Ailment, Trouble
from steadlith_core.records import DriftKind, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader, Source, Store

REPAIR = "`steadlith doctor --repair`"
WHOLE = frozenset({DriftKind.INDEX_DAMAGED, DriftKind.INDEX_MISSING})
"""What is drift of the index as a whole, and mended by building it anew."""
MOVED = frozenset({DriftKind.INDEX_OLDER, DriftKind.INDEX_REPLACED})
"""Another index than the last apply here left: sound as such, and not what the fingerprint file says."""
_REBUILD = f"{REPAIR} builds it anew from the sources and the cache"
_REWRITE = f"{REPAIR} writes it anew from its source; its vectors come from the cache"
_MOVED = ("`steadlith plan` shows how it differs from the sources, and `steadlith apply` brings it there", False)
_MENDS: Mapping[DriftKind, tuple[str, bool]] = {
    DriftKind.INDEX_DAMAGED: (_REBUILD, True),
    DriftKind.INDEX_MISSING: (_REBUILD, True),
    DriftKind.INDEX_OLDER: _MOVED,
    DriftKind.INDEX_REPLACED: _MOVED,
    DriftKind.HISTORY: ("no source holds the past; `steadlith compact --keep 1` lets older generations go", False),
}
_INDEX: Mapping[type[SteadlithError], Ailment | DriftKind] = {
    StoreCorrupt: DriftKind.INDEX_DAMAGED,
    ForeignFile: Ailment.INDEX_FOREIGN,
    ConfigError: Ailment.CONFIGURATION,
}
_CACHE: Mapping[type[SteadlithError], Ailment | DriftKind] = {
    StoreCorrupt: Ailment.CACHE_DAMAGED,
    ForeignFile: Ailment.CACHE_FOREIGN,
    ConfigError: Ailment.CONFIGURATION,
}
NAMED = 3
"""Entries of the cache that a trouble names."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was found, in the order in which it is best read."""

    troubles: tuple[Trouble, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong that stands in anybody's way."""
        return not any(trouble.grave for trouble in self.troubles)

    @property
    def mendable(self) -> tuple[Trouble, ...]:
        """What a repair sets right."""
        return tuple(trouble for trouble in self.troubles if trouble.mendable)


def of_configuration(error: ConfigError) -> Diagnosis:
    """The diagnosis where there is no configuration to go by."""
    return Diagnosis((Trouble(Ailment.CONFIGURATION, "configuration", str(error)),))


def examine(assembly: Assembly, open_store: Callable[[], Store]) -> Diagnosis:
    """Look at everything. O(index + cache + sources). Whoever gave the store closes it."""
    found = [*_around(assembly), *_configuration(assembly), *_sources(assembly), *_fingerprints(assembly)]
    found += _rollback(assembly, open_store)
    try:
        with closing(open_store().snapshot()) as reader:
            found += [*_index(assembly, reader), *_cache(assembly, reader)]
    except SteadlithError as error:
        found += [_unusable(error, "index", _INDEX, Ailment.INDEX_UNUSABLE, _REBUILD), *_cache(assembly, None)]
    told: dict[tuple[str, str], Trouble] = {}
    for each in found:
        told.setdefault(_sentence(each), each)
    return Diagnosis(tuple(told.values()))


def _sentence(trouble: Trouble) -> tuple[str, str]:
    """What is told once. Several looks may meet one cause, and the first one has the closest name for it; documents
    may have the same fault each.
    """
    placed = isinstance(trouble.kind, DriftKind) or trouble.kind is Ailment.DOCUMENT
    return (trouble.place if placed else "", trouble.message)


def _around(assembly: Assembly) -> Iterator[Trouble]:
    try:
        yield from assembly.troubles()
    except SteadlithError as error:
        yield Trouble(Ailment.CONFIGURATION, "configuration", str(error))


def _configuration(assembly: Assembly) -> Iterator[Trouble]:
    """What loading the configuration does not show: adapters that are not there, settings that they do not take."""
    try:
        _ = assembly.cutter
    except SteadlithError as error:
        yield Trouble(Ailment.CONFIGURATION, "configuration", str(error))


def _rollback(assembly: Assembly, open_store: Callable[[], Store]) -> Iterator[Trouble]:
    """A rollback whose configuration is not in place. An index that cannot be read says so elsewhere."""
    try:
        pending.refuse(assembly.config, lambda: open_store().history())
    except ChangeUnfinished as error:
        yield Trouble(Ailment.CONFIGURATION, "configuration", str(error))
    except SteadlithError:
        return


def _sources(assembly: Assembly) -> Iterator[Trouble]:
    way_out = "nothing is planned, and so nothing deleted, until it is set right"
    try:
        sources = assembly.sources
    except SteadlithError as error:
        yield Trouble(Ailment.SOURCE, "sources", str(error), way_out)
        return
    for name, source in sources.items():
        try:
            yield from _documents(name, source)
        except SteadlithError as error:
            yield Trouble(Ailment.SOURCE, name, str(error), way_out)


def _documents(name: str, source: Source) -> Iterator[Trouble]:
    """Everything that the source lists, read once."""
    way_out = "the index keeps what it has of it; docs/findings.md says what each kind means"
    with adapter(f"listing source {name!r}"):
        for part in source.list():
            for finding in part.findings:
                message = f"{finding.kind}: {finding.message}"
                yield Trouble(Ailment.DOCUMENT, f"{name}:{finding.place}", message, way_out, grave=False)
            for entry in part.entries:
                try:
                    source.read(entry.path)
                except DocumentError as error:
                    message = f"{error.kind}: {error}"
                    yield Trouble(Ailment.DOCUMENT, f"{name}:{entry.path}", message, way_out, grave=False)


def _fingerprints(assembly: Assembly) -> Iterator[Trouble]:
    place = remembering.place(assembly)
    if not os.path.exists(place):  # noqa: PTH110 -- False, not an error, where nothing may be looked at
        return
    fault = "it cannot be read as one"
    file = remembering.known(assembly)
    if file is not None:
        with closing(file):
            try:
                for source in file.sources():
                    for folder in file.folders(source).values():
                        file.block(folder)
            except Damaged as error:
                fault = str(error)
            else:
                return
    way_out = f"{REPAIR} removes it; the next plan reads every document and says the same"
    yield Trouble(Ailment.FINGERPRINTS, str(place), f"{place}: {fault}", way_out, mendable=True)


def _index(assembly: Assembly, reader: Reader) -> Iterator[Trouble]:
    """Drift of the index, in full; see docs/drift.md."""
    file = remembering.known(assembly)
    if file is not None:
        with closing(file):
            for each in drift.replaced(reader.head, file.header):
                way_out, mendable = _MENDS[each.kind]
                yield Trouble(each.kind, each.place, each.message, way_out, mendable=mendable)
    for problem in relexing.judged(drift.problems(reader, Level.FULL), reader.head.recipe):
        way_out, mendable = _MENDS.get(problem.kind, (_REWRITE, True))
        place = str(problem.document) if problem.document else drift.INDEX
        yield Trouble(problem.kind, place, problem.message, way_out, mendable=mendable)


def _cache(assembly: Assembly, reader: Reader | None) -> Iterator[Trouble]:
    try:
        bad = contradictions.look(assembly, reader)
    except SteadlithError as error:
        way_out = f"{REPAIR} moves it aside, and fills a new one from what the index has"
        yield _unusable(error, "cache", _CACHE, Ailment.CACHE_UNUSABLE, way_out)
        return
    if bad.damaged:
        message = f"{len(bad.damaged):,} entries are damaged and count as absent: {_named(bad.damaged)}"
        yield Trouble(Ailment.CACHE_ENTRY, "cache", message, f"{REPAIR} removes them", mendable=True)
    if bad.contradict:
        count = len(bad.contradict)
        message = (
            f"{count:,} entries are not the vectors that the index has of the same texts: {_named(bad.contradict)}"
        )
        way_out = (
            "`steadlith cache verify --sample N` tells which are right; "
            f"{REPAIR} removes the cache's, since the index passes its own check"
        )
        yield Trouble(Ailment.CACHE_CONTRADICTS, "cache", message, way_out, mendable=True)


def _named(keys: Sequence[Digest]) -> str:
    more = ", ..." if len(keys) > NAMED else ""
    return ", ".join(key.short for key in keys[:NAMED]) + more


def _unusable(
    error: SteadlithError,
    place: str,
    kinds: Mapping[type[SteadlithError], Ailment | DriftKind],
    otherwise: Ailment,
    rebuild: str,
) -> Trouble:
    """A file that cannot be opened or read to its end; only a damaged one is mended."""
    kind = next((name for known, name in kinds.items() if isinstance(error, known)), otherwise)
    if isinstance(error, StoreCorrupt):
        return Trouble(kind, place, error.fault, rebuild, mendable=True)
    return Trouble(kind, place, str(error))
