"""A dry run of an embedder: no call is made, no model is loaded, and the vectors mean nothing.

1. A text's vector follows from the text alone: equal texts are near, all others are far from one another.
2. The vectors are never taken for the model's: the identity names another model, `dry-run/` and the real one's name, so
   that no cache and no index mixes them up, even one that is kept.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import shake_256
from typing import TYPE_CHECKING

from steadlith_core import vectors
from steadlith_core.errors import EmbeddingError, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import EmbedderFactory, EmbedderIdentity, Settings
    from steadlith_core.vectors import Vector

PREFIX = "dry-run/"


class DryRunEmbedder:
    """Refuses what the real one would; of everything else it makes something up. Stateless, so thread-safe."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        self._identity = identity

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See `Embedder.embed_documents`."""
        most = self._identity.max_bytes
        long = [] if most is None else [at for at, text in enumerate(texts) if len(_utf8(text)) > most]
        if long:
            message = f"{len(long)} of {len(texts)} texts are longer than {most} bytes, which the embedder refuses"
            raise EmbeddingError(message, failure=Failure.INPUT, inputs=long)
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """See `Embedder.embed_query`."""
        # No number is zero, so no vector is.
        numbers = shake_256(_utf8(text)).digest(self._identity.dimensions)
        return vectors.unit(vectors.pack([number - 127.5 for number in numbers]))


class DryRunEmbedders:
    """Makes dry runs of what another factory makes; that one is asked for its identity alone."""

    def __init__(self, inner: EmbedderFactory) -> None:
        self._inner = inner

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """See `EmbedderFactory.describe`."""
        identity = self._inner.describe(settings)
        return replace(identity, model_id=PREFIX + identity.model_id, local=True)

    def build(self, settings: Settings) -> DryRunEmbedder:
        """See `EmbedderFactory.build`."""
        return DryRunEmbedder(self.describe(settings))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
