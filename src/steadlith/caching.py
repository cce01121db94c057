"""The upkeep of the embedding cache: what is in it, what goes, and how it travels.

1. Nothing of a file is kept before all of the file was checked; what is kept then is kept in batches, so that others
   may write in between, and a kill leaves sound entries that the same import completes.
2. A cache that may not be written notes no uses; no apply fails for that.
3. What goes is named before anything goes.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from steadlith import clock, files
from steadlith.border import adapter
from steadlith_core.cachefile import Unpacking, digest_of_end, pack
from steadlith_core.errors import ApprovalMissing, CacheFileError, SteadlithError, UsageError
from steadlith_core.ports import PruneRule, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steadlith.assembly import Assembly
    from steadlith.cachecheck import Checked, Compared, Sample
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache, CacheStats, Reader, Reclaimed
    from steadlith_core.vectors import Vector

PIECE = 1 << 20
KEPT_TOGETHER = 1024
"""Imported entries a transaction."""
MOST = 1 << 62
"""More bytes than there are anywhere; SQLite's numbers end at twice that."""

HINT = "`steadlith cache export FILE` writes one"
UNTRUSTED = (
    "a vector that is not what the model makes of its text sends searches astray, and no checksum can show it; "
    "pass --trust if you know who made the file, and that nobody changed it since"
)

Told: TypeAlias = "Callable[[int, int], None]"
"""Hears how far a piece of work is: so many done, of so many."""


def untold(_done: int, _total: int) -> None:
    """Nobody hears it."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went, or would go (`done` says which), of how much; and the space that was given back."""

    gone: Tally
    before: CacheStats
    done: bool
    reclaimed: Reclaimed | None


@dataclass(frozen=True, slots=True)
class Exported:
    """A cache file that was written. `left_out` entries are damaged."""

    entries: int
    size: int
    digest: Digest
    left_out: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A cache file that was read: of its entries so many were not there and are kept."""

    entries: int
    added: int
    digest: Digest


class Caching:
    """The embedding cache of one configuration. Holds no file open between calls."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    def stats(self) -> CacheStats:
        """What is there."""
        with opened(self._assembly, readonly=True) as cache:
            return cache.stats()

    def prune(self, rule: PruneRule, *, do: bool) -> Pruned:
        """Say what `rule` names, and with `do` remove it and give the space back."""
        with opened(self._assembly, readonly=True) as cache:
            before, gone = cache.stats(), cache.prunable(rule)
        if not do or not before.file_bytes:  # where there is no cache, none is made to prune it
            return Pruned(gone, before, done=False, reclaimed=None)
        with opened(self._assembly, readonly=False) as cache:
            gone = cache.prune(rule)
            return Pruned(gone, before, done=True, reclaimed=cache.reclaim())

    def export(self, file: Path) -> Exported:
        """Write all sound entries to `file`: the same bytes for the same entries, everywhere."""
        target = file.resolve()
        own = {Path(each).resolve() for each in self._assembly.private_files}
        if not own.isdisjoint((target, *target.parents)):
            raise UsageError(f"{file}: this is where the index and the cache have their own files; name another place")
        writing = _Writing()
        with opened(self._assembly, readonly=True) as cache:
            size = files.save(file, writing.pieces(cache), "FILE")
        assert writing.digest is not None  # the last piece ends with it
        return Exported(writing.entries, size, writing.digest, writing.left_out)

    def load(self, file: Path, *, trust: bool, told: Told = untold) -> Imported:
        """Keep the entries of `file` that are not there, marked as imported. `told` hears how far it is.

        Raises `ApprovalMissing` without `trust`, `CacheFileError` before anything is kept if not all of it is sound.
        """
        if not trust:
            raise ApprovalMissing(f"{file}: {UNTRUSTED}")
        with _read(file) as whole:
            for _ in whole.batches():
                pass
        total, digest, seen, added = whole.count, whole.digest, 0, 0
        with _read(file) as again, opened(self._assembly, readonly=False) as cache:
            for batch in _joined(again.batches()):
                added += cache.add(dict(batch))
                seen += len(batch)
                told(seen, total)
        if again.digest != digest or digest is None:
            raise CacheFileError(f"{file}: it changed while it was read; what was kept of it is sound")
        return Imported(total, added, digest)

    def check(self) -> Checked:
        """Look at every entry. O(cache)."""
        from steadlith import cachecheck

        return cachecheck.check(self._assembly)

    def draw(self, reader: Reader, count: int) -> Sample:
        """`count` texts of the index to embed again, and what that costs. O(all text) of the index."""
        from steadlith import cachecheck

        return cachecheck.draw(self._assembly, reader, count)

    def compare(self, reader: Reader, sample: Sample, told: Told = untold) -> Compared:
        """Embed the sample, which may cost, and compare. Raises `EmbeddingError`."""
        from steadlith import cachecheck

        return cachecheck.compare(self._assembly, reader, sample, told)

    def drop(self, keys: Sequence[Digest]) -> int:
        """Remove and overwrite these entries: an apply that needs them embeds anew. How many there were."""
        if not keys:
            return 0
        with opened(self._assembly, readonly=False) as cache:
            return cache.drop(keys)


@contextmanager
def opened(assembly: Assembly, *, readonly: bool) -> Iterator[Cache]:
    """The cache, for one piece of work."""
    with closing(assembly.open_cache(readonly=readonly)) as cache, adapter("using the cache"):
        yield cache


def note_uses(assembly: Assembly, keys: Sequence[Digest]) -> None:
    """Note that an apply used these entries, where that may be noted."""
    with suppress(SteadlithError), opened(assembly, readonly=False) as cache:
        cache.touch(keys)


def rule(*, unused_days: int | None, max_bytes: int | None, imported: bool) -> PruneRule:
    """The rule that a person means: entries unused for so many days, more bytes than those, imported ones."""
    if unused_days is None and max_bytes is None and not imported:
        raise UsageError("say what goes: --unused-days, --max-bytes or --imported")
    return PruneRule(
        unused_before=None if unused_days is None else max(0, clock.today() - unused_days),
        max_bytes=None if max_bytes is None else min(max_bytes, MOST),
        imported=imported,
    )


class _Writing:
    """What passes to a cache file, counted."""

    def __init__(self) -> None:
        self.entries = self.left_out = 0
        self.digest: Digest | None = None

    def pieces(self, cache: Cache) -> Iterator[bytes]:
        piece = b""
        for piece in pack(self._sound(cache)):
            yield piece
        self.digest = digest_of_end(piece)

    def _sound(self, cache: Cache) -> Iterator[tuple[Digest, Vector]]:
        for key, vector, problem in cache.entries():
            if problem is None:
                self.entries += 1
                yield key, vector
            else:
                self.left_out += 1


@contextmanager
def _read(file: Path) -> Iterator[Unpacking]:
    """A pass over the file; whatever is wrong with it, the message names it."""
    try:
        with _stream(file) as stream:
            yield Unpacking(iter(partial(stream.read, PIECE), b""))
    except OSError as error:
        raise CacheFileError(f"cannot read {file}: {error.strerror or error}; {HINT}") from error
    except CacheFileError as error:
        raise CacheFileError(f"{file}: not a cache file: {error}; {HINT}") from error


def _stream(file: Path) -> BinaryIO:
    if file.exists() and not file.is_file():
        raise CacheFileError("it is read twice, so it must be a regular file")
    return file.open("rb")


def _joined(batches: Iterator[list[tuple[Digest, Vector]]]) -> Iterator[list[tuple[Digest, Vector]]]:
    """The same entries, at least `KEPT_TOGETHER` at a time."""
    joined: list[tuple[Digest, Vector]] = []
    for batch in batches:
        joined += batch
        if len(joined) >= KEPT_TOGETHER:
            yield joined
            joined = []
    if joined:
        yield joined
