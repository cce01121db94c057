"""An import may be killed at any instant: the index is old or new, what was kept stays, and nothing is embedded."""

import signal
from contextlib import closing, suppress

import pytest

from steadlith import imports
from steadlith_adapters.caches.sqlite.cache import SqliteCache
from steadlith_core.errors import AdapterError, ImportRefused

FAULT = "a crash at every effect of an apply: an import"


class Crash(BaseException):
    """What nothing catches."""


def cached(site):
    with closing(site.open()._assembly.open_cache(readonly=True)) as cache:
        return cache.stats().entries


def finish(adopting, site, request):
    """Do it again, or find that it is done; then it is whole."""
    found = site.open().imports.preview(request)
    if not found.is_nothing:
        site.open().imports.apply(found, same_model=True)
    assert site.open().head().documents == 3
    assert site.open().verify().ok
    assert site.plan().is_empty
    assert site.hits("thatching")[0].document.path == "guide/boats.md"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_effect_leaves_old_or_new_and_is_done_again(adopting, crashing, embedding, tried, after):
    request = adopting.request("langchain")
    number = 0
    while True:
        number += 1
        site = adopting.site(f"site{number}")
        found = site.open().imports.preview(request)
        with crashing(number, after=after) as seen:
            site.open().imports.apply(found, same_model=True)
        assert site.open().head().generation in {0, 1}
        assert site.open().verify().problems == () or site.open().head().generation == 0
        finish(adopting, site, request)
        if len(seen) < number:
            break
    assert number > 6
    assert embedding == []
    tried(FAULT, "an exception that nothing catches, before and after each effect", number)


def test_what_was_kept_is_not_kept_again(adopting, monkeypatch):
    """Killed between two transactions of the cache, the next import goes on from there."""
    monkeypatch.setattr(imports, "TOGETHER", 2)
    request = adopting.request("langchain")
    site = adopting.site()
    found = site.open().imports.preview(request)
    added = []
    whole = SqliteCache.add

    def add(self, vectors):
        if len(added) == 2:
            raise Crash
        added.append(list(vectors))
        return whole(self, vectors)

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(SqliteCache, "add", add)
        site.open().imports.apply(found, same_model=True)
    assert cached(site) == 4
    assert site.open().head().generation == 0
    assert site.plan().cost.embeddings > 0  # what was brought along is no text of ours

    def count(self, vectors):
        added.append(list(vectors))
        return whole(self, vectors)

    monkeypatch.setattr(SqliteCache, "add", count)
    finish(adopting, site, request)
    assert [len(keys) for keys in added] == [2, 2, 0, 0, 2, 1]


KILLED = """
from pathlib import Path
import steadlith
from steadlith import hands, imports
from steadlith.imports import Request
from steadlith_adapters.caches.sqlite.cache import SqliteCache
imports.TOGETHER = 2
hands.Hands.perform = dying(hands.Hands.perform)
SqliteCache.add = dying(SqliteCache.add)
index = steadlith.open(sys.argv[1])
request = Request("langchain", (Path(sys.argv[4]),), strip="docs/", records=Path(sys.argv[5]))
index.imports.apply(index.imports.preview(request), same_model=True)
"""


@pytest.mark.parametrize(
    "numbers", [(2, 6, 9), pytest.param(range(1, 40), marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_a_killed_process_leaves_old_or_new(adopting, embedding, killed, tried, numbers):
    request = adopting.request("langchain")
    times = 0
    for number in numbers:
        for when in ("before", "after"):
            site = adopting.site(f"site-{number}-{when}")
            run = killed(KILLED, site, number, when, request.files[0], request.records)
            if run.returncode == 0:
                assert number > 9
                break
            assert run.returncode == -signal.SIGKILL, run.stderr
            times += 1
            assert site.open().head().generation in {0, 1}
            finish(adopting, site, request)
    assert embedding == []
    tried(FAULT, "SIGKILL before and after each effect and each batch that is kept", times)


def test_an_exception_of_the_cache_is_told_and_nothing_is_committed(adopting, monkeypatch):
    site = adopting.site()
    found = site.open().imports.preview(adopting.request("langchain"))

    def full(self, vectors):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteCache, "add", full)
        with pytest.raises(AdapterError, match="No space left"):
            site.open().imports.apply(found, same_model=True)
    assert site.open().head().generation == 0
    assert site.open().imports.apply(found, same_model=True).head.generation == 1


def test_two_imports_of_one_preview_commit_once(adopting):
    site = adopting.site()
    first, second = site.open().imports, site.open().imports
    request = adopting.request("langchain")
    one, two = first.preview(request), second.preview(request)
    assert first.apply(one, same_model=True).head.generation == 1
    assert second.apply(two, same_model=True).already
    assert site.open().head().generation == 1
    with pytest.raises(ImportRefused):
        second.apply(second.preview(request), same_model=True)
