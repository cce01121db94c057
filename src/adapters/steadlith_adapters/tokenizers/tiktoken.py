"""Measure `tiktoken`: byte-pair encodings of OpenAI from a local rank file (extra `tiktoken`).

1. The identity is the name of the encoding, which says how text is split into words, and the digest of the file.
2. The encoding is built here from file and pattern. `tiktoken.get_encoding` would download and cache files: never used.
3. A document is encoded as a whole; what looks like a special token in it is ordinary text.
4. A token counts at its first byte, which may stand inside a code point.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

import numpy as np

from steadlith_adapters.settings import Table
from steadlith_adapters.tokenizers.counting import units_before
from steadlith_adapters.tokenizers.reading import read
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from tiktoken import Encoding

    from steadlith_core.ports import Settings

_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

PATTERNS: Mapping[str, str] = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": _O200K,
    "p50k_base": _GPT2,
    "r50k_base": _GPT2,
}
"""How an encoding splits text into words before it pairs bytes, as the library's own definitions have it."""

MOST = 2**24
"""The highest rank: a table of lengths as long as this is kept."""


class TiktokenMeasure:
    """Counts with one encoding."""

    def __init__(self, encoding: Encoding, ranks: Mapping[bytes, int], id: str) -> None:  # noqa: A002
        self._encoding = encoding
        self._id = id
        self._lengths = np.zeros(max(ranks.values()) + 1, dtype=np.int64)
        self._lengths[list(ranks.values())] = [len(token) for token in ranks]

    @property
    def id(self) -> str:
        """The encoding's name and the digest of its file."""
        return self._id

    def cumulative(self, data: bytes) -> NDArray[np.int64]:
        """Units of 1/32 token before every byte."""
        lengths = self._lengths[np.array(self._encoding.encode_ordinary(data.decode()), dtype=np.int64)]
        return units_before(np.cumsum(lengths) - lengths, len(data))


class TiktokenFactory:
    """Makes measures from rank files."""

    def build(self, settings: Settings, *, root: str) -> TiktokenMeasure:
        """The encoding `encoding` (default `cl100k_base`) with the ranks that `file` holds."""
        table = Table("tokenizer 'tiktoken'", settings)
        table.only("encoding", "file")
        name = table.text("encoding", "cl100k_base")
        if name not in PATTERNS:
            raise table.wrong("encoding", name, f"one of {', '.join(PATTERNS)}")
        vocabulary = read(table, root)
        ranks = _ranks(vocabulary.data, table)
        try:
            from tiktoken import Encoding
        except ImportError as error:
            raise ConfigError(
                "tokenizer 'tiktoken' needs the package 'tiktoken', which is not installed: "
                "pip install 'steadlith[tiktoken]', or leave the setting out: sizes are estimated then"
            ) from error
        encoding = Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
        return TiktokenMeasure(encoding, ranks, f"tiktoken:{name}:{vocabulary.digest}")


def _ranks(data: bytes, table: Table) -> dict[bytes, int]:
    """The lines of a rank file: a token in base64, a space, its rank. What the library would die of is refused."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if line:
            try:
                token, rank = line.split()
                ranks[binascii.a2b_base64(token, strict_mode=True)] = int(rank)
            except ValueError as error:
                expected = f"a file of lines of a token in base64 and a rank (line {number}: {line[:40]!r})"
                raise table.wrong("file", table.values["file"], expected) from error
    if len({*ranks.values()}) < len(ranks) or not all(0 <= rank <= MOST for rank in ranks.values()):
        raise table.wrong("file", table.values["file"], f"a rank of its own, from 0 to {MOST}, for every token")
    if not {bytes([byte]) for byte in range(256)} <= ranks.keys():
        raise table.wrong("file", table.values["file"], "a rank for each of the 256 bytes")
    return ranks


FACTORY = TiktokenFactory()
