"""Settings that decide what a plan says: prices, moves, metadata by path, guards, and an exact count."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from steadlith import config, exact
from steadlith_core.errors import ConfigError
from steadlith_core.planning.cost import Price
from steadlith_core.planning.guards import Limits, Unreadable
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.pathrules import PathRule
from steadlith_core.planning.planfile import dump

BASE = """
[sources.docs]
path = "docs"
[embedding]
embedder = "hash"
"""


def load(tmp_path, text, base=BASE):
    path = tmp_path / "steadlith.toml"
    path.write_text(base + text, "utf-8")
    return config.load(path)


def refused(tmp_path, text, *parts, base=BASE):
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text, base)
    for part in parts:
        assert part in str(raised.value)


# ------------------------------------------------------------------------------------------------- prices

PRICES = """
[[prices]]
model = "openai:text-embedding-3-small*"
per_million_tokens = 0.02
as_of = 2026-11-01
[[prices]]
model = "openai:*"
per_million_tokens = 0.13
currency = "EUR"
as_of = "2026-10-01"
"""


def test_the_first_price_that_matches_the_model_is_its_price(tmp_path):
    loaded = load(tmp_path, PRICES)
    assert loaded.price_of("openai:text-embedding-3-small@1") == Price(Decimal("0.02"), "USD", "2026-11-01")
    assert loaded.price_of("openai:other") == Price(Decimal("0.13"), "EUR", "2026-10-01")
    assert loaded.price_of("OpenAI:other") is None
    assert load(tmp_path, "").price_of("openai:other") is None


def test_the_short_form_wins_over_the_table(tmp_path):
    loaded = load(tmp_path, f'price_per_million_tokens = 7\nprice_currency = "SEK"\n{PRICES}')
    assert loaded.price_of("openai:other") == Price(Decimal(7), "SEK", None)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[[prices]]\nper_million_tokens = 1\nas_of = "2026-11-01"', ["prices[0].model is missing"]),
        ('[[prices]]\nmodel = "x"\nas_of = "2026-11-01"', ["prices[0].per_million_tokens is missing"]),
        ('[[prices]]\nmodel = "x"\nper_million_tokens = 1', ["prices[0].as_of is missing", "YYYY-MM-DD"]),
        (PRICES + '[[prices]]\nmodel = "x"\nper_million_tokens = -1', ["prices[2].per_million_tokens", "from 0 up"]),
        (PRICES + "date = 1", ["unknown setting 'prices[1].date'"]),
        ("[prices]\nx = 1", ["expected tables, [[prices]] each"]),
    ],
)
def test_a_bad_price_is_named(tmp_path, text, parts):
    refused(tmp_path, text, *parts)


def test_a_plan_is_priced_from_the_table(site):
    site.write("a.md", "alpha words\n")
    site.configure(rest='[[prices]]\nmodel = "hash*"\nper_million_tokens = 1000000\nas_of = "2026-11-01"\n')
    cost = site.plan().cost
    assert (cost.amount, cost.currency, cost.price_as_of) == (f"{cost.tokens}.000000", "USD", "2026-11-01")


# ------------------------------------------------------------------------------------------------- guards


def test_every_limit_can_be_set(tmp_path):
    text = '[guards]\nmax_steps = 7\npaid_tokens = 9\npaid_amount = 0.5\nunreadable = "refuse"\n'
    assert load(tmp_path, text).limits == replace(
        Limits(), max_steps=7, paid_tokens=9, paid_amount=Decimal("0.5"), unreadable=Unreadable.REFUSE
    )
    assert load(tmp_path, "").limits == Limits()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('unreadable = "stop"', ["guards.unreadable = 'stop'", "report, refuse"]),
        ("unreadable = true", ["guards.unreadable = True", "report, refuse"]),
        ("paid_amount = -1", ["guards.paid_amount", "from 0 up"]),
        ('paid_amount = "1"', ["guards.paid_amount = '1'", "expected a number"]),
        ("max_steps = -1", ["guards.max_steps = -1"]),
    ],
)
def test_a_bad_limit_is_named(tmp_path, text, parts):
    refused(tmp_path, f"[guards]\n{text}", *parts)


def test_unreadable_documents_stop_only_who_asked_for_it(site, article):
    site.write("a.md", article("a"))
    site.write("b.md", b"\xff\xfe")
    assert site.plan().tripped == ()
    site.configure(rest='[guards]\nunreadable = "refuse"\n')
    assert [tripped.override for tripped in site.plan().tripped] == ["--allow-unreadable"]
    assert site.apply(allow={"--allow-unreadable"}).head.documents == 1


# -------------------------------------------------------------------------------------------------- moved


def test_moves_are_read(tmp_path):
    text = '[[moved]]\nfrom = "old:"\nto = "docs:"\n[[moved]]\nfrom = "docs:a/"\nto = "docs:b/"\n'
    assert load(tmp_path, text).moves == (("old:", "docs:"), ("docs:a/", "docs:b/"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[[moved]]\nfrom = "docs:a"', ["moved[0].to is missing"]),
        ('[[moved]]\nto = "docs:a"', ["moved[0].from is missing"]),
        ('[[moved]]\nfrom = "docs:a"\nto = "new:a"', ["moved[0].to = 'new:a'", "no source is named 'new'", "docs"]),
        ('[[moved]]\nfrom = "docs:a"\nto = "docs:a"', ["[[moved]]", "nothing moves"]),
        ('[[moved]]\nfrom = "docs:a"\nto = "docs:b"\nwhen = "now"', ["unknown setting 'moved[0].when'"]),
        ("[[moved]]\nfrom = 3\nto = 4", ["moved[0].from = 3", "expected text"]),
    ],
)
def test_a_bad_move_is_named(tmp_path, text, parts):
    refused(tmp_path, text, *parts)


def test_a_renamed_source_moves_and_pays_nothing(site, article):
    for name in ("one", "two"):
        site.write(f"{name}.md", article(name))
    site.apply()
    text = (site.root / "steadlith.toml").read_text("utf-8").replace("[sources.docs]", "[sources.handbook]")
    (site.root / "steadlith.toml").write_text(f'{text}[[moved]]\nfrom = "docs:"\nto = "handbook:"\n', "utf-8")
    planned = site.plan()
    assert {str(change.origin): str(change.id) for change in planned.changes if change.origin} == {
        "docs:one.md": "handbook:one.md",
        "docs:two.md": "handbook:two.md",
    }
    assert (planned.tripped, planned.cost.embeddings, planned.counts["add"]) == ((), 0, 0)
    assert site.apply(planned).head.documents == 2
    assert site.plan().is_empty


def test_a_document_that_was_renamed_and_rewritten_goes_on_where_the_settings_say_so(settled, article):
    rest = '[[moved]]\nfrom = "docs:one.md"\nto = "docs:uno.md"\n'
    (settled.docs / "one.md").unlink()
    settled.write("uno.md", article("uno", word="beta"))
    assert not any(change.origin for change in settled.plan().changes)
    settled.configure(rest=rest)
    planned = settled.plan()
    assert [str(change.origin) for change in planned.changes if change.origin] == ["docs:one.md"]
    settled.apply(planned)
    assert settled.plan().is_empty  # an entry that is done says nothing more


# ---------------------------------------------------------------------------------------- metadata by path

RULES = """
[[sources.docs.metadata]]
match = "*"
kind = "guide"
[[sources.docs.metadata]]
match = "reference/*"
kind = "reference"
level = "deep"
"""


def test_path_rules_are_read_in_order(tmp_path):
    assert load(tmp_path, RULES).sources["docs"].path_rules == (
        PathRule("*", {"kind": "guide"}),
        PathRule("reference/*", {"kind": "reference", "level": "deep"}),
    )
    assert load(tmp_path, RULES).sources["docs"].adapter.settings == {"path": "docs"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('match = "*"\ntitle = "x"', ["sources.docs.metadata[0].title", "a title of its own"]),
        ('match = "*"\nformat = "x"', ["sources.docs.metadata[0].format"]),
        ('kind = "x"', ["sources.docs.metadata[0].match is missing"]),
        ('match = "*"', ["sources.docs.metadata[0] gives no metadata to '*'"]),
        ('match = "*"\nlevel = 3', ["sources.docs.metadata[0].level = 3", "expected text"]),
    ],
)
def test_a_bad_path_rule_is_named(tmp_path, text, parts):
    refused(tmp_path, f"[[sources.docs.metadata]]\n{text}", *parts)


def test_a_new_rule_is_a_change_of_metadata_without_any_embedding(settled):
    settled.configure(rest='[[sources.docs.metadata]]\nmatch = "t*"\nkind = "tale"\n')
    planned = settled.plan()
    assert planned.recipe_changed
    assert {change.id.path: [str(step.reason) for step in change.steps] for change in planned.changes} == {
        "three.md": ["metadata"],
        "two.md": ["metadata"],
    }
    assert planned.cost.embeddings == 0
    settled.apply(planned)
    assert settled.plan().is_empty


# -------------------------------------------------------------------------------------------- exact count


class Words:
    """Counts words, each at its first byte."""

    id = "words:test"

    def cumulative(self, data):
        import numpy as np

        total, inside = [0], False
        for byte in data:
            starts = chr(byte) not in " \n" and not inside
            inside = chr(byte) not in " \n"
            total.append(total[-1] + 32 * starts)
        return np.array(total, dtype=np.int64)


@pytest.fixture
def build_world(tmp_path):
    """A planned first ingest of three texts, one of them there already, and the keys that are available."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("builders", Path(__file__).parents[1] / "core" / "conftest.py")
    builders = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builders)
    document = builders.wanted("a", ["one two three", "four five", "one two three", "six"])
    available = frozenset({document.chunks[3].vector_key})
    world = replace(builders.world([], [document]), available=available)
    return make_plan(world, builders.terms()), available


def test_an_exact_count_replaces_the_cost_and_leaves_the_steps(build_world):
    planned, available = build_world
    price = Price(Decimal(1_000_000), "EUR", "2026-11-01")
    plan = exact.counted(planned, available, Words(), price)
    assert (plan.cost.tokens, plan.cost.counted_by, plan.cost.error_percent) == (5, "words:test", 0)
    assert (plan.cost.amount, plan.cost.currency, plan.cost.price_as_of) == ("5.000000", "EUR", "2026-11-01")
    assert plan.changes == planned.plan.changes
    assert (plan.cost.embeddings, plan.cost.cached) == (planned.plan.cost.embeddings, planned.plan.cost.cached)
    assert json.loads(dump(plan))["cost"]["counted_by"] == "words:test"


def test_an_exact_count_without_a_price_stays_unknown_in_money(build_world):
    plan = exact.counted(*build_world, Words(), None)
    assert (plan.cost.amount, plan.cost.currency, plan.cost.tokens) == (None, None, 5)


def test_an_exact_count_needs_a_tokenizer(tmp_path):
    with pytest.raises(ConfigError, match=r"no \[embedding.tokenizer\].*tokenizers"):
        exact.tokenizer(load(tmp_path, ""))
    with pytest.raises(ConfigError, match=r"embedding.tokenizer.type = 'nobody'"):
        exact.tokenizer(load(tmp_path, 'tokenizer = {type = "nobody"}'))
    refused(tmp_path, "tokenizer = {file = 'x'}", "embedding.tokenizer.type is missing")
    refused(tmp_path, "tokenizer = 'tiktoken'", "embedding.tokenizer = 'tiktoken'", "expected a table")


def test_the_tokenizer_is_built_over_its_own_settings(tmp_path, monkeypatch):
    seen = {}

    class Factory:
        def build(self, settings, *, root):
            seen.update(settings=settings, root=root)
            return Words()

    monkeypatch.setattr(exact.wiring, "installed", lambda group: ("words",))
    monkeypatch.setattr(exact.wiring, "tokenizer_factory", lambda name: Factory())
    made = exact.tokenizer(load(tmp_path, 'tokenizer = {type = "words", file = "w.json"}'))
    assert made.id == "words:test"
    assert seen == {"settings": {"file": "w.json"}, "root": str(tmp_path)}
