"""What a plan comes to: the head that it leads to, which documents go on elsewhere, and what its guards judge.

1. A vanished document went on if at least half of its chunks did, or if a configured move says so: one boilerplate
   chunk in another document is no continuation.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steadlith_core.planning.guards import Losses
from steadlith_core.planning.plan import Target
from steadlith_core.state.roots import corpus_root, sources_root, state_root

if TYPE_CHECKING:
    from steadlith_core.digest import Digest
    from steadlith_core.planning.matching import Matching
    from steadlith_core.planning.world import World
    from steadlith_core.records import DocumentId, Recipe


def target(world: World) -> Target:
    """What the head will be."""
    after = world.moved.after
    corpus = corpus_root(after.count, after.digest, normalizer_id=world.recipe.normalizer_id)
    touched = (document.chunk_count for document in world.recorded.values())
    wanted = (len(document.chunks) for document in world.wanted.values())
    chunks = world.total_chunks - sum(touched) + sum(wanted)
    return Target(corpus, state_root(corpus, world.recipe), sources_root(after), after.count, chunks)


def origin(world: World, id: DocumentId, matching: Matching) -> DocumentId | None:  # noqa: A002
    """The vanished document that a new one continues: the one that gave most of its occurrences, if that is at least
    half of what either of the two has. Ties go to the smallest id.
    """
    named = matching.named.get(id)
    if named is not None:
        return named
    matches = matching.matches[id]
    given = Counter(found.origin for found in matches if found is not None and found.origin in world.vanished)
    most = min(given, key=lambda old: (-given[old], old), default=None)
    if most is None or 2 * given[most] < min(len(matches), len(world.chunks[most])):
        return None
    return most


def models(recipe: Recipe) -> tuple[tuple[str, Digest, int], ...]:
    """Whose vectors a recipe's spaces keep, however they keep them."""
    return tuple(space.vectors_of for space in recipe.spaces)


def losses(world: World, matching: Matching) -> Losses:
    """What the guards judge."""
    was = world.head.recipe
    changed = None
    if was is not None and world.documents and models(was) != models(world.recipe):
        old, new = was.spaces[0], world.recipe.spaces[0]
        changed = (
            f"the embedding model changes from {old.model_id} ({old.dimensions} dimensions) to {new.model_id} "
            f"({new.dimensions} dimensions): every chunk is embedded anew"
        )
    given = Counter(
        found.origin
        for matches in (matching.matches.values() if world.vanished else ())
        for found in matches
        if found is not None and found.origin in world.vanished
    )
    continued = {id_ for id_, count in given.items() if 2 * count >= len(world.chunks[id_])}
    return Losses(
        documents=world.documents,
        chunks=world.total_chunks,
        folders=world.folders,
        continued=frozenset(continued.union(matching.named.values())),
        wanted_sources=frozenset(id_.source for id_ in world.wanted),
        model_changed=changed,
        left_out=world.left_out,
        replaced=world.replaced,
        read=world.wanted.keys(),
    )
