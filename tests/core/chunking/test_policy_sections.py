"""The policies `markdown`, `plain` and `late`, and what makes a forest of parents."""

import pytest

from steadlith_core.chunking.late import FACTORY as LATE
from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.sections import MARKDOWN, PLAIN
from steadlith_core.chunking.topology import checked, problems
from steadlith_core.errors import AdapterError, ConfigError, DocumentError
from steadlith_core.records import Chunk, FindingKind, Format, Span
from steadlith_core.state.template import TEMPLATES
from steadlith_core.text.canonical import canonicalise


def cut(source, factory=MARKDOWN, grammar=Format.MARKDOWN, **settings):
    return factory.build(settings).cut(canonicalise(source.encode()), grammar)[0]


def outline(source, **settings):
    return [(chunk.headings, chunk.text) for chunk in cut(source, **settings)]


# -------------------------------------------------------------------------------------------------- headings


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Title", "Title"),
        ("###### Six", "Six"),
        ("## Closed ##", "Closed"),
        ("   ### Indented by three", "Indented by three"),
        ("#\tTabbed", "Tabbed"),
        ("#NoSpace", None),
        ("####### Seven", None),
        ("    # Indented code", None),
    ],
)
def test_a_heading_is_what_commonmark_says(line, title):
    (chunk,) = cut(f"{line}\n\nbody")
    assert chunk.headings == ((title,) if title else ())
    assert chunk.text == ("body" if title else f"{line}\n\nbody")


def test_what_only_looks_like_a_heading_is_body():
    fenced = "```sh\n# a comment\n```"
    assert outline(f"# Real\n\n{fenced}\n\ntext") == [(("Real",), f"{fenced}\n\ntext")]


def test_an_underlined_heading_is_one():
    assert outline("Top\n===\n\na\n\nSub\n---\n\nb") == [(("Top",), "a"), (("Top", "Sub"), "b")]


def test_front_matter_is_no_body():
    text = canonicalise(b"---\ntitle: x\n---\nbefore\n\n# A\n\nbody\n")
    behind = type(text)(text.data, text.data.index(b"before"), text._positions, text._offsets)
    chunks, _ = MARKDOWN.build({}).cut(behind, Format.MARKDOWN)
    assert [(chunk.headings, chunk.text) for chunk in chunks] == [((), "before"), (("A",), "body")]


def test_restructured_text_has_sections_too():
    made = cut("Top\n===\n\na\n\nSub\n---\n\nb", grammar=Format.RST)
    assert [(chunk.headings, chunk.text, chunk.level) for chunk in made] == [
        (("Top",), "a", Level.HEADING_2),
        (("Top", "Sub"), "b", Level.HEADING_3),
    ]


def test_a_breadcrumb_is_the_path_and_no_part_of_the_span():
    (chunk,) = cut("# Guide\n\n## Setup\n\nInstall it.\n")
    template = TEMPLATES["breadcrumb"]
    assert template.render(chunk.text, template.fields(chunk.headings)) == "Guide > Setup\n\nInstall it."
    assert (chunk.span.start, chunk.span.end, chunk.span.first_line) == (19, 30, 5)


# -------------------------------------------------------------------------------------------------- sections


def test_a_section_without_a_body_has_no_chunk_and_stays_in_the_path():
    assert outline("# Doc\n\n## Empty\n\n## Filled\n\ntext") == [(("Doc", "Filled"), "text")]


def test_a_path_ends_where_a_heading_of_its_rank_begins():
    source = "# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne"
    assert [headings for headings, _ in outline(source)] == [("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_text_before_the_first_heading_has_no_path():
    (before, after) = cut("intro\n\n# A\n\nbody")
    assert (before.headings, before.text, before.level) == ((), "intro", Level.PARAGRAPH)
    assert (after.headings, after.text, after.level) == (("A",), "body", Level.HEADING_1)


def test_headings_only_are_one_section_with_the_whole_body():
    assert outline("# A\n\n## B\n\n### C\n") == [((), "# A\n\n## B\n\n### C")]


@pytest.mark.parametrize("source", ["", "\n \n\t\n", "\u3000\n"])
def test_a_blank_body_has_no_section(source):
    assert cut(source) == cut(source, PLAIN) == cut(source, LATE, child_max_words=5) == ()


def test_equal_sections_have_their_own_spans():
    made = cut("# A\n\nsame\n\n# B\n\nsame\n\n# C\n\nsame")
    assert [chunk.span.first_line for chunk in made] == [3, 7, 11]


def test_plain_text_is_one_section_whatever_it_holds():
    assert outline("# x\n\n## y\n\nz", factory=PLAIN) == [((), "# x\n\n## y\n\nz")]


def test_a_heading_or_body_that_no_cut_may_stand_before_stays_with_its_neighbour():
    for blank in ("\n", "\n\n", "\n\u3000\n"):
        assert outline(f"# A{blank}\u0301body\n\n# B\n\nb") == [(("A",), f"# A{blank}\u0301body"), (("B",), "b")]
    assert outline("# A\n\u3000\nbody") == [(("A",), "body")]
    assert outline("text\n\n\u0301Title\n=====\n\nbody") == [((), "text\n\n\u0301Title\n=====\n\nbody")]


# --------------------------------------------------------------------------------------------------- windows


def test_windows_share_words_and_end_at_the_last():
    made = cut("# H\n\na b c d e f g h i j", max_words=5, overlap_words=2)
    assert [chunk.text for chunk in made] == ["a b c d e", "d e f g h", "g h i j"]
    assert [chunk.level for chunk in made] == [Level.HEADING_1, Level.WORD, Level.WORD]
    assert {chunk.headings for chunk in made} == {("H",)}


def test_a_window_keeps_the_indentation_of_its_first_line():
    made = cut("a b c\n    indented d", max_words=3, factory=PLAIN)
    assert [chunk.text for chunk in made] == ["a b c", "    indented d"]
    made = cut("- a b\n- c d\n> e", max_words=3, factory=PLAIN)
    assert [chunk.text for chunk in made] == ["- a b", "- c d", "> e"]


def test_no_break_spaces_part_words():
    assert len(cut("a\u00a0b\u00a0c\u00a0d\u00a0e\u00a0f", max_words=3)) == 2


def test_without_a_maximum_a_section_stays_whole():
    body = "word " * 5000
    (chunk,) = cut(f"# A\n\n{body}", max_words=0)
    assert chunk.text == body.strip()


@pytest.mark.parametrize("factory", [MARKDOWN, PLAIN])
@pytest.mark.parametrize("settings", [{"max_words": 0}, {"max_words": 3, "overlap_words": 1}])
def test_a_flat_policy_has_roots_only(factory, settings):
    made = cut("# A\n\na b c d e f\n\n## B\n\ng", factory, **settings)
    assert {(chunk.parent, chunk.embed) for chunk in made} == {(-1, True)}


# ---------------------------------------------------------------------------------------------- atomic blocks

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |"
FENCE = "```python\n# no heading\nprint(1, 2, 3, 4, 5, 6, 7, 8)\n```"


def test_tables_and_fences_are_whole_whatever_the_size():
    source = f"# H\n\none two three four five six seven\n\nThe caption:\n\n{TABLE}\n\nbetween\n\n{FENCE}\n\nafter"
    made = cut(source, max_words=6, atomic=True)
    assert [chunk.text for chunk in made] == [
        "one two three four five six",
        "seven\n\nThe caption:",
        f"The caption:\n\n{TABLE}",
        "between",
        FENCE,
        "after",
    ]
    assert {chunk.headings for chunk in made} == {("H",)}


def test_a_heading_or_another_block_is_no_caption():
    assert [text for _, text in outline(f"# H\n\n{TABLE}\n\n{FENCE}\n\n{TABLE}", atomic=True)] == [TABLE, FENCE, TABLE]


def test_an_open_fence_is_text():
    source = "# H\n\ntext\n\n```\n# Not closed\n\nmore"
    assert [headings for headings, _ in outline(source, atomic=True)] == [("H",), ("Not closed",)]


def test_blocks_are_cut_like_text_unless_they_are_atomic():
    assert len(cut(f"# H\n\n{TABLE}", max_words=6)) > 1


# ---------------------------------------------------------------------------------------------- max_sections


def test_the_first_section_over_the_limit_is_a_typed_error():
    source = "".join(f"# H{n}\n\ntext\n\n" for n in range(201))
    assert len(cut(source, max_sections=201)) == len(cut(source, max_sections=0)) == 201
    with pytest.raises(DocumentError) as caught:
        cut(source, max_sections=200)
    assert caught.value.kind == FindingKind.TOO_MANY_SECTIONS
    assert all(word in str(caught.value) for word in ("line 803", "section 201", "max_sections = 200"))


def test_windows_count_as_sections():
    with pytest.raises(DocumentError):
        cut("a b c d e", max_words=1, max_sections=4)
    assert len(cut("a b c d e", max_words=1, max_sections=5)) == 5


def test_nothing_is_cut_behind_the_limit():
    from steadlith_core.chunking.pieces import Piece, emit

    drawn = []

    def pieces():
        for at in range(100):
            drawn.append(at)
            yield Piece(at, at + 1, Level.WORD)

    with pytest.raises(DocumentError):
        emit(canonicalise(b"x" * 100), pieces(), 10)
    assert len(drawn) == 11


# ------------------------------------------------------------------------------------------------------ late


def test_a_large_section_is_a_parent_and_its_windows_are_embedded():
    source = "# H\n\n" + " ".join(f"w{n}" for n in range(60))
    made = cut(source, LATE, child_max_words=8, child_overlap_words=2)
    assert [chunk.parent for chunk in made] == [-1] + [0] * 10
    assert [chunk.embed for chunk in made] == [False] + [True] * 10
    assert made[0].text == source[5:]
    assert {chunk.headings for chunk in made} == {("H",)}
    assert [chunk.text for chunk in cut(source, max_words=8, overlap_words=2)] == [chunk.text for chunk in made[1:]]


def test_a_section_of_one_child_is_an_ordinary_chunk():
    made = cut("# A\n\na b\n\n# B\n\nc d e f\n\n# C\n\ng", LATE, child_max_words=2)
    assert [(chunk.text, chunk.parent, chunk.embed) for chunk in made] == [
        ("a b", -1, True),
        ("c d e f", -1, False),
        ("c d", 1, True),
        ("e f", 1, True),
        ("g", -1, True),
    ]


def test_parents_are_cut_without_overlap():
    made = cut("a b c d e f", LATE, child_max_words=2, child_overlap_words=1, parent_max_words=4)
    assert [(chunk.text, chunk.parent) for chunk in made] == [
        *(("a b c d", -1), ("a b", 0), ("b c", 0), ("c d", 0)),
        ("e f", -1),
    ]


def test_parents_and_children_count_as_sections():
    with pytest.raises(DocumentError):
        cut("a b c d", LATE, child_max_words=2, max_sections=2)
    assert len(cut("a b c d", LATE, child_max_words=2, max_sections=3)) == 3


# -------------------------------------------------------------------------------------------------- topology


@pytest.mark.parametrize("parents", [(), (-1,), (-1, 0, 0, -1, 3, 4)])
def test_roots_and_earlier_parents_are_a_forest(parents):
    assert problems(parents) == ()


@pytest.mark.parametrize("parents", [(-1, 2, -1), (0,), (-1, 1), (-1, -2)], ids=["forward", "self", "own", "-2"])
def test_every_other_parent_is_named(parents):
    (problem,) = problems(parents)
    wrong = next(index for index, parent in enumerate(parents) if not -1 <= parent < index)
    assert problem.startswith(f"chunk {wrong} has the parent {parents[wrong]}:")


def test_a_policy_that_breaks_the_forest_is_told_so():
    chunks = (Chunk("x", Span(0, 1, 1, 1), (), 0, 1, parent=0),)
    with pytest.raises(AdapterError, match="policy mine/1: chunk 0 has the parent 0"):
        checked("mine/1", chunks)


# --------------------------------------------------------------------------------------------- configuration


def test_parameters_are_what_moves_a_cut():
    assert MARKDOWN.build({"max_words": 0, "max_sections": 7}).params == {}
    assert MARKDOWN.build({"atomic": True}).params == {
        "atomic": True,
        "max_bytes": 5120,
        "max_words": 320,
        "overlap_words": 0,
    }
    assert PLAIN.build({"max_words": 5}).params == {"max_bytes": 256, "max_words": 5, "overlap_words": 0}
    assert LATE.build({"child_max_words": 100}).params == {
        "child_max_words": 100,
        "child_overlap_words": 0,
        "max_bytes": 1600,
    }
    assert LATE.build({"child_max_words": 100, "parent_max_words": 400}).params["parent_max_words"] == 400


@pytest.mark.parametrize(
    ("factory", "settings", "words"),
    [
        (MARKDOWN, {"max_words": -1}, ["max_words = -1", "0 leaves every section whole"]),
        (MARKDOWN, {"max_words": 5, "overlap_words": 5}, ["overlap_words = 5", "less than max_words = 5"]),
        (MARKDOWN, {"overlap_words": -1}, ["overlap_words = -1", "at least 0"]),
        (MARKDOWN, {"atomic": 1}, ["atomic = 1", "true or false"]),
        (PLAIN, {"atomic": True}, ["atomic", "plain/1", "max_words, overlap_words"]),
        (LATE, {}, ["child_max_words = 0", "at least 1", "no default"]),
        (LATE, {"child_max_words": 0}, ["child_max_words = 0", "at least 1"]),
        (LATE, {"child_max_words": 5, "child_overlap_words": 5}, ["child_overlap_words = 5", "child_max_words = 5"]),
        (LATE, {"child_max_words": 5, "parent_max_words": -1}, ["parent_max_words = -1"]),
    ],
)
def test_wrong_settings_are_refused_by_name_value_and_rule(factory, settings, words):
    with pytest.raises(ConfigError) as caught:
        factory.build(settings)
    assert all(word in str(caught.value) for word in words)
