"""Front matter: what is kept of it, where the body begins, and what a hostile block can do (nothing)."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Format
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.frontmatter import FrontMatter, read


def read_text(source, *kept, grammar=Format.MARKDOWN):
    return read(canonicalise(source.encode()), grammar, kept)


def yaml_fields(block, *kept):
    return dict(read_text(f"---\n{block}\n---\n", *kept).fields)


def toml_fields(block, *kept):
    return dict(read_text(f"+++\n{block}\n+++\n", *kept).fields)


@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("---\ntitle: T\n---\nBody", "Body"),
        ("---\ntitle: T\n...\n---\nBody", "---\nBody"),
        ("---\r\ntitle: T\r\n---  \r\n\r\nBody", "\nBody"),
        ("\ufeff---\ntitle: T\n---\nBody", "Body"),
        ("+++\ntitle = 'T'\n+++\nBody", "Body"),
        ("---\ntitle: T\n---", ""),
    ],
)
def test_the_body_begins_after_the_closing_line(source, body):
    front = read_text(source)
    assert front.title == "T"
    assert canonicalise(source.encode()).data[front.end :].decode() == body


@pytest.mark.parametrize("source", ["---\n---\nBody", "---\n# nothing yet\n\n---\nBody", "+++\n+++\nBody"])
def test_an_empty_block_is_front_matter(source):
    assert read_text(source, "title") == FrontMatter(len(source) - len("Body"))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "---",
        "---\nA thematic break and no end",
        "---\ntitle: T\n----\n",
        "---\ntitle: T\n +++\n",
        "+++\ntitle = 'T'\n---\n",
        "\n---\ntitle: T\n---\n",
        " ---\ntitle: T\n---\n",
        "----\ntitle: T\n---\n",
        "---\nA paragraph between two breaks\n---\n",
        "---\n- a list\n- of items\n---\n",
    ],
)
def test_without_both_fences_and_a_mapping_it_is_ordinary_text(source):
    assert read_text(source, "title") == FrontMatter()


@pytest.mark.parametrize("grammar", [Format.RST, Format.TEXT, Format.CODE])
def test_only_markdown_has_front_matter(grammar):
    assert read_text("---\ntitle: T\n---\n", "title", grammar=grammar) == FrontMatter()


def test_scalars_are_kept_as_they_are_written():
    block = "date: 2024-01-05\nversion: 1.10\nhex: 0x1F\nyes: yes\nnone: null\nempty:\nquoted: 'a: b # c'\n"
    keys = ("date", "version", "hex", "yes", "none", "empty", "quoted", "absent")
    assert yaml_fields(block, *keys) == {
        "date": "2024-01-05",
        "version": "1.10",
        "hex": "0x1F",
        "yes": "yes",
        "none": "null",
        "empty": "",
        "quoted": "a: b # c",
    }


def test_toml_scalars_are_strings_too():
    block = "date = 2024-01-05\nat = 2024-01-05T10:00:00Z\ntime = 07:30:00\nversion = 1.10\nweight = 7\ndraft = true"
    assert toml_fields(block, "date", "at", "time", "version", "weight", "draft") == {
        "date": "2024-01-05",
        "at": "2024-01-05T10:00:00+00:00",
        "time": "07:30:00",
        "version": "1.10",
        "weight": "7",
        "draft": "true",
    }


@pytest.mark.parametrize(
    ("fields", "block"),
    [
        (yaml_fields, "tags: [a, 2, c d]\nempty: []\nmap: {a: b}\ndeep: [a, [b]]\nmaps: [{a: b}]"),
        (toml_fields, "tags = ['a', 2, 'c d']\nempty = []\nmap = {a = 'b'}\ndeep = ['a', ['b']]\nmaps = [{a = 'b'}]"),
    ],
)
def test_lists_are_joined_and_what_is_nested_is_not_kept(fields, block):
    assert fields(block, "tags", "empty", "map", "deep", "maps") == {"tags": "a, 2, c d", "empty": ""}


def test_fields_come_in_the_order_in_which_they_are_kept_and_others_not_at_all():
    fields = read_text("---\nb: 1\na: 2\nc: 3\n---\n", "c", "b").fields
    assert list(fields.items()) == [("c", "3"), ("b", "1")]


def test_the_title_is_read_whether_or_not_it_is_kept():
    assert read_text("---\ntitle: >\n  A folded\n  title\nother: 1\n---\n", "other").title == "A folded title"
    assert read_text("---\ntitle: {a: b}\n---\n").title == ""
    assert read_text("---\nTitle: T\n---\n").title == ""


def test_the_last_of_a_repeated_key_counts_on_either_way_of_reading():
    assert yaml_fields("a: 1\na: 2", "a") == yaml_fields("a: 1\n'a': 2", "a") == {"a": "2"}


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("a: b: c", "no YAML at line 2"),
        ("a: 1\n\tb: 2", "no YAML at line 3"),
        ("a: 'open", "no YAML at line"),
        ("%FOO\na: 1", "no YAML at line"),
        ("a: &x 1\nb: 2", "anchors"),
        ("a: *x", "anchors"),
        ("&x a: 1", "anchors"),
        ("a: [&x [b], *x]", "anchors"),
        ("a: 1\n--- b", "second YAML document"),
        ("a: \x01", "a character that YAML does not allow"),
        ('a: "\\UFFFFFFFF"', "a character that YAML does not allow"),
        ('a: "\\ud800"', "an escape that is no character"),
        ("a: " + "[" * 33 + "]" * 33, "nested deeper than 32"),
        ("a: " + "[" * 60_000, "nested deeper than 32"),
        ("- " * 30_000, "nested deeper than 32"),
        ("a: " + "x" * 65_536, "the front matter has 65540 bytes, 65536 are read"),
        ("a: " + "é" * 32_768, "the front matter has 65540 bytes, 65536 are read"),
    ],
)
def test_a_block_that_cannot_be_trusted_is_refused(block, why):
    with pytest.raises(DocumentError) as caught:
        read_text(f"---\n{block}\n---\n", "a")
    assert caught.value.kind is FindingKind.FRONT_MATTER
    assert why in str(caught.value)


@pytest.mark.parametrize("block", ["a = ", "a = 1\na = 2", "a = " + "[" * 60_000, "a = " + "9" * 60_000, "a: 1"])
def test_a_block_that_is_no_toml_is_refused(block):
    with pytest.raises(DocumentError, match="no TOML") as caught:
        read_text(f"+++\n{block}\n+++\n", "a")
    assert caught.value.kind is FindingKind.FRONT_MATTER


def test_a_toml_block_of_hostile_depth_is_refused_before_it_is_parsed():
    with pytest.raises(DocumentError, match="has 30000 dots"):
        read_text("+++\na" + ".a" * 30_000 + " = 1\n+++\n")


def test_tags_build_no_objects():
    assert yaml_fields("a: !!python/object/apply:os.system ['x']\nb: !!int 07", "a", "b") == {"a": "x", "b": "07"}


def test_messages_do_not_repeat_the_document():
    with pytest.raises(DocumentError) as caught:
        read_text("---\npassword: hunter2: x\n---\n")
    assert "hunter2" not in str(caught.value)


def test_a_block_of_the_largest_size_is_read():
    block = "a: " + "x" * (frontmatter.MAX_BYTES - 4)
    assert yaml_fields(block, "a") == {"a": block[3:]}


KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
ODD = st.sampled_from(" :-?!&*|>%@`'\"[]{},.~=<\\\xa0é漢\u3000\U0001f600") | st.characters(codec="utf-8")
VALUES = st.builds(str.__add__, st.sampled_from(["", "a", "Z", "0", "é", "漢"]), st.text(ODD, max_size=8))


@settings(max_examples=400)
@given(st.lists(st.tuples(KEYS, st.sampled_from(["", " ", "  "]), VALUES), max_size=3))
@example([("a", " ", "https://example.org:80/x"), ("b", "", "")])
@example([("null", " ", "null"), ("y", " ", "é: x")])
def test_plain_lines_mean_what_yaml_says(fields):
    block = canonicalise("".join(f"{key}:{space}{value}\n" for key, space, value in fields).encode()).text
    if all(frontmatter._PLAIN_LINE.fullmatch(line) for line in block.split("\n") if line):
        assert frontmatter._yaml(block) == frontmatter._parsed_yaml(block)


@given(st.text(st.sampled_from("ab:-\n '\"[]{}&*!|>%\t#,?=+.1") | st.characters(codec="utf-8"), max_size=60))
def test_any_block_is_read_or_refused(block):
    for fence in ("---", "+++"):
        source = f"{fence}\n{block}\n{fence}\nBody"
        try:
            front = read_text(source, "a")
        except DocumentError as error:
            assert error.kind is FindingKind.FRONT_MATTER  # noqa: PT017 -- most blocks raise nothing
        else:
            assert 0 <= front.end <= len(canonicalise(source.encode()).data)


def test_a_thematic_break_before_a_blank_line_opens_no_front_matter():
    text = canonicalise(b"---\n\nSome text: with *a* colon.\n\n---\n\nMore.\n")
    assert frontmatter.read(text, Format.MARKDOWN, ()).end == 0
