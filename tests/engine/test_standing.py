"""In a `with` block a store that searches stays open: the same answers, whoever writes meanwhile, from any thread."""

import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

import steadlith
from steadlith.standing import Standing
from steadlith_adapters.sqlite import opening
from steadlith_core.errors import ForeignFile, UsageError

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")


@pytest.fixture
def site(make_site):
    made = make_site()
    made.write("a.md", "# Hotels\n\nA hotel costs eighty.\n")
    made.apply()
    return made


@pytest.fixture
def opened(monkeypatch):
    """Every connection that is made for reading an index."""
    made, real = [], opening.for_reading

    def counting(kind, path, **options):
        made.append(path.name)
        return real(kind, path, **options)

    monkeypatch.setattr(opening, "for_reading", counting)
    return made


def open_files(site):
    links = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return {link.name for link in links if site.root in link.parents}


def texts(index, query="hotel"):
    return [hit.text for hit in index.search(query).hits]


def test_many_searches_open_the_index_once(site, opened):
    with site.open() as index:
        found = [texts(index) for _ in range(5)]
        assert opened == ["index.sqlite3"]
        assert "index.sqlite3" in open_files(site)
    assert found == [texts(site.open())] * 5
    assert open_files(site) == set()
    assert {path.name for path in (site.root / ".steadlith").glob("index*")} == {"index.sqlite3", "index.sqlite3.lock"}


def test_without_a_with_block_nothing_stays_open(site, opened):
    index = site.open()
    for _ in range(3):
        texts(index)
        assert open_files(site) == set()
    assert opened == ["index.sqlite3"] * 3


def test_what_others_write_meanwhile_is_found_and_nobody_is_held_up(site):
    with site.open() as index:
        assert len(texts(index)) == 1
        site.write("b.md", "# More hotels\n\nAnother hotel costs ninety.\n")
        site.apply()
        assert len(texts(index)) == 2
        site.open().compact(keep=1)
        assert len(texts(index)) == 2
        site.write("c.md", "# Camping\n\nNo hotel at all.\n")
        index.apply(index.plan())  # by itself, too
        assert len(texts(index)) == 3
        assert index.verify().ok


def test_an_index_that_is_replaced_or_removed_is_not_searched_any_more(site, make_site):
    other = make_site("other")
    other.write("z.md", "# Elsewhere\n\nA hotel in another index.\n")
    other.apply()
    with site.open() as index:
        assert texts(index) == ["# Hotels\n\nA hotel costs eighty."]
        shutil.copy(other.root / ".steadlith" / "index.sqlite3", site.root / ".steadlith" / "new")
        (site.root / ".steadlith" / "new").replace(site.root / ".steadlith" / "index.sqlite3")
        assert texts(index) == ["# Elsewhere\n\nA hotel in another index."]
        (site.root / ".steadlith" / "index.sqlite3").unlink()
        assert texts(index) == []


def test_an_index_that_a_newer_release_migrated_is_refused(site):
    with site.open() as index:
        texts(index)
        newer = sqlite3.connect(site.root / ".steadlith" / "index.sqlite3")
        newer.execute("PRAGMA user_version = 99")
        newer.close()
        with pytest.raises(ForeignFile, match="newer Steadlith"):
            texts(index)


def test_an_index_that_is_made_later_is_found(make_site):
    site = make_site()
    site.write("a.md", "# Hotels\n\nA hotel costs eighty.\n")
    with site.open() as index:
        assert texts(index) == []
        site.apply()
        assert texts(index) == ["# Hotels\n\nA hotel costs eighty."]


def test_threads_that_search_at_once_have_a_store_each(site, opened):
    expected = texts(site.open())
    opened.clear()
    found, barrier = [], threading.Barrier(8)
    with site.open() as index:

        def searching():
            barrier.wait()
            found.extend(texts(index) for _ in range(10))

        threads = [threading.Thread(target=searching) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [expected] * 80
    assert len(opened) <= 8
    assert open_files(site) == set()


def test_a_search_that_fails_leaves_nothing_open_and_the_next_one_works(site):
    with site.open() as index:
        with pytest.raises(UsageError):
            index.search("hotel", limit=0)
        assert open_files(site) == set()
        assert len(texts(index)) == 1


def test_closing_ends_what_is_still_in_use_when_it_is_given_back(site):
    index = site.open()
    with index:
        reading = index.reader()
        reader = reading.__enter__()
    assert len(list(reader.documents())) == 1
    reading.__exit__(None, None, None)
    assert open_files(site) == set()
    assert len(texts(index)) == 1  # as one that opens for each call


def test_as_many_stores_are_made_as_are_asked_at_once():
    class Store:
        closed = 0

        def close(self):
            Store.closed += 1

    made = []
    standing = Standing(lambda: made.append(Store()) or made[-1])
    for _ in range(3):
        with standing.one() as first, standing.one() as second:
            assert first is not second
    assert len(made) == 2
    standing.close()
    assert Store.closed == 2


def test_an_index_in_memory_is_one_and_the_same(make_site):
    site = make_site()
    site.configure(rest='[store]\ntype = "memory"\n')
    site.write("a.md", "# Hotels\n\nA hotel costs eighty.\n")
    with steadlith.open(site.root) as index:
        index.apply(index.plan())
        assert texts(index) == ["# Hotels\n\nA hotel costs eighty."]
