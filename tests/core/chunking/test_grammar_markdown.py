"""Which lines of Markdown are headings, blocks, items and paragraphs."""

from dataclasses import replace

import pytest

from steadlith_core.chunking.arena import pack
from steadlith_core.chunking.parts import BlockKind, Level
from steadlith_core.chunking.structural import StructuralChunker
from steadlith_core.chunking.structure import read
from steadlith_core.chunking.together import titles
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise


def structure(source, grammar=Format.MARKDOWN):
    packed = pack([canonicalise(source.encode())])
    return packed, read(packed, grammar)


def headings(source):
    return [(heading.rank, heading.title) for heading in structure(source)[1].outline.headings]


def candidates(source, grammar=Format.MARKDOWN):
    """Each place as (level, the text from there to the line's end)."""
    packed, found = structure(source, grammar)
    text = packed.data[: packed.ends[0]]
    places = found.places
    return [
        (Level(level), text[start:].split(b"\n")[0].decode())
        for start, level in zip(places.start.tolist(), places.level.tolist(), strict=True)
    ]


def blocks(source):
    packed, found = structure(source)
    start, end = found.lines.start, found.lines.end
    return [
        (block.kind, packed.data[start[block.line] : end[block.behind - 1]].decode()) for block in found.outline.blocks
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One\n\ntext", [(1, "One")]),
        ("###### Six\n", [(6, "Six")]),
        ("####### Seven\n", []),
        ("#hashtag\n", []),
        ("   # Indented by three\n", [(1, "Indented by three")]),
        ("    # Indented by four\n", []),
        ("\t# Tab\n", []),
        ("## Closed ##\n", [(2, "Closed")]),
        ("# C#\n", [(1, "C#")]),
        ("# Title { #title-id }\n", [(1, "Title")]),
        ("# Set {1, 2}\n", [(1, "Set {1, 2}")]),
        ("# a { .x}{#y}\n", [(1, "a { .x}")]),
        ("## ##\n", [(2, "")]),
        ("# a\t##\n", [(1, "a")]),
        ("# a#b ##\n", [(1, "a#b")]),
        ("#\n\ntext", [(1, "")]),
        ("Title\n=====\n\ntext", [(1, "Title")]),
        ("Title\n-\ntext", [(2, "Title")]),
        ("para\n\n---\n\npara", []),
        ("two\nlines\n-----\n", []),
        ("- item\n---\n", []),
        ("> quote\n---\n", []),
        ("# A\nB\n---\n", [(1, "A"), (2, "B")]),
        ("\\# escaped\n", []),
        ("> # quoted\n", []),
        ("# " + "x" * 2000, []),
    ],
)
def test_headings(source, expected):
    assert headings(source) == expected


def test_a_closed_fence_hides_headings_and_an_open_one_hides_nothing():
    assert headings("```\n# no\n```\n# yes\n") == [(1, "yes")]
    assert headings("```\n# yes\n\n# also\n") == [(1, "yes"), (1, "also")]


@pytest.mark.parametrize(
    ("opening", "closing", "closed"),
    [
        ("```", "```", True),
        ("```python", "```", True),
        ("````", "```", False),
        ("```", "````", True),
        ("~~~", "~~~", True),
        ("~~~ a`b", "~~~", True),
        ("~~~", "```", False),
        ("``` a`b", "```", False),
        ("```", "``` python", False),
        ("  ```", "      ```", True),
    ],
)
def test_what_closes_a_fence(opening, closing, closed):
    assert headings(f"{opening}\n# inside\n{closing}\n") == ([] if closed else [(1, "inside")])


def test_a_longer_fence_holds_a_shorter_one():
    source = "````md\n```\n# no\n```\n````\n\n# yes\n"
    assert headings(source) == [(1, "yes")]
    assert len(blocks(source)) == 1


def test_a_fence_is_cut_at_its_lines_but_keeps_its_first_and_its_closing_one():
    source = "text\n\n```py\none\ntwo\n\nthree\n```\nafter"
    assert candidates(source) == [
        (Level.PARAGRAPH, "text"),
        (Level.PARAGRAPH, "```py"),
        (Level.INSIDE, "two"),
        (Level.INSIDE, "three"),
        (Level.PARAGRAPH, "after"),
    ]


def test_a_table_is_cut_between_rows_but_keeps_header_and_first_row():
    source = "intro\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4. Five |\n| 6 | 7 |\n\nafter"
    assert blocks(source) == [(BlockKind.TABLE, source[7:-7])]
    assert candidates(source)[1:] == [
        (Level.PARAGRAPH, "| a | b |"),
        (Level.INSIDE, "| 3 | 4. Five |"),
        (Level.INSIDE, "| 6 | 7 |"),
        (Level.PARAGRAPH, "after"),
    ]


def test_a_line_with_a_bar_and_no_delimiter_row_is_text():
    assert blocks("a | b\nc | d\n") == []
    assert blocks("a | b\n----\n") == []


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("<div>\n# no\n</div>\n\n# yes", "<div>\n# no\n</div>"),
        ("<!-- a\n\n# no\n-->\n# yes", "<!-- a\n\n# no\n-->"),
        ("<pre>\n\n# no\n</pre>\n# yes", "<pre>\n\n# no\n</pre>"),
        ("</details>\n# no\n\n# yes", "</details>\n# no"),
    ],
)
def test_html_blocks(source, kept):
    assert blocks(source) == [(BlockKind.HTML, kept)]
    assert headings(source) == [(1, "yes")]


@pytest.mark.parametrize("source", ["<b>bold</b>\n# yes", "<https://x.y>\n# yes", "<!-- open\n# yes", "<pre>\n# yes"])
def test_inline_html_and_what_is_never_closed_are_text(source):
    assert blocks(source) == []
    assert headings(source) == [(1, "yes")]


def test_levels_of_lines():
    source = "One. Two\nsoft\nends.\nafter end\n- item. More\n1. first. Next\n\n- loose\n\npara"
    assert candidates(source) == [
        (Level.PARAGRAPH, "One. Two"),
        (Level.SENTENCE, "Two"),
        (Level.LINE, "soft"),
        (Level.LINE, "ends."),
        (Level.ITEM, "after end"),
        (Level.ITEM, "- item. More"),
        (Level.SENTENCE, "More"),
        (Level.ITEM, "1. first. Next"),
        (Level.SENTENCE, "Next"),
        (Level.PARAGRAPH, "- loose"),
        (Level.PARAGRAPH, "para"),
    ]


def test_sentences_end_with_closers_and_wide_stops():
    source = 'He said "go!" Then (why?) left.) 你好。「再见\uff01」再来'
    assert [text for level, text in candidates(source) if level is Level.SENTENCE] == [
        source[source.index(start) :] for start in ("Then", "left", "你", "「", "再来")
    ]


def test_a_chain_of_headings_is_one_boundary_with_its_strongest_level():
    assert candidates("start\n\n### C\n\n# A\n## B\n\nbody\n\nnext") == [
        (Level.PARAGRAPH, "start"),
        (Level.HEADING_1, "### C"),
        (Level.LINE, "# A"),
        (Level.LINE, "## B"),
        (Level.LINE, "body"),
        (Level.PARAGRAPH, "next"),
    ]


def test_a_heading_stays_with_what_follows_even_a_block():
    assert candidates("x\n\n# H\n\n```\na\n```\n")[1:] == [(Level.HEADING_1, "# H"), (Level.LINE, "```")]


def test_a_trailing_heading_stays_with_what_precedes_it():
    assert candidates("text\n\n# A\n\n## B\n")[1:] == [(Level.LINE, "# A"), (Level.LINE, "## B")]


def test_paths_are_the_titles_in_force():
    source = "# A\n\nx\n\n## B\n\nx\n\n#### C\n\nx\n\n## D\n\nx\n\n#\n\nx\n".replace("x", "Some words of text")
    chunks, _ = StructuralChunker(1, 10, 40).cut(canonicalise(source.encode()), Format.MARKDOWN)
    assert [chunk.headings for chunk in chunks] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ()]


def test_no_cut_may_fall_before_a_mark_that_composes():
    assert candidates("a. \u0301b. c\n\u0301d") == [(Level.PARAGRAPH, "a. \u0301b. c"), (Level.SENTENCE, "c")]


def test_the_title_is_that_of_the_first_heading_that_has_one():
    sources = [b"text\n\n#\n\n## B\n\n# A", b"text", b"", b"# A", b"\n\n"]
    assert list(titles([canonicalise(source) for source in sources], Format.MARKDOWN)) == ["B", "", "", "A", ""]
    assert list(titles([canonicalise(b"# A")], Format.TEXT)) == [""]


def test_only_the_body_is_read():
    text = replace(canonicalise(b"# front\n\n# body\n"), body=9)
    assert list(titles([text], Format.MARKDOWN)) == ["body"]
