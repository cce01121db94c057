"""Gathering what an explanation needs: the plan's world again, with the texts of the one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import UsageError
from steadlith_core.planning.explain import explain
from steadlith_core.records import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection

    from steadlith.books import Books
    from steadlith_core.planning.explain import Explanation
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.planning.world import World


def document_id(name: str, sources: Collection[str]) -> DocumentId:
    """The document that a person names: `SOURCE:PATH`, or `PATH` alone where there is one source."""
    source, colon, path = name.partition(":")
    if colon and source in sources and path:
        return DocumentId(source, path)
    if len(sources) == 1 and name:
        return DocumentId(next(iter(sources)), name)
    names = ", ".join(f"{source}:PATH" for source in sources)
    raise UsageError(f"{name!r} names no document: say which source it is of ({names})")


@dataclass(frozen=True, slots=True)
class Explained:
    """A plan, and why it changes one document as it does; no explanation if it does not change it."""

    plan: Plan
    id: DocumentId
    recorded: bool
    explanation: Explanation | None


def explained(books: Books, world: World, plan: Plan, id: DocumentId) -> Explained:  # noqa: A002
    """Explain what `plan`, which was made of `world`, does to a document."""
    with adapter("reading the index"):
        recorded = bool(books.index.find([id]))
    change = next((change for change in plan.changes if change.id == id), None)
    return Explained(plan, id, recorded, _explanation(books, world, change) if change else None)


def _explanation(books: Books, world: World, change: DocumentChange) -> Explanation:
    id = change.id  # noqa: A001
    chunks = world.chunks.get(id, ())
    wanted = world.wanted.get(id)
    keys = sorted({chunk.vector_key for chunk in (wanted.chunks if wanted else ()) if chunk.vector_key is not None})
    with adapter("reading the index"):
        texts = books.index.texts(sorted({chunk.text_hash for chunk in chunks}))
        in_cache = books.cache.contains(keys) if books.cache else frozenset()
        in_index = books.index.held(world.recipe.spaces[0], keys)
    recorded = [(chunk, texts.get(chunk.text_hash, "")) for chunk in chunks]
    return explain(change, recorded, wanted, in_cache, in_index)
