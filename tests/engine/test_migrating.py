"""To another configuration, for every cause: killed at every effect, gone on with, gone back from, verified."""

import json
import lzma
import signal
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

import steadlith
from steadlith import assembly, hands, pending, receipts, relexing, wiring
from steadlith.running import How
from steadlith_adapters.embedders import hash as hash_embedder
from steadlith_adapters.stores.columns import read_headings
from steadlith_adapters.stores.sqlite import lexical, schema
from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction
from steadlith_core.applying import effects as fx
from steadlith_core.errors import (
    ChangeUnfinished,
    ChecksFailed,
    ConfigError,
    GuardRefused,
    PlanStale,
    Stopped,
    UsageError,
)
from steadlith_core.planning.planfile import dump, load
from steadlith_core.ports import EmbedderIdentity
from steadlith_core.records import DocumentId
from steadlith_core.text.query import index_text

WHILE_WRITTEN = "a kill while a plan, lock, manifest, proof or configuration is written: by a migration"


class Crash(BaseException):
    """What nothing catches."""


class Another:
    """Another model, with a prefix of its own."""

    def describe(self, settings):
        made = {"prefix": settings.get("prefix", "")}
        return EmbedderIdentity("another/1", int(settings.get("dimensions", 32)), made, local=True)

    def build(self, settings):
        inner = hash_embedder.FACTORY.build({"dimensions": int(settings.get("dimensions", 32))})
        prefix = settings.get("prefix", "")

        class Prefixed:
            def embed_documents(self, texts):
                return inner.embed_documents([f"{prefix}another {text}" for text in texts])

            def embed_query(self, text):
                return inner.embed_query(f"{prefix}another {text}")

        return Prefixed()


@pytest.fixture(autouse=True)
def another_model(monkeypatch):
    whole = wiring.embedder_factory
    monkeypatch.setattr(wiring, "embedder_factory", lambda name: Another() if name == "another" else whole(name))


@contextmanager
def another_normaliser(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(assembly, "NORMALIZER_ID", "text/next")
        yield


@contextmanager
def another_tokeniser(monkeypatch):
    """The next release cuts words at the letter o."""
    with monkeypatch.context() as patch:
        patch.setattr(relexing, "LEXICAL_ID", "next")
        patch.setattr(lexical, "index_text", lambda text: index_text(text).replace("o", " "))
        yield


@contextmanager
def same_release(_monkeypatch):
    yield


SMALLER = ["chunking.min_tokens=4", "chunking.max_tokens=20"]

CAUSES = {
    "normaliser": ((), (), another_normaliser),
    "chunker": (("chunking.policy=fixed",), ("chunking.min_tokens", "chunking.max_tokens"), same_release),
    "chunker settings": (tuple(SMALLER), (), same_release),
    "front matter and paths": (('sources.docs.front_matter=["tags"]',), (), same_release),
    "model": (("embedding.embedder=another",), (), same_release),
    "dimensions": (("embedding.dimensions=48",), (), same_release),
    "prefix and other settings of the model": (
        ("embedding.embedder=another", "embedding.prefix=passage: "),
        (),
        same_release,
    ),
    "template": (("embedding.template=breadcrumb",), (), same_release),
    "quantization": (("embedding.quantization=int8",), (), same_release),
    "lexical tokeniser": ((), (), another_tokeniser),
}


@pytest.fixture
def make_old(make_site, article):
    """A site with two documents, applied."""

    def make(name="site", cause=""):
        rest = "embedder" if cause.startswith("prefix") else ""
        site = make_site(name, embedding="batch_size = 4")
        if rest:
            text = (site.root / "steadlith.toml").read_text("utf-8").replace('"hash"', '"another"')
            (site.root / "steadlith.toml").write_text(text, "utf-8")
        site.write("one.md", "---\ntags: a, b\n---\n" + article("one", sections=2))
        site.write("two.md", article("two", sections=2))
        site.apply()
        return site

    return make


def text(site):
    return (site.root / "steadlith.toml").read_text("utf-8")


def journal(site):
    return site.root / ".steadlith" / "steadlith.journal.json"


def settle(site):
    """End whatever is on its way, as a person would: `--resume`."""
    index = site.open()
    found = index.migrations.begun()
    if found is not None:
        return index.migrations.apply(found)
    index.migrations.finish()
    return None


def assert_arrived(site, found):
    """The index is what was planned, whole, under the configuration that is in place, and says how it came about."""
    made = site.open()
    assert made.head().generation == 2
    assert made.history()[-1].why == "migrate"
    assert made.history()[-1].configuration == text(site)
    assert (made.head().corpus_root, made.head().state_root) == (
        found.plan.target.corpus_root,
        found.plan.target.state_root,
    )
    assert made.verify().ok
    assert site.plan().is_empty
    assert not journal(site).exists()
    assert made.search("sentence topic4").hits
    with made.reader() as reader:
        assert list(reader.problems(full=True)) == []
    receipt = receipts.newest(made.config)
    assert receipt.from_generation == 1
    assert receipt.after["state_root"] == str(made.head().state_root)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("after", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
def test_killed_at_every_effect_a_migration_is_gone_on_with_and_gone_back_from(
    make_old, monkeypatch, paid, crashing, cause, after, tried
):
    settings, dropped, release = CAUSES[cause]
    number = 0
    while True:
        number += 1
        site = make_old(f"site{number}", cause)
        old, before = site.open().head(), text(site)
        answers = [(hit.document, hit.text) for hit in site.hits("sentence topic4")]
        with release(monkeypatch):
            found = site.open().migrations.plan(settings=settings, dropped=dropped)
            assert cause in [each.name for each in found.causes]
            paid.clear()
            with crashing(number, after=after) as seen:
                site.open().migrations.apply(found)
            head = site.open().head()
            assert head.generation in {1, 2}
            if head.generation == 1 and release is same_release:
                # Until the swap the old generation answers, and ordinary plans and applies are not disturbed.
                assert text(site) == before
                assert [(hit.document, hit.text) for hit in site.hits("sentence topic4")] == answers
                assert site.plan().is_empty
            settle(site)
            if site.open().head().generation == 1:  # killed before anything was begun
                assert not journal(site).exists()
                site.open().migrations.apply(found)
            assert_arrived(site, found)
            # At most the batch in flight is paid for twice.
            assert sum(paid.values()) - len(paid) <= 4
        index = site.open()
        back = index.plan_rollback(1).plan
        assert index.apply(back).embedded == 0
        assert text(site) == before
        assert (index.head().corpus_root, index.head().state_root) == (old.corpus_root, old.state_root)
        assert site.open().verify().ok
        assert site.plan().is_empty
        assert [(hit.document, hit.text) for hit in site.hits("sentence topic4")] == answers
        if len(seen) < number:
            break
    assert number > 7
    how = "an exception that nothing catches, before and after each effect"
    tried("a crash at every effect of an apply: a migration, for each of ten causes", how, number)


def test_a_migration_to_an_older_releases_tokeniser_or_normaliser_cannot_be_gone_back_to(make_old, monkeypatch):
    for cause, said in (("normaliser", "normalizer_id"), ("lexical tokeniser", "lexical_id")):
        site = make_old(cause)
        with CAUSES[cause][2](monkeypatch):
            index = site.open()
            index.migrations.apply(index.migrations.plan())
            with pytest.raises(Exception, match=f"leads to another {said} today"):
                index.plan_rollback(1)


def test_another_tokeniser_finds_other_words_and_is_no_drift(make_old, monkeypatch):
    site = make_old()
    assert not [hit for hit in site.hits("sentence") if hit.lexical is None]
    with another_tokeniser(monkeypatch):
        assert site.open().verify().ok  # rows of another tokeniser are not judged
        planned = site.plan()
        assert (planned.drift, planned.changes, planned.recipe_changed) == ((), (), True)
        site.apply(planned)
        with site.open().reader() as reader:
            assert list(reader.problems(full=True)) == []
            assert reader.lexical(["ne"], 9)  # of "one"


# --------------------------------------------------------------------------------------------- preview


def test_each_cause_is_told_with_what_follows_from_it(make_old):
    site = make_old()
    found = site.open().migrations.plan(settings=["embedding.dimensions=64", "embedding.template=breadcrumb"])
    causes = {each.name: each for each in found.causes}
    assert (causes["dimensions"].was, causes["dimensions"].becomes) == ("32", "64")
    assert causes["dimensions"].steps == {"reembed": found.plan.counts["reembed"]}
    assert causes["dimensions"].embeddings == found.plan.cost.embeddings
    assert causes["dimensions"].tokens == found.plan.cost.tokens
    assert causes["template"].steps == {}
    assert "sources" not in causes
    steps = Counter(kind for each in found.causes for kind, count in each.steps.items() for _ in range(count))
    assert steps == {kind: count for kind, count in found.plan.counts.items() if count and kind != "keep"}


def test_what_changed_in_the_sources_is_told_apart(make_old, article):
    site = make_old()
    site.write("three.md", article("three"))
    site.write("two.md", article("another two", sections=2))
    found = site.open().migrations.plan(settings=SMALLER)
    causes = {each.name: each for each in found.causes}
    assert causes["sources"].documents == 2
    assert causes["chunker settings"].documents == 1


def test_a_preview_changes_and_embeds_nothing(make_old, paid):
    site = make_old()
    before, _ = site.files(), paid.clear()
    assert not site.open().migrations.plan(settings=["embedding.dimensions=64"]).is_nothing
    assert site.open().migrations.plan().is_nothing
    assert (site.files(), paid) == (before, Counter())


def test_a_file_that_was_edited_is_migrated_to_as_it_is(make_old):
    site = make_old()
    site.configure(embedding='template = "breadcrumb"')
    edited = text(site)
    found = site.open().migrations.plan()
    assert (found.now, found.then, found.plan.configuration) == (edited, edited, None)
    site.open().migrations.apply(found)
    assert text(site) == edited
    assert site.plan().is_empty
    assert receipts.newest(site.open().config).told["checks"]["chunks"] == site.open().head().chunks


def test_only_the_configuration_may_change(make_old):
    site = make_old()
    found = site.open().migrations.plan(settings=["guards.removed_documents=7"])
    assert (found.causes, found.is_nothing) == ((), False)
    done = site.open().migrations.apply(found)
    assert (done.head.generation, done.embedded) == (2, 0)
    assert "removed_documents = 7" in text(site)
    assert site.open().history()[-1].configuration == text(site)


def test_comments_stay_where_they_are(make_old):
    site = make_old()
    commented = text(site).replace("dimensions = 32", "dimensions = 32  # as small as can be\n# and more")
    (site.root / "steadlith.toml").write_text(commented, "utf-8")
    index = site.open()
    index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=64"]))
    assert text(site) == commented.replace("dimensions = 32", "dimensions = 64")


@pytest.mark.parametrize(
    ("settings", "dropped", "error", "said"),
    [
        (["embedding.dimensions"], (), UsageError, "expected KEY=VALUE"),
        (["embedding.dimensions.x=1"], (), UsageError, "is a value, not a table"),
        ((), ["embedding.price"], UsageError, "does not set it"),
        ((), ["embeding.price"], UsageError, r"has no \[embeding\]"),
        (["embedding.dimensions=many"], (), ConfigError, "'many'"),
        (["embeding.dimensions=3"], (), ConfigError, "embeding"),
        (["store.path=elsewhere.sqlite3"], (), UsageError, "a move of its own"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_changes_nothing(make_old, settings, dropped, error, said):
    site = make_old()
    before = site.files()
    with pytest.raises(error, match=said):
        site.open().migrations.plan(settings=settings, dropped=dropped)
    assert site.files() == before


# ---------------------------------------------------------------------------------------------- saved plans


def test_a_saved_plan_brings_its_configuration(make_old):
    site = make_old()
    planned = load(dump(site.open().migrations.plan(settings=["embedding.dimensions=64"]).plan))
    assert "dimensions = 64" in planned.configuration.text
    with pytest.raises(GuardRefused, match="--allow-model-change"):
        site.apply(planned)
    assert "dimensions = 32" in text(site)
    done = site.apply(planned, allow=["--allow-model-change"])
    assert (done.head.generation, "dimensions = 64" in text(site)) == (2, True)
    assert site.apply(planned).already


def test_a_saved_plan_whose_configuration_was_forged_is_refused(make_old):
    from dataclasses import replace

    site = make_old()
    planned = site.open().migrations.plan(settings=["embedding.dimensions=64"]).plan
    text_of_it = planned.configuration.text.replace("64", "48")
    forged = replace(planned, configuration=replace(planned.configuration, text=text_of_it))
    with pytest.raises(PlanStale, match="not the one that the plan was made with"):
        site.apply(forged, allow=["--allow-model-change"])
    assert "dimensions = 32" in text(site)


# ------------------------------------------------------------------------------------------------- killed


def test_field_case_13_killed_half_way_the_old_generation_answers_and_only_the_rest_is_paid(
    make_old, monkeypatch, paid
):
    site = make_old()
    found = site.open().migrations.plan(settings=["embedding.dimensions=64"])
    texts = found.plan.cost.embeddings
    paid.clear()
    whole, kept = hands.Hands.perform, []

    def perform(self, effect):
        outcome = whole(self, effect)
        kept.append(isinstance(effect, fx.Keep))
        if sum(kept) * 4 >= texts / 2:
            raise Crash
        return outcome

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "perform", perform)
        site.open().migrations.apply(found)
    assert 0 < len(paid) < texts
    assert "dimensions = 32" in text(site)
    assert site.hits("sentence")
    again = site.open().migrations.begun()
    assert again.plan.cost.embeddings == texts - len(paid)
    assert (again.now, again.then) == (found.now, found.then)
    site.open().migrations.apply(again)
    assert (len(paid), set(paid.values())) == (texts, {1})
    assert "dimensions = 64" in text(site)
    assert site.open().migrations.begun() is None


def test_an_aborted_migration_leaves_the_cache_and_nothing_else(make_old, monkeypatch, paid):
    site = make_old()
    before = text(site)
    found = site.open().migrations.plan(settings=["embedding.dimensions=64"])
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", lambda *_given: (_ for _ in ()).throw(Crash()))
        site.open().migrations.apply(found)
    assert journal(site).exists()
    assert site.open().migrations.abort()
    assert not site.open().migrations.abort()
    assert (text(site), site.open().head().generation, site.plan().is_empty) == (before, 1, True)
    paid.clear()
    site.open().migrations.apply(site.open().migrations.plan(settings=["embedding.dimensions=64"]))
    assert paid == Counter()


def test_a_request_to_stop_leaves_it_to_be_gone_on_with(make_old, paid):
    site = make_old()
    index = site.open()
    found = index.migrations.plan(settings=["embedding.dimensions=64"])
    paid.clear()
    with pytest.raises(Stopped):
        index.migrations.apply(found, How(stop_requested=lambda: bool(paid)))
    assert journal(site).exists()
    settle(site)
    assert "dimensions = 64" in text(site)
    assert set(paid.values()) == {1}


def test_sources_that_changed_meanwhile_are_in_what_is_gone_on_with(make_old, monkeypatch, article):
    site = make_old()
    found = site.open().migrations.plan(settings=["embedding.dimensions=64"])
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", lambda *_given: (_ for _ in ()).throw(Crash()))
        site.open().migrations.apply(found)
    site.write("three.md", article("three"))
    again = site.open().migrations.begun()
    assert {each.name for each in again.causes} >= {"dimensions", "sources"}
    site.open().migrations.apply(again)
    assert site.plan().is_empty


def test_an_ordinary_apply_between_does_not_disturb_a_migration_on_its_way(make_old, monkeypatch, article):
    site = make_old()
    found = site.open().migrations.plan(settings=["embedding.dimensions=64"])
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(hands.Hands, "_write", lambda *_given: (_ for _ in ()).throw(Crash()))
        site.open().migrations.apply(found)
    site.write("three.md", article("three"))
    assert site.apply().head.generation == 2
    settle(site)
    assert site.open().head().generation == 3
    assert "dimensions = 64" in text(site)
    assert site.plan().is_empty


def test_a_configuration_that_was_edited_while_it_was_built_is_not_overwritten(make_old, monkeypatch):
    site = make_old()
    index = site.open()
    found = index.migrations.plan(settings=["embedding.dimensions=64"])
    edited = text(site) + "# mine\n"
    (site.root / "steadlith.toml").write_text(edited, "utf-8")
    with pytest.raises(PlanStale, match="was edited since this migrate was begun"):
        index.migrations.apply(found)
    assert (text(site), site.open().head().generation) == (edited, 1)

    found = site.open().migrations.plan(settings=["embedding.dimensions=64"])
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(pending, "settle", lambda *_given, **_named: (_ for _ in ()).throw(Crash()))
        site.open().migrations.apply(found)
    (site.root / "steadlith.toml").write_text(edited + "# again\n", "utf-8")
    with pytest.raises(ChangeUnfinished, match=r"\(migrate\) is committed.*`steadlith migrate --resume --force`"):
        site.plan()
    site.open().migrations.finish(force=True)
    assert text(site) == found.then
    assert site.plan().is_empty


# ------------------------------------------------------------------------------------------------- checks


def test_field_case_14_an_adapter_that_stores_nothing_is_not_swapped_in(make_old, monkeypatch):
    site = make_old()
    before = text(site)
    index = site.open()
    found = index.migrations.plan(settings=["embedding.dimensions=64"])
    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "put_vectors", lambda _self, _space, rows: [None for _ in rows] and None)
        with pytest.raises(ChecksFailed, match="was not swapped in") as told:
            index.migrations.apply(found)
    assert told.value.exit_code == 3
    assert (text(site), site.open().head().generation) == (before, 1)
    assert site.plan().is_empty
    settle(site)
    assert "dimensions = 64" in text(site)


def test_vectors_that_are_not_those_that_were_paid_for_are_found(make_old, monkeypatch):
    from dataclasses import replace

    site = make_old()
    index = site.open()
    found = index.migrations.plan(settings=["embedding.dimensions=64"])
    whole = SqliteTransaction.put_vectors

    def first_for_all(self, space, rows):
        rows = list(rows)
        return whole(self, space, [replace(row, vector=rows[0].vector) for row in rows])

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "put_vectors", first_for_all)
        with pytest.raises(ChecksFailed, match="is not the one that was paid for"):
            index.migrations.apply(found)


def test_lexical_rows_that_are_missing_are_found(make_old, monkeypatch):
    site = make_old()
    index = site.open()
    found = index.migrations.plan(settings=SMALLER)
    with monkeypatch.context() as patch:
        patch.setattr(lexical, "add_many", lambda *_given: None)
        with pytest.raises(ChecksFailed):
            index.migrations.apply(found)
    assert site.open().head().generation == 1


def golden(site, *lines):
    file = site.root / "golden.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return file


def test_golden_questions_stop_the_swap_below_their_threshold(make_old):
    site = make_old()
    site.write("three.md", "# Three\n\nNobody asks for this, in other words than its own.\n")
    file = golden(
        site,
        {"question": "sentence two 1", "documents": ["docs:two.md"]},
        {"question": "sentence one 1", "documents": ["one.md", "two.md"]},
        {"question": "nothing of the kind", "documents": ["docs:three.md"]},
    )
    index = site.open()
    asked = {"settings": ["embedding.dimensions=64"], "questions_file": file}
    found = index.migrations.plan(**asked, min_recall=0.9)
    with pytest.raises(ChecksFailed, match=r"(?s)recall is 0\.6667, the threshold is 0\.9.*does not find docs:three"):
        index.migrations.apply(found)
    assert site.open().head().generation == 1
    # Going on asks the same; a migration that is begun anew may ask for less.
    with pytest.raises(ChecksFailed):
        settle(site)
    index = site.open()
    index.migrations.apply(index.migrations.plan(**asked, min_recall=0.6))
    told = receipts.newest(index.config).told
    assert told["checks"]["questions_found"] == 2
    assert told["checks"]["recall"] == 1.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"golden\.jsonl:2 is not JSON"),
        ('{"question": "x"}', "expected"),
        ('{"question": " ", "documents": ["a.md"]}', "expected"),
        ('{"question": "x", "documents": []}', "expected"),
        ('{"question": "x", "documents": [3]}', "expected"),
        ("[]", "expected"),
    ],
)
def test_a_line_that_is_no_question_is_named(make_old, line, said):
    site = make_old()
    file = golden(site, {"question": "sentence", "documents": ["one.md"]})
    file.write_text(file.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(UsageError, match=said):
        site.open().migrations.plan(questions_file=file)


# ------------------------------------------------------------------------------------------------ receipts


def test_a_receipt_holds_both_sides_and_is_checked(make_old):
    site = make_old()
    index = site.open()
    before = text(site)
    index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=64"]))
    (file,) = receipts.folder(index.config).iterdir()
    receipt = receipts.read(file)
    assert (receipt.before["configuration"], receipt.after["configuration"]) == (before, text(site))
    assert [receipt.before["generation"], receipt.after["generation"]] == [1, 2]
    assert receipt.before["recipe"]["spaces"][0]["dimensions"] == 32
    assert receipt.told["embedded"] == index.head().chunks
    file.write_text(file.read_text("utf-8").replace('"generation": 1', '"generation": 7'), "utf-8")
    with pytest.raises(UsageError, match="was changed after it was written"):
        receipts.read(file)
    assert receipts.newest(index.config) is None


def test_how_long_the_last_one_took_is_known_to_the_next(make_old):
    site = make_old()
    index = site.open()
    assert index.migrations.plan(settings=["embedding.dimensions=64"]).last is None
    index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=64"]))
    found = index.migrations.plan(settings=["embedding.dimensions=16"])
    assert found.last.told["embedded"] == found.plan.cost.embeddings
    assert found.seconds == pytest.approx(found.last.told["seconds"])


# -------------------------------------------------------------------------------------------- field cases


def test_field_case_09_another_model_embeds_all_and_cuts_nothing(make_old):
    site = make_old()
    found = site.open().migrations.plan(settings=["embedding.embedder=another"])
    chunks = site.open().head().chunks
    assert {kind: count for kind, count in found.plan.counts.items() if count} == {"reembed": chunks}
    assert found.plan.cost.embeddings == chunks


def test_field_case_10_other_dimensions_beside_the_old_and_back(make_old):
    site = make_old()
    index = site.open()
    old = index.head()
    index.migrations.apply(index.migrations.plan(settings=["embedding.dimensions=384"]))
    assert index.head().recipe.spaces[0].dimensions == 384
    assert index.apply(index.plan_rollback(1).plan).embedded == 0
    assert index.head().state_root == old.state_root
    assert index.apply(index.plan_rollback(2).plan).embedded == 0
    assert index.head().recipe.spaces[0].dimensions == 384


def test_field_case_12_a_metadata_column_that_comes_back_is_filled_again(make_old):
    site = make_old()
    index = site.open()

    def tags():
        with site.open().reader() as reader:
            return next(each for each in reader.documents() if each.id.path == "one.md").metadata.get("tags")

    assert tags() is None
    for settings, dropped, wanted in (
        (['sources.docs.front_matter=["tags"]'], (), "a, b"),
        ((), ["sources.docs.front_matter"], None),
        (['sources.docs.front_matter=["tags"]'], (), "a, b"),
    ):
        index.migrations.apply(index.migrations.plan(settings=settings, dropped=dropped))
        assert tags() == wanted


# ------------------------------------------------------------------------------------------------ upgrades

RELEASED = Path(__file__).parent.parent / "adapters" / "stores" / "released"


@pytest.mark.parametrize("file", sorted(RELEASED.glob("index-*.xz")), ids=lambda file: file.name)
def test_an_index_file_of_an_older_release_is_a_migration_with_preview(make_site, file):
    site = make_site()
    index = site.root / ".steadlith" / "index.sqlite3"
    index.parent.mkdir()
    index.write_bytes(lzma.decompress(file.read_bytes()))
    released = index.read_bytes()
    with site.open().reader() as reader:
        held = {str(each.id): each.root for each in reader.documents()}
    hold = tuple(DocumentId(*name.split(":", 1)) for name in held)
    found = site.open().migrations.plan(steadlith.Look(held=hold))
    (upgrade,) = found.upgrades
    assert f"is of schema version {file.name[6]}" in upgrade
    assert not found.is_nothing
    assert index.read_bytes() == released
    assert any(each.kind == "older_format" and not each.grave for each in site.open().examine().troubles)


# --------------------------------------------------------------------------------------------- real kills


@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.slow)])
def test_sigkill_at_every_step_of_journal_receipt_and_configuration(make_old, killed_while_writing, when, tried):
    number, generations = 0, set()
    while True:
        number += 1
        site = make_old(f"site{number}")
        plan = 'found = index.migrations.plan(settings=["embedding.dimensions=48"])'
        run = killed_while_writing(site, plan, "index.migrations.apply(found)", number, when)
        if run.returncode == 0:
            break
        assert run.returncode == -signal.SIGKILL, run.stderr
        generation = site.open().head().generation
        generations.add(generation)
        assert site.open().verify().ok
        settle(site)
        if site.open().head().generation == 1:  # killed before the journal was there
            assert generation == 1
            site.open().migrations.apply(site.open().migrations.plan(settings=["embedding.dimensions=48"]))
        assert (site.open().head().generation, site.plan().is_empty) == (2, True)
        assert "dimensions = 48" in text(site)
        assert not journal(site).exists()
    assert number > 16  # journal twice, configuration, receipt: create, sync, replace, sync the folder; and the removal
    assert generations == {1, 2}
    tried(WHILE_WRITTEN, "SIGKILL before, within and after each operation", number - 1)


# What stands for itself in `text` and `entry`, under an index that refuses a hash twice; other columns of the words.
AS_VERSION_5 = """
    PRAGMA foreign_keys = OFF;
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE text RENAME TO later_text;
    CREATE TABLE text(text INTEGER PRIMARY KEY, text_hash BLOB NOT NULL UNIQUE, body TEXT NOT NULL) STRICT;
    INSERT INTO text SELECT * FROM later_text;
    ALTER TABLE entry RENAME TO later_entry;
    CREATE TABLE entry(
        entry INTEGER PRIMARY KEY, entry_hash BLOB NOT NULL UNIQUE,
        text INTEGER NOT NULL REFERENCES text(text), title TEXT NOT NULL, headings BLOB NOT NULL,
        context_hash BLOB, live INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO entry SELECT * FROM later_entry;
    DROP TABLE later_entry;
    DROP TABLE later_text;
    DROP INDEX vector_by_key;
    DROP INDEX vector_by_key_recent;
    CREATE INDEX vector_by_key ON vector(space, vector_key);
    DROP TABLE lexical;
    CREATE VIRTUAL TABLE lexical USING fts5(
        title, headings, body, content='', contentless_delete=1, tokenize='porter unicode61'
    );
"""


def written_by_an_older_release(site, version=4):
    """The index as version 4 of its file has it, without what version 5 added, or version 5."""
    file = site.root / ".steadlith" / "index.sqlite3"
    connection = apsw.Connection(str(file))
    connection.execute(AS_VERSION_5)
    words = [
        (entry, *lexical.columns(title, read_headings(headings), body))
        for entry, title, headings, body in connection.execute(lexical.LIVE_ROWS).fetchall()
    ]
    connection.executemany("INSERT INTO lexical(rowid, title, headings, body) VALUES (?, ?, ?, ?)", words)
    for table in sorted(schema.names(5) - schema.names(version)):
        connection.execute(f"DROP TABLE {table}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def version_of(site):
    return int.from_bytes((site.root / ".steadlith" / "index.sqlite3").read_bytes()[60:64], "big")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_effect_an_upgrade_of_the_index_file_is_gone_on_with_and_gone_back_from(
    make_old, paid, crashing, after
):
    number = 0
    while True:
        number += 1
        site = make_old(f"site{number}")
        old, before = site.open().head(), text(site)
        written_by_an_older_release(site)
        found = site.open().migrations.plan()
        assert (found.causes, len(found.upgrades), found.is_nothing) == ((), 1, False)
        paid.clear()
        with crashing(number, after=after) as seen:
            site.open().migrations.apply(found)
        assert version_of(site) in {4, schema.SCHEMA_VERSION}
        assert site.hits("sentence topic4")
        settle(site)
        if site.open().head().generation == 1:
            site.open().migrations.apply(found)
        assert (site.open().head().generation, version_of(site), paid) == (2, schema.SCHEMA_VERSION, Counter())
        assert site.open().migrations.plan().is_nothing
        assert site.open().verify().ok
        index = site.open()
        index.apply(index.plan_rollback(1).plan)
        assert (index.head().state_root, text(site)) == (old.state_root, before)
        assert site.open().verify().ok
        if len(seen) < number:
            break
    assert number > 7


@pytest.mark.parametrize("how", ["apply", "compact", "rollback"])
def test_whatever_writes_first_brings_an_older_file_to_today_s(make_old, paid, how):
    site = make_old()
    site.open().migrations.apply(site.open().migrations.plan(settings=["embedding.dimensions=48"]))
    written_by_an_older_release(site, 5)
    found = site.hits("sentence topic4")
    assert site.open().verify().ok
    assert version_of(site) == 5
    paid.clear()
    index = site.open()
    if how == "apply":
        site.write("another.md", "# Another\n\nOne more sentence.\n")
        index.apply(index.plan())
        assert site.hits("one more sentence")
    elif how == "compact":
        index.compact(keep=1)
        assert site.hits("sentence topic4") == found
    else:
        index.apply(index.plan_rollback(1).plan)
        assert paid == Counter()
    assert version_of(site) == schema.SCHEMA_VERSION
    assert site.open().verify().ok
