"""One corpus, two stores: the same steps, the same roots, and the same answers as far as both say they give them."""

import os
import shutil
from contextlib import closing

import pytest

from steadlith_core.errors import ConfigError


@pytest.fixture
def sites(make_site, postgres_settings):
    """The same documents under an index in a file and under one on a server."""
    settings = postgres_settings()
    server = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    return make_site("file"), make_site("server", rest=f'[store]\ntype = "postgres"\n{server}')


def edits(article):
    """What is done to the documents, a function a time."""
    yield lambda site: [site.write(f"{name}.md", article(name)) for name in ("one", "two", "three", "four")]
    yield lambda site: site.write("two.md", article("two").replace("sentence 2", "phrase 2"))
    yield lambda site: (site.docs / "three.md").rename(site.docs / "moved.md")
    yield lambda site: [(site.docs / "one.md").unlink(), site.write("new/one.md", article("one", 6))]
    yield lambda site: site.write("four.md", "# Preface\n\nAn inserted line.\n\n" + article("four"))
    yield lambda site: site.write("two.md", article("two"))
    yield lambda site: site.write("empty.md", "")
    yield lambda site: site.write("cjk.md", "# 数据库\n\n数据库事务处理。\n")


def test_both_make_the_same_plans_and_roots_and_find_the_same(sites, article):
    for edit in edits(article):
        plans = []
        for site in sites:
            edit(site)
            plans.append(site.plan())
        file, server = plans
        assert server.changes == file.changes
        assert (server.target, server.cost) == (file.target, file.cost)
        for site, plan in zip(sites, plans, strict=True):
            site.apply(plan)
        heads = [site.open().head() for site in sites]
        assert len({(head.generation, head.corpus_root, head.state_root, head.chunks) for head in heads}) == 1
        assert [site.plan().is_empty for site in sites] == [True, True]
    for site in sites:
        with closing(site.open()) as index:
            assert index.verify().ok
            assert index.examine().ok
    for query in ("sentence 4", "数据库", "two", "topic6", "preface inserted"):
        answers = [{(hit.document, hit.span): hit.dense for hit in site.hits(query)} for site in sites]
        assert answers[0].keys() == answers[1].keys(), query
        for place, dense in answers[0].items():
            assert answers[1][place] == pytest.approx(dense, abs=1e-12)


def test_an_index_moves_from_a_file_to_a_server_without_being_paid_for_again(sites, article):
    file, server = sites
    for edit in edits(article):
        edit(file)
    file.apply()
    shutil.copytree(file.docs, server.docs, dirs_exist_ok=True)
    (server.root / ".steadlith").mkdir()
    shutil.copy(file.root / ".steadlith" / "cache.sqlite3", server.root / ".steadlith" / "cache.sqlite3")
    result = server.apply()
    assert (result.embedded, server.open().head().state_root) == (0, file.open().head().state_root)


def test_a_password_in_the_configuration_stops_everything_and_is_not_shown(make_site):
    site = make_site(rest='[store]\ntype = "postgres"\ndsn = "postgresql://me:hunter2@127.0.0.1:1/db"\n')
    site.write("a.md", "# A\n")
    for ask in (site.plan, site.hits, lambda: site.open().verify(), lambda: site.open().head()):
        with pytest.raises(ConfigError, match="dsn holds a password") as raised:
            ask()
        assert "hunter2" not in str(raised.value)
    told = site.open().examine().troubles
    assert told
    assert "hunter2" not in repr(told)


def test_nothing_of_a_secret_is_kept(make_site, postgres_settings, article):
    """Invariant 9: not in the index, the cache, the fingerprints, a plan or its report."""
    settings = postgres_settings()
    lines = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    site = make_site(rest=f'[store]\ntype = "postgres"\n{lines}')
    site.write("a.md", article("a"))
    plan = site.plan()
    site.apply(plan)
    password = dict(part.split("=", 1) for part in os.environ[settings["dsn_env"]].split())["password"].encode()
    files = [path for path in site.root.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if password in path.read_bytes()] == []
    assert password.decode() not in repr(plan)
