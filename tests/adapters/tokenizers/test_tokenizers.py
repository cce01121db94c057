"""Exact counts from a tokenizer.json that the library itself makes here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith.wiring import tokenizer_factory
from steadlith_adapters.tokenizers.tokenizers import FACTORY
from steadlith_conformance.tokenizers import TokenizerSuite
from steadlith_core.errors import ConfigError
from steadlith_core.text.tokens import UNIT

tokenizers = pytest.importorskip("tokenizers", reason="the extra `tokenizers` is not installed")

TEXT = "the cat sat on the mat and the cat ate the rat. naïve 漢字 \U0001f600\n" * 3


def byte_level():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        [TEXT], tokenizers.trainers.BpeTrainer(vocab_size=290, initial_alphabet=alphabet, show_progress=False)
    )
    return made


def word_level():
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "the": 1, "cat": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


@pytest.fixture
def build(tmp_path):
    def build(made, **settings):
        (tmp_path / "tokenizer.json").write_text(made.to_str(), "utf-8")
        return FACTORY.build({"file": "tokenizer.json", **settings}, root=str(tmp_path))

    return build


class TestByteLevel(TokenizerSuite):
    @pytest.fixture
    def factory(self, tmp_path):
        (tmp_path / "tokenizer.json").write_text(byte_level().to_str(), "utf-8")
        return FACTORY

    @pytest.fixture
    def settings(self):
        return {"file": "tokenizer.json"}


@pytest.mark.parametrize("make", [byte_level, word_level])
def test_the_whole_weighs_as_many_tokens_as_the_library_makes(build, make):
    made = make()
    counted = build(made).cumulative(TEXT.encode())
    assert len(counted) == len(TEXT.encode()) + 1
    assert counted[0] == 0
    assert counted[-1] == UNIT * len(made.encode(TEXT, add_special_tokens=False).ids)


def test_a_token_counts_at_its_first_byte(build):
    counted = build(word_level()).cumulative("é cat the".encode())
    assert counted.tolist() == [0, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96]


def test_counts_never_decrease_and_have_one_number_a_byte(tmp_path):
    (tmp_path / "t.json").write_text(byte_level().to_str(), "utf-8")
    measure = FACTORY.build({"file": "t.json"}, root=str(tmp_path))

    @given(st.text(max_size=80))
    def holds(text):
        data = text.encode()
        counted = measure.cumulative(data)
        assert len(counted) == len(data) + 1
        assert counted[0] == 0
        assert (counted[1:] >= counted[:-1]).all()
        assert bool(counted[-1]) == bool(text)

    holds()


def test_truncation_padding_and_special_tokens_of_the_file_are_not_used(build):
    plain = byte_level()
    fancy = byte_level()
    fancy.enable_truncation(4)
    fancy.enable_padding(length=500)
    fancy.post_processor = tokenizers.processors.TemplateProcessing(single="a $A a", special_tokens=[("a", 1)])
    data = TEXT.encode()
    assert build(fancy).cumulative(data).tolist() == build(plain).cumulative(data).tolist()


def test_the_id_is_the_digest_of_the_file(build):
    one, again, other = build(byte_level()), build(byte_level()), build(word_level())
    assert one.id == again.id != other.id
    assert one.id.startswith("tokenizers:b3:")


def test_it_is_found_by_its_entry_point():
    assert tokenizer_factory("tokenizers") is FACTORY


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "file"),
        ({"file": "absent.json"}, "absent.json"),
        ({"file": "broken.json"}, "a tokenizer.json"),
        ({"file": "broken.json", "revision": 1}, "revision"),
    ],
)
def test_what_cannot_be_used_is_a_configuration_error(tmp_path, settings, said):
    (tmp_path / "broken.json").write_text(json.dumps({"model": 1}), "utf-8")
    with pytest.raises(ConfigError, match=said):
        FACTORY.build(settings, root=str(tmp_path))
