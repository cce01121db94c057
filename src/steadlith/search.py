"""Search: both arms, fusion, and occurrences with exact spans, all in one snapshot.

1. One snapshot answers the whole query: no arm sees another generation than the next.
2. A filter is applied before an arm cuts anything off: who asks for ten in a folder gets ten, if it has them.
3. `limit` counts hits; a limit out of range is an error, an empty or hostile query is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.asking import asked
from steadlith.border import adapter
from steadlith.scope import allows
from steadlith_core import vectors
from steadlith_core.errors import UsageError
from steadlith_core.retrieval.fusion import additive
from steadlith_core.text.query import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Span
    from steadlith_core.rows import OccurrenceHit

MAX_LIMIT = 200
CANDIDATES_PER_HIT = 5
LEAST_CANDIDATES = 50
MAX_QUERY = 4096
"""Code points of a query that the model reads; the lexical arm has a limit of its own."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence that answers a query.

    `span` refers to the bytes of the source whose digest is `source_digest`; `text` is canonical and equals the
    fragment of those bytes. `score` is the fused score; `dense` a cosine, `lexical` the store's score, none where that
    arm had nothing to say. `parent` is the text of the chunk that it is a part of, if there is one and texts of parents
    were asked for.
    """

    document: DocumentId
    title: str
    headings: tuple[str, ...]
    span: Span
    text: str
    score: float
    dense: float | None
    lexical: float | None
    chunk_hash: Digest
    source_digest: Digest
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one query, best first, and the generation that gave them. `note` says if another configuration than
    expected embedded the query.
    """

    query: str
    generation: int
    hits: tuple[Hit, ...]
    note: str | None = None


def search(
    assembly: Assembly,
    reader: Reader,
    query: str,
    *,
    limit: int,
    parents: bool = False,
    places: Sequence[str] = (),
    exact: bool = False,
    history: Callable[[], Sequence[Generation]] = tuple,
) -> Answer:
    """Answer one query from the documents in `places` (all, if there is none), with the texts of parents if asked.

    `exact` lets no store approximate. The `history` is asked where the configuration may not do (`asking`). Raises
    `UsageError` for a limit outside 1 to 200 or a place that cannot be, `ConfigError` where nothing here embeds as the
    reader's generation was embedded, `GenerationGone` for one that the store does not search.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise UsageError(f"limit = {limit}: choose from 1 to {MAX_LIMIT}")
    words = terms(query)
    if not query.strip():
        allows(places, tuple(assembly.config.sources), "--in")  # a place that cannot be is one whatever is asked
        return Answer(query, reader.generation, ())
    under = asked(assembly, reader, history)
    assembly, recipe = under.assembly, under.state.recipe
    is_in = allows(places, tuple(assembly.config.sources), "--in")
    if recipe is None or under.state.chunks == 0:
        return Answer(query, reader.generation, ())
    space = recipe.spaces[0]
    candidates = max(LEAST_CANDIDATES, limit * CANDIDATES_PER_HIT)
    with adapter("embedding the query"):
        vector = vectors.unit(assembly.embedder.embed_query(_readable(query)))
    with adapter("searching the index"):
        ids = [document.id for document in reader.documents() if is_in(document.id)] if places else None
        among = None if ids is None else reader.within(ids)
        dense = reader.dense(space, vector, candidates, among, exact=exact)
        lexical = reader.lexical(words, candidates, among) if words else ()
        only_lexical = sorted({hit.entry for hit in lexical} - {hit.entry for hit in dense})
        fused = additive(dense, lexical, reader.cosines(space, vector, only_lexical))
        best = fused[:limit]  # every one of them has at least one occurrence, in these documents
        found = reader.occurrences([hit.entry for hit in best], limit, ids)
        ranks = {hit.entry: rank for rank, hit in enumerate(best)}
        rows = sorted(found, key=lambda row: (ranks[row.entry], row.id, row.position))[:limit]
        above = _parents(reader, rows) if parents else {}
    hits = [
        Hit(
            row.id,
            row.title,
            row.headings,
            row.span,
            row.text,
            best[ranks[row.entry]].score,
            best[ranks[row.entry]].dense,
            best[ranks[row.entry]].lexical,
            row.chunk_hash,
            row.source_digest,
            above.get(row.occurrence),
        )
        for row in rows
    ]
    return Answer(query, reader.generation, tuple(hits), under.note)


def _parents(reader: Reader, rows: Sequence[OccurrenceHit]) -> Mapping[int, str]:
    """The text of the parent of each occurrence that has one; O(chunks of their documents)."""
    parts = [row for row in rows if row.parent >= 0]
    documents = {row.id: reader.chunks(row.id) for row in parts}
    above = {row.occurrence: documents[row.id][row.parent].text_hash for row in parts}
    texts = reader.texts(sorted(set(above.values())))
    return {occurrence: texts[text_hash] for occurrence, text_hash in above.items()}


def _readable(query: str) -> str:
    """What a model is given of a query: no lone surrogates (from bytes that are no UTF-8), and not without end."""
    return query[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8")
