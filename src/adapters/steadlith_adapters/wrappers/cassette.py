"""Embedder `cassette`: answers that were recorded once are played back, so that CI needs no key and no network.

1. A recorder stands before a real embedder and keeps what it answers; `dump` gives the file's bytes.
2. Playing back calls nobody. A text that was never recorded is an error that says so, never a made-up vector.
3. The identity is the recorded embedder's own, so plans, cache keys and roots are those of the real model.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.wrappers.cassettes import Cassette
from steadlith_core.errors import CacheFileError, ConfigError, EmbeddingError, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.wrappers.cassettes import Side
    from steadlith_core.ports import Embedder, EmbedderIdentity, Settings
    from steadlith_core.vectors import Vector


class RecordingEmbedder:
    """Passes every call on, and keeps the answers."""

    def __init__(self, inner: Embedder, identity: EmbedderIdentity) -> None:
        self._inner = inner
        self._cassette = Cassette(identity)
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See `Embedder.embed_documents`."""
        answers = self._inner.embed_documents(texts)
        if len(answers) == len(texts):  # anything else is no answer, and the caller says so
            self._keep("document", texts, answers)
        return answers

    def embed_query(self, text: str) -> Vector:
        """See `Embedder.embed_query`."""
        answer = self._inner.embed_query(text)
        self._keep("query", [text], [answer])
        return answer

    def dump(self) -> bytes:
        """The cassette's bytes. Raises `CacheFileError` if a vector among them has no direction."""
        with self._lock:
            return self._cassette.dump()

    def _keep(self, side: Side, texts: Sequence[str], answers: Sequence[Vector]) -> None:
        with self._lock:
            for text, answer in zip(texts, answers, strict=True):
                self._cassette.answers.setdefault(self._cassette.key(side, text), answer)


class PlayingEmbedder:
    """Answers from a cassette; `place` is how messages call it. Thread-safe: nothing changes."""

    def __init__(self, cassette: Cassette, place: str) -> None:
        self._cassette = cassette
        self._place = place

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """See `Embedder.embed_documents`."""
        most = self._cassette.identity.max_bytes
        long = [] if most is None else [at for at, text in enumerate(texts) if len(_utf8(text)) > most]
        if long:
            message = f"{len(long)} of {len(texts)} texts are longer than {most} bytes, which the embedder refuses"
            raise EmbeddingError(message, failure=Failure.INPUT, inputs=long)
        return [self._answer("document", text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """See `Embedder.embed_query`."""
        return self._answer("query", text)

    def _answer(self, side: Side, text: str) -> Vector:
        key = self._cassette.key(side, text)
        found = self._cassette.answers.get(key)
        if found is None:
            raise EmbeddingError(
                f"{self._place}: no answer of {self._cassette.identity.model_id!r} to this {side} is recorded "
                f"({len(_utf8(text))} bytes, {key.short}); record the cassette again with what is asked for now"
            )
        return found


class CassetteFactory:
    """Plays back the cassette at `path`."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Whose answers they are."""
        return self._read(settings)[0].identity

    def build(self, settings: Settings) -> PlayingEmbedder:
        """Nothing is called, and nothing needs a key."""
        return PlayingEmbedder(*self._read(settings))

    def _read(self, settings: Settings) -> tuple[Cassette, str]:
        table = Table("embedder 'cassette'", settings)
        table.only("path")
        path = table.text("path", "embeddings.cassette")
        try:
            return Cassette.load(Path(path).read_bytes()), path
        except (OSError, CacheFileError) as error:
            message = f"embedder 'cassette': path = {path!r} cannot be played: {error}"
            raise ConfigError(message) from error


FACTORY = CassetteFactory()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
