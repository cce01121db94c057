"""What every source must do, as a class to inherit: override `make_source`, `put` and `remove`.

1. A rule is one inherited method; its name is what it demands.
2. `make_source` puts the given documents where the source looks, and makes it; `put` and `remove` change what is there
   behind its back. `documents` are those that the rules are about: override it where some of them cannot exist.
3. A source without stamps knows nothing of what it listed before; a source with them must be right about it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steadlith_conformance.suite import Suite, should
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.ports import nothing_known
from steadlith_core.records import FindingKind, Format, KnownFolder, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.ports import Known, Source

DOCUMENTS: Mapping[str, bytes] = {
    "a.md": b"# A\n",
    "B.md": b"# B\r\n\r\ntext",
    "empty.txt": b"",
    "deep/er/c.rst": b"C\n=\n",
    "deep/d.py": b"print(1)\n",
    "deep.md": b"sorts before deep/",
    "binary.dat": bytes(range(256)),
    "\u00e9t\u00e9/\u5206\u5757.md": "# \u5206\u5757\n".encode(),
    "\uffee.md": b"after the first plane's letters",
    "\U0001f642.md": b"in the second plane",
    "with space.md": b"s",
}

ESCAPES = (
    "../a.md",
    "deep/../../a.md",
    "deep/../a.md",
    "/etc/passwd",
    "/a.md",
    "./a.md",
    "a.md/",
    "",
    ".",
    "..",
    "a\0.md",
    "deep//d.py",
)


MakeSource: TypeAlias = "Callable[[Mapping[str, bytes]], Source]"
"""Puts documents in place and makes the source that holds exactly them."""

Put: TypeAlias = "Callable[[Mapping[str, bytes]], None]"
"""Puts documents, new ones or other bytes at an old path, behind the source's back."""

Remove: TypeAlias = "Callable[[str], None]"
"""Takes a document away behind the source's back."""

Documents: TypeAlias = "Mapping[str, bytes]"

EXAMPLES = 12
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "deep.md", "deep/d.md", "deep/er/e.md", "deep/er/f.md", "\u00e9/g.md"]),
        st.none() | st.integers(1, 40).map(lambda times: b"x" * times),
    ),
    max_size=5,
)
"""Documents that get other bytes, or go (none)."""


class SourceSuite(Suite, port="source"):
    """The rules of `ports.Source`."""

    @pytest.fixture
    def documents(self) -> Documents:
        return DOCUMENTS

    @pytest.fixture
    def make_source(self) -> MakeSource:
        raise NotImplementedError("override `make_source`: a function from documents to a source that holds them")

    @pytest.fixture
    def put(self) -> Put:
        raise NotImplementedError("override `put`: a function that puts documents behind the source's back")

    @pytest.fixture
    def remove(self) -> Remove:
        raise NotImplementedError("override `remove`: a function that takes a document away behind the source's back")

    @pytest.fixture
    def lose_root(self) -> Callable[[], None]:
        """A function that takes the whole root away (a disk, a file); it may be left out where none can be lost."""
        pytest.skip("the adapter gives no `lose_root`, so a root that is gone was not tried")

    def test_an_empty_source_lists_nothing(self, make_source: MakeSource) -> None:
        """No documents are no error; a root that cannot be listed is one."""
        listing = gather(make_source({}).list())
        assert (listing.entries, listing.findings, listing.unread) == ((), (), ())

    def test_everything_is_listed_once(self, make_source: MakeSource, documents: Documents) -> None:
        """A document that is listed twice is added and changed in one plan; one that is left out is deleted."""
        listing = gather(make_source(documents).list())
        paths = [entry.path for entry in listing.entries]
        assert paths == sorted(documents, key=lambda path: path.encode())
        assert listing.findings == ()
        assert listing.unread == ()

    def test_each_folder_is_one_part(self, make_source: MakeSource, documents: Documents) -> None:
        """A part is all documents directly in one folder, so that what is not named there is known to be gone."""
        parts = list(make_source(documents).list())
        folders = Counter(part.folder for part in parts)
        assert set(folders) == {_folder(path) for path in documents}
        assert set(folders.values()) == {1}
        for part in parts:
            assert {_folder(entry.path) for entry in part.entries} == {part.folder}

    def test_a_folder_is_asked_for_at_most_once(self, make_source: MakeSource, documents: Documents) -> None:
        """What is known of a folder is read from a file, so asking costs. Ask when you come to it."""
        asked: list[str] = []
        for _ in make_source(documents).list(asked.append):
            pass
        assert len(asked) == len(set(asked))

    def test_paths_are_composed_and_sizes_are_given(self, make_source: MakeSource, documents: Documents) -> None:
        """A document has one path on every system: NFC, slashes, relative to the root. Sizes are in bytes."""
        for entry in gather(make_source(documents).list()).entries:
            assert entry.size == len(documents[entry.path])
            assert isinstance(entry.format, Format)
            assert unicodedata.is_normalized("NFC", entry.path)
            assert not entry.path.startswith(("/", "./"))

    def test_listing_again_gives_the_same_stamps(self, make_source: MakeSource, documents: Documents) -> None:
        """Nothing changed, so nothing differs: no counters, no times of listing."""
        source = make_source(documents)
        assert gather(source.list()) == gather(source.list())

    @should
    def test_documents_have_stamps(self, make_source: MakeSource, documents: Documents) -> None:
        """Without a stamp every plan reads the document again. A version, a digest or a time of change will do."""
        without = [entry.path for entry in gather(make_source(documents).list()).entries if entry.stamp is None]
        assert without == []

    def test_a_stamp_stays_while_nothing_changes(self, make_source: MakeSource, documents: Documents) -> None:
        """A stamp that moves by itself makes every plan read everything. Leave times of access out of it, and do not
        change it by reading.
        """
        source = make_source(documents)
        for entry in gather(source.list()).entries:
            assert not source.leaves_out(entry.path)
            assert source.stamp(entry.path) == entry.stamp
            source.read(entry.path)
            assert source.stamp(entry.path) == entry.stamp

    def test_what_is_not_there_is_not_left_out(self, make_source: MakeSource, documents: Documents) -> None:
        """`leaves_out` is asked of documents that are not listed: only what stands there and is excluded by the
        settings is left out.
        """
        source = make_source(documents)
        gather(source.list())
        for path in ("no.md", "deep/no.md", "no/such/folder.md", "a.md/below", *ESCAPES):
            assert source.stamp(path) is None
            assert not source.leaves_out(path)

    def test_the_place_stays_the_same(self, make_source: MakeSource, documents: Documents) -> None:
        """`place` tells an unmounted disk from an empty one. It does not change with what is on it."""
        source = make_source(documents)
        before = source.place()
        gather(source.list())
        assert source.place() == before

    def test_what_is_known_and_unchanged_is_the_same(self, make_source: MakeSource, documents: Documents) -> None:
        """`same` names what has the stamp that is known, and no more is said of it: that is what makes a plan without
        changes fast.
        """
        source = make_source(documents)
        known = _learned(source)
        if known is None:
            assert all(not part.same for part in source.list(lambda _folder: KnownFolder(b"", {})))
            return
        parts = list(source.list(known.get))
        assert [entry for part in parts for entry in part.entries] == []
        assert _names(source, known.get) == set(documents)
        assert all(part.rules == known[part.folder].rules for part in parts)

    def test_what_changed_has_another_stamp(self, make_source: MakeSource, documents: Documents, put: Put) -> None:
        """A change that no stamp shows is never indexed. Where times are coarse, take the size, the inode or a digest
        as well.
        """
        source = make_source(documents)
        before = {entry.path: entry.stamp for entry in gather(source.list()).entries}
        known = _learned(source)
        if known is None:
            return
        put({"deep/d.py": b"print('longer than before')"})
        listing = gather(source.list(known.get))
        assert [entry.path for entry in listing.entries] == ["deep/d.py"]
        stamp = listing.entries[0].stamp
        assert stamp is not None
        assert before["deep/d.py"] is not None
        assert stamp.identity != before["deep/d.py"].identity
        assert source.read("deep/d.py").body == b"print('longer than before')"
        assert source.stamp("deep/d.py") == stamp

    def test_what_is_new_is_an_entry_and_what_is_gone_is_not_named(
        self, make_source: MakeSource, documents: Documents, put: Put, remove: Remove
    ) -> None:
        """A known name that is neither an entry nor `same` is gone, and the next plan deletes it. Name each once."""
        source = make_source(documents)
        known = _learned(source)
        if known is None:
            return
        put({"deep/new.md": b"new", "fresh/new.md": b"new"})
        remove("a.md")
        listing = gather(source.list(known.get))
        assert [entry.path for entry in listing.entries] == ["deep/new.md", "fresh/new.md"]
        assert _names(source, known.get) == {*documents, "deep/new.md", "fresh/new.md"} - {"a.md"}

    def test_other_rules_bring_everything_back(self, make_source: MakeSource, documents: Documents) -> None:
        """When what decides over names has changed, what was known is void. Compare `rules` with your own, and list
        everything.
        """
        source = make_source(documents)
        known = _learned(source)
        if known is None:
            return
        others = {folder: KnownFolder(b"other" + kept.rules, kept.identities) for folder, kept in known.items()}
        assert gather(source.list(others.get)) == gather(source.list())

    def test_what_is_known_never_changes_what_is_there(self, make_source: MakeSource, put: Put, remove: Remove) -> None:
        """Whatever was known before, what is listed and read is what is there now."""
        held: dict[str, bytes] = {}
        source = make_source(held)

        # Not on the rule itself: an inherited `@given` would be run by several classes.
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(EDITS, EDITS)
        def holds(first: list[tuple[str, bytes | None]], then: list[tuple[str, bytes | None]]) -> None:
            _edit(held, [*((path, None) for path in held), *first], put, remove)
            known = _learned(source) or {}
            _edit(held, then, put, remove)
            assert _names(source, known.get) == set(held)
            assert _names(source, nothing_known) == set(held)
            assert {path: source.read(path).body for path in held} == held

        holds()

    def test_a_root_that_is_gone_is_an_error_and_no_empty_listing(
        self, make_source: MakeSource, documents: Documents, lose_root: Callable[[], None]
    ) -> None:
        """A listing that ends well says that what it does not name is gone: every document would be deleted. Raise
        `SourceError` where the root itself cannot be listed, whether or not anything was known of it.
        """
        source = make_source(documents)
        known = _learned(source) or {}
        lose_root()
        for asked in (nothing_known, known.get):
            with pytest.raises(SourceError):
                list(source.list(asked))

    def test_reading_gives_the_exact_bytes_again_and_again(self, make_source: MakeSource, documents: Documents) -> None:
        """A document's digest is over its bytes. Decode nothing, and change no line end."""
        source = make_source(documents)
        gather(source.list())
        for _ in range(2):
            assert {path: source.read(path).body for path in documents} == dict(documents)

    def test_a_document_that_vanished_is_said_to_have_vanished_or_read_as_it_was_listed(
        self, make_source: MakeSource, documents: Documents, remove: Remove
    ) -> None:
        """Files go between the look and the read. Say `vanished`, or give the bytes that were listed; never half of
        either.
        """
        source = make_source(documents)
        gather(source.list())
        remove("a.md")
        try:
            assert source.read("a.md").body == documents["a.md"]
        except DocumentError as error:
            assert error.kind == FindingKind.VANISHED
        assert "a.md" not in [entry.path for entry in gather(source.list()).entries]
        with pytest.raises(DocumentError) as caught:
            source.read("a.md")
        assert caught.value.kind == FindingKind.VANISHED
        assert source.stamp("a.md") is None

    def test_a_document_that_never_was_cannot_be_read(self, make_source: MakeSource, documents: Documents) -> None:
        """Raise `DocumentError` with a kind that `FindingKind` has: it becomes a finding, where another error stops the
        run.
        """
        source = make_source(documents)
        gather(source.list())
        for path in ("no.md", "deep/no.md", "no/such/folder.md", "a.md/below", "deep"):
            with pytest.raises(DocumentError) as caught:
                source.read(path)
            assert caught.value.kind in set(FindingKind)

    def test_no_path_leads_out_of_the_source(self, make_source: MakeSource, documents: Documents) -> None:
        """A plan file is a claim, and its paths are too. Refuse `..`, absolute paths and links that lead out, with a
        finding's kind.
        """
        source = make_source(documents)
        gather(source.list())
        for path in ESCAPES:
            with pytest.raises(DocumentError) as caught:
                source.read(path)
            assert caught.value.kind in set(FindingKind)


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _learned(source: Source) -> dict[str, KnownFolder] | None:
    """What the engine would keep of a listing; none of a source without stamps."""
    known: dict[str, KnownFolder] = {}
    for part in source.list():
        stamps = {entry.path[len(part.folder) :]: entry.stamp for entry in part.entries}
        identities = {name: stamp.identity for name, stamp in stamps.items() if stamp is not None}
        if len(identities) < len(stamps):
            return None
        known[part.folder] = KnownFolder(part.rules, identities)
    return known


def _names(source: Source, known: Known) -> set[str]:
    """All that a listing names, changed or not; nothing twice."""
    named = Counter[str]()
    for part in source.list(known):
        named.update(entry.path for entry in part.entries)
        named.update(part.folder + name for name in part.same)
    assert set(named.values()) <= {1}
    return set(named)


def _edit(held: dict[str, bytes], edits: list[tuple[str, bytes | None]], put: Put, remove: Remove) -> None:
    wanted = dict(held)
    for path, body in edits:
        if body is None:
            wanted.pop(path, None)
        else:
            wanted[path] = body
    for path in held.keys() - wanted.keys():
        remove(path)
    if changed := {path: body for path, body in wanted.items() if held.get(path) != body}:
        put(changed)
    held.clear()
    held.update(wanted)
