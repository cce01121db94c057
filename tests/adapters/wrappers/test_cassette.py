"""A cassette plays back what was recorded, and nothing else; the engine indexes and searches with it alone."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import steadlith
from steadlith import wiring
from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_adapters.wrappers.cassette import FACTORY, RecordingEmbedder
from steadlith_adapters.wrappers.cassettes import Cassette
from steadlith_conformance.embedders import HOSTILE, TEXTS, EmbedderSuite
from steadlith_core import vectors
from steadlith_core.errors import CacheFileError, ConfigError, EmbeddingError, Failure
from steadlith_core.ports import EmbedderIdentity

MANY = [f"text number {number}" for number in range(150)]


def recorder(settings=None):
    return RecordingEmbedder(HASH.build(settings or {}), HASH.describe(settings or {}))


def recorded(texts, queries=()):
    embedder = recorder()
    embedder.embed_documents(texts)
    for query in queries:
        embedder.embed_query(query)
    return embedder.dump()


@pytest.fixture(scope="module")
def tape(tmp_path_factory):
    """A cassette of all that the kit asks for."""
    path = tmp_path_factory.mktemp("tapes") / "kit.cassette"
    path.write_bytes(recorded([*TEXTS, *HOSTILE, *MANY], TEXTS))
    return str(path)


class TestCassette(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

    @pytest.fixture
    def settings(self, tape):
        return {"path": tape}


def test_it_answers_as_the_recorded_embedder_did_and_says_that_it_is_that_one(tape):
    played, model = FACTORY.build({"path": tape}), HASH.build({})
    assert played.embed_documents(TEXTS) == model.embed_documents(TEXTS)
    assert played.embed_query(TEXTS[0]) == model.embed_query(TEXTS[0])
    assert FACTORY.describe({"path": tape}) == HASH.describe({})


def test_a_text_that_was_not_recorded_is_an_error_that_says_so_and_shows_no_text(tape):
    played = FACTORY.build({"path": tape})
    with pytest.raises(
        EmbeddingError, match=r"kit\.cassette: no answer of 'hash/0' to this document .* \(9 bytes"
    ) as told:
        played.embed_documents([TEXTS[0], "never was"])
    assert "never was" not in str(told.value)
    assert told.value.failure is Failure.FINAL


def test_what_was_asked_for_as_a_document_is_no_query():
    played = Cassette.load(recorded(["a"]))
    assert played.key("document", "a") in played.answers
    assert played.key("query", "a") not in played.answers


def test_the_same_answers_are_the_same_bytes_in_any_order_and_from_any_threads():
    shuffled = random.Random(7).sample(MANY, len(MANY))
    embedder = recorder()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(embedder.embed_query, shuffled))
        list(pool.map(embedder.embed_documents, [shuffled[at : at + 10] for at in range(0, 150, 10)]))
    assert embedder.dump() == recorded(MANY, MANY)


def test_the_first_answer_stays():
    class Moody:
        given = 0

        def embed_query(self, text):
            self.given += 1
            return vectors.pack([1.0, self.given])

    embedder = RecordingEmbedder(Moody(), EmbedderIdentity("moody/1", 2, {"dimensions": 2}))
    first, second = embedder.embed_query("a"), embedder.embed_query("a")
    assert first != second
    assert list(Cassette.load(embedder.dump()).answers.values()) == [first]


def test_an_answer_of_another_number_is_passed_on_and_not_kept():
    class Short:
        def embed_documents(self, texts):
            return [vectors.pack([1.0, 0.0])] * (len(texts) - 1)

    embedder = RecordingEmbedder(Short(), EmbedderIdentity("short/1", 2, {"dimensions": 2}))
    assert len(embedder.embed_documents(["a", "b"])) == 1
    assert Cassette.load(embedder.dump()).answers == {}


def test_too_long_a_text_is_refused_as_the_recorded_embedder_refuses_it(tmp_path):
    identity = EmbedderIdentity("tight/1", 2, {"dimensions": 2}, max_bytes=3)
    (tmp_path / "c").write_bytes(Cassette(identity).dump())
    with pytest.raises(EmbeddingError) as told:
        FACTORY.build({"path": str(tmp_path / "c")}).embed_documents(["fine"[:3], "long"])
    assert (told.value.failure, told.value.inputs) == (Failure.INPUT, (1,))


def test_every_flipped_or_missing_byte_is_found():
    whole = recorded(["a"])
    assert Cassette.load(whole).identity == HASH.describe({})
    step = 7
    for at in range(0, len(whole), step):
        for bad in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            with pytest.raises(CacheFileError):
                Cassette.load(bad)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[]", "does not name"),
        (b"{}", "does not name"),
        (b'{"format": "x"}', "format 'x'"),
        (b"\xff", "does not name"),
    ],
)
def test_a_whole_file_that_is_no_cassette_is_named(line, said):
    from steadlith_core.digest import hash_fields

    body = line + b"\n"
    with pytest.raises(CacheFileError, match=said):
        Cassette.load(body + hash_fields("cassette", body))


def test_a_path_without_a_cassette_is_an_error_of_the_configuration(tmp_path):
    (tmp_path / "torn").write_bytes(recorded(["a"])[:-1])
    for path, said in ((tmp_path / "none", "No such file"), (tmp_path, "directory"), (tmp_path / "torn", "cut short")):
        with pytest.raises(ConfigError, match=rf"embedder 'cassette': path = .*{said}"):
            FACTORY.describe({"path": str(path)})


CONFIG = '[sources.docs]\npath = "docs"\n[embedding]\nembedder = "{embedder}"\n{more}'


def test_an_index_is_built_and_searched_from_a_cassette_as_from_the_model(tmp_path, monkeypatch):
    """CI without a key: the roots are those of the real model, and nobody is called."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "# Apples\n\nRed apples are sweet.\n\n# Pears\n\nPears are green.\n", "utf-8"
    )

    def built(place, embedder, more=""):
        root = tmp_path / place
        root.mkdir()
        (root / "docs").symlink_to(tmp_path / "docs")
        (root / "steadlith.toml").write_text(CONFIG.format(embedder=embedder, more=more), "utf-8")
        with steadlith.open(root) as index:
            head = index.apply(index.plan()).head
            return head.state_root, [hit.text for hit in index.search("sweet apples").hits]

    embedder = recorder()
    factories = {"hash": Recorded(embedder), "cassette": FACTORY}
    monkeypatch.setattr(wiring, "embedder_factory", factories.__getitem__)
    real = built("real", "hash")
    (tmp_path / "ci.cassette").write_bytes(embedder.dump())
    factories["hash"] = None
    played = built("ci", "cassette", f'path = "{tmp_path}/ci.cassette"\n')
    assert played == real
    assert real[1]


class Recorded:
    """A factory of the one embedder that records."""

    def __init__(self, embedder):
        self.describe, self.build = HASH.describe, lambda _: embedder
