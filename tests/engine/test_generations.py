"""What is kept of the past: names that hold, rules that keep, and texts as they were."""

import pytest

from steadlith import naming, retention
from steadlith.retention import Retention
from steadlith_adapters.embedders import hash as hash_embedder
from steadlith_core.digest import hash_fields
from steadlith_core.errors import ConfigError, GenerationGone, LockHeld, UsageError
from steadlith_core.planning.spent import Spent, spent
from steadlith_core.records import Generation, Recipe
from steadlith_core.text.canonical import canonicalise

ZERO = hash_fields("zero")
RECIPE = Recipe("text/0", "x", ZERO, ZERO, "x", "x", ())


def made(number, at="2026-01-01T00:00:00Z"):
    return Generation(number, number - 1, "x", ZERO, ZERO, RECIPE, ZERO, 0, 0, at)


HISTORY = [made(number, f"2026-01-{number:02}T12:00:00Z") for number in range(4, 13)]


# ------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "number"), [("12", 12), ("7", 7), ("99", 99), ("head", 12), ("head~0", 12), ("head~8", 4), ("good", 5)]
)
def test_a_generation_is_called_by_number_by_distance_or_by_name(name, number):
    assert naming.find(HISTORY, {"good": 5}, name) == number


def test_what_is_no_generation_is_none_and_what_is_too_far_is_gone():
    assert naming.find(HISTORY, {"good": 5}, "plan.json") is None
    assert naming.find([], {}, "head") == 0
    with pytest.raises(GenerationGone, match="head~9: 9 generations are kept"):
        naming.find(HISTORY, {}, "head~9")


@pytest.mark.parametrize(
    "name", ["", "a" * 101, "12", "head", "head~3", "a b", "a\nb", "-x", ".", "./12", "x~1", "\x7f"]
)
def test_a_name_that_could_be_something_else_is_refused(name, settled):
    with pytest.raises(UsageError):
        settled.open().generations.tag(name, 1)
    assert settled.open().generations.tags() == {}


def test_a_name_moves_and_is_taken_away(churned):
    past = churned.open().generations
    past.tag("事务", past.find("head~3"))
    past.tag("good", past.find("事务"))
    assert past.tags() == {"good": 2, "事务": 2}
    past.tag("good", 4)
    past.untag("事务")
    assert past.tags() == {"good": 4}
    with pytest.raises(UsageError, match="no generation is named '事务'; there are good"):
        past.untag("事务")
    with pytest.raises(UsageError, match="'nope' names no generation"):
        past.find("nope")
    with pytest.raises(GenerationGone):
        past.tag("late", 17)


def test_a_name_is_given_under_the_writers_lock_and_moves_no_head(churned):
    head = churned.open().head()
    plan = churned.open().plan()
    lock = churned.open()._assembly.lock(timeout=0.0, holder="somebody")
    lock.acquire()
    with pytest.raises(LockHeld, match="somebody"):
        churned.open().generations.tag("good", 2)
    lock.release()
    churned.open().generations.tag("good", 2)
    assert churned.open().head() == head
    assert churned.open().apply(plan).unchanged
    assert churned.open().verify().ok


# --------------------------------------------------------------------------------------------- retention


@pytest.mark.parametrize(
    ("rule", "since", "tags", "kept"),
    [
        (Retention(), None, {}, (4, None)),
        (Retention(keep_generations=1), None, {}, (12, None)),
        (Retention(keep_generations=3), None, {}, (10, None)),
        (Retention(keep_generations=99), None, {}, (4, None)),
        # What was the head when those days began is kept: 7 was, until 8 was made at noon.
        (Retention(keep_days=5), "2026-01-08T00:00:00Z", {}, (7, None)),
        (Retention(keep_days=5), "2026-01-08T12:00:00Z", {}, (7, None)),
        (Retention(keep_days=5), "2025-12-01T00:00:00Z", {}, (4, None)),
        (Retention(keep_days=5), "2027-01-01T00:00:00Z", {}, (12, None)),
        (Retention(keep_generations=2, keep_days=5), "2026-01-08T00:00:00Z", {}, (7, None)),
        (Retention(keep_generations=8, keep_days=5), "2026-01-08T00:00:00Z", {}, (5, None)),
        (Retention(keep_generations=1), None, {"a": 6, "b": 9, "c": 12}, (6, "a")),
        (Retention(keep_generations=6), None, {"b": 9}, (7, None)),
    ],
)
def test_what_a_rule_keeps(rule, since, tags, kept):
    assert retention.kept(HISTORY, tags, rule, since=since) == kept


def test_compacting_keeps_to_the_rule_of_the_configuration_unless_a_number_is_given(churned):
    assert churned.open().compactable().keep_from == 1
    churned.configure(rest="[retention]\nkeep_generations = 2")
    assert churned.open().compactable().keep_from == 4
    assert churned.open().compactable(keep=3).keep_from == 3
    churned.configure(rest="[retention]\nkeep_days = 1")
    assert churned.open().compactable().keep_from == 1  # all of them were made today
    churned.open().generations.tag("good", 2)
    asked = churned.open().compactable(keep=1)
    assert (asked.keep_from, asked.held_by) == (2, "good")
    churned.open().compact(keep=1)
    assert [each.number for each in churned.open().history()] == [2, 3, 4, 5]
    assert churned.open().generations.tags() == {"good": 2}


@pytest.mark.parametrize("line", ["keep_generations = 0", "keep_days = -1", 'keep_days = "a week"', "keep = 3"])
def test_a_rule_that_cannot_be_is_refused(settled, line):
    settled.configure(rest=f"[retention]\n{line}")
    with pytest.raises(ConfigError, match="retention"):
        settled.open()


def test_nothing_is_erased_while_an_older_generation_has_a_name(churned):
    churned.write("secret.md", "# Secret\n\nxylographic\n")
    churned.apply()
    (churned.docs / "secret.md").unlink()
    churned.apply()
    churned.open().generations.tag("good", 6)
    with pytest.raises(UsageError, match=r"generation 6 is named 'good'.*steadlith tag --delete good"):
        churned.open().compactable(erase=["secret.md"])
    churned.open().generations.untag("good")
    churned.open().compact(erase=["secret.md"])


# ------------------------------------------------------------------------------------- why, and under what


def test_a_generation_knows_the_configuration_that_it_was_made_under(site, article):
    site.write("one.md", article("one"))
    before = (site.root / "steadlith.toml").read_text("utf-8")
    site.apply()
    site.configure(rest="[retention]\nkeep_days = 9")
    site.write("two.md", article("two"))
    site.apply()
    first, second = site.open().history()
    assert (first.why, first.configuration) == ("apply", before)
    assert second.configuration == before + "[retention]\nkeep_days = 9\n" or "keep_days = 9" in second.configuration


# ------------------------------------------------------------------------------------------------ restore


@pytest.mark.parametrize(
    "source",
    [
        "# One\n\nfirst\n\n\n\n    indented code\n\n- a\n- b\n\n## Two\n\nlast\n",
        "plain line\nanother line\r\nand one more\r\n\r\n\r\nafter a gap   \n",
        "word " * 400,
        "# Überschrift\n\n" + "事务处理。" * 200 + "\n\nend\n",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 60 + "\ntail\n",
        "\n\n\n   \n# After blank lines\n\ntext\n",
    ],
)
def test_the_text_of_a_document_comes_back_as_it_was_cut(site, source):
    site.write("one.md", source)
    site.apply()
    site.write("one.md", "# Other\n\nnothing of it\n")
    site.apply()
    whole = canonicalise(source.encode()).text
    lines = whole.split("\n")
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    assert site.open().generations.restore("one.md", at=1) == "\n".join(lines)
    assert site.open().generations.restore("docs:one.md") == "# Other\n\nnothing of it"


def test_a_part_of_a_chunk_that_is_kept_whole_is_not_told_twice(make_site):
    site = make_site()
    config = (site.root / "steadlith.toml").read_text("utf-8")
    late = config.replace(
        'policy = "structural"\nmin_tokens = 16\nmax_tokens = 48', 'policy = "late"\nchild_max_words = 30'
    )
    assert late != config
    (site.root / "steadlith.toml").write_text(late, "utf-8")
    body = "\n\n".join(f"A sentence of some words, number {number}." for number in range(120))
    site.write("one.md", f"# One\n\n{body}\n")
    site.apply()
    assert site.open().generations.restore("one.md") == body  # this policy keeps headings beside its chunks


def test_a_document_that_was_not_there_is_said_so(churned):
    with pytest.raises(UsageError, match=r"docs:nowhere\.md is not in generation 2"):
        churned.open().generations.restore("nowhere.md", at=2)
    with pytest.raises(GenerationGone):
        churned.open().generations.restore("one.md", at=77)


def test_what_was_embedded_is_noted_also_of_a_run_that_went_on_after_a_kill(make_site, article, monkeypatch):
    site = make_site(embedding="batch_size = 3\nconcurrency = 1\nprice_per_million_tokens = 5")
    for name in ("one", "two"):
        site.write(f"{name}.md", article(name))
    planned = site.plan()
    kind = type(hash_embedder.FACTORY.build({"dimensions": 32}))
    whole, calls = kind.embed_documents, []

    def dies(self, texts):
        calls.append(texts)
        if len(calls) == 3:  # the probe, one batch, and no more
            raise KeyboardInterrupt
        return whole(self, texts)

    monkeypatch.setattr(kind, "embed_documents", dies)
    with pytest.raises(KeyboardInterrupt):
        site.apply(planned)
    monkeypatch.setattr(kind, "embed_documents", whole)
    total = planned.cost.embeddings
    rest = site.plan().cost
    assert 0 < rest.embeddings < total
    done = site.apply()
    paid = spent(site.open().history()[-1].summary)
    assert paid == Spent(done.embedded, total - rest.embeddings, rest.tokens, rest.amount, rest.currency)
    assert (paid.embedded, paid.amount) == (rest.embeddings, rest.amount)
    assert paid.amount is not None
    (site.docs / "two.md").unlink()
    site.apply(allow=["--allow-removals"])
    assert spent(site.open().history()[-1].summary).embedded == 0
