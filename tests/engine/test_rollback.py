"""Back to any kept generation: its documents, chunks, occurrences, roots and configuration, and nothing paid."""

import subprocess
import sys

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import steadlith
from steadlith import journals
from steadlith_adapters.embedders import hash as hash_embedder
from steadlith_core import canon
from steadlith_core.errors import (
    AdapterError,
    ConfigError,
    GenerationGone,
    LockHeld,
    PlanRejected,
    PlanStale,
    RollbackRefused,
)
from steadlith_core.planning.planfile import dump, load
from steadlith_core.records import DocumentId


@pytest.fixture(autouse=True)
def allow_embedding(monkeypatch):
    """Turns the embedder off and on: with false, whoever embeds a document fails."""
    allowed = [True]
    kind = type(hash_embedder.FACTORY.build({"dimensions": 32}))
    whole = kind.embed_documents

    def embed(self, texts):
        assert allowed[0], "a rollback embeds nothing"
        return whole(self, texts)

    monkeypatch.setattr(kind, "embed_documents", embed)

    def allow(yes):
        allowed[0] = yes

    return allow


@pytest.fixture
def go_back(allow_embedding):
    """Go back to a generation, and judge it: rows, roots and hits are those of then."""

    def back(site, number):
        index = site.open()
        made = next(each for each in index.history() if each.number == number)
        before = held(index, number)
        found = index.plan_rollback(number)
        allow_embedding(False)
        done = index.apply(found.plan)
        allow_embedding(True)
        again = site.open()
        head = again.head()
        assert (done.embedded, done.calls) == (0, 0)
        assert head == done.head
        assert (head.corpus_root, head.state_root) == (made.corpus_root, made.state_root)
        assert (head.documents, head.chunks, head.recipe) == (made.documents, made.chunks, made.recipe)
        assert held(again, head.generation) == before
        newest = again.history()[-1]
        assert newest.why == f"rollback to {number}"
        assert newest.configuration == made.configuration == again.config.text
        assert again.verify().ok
        with again.reader() as reader:
            assert list(reader.problems(full=True)) == []
        assert not (site.root / ".steadlith" / "steadlith.journal.json").exists()
        return done

    return back


def held(index, number):
    """All that a generation holds, occurrences and spans included."""
    with index.reader(number) as reader:
        return {document.id: (document, reader.chunks(document.id)) for document in reader.documents()}


def hits(site, query="alpha"):
    return [(hit.document, hit.span, hit.score, hit.text) for hit in site.hits(query)]


# -------------------------------------------------------------------------------------- after any edit


def edit(site, article):
    site.write("one.md", article("one").replace("one 2 sentence 3", "another sentence"))


def rename(site, _article):
    (site.docs / "one.md").rename(site.docs / "renamed.md")


def rename_and_edit(site, article):
    (site.docs / "one.md").unlink()
    site.write("renamed.md", article("one") + "And more of it.\n")


def delete(site, _article):
    (site.docs / "one.md").unlink()


def add(site, article):
    site.write("new.md", article("new") + article("one"))


def swap(site, _article):
    one, two = (site.docs / name for name in ("one.md", "two.md"))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def split(site, article):
    whole = article("one")
    middle = whole.index("# one 3")
    site.write("one.md", whole[:middle])
    site.write("rest.md", whole[middle:])


def merge(site, article):
    (site.docs / "two.md").unlink()
    site.write("one.md", article("one") + article("two"))


def reorder(site, article):
    parts = article("one").split("# one ")
    site.write("one.md", "# one ".join([parts[0], *reversed(parts[1:])]))


def other_bytes(site, article):
    site.write("one.md", article("one").replace("\n", "  \r\n"))


def front_matter(site, article):
    site.write("one.md", "---\ntitle: Another\ntags: [x]\n---\n" + article("one"))


def headings(site, article):
    site.write("one.md", article("one").replace("# one 1", "# another heading"))


def everything(site, article):
    for change in (rename, front_matter, swap, add):
        if change is not swap:
            change(site, article)
    (site.docs / "three.md").unlink()


EDITS = [
    edit,
    rename,
    rename_and_edit,
    delete,
    add,
    swap,
    split,
    merge,
    reorder,
    other_bytes,
    front_matter,
    headings,
    everything,
]


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_after_an_edit_all_is_as_it_was_and_the_next_plan_shows_the_edit(settled, article, change, go_back):
    """steadlith 1.0 refused every rollback for ever once a document had been edited or a file touched."""
    answers = hits(settled)
    change(settled, article)
    edited = settled.apply(allow=("--allow-removals",)).head
    assert go_back(settled, 1).head.generation == 3
    assert hits(settled) == answers
    planned = settled.plan()
    assert planned.changes
    assert not planned.drift
    again = settled.apply(planned, allow=("--allow-removals",)).head
    assert (again.corpus_root, again.documents, again.chunks) == (edited.corpus_root, edited.documents, edited.chunks)
    assert settled.plan().is_empty
    go_back(settled, 2)
    assert settled.plan().is_empty


def test_a_source_that_did_not_change_is_not_read_again(settled, article, go_back, monkeypatch):
    edit(settled, article)
    settled.apply()
    go_back(settled, 1)
    read = []
    source = type(settled.open()._assembly.sources["docs"])
    whole = source.read
    monkeypatch.setattr(source, "read", lambda self, path: read.append(path) or whole(self, path))
    assert [str(change.id) for change in settled.plan().changes] == ["docs:one.md"]
    assert read == ["one.md"]


def test_no_occurrence_is_ever_two_documents_however_often_it_goes_back_and_forth(settled, article, go_back):
    """A chunk that was closed, then went on elsewhere, is claimed by the documents that had it."""
    text = article("shared", sections=2)
    settled.write("x.md", text)
    settled.apply()
    (settled.docs / "x.md").unlink()
    settled.apply()
    settled.write("y.md", text)
    settled.apply()
    (settled.docs / "y.md").rename(settled.docs / "x.md")
    settled.apply()
    for number in (2, 4, 3, 1, 5, 2, 5):
        go_back(settled, number)


def test_other_bytes_alone_and_other_occurrences_at_once(settled, article, go_back):
    """Gone and come back with other line ends: the text is the same, the chunks are other occurrences."""
    (settled.docs / "one.md").unlink()
    settled.apply()
    settled.write("one.md", article("one").replace("\n", "\r\n"))
    settled.apply()
    go_back(settled, 1)
    go_back(settled, 3)


def test_to_the_first_generation_from_far_away(settled, article, go_back):
    for number in range(8):
        settled.write(f"more-{number}.md", article(f"more {number}", sections=2))
        edit(settled, lambda name, number=number: article(f"{name} {number}"))
        settled.apply()
    go_back(settled, 1)
    go_back(settled, 9)


def test_to_a_name(settled, article, go_back):
    settled.open().generations.tag("good", 1)
    edit(settled, article)
    settled.apply()
    past = settled.open().generations
    go_back(settled, past.find("good"))
    assert past.tags() == {"good": 1}


def test_what_is_as_it_was_is_nothing_to_do(settled, article):
    found = settled.open().plan_rollback(1)
    assert found.is_nothing
    settled.configure(rest="[guards]\nmax_steps = 7")
    found = settled.open().plan_rollback(1)
    assert not found.is_nothing
    assert (not found.plan.changes, found.plan.recipe_changed) == (True, False)
    settled.open().apply(found.plan)
    assert "max_steps" not in (settled.root / "steadlith.toml").read_text("utf-8")
    assert settled.open().head().generation == 2


def test_a_configuration_that_cannot_be_used_is_gone_back_from(settled, article, go_back):
    file = settled.root / "steadlith.toml"
    file.write_text(file.read_text("utf-8").replace('"hash"', '"gone"').replace('"structural"', '"gone"'), "utf-8")
    with pytest.raises(ConfigError, match="gone"):
        settled.plan()
    go_back(settled, 1)
    assert settled.plan().is_empty


# ----------------------------------------------------------------------------- across configurations

RECIPES = {
    "chunker": {},
    "policy": {},
    "dimensions": {},
    "quantization": {"embedding": 'quantization = "int8"'},
    "template": {"embedding": 'template = "breadcrumb"'},
    "front matter": {"source": 'front_matter = ["tags"]'},
    "path metadata": {"source": '[[sources.docs.metadata]]\nmatch = "*"\nkind = "guide"'},
    "sources": {"source": 'exclude = ["two.md"]'},
}


def reconfigure(site, name):
    site.configure(**RECIPES[name])
    file = site.root / "steadlith.toml"
    text = file.read_text("utf-8")
    if name == "policy":  # with parents, which are not embedded
        usual = 'policy = "structural"\nmin_tokens = 16\nmax_tokens = 48'
        assert usual in text
        text = text.replace(usual, 'policy = "late"\nchild_max_words = 6')
    if name == "chunker":
        text = text.replace("max_tokens = 48", "max_tokens = 72")
    if name == "dimensions":
        text = text.replace("dimensions = 32", "dimensions = 64")
    file.write_text(f"# {name}\n{text}", "utf-8")


@pytest.mark.parametrize("kept", ["index", "cache"])
@pytest.mark.parametrize("name", RECIPES)
def test_field_case_10_across_a_changed_configuration_the_old_vectors_answer_again(
    settled, article, name, kept, go_back
):
    """Vectors of the old space are paid for: they come from the cache, or from the index while it keeps the space."""
    settled.write("one.md", "---\ntags: x\n---\n" + article("one"))
    settled.apply()
    answers = hits(settled)
    reconfigure(settled, name)
    edit(settled, article)
    settled.apply(allow=("--allow-model-change", "--allow-removals"))
    changed = hits(settled)
    if kept == "index":
        (settled.root / ".steadlith" / "cache.sqlite3").unlink()
    if kept == "cache":
        forget_vectors(settled)
    go_back(settled, 2)
    assert hits(settled) == answers
    assert [str(change.id) for change in settled.plan().changes] == ["docs:one.md"]
    if kept != "cache":
        go_back(settled, 3)
        assert hits(settled) == changed
        assert settled.plan().is_empty


def forget_vectors(site, where="entry NOT IN (SELECT entry FROM entry WHERE live = 1)"):
    """Take vectors out of the index behind its back."""
    connection = apsw.Connection(str(site.root / ".steadlith" / "index.sqlite3"))
    connection.execute(f"DELETE FROM vector WHERE {where}").fetchall()
    connection.close()


def test_every_recipe_after_another_and_back_through_all_of_them(settled, article, go_back):
    for number, name in enumerate(RECIPES):
        reconfigure(settled, name)
        settled.write("one.md", article(f"one {number}"))
        settled.apply(allow=("--allow-model-change", "--allow-removals"))
    for number in (*range(len(RECIPES), 0, -1), 4, 2, 7):
        go_back(settled, number)


def test_vectors_that_are_nowhere_are_counted_and_nothing_is_done(settled, article):
    reconfigure(settled, "dimensions")
    settled.apply(allow=("--allow-model-change",))
    (settled.root / ".steadlith" / "cache.sqlite3").unlink()
    forget_vectors(settled, "space = 1")
    before = settled.files()
    chunks = settled.open().head().chunks
    with pytest.raises(RollbackRefused, match=rf"^{chunks} vectors of generation 1 are neither in the cache nor in "):
        settled.open().plan_rollback(1)
    assert settled.files() == before


def test_vectors_that_go_between_plan_and_apply_are_not_paid_for(settled, article, allow_embedding):
    reconfigure(settled, "dimensions")
    settled.apply(allow=("--allow-model-change",))
    found = settled.open().plan_rollback(1)
    (settled.root / ".steadlith" / "cache.sqlite3").unlink()
    forget_vectors(settled, "space = 1")
    allow_embedding(False)
    with pytest.raises(RollbackRefused, match="never pays"):
        settled.open().apply(found.plan)
    assert settled.open().head().generation == 2
    assert settled.open().config.text.startswith("# dimensions")


# ------------------------------------------------------------------------------------------- refusals


def test_a_generation_that_is_compacted_away_is_refused_with_what_is_kept(settled, article):
    for number in range(3):
        settled.write("one.md", article(f"one {number}"))
        settled.apply()
    settled.open().compact(keep=2)
    with pytest.raises(GenerationGone, match=r"generation 1 is not kept.*kept are 3 to 4.*steadlith tag"):
        settled.open().plan_rollback(1)
    with pytest.raises(GenerationGone, match="generation 9 is not kept"):
        settled.open().plan_rollback(9)


def test_where_there_is_no_index_there_is_nothing_to_go_back_to(site):
    before = site.files()
    with pytest.raises(GenerationGone, match="there is no index yet"):
        site.open().plan_rollback(1)
    assert site.files() == before


def test_to_what_compacting_kept(settled, article, go_back):
    for number in range(4):
        settled.write("one.md", article(f"one {number}"))
        reconfigure(settled, "dimensions" if number % 2 else "chunker")
        settled.apply(allow=("--allow-model-change",))
    settled.open().compact(keep=2)
    (settled.root / ".steadlith" / "cache.sqlite3").unlink()
    go_back(settled, 4)
    go_back(settled, 5)


def test_another_store_is_refused_by_its_settings(settled, article):
    edit(settled, article)
    settled.apply()
    settled.configure(rest='[store]\npath = ".steadlith/index.sqlite3"')  # the same file by its name
    assert settled.open().plan_rollback(1).plan.changes
    (settled.root / ".steadlith" / "index.sqlite3").rename(settled.root / "moved.sqlite3")
    settled.configure(rest='[store]\npath = "moved.sqlite3"')
    with pytest.raises(RollbackRefused, match=r"type = 'sqlite', the configuration has .*path = 'moved.sqlite3'"):
        settled.open().plan_rollback(1)


def test_a_configuration_that_leads_elsewhere_today_is_refused_by_the_name_of_what_differs(
    settled, article, monkeypatch
):
    edit(settled, article)
    settled.apply()
    monkeypatch.setattr(hash_embedder, "MODEL_ID", "hash/1", raising=True)
    with pytest.raises(RollbackRefused, match=r"leads to another spaces today: hash/1.*the generation has hash/0"):
        settled.open().plan_rollback(1)


def test_an_adapter_that_is_gone_is_named(settled, article):
    edit(settled, article)
    settled.apply()
    forge_configuration(settled, 1, '[sources.docs]\npath = "docs"\n[embedding]\nembedder = "gone"\n')
    with pytest.raises(RollbackRefused, match=r"configuration of generation 1 cannot be used here.*'gone'"):
        settled.open().plan_rollback(1)
    forge_configuration(settled, 1, "nonsense = 1")
    with pytest.raises(RollbackRefused, match=r"configuration of generation 1 cannot be used here.*nonsense"):
        settled.open().plan_rollback(1)


def test_a_generation_that_did_not_note_its_configuration_keeps_that_of_now(settled, article):
    edit(settled, article)
    settled.apply()
    forge_configuration(settled, 1, None)
    settled.configure(rest="[guards]\nmax_steps = 7")
    index = settled.open()
    found = index.plan_rollback(1)
    assert (found.now, found.generation.configuration) == (found.then, None)
    index.apply(found.plan)
    assert "max_steps" in settled.open().config.text
    assert settled.open().head().corpus_root == found.generation.corpus_root
    reconfigure(settled, "chunker")
    with pytest.raises(RollbackRefused, match="did not note its configuration, and this one leads to another chunker"):
        settled.open().plan_rollback(1)


def forge_configuration(site, number, text):
    """Make a generation one of an older release, or one whose configuration no release reads."""
    from steadlith_adapters.stores.sqlite import connection, told

    session = connection.writing(site.root / ".steadlith" / "index.sqlite3")
    (made,) = (each for each in site.open().history() if each.number == number)
    session.run("DELETE FROM told WHERE number = ?", number)
    if text is not None:
        from dataclasses import replace

        told.write(session, replace(made, configuration=text))
    session.run("COMMIT")
    session.close()


LIE = canon.encode({"title": "a lie", "format": "markdown"}).hex()


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("UPDATE text SET body = body || 'x' WHERE body LIKE '%one 1 sentence%'", "docs:one.md.*does not match"),
        (f"UPDATE document_version SET metadata = x'{LIE}' WHERE valid_to = 2", "docs:one.md.*lead to its root"),
        ("UPDATE document_version SET metadata = x'00' WHERE valid_to = 2", "metadata of docs:one.md cannot be read"),
        ("UPDATE document_version SET root = zeroblob(32) WHERE valid_to = 2", "docs:one.md.*lead to its root"),
        ("UPDATE entry SET title = 'lie' WHERE live = 0", "docs:one.md.*lead to its root"),
        ("DELETE FROM span WHERE valid_to = 2", "generation 1 does not lead to its state"),
    ],
)
def test_damage_to_that_generation_is_named_and_nothing_is_applied(settled, article, sql, named):
    settled.write("one.md", article("another"))
    settled.apply()
    connection = apsw.Connection(str(settled.root / ".steadlith" / "index.sqlite3"))
    connection.execute(sql).fetchall()
    connection.close()
    with pytest.raises(RollbackRefused, match=named):
        settled.open().plan_rollback(1)
    assert settled.open().head().generation == 2


# ------------------------------------------------------------------------------------ plans of rollbacks


def test_a_plan_of_a_rollback_is_a_file_that_can_be_applied_once(settled, article):
    edit(settled, article)
    settled.apply()
    found = settled.open().plan_rollback(1)
    assert found.plan.rollback_to == 1
    assert not found.plan.tripped
    again = load(dump(found.plan))
    assert again == found.plan == settled.open().plan_rollback(1).plan
    done = settled.apply(again)
    assert done.head.corpus_root == found.generation.corpus_root
    assert settled.apply(again).already
    settled.apply()
    with pytest.raises(PlanStale, match="stands on generation 2"):
        settled.apply(again)


def test_nothing_is_lost_by_accident_so_no_guard_judges_it(settled, article):
    settled.apply()
    for number in range(40):
        settled.write(f"many-{number}.md", article(f"many {number}", sections=1))
    settled.apply()
    found = settled.open().plan_rollback(1)
    assert not found.plan.tripped
    assert settled.apply(found.plan).head.documents == 3


def test_a_plan_that_claims_another_generation_is_refused(settled, article):
    from dataclasses import replace

    for number in range(2):
        settled.write("one.md", article(f"one {number}"))
        settled.apply()
    one, two = (settled.open().plan_rollback(number).plan for number in (1, 2))
    for forged in (replace(one, rollback_to=2), replace(two, rollback_to=None), replace(settled.plan(), rollback_to=1)):
        with pytest.raises((PlanStale, PlanRejected)):
            settled.apply(forged)
    assert settled.open().head().generation == 3


def test_two_rollbacks_from_one_head_and_one_wins(settled, article):
    for number in range(2):
        settled.write("one.md", article(f"one {number}"))
        settled.apply()
    code = (
        "import steadlith, sys\nfrom steadlith_core.errors import PlanStale\nindex = steadlith.open(sys.argv[1])\n"
        "plan = index.plan_rollback(int(sys.argv[2])).plan\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n    print(index.apply(plan, lock_timeout=30).head.generation)\nexcept PlanStale:\n    print('stale')\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(settled.root), number],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in ("1", "2")
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    assert sorted(child.communicate()[0].split()[0] for child in children) == ["4", "stale"]
    history = settled.open().history()
    assert history[-1].why in {"rollback to 1", "rollback to 2"}
    assert history[-1].corpus_root == history[int(history[-1].why[-1]) - 1].corpus_root
    assert settled.open().verify().ok


def test_a_held_lock_is_said(settled, article):
    edit(settled, article)
    settled.apply()
    found = settled.open().plan_rollback(1)
    lock = settled.open()._assembly.lock(timeout=0.0, holder="somebody")
    lock.acquire()
    with pytest.raises(LockHeld, match="somebody"):
        settled.open().apply(found.plan)
    lock.release()
    assert settled.open().head().generation == 2


# -------------------------------------------------------------------------------------------- memory


def test_an_index_in_memory_goes_back_too(site, article, allow_embedding):
    site.configure(rest='[store]\ntype = "memory"')
    site.write("one.md", article("one"))
    site.write("two.md", article("two"))
    with site.open() as index:
        index.apply(index.plan())
        first = held(index, 1)
        site.write("one.md", article("another"))
        (site.docs / "two.md").rename(site.docs / "three.md")
        index.apply(index.plan())
        second = held(index, 2)
        allow_embedding(False)
        for number, expected in ((1, first), (2, second), (1, first)):
            done = index.apply(index.plan_rollback(number).plan)
            assert held(index, done.head.generation) == expected
        assert index.verify().ok
        assert index.plan().changes


def test_an_index_in_memory_goes_back_across_a_changed_configuration(site, article, allow_embedding):
    rest = '[store]\ntype = "memory"'
    site.configure(rest=rest)
    site.write("one.md", article("one"))
    with site.open() as index:
        index.apply(index.plan())
        answers = [(hit.document, hit.span, hit.score) for hit in index.search("alpha").hits]
        first = held(index, 1)
        site.configure(rest=rest, embedding='quantization = "int8"\ntemplate = "breadcrumb"')
        index._configure(site.open()._assembly)
        index.apply(index.plan())
        allow_embedding(False)
        done = index.apply(index.plan_rollback(1).plan)
        assert held(index, done.head.generation) == first
        # The same object goes on under the configuration that it went back to.
        assert [(hit.document, hit.span, hit.score) for hit in index.search("alpha").hits] == answers
        assert index.plan().is_empty


# ------------------------------------------------------------------------------------- over a server


@pytest.fixture
def served(make_site, postgres_settings, article):
    """A site whose index is in PostgreSQL, with five generations: texts, names, a setting and a model change."""
    server = "".join(f'{key} = "{value}"\n' for key, value in postgres_settings().items())
    site = make_site("server", rest=f'[store]\ntype = "postgres"\n{server}')
    file = site.root / "steadlith.toml"
    for name in ("one", "two", "three"):
        site.write(f"{name}.md", article(name))
    site.apply()
    edit(site, article)
    rename_and_edit(site, article)
    site.apply(allow=("--allow-removals",))
    file.write_text(file.read_text("utf-8") + "[guards]\nmax_steps = 7777\n", "utf-8")
    (site.docs / "two.md").unlink()
    site.apply(allow=("--allow-removals",))
    file.write_text(file.read_text("utf-8").replace("dimensions = 32", "dimensions = 64"), "utf-8")
    site.apply(allow=("--allow-model-change",))
    front_matter(site, article)
    split(site, article)
    site.apply(allow=("--allow-removals",))
    return site


def test_over_a_server_it_goes_back_to_any_generation_and_back_again(served, go_back):
    answers = {5: hits(served)}
    occurrences = {number: ids(served, number) for number in range(1, 6)}
    for turn, number in enumerate((1, 5, 4, 2, 3, 1, 5), 6):
        assert go_back(served, number).head.generation == turn
        assert ids(served, turn) == occurrences[number]
        assert hits(served) == answers.setdefault(number, hits(served))
        assert ("max_steps = 7777" in (served.root / "steadlith.toml").read_text("utf-8")) == (number > 2)
    assert served.plan().is_empty  # 5 was the last one that the sources led to
    assert served.open().examine().ok


def test_over_a_server_a_rollback_needs_no_cache_and_no_source(served, go_back, article):
    (served.root / ".steadlith" / "cache.sqlite3").unlink()
    for file in served.docs.rglob("*.md"):
        file.unlink()
    go_back(served, 1)
    go_back(served, 4)
    with pytest.raises(GenerationGone, match="generation 9 is not kept"):
        served.open().plan_rollback(9)


def test_over_a_server_a_plan_to_go_back_is_stale_once_the_head_moved(served, article):
    saved = load(dump(served.open().plan_rollback(2).plan))
    add(served, article)
    served.apply()
    with pytest.raises(PlanStale):
        served.apply(saved)
    assert served.open().head().generation == 6


def ids(site, number):
    """The occurrences of a generation, by document."""
    return {id_: [row.occurrence for row in rows] for id_, (_, rows) in held(site.open(), number).items()}


# ---------------------------------------------------------------------------------------- any series

NAMES = ("a.md", "b.md", "sub/c.md", "d.txt")
SOME_WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "# one\n\n", "## two\n\n", "\n\n"]), max_size=30)
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), SOME_WORDS),
    st.tuples(st.just("remove"), st.sampled_from(NAMES)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("configure"), st.sampled_from(sorted(RECIPES))),
    st.tuples(st.just("back"), st.integers(0, 20)),
    st.tuples(st.just("back"), st.integers(0, 20)),
)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=4, max_size=14))
def test_any_series_of_edits_and_rollbacks_is_what_a_dictionary_says(site_at, tmp_path_factory, steps):
    life(site_at(tmp_path_factory.mktemp("life") / "site"), steps)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=4, max_size=40))
def test_any_long_series_of_edits_and_rollbacks_is_what_a_dictionary_says(site_at, tmp_path_factory, steps):
    life(site_at(tmp_path_factory.mktemp("life") / "site"), steps)


def life(site, steps):
    """Do all of it; the model is what each generation held, and the files that lead there."""
    site.write("a.md", "# one\n\nalpha beta\n")
    generations = {}

    def note():
        index = site.open()
        number = index.head().generation
        generations[number] = (held(index, number), index.head(), index.config.text)
        assert index.verify().ok
        with index.reader() as reader:
            assert list(reader.problems(full=True)) == []

    site.apply()
    note()
    for step in steps:
        match step:
            case ("write", name, pieces):
                site.write(name, " ".join(pieces) + "\n")
            case ("remove", name):
                (site.docs / name).unlink(missing_ok=True)
            case ("rename", old, new):
                if (site.docs / old).exists():
                    (site.docs / new).parent.mkdir(exist_ok=True)
                    (site.docs / old).rename(site.docs / new)
            case ("configure", name):
                reconfigure(site, name)
            case ("back", number):
                target = sorted(generations)[number % len(generations)]
                content, head, text = generations[target]
                done = site.apply(site.open().plan_rollback(target).plan)
                assert done.embedded == 0
                assert (done.head.corpus_root, done.head.state_root) == (head.corpus_root, head.state_root)
                assert site.open().config.text == text
                assert held(site.open(), done.head.generation) == content
                note()
                continue
        done = site.apply(allow=("--allow-model-change", "--allow-removals", "--allow-empty"))
        if not done.unchanged:
            note()
        files = {DocumentId("docs", str(path.relative_to(site.docs))) for path in site.docs.rglob("*.*")}
        left_out = {DocumentId("docs", "two.md")} if "exclude" in site.open().config.text else set()
        assert set(held(site.open(), done.head.generation)) == files - left_out


# ---------------------------------------------------------------------------------- what it costs a store


def test_it_reads_and_writes_what_differs_and_nothing_else(site, article, monkeypatch):
    """Rows, not milliseconds: of 100 documents three changed in 20 generations."""
    for number in range(100):
        site.write(f"{number:03}.md", article(f"number {number}", sections=1))
    site.apply()
    for number in range(20):
        site.write(f"{number % 3:03}.md", article(f"edit {number}", sections=1))
        site.apply()
    from steadlith_adapters.stores.sqlite.reader import SqliteReader
    from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction

    asked = []
    for name in ("chunks", "find", "entries", "texts", "documents", "rows", "changed_since"):
        whole = getattr(SqliteReader, name)

        def ask(self, *given, name=name, whole=whole):
            asked.append((name, len(given[0]) if given and isinstance(given[0], list) else 1))
            return whole(self, *given)

        monkeypatch.setattr(SqliteReader, name, ask)
    put = []
    monkeypatch.setattr(
        SqliteTransaction,
        "put_document",
        lambda self, version, whole=SqliteTransaction.put_document: put.append(version.id) or whole(self, version),
    )
    site.apply(site.open().plan_rollback(1).plan)
    assert len(put) == 3
    assert [name for name, _ in asked if name == "documents"] == []
    # Of each changed document, then and now; by the plan, and again by the apply.
    assert sum(name == "chunks" for name, _ in asked) == 2 * 6
    assert sum(name in {"entries", "texts"} for name, _ in asked) == 2 * 2
    assert max(count for _, count in asked) < 20
    # The corpus trie is read below the nodes that move, and nowhere else.
    assert sum(name == "rows" for name, _ in asked) <= 2 * 3


def test_without_rights_to_write_the_journal_nothing_is_committed(settled, article, monkeypatch):

    edit(settled, article)
    reconfigure(settled, "chunker")
    settled.apply()

    def fail(_config, _journal):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journals, "write", fail)
    with pytest.raises(AdapterError, match=r"journal\.json cannot be written.*nothing was committed"):
        settled.apply(settled.open().plan_rollback(1).plan)
    assert settled.open().head().generation == 2
    assert steadlith.open(settled.root).config.text.startswith("# chunker")
