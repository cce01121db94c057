"""The main job on a real folder: what a plan says, what an apply does, what a search finds."""

import os
import shutil

import pytest

from steadlith_core.errors import ConfigError, ForeignFile, GuardRefused, PlanStale, StoreCorrupt, UsageError
from steadlith_core.planning.plan import Fate
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Move, Reason, Update
from steadlith_core.text.canonical import fragment


def test_a_first_apply_makes_what_the_plan_said(site, article):
    site.write("one.md", article("one"))
    planned = site.plan()
    done = site.apply(planned)
    head = done.head
    assert (head.generation, head.documents, head.chunks) == (1, 1, planned.target.chunks)
    assert (head.corpus_root, head.state_root) == (planned.target.corpus_root, planned.target.state_root)
    assert done.embedded == planned.cost.embeddings == planned.counts["add"]
    assert site.open().verify().ok


def test_planning_changes_no_file_and_leaves_none_behind(settled, article):
    settled.write("one.md", article("one") + "A new end.\n")
    before = settled.files()
    settled.plan()
    settled.hits()
    settled.open().verify()
    settled.open().head()
    assert settled.files() == before


def test_planning_without_an_index_creates_nothing(site, article):
    site.write("one.md", article("one"))
    site.plan()
    assert {path.name for path in site.root.iterdir()} == {"docs", "steadlith.toml"}


def test_planning_builds_no_embedder(settled, monkeypatch):
    def build(_settings):
        raise AssertionError("a plan built a model")

    from steadlith_adapters.embedders.hash import FACTORY

    monkeypatch.setattr(type(FACTORY), "build", lambda _self, settings: build(settings))
    settled.write("new.md", "# New\n\nalpha beta.\n")
    assert settled.plan().cost.embeddings == 1


def test_nothing_changed_is_an_empty_plan(settled):
    planned = settled.plan()
    assert planned.is_empty
    assert planned.kept_documents == 3


def test_applying_an_empty_plan_leaves_everything_alone(settled):
    settled.write("one.md", (settled.docs / "one.md").read_text("utf-8") + "Saved plan.\n")
    saved = settled.plan()
    (settled.docs / "two.md").touch()
    before = settled.open().head()
    os.utime(settled.docs / "two.md", (1, 1))
    assert settled.open().head() == before
    assert settled.apply(saved).head.generation == 2


def test_one_edited_paragraph_embeds_one_or_two_chunks(settled, article):
    text = article("two")
    settled.write("two.md", text.replace("two 3 sentence 2 about", "two 3 changed words about"))
    planned = settled.plan()
    assert [str(change.id) for change in planned.changes] == ["docs:two.md"]
    assert 1 <= planned.cost.embeddings <= 2
    assert settled.apply(planned).embedded == planned.cost.embeddings


def test_a_renamed_file_embeds_nothing_and_its_occurrences_live_on(settled):
    before = {hit.chunk_hash for hit in settled.hits("two")}
    (settled.docs / "sub").mkdir()
    (settled.docs / "two.md").rename(settled.docs / "sub" / "zwei.md")
    planned = settled.plan()
    added = next(change for change in planned.changes if change.fate is Fate.ADDED)
    assert str(added.origin) == "docs:two.md"
    assert {type(step) for step in added.steps} == {Move}
    assert settled.apply(planned).embedded == 0
    assert {hit.chunk_hash for hit in settled.hits("two")} == before
    assert not any(hit.document.path == "two.md" for hit in settled.hits("two"))


def test_touching_every_file_changes_nothing(settled):
    for path in settled.docs.iterdir():
        os.utime(path, (1, 1))
    assert settled.plan().is_empty


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b".\n", b".  \t\n"),
    ],
    ids=["crlf", "cr", "bom", "trailing spaces"],
)
def test_bytes_that_the_text_ignores_are_a_respan_with_the_same_root(settled, change):
    path = settled.docs / "one.md"
    root = settled.open().head().corpus_root
    path.write_bytes(change(path.read_bytes()))
    planned = settled.plan()
    assert [change.steps for change in planned.changes] == [(Update(None, Reason.SOURCE_BYTES),)]
    done = settled.apply(planned)
    assert (done.head.corpus_root, done.head.generation, done.embedded) == (root, 2, 0)
    assert settled.plan().is_empty
    source = path.read_bytes()
    for hit in settled.hits("one"):
        if hit.document.path == "one.md":
            assert fragment(source[hit.span.start : hit.span.end]) == hit.text


def test_a_deleted_index_is_rebuilt_from_the_cache_for_nothing(settled):
    root = settled.open().head().corpus_root
    for path in (settled.root / ".steadlith").glob("index*"):
        path.unlink()
    planned = settled.plan()
    assert planned.cost.embeddings == 0
    done = settled.apply(planned)
    assert (done.embedded, done.head.corpus_root) == (0, root)


def test_a_lost_cache_costs_nothing_for_what_the_index_holds(settled):
    for path in (settled.root / ".steadlith").glob("cache*"):
        path.unlink()
    (settled.docs / "two.md").rename(settled.docs / "zwei.md")
    settled.write("copy.md", (settled.docs / "one.md").read_bytes())
    assert settled.plan().cost.embeddings == 0
    assert settled.apply().embedded == 0


def test_a_deleted_file_is_found_no_more(settled):
    assert any(hit.document.path == "three.md" for hit in settled.hits("three"))
    (settled.docs / "three.md").unlink()
    settled.apply()
    assert not any(hit.document.path == "three.md" for hit in settled.hits("three"))
    assert settled.open().verify().ok


def test_a_saved_plan_applied_again_says_already_applied(settled, article):
    settled.write("new.md", article("new"))
    saved = load(dump(settled.plan()))
    first = settled.apply(saved)
    again = settled.apply(saved)
    assert (first.already, again.already) == (False, True)
    assert again.head == first.head


def test_a_plan_is_refused_after_the_index_moved(settled, article):
    settled.write("new.md", article("new"))
    old = settled.plan()
    settled.write("other.md", article("other"))
    settled.apply()
    before = settled.files()
    with pytest.raises(PlanStale, match="generation 1"):
        settled.apply(old)
    assert {name: data for name, (data, _) in settled.files().items()} == {
        name: data for name, (data, _) in before.items()
    }


@pytest.mark.parametrize("move", ["edit", "delete"])
def test_a_plan_is_refused_after_its_document_moved(settled, article, move):
    path = settled.write("new.md", article("new"))
    saved = settled.plan()
    if move == "edit":
        path.write_text(article("changed"), "utf-8")
    else:
        path.unlink()
    with pytest.raises(PlanStale, match=r"docs:new\.md"):
        settled.apply(saved)
    assert settled.open().head().generation == 1


def test_a_change_that_the_plan_does_not_name_is_left_to_the_next(settled, article):
    from steadlith_core.events import Warned

    settled.write("new.md", article("new"))
    saved = settled.plan()
    settled.write("one.md", article("one") + "Changed meanwhile.\n")
    settled.write("later.md", article("later"))
    (settled.docs / "three.md").unlink()
    told = []
    settled.apply(saved, report=told.append)
    warned = {event.message.split(" ")[0] for event in told if isinstance(event, Warned)}
    assert warned == {"docs:one.md", "docs:later.md", "docs:three.md"}
    left = {str(change.id) for change in settled.plan().changes}
    assert left == {"docs:one.md", "docs:later.md", "docs:three.md"}


def test_every_hit_carries_its_exact_source_span(site):
    sources = {
        "lf.md": "# One\n\nalpha café.\n\nalpha two.\n".encode(),
        "crlf.md": "# One\r\n\r\nalpha café  \r\n\r\nalpha zwei\t\r\n".encode(),
        "cr.md": b"# One\r\ralpha drei\r\ralpha vier\r",
        "bom.md": b"\xef\xbb\xbf# One\n\nalpha five\n",
        "nfd.md": "# Cafe\u0301\n\nalpha e\u0301te\u0301 \u1112\u1161\u11ab\n".encode(),
        "astral.md": "# \U0001f600\n\nalpha \U0001d11e \U0001f468\u200d\U0001f469 end\n".encode(),
        "front.md": b"---\ntitle: alpha title\ntags: [a, b]\n---\n\n# Body\n\nalpha text\n",
        "plain.txt": b"alpha plain\n\n\n   indented alpha\n",
    }
    for name, data in sources.items():
        site.write(name, data)
    site.apply()
    hits = site.hits("alpha")
    assert {hit.document.path for hit in hits} == set(sources)
    for hit in hits:
        data = sources[hit.document.path]
        assert fragment(data[hit.span.start : hit.span.end]) == hit.text
        lines = data[: hit.span.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
        assert hit.span.first_line == lines + 1
        assert hit.dense is not None
    front = next(hit for hit in hits if hit.document.path == "front.md")
    assert (front.title, front.headings) == ("alpha title", ("Body",))


def test_equal_texts_in_two_places_are_two_hits(site):
    site.write("a.md", "alpha same text\n")
    site.write("b/c.md", "alpha same text\n")
    site.apply()
    assert [str(hit.document) for hit in site.hits()] == ["docs:a.md", "docs:b/c.md"]


@pytest.mark.parametrize(
    "query", ["", "   ", '"', "AND OR NOT", "title:x", "*", "C++", "\x00", "😀", "a" * 5000, "(", "^x"]
)
def test_no_query_is_an_error(settled, query):
    settled.open().search(query)


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_an_error_that_shows_it(settled, limit):
    with pytest.raises(UsageError, match=f"limit = {limit}"):
        settled.open().search("alpha", limit=limit)


def test_limit_counts_hits_and_the_order_is_stable(settled):
    everything = settled.hits("alpha sentence", limit=200)
    assert settled.hits("alpha sentence", limit=3) == everything[:3]
    assert settled.hits("alpha sentence", limit=200) == everything


def test_searching_an_index_that_is_not_there_has_no_hits(site):
    assert site.hits("anything") == ()


def test_an_empty_folder_has_nothing_to_change(site):
    assert site.plan().is_empty


def test_a_missing_source_folder_is_an_error_and_nothing_is_deleted(settled):
    shutil.rmtree(settled.docs)
    with pytest.raises(ConfigError, match="does not exist"):
        settled.plan()
    assert settled.open().head().documents == 3


def test_an_index_of_another_program_is_refused_and_named(site):
    (site.root / ".steadlith").mkdir()
    (site.root / ".steadlith" / "index.sqlite3").write_bytes(b"not a database at all, but long enough" * 100)
    site.write("a.md", "alpha\n")
    with pytest.raises((ForeignFile, StoreCorrupt), match=r"index\.sqlite3"):
        site.plan()


def test_a_changed_title_updates_entries_without_embedding(settled, article):
    settled.configure(source='front_matter = ["tags"]')
    settled.apply()
    settled.write("one.md", "---\ntitle: Fresh title\ntags: x\n---\n" + article("one"))
    planned = settled.plan()
    assert planned.cost.embeddings == 0
    settled.apply(planned)
    assert {hit.title for hit in settled.hits("one") if hit.document.path == "one.md"} == {"Fresh title"}


def test_a_changed_chunk_size_rekeys_and_reuses(settled):
    text = (settled.root / "steadlith.toml").read_text("utf-8")
    (settled.root / "steadlith.toml").write_text(text.replace("max_tokens = 48", "max_tokens = 49"), "utf-8")
    planned = settled.plan()
    assert planned.counts["rekey"] + planned.counts["add"] == planned.target.chunks
    assert planned.counts["rekey"] > 0
    done = settled.apply(planned)
    assert done.embedded == planned.cost.embeddings
    assert settled.plan().is_empty
    assert settled.open().verify().ok


def test_another_model_needs_a_word_and_then_embeds_everything(settled):
    text = (settled.root / "steadlith.toml").read_text("utf-8")
    before = settled.hits()
    (settled.root / "steadlith.toml").write_text(text.replace("dimensions = 32", "dimensions = 64"), "utf-8")
    assert settled.hits() == before  # by the model of the index, until the change is applied
    planned = settled.plan()
    assert planned.counts["reembed"] == planned.target.chunks
    with pytest.raises(GuardRefused, match="--allow-model-change"):
        settled.apply(planned)
    done = settled.apply(planned, allow=["--allow-model-change"])
    assert done.head.recipe.spaces[0].dimensions == 64
    assert settled.plan().is_empty
    assert settled.open().verify().ok
    assert settled.hits()


def test_the_breadcrumb_template_reembeds_below_a_renamed_heading(settled, article):
    settled.configure(embedding='template = "breadcrumb"')
    settled.apply()
    assert settled.plan().is_empty
    settled.write("one.md", article("one").replace("# one 2", "# renamed 2"))
    reasons = {step.reason for change in settled.plan().changes for step in change.steps}
    assert reasons <= {Reason.CONTEXT, Reason.NEW_TEXT, Reason.TEXT_GONE, Reason.HEADINGS}


def test_two_sources_with_one_path_do_not_collide(make_site, article):
    site = make_site(rest='[sources.more]\npath = "more"')
    (site.root / "more").mkdir()
    site.write("readme.md", article("first"))
    (site.root / "more" / "readme.md").write_text(article("second"), "utf-8")
    site.apply()
    (site.root / "more" / "readme.md").unlink()
    (site.root / "more" / "keep.md").write_text("alpha keep\n", "utf-8")
    site.apply()
    assert {str(hit.document) for hit in site.hits("alpha", 200)} == {"docs:readme.md", "more:keep.md"}


def test_the_memory_store_serves_one_open_index(make_site, article):
    site = make_site(rest='[store]\ntype = "memory"')
    site.write("a.md", article("a"))
    with site.open() as index:
        index.apply(index.plan())
        assert index.plan().is_empty
        assert index.search("alpha").hits
        assert index.verify().ok


def test_a_changed_setting_without_any_step_is_recorded_once(settled):
    root = settled.open().head().corpus_root
    settled.configure(source='front_matter = ["nobody-has-this"]')
    planned = settled.plan()
    assert planned.recipe_changed
    assert (planned.changes, planned.is_empty) == ((), False)
    head = settled.apply(planned).head
    assert (head.generation, head.corpus_root, head.recipe) == (2, root, planned.recipe)
    assert settled.plan().is_empty


def test_a_saved_plan_in_a_source_is_no_document(make_site):
    site = make_site()
    site.write("a.md", "alpha\n")
    site.write("plan.json", dump(site.plan()))
    assert [str(change.id) for change in site.plan().changes] == ["docs:a.md"]
    site.write("data.json", '{"kind": "steadlith-plan"}')
    assert len(site.plan().changes) == 2


def test_front_matter_is_kept_for_the_source_that_asks_for_it(make_site):
    site = make_site(source='front_matter = ["tags"]', rest='[sources.more]\npath = "more"')
    (site.root / "more").mkdir()
    for folder in ("docs", "more"):
        (site.root / folder / "a.md").write_text("---\ntags: x\n---\nalpha\n", "utf-8")
    site.apply()
    with site.open().reader() as reader:
        kept = {document.id.source: document.metadata.get("tags") for document in reader.documents()}
    assert kept == {"docs": "x", "more": None}


def test_a_refused_apply_leaves_no_cache_and_no_index_behind(site, article):
    path = site.write("a.md", article("a"))
    saved = site.plan()
    path.write_text("changed\n", "utf-8")
    with pytest.raises(PlanStale):
        site.apply(saved)
    left = {path.name for path in (site.root / ".steadlith").iterdir()}
    assert left <= {"index.sqlite3.lock", "index.sqlite3.lock.info"}


def test_an_input_that_the_model_does_not_take_is_a_finding_and_the_rest_goes_on(site, article, monkeypatch):
    from dataclasses import replace

    from steadlith_adapters.embedders.hash import FACTORY
    from steadlith_core.records import FindingKind

    whole = type(FACTORY).describe
    monkeypatch.setattr(type(FACTORY), "describe", lambda self, settings: replace(whole(self, settings), max_bytes=150))
    site.write("good.md", "short alpha\n")
    site.write("long.md", "alpha beta gamma delta " * 8)
    planned = site.plan()
    assert [(finding.place, finding.kind) for finding in planned.findings] == [
        ("docs:long.md", FindingKind.INPUT_TOO_LONG)
    ]
    assert site.apply(planned).head.documents == 1


def test_an_apply_says_nothing_of_files_that_its_plan_found_to_be_no_documents(site, article):
    site.write("a.md", article("a"))
    site.write("picture.md", b"\x00\x01")
    told = []
    site.apply(report=told.append)
    assert not [event for event in told if type(event).__name__ == "Warned"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE document_version SET occurrences = x'0102' WHERE document = 1",
        "DELETE FROM occurrence WHERE occurrence = 1",
    ],
)
def test_verify_names_every_damaged_document_and_goes_on(settled, damage):
    import apsw

    connection = apsw.Connection(str(settled.root / ".steadlith" / "index.sqlite3"))
    connection.execute(damage)
    connection.execute("UPDATE text SET body = 'tampered' WHERE text = (SELECT max(text) FROM text)")
    connection.close()
    found = settled.open().verify()
    assert not found.ok
    assert any("docs:three.md" in problem or "docs:two.md" in problem for problem in found.problems)
    assert any("docs:one.md" in problem or "occurrence" in problem for problem in found.problems)
