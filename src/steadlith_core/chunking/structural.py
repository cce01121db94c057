"""The default policy `structural/1`: content-defined and structure-first (DESIGN 5; docs/chunking.md for people).

1. A document that fits the maximum and the byte cap is one chunk; one without solid text has none.
2. Chunks are in source order, do not overlap, and leave out white space only.
3. Every chunk of a larger document lies within [minimum, maximum]; excepted are runs without a permitted cut that weigh
   more than `SLACK` tokens with the white space around them, and cuts forced by the byte cap.
4. `headings` is the path in force at the chunk's first line that is no heading: a chunk that starts with a chain of
   headings has all of them in its path, as far as the chain lies in the chunk.
5. The parameters are exactly what can move a cut.
6. Documents are cut together, arena by arena; what comes out does not depend on which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith_core.chunking.settings import PolicyFactory
from steadlith_core.errors import ConfigError
from steadlith_core.text.tokens import ESTIMATOR_ID, UNIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.chunking.cuts import Cuts
    from steadlith_core.policies import ChunkerFactory, Measure
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

__all__ = ["FACTORY", "POLICY_ID", "StructuralChunker"]

POLICY_ID = "structural/1"

MIN_TOKENS = 160
MAX_TOKENS = 480
"""Chosen by churn and retrieval together (docs/adr/0007-default-sizes.md); many models read 512 and no more."""

SLACK = 8
"""With maximum >= 2 x minimum + SLACK a span over the maximum has a stretch this long where cuts leave both minima."""

BYTES_PER_TOKEN = 16
"""Of the default byte cap. Prose has four to five, so the cap bites only where the estimate is far too low."""

LEAST_BYTES_PER_TOKEN = 4
"""Of any byte cap: a lower one would be the maximum in disguise, and no size of any text would be kept."""


@dataclass(frozen=True, slots=True)
class StructuralChunker:
    """Chunks of `min_tokens` to `max_tokens` estimated tokens and at most `max_bytes` bytes of canonical UTF-8."""

    min_tokens: int = MIN_TOKENS
    max_tokens: int = MAX_TOKENS
    max_bytes: int = MAX_TOKENS * BYTES_PER_TOKEN
    measure: Measure | None = None
    """An exact tokeniser; without one sizes are estimates."""

    def __post_init__(self) -> None:
        if self.min_tokens < 1:
            raise ConfigError(f"min_tokens = {self.min_tokens}: a chunk has at least 1 token")
        least = 2 * self.min_tokens + SLACK
        if self.max_tokens < least:
            raise ConfigError(
                f"max_tokens = {self.max_tokens}: at least 2 x min_tokens + {SLACK} = {least} is needed, "
                "or a chunk over the maximum could not be cut into two over the minimum"
            )
        least = self.max_tokens * LEAST_BYTES_PER_TOKEN
        if self.max_bytes < least:
            raise ConfigError(
                f"max_bytes = {self.max_bytes}: at least {LEAST_BYTES_PER_TOKEN} x max_tokens = {least} is needed, "
                "or the byte cap would cut ordinary text"
            )

    @property
    def id(self) -> str:
        """Versioned name of the policy."""
        return POLICY_ID

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The three sizes, and what measures them: the estimator, or an exact tokeniser down to its vocabulary."""
        return {
            "estimator": ESTIMATOR_ID if self.measure is None else self.measure.id,
            "max_bytes": self.max_bytes,
            "max_tokens": self.max_tokens,
            "min_tokens": self.min_tokens,
        }

    def measured_by(self, measure: Measure) -> StructuralChunker:
        """The same policy with its sizes counted by an exact tokeniser."""
        return replace(self, measure=measure)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002
        """The chunks of a document's body, and one finding for every run that may not be cut and is too large."""
        (cuts,) = self.cut_many([text], format)
        return cuts.chunks(0), cuts.findings(0)

    def cut_many(self, texts: Sequence[CanonicalText], format: Format) -> Iterator[Cuts]:  # noqa: A002
        """The chunks of all `texts` in order, as many documents together as an arena holds."""
        from steadlith_core.chunking import arena, structure, tree
        from steadlith_core.chunking.cuts import Cuts

        limits = tree.Limits(self.min_tokens * UNIT, self.max_tokens * UNIT, self.max_bytes)
        for group in arena.groups(len(text.data) for text in texts):
            packed = arena.pack(texts[group], self.measure)
            read = structure.read(packed, format)
            yield Cuts(texts[group], packed, read, tree.cut(packed, read.places, limits), limits)


def _sized(
    min_tokens: int = MIN_TOKENS, max_tokens: int = MAX_TOKENS, max_bytes: int | None = None
) -> StructuralChunker:
    return StructuralChunker(min_tokens, max_tokens, max_tokens * BYTES_PER_TOKEN if max_bytes is None else max_bytes)


FACTORY: ChunkerFactory = PolicyFactory(POLICY_ID, _sized, ("min_tokens", "max_tokens", "max_bytes"))
"""From the table `[chunking]`; every key is optional. Without `max_bytes` the cap follows the maximum."""
