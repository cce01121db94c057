"""Relexing: an index whose lexical rows another tokeniser made, which only a write that makes them all anew sets right.

1. Such rows cannot be judged by this release, so what it finds wrong with them is no damage.
2. The write that records the new tokeniser believes nothing that can be made anew, and puts every node of the trie.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.records import DriftKind
from steadlith_core.rows import TrieRow
from steadlith_core.state.moving import build
from steadlith_core.state.trie import document_key
from steadlith_core.text.query import LEXICAL_SEGMENTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.records import Recipe
    from steadlith_core.rows import Problem, RecordedDocument
    from steadlith_core.state.moving import Moved


LEXICAL_ID = f"porter-unicode61+{LEXICAL_SEGMENTER}"
"""How texts become terms: the tokeniser's name and the segmenter that runs before it."""


def is_due(was: Recipe | None) -> bool:
    """Whether the rows are another tokeniser's."""
    return was is not None and was.lexical_id != LEXICAL_ID


def judged(found: Iterable[Problem], was: Recipe | None) -> Iterator[Problem]:
    """The problems that this release can judge (rule 1)."""
    due = is_due(was)
    return (problem for problem in found if not due or problem.kind is not DriftKind.LEXICAL)


def from_rows(documents: Iterable[RecordedDocument], changes: Mapping[Digest, TrieRow | None]) -> Moved:
    """The trie of these documents after `changes`, built from nothing: every node is put."""
    rows: dict[Digest, TrieRow | None] = {}
    for document in documents:
        key = document_key(document.id)
        rows[key] = TrieRow(key, document.root, document.source_digest)
    before = build(row for row in rows.values() if row is not None)
    after = build(row for row in {**rows, **changes}.values() if row is not None)
    return replace(after, before=before.after)
