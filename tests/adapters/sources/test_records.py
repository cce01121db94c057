"""A file of records as a source: the rules of the kit, and what a file can get wrong."""

import io
import json
import os

import pytest

from steadlith_adapters.sources.records import FACTORY, lines
from steadlith_conformance.sources import DOCUMENTS, SourceSuite
from steadlith_core.errors import ConfigError, DocumentError, SourceError
from steadlith_core.records import FindingKind, Format, KnownFolder, gather
from steadlith_core.text.record import normalise

TEXTS = {
    path: body.decode("utf-8", "replace").strip().encode() for path, body in DOCUMENTS.items() if path != "binary.dat"
}
"""The kit's documents as a record can hold them: text, trimmed."""


def line(**fields):
    return json.dumps(fields, ensure_ascii=False).encode()


def source(root, **settings):
    return FACTORY.build("docs", settings, root=str(root), private=())


def paths(listing):
    return [entry.path for entry in listing.entries]


def kinds(listing):
    return [(finding.place, finding.kind) for finding in listing.findings]


def refused(origin, path):
    with pytest.raises(DocumentError) as caught:
        origin.read(path)
    return caught.value.kind


@pytest.fixture
def write(tmp_path):
    """Write lines, and give a source over them."""

    def write_lines(*given, end=b"\n"):
        (tmp_path / "records.jsonl").write_bytes(b"".join(each + end for each in given))
        return source(tmp_path)

    return write_lines


class TestRecords(SourceSuite):
    @pytest.fixture
    def documents(self):
        return TEXTS

    @pytest.fixture
    def held(self):
        return {}

    @pytest.fixture
    def put(self, held, write):
        def change(documents):
            held.update(documents)
            write(*(line(ref=path, body_text=body.decode()) for path, body in held.items()))

        return change

    @pytest.fixture
    def make_source(self, put, tmp_path):
        def make(documents):
            put(documents)
            return source(tmp_path)

        return make

    @pytest.fixture
    def remove(self, held, put):
        def take_away(path):
            del held[path]
            put({})

        return take_away

    @pytest.fixture
    def lose_root(self, tmp_path):
        return (tmp_path / "records.jsonl").unlink


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"pth": "."}, "pth"),
            ({"path": "missing.jsonl"}, "does not exist"),
            ({"path": "."}, "is not a file"),
            ({"path": 3}, "path = 3"),
        ],
    )
    def test_a_wrong_setting_is_named_with_its_value(self, tmp_path, settings, named):
        with pytest.raises(ConfigError, match=named):
            source(tmp_path, **settings)

    def test_names_tell_nothing_of_formats_but_that_a_path_can_be_one(self):
        rule = FACTORY.formats({"path": "x"})
        assert rule("a/b") is Format.MARKDOWN
        assert [rule(path) for path in ("", "/a", "../a", "a/", "a\0")] == [None] * 5
        with pytest.raises(ConfigError, match="colour"):
            FACTORY.formats({"colour": "red"})

    def test_a_pipe_is_not_waited_for(self, write, tmp_path):
        origin = write()
        (tmp_path / "records.jsonl").unlink()
        os.mkfifo(tmp_path / "records.jsonl")
        with pytest.raises(SourceError, match="not a file"):
            gather(origin.list())


class TestDocuments:
    def test_a_record_is_a_document_with_attributes(self, write):
        origin = write(
            line(ref=" a/b ", kind="note", title=" T ", source_ref="s", body_text=" body ", metadata={" k ": " v "}),
            line(ref="c", body_format="plaintext", body_text="x", title=None),
        )
        listing = gather(origin.list())
        assert [(e.path, e.format, e.size) for e in listing.entries] == [
            ("a/b", Format.MARKDOWN, 4),
            ("c", Format.TEXT, 1),
        ]
        first = origin.read("a/b")
        assert first.body == b"body"
        assert first.attributes == {"title": "T", "kind": "note", "source_ref": "s", "k": "v"}
        assert origin.read("c").attributes == {"title": "c", "kind": "artifact", "source_ref": "c"}

    def test_a_path_is_composed_like_a_name_on_disk(self, write):
        origin = write(line(ref="e\u0301/a", body_text="x"))
        assert paths(gather(origin.list())) == ["\u00e9/a"]
        assert origin.read("\u00e9/a").body == b"x"

    @pytest.mark.parametrize(
        "change",
        [
            {"title": "other"},
            {"kind": "other"},
            {"source_ref": "other"},
            {"body_format": "plaintext"},
            {"body_text": "other"},
            {"metadata": {"k": "other"}},
            {"content_hash": "other"},
        ],
    )
    def test_whatever_a_document_is_made_of_changes_its_stamp(self, write, change):
        fields = {"ref": "a", "body_text": "x", "metadata": {"k": "v"}, "content_hash": "trusted"}
        [before] = gather(write(line(**fields)).list()).entries
        [after] = gather(write(line(**fields | change)).list()).entries
        assert before.stamp.identity != after.stamp.identity
        assert after.stamp.changed_at == 0

    def test_order_and_spelling_of_lines_change_no_stamp(self, write):
        one = write(line(ref="a", body_text="\u00e9"), line(ref="b", body_text="x"))
        before = gather(one.list())
        other = write(b'{"body_text": "x ", "ref": "b"}', b'{ "ref":"a","body_text":"\\u00e9", "title": ""}')
        assert gather(other.list()) == before


class TestBrokenLines:
    def test_one_bad_line_never_stops_the_others(self, write):
        origin = write(
            line(ref="a", body_text="x"),
            b"{broken",
            b"[1]",
            b'"text"',
            b'{"ref": "\xff"}',
            b'{"body_text": "no reference"}',
            b'{"ref": "  "}',
            b'{"ref": 3}',
            b'{"ref": "\\ud800"}',
            b"[" * 100_000,
            b'{"ref": "big", "title": ' + b"1" * 5000 + b"}",
            line(ref="z", body_text="y"),
        )
        listing = gather(origin.list())
        assert paths(listing) == ["a", "z"]
        assert kinds(listing) == sorted((f"line {number}", FindingKind.UNDECODABLE) for number in range(2, 12))
        assert listing.unread == ("/",)
        assert all(finding.message.startswith(finding.place) for finding in listing.findings)
        assert origin.read("z").body == b"y"

    @pytest.mark.parametrize(
        "change",
        [
            {"body_format": "html"},
            {"body_text": 3},
            {"body": "a typing mistake"},
            {"metadata": ["k"]},
            {"metadata": {"k": 1}},
            {"metadata": {"k": "1", " k ": "2"}},
            {"metadata": {"title": "x"}},
            {"metadata": {" kind": "x"}},
            {"metadata": {"source_ref": "x"}},
            {"metadata": {"format": "x"}},
        ],
    )
    def test_a_record_that_is_none_is_a_finding_and_its_document_stays(self, write, change):
        listing = gather(write(line(**{"ref": "deep/a", "body_text": "x"} | change), line(ref="b")).list())
        assert paths(listing) == ["b"]
        assert kinds(listing) == [("deep/a", FindingKind.FRONT_MATTER)]
        assert listing.unread == ("deep/a",)
        assert "line 1" in listing.findings[0].message

    def test_half_a_surrogate_pair_is_no_text(self, write):
        listing = gather(write(b'{"ref": "a", "body_text": "\\ud800"}').list())
        assert (kinds(listing), listing.unread) == ([("a", FindingKind.FRONT_MATTER)], ("a",))

    @pytest.mark.parametrize("ref", ["/etc/passwd", "../a", "a/../b", "./a", "a//b", "a/", "a/.", "a\0b", "/"])
    def test_a_reference_that_is_no_path_is_a_finding(self, write, ref):
        listing = gather(write(line(ref=ref), line(ref="b")).list())
        assert paths(listing) == ["b"]
        assert kinds(listing) == [("line 1", FindingKind.LINK_OUTSIDE)]
        assert listing.unread == ()

    def test_records_with_one_reference_are_all_findings_and_their_document_stays(self, write):
        composed = [line(ref="\u00e9", body_text="1"), line(ref="e\u0301", body_text="2")]
        origin = write(
            *composed, line(ref="a", body_text="1"), line(ref="b"), line(ref=" a ", body_text="1"), line(ref="a")
        )
        listing = gather(origin.list())
        assert paths(listing) == ["b"]
        assert listing.unread == ("a", "\u00e9")
        assert [finding.message.split(" has ")[0] for finding in listing.findings if finding.place == "a"] == [
            "line 3",
            "line 5",
            "line 6",
        ]
        assert {kind for _, kind in kinds(listing)} == {FindingKind.NAME_CONFLICT}
        assert refused(origin, "a") == FindingKind.VANISHED

    @pytest.mark.parametrize("first", [0, 1])
    def test_a_broken_record_and_a_good_one_with_one_reference_are_both_findings(self, write, first):
        both = [line(ref="a", body_format="html"), line(ref="a", body_text="1")]
        listing = gather(write(both[first], both[1 - first]).list())
        assert (paths(listing), listing.unread) == ([], ("a",))
        assert {finding.message[:6] for finding in listing.findings} == {"line 1", "line 2"}

    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n  \r\n"])
    def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(self, write, end):
        origin = write(b"\xef\xbb\xbf" + line(ref="a", body_text="x"), line(ref="b", body_text="y"), end=end)
        listing = gather(origin.list())
        assert (paths(listing), listing.findings) == (["a", "b"], ())
        assert [origin.read(path).body for path in ("a", "b")] == [b"x", b"y"]
        assert gather(write(b"\xef\xbb\xbf").list()).findings == ()

    def test_a_file_that_ends_within_a_line_keeps_everything(self, write, tmp_path):
        origin = write(line(ref="a", body_text="x"), line(ref="b", body_text="y"))
        whole = (tmp_path / "records.jsonl").read_bytes()
        (tmp_path / "records.jsonl").write_bytes(whole[:-5])
        listing = gather(origin.list())
        assert (paths(listing), listing.unread) == (["a"], ("/",))
        (tmp_path / "records.jsonl").write_bytes(whole[:-1])
        assert paths(gather(origin.list())) == ["a", "b"]

    def test_a_line_of_ten_megabytes_is_read(self, write):
        origin = write(line(ref="a"), line(ref="long", body_text="x" * 10_000_000), line(ref="z", body_text="z"))
        assert [entry.size for entry in gather(origin.list()).entries] == [0, 10_000_000, 1]
        assert len(origin.read("long").body) == 10_000_000
        assert origin.read("z").body == b"z"

    @pytest.mark.parametrize("extra", [1, 2, 49, 50, 51, 100, 200])
    def test_a_line_that_is_too_long_is_passed_over(self, write, monkeypatch, extra):
        monkeypatch.setattr(lines, "MAX_LINE_BYTES", 50)
        origin = write(line(ref="a", body_text="x"), b"x" * (49 + extra), line(ref="z", body_text="y"))
        listing = gather(origin.list())
        assert paths(listing) == ["a", "z"]
        assert kinds(listing) == [("line 2", FindingKind.TOO_LARGE)]
        assert listing.unread == ("/",)
        assert origin.read("z").body == b"y"

    def test_numbers_and_offsets_are_those_of_the_file(self):
        data = b"one\n\ntwo\r\nthree"
        found = list(lines.lines(io.BytesIO(data)))
        assert found == [(1, 0, b"one\n"), (3, 5, b"two\r\n"), (4, 10, b"three")]


class TestReading:
    def test_what_was_written_anew_meanwhile_is_not_believed(self, write):
        origin = write(line(ref="a", body_text="x"), line(ref="b", body_text="y"), line(ref="c", body_text="z"))
        listing = gather(origin.list())
        write(line(ref="new", body_text="long"), line(ref="c", body_text="z"), line(ref="a", body_text="other"))
        assert refused(origin, "a") == FindingKind.CHANGED_WHILE_READING
        assert refused(origin, "b") == FindingKind.VANISHED
        assert refused(origin, "new") == FindingKind.VANISHED
        assert origin.read("c").body == b"z"
        stamps = {entry.path: entry.stamp for entry in listing.entries}
        assert origin.stamp("a") not in (None, stamps["a"])
        assert (origin.stamp("b"), origin.stamp("c")) == (None, stamps["c"])
        assert paths(gather(origin.list())) == ["a", "c", "new"]

    def test_a_file_that_is_gone_stops_the_listing_and_no_document_is_read(self, write, tmp_path):
        origin = write(line(ref="a", body_text="x"))
        gather(origin.list())
        (tmp_path / "records.jsonl").unlink()
        assert refused(origin, "a") == FindingKind.UNREADABLE_FILE
        assert origin.stamp("a") is None
        with pytest.raises(SourceError, match="nothing is known"):
            gather(origin.list())

    def test_a_document_can_be_read_without_a_listing(self, write):
        assert write(line(ref="a", body_text="x")).read("a").body == b"x"

    def test_known_records_are_the_same_wherever_they_stand_now(self, write):
        origin = write(line(ref="a/b", body_text="x"), line(ref="a/c", body_text="y"))
        [part] = origin.list()
        known = {"a/": KnownFolder(part.rules, {e.path[2:]: e.stamp.identity for e in part.entries})}
        write(line(ref="a/c", body_text="y"), line(ref="a/b", body_text="new"))
        [again] = origin.list(known.get)
        assert (paths(again), list(again.same)) == (["a/b"], ["c"])

    def test_the_hash_of_a_record_is_that_of_its_fields(self, write):
        record = normalise("a", body_text="x")
        computed, given = line(ref="a", body_text="x"), line(ref="a", body_text="x", content_hash=record.content_hash)
        assert gather(write(computed).list()) == gather(write(given).list())
