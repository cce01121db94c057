"""Which lines of reStructuredText, plain text and code are headings, blocks, items and paragraphs."""

import pytest

from steadlith_core.chunking.arena import pack
from steadlith_core.chunking.parts import BlockKind, Level
from steadlith_core.chunking.structure import read
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise


def structure(source, grammar=Format.RST):
    packed = pack([canonicalise(source.encode())])
    return packed, read(packed, grammar)


def headings(source):
    return [(heading.rank, heading.title) for heading in structure(source)[1].outline.headings]


def candidates(source, grammar=Format.RST):
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


def cuts(source):
    """The places inside blocks, as candidates."""
    return [text for level, text in candidates(source) if level == Level.INSIDE]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("=====\nTitle\n=====\n\ntext", [(1, "Title")]),
        ("=======\n Title\n=======\n\ntext", [(1, "Title")]),
        ("Title\n=====\n", [(2, "Title")]),
        ("Title\n-----\n", [(3, "Title")]),
        ("Title\n~~~~~\n", [(4, "Title")]),
        ("Title\n^^^^^\n", [(5, "Title")]),
        ('Title\n"""""\n', [(6, "Title")]),
        ("Title\n'''''\n", [(6, "Title")]),
        ("A title longer than its line\n====\n", [(2, "A title longer than its line")]),
        ("Title\n==\n", []),
        ("1. Introduction\n---------------\n", [(3, "1. Introduction")]),
        ("漢字\n====\n", [(2, "漢字")]),
        ("two\nlines\n=====\n", []),
        (" Quote\n======\n", []),
        ("text\n\n------\n\ntext", []),
        ("=====\nTitle\n-----\n\ntext", []),
        ("ab\n::\n\n  x", []),
        ("A\n=\n\nB\n=\n", [(2, "A"), (2, "B")]),
    ],
)
def test_sections(source, expected):
    assert headings(source) == expected


def test_a_rank_does_not_depend_on_what_stands_earlier_in_the_file():
    alone = headings("Late\n~~~~\n\ntext")
    assert headings("First\n^^^^^\n\ntext\n\nLate\n~~~~\n\ntext")[1:] == alone


def test_a_literal_block_is_whole_and_hides_sections():
    source = "Example::\n\n    Not\n    ---\n\n    more\n\nAfter\n"
    assert headings(source) == []
    assert blocks(source) == [(BlockKind.LITERAL, "    Not\n    ---\n\n    more")]
    assert candidates(source) == [
        (Level.PARAGRAPH, "Example::"),
        (Level.PARAGRAPH, "    Not"),
        (Level.INSIDE, "    more"),
        (Level.PARAGRAPH, "After"),
    ]


def test_a_paragraph_of_an_item_is_no_literal_block():
    assert blocks("- item::\n\n      literal\n\n  text\n") == [(BlockKind.LITERAL, "      literal")]
    assert blocks("- item::\n\n  text\n") == []


def test_a_verbatim_directive_is_a_block_and_an_admonition_is_text():
    source = ".. code-block:: python\n   :linenos:\n\n   one\n\n   two\n\n.. note::\n\n   Text. More.\n"
    assert blocks(source) == [(BlockKind.LITERAL, source[: source.index("\n\n.. note")])]
    assert candidates(source)[-3:] == [
        (Level.PARAGRAPH, ".. note::"),
        (Level.PARAGRAPH, "   Text. More."),
        (Level.SENTENCE, "More."),
    ]


def test_a_grid_table_is_cut_at_borders_between_rows():
    source = "+---+\n| h |\n+===+\n| 1 |\n| 1 |\n+---+\n| 2 |\n+---+\n\nafter"
    assert blocks(source) == [(BlockKind.TABLE, source[:-7])]
    assert cuts(source) == ["+---+"]


def test_a_simple_table_is_cut_at_rows_and_may_hold_blank_lines():
    source = "=====  ===\nA      B\n=====  ===\none    1\n\ntwo    2\n       2\nthree  3\n=====  ===\n\nafter"
    assert blocks(source) == [(BlockKind.TABLE, source[:-7])]
    assert cuts(source) == ["two    2", "three  3"]


def test_a_simple_table_without_a_last_border_is_text():
    assert blocks("=====  ===\nA      B\n=====  ===\none    1\n\ntext\n") == []


def test_items_and_fields_rank_as_items():
    source = "Text\n- one\n* two\n#. three\n(a) four\n:field: five\n"
    assert [level for level, _ in candidates(source)] == [Level.PARAGRAPH] + [Level.ITEM] * 5


def test_plain_text_has_paragraphs_items_sentences_and_no_headings():
    source = "# One. Two\nsoft\n- item\n\nTitle\n=====\n"
    assert candidates(source, Format.TEXT) == [
        (Level.PARAGRAPH, "# One. Two"),
        (Level.SENTENCE, "Two"),
        (Level.LINE, "soft"),
        (Level.ITEM, "- item"),
        (Level.PARAGRAPH, "Title"),
        (Level.LINE, "====="),
    ]


def test_code_has_definitions_and_lines_and_no_sentences():
    source = "import os\n\ndef f():\n    # One. Two.\n\n    return 1\n\ndef g(): ...\n"
    assert candidates(source, Format.CODE) == [
        (Level.PARAGRAPH, "import os"),
        (Level.PARAGRAPH, "def f():"),
        (Level.ITEM, "    # One. Two."),
        (Level.ITEM, "    return 1"),
        (Level.PARAGRAPH, "def g(): ..."),
    ]
