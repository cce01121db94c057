"""The words of a text as a tsvector, made here: the server's own parser and dictionaries take no part.

1. Words are those of the SQLite store, by the same tokeniser (FTS5's `porter unicode61`): a recipe's lexical identity
   means the same words in every store, whatever a server's configuration or version is.
2. Positions run on through title, headings and body with a gap between them, so that no phrase crosses.
3. What a tsvector cannot hold is left out, by these rules alone: of a word more than WORD_BYTES, of its positions more
   than POSITIONS, a position beyond LAST (it counts as the last one), and words that first appear beyond BUDGET.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any

import apsw

from steadlith_core.text.query import index_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WORD_BYTES = 2000
POSITIONS = 255
LAST = 16_383
BUDGET = 1_000_000
"""Bytes of words and positions that a row may have; the server's limit is 2^20."""
SHORT = WORD_BYTES // 4
"""Characters that never take more than WORD_BYTES."""
FEW = 250
"""Words of a row that need no counting: neither their positions nor their bytes can be too many."""
_COUNT = struct.Struct(">i")
_ONCE = struct.Struct(">BHH")


def stems(text: str) -> list[str]:
    """The words of a text in order, as they are kept."""
    found = _tokeniser()(text.encode("utf-8", "replace"))
    return [word if len(word) <= SHORT else _clipped(word) for word in found]


def row(title: str, headings: Sequence[str], body: str) -> bytes:
    """The words of an entry, in the form in which the server sends and receives a tsvector."""
    return _packed(_placed(title, headings, body))


def places(title: str, headings: Sequence[str], body: str) -> dict[str, list[int]]:
    """The words of an entry with their positions: what `row` packs."""
    return {raw.decode(): held for raw, held in _placed(title, headings, body).items()}


def written(places: Mapping[str, Sequence[int]]) -> str:
    """Words with their positions as the server reads a tsvector that is text."""
    return " ".join(f"'{_quoted(word)}':{','.join(map(str, held))}" for word, held in places.items())


def _placed(title: str, headings: Sequence[str], body: str) -> dict[bytes, list[int]]:
    places: dict[str, list[int]] = {}
    at = 0
    for part in (title, "\n".join(headings), body):
        for word in stems(index_text(part)) if part else ():
            at += 1
            if word in places:
                places[word].append(at)
            else:
                places[word] = [at]
        at += 1
    kept = {word.encode(): held for word, held in places.items()}
    return _cut(kept) if at > FEW else kept


def of_term(term: str) -> list[str]:
    """The words that a term asks for, in a row."""
    return stems(index_text(term))


def query(term: str) -> str:
    """What asks for a term: its words in a row; empty if it has none."""
    return " <-> ".join(f"'{_quoted(word)}'" for word in of_term(term))


def _packed(kept: dict[bytes, list[int]]) -> bytes:
    parts: list[bytes] = [_COUNT.pack(len(kept))]
    for raw in sorted(kept):  # as the server keeps them, so that rows can be compared byte by byte
        held = kept[raw]
        parts.append(raw + (_ONCE.pack(0, 1, held[0]) if len(held) == 1 else _listed(held)))
    return b"".join(parts)


def _listed(positions: list[int]) -> bytes:
    return struct.pack(f">B{1 + len(positions)}H", 0, len(positions), *positions)


def _cut(kept: dict[bytes, list[int]]) -> dict[bytes, list[int]]:
    """What of it a tsvector can hold."""
    left = BUDGET
    cut: dict[bytes, list[int]] = {}
    for raw, held in kept.items():
        some = list(dict.fromkeys(min(position, LAST) for position in held[:POSITIONS]))
        left -= len(raw) + 2 * len(some) + 4
        if left < 0:
            break
        cut[raw] = some
    return cut


def _clipped(word: str) -> str:
    return word.encode()[:WORD_BYTES].decode("utf-8", "ignore")


def _quoted(word: str) -> str:
    return word.replace("\\", "\\\\").replace("'", "''")


@cache
def _tokeniser() -> Callable[[bytes], list[str]]:
    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])

    def tokens(text: bytes) -> list[str]:
        found: Any = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return list(found)

    return tokens
