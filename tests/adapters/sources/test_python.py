"""Records of a program as a source: the rules of the kit, and what is asked how often."""

import pytest

from steadlith_adapters.sources.python import FACTORY, PythonSource
from steadlith_conformance.sources import SourceSuite
from steadlith_conformance.sourcesamples import DOCUMENTS
from steadlith_core.errors import ConfigError, DocumentError
from steadlith_core.records import FindingKind, Format, gather
from steadlith_core.text.record import Record, normalise

TEXTS = {
    path: body.decode("utf-8", "replace").strip().encode() for path, body in DOCUMENTS.items() if path != "binary.dat"
}
"""The kit's documents as a record can hold them: text, trimmed."""


def paths(listing):
    return [entry.path for entry in listing.entries]


class TestPython(SourceSuite):
    @pytest.fixture
    def documents(self):
        return TEXTS

    @pytest.fixture
    def held(self):
        return {}

    @pytest.fixture
    def put(self, held):
        return held.update

    @pytest.fixture
    def make_source(self, held):
        def make(documents):
            held.update(documents)
            return PythonSource(lambda: (normalise(path, body_text=body.decode()) for path, body in held.items()))

        return make

    @pytest.fixture
    def remove(self, held):
        return held.pop


class TestAsking:
    def test_a_callable_is_asked_at_each_listing(self):
        asked = []

        def records():
            asked.append(1)
            yield normalise(f"record-{len(asked)}", body_text="x")

        origin = PythonSource(records)
        assert paths(gather(origin.list())) == ["record-1"]
        assert origin.read("record-1").body == b"x"
        assert paths(gather(origin.list())) == ["record-2"]
        assert len(asked) == 2

    def test_an_iterator_is_read_once_and_kept(self):
        origin = PythonSource(iter([normalise("a", body_text="x")]))
        for _ in range(2):
            assert paths(gather(origin.list())) == ["a"]
            assert origin.read("a").body == b"x"

    def test_a_collection_may_change_between_listings(self):
        records = [normalise("a")]
        origin = PythonSource(records)
        assert paths(gather(origin.list())) == ["a"]
        records.append(normalise("b"))
        assert paths(gather(origin.list())) == ["a", "b"]

    def test_what_was_listed_is_read_even_if_the_program_went_on(self):
        held = {"a": "x"}
        origin = PythonSource(lambda: [normalise(ref, body_text=text) for ref, text in held.items()])
        gather(origin.list())
        held["a"] = "other"
        assert origin.read("a").body == b"x"

    def test_a_document_can_be_read_without_a_listing(self):
        assert PythonSource([normalise("a", body_text="x")]).read("a").body == b"x"


class TestRecords:
    def test_records_and_mappings_are_equal(self):
        fields = {"ref": "a/b", "body_text": "x", "metadata": {"k": "v"}, "body_format": "plaintext"}
        one, other = PythonSource([fields]), PythonSource([normalise(**fields)])
        assert gather(one.list()) == gather(other.list())
        assert one.read("a/b") == other.read("a/b")
        assert one.read("a/b").attributes == {"title": "a/b", "kind": "artifact", "source_ref": "a/b", "k": "v"}

    def test_a_record_that_is_not_normalised_is(self):
        record = Record(" a ", "k", "", "s", "markdown", " x ", "hash", {" m ": " n "})
        origin = PythonSource([record])
        assert paths(gather(origin.list())) == ["a"]
        assert origin.read("a").body == b"x"
        assert origin.read("a").attributes == {"title": "a", "kind": "k", "source_ref": "s", "m": "n"}

    def test_what_is_no_record_is_a_finding_with_its_number(self):
        records = [normalise("a"), "text", {"ref": "b", "body_format": "html"}, None, {"ref": "a"}, {"ref": "/c"}]
        listing = gather(PythonSource(records).list())
        assert paths(listing) == []
        assert listing.unread == ("/", "a", "b")
        assert sorted((finding.place, finding.kind) for finding in listing.findings) == [
            ("a", FindingKind.NAME_CONFLICT),
            ("a", FindingKind.NAME_CONFLICT),
            ("b", FindingKind.FRONT_MATTER),
            ("record 2", FindingKind.UNDECODABLE),
            ("record 4", FindingKind.UNDECODABLE),
            ("record 6", FindingKind.LINK_OUTSIDE),
        ]

    def test_what_the_program_raises_ends_the_listing(self):
        def records():
            yield normalise("a")
            raise RuntimeError("the database is gone")

        with pytest.raises(RuntimeError, match="database"):
            gather(PythonSource(records).list())

    def test_what_was_never_a_record_vanished(self):
        with pytest.raises(DocumentError) as caught:
            PythonSource([]).read("a")
        assert caught.value.kind == FindingKind.VANISHED


class TestFactory:
    def test_a_configuration_cannot_hold_one_and_the_way_out_is_told(self):
        with pytest.raises(ConfigError, match=r'steadlith\.open\(sources=\{"docs": \.\.\.\}\)'):
            FACTORY.build("docs", {}, root=".", private=())

    def test_names_tell_nothing_of_formats(self):
        assert FACTORY.formats({})("a/b") is Format.MARKDOWN
        assert FACTORY.formats({})("../b") is None
        with pytest.raises(ConfigError, match="path"):
            FACTORY.formats({"path": "x"})
