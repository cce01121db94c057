"""A configuration may name an exact tokeniser: its counts decide the cuts, and it is part of the recipe."""

import json

import pytest

from steadlith_core.errors import ConfigError

tokenizers = pytest.importorskip("tokenizers", reason="the extra `tokenizers` is not installed")


@pytest.fixture
def site(site_at, tmp_path):
    site = site_at(tmp_path / "site")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    (site.root / "words.json").write_text(made.to_str(), "utf-8")
    return site


def use(site, tokenizer):
    text = (site.root / "steadlith.toml").read_text("utf-8")
    (site.root / "steadlith.toml").write_text(text.replace("max_tokens = 48", f"max_tokens = 48\n{tokenizer}"), "utf-8")


EXACT = 'tokenizer = {type = "tokenizers", file = "words.json"}'


def test_chunks_are_as_large_as_the_tokeniser_counts(site):
    use(site, EXACT)
    site.write("a.md", "\n\n".join(f"Sentence number {n} has exactly seven words." for n in range(40)))
    site.apply()
    sizes = [len(hit.text.split()) for hit in site.hits("sentence")]
    assert sum(sizes) == 40 * 7
    assert all(16 <= size <= 48 for size in sizes)
    # The estimate would have found two thirds more tokens than words, and made smaller chunks.
    assert max(sizes) > 40


def test_the_tokeniser_is_part_of_the_recipe_and_without_it_the_plan_cuts_anew(site):
    site.write("a.md", "\n\n".join(f"Sentence number {n} has exactly seven words." for n in range(40)))
    site.apply()
    assert site.plan().changes == ()
    use(site, EXACT)
    assert site.plan().changes != ()
    site.apply()
    assert site.plan().changes == ()
    vocabulary = site.root / "words.json"
    other = json.loads(vocabulary.read_text("utf-8"))
    other["model"]["vocab"]["more"] = 1
    vocabulary.write_text(json.dumps(other), "utf-8")
    assert site.plan().changes != ()


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ('tokenizer = "words.json"', "expected a table with a type, one of tiktoken, tokenizers"),
        ('tokenizer = {file = "words.json"}', "expected a table with a type"),
        ('tokenizer = {type = "bpe", file = "words.json"}', "'bpe': no such adapter is installed"),
        ('tokenizer = {type = "tokenizers", file = "nowhere.json"}', "nowhere.json"),
    ],
)
def test_a_tokeniser_that_cannot_be_used_says_why(site, tokenizer, message):
    use(site, tokenizer)
    with pytest.raises(ConfigError, match=message):
        site.plan()


def test_a_policy_that_counts_words_has_no_use_for_one(site):
    text = (site.root / "steadlith.toml").read_text("utf-8")
    text = text.replace('"structural"\nmin_tokens = 16\nmax_tokens = 48', f'"fixed"\n{EXACT}')
    (site.root / "steadlith.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="policy 'fixed' counts no tokens"):
        site.plan()
