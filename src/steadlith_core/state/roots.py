"""Both roots: which content (`corpus_root`) and which index (`state_root`), and the head of an absent index.

1. `corpus_root` depends on documents, their chunks and metadata, and nothing else (invariant 6).
2. `state_root` adds what a search depends on: spaces, lexical arm and template.
3. Neither is a signature, and hashes of short texts reveal them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import IDENTITY_SCHEMA, Head
from steadlith_core.state.trie import EMPTY_TRIE_ROOT
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from steadlith_core import canon
    from steadlith_core.records import Recipe, Space
    from steadlith_core.rows import TrieNode


def space_id(space: Space) -> Digest:
    """H[space]: the identity of an embedding space (format.md 6.3)."""
    return hash_fields("space", space.model_id, space.params_hash, space.dimensions, space.quantization)


def corpus_root(document_count: int, trie_root: Digest, *, normalizer_id: str = NORMALIZER_ID) -> Digest:
    """H[corpus] (format.md 6.1)."""
    return hash_fields("corpus", IDENTITY_SCHEMA, normalizer_id, document_count, trie_root)


def state_root(corpus: Digest, recipe: Recipe | None) -> Digest:
    """H[state] (format.md 6.2); without a recipe there are no spaces, no lexical arm and no template."""
    if recipe is None:
        return hash_fields("state", corpus, [], None, None)
    spaces: list[canon.Value] = [[space_id(space), space.dimensions, space.quantization] for space in recipe.spaces]
    return hash_fields("state", corpus, spaces, recipe.lexical_id, recipe.template_id)


def sources_root(top: TrieNode) -> Digest:
    """H[sources]: one digest of the exact bytes of every document's source (format.md 6.4)."""
    return hash_fields("sources", top.count, top.sources)


def empty_head() -> Head:
    """The head of a store that nobody has committed to: lineage none, generation 0, the empty roots."""
    corpus = corpus_root(0, EMPTY_TRIE_ROOT)
    return Head(None, 0, corpus, state_root(corpus, None), None, None, 0, 0)
