"""Migrations over PostgreSQL: the same causes, the same guarantees."""

from contextlib import suppress

import pytest

from steadlith import hands, relexing
from steadlith_adapters.stores.postgres import words
from steadlith_adapters.stores.postgres.transaction import PostgresTransaction
from steadlith_core.applying import effects as fx
from steadlith_core.errors import ChecksFailed
from steadlith_core.text.query import index_text


class Crash(BaseException):
    """What nothing catches."""


@pytest.fixture
def served(make_site, postgres_settings, article):
    settings = "".join(f'{key} = "{value}"\n' for key, value in postgres_settings().items())
    site = make_site(rest=f'[store]\ntype = "postgres"\n{settings}', embedding="batch_size = 4")
    site.write("one.md", article("one", sections=2))
    site.write("two.md", article("two", sections=2))
    site.apply()
    return site


def text(site):
    return (site.root / "steadlith.toml").read_text("utf-8")


def hits(site):
    return [(hit.document, hit.text, hit.dense) for hit in site.hits("sentence topic4")]


@pytest.mark.parametrize(
    "settings",
    [
        ["embedding.dimensions=48"],
        ["embedding.quantization=int8"],
        ["embedding.template=breadcrumb"],
        ["chunking.min_tokens=4", "chunking.max_tokens=20"],
    ],
    ids=lambda settings: settings[-1],
)
@pytest.mark.parametrize("at", [fx.Embed, fx.Commit, fx.Remember, fx.Release])
def test_killed_it_is_gone_on_with_and_gone_back_from(served, monkeypatch, settings, at):
    index = served.open()
    old, before, answers = index.head(), text(served), hits(served)
    found = index.migrations.plan(settings=settings)
    whole, died = hands.Hands.perform, []

    def perform(self, effect):
        if isinstance(effect, at):
            died.append(at)
            raise Crash
        return whole(self, effect)

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "perform", perform)
        index.migrations.apply(found)
    if at in {fx.Embed, fx.Commit}:
        assert hits(served) == answers
    again = served.open().migrations.begun()
    if again is not None:
        served.open().migrations.apply(again)
    served.open().migrations.finish()
    assert died or at is fx.Embed  # where every vector is there, nothing is embedded
    index = served.open()
    assert (index.head().generation, index.head().state_root) == (2, found.plan.target.state_root)
    assert text(served) == found.then
    assert index.verify().ok
    assert served.plan().is_empty
    assert index.apply(index.plan_rollback(1).plan).embedded == 0
    assert (text(served), index.head().state_root) == (before, old.state_root)
    assert index.verify().ok
    assert hits(served) == answers


def test_what_is_not_good_enough_is_not_swapped_in(served, monkeypatch):
    index = served.open()
    old, before = index.head(), text(served)
    found = index.migrations.plan(settings=["embedding.dimensions=48"])
    with monkeypatch.context() as patch:
        patch.setattr(PostgresTransaction, "put_vectors", lambda _self, _space, rows: [None for _ in rows] and None)
        with pytest.raises(ChecksFailed, match="was not swapped in"):
            index.migrations.apply(found)
    assert (served.open().head(), text(served)) == (old, before)
    served.open().migrations.apply(served.open().migrations.begun())
    assert served.open().verify().ok


def test_another_tokeniser_makes_all_words_anew(served, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(relexing, "LEXICAL_ID", "next")
        patch.setattr(words, "index_text", lambda given: index_text(given).replace("o", " "))
        index = served.open()
        assert index.verify().ok
        index.migrations.apply(index.migrations.plan())
        with served.open().reader() as reader:
            assert list(reader.problems(full=True)) == []
            assert reader.lexical(["ne"], 9)  # of "one"
    index = served.open()
    index.apply(index.plan_rollback(1).plan)
    with served.open().reader() as reader:
        assert list(reader.problems(full=True)) == []
        assert reader.lexical(["one"], 9)
