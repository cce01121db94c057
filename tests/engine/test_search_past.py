"""A search of a kept generation is the search of then; and who edits a configuration can go on searching."""

import apsw
import pytest

import steadlith
from steadlith import asking, config
from steadlith_core.errors import ConfigError, GenerationGone, UsageError

QUERIES = ("alpha sentence 3", "topic4", "one 2", "a word that is nowhere", "another phrase")
WIDER = "dimensions = 48\n"


@pytest.fixture
def sites(make_site, postgres_settings):
    """One index in a file and one on a server."""
    server = "".join(f'{key} = "{value}"\n' for key, value in postgres_settings().items())
    return make_site("file"), make_site("server", rest=f'[store]\ntype = "postgres"\n{server}')


def edits(article):
    """What makes a generation each."""
    yield lambda site: [site.write(f"{name}.md", article(name)) for name in ("one", "two", "three")]
    yield lambda site: site.write("two.md", article("two").replace("sentence 2", "another phrase"))
    yield lambda site: (site.docs / "three.md").rename(site.docs / "moved.md")
    yield lambda site: [(site.docs / "one.md").unlink(), site.write("new/one.md", article("one", 6))]
    yield lambda site: [site.write(f"more{number}.md", article(f"more {number}", 2)) for number in range(4)]
    yield lambda site: site.write("new/one.md", "# One\n\nnothing is left of it\n")


def told(answer):
    """All of the hits but what differs by rounding alone."""
    return [
        (hit.document, hit.span, hit.text, hit.source_digest, hit.dense, round(hit.score, 9), hit.lexical is None)
        for hit in answer.hits
    ]


def answers(index, at=None, **options):
    return [told(index.search(query, limit=20, at=at, **options)) for query in QUERIES]


@pytest.fixture
def wider(site, article):
    """Two generations: the second by a model of other dimensions."""
    site.write("one.md", article("one"))
    site.write("two.md", article("two"))
    site.apply()
    text = (site.root / "steadlith.toml").read_text("utf-8")
    changed = text.replace("dimensions = 32\n", WIDER)
    assert changed != text
    (site.root / "steadlith.toml").write_text(changed, "utf-8")
    return site


def test_every_kept_generation_answers_what_it_answered_as_the_head(sites, article):
    for site in sites:
        were = {}
        for edit in edits(article):
            edit(site)
            number = site.apply(allow=["--allow-removals"]).head.generation
            index = site.open()
            were[number] = answers(index), answers(index, places=["two.md", "moved.md"])
        index = site.open()
        assert len(were) == 6
        for number, (whole, some) in were.items():
            assert answers(index, at=number) == whole
            assert answers(index, at=number, places=["two.md", "moved.md"]) == some
            found = index.search("alpha", at=number)
            assert (found.generation, found.note) == (number, None)
        assert any(were[1] != others for others in were.values())


def test_parts_have_the_parents_of_then(make_site, article):
    site = make_site()
    text = (site.root / "steadlith.toml").read_text("utf-8")
    settings = "child_max_words = 20\nchild_overlap_words = 5\nparent_max_words = 100\n"
    late = text.replace('"structural"\nmin_tokens = 16\nmax_tokens = 48\n', f'"late"\n{settings}')
    (site.root / "steadlith.toml").write_text(late, "utf-8")
    site.write("one.md", article("one"))
    site.apply()
    before = site.open().search("alpha", limit=20, parents=True).hits
    assert any(hit.parent for hit in before)
    site.write("one.md", "# Other\n\nOther words.\n")
    site.apply(allow=["--allow-removals"])
    assert site.open().search("alpha", limit=20, parents=True, at=1).hits == before


def test_a_quantized_space_is_compared_in_full(make_site, article):
    site = make_site(embedding='quantization = "int8"')
    site.write("one.md", article("one"))
    site.apply()
    exact = answers(site.open(), exact=True)
    site.write("one.md", article("two"))
    site.apply(allow=["--allow-removals"])
    assert answers(site.open(), at=1) == exact


def test_a_search_goes_on_while_the_configuration_names_another_model(site, wider):
    index = wider.open()
    found = index.search("alpha sentence 3", limit=20)
    assert found.note is not None
    assert "generation 1 was embedded by" in found.note
    assert "(32 dimensions, float32): the configuration names " in found.note
    assert found.note.endswith("(48 dimensions, float32), so the configuration of generation 1 was searched under")
    text = (site.root / "steadlith.toml").read_text("utf-8")
    (site.root / "steadlith.toml").write_text(text.replace(WIDER, "dimensions = 32\n"), "utf-8")
    again = site.open().search("alpha sentence 3", limit=20)
    assert (again.hits, again.note) == (found.hits, None)
    (site.root / "steadlith.toml").write_text(text.replace('"hash"', '"no-such-embedder"'), "utf-8")
    broken = site.open().search("alpha sentence 3", limit=20)
    assert broken.hits == found.hits
    assert "the configuration cannot be used here (" in broken.note
    assert "no-such-embedder" in broken.note


def test_a_search_reaches_across_a_change_of_model(wider):
    before = answers(wider.open())
    wider.apply(allow=["--allow-model-change"])
    index = wider.open()
    now = answers(index)
    assert now != before
    assert answers(index, at=1) == before
    assert answers(index, at=2) == now
    assert [index.search("alpha", at=number).note for number in (1, 2)] == [None, None]


def forget_configurations(site):
    """As an index of an older release has it."""
    connection = apsw.Connection(str(site.root / ".steadlith" / "index.sqlite3"))
    connection.execute("DELETE FROM told")
    connection.close()


def test_where_no_configuration_was_noted_that_of_now_does_if_it_leads_there(site, wider):
    wider.apply(allow=["--allow-model-change"])
    forget_configurations(site)
    index = site.open()
    with pytest.raises(ConfigError) as raised:
        index.search("alpha", at=1)
    assert "generation 1 was embedded by" in str(raised.value)
    assert "generation 1 noted no configuration, and the configuration names " in str(raised.value)
    text = (site.root / "steadlith.toml").read_text("utf-8")
    (site.root / "steadlith.toml").write_text(text.replace(WIDER, "dimensions = 32\n"), "utf-8")
    found = site.open().search("alpha", at=1)
    assert found.hits
    assert found.note.endswith("generation 1 noted no configuration, so the configuration was searched under")
    with pytest.raises(ConfigError, match="generation 2 noted no configuration; plan and apply the change first"):
        site.open().search("alpha")


def test_a_configuration_of_then_that_cannot_be_used_is_named(site, wider, monkeypatch):
    def refuse(_text, _path):
        raise ConfigError("there is no embedder 'gone'")

    monkeypatch.setattr(asking.configuration, "read", refuse)
    index = steadlith.Index(config.parse({**_tables(site)}, site.root / "steadlith.toml"))
    with pytest.raises(ConfigError, match=r"the configuration of generation 1 cannot be used here \(there is no"):
        index.search("alpha")


def _tables(site):
    import tomllib

    return tomllib.loads((site.root / "steadlith.toml").read_text("utf-8"))


def test_places_are_those_of_the_sources_of_then(wider):
    text = (wider.root / "steadlith.toml").read_text("utf-8")
    (wider.root / "steadlith.toml").write_text(text.replace("[sources.docs]", "[sources.wiki]"), "utf-8")
    index = wider.open()
    assert {hit.document.path for hit in index.search("alpha", places=["docs:one.md"]).hits} == {"one.md"}
    with pytest.raises(UsageError, match="there is no source 'wiki'"):
        index.search("alpha", places=["wiki:one.md"])


def test_what_is_not_kept_is_not_searched(churned):
    churned.open().compact(keep=2)
    index = churned.open()
    assert index.search("alpha", at=4).generation == 4
    for number in (1, 3, 6, -1):
        with pytest.raises(GenerationGone, match=f"generation {number} is not kept"):
            index.search("alpha", at=number)


def test_an_ordinary_search_does_not_look_into_the_history(settled, monkeypatch):
    index = settled.open()
    monkeypatch.setattr(index, "history", lambda: pytest.fail("nothing asks for it"))
    assert index.search("alpha").hits
