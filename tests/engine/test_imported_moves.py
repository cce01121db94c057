"""What others cut and paid for moves to another store like the rest: verbatim, with the vectors that it came with."""

import pytest

THERE = "[store]\ntype = 'sqlite'\npath = '.steadlith/there.sqlite3'\n"


@pytest.mark.parametrize("form", ["jsonl", "langchain", "steadlith-1"])
@pytest.mark.parametrize("to", ["file", "server"])
def test_what_was_adopted_moves_with_its_vectors(adopting, embedding, server, form, to):
    site = adopting.site()
    adopting.adopt(site, adopting.request(form))
    was = site.open().head()
    with site.open().reader() as reader:
        before = {
            document.id: [row.entry_hash for row in reader.chunks(document.id)] for document in reader.documents()
        }
    stores = site.open().migrations.stores
    text = (site.root / "steadlith.toml").read_text("utf-8").partition("[store]")[0]
    stores.apply(stores.plan(text + (server if to == "server" else THERE)))
    assert (site.open().head().corpus_root, site.open().head().state_root) == (was.corpus_root, was.state_root)
    with site.open().reader() as reader:
        after = {document.id: [row.entry_hash for row in reader.chunks(document.id)] for document in reader.documents()}
    assert after == before
    assert site.open().verify().ok
    assert site.plan().is_empty
    assert embedding == []


def test_beside_what_we_cut_since(adopting, embedding):
    site = adopting.site()
    adopting.adopt(site, adopting.request("jsonl"))
    site.write("notes.md", "# Notes\n\nWritten anew, and cut by us.\n")
    assert site.apply().embedded == 1
    was, paid = site.open().head(), len(embedding)
    stores = site.open().migrations.stores
    stores.apply(stores.plan(site.text().partition("[store]")[0] + THERE))
    assert site.open().head().state_root == was.state_root
    assert site.open().verify().ok
    assert site.plan().is_empty
    assert len(embedding) == paid
