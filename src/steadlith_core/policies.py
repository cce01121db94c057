"""Policies: what cuts a text, and what measures it. The ports that do no I/O.

1. Both are pure, immutable and thread-safe; only their factories may look at a file.
2. What a policy or a measure does is decided by its id and its parameters, which are part of every chunk's identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from steadlith_core.ports import Settings
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText


class Chunker(Protocol):
    """A chunking policy with fixed parameters: pure, immutable, thread-safe."""

    @property
    def id(self) -> str:
        """Versioned name; part of every chunk's identity."""
        ...

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """Exactly the parameters that this policy uses, defaults made explicit; part of the identity."""
        ...

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002
        """Chunks in source order, and findings (place is left empty: the caller knows which document it is)."""
        ...


class CutTexts(Protocol):
    """Documents that were cut together, counted from 0 in the order they were given in."""

    def __len__(self) -> int: ...

    def title(self, document: int) -> str:
        """Title of its first heading that has one, else empty."""
        ...

    def chunks(self, document: int) -> tuple[Chunk, ...]:
        """As `Chunker.cut` gives them; made when asked for."""
        ...

    def findings(self, document: int) -> tuple[Finding, ...]:
        """As `Chunker.cut` gives them."""
        ...


class BatchChunker(Chunker, Protocol):
    """A policy that is faster with many documents than with each of them. What it makes of one is the same."""

    def cut_many(self, texts: Sequence[CanonicalText], format: Format) -> Iterator[CutTexts]:  # noqa: A002
        """All documents in order, as many together as it likes."""
        ...


class ChunkerFactory(Protocol):
    """Makes chunkers from configuration."""

    def build(self, settings: Settings) -> Chunker:
        """A chunker, or `ConfigError` naming key, value and choices."""
        ...


class Measure(Protocol):
    """How large a text is: what a chunker's sizes are counted in. Pure, immutable, thread-safe."""

    @property
    def id(self) -> str:
        """What counts, down to its vocabulary; part of the identity of every chunk cut by it."""
        ...

    def cumulative(self, data: bytes) -> NDArray[np.int64]:
        """Units of 1/32 token before every byte of a whole document's canonical text, and before its end.

        `len(data) + 1` numbers from 0 on, never decreasing; a range's size is the difference of two. Called once a
        document; the same bytes always give the same numbers.
        """
        ...


class TokenizerFactory(Protocol):
    """Makes measures from configuration."""

    def build(self, settings: Settings, *, root: str) -> Measure:
        """A measure over `settings`, files relative to the folder `root`. Never asks the network.

        Raises `ConfigError`, also when an extra is missing or a file cannot be used.
        """
        ...
