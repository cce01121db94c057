"""Exporting an index, reading the manifest as planning does, and comparing states."""

import pytest

from steadlith import files, manifests
from steadlith.differences import Kind, Side, compare, compare_plans
from steadlith.verify import Pinned, verify, verify_manifest
from steadlith_core.errors import GenerationGone, ManifestError, UsageError
from steadlith_core.records import DocumentId, Level
from steadlith_core.rows import RecordedChunk
from steadlith_core.state.roots import empty_head


def exported(site, generation=None):
    with site.open() as index:
        history = index.history()
        with index.reader(generation) as reader:
            return b"".join(manifests.export(reader, header(reader, history)))


def header(reader, history=()):
    return manifests.header(reader, manifests.corpus_trie(reader), history)


def manifest(site, generation=None):
    return manifests.ManifestReader([exported(site, generation)])


def test_the_same_state_is_the_same_bytes_wherever_and_however_it_came_to_be(make_site, article):
    bytes_of = []
    for name, order in (("here", "abc"), ("there", "cab")):
        site = make_site(name)
        for each in order:
            site.write(f"{each}.md", article(each))
            site.apply()
        bytes_of.append(exported(site))
    assert bytes_of[0] == bytes_of[1]


def test_a_manifest_answers_what_planning_asks_as_the_index_does(settled):
    told = manifest(settled)
    with settled.open() as index, index.reader() as reader:
        assert list(told.documents()) == list(reader.documents())
        ids = [document.id for document in reader.documents()]
        assert told.find([*ids, DocumentId("docs", "none.md")]) == reader.find(ids)
        for prefix in ("", "0", "a7"):
            assert told.rows(prefix) == list(reader.rows(prefix))
        assert told.nodes(["", "0"]) == reader.nodes(["", "0"])
        number = 1
        for id_ in ids:
            for mine, own in zip(told.chunks(id_), reader.chunks(id_), strict=True):
                same = (own.chunk_hash, own.text_hash, own.entry_hash, manifests.NOWHERE, own.parent, own.embed)
                assert mine == RecordedChunk(number, *same)
                number += 1
            hashes = [row.entry_hash for row in reader.chunks(id_)]
            for key, entry in reader.entries(hashes).items():
                mine = told.entries(hashes)[key]
                assert (mine.text_hash, mine.context_hash) == (entry.text_hash, entry.context_hash)
                assert (mine.title, mine.headings) == ("", ())
        head = reader.head
    assert (told.head.lineage, told.head.generation, told.generation) == ("manifest", 1, 1)
    for name in ("corpus_root", "state_root", "recipe", "documents", "chunks"):
        assert getattr(told.head, name) == getattr(head, name)


def test_what_a_manifest_does_not_hold_is_absent_or_refused(settled):
    told = manifest(settled)
    (space,) = told.recipe.spaces
    first = told.chunks(DocumentId("docs", "one.md"))[0]
    assert told.texts([first.text_hash]) == {}
    assert told.held(space, [first.entry_hash]) == frozenset()
    assert told.vectors(space, [first.entry_hash]) == {}
    assert told.chunks(DocumentId("docs", "none.md")) == ()
    assert list(told.problems(full=True)) == []
    for ask in (
        lambda: told.dense(space, b"", 1),
        lambda: told.lexical(["x"], 1),
        lambda: told.cosines(space, b"", [1]),
        lambda: told.occurrences([1], 1),
    ):
        with pytest.raises(UsageError, match="search the index"):
            ask()
    told.close()


def test_an_index_that_nobody_committed_to_has_a_manifest_too(site):
    told = manifest(site)
    assert told.head == empty_head()
    assert list(told.documents()) == []


def test_an_older_generation_exports_what_its_head_exported(settled, article):
    before = exported(settled)
    settled.write("four.md", article("four"))
    settled.apply()
    assert exported(settled) != before
    assert exported(settled, 1) == before
    with pytest.raises(GenerationGone):
        exported(settled, 9)


def test_parts_and_parents_go_through(make_site):
    rest = "[store]\ntype = 'memory'"
    site = make_site(rest=rest)
    toml = (site.root / "steadlith.toml").read_text().replace('policy = "structural"', 'policy = "late"')
    toml = toml.replace("min_tokens = 16\nmax_tokens = 48\n", "child_max_words = 40\n")
    (site.root / "steadlith.toml").write_text(toml)
    site.write("a.md", "\n\n".join(f"Paragraph {number} says something. It says it again." for number in range(400)))
    with site.open() as index:
        index.apply(index.plan())
        with index.reader() as reader:
            told = manifests.ManifestReader(manifests.export(reader, header(reader)))
            id_ = DocumentId("docs", "a.md")
            pairs = [(row.parent, row.embed) for row in reader.chunks(id_)]
    assert any(parent >= 0 for parent, _ in pairs)
    assert any(not embed for _, embed in pairs)
    assert [(row.parent, row.embed) for row in told.chunks(id_)] == pairs


def test_an_entry_of_two_texts_is_refused(settled):
    data = exported(settled)
    told = manifest(settled)
    first, second = told.chunks(DocumentId("docs", "one.md"))[:2]
    from steadlith_core.state import manifestreading

    class Believing(manifestreading._Stream):
        def digest(self, what):
            taken = super().digest(what)
            return self.sealed if what == "the checksum" else taken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifestreading, "_Stream", Believing)
        with pytest.raises(ManifestError, match="of another text or context"):
            manifests.ManifestReader([data.replace(second.entry_hash, first.entry_hash)])


def test_a_manifest_file_is_written_whole_or_not_at_all(settled, tmp_path):
    file = tmp_path / "m"
    file.write_bytes(b"before")

    def failing():
        yield b"some"
        raise ManifestError("no")

    with pytest.raises(ManifestError):
        files.save(file, failing())
    assert file.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".m")] == []
    assert files.save(file, [b"ab", b"c"]) == 3
    assert file.read_bytes() == b"abc"
    with pytest.raises(UsageError, match="No such file"):
        files.save(tmp_path / "none" / "m", [b""])
    with pytest.raises(UsageError, match="expected the name of a file"):
        files.save(tmp_path.__class__("."), [b""])


def test_a_file_that_is_no_manifest_says_so_and_the_way_out(tmp_path):
    (tmp_path / "m").write_bytes(b"PK")
    with pytest.raises(ManifestError, match=r"m is no manifest that can be used.*export it again"):
        manifests.load(tmp_path / "m")
    with pytest.raises(ManifestError, match="cannot read manifest"):
        manifests.load(tmp_path / "none")


def side(site, generation=None):
    told = manifest(site, generation)
    return Side(told.header, told, told)


def changes(found):
    return {(each.id.path, each.kind, each.old_chunks, each.new_chunks) for each in found.documents}


def test_two_states_differ_by_documents_each_in_its_own_way(settled, article):
    settled.write("same.md", article("same"))
    settled.write("words.md", "---\ntitle: Old\n---\n# Words\n\nSome words.\n")
    settled.write("bytes.md", "# Bytes\n\nSome bytes.\n")
    settled.apply()
    (settled.docs / "one.md").rename(settled.docs / "uno.md")
    (settled.docs / "two.md").unlink()
    settled.write("three.md", article("three", sections=2))
    settled.write("new.md", article("new"))
    settled.write("words.md", "---\ntitle: New\n---\n# Words\n\nSome words.\n")
    settled.write("bytes.md", "# Bytes\r\n\r\nSome bytes.\r\n")
    settled.apply(settled.plan(), allow=["--allow-removals"])
    old, new = side(settled, 2), side(settled, 3)
    found = compare(old, new)
    assert not found.same
    assert found.recipe == ()
    assert {(path, kind) for path, kind, _, _ in changes(found)} == {
        ("uno.md", Kind.RENAMED),
        ("two.md", Kind.REMOVED),
        ("three.md", Kind.CHANGED),
        ("new.md", Kind.ADDED),
        ("words.md", Kind.METADATA),
        ("bytes.md", Kind.SOURCE_BYTES),
    }
    renamed = next(each for each in found.documents if each.kind is Kind.RENAMED)
    assert renamed.origin == DocumentId("docs", "one.md")
    with settled.open() as index, index.reader(2) as before, index.reader() as head:
        history = index.history()
        sides = [Side(header(each, history), each, manifests.corpus_trie(each)) for each in (before, head)]
        assert compare(*sides) == found  # whatever each is read from
        assert compare(old, sides[1]) == found
        assert compare(sides[1], new).same
        assert compare(sides[0], old).same


def test_states_of_other_recipes_say_which_field_is_another(settled):
    before = side(settled)
    settled.configure(embedding='template = "breadcrumb"')
    settled.apply()
    found = compare(before, side(settled))
    assert ("template_id", "plain/0", "breadcrumb/0") in found.recipe
    assert not found.same


def test_plans_differ_by_what_they_would_do(site, article):
    for name in ("one", "two"):
        site.write(f"{name}.md", article(name))
    first = site.plan()
    assert compare_plans(first, first).same
    (site.docs / "one.md").unlink()
    site.write("two.md", article("two", sections=2))
    site.write("six.md", article("six"))
    found = compare_plans(first, site.plan())
    assert [change.id.path for change in found.only_old] == ["one.md"]
    assert [change.id.path for change in found.only_new] == ["six.md"]
    assert [left.id.path for left, _ in found.other_steps] == ["two.md"]
    assert "target corpus root" in {name for name, _, _ in found.facts}


def test_a_manifest_is_compared_with_what_is_pinned(settled):
    told = manifest(settled)
    assert verify_manifest(told, Pinned()).ok
    assert verify_manifest(told, Pinned(told.head.corpus_root, told.head.state_root)).ok
    found = verify_manifest(told, Pinned(told.head.state_root, told.head.corpus_root))
    assert (found.generation, len(found.problems)) == (None, 2)


def test_verifying_the_head_alone_reads_no_document(settled, monkeypatch):
    with settled.open() as index, index.reader() as reader:
        monkeypatch.setattr(type(reader), "documents", lambda _: pytest.fail("read a document"))
        found = verify(reader, level=Level.HEAD)
        assert found.ok
        assert (found.corpus_root, found.state_root) == (reader.head.corpus_root, reader.head.state_root)
        assert (found.documents, found.chunks) == (reader.head.documents, reader.head.chunks)
        other = verify(reader, level=Level.HEAD, root=reader.head.state_root)
        assert [problem for problem in other.problems if "expected" in problem]
