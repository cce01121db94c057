"""What an edit costs in questions: to the cache, to the index, and in statements. It grows with what changed."""

import re
from collections import Counter

import pytest

from steadlith_adapters.caches.sqlite.cache import SqliteCache
from steadlith_adapters.stores.sqlite.reader import SqliteReader

from .conftest import article

DOCUMENTS = 12
SECTIONS = 30


def write(site):
    for number in range(DOCUMENTS):
        site.write(f"{number}.md", article(f"doc{number}", sections=SECTIONS))


@pytest.fixture
def applied(site):
    write(site)
    site.apply()
    site.apply()  # now the stamps are believed
    return site


def edit(site, documents):
    for number in range(documents):
        text = article(f"doc{number}", sections=SECTIONS)
        site.write(f"{number}.md", text.replace(f"doc{number} 3 sentence 2", "other words"))


@pytest.fixture
def asked(monkeypatch):
    """Keys that were looked up, by where and what."""
    found = Counter()
    for owner, name, at in (
        (SqliteCache, "contains", 0),
        (SqliteReader, "held", 1),
        (SqliteReader, "entries", 0),
    ):
        whole = getattr(owner, name)

        def asking(self, *arguments, whole=whole, name=name, at=at):
            found[name] += len(arguments[at])
            return whole(self, *arguments)

        monkeypatch.setattr(owner, name, asking)
    return found


def test_a_plan_looks_up_vectors_and_entries_of_what_changed_alone(applied, asked):
    edit(applied, 4)
    plan = applied.plan()
    new = plan.counts["add"]
    assert 4 <= new < 4 * SECTIONS / 2
    assert asked["contains"] == new
    assert asked["entries"] == plan.counts["delete"]
    assert asked["held"] <= 3 * new  # a space, and its quantized siblings


def test_an_apply_gives_an_edited_document_few_statements(applied, statements):
    def counted(documents):
        edit(applied, documents)
        plan = applied.plan()
        assert len(plan.changes) == documents
        del statements[:]
        applied.apply(plan)
        count = Counter(re.sub(r"IN \([?,]+\)", "IN ()", sql) for sql in statements)
        write(applied)
        applied.apply()
        applied.apply()
        return count

    few, many = counted(2), counted(10)
    # Read: its version, its chunks. Written: the version that is open is looked for, its chunks released, it and its
    # spans closed; its number is looked up, the chunks claimed, the new version and its spans put. And no other one.
    more = many - few
    assert len([sql for sql, count in more.items() if count >= 8]) == 2 + 8
    assert max(more.values()) == 8


def test_a_document_of_many_chunks_is_read_in_two_statements(applied, statements):
    with applied.open().reader() as reader:
        ids = [document.id for document in reader.documents()]
        del statements[:]
        chunks = [reader.chunks(id_) for id_ in ids]
    assert min(map(len, chunks)) > SECTIONS / 2
    assert len(statements) == 2 * len(ids) + 1  # and the end of the snapshot
