"""Whether the cache holds what it says: every checksum, and by sample, what the model makes of the texts today.

1. A checksum shows an accident. A vector that was replaced together with its checksum is found only by asking the
   model again, which costs; what it would cost is known before anything is asked.
2. The sample is drawn by the day: the same one all day, another one tomorrow.
3. What the index copied is compared as well: a cache that is mended does not mend an index that was made of it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import clock
from steadlith.border import adapter
from steadlith.caching import opened
from steadlith.keeping import as_recorded
from steadlith_core import vectors as vec
from steadlith_core.applying.audit import PROBE_TOLERANCE, answer_problems
from steadlith_core.digest import hash_fields
from steadlith_core.errors import EmbeddingError, SourceError
from steadlith_core.planning.cost import cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith.assembly import Assembly
    from steadlith.caching import Told
    from steadlith_core.digest import Digest
    from steadlith_core.planning.cost import Cost
    from steadlith_core.ports import Kept, Reader
    from steadlith_core.records import DocumentId
    from steadlith_core.vectors import Vector


@dataclass(frozen=True, slots=True)
class Asked:
    """One text: its key, what the model would be given, and a document that has it. Of a vector that was brought along
    nobody knows what it was made of: its model input is empty.
    """

    key: Digest
    model_input: str
    tokens: int
    document: DocumentId


@dataclass(frozen=True, slots=True)
class Sample:
    """Texts to embed again, and what that costs."""

    asked: tuple[Asked, ...]
    cost: Cost


@dataclass(frozen=True, slots=True)
class Astray:
    """A vector that is not what the model makes of its text: so far off, in cosine distance."""

    asked: Asked
    distance: float


@dataclass(frozen=True, slots=True)
class Compared:
    """A sample that was embedded: how many of its texts the cache has, and what is astray there and in the index."""

    sampled: int
    held: int
    cache: tuple[Astray, ...]
    index: tuple[Astray, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """Every entry, looked at: how many, and those that count as absent."""

    entries: int
    damaged: tuple[Kept, ...]


def check(assembly: Assembly) -> Checked:
    """Look at every entry. O(cache)."""
    entries, damaged = 0, []
    with opened(assembly, readonly=True) as cache:
        for kept in cache.entries():
            entries += 1
            if kept.problem is not None:
                damaged.append(kept._replace(vector=b""))
    return Checked(entries, tuple(damaged))


def draw(assembly: Assembly, reader: Reader, count: int) -> Sample:
    """`count` texts that the index holds, fewer if it has no more. O(all text) of the index, and no embedding."""
    today, who = clock.today(), assembly.embedder_identity
    known = (each for each in asked(assembly, reader) if each.model_input)
    drawn = heapq.nsmallest(count, known, key=lambda asked: hash_fields("sample", today, asked.key))
    return Sample(
        tuple(drawn),
        cost(
            [asked.tokens for asked in drawn],
            cached=0,
            batch_size=assembly.config.embedding.batch_size,
            probe_texts=0,
            local=who.local,
            price=assembly.config.price_of(who.model_id),
            counted_by=assembly.cutter.counted_by,
        ),
    )


def compare(assembly: Assembly, reader: Reader, sample: Sample, told: Told) -> Compared:
    """Embed the sample, and compare with what the cache and the index hold. Raises `EmbeddingError`."""
    keys = [asked.key for asked in sample.asked]
    space = assembly.cutter.space
    with opened(assembly, readonly=True) as cache:
        cached = cache.get(keys, space.dimensions)
    with adapter("reading the index"):
        indexed = reader.vectors(space, keys)
    now = _embedded(assembly, sample, told)
    return Compared(len(keys), len(cached), tuple(_astray(sample, now, cached)), tuple(_astray(sample, now, indexed)))


def asked(assembly: Assembly, reader: Reader) -> Iterator[Asked]:
    """Every embedded text of the index, once; documents whose rows are damaged are `steadlith verify`'s matter."""
    seen: set[Digest] = set()
    with adapter("reading the index"):
        for document in reader.documents():
            try:
                wanted = as_recorded(assembly, reader, document)
            except SourceError:
                continue
            for chunk in wanted.chunks:
                if chunk.vector_key is not None and chunk.vector_key not in seen:
                    seen.add(chunk.vector_key)
                    yield Asked(chunk.vector_key, chunk.model_input, chunk.tokens, document.id)


def _embedded(assembly: Assembly, sample: Sample, told: Told) -> Mapping[Digest, Vector]:
    now: dict[Digest, Vector] = {}
    size, dimensions = assembly.config.embedding.batch_size, assembly.cutter.space.dimensions
    for start in range(0, len(sample.asked), size):
        some = sample.asked[start : start + size]
        with adapter("embedding the sample"):
            answer = assembly.embedder.embed_documents([asked.model_input for asked in some])
        if found := answer_problems(len(some), dimensions, answer):
            raise EmbeddingError("the embedder's answer: " + "; ".join(found))
        now |= {asked.key: vec.unit(vector) for asked, vector in zip(some, answer, strict=True)}
        told(len(now), len(sample.asked))
    return now


def _astray(sample: Sample, now: Mapping[Digest, Vector], held: Mapping[Digest, Vector]) -> Iterator[Astray]:
    for asked in sample.asked:
        if asked.key in held:
            distance = 1.0 - vec.cosines([vec.unit(held[asked.key])], now[asked.key])[0]
            if distance > PROBE_TOLERANCE:
                yield Astray(asked, distance)
