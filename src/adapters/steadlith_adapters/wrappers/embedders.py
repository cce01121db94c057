"""An embedder with something round its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.calls import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.ports import Embedder
    from steadlith_core.vectors import Vector

PORT = "embedder"


class WrappedEmbedder:
    """The methods of `ports.Embedder`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Embedder, around: Around) -> None:
        self._inner = inner
        self._around = around

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See `Embedder.embed_documents`."""
        call = Call(PORT, "embed_documents", {"texts": texts})
        return self._around(call, lambda: self._inner.embed_documents(texts))

    def embed_query(self, text: str) -> Vector:
        """See `Embedder.embed_query`."""
        return self._around(Call(PORT, "embed_query", {"text": text}), lambda: self._inner.embed_query(text))
