"""An embedder of the benchmark's own, as a third party's would be: cheap vectors, and the clock that they run on."""

from collections.abc import Sequence

import generated

from steadlith import wiring
from steadlith_core import vectors
from steadlith_core.ports import EmbedderIdentity, Settings


class Embedder:
    """Of documents only: nobody searches here."""

    embedding = generated.Embedding()
    """Whose clock runs: the engine makes an embedder anew for each apply."""

    def embed_documents(self, texts: Sequence[str]) -> Sequence[vectors.Vector]:
        return [vectors.pack(row) for row in self.embedding(texts)]


class Factory:
    def describe(self, _settings: Settings) -> EmbedderIdentity:
        return EmbedderIdentity("generated/1", generated.DIMENSIONS, {}, local=True)

    def build(self, _settings: Settings) -> Embedder:
        return Embedder()


FACTORY = Factory()


def install() -> None:
    """Make `embedder = "generated"` mean this one, in this process."""
    wiring.OURS["embedders"]["generated"] = "ours_embedder:FACTORY"
