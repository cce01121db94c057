"""Records: what is filled in, what is refused, and hashes that another program computes just so."""

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.text.record import (
    Record,
    content_hash_of,
    corpus_fingerprint,
    fingerprint_of_pairs,
    normalise,
    quoted,
    trim,
)

FIELDS = {"kind": "k", "title": "t", "source_ref": "s", "body_format": "markdown", "body_text": "b"}


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class TestNormalise:
    def test_fields_are_trimmed_and_filled_in(self):
        record = normalise(" alpha ", body_text=" body ")
        assert (record.ref, record.kind, record.title, record.source_ref) == ("alpha", "artifact", "alpha", "alpha")
        assert (record.body_format, record.body_text, record.metadata) == ("markdown", "body", {})
        assert len(record.content_hash) == 64

    def test_a_hash_that_is_given_is_trusted(self):
        assert normalise("a", content_hash=" abc ").content_hash == "abc"
        assert normalise("a", content_hash=" ").content_hash == normalise("a").content_hash

    def test_metadata_is_trimmed_and_blank_keys_go(self):
        assert normalise("a", metadata={" k ": " v ", "  ": "x", "e": ""}).metadata == {"k": "v", "e": ""}

    def test_keys_that_become_one_are_refused(self):
        with pytest.raises(ValueError, match="two metadata keys"):
            normalise("a", metadata={"k": "1", "k ": "2"})

    def test_white_space_is_that_of_unicode(self):
        spaces = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
        assert trim(spaces + "a" + spaces) == "a"
        assert trim("\x1c\u200b\ufeff") == "\x1c\u200b\ufeff"

    def test_normalising_again_changes_nothing(self):
        once = normalise(" a ", body_text=" b ", metadata={" k": "v "})
        again = normalise(
            once.ref,
            **{name: getattr(once, name) for name in (*FIELDS, "content_hash", "metadata")},
        )
        assert once == again


class TestValidation:
    @pytest.mark.parametrize("name", ["ref", "kind", "source_ref", "content_hash"])
    def test_a_blank_field_is_refused_by_name(self, name):
        with pytest.raises(ValueError, match=f"{name} is empty"):
            Record(**{**FIELDS, "ref": "r", "content_hash": "h", name: " \u3000"})

    def test_a_title_may_be_empty(self):
        assert Record(**FIELDS | {"ref": "r", "content_hash": "h", "title": ""}).title == ""

    def test_an_unknown_format_is_refused_with_the_record(self):
        with pytest.raises(ValueError, match=r"'r'.*'html'.*markdown, plaintext"):
            normalise("r", body_format="html")

    @pytest.mark.parametrize(
        "change", [{"body_text": 3}, {"metadata": {"k": 3}}, {"metadata": {3: "v"}}, {"ref": None}]
    )
    def test_what_is_not_text_is_refused(self, change):
        with pytest.raises(ValueError, match="not text"):
            normalise(**{"ref": "r"} | change)
        with pytest.raises(ValueError, match="not text"):
            Record(**FIELDS | {"ref": "r", "content_hash": "h"} | change)

    def test_half_a_surrogate_pair_is_no_text(self):
        with pytest.raises(ValueError, match="surrogate"):
            normalise("a", body_text="x\ud800")

    def test_a_record_is_frozen(self):
        with pytest.raises(AttributeError):
            normalise("a").ref = "b"


class TestContentHash:
    def test_it_is_over_sorted_quoted_lines(self):
        lines = [
            '"body_format"="markdown"',
            '"body_text"="line\\n\\"two\\""',
            '"kind"="artifact"',
            '"metadata.a"="1"',
            '"metadata.b"="\u00e9"',
            '"title"="T"',
        ]
        record = normalise("r", title="T", body_text='line\n"two"', metadata={"b": "\u00e9", "a": "1"})
        assert record.content_hash == sha256("\n".join(lines))

    def test_where_a_record_is_found_does_not_count(self):
        one, other = normalise("a", title="T", source_ref="x"), normalise("b", title="T", source_ref="y")
        assert one.content_hash == other.content_hash

    def test_a_value_cannot_imitate_another_field(self):
        forged = content_hash_of("k", "", "markdown", "b", {"x": '"\n"title"="real-title'})
        assert forged != content_hash_of("k", "real-title", "markdown", "b", {"x": ""})

    @given(
        st.tuples(st.text(), st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3)),
        st.tuples(st.text(), st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3)),
    )
    def test_different_contents_have_different_hashes(self, one, other):
        hashes = [content_hash_of(kind, title, "markdown", body, kept) for kind, title, body, kept in (one, other)]
        assert (hashes[0] == hashes[1]) == (one == other)


class TestQuoted:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", '""'),
            ("plain text", '"plain text"'),
            ('a"b\\c', r'"a\"b\\c"'),
            ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
            ("\0\x1b\x7f", r'"\x00\x1b\x7f"'),
            ("\u0080\u00a0\u00ad\u2028\u3000\ufeff\ue000", r'"\u0080\u00a0\u00ad\u2028\u3000\ufeff\ue000"'),
            ("\u00e9\u5206\u0301\U0001f642\ufffd", '"\u00e9\u5206\u0301\U0001f642\ufffd"'),
            ("\U000e0001\U0010ffff", r'"\U000e0001\U0010ffff"'),
            # Assigned by Unicode 15.0 and printable; a format character of 15.0; assigned by 15.1 and by 16.0.
            ("\u0cf3\U0001fae8\U00031350", '"\u0cf3\U0001fae8\U00031350"'),
            ("\U00013439\u2ffc\U0001fae9", r'"\U00013439\u2ffc\U0001fae9"'),
        ],
    )
    def test_it_is_as_go_writes_it(self, text, expected):
        assert quoted(text) == expected

    def test_every_code_point_is_quoted_by_unicode_15_whatever_this_python_brings(self):
        points = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
        assert sha256(quoted(points)) == "588091fc2d5616828ae526e3c3e1fcbfb005d3afbd2cf9a3ec3ccb40a3186ce6"

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_python_reads_back_what_was_quoted(self, text):
        assert eval(quoted(text)) == text  # its escapes are Python's, too


class TestFingerprint:
    RECORDS = tuple(normalise(f"r{number}", body_text=str(number)) for number in range(9))

    def test_the_order_of_records_does_not_matter(self):
        shuffled = random.Random(1).sample(self.RECORDS, len(self.RECORDS))
        assert corpus_fingerprint(self.RECORDS) == corpus_fingerprint(shuffled)

    def test_it_is_over_sorted_pairs(self):
        assert fingerprint_of_pairs([("b", "2"), (" a ", "1 ")]) == sha256("a:1\nb:2")
        assert fingerprint_of_pairs([]) == sha256("")

    def test_pairs_and_records_agree(self):
        pairs = [(record.ref, record.content_hash) for record in self.RECORDS]
        assert fingerprint_of_pairs(pairs) == corpus_fingerprint(self.RECORDS)

    @pytest.mark.parametrize("pair", [("", "a"), ("a", " "), (" ", "")])
    def test_a_blank_part_is_refused(self, pair):
        with pytest.raises(ValueError, match="blank part"):
            fingerprint_of_pairs([("x", "y"), pair])
