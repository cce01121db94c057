"""Gathering what an explanation needs: the plan's world again, with the texts of the one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import paid
from steadlith.border import adapter
from steadlith_core.errors import UsageError
from steadlith_core.planning.explain import explain
from steadlith_core.records import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection

    from steadlith.books import Books
    from steadlith_core.planning.explain import Explanation
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.planning.wanted import WantedDocument
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
    """A plan, and why it changes one document as it does; no explanation if it does not change it.

    `goes_on_as` are the documents that a removed one goes on as; `unread` if its source cannot be used just now.
    """

    plan: Plan
    id: DocumentId
    explanation: Explanation | None
    goes_on_as: tuple[DocumentId, ...] = ()
    unread: bool = False


def explained(books: Books, world: World, plan: Plan, id: DocumentId) -> Explained:  # noqa: A002
    """Explain what `plan`, which was made of `world`, does to a document. Raises `UsageError` if nobody knows it."""
    change = next((change for change in plan.changes if change.id == id), None)
    unread = any(finding.place == str(id) for finding in world.findings)
    with adapter("reading the index"):
        if change is None and not unread and not books.index.find([id]):
            raise UsageError(f"{id}: no source lists it, and the index does not have it")
    goes_on_as = tuple(other.id for other in plan.changes if other.origin == id)
    return Explained(plan, id, _explanation(books, world, change) if change else None, goes_on_as, unread)


def _explanation(books: Books, world: World, change: DocumentChange) -> Explanation:
    before = change.origin or change.id
    chunks = world.chunks.get(before, ())
    wanted = world.wanted.get(change.id)
    keys = sorted({chunk.vector_key for chunk in (wanted.chunks if wanted else ()) if chunk.vector_key is not None})
    with adapter("reading the index"):
        texts = books.index.texts(sorted({chunk.text_hash for chunk in chunks}))
        space = world.recipe.spaces[0]
        in_cache = books.cache.contains(keys, space.dimensions) if books.cache else frozenset()
        in_index = paid.held(books.index, space, keys)
    recorded = [(chunk, texts.get(chunk.text_hash, "")) for chunk in chunks]
    return explain(change, recorded, wanted, in_cache, in_index, _metadata(world, before, wanted))


def _metadata(world: World, before: DocumentId, wanted: WantedDocument | None) -> tuple[str, ...]:
    """The metadata that a document has other than it is recorded."""
    recorded = world.recorded.get(before)
    if recorded is None or wanted is None:
        return ()
    was, now = recorded.metadata, wanted.metadata
    return tuple(key for key in sorted({*was, *now}) if was.get(key) != now.get(key))
