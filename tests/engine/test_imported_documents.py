"""What an imported document lives through: everything that recomputes, keeps, mends, moves or removes documents."""

import shutil
from contextlib import closing

import apsw
import pytest

from steadlith import lockfile, manifests, proofs
from steadlith.observe import Look
from steadlith.verify import verify
from steadlith_core.errors import ConfigError, ProofRejected
from steadlith_core.records import DocumentId, Level
from steadlith_core.state import foreign

FULL = Look(Level.FULL)
BOATS = DocumentId("docs", "guide/boats.md")


@pytest.fixture
def imported(adopting):
    """A site whose three documents are LangChain's, and one that is ours."""
    site = adopting.site()
    adopting.adopt(site, adopting.request("langchain"))
    site.write("ours.md", "# Ours\n\nThis one was cut here, and is about lighthouses.\n")
    site.apply()
    return site


def documents(site):
    with site.open().reader() as reader:
        return {document.id.path: document for document in reader.documents()}


def policies(site):
    return {path: foreign.policy(document.metadata) for path, document in documents(site).items()}


def texts(site, id_=BOATS):
    with site.open().reader() as reader:
        rows = reader.chunks(id_)
        found = reader.texts([row.text_hash for row in rows])
        return [found[row.text_hash] for row in rows]


ALL_THEIRS = dict.fromkeys(("guide/boats.md", "guide/bread.md", "notes.md"), "foreign/langchain") | {"ours.md": None}


def test_ours_and_theirs_are_found_together(imported):
    assert policies(imported) == ALL_THEIRS
    assert imported.hits("lighthouses")[0].document.path == "ours.md"
    assert imported.hits("forestay")[0].document == BOATS
    assert imported.plan().is_empty


def test_every_look_finds_nothing_to_do(imported):
    for look in (Look(), FULL, Look(Level.FULL, repair_only=True), Look(scope=("docs:guide/",))):
        for stat_cache in (True, False):
            plan = imported.open().plan(look, stat_cache=stat_cache)
            assert plan.is_empty
            assert plan.findings == plan.drift == ()


# ------------------------------------------------------------------------------------------ proofs, manifests, the past


def test_a_chunk_is_proven_and_its_text_with_it(imported):
    with imported.open().reader() as reader:
        root = reader.head.corpus_root
        proven = proofs.prove(reader, BOATS, "1")
    text = texts(imported)[1]
    claim = proofs.load(proofs.dump(proven.claim).encode())
    assert claim.chunker is not None
    assert (claim.chunker.normalizer_id, claim.chunker.chunker_id) == ("verbatim/1", "foreign/langchain")
    assert proofs.verify(claim, root, text.encode()).text_matches
    with pytest.raises(ProofRejected):
        proofs.verify(claim, root, (text + ".").encode())


def test_a_manifest_travels_and_is_planned_against(imported):
    index = imported.open()
    with index.reader() as reader:
        whole = b"".join(manifests.export(reader, manifests.header(reader, manifests.corpus_trie(reader))))
    read = manifests.ManifestReader(iter([whole]))
    assert read.head.corpus_root == index.head().corpus_root
    file = imported.root / "state.manifest"
    file.write_bytes(whole)
    assert index.plan(against=file).is_empty


def test_a_lock_pins_it(imported):
    index = imported.open()
    with index.reader() as reader:
        lock = lockfile.pin(manifests.header(reader, manifests.corpus_trie(reader)))
        assert verify(reader, lock=lock).ok


def test_going_back_brings_it_back_without_an_embedding(imported, embedding):
    before = texts(imported)
    boats = imported.docs / "guide" / "boats.md"
    boats.write_text("# Boats\n\nAll of it is other now.\n", "utf-8")
    imported.apply()
    assert policies(imported)["guide/boats.md"] is None
    index = imported.open()
    found = index.plan_rollback(2)
    embedding.clear()
    index.apply(found.plan)
    assert embedding == []
    assert policies(imported) == ALL_THEIRS
    assert texts(imported) == before
    assert imported.open().verify().ok
    assert [str(change.id) for change in imported.plan().changes] == ["docs:guide/boats.md"]


def test_a_restored_text_is_the_source_as_it_was_cut(imported):
    """Chunks of LangChain overlap; what two have in common stands once."""
    for path in ("guide/boats.md", "guide/bread.md", "notes.md"):
        source = (imported.docs / path).read_text("utf-8")
        restored = imported.open().generations.restore(path)
        assert restored.split() == source.split()
    assert imported.open().generations.restore("guide/bread.md").count("Fold the dough") == 1


def test_compacting_keeps_it(imported):
    index = imported.open()
    index.compact(keep=1)
    assert policies(imported) == ALL_THEIRS
    assert imported.open().verify().ok
    assert imported.plan().is_empty
    assert imported.hits("forestay")[0].document == BOATS


def test_it_is_erased_like_any_other(imported):
    shutil.rmtree(imported.docs / "guide")
    imported.apply(allow=("--allow-removals",))
    imported.open().compact(erase=("guide/boats.md", "guide/bread.md"))
    held = (imported.root / ".steadlith" / "index.sqlite3").read_bytes()
    assert b"tabernacle" not in held


def test_a_renamed_document_keeps_its_chunks_and_vectors(imported, embedding):
    before = texts(imported)
    (imported.docs / "guide").rename(imported.docs / "handbook")
    plan = imported.plan()
    assert plan.cost.embeddings == 0
    assert {change.origin.path for change in plan.changes if change.origin} == {"guide/boats.md", "guide/bread.md"}
    embedding.clear()
    imported.apply(plan)
    assert embedding == []
    assert texts(imported, DocumentId("docs", "handbook/boats.md")) == before
    assert policies(imported)["handbook/boats.md"] == "foreign/langchain"
    assert imported.open().verify().ok
    assert imported.plan().is_empty
    boats = imported.docs / "handbook" / "boats.md"
    boats.rename(imported.docs / "boats.md")
    (imported.docs / "boats.md").write_text("# Boats\n\nMoved, and written anew.\n", "utf-8")
    imported.apply()
    assert policies(imported)["boats.md"] is None


# ---------------------------------------------------------------------------------------------- damage and its repair


def damaged(site, statements):
    connection = apsw.Connection(str(site.root / ".steadlith" / "index.sqlite3"))
    connection.execute(statements).fetchall()
    connection.close()


FAULTS = {
    "lexical row": "DELETE FROM lexical WHERE rowid = 1",
    "made dead": "UPDATE entry SET live = 0 WHERE entry = 1",
    "checksum of a vector": "UPDATE vector SET checksum = zeroblob(8) WHERE entry = 1",
    "vector's row": "DELETE FROM vector WHERE entry = 1",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damage_is_mended_from_what_is_recorded(imported, embedding, fault):
    before = imported.open().head()
    damaged(imported, FAULTS[fault])
    assert not imported.open().verify().ok
    embedding.clear()
    repaired = imported.open().repair()
    assert repaired.left.ok, repaired
    assert repaired.unpaid is None
    assert embedding == []
    after = imported.open().head()
    assert after.corpus_root == before.corpus_root
    assert imported.open().verify().ok


def test_a_lost_vector_is_embedded_from_its_text(imported, embedding):
    """Neither the index nor the cache has it: the text is there, and a model of ours can be asked."""
    (imported.root / ".steadlith" / "cache.sqlite3").unlink()
    damaged(imported, FAULTS["checksum of a vector"])
    before = imported.open().head()
    text = texts(imported)[0]
    unpaid = imported.open().repair()
    assert unpaid.unpaid is not None
    assert unpaid.unpaid.embeddings == 1
    embedding.clear()
    repaired = imported.open().repair(pay=True)
    assert repaired.left.ok
    assert text in embedding
    assert imported.open().head().corpus_root == before.corpus_root
    assert policies(imported) == ALL_THEIRS
    assert imported.open().verify().ok


def test_damaged_spans_are_found_again(imported, embedding):
    with imported.open().reader() as reader:
        before = [row.span for row in reader.chunks(BOATS)]
    damaged(imported, "UPDATE span SET positions = zeroblob(length(positions)) WHERE document = 1")
    embedding.clear()
    imported.open().repair()
    imported.open().compact(keep=1)
    assert imported.open().examine().ok
    assert embedding == []
    with imported.open().reader() as reader:
        assert [row.span for row in reader.chunks(BOATS)] == before
    assert policies(imported) == ALL_THEIRS


def test_a_lost_text_is_cut_anew_from_its_source(imported):
    damaged(imported, "UPDATE text SET body = body || ' and a lie' WHERE text = 1")
    plan = imported.open().plan(FULL)
    assert len(plan.mended) == 1
    imported.apply(plan)
    (path,) = (id_.path for id_ in plan.mended)
    assert policies(imported) == {**ALL_THEIRS, path: None}
    imported.open().compact(keep=1)
    assert imported.open().verify().ok


def test_a_lost_index_is_built_anew_by_us(imported):
    """Without its rows nobody knows how it was cut: the sources are cut here, and are paid for."""
    (imported.root / ".steadlith" / "index.sqlite3").unlink()
    plan = imported.plan()
    assert plan.cost.embeddings > 0
    imported.apply(plan, allow=("--allow-rebuild",))
    assert set(policies(imported).values()) == {None}


def test_a_cache_that_was_lost_is_filled_from_the_index(imported, embedding):
    cache = imported.root / ".steadlith" / "cache.sqlite3"
    cache.write_bytes(bytes(range(256)) * 100)
    embedding.clear()
    imported.open().repair()
    assert embedding == []
    with imported.open().reader() as reader:
        rows = reader.chunks(BOATS)
        entries = reader.entries([row.entry_hash for row in rows])
        keys = [foreign.given_key(entries[row.entry_hash]) for row in rows]
    with closing(imported.open()._assembly.open_cache(readonly=True)) as cache:
        assert cache.contains(keys, 32) == frozenset(keys)


def test_a_sample_asks_for_no_text_whose_vector_was_brought_along(imported):
    index = imported.open()
    with index.reader() as reader:
        sample = index.cache.draw(reader, 100)
    assert {asked.document.path for asked in sample.asked} == {"ours.md"}


# ----------------------------------------------------------------------------------------- under another configuration


def reconfigured(site, old, new):
    file = site.root / "steadlith.toml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_another_chunker_cuts_it_anew(imported):
    reconfigured(imported, "max_tokens = 48", "max_tokens = 64")
    plan = imported.plan()
    imported.apply(plan)
    assert set(policies(imported).values()) == {None}
    assert imported.open().verify().ok


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dimensions = 32", 'dimensions = 32\ntemplate = "breadcrumb"'),
        ("dimensions = 32", 'dimensions = 32\nquantization = "int8"'),
        ('path = "docs"', 'path = "docs"\nfront_matter = ["lang"]'),
    ],
    ids=["template", "quantization", "front matter"],
)
def test_what_decides_no_cut_leaves_it_as_it_is(imported, embedding, old, new):
    before = texts(imported)
    reconfigured(imported, old, new)
    plan = imported.plan()
    embedding.clear()
    imported.apply(plan, allow=("--allow-model-change",))
    assert not set(before) & set(embedding)
    assert policies(imported) == ALL_THEIRS
    assert texts(imported) == before
    assert imported.open().verify().ok
    assert imported.plan().is_empty
    assert imported.hits("forestay")[0].document == BOATS


def test_another_model_embeds_their_texts_as_they_were_cut(imported, embedding):
    before = texts(imported)
    reconfigured(imported, "dimensions = 32", "dimensions = 64")
    plan = imported.plan()
    embedding.clear()
    done = imported.apply(plan, allow=("--allow-model-change",))
    assert set(before) <= set(embedding)
    assert done.embedded == 8
    assert policies(imported) == ALL_THEIRS
    assert imported.open().verify().ok
    assert imported.plan().is_empty
    reconfigured(imported, "dimensions = 64", "dimensions = 32")
    back = imported.open().plan_rollback(2)
    embedding.clear()
    imported.open().apply(back.plan)
    assert embedding == []
    assert imported.open().verify().ok


@pytest.mark.parametrize(
    ("setting", "theirs"), [("embedding.dimensions=64", "foreign/langchain"), ("chunking.max_tokens=64", None)]
)
def test_it_is_migrated_checked_and_gone_back_to(imported, embedding, setting, theirs):
    index = imported.open()
    index.migrations.apply(index.migrations.plan(settings=(setting,), min_recall=1.0))
    assert policies(imported)["guide/boats.md"] == theirs
    assert imported.open().verify().ok
    assert imported.plan().is_empty
    back = imported.open().plan_rollback(2)
    embedding.clear()
    imported.open().apply(back.plan)
    assert embedding == []
    assert policies(imported) == ALL_THEIRS
    assert imported.plan().is_empty
    index = imported.open()
    index.migrations.apply(index.migrations.plan(settings=('embedding.quantization="int8"',)))
    assert policies(imported) == ALL_THEIRS
    assert imported.open().verify().ok


def test_no_front_matter_makes_a_document_foreign(make_site):
    site = make_site(source='front_matter = ["policy"]')
    site.write("one.md", "---\npolicy: foreign/jsonl\n---\n# One\n\nText.\n")
    site.write("two.md", "---\npolicy: travel\n---\n# Two\n\nText of the two.\n")
    plan = site.plan()
    assert [(finding.place, finding.kind) for finding in plan.findings] == [("docs:one.md", "front_matter")]
    site.apply(plan)
    assert documents(site)["two.md"].metadata["policy"] == "travel"
    assert site.open().verify().ok


# --------------------------------------------------------------------------------------------- without any source


@pytest.fixture
def sourceless(adopting):
    """Documents of a source `old` that has none, beside a folder of ours."""
    site = adopting.site(rest='[sources.old]\ntype = "imported"\n')
    site.apply()
    found, _ = adopting.adopt(site, adopting.request("steadlith-1", source="old"))
    assert found.passed == ()
    return site


def old(site):
    with site.open().reader() as reader:
        return [document for document in reader.documents() if document.id.source == "old"]


def test_what_no_source_has_lives_on(sourceless):
    assert len(old(sourceless)) == 3
    for look in (Look(), FULL):
        plan = sourceless.open().plan(look)
        assert plan.is_empty
        assert plan.findings == ()
    assert sourceless.hits("tabernacle")[0].document.source in {"docs", "old"}
    sourceless.write("new.md", "# New\n\nSomething else.\n")
    sourceless.apply()
    assert len(old(sourceless)) == 3
    assert sourceless.plan().is_empty
    assert sourceless.open().examine().ok


def test_what_no_source_has_goes_through_every_change_of_the_recipe(sourceless, embedding):
    before = [document.root for document in old(sourceless)]
    for was, now in (
        ("max_tokens = 48", "max_tokens = 64"),
        ("dimensions = 32", 'dimensions = 32\ntemplate = "breadcrumb"'),
        ("dimensions = 32", "dimensions = 64"),
    ):
        reconfigured(sourceless, was, now)
        plan = sourceless.plan()
        sourceless.apply(plan, allow=("--allow-model-change",))
        assert [document.root for document in old(sourceless)] == before
        assert sourceless.open().verify().ok
        assert sourceless.plan().is_empty
        if now == "max_tokens = 64":
            assert not [change for change in plan.changes if change.id.source == "old"]


def test_it_is_mended_though_no_source_has_it(sourceless, embedding):
    with sourceless.open().reader() as reader:
        entry = reader.chunks(DocumentId("old", "notes.md"))[0]
        rows = reader.entries([entry.entry_hash])
    assert rows
    damaged(sourceless, "DELETE FROM lexical WHERE rowid = (SELECT max(entry) FROM entry)")
    assert not sourceless.open().verify().ok
    embedding.clear()
    assert sourceless.open().repair().left.ok
    assert embedding == []


def test_without_the_source_it_goes(sourceless):
    reconfigured(sourceless, '[sources.old]\ntype = "imported"\n', "")
    plan = sourceless.plan()
    assert {change.id.source for change in plan.changes} == {"old"}
    sourceless.apply(plan, allow=("--allow-removals", "--allow-empty"))
    assert old(sourceless) == []


def test_an_imported_source_takes_no_settings(make_site):
    site = make_site(rest='[sources.old]\ntype = "imported"\npath = "x"\n')
    with pytest.raises(ConfigError, match="unknown setting 'path'"):
        site.plan()
