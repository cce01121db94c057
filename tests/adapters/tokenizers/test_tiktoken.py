"""Exact counts from a rank file that is written here."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith.wiring import tokenizer_factory
from steadlith_adapters.tokenizers.tiktoken import FACTORY, PATTERNS
from steadlith_conformance.tokenizers import TokenizerSuite
from steadlith_core.errors import ConfigError
from steadlith_core.text.tokens import UNIT

tiktoken = pytest.importorskip("tiktoken", reason="the extra `tiktoken` is not installed")

PAIRS = (b"th", b"the", b" c", b" ca", b" cat", b"\xe6\xbc", b"\xe6\xbc\xa2")


def rank_file(tokens=(*(bytes([byte]) for byte in range(256)), *PAIRS)):
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


@pytest.fixture
def build(tmp_path):
    def build(content, **settings):
        (tmp_path / "ranks.tiktoken").write_bytes(content)
        return FACTORY.build({"file": "ranks.tiktoken", **settings}, root=str(tmp_path))

    return build


class TestTiktoken(TokenizerSuite):
    @pytest.fixture
    def factory(self, tmp_path):
        (tmp_path / "ranks.tiktoken").write_bytes(rank_file())
        return FACTORY

    @pytest.fixture
    def settings(self):
        return {"file": "ranks.tiktoken"}


def test_a_token_counts_at_its_first_byte(build):
    counted = build(rank_file()).cumulative("the cat漢é".encode())
    starts = [0, 3, 7, 10, 11]
    assert counted.tolist() == [UNIT * sum(start < at for start in starts) for at in range(13)]


def test_what_looks_like_a_special_token_is_text(build):
    text = "<|endoftext|>"
    assert build(rank_file()).cumulative(text.encode())[-1] == UNIT * len(text)


def test_counts_never_decrease_and_have_one_number_a_byte(tmp_path):
    (tmp_path / "ranks").write_bytes(rank_file())
    measure = FACTORY.build({"file": "ranks"}, root=str(tmp_path))

    @given(st.text(max_size=80))
    def holds(text):
        data = text.encode()
        counted = measure.cumulative(data)
        assert len(counted) == len(data) + 1
        assert counted[0] == 0
        assert (counted[1:] >= counted[:-1]).all()
        assert bool(counted[-1]) == bool(text)

    holds()


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_splits_as_the_library_says(build, monkeypatch, name):
    from tiktoken_ext import openai_public

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    assert getattr(openai_public, name)()["pat_str"] == PATTERNS[name]
    assert build(rank_file(), encoding=name).cumulative(b"the cat, 2026\n\n")[-1] > 0


def test_the_id_names_the_encoding_and_the_digest_of_the_file(build):
    one, again = build(rank_file()), build(rank_file())
    assert one.id == again.id
    assert one.id.startswith("tiktoken:cl100k_base:b3:")
    assert len({one.id, build(rank_file(), encoding="o200k_base").id, build(rank_file() + b"\n").id}) == 3


def test_it_is_found_by_its_entry_point():
    assert tokenizer_factory("tiktoken") is FACTORY


@pytest.mark.parametrize(
    ("content", "settings", "said"),
    [
        (b"", {}, "256 bytes"),
        (b"!!!! 1\n", {}, "line 1"),
        (b"YQ== one\n", {}, "line 1"),
        (rank_file()[:-5], {}, "line 263"),
        (rank_file() + b"YWJj 3\n", {}, "a rank of its own"),
        (rank_file() + b"YWJj 99999999999\n", {}, "a rank of its own"),
        (rank_file(), {"encoding": "gpt5"}, "cl100k_base, o200k_base"),
        (rank_file(), {"file": "absent"}, "absent"),
        (rank_file(), {"revision": 1}, "revision"),
    ],
)
def test_what_cannot_be_used_is_a_configuration_error(build, content, settings, said):
    with pytest.raises(ConfigError, match=said):
        build(content, **settings)
