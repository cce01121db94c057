"""What every source must do, as a class to inherit: override `make_source`.

1. A rule is one inherited method; its name is what it demands.
2. `make_source` puts the given documents where the source looks, and makes it; `remove` takes one away behind its back.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, TypeAlias

import pytest

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Format, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.ports import Source

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


class SourceSuite:
    """The rules of `ports.Source`."""

    @pytest.fixture
    def make_source(self) -> MakeSource:
        raise NotImplementedError("override `make_source`: a function from documents to a source that holds them")

    @pytest.fixture
    def remove(self) -> Callable[[str], None]:
        raise NotImplementedError("override `remove`: a function that takes a document away behind the source's back")

    def test_an_empty_source_lists_nothing(self, make_source: MakeSource) -> None:
        listing = gather(make_source({}).list())
        assert (listing.entries, listing.findings, listing.unread) == ((), (), ())

    def test_everything_is_listed_once_in_the_order_of_its_bytes(self, make_source: MakeSource) -> None:
        listing = gather(make_source(DOCUMENTS).list())
        paths = [entry.path for entry in listing.entries]
        assert paths == sorted(DOCUMENTS, key=lambda path: path.encode())
        assert listing.findings == ()
        assert listing.unread == ()

    def test_paths_are_composed_and_relative(self, make_source: MakeSource) -> None:
        for entry in gather(make_source(DOCUMENTS).list()).entries:
            assert unicodedata.is_normalized("NFC", entry.path)
            assert not entry.path.startswith(("/", "./"))

    def test_sizes_and_formats_are_given(self, make_source: MakeSource) -> None:
        for entry in gather(make_source(DOCUMENTS).list()).entries:
            assert entry.size == len(DOCUMENTS[entry.path])
            assert isinstance(entry.format, Format)

    def test_listing_again_gives_the_same(self, make_source: MakeSource) -> None:
        source = make_source(DOCUMENTS)
        assert gather(source.list()) == gather(source.list())

    def test_reading_gives_the_exact_bytes_again_and_again(self, make_source: MakeSource) -> None:
        source = make_source(DOCUMENTS)
        gather(source.list())
        for _ in range(2):
            assert {path: source.read(path).body for path in DOCUMENTS} == dict(DOCUMENTS)

    def test_a_document_that_vanished_is_said_to_have_vanished(
        self, make_source: MakeSource, remove: Callable[[str], None]
    ) -> None:
        source = make_source(DOCUMENTS)
        gather(source.list())
        remove("a.md")
        with pytest.raises(DocumentError) as caught:
            source.read("a.md")
        assert caught.value.kind == FindingKind.VANISHED
        assert "a.md" not in [entry.path for entry in gather(source.list()).entries]

    def test_a_document_that_never_was_cannot_be_read(self, make_source: MakeSource) -> None:
        source = make_source(DOCUMENTS)
        gather(source.list())
        for path in ("no.md", "deep/no.md", "no/such/folder.md", "a.md/below", "deep"):
            with pytest.raises(DocumentError) as caught:
                source.read(path)
            assert caught.value.kind in set(FindingKind)

    def test_no_path_leads_out_of_the_source(self, make_source: MakeSource) -> None:
        source = make_source(DOCUMENTS)
        gather(source.list())
        for path in ESCAPES:
            with pytest.raises(DocumentError) as caught:
                source.read(path)
            assert caught.value.kind in set(FindingKind)
