"""Who turns texts into vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.ports.settings import Settings
    from steadlith_core.vectors import Vector


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Who makes the vectors and how, known without building the model.

    `model_id` names provider, model and revision. `document_params` holds what else changes a document's vector
    (`dimensions`, always; pooling, normalisation, prefix, truncation). `max_tokens` is the longest input, if there is
    one.
    `max_bytes` is the longest in UTF-8 bytes; `embed_documents` refuses a longer one, so planning keeps it out.
    `local` says that no one charges for it.
    """

    model_id: str
    dimensions: int
    document_params: Mapping[str, str | int | bool | None]
    max_tokens: int | None = None
    max_bytes: int | None = None
    local: bool = False


class Embedder(Protocol):
    """Turns texts into vectors. Documents and queries may be treated differently. Must be thread-safe."""

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector per text, in order, each 4 x dimensions bytes (`vectors.pack`). Never called with no text.

        Raises `EmbeddingError`, which says whether it may pass (`Failure.TRANSIENT`, then the engine makes the whole
        call again after a while), or is due to one of the texts (`Failure.INPUT`, then the others are asked for again).
        An embedder neither waits nor tries again itself. Calling twice with the same text may cost twice; the engine
        does so only after a failure.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of one query; any text, also one that was no UTF-8 where it came from (lone surrogates)."""
        ...


class EmbedderFactory(Protocol):
    """Makes embedders from configuration."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Identity from settings and installed files alone. Raises `ConfigError`, also when an extra is missing."""
        ...

    def build(self, settings: Settings) -> Embedder:
        """Load the model or open the client; called only when something must be embedded or searched."""
        ...
