"""Remembering: from what a survey saw to the next fingerprint file.

1. Only an apply remembers, and only what it left the index with: a document that changed without being applied keeps
   the digest that is recorded, and no stamp.
2. A folder in which nothing differs is copied as it is.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith import files
from steadlith.config import STATE_FOLDER
from steadlith.fingerprints import Damaged, Draft, Fingerprints, Header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from steadlith.assembly import Assembly
    from steadlith.observe import Observed
    from steadlith_core.records import Head


def place(assembly: Assembly) -> Path:
    """Where the fingerprint file of a configuration is."""
    file = assembly.config.file
    return assembly.config.root / STATE_FOLDER / f"{file.stem}.fingerprints"


def known(assembly: Assembly) -> Fingerprints | None:
    """The fingerprint file, open; none if there is none that can be used."""
    return Fingerprints.open(place(assembly))


def begin(assembly: Assembly) -> Draft | None:
    """A new file, before the first look at a document; none where nothing can be written, so nothing is remembered."""
    try:
        return Draft(place(assembly))
    except OSError:
        return None


def header(assembly: Assembly, head: Head, taken_at: int = 0) -> Header:
    """What a fingerprint file says of itself."""
    config = assembly.config_digest
    return Header(taken_at, head.lineage or "", head.generation, head.state_root, head.plan_digest, config)


def is_of(found: Header, now: Header) -> bool:
    """Whether a fingerprint file was written after this very head, under this configuration.

    Two forks of one index may agree in all but the plan that made the head.
    """
    return replace(found, taken_at=0) == replace(now, taken_at=0)


def forget_stale(assembly: Assembly, head: Head) -> bool:
    """Delete the fingerprint file if it is not of this head and configuration, or cannot be read; whether it was.

    What killed writers left of other ones is deleted in any case.
    """
    files.sweep(place(assembly))
    file = known(assembly)
    if file is not None:
        file.close()
        if is_of(file.header, header(assembly, head)):
            return False
    try:
        place(assembly).unlink()
    except OSError:
        return False
    return True


@contextmanager
def handed_over(assembly: Assembly, before: Head, after: Head) -> Iterator[None]:
    """Around the moment from which on another store has the index: what is remembered of the head `before` is so of
    `after`, which holds the same documents. Whoever is killed in it has nothing remembered.
    """
    with ExitStack() as stack:
        file = known(assembly)
        if file is not None:
            stack.callback(file.close)
        with suppress(OSError):
            files.SYSTEM.remove(place(assembly))
        yield
        if file is not None and is_of(file.header, _under(before, file.header)):
            with suppress(OSError, Damaged):
                _write(assembly, file, _under(after, file.header))


def _under(head: Head, was: Header) -> Header:
    return replace(
        was,
        lineage=head.lineage or "",
        generation=head.generation,
        state_root=head.state_root,
        plan=head.plan_digest,
    )


def _write(assembly: Assembly, file: Fingerprints, under: Header) -> None:
    """Write the same file again under another head. Raises `OSError`, and `Damaged` for one that cannot be read."""
    draft = Draft(place(assembly))
    try:
        for source in file.sources():
            for folder, where in file.folders(source).items():
                draft.put(source, folder, where.rules, file.block(where), where.tally)
        draft.finish(under, file.places)
    finally:
        draft.drop()


def finish(draft: Draft, observed: Observed, under: Header) -> None:
    """Write what was seen, under the head that came of it."""
    survey, ledger = observed.survey, observed.ledger
    redrawn_of: dict[str, set[str]] = defaultdict(set)
    for source, folder in survey.redrawn:
        redrawn_of[source].add(folder)
    for source in sorted({*survey.seen, *ledger.sources()}):
        folders = ledger.folders(source)
        seen = survey.seen.get(source, {})
        redrawn = redrawn_of[source]
        for folder in sorted(folders.keys() | redrawn):
            if folder in redrawn:
                rows = survey.redrawn[source, folder]
                tally = rows.tally()
                if tally.names:
                    draft.put(source, folder, seen.get(folder, b""), rows.encode(), tally)
            else:
                rules, block = ledger.block(source, folder)
                draft.put(source, folder, rules, block, folders[folder])
    # A root that is another one is not believed while documents of it are missing and held.
    places = {name: ledger.place(name) if name in survey.held else place for name, place in survey.places.items()}
    draft.finish(under, {name: ledger.place(name) for name in ledger.sources()} | places)
