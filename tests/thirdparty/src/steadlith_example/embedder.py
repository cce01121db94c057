"""Embedder `example`: which runs of three letters a text has. It finds the same words, also with other endings.

1. Equal texts get equal vectors, on every machine: nothing here is random, and nothing depends on other texts.
2. No vector is zero: a text without letters has the run of its own beginning and end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from zlib import crc32

from steadlith_core import vectors
from steadlith_core.errors import ConfigError
from steadlith_core.ports import EmbedderIdentity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import EmbedderFactory, Settings
    from steadlith_core.vectors import Vector

DIMENSIONS = 512


class ExampleEmbedder:
    """Has no state, so threads may share it."""

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector a text, in the order of the texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """A query is treated as a document is."""
        # Not \w and not split(): those follow Python's version of Unicode. surrogatepass: a query may be no UTF-8.
        data = b" " + text.lower().encode("utf-8", "surrogatepass") + b" "
        counts = Counter(crc32(data[at : at + 3]) % DIMENSIONS for at in range(len(data) - 1))
        return vectors.pack([counts[place] for place in range(DIMENSIONS)])


class ExampleEmbedders:
    """Makes them."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Who makes the vectors, and whatever changes one: when any of it changes, everything is embedded again."""
        for key in settings:
            message = f"embedder 'example': unknown setting {key!r} (known: none, it takes no settings)"
            raise ConfigError(message)
        return EmbedderIdentity("example/1", DIMENSIONS, {"dimensions": DIMENSIONS}, local=True)

    def build(self, settings: Settings) -> ExampleEmbedder:
        """Here a model would be loaded, or a client opened."""
        self.describe(settings)
        return ExampleEmbedder()


FACTORY: EmbedderFactory = ExampleEmbedders()
