"""The default policy: sizes, losslessness, stability, and equality with a slow reading of its rules."""

import base64
import hashlib
import random
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from steadlith_core.chunking import keys, scan
from steadlith_core.chunking.arena import pack
from steadlith_core.chunking.keys import BLOCK, FINISH, FOLD, SEED, WINDOW, Peaks
from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.structural import FACTORY, POLICY_ID, StructuralChunker
from steadlith_core.chunking.structure import read
from steadlith_core.chunking.together import titles
from steadlith_core.errors import ConfigError
from steadlith_core.records import FindingKind, Format
from steadlith_core.text import canonical
from steadlith_core.text.canonical import canonicalise, fragment, is_boundary
from steadlith_core.text.tokens import UNIT, cumulative, estimate

WORDS = re.findall(
    "[a-z]+",
    "index plan apply root chunk store vector a the of and to in is it that was for on are with as be at one have this "
    "from or had by hot but some what there we can out other were all your when up use word how said an each she which "
    "their time will way about many then them would write like so these her long make thing see him two has look more",
)


def cut(source, grammar=Format.MARKDOWN, **sizes):
    chunker = StructuralChunker(**sizes)
    return chunker.cut(canonicalise(source if isinstance(source, bytes) else source.encode()), grammar)


def texts(source, grammar=Format.MARKDOWN, **sizes):
    return [chunk.text for chunk in cut(source, grammar, **sizes)[0]]


def sentence(rng):
    words = [rng.choice(WORDS) for _ in range(rng.randint(5, 18))]
    return " ".join(words).capitalize() + "."


def prose(rng, sentences):
    return " ".join(sentence(rng) for _ in range(sentences))


def manual(seed, sections):
    """A long Markdown document with sections of mixed lengths."""
    rng = random.Random(seed)
    parts = []
    for number in range(sections):
        parts.append(f"{'#' * rng.choice((1, 2, 2, 3, 3, 3))} {sentence(rng)[:-1]} {number}")
        parts += [prose(rng, rng.randint(1, 7)) for _ in range(rng.randint(1, 6))]
    return parts


# ---------------------------------------------------------------------------------------- random documents

LINES = st.sampled_from(
    [
        "# Head",
        "## Sub head ##",
        "Under",
        "=====",
        "-----",
        "- item one. More",
        "1. first",
        "> quoted words",
        "```",
        "~~~~ info",
        "| a | b |",
        "|---|---|",
        "<div>",
        "<!-- note",
        "-->",
        "    indented code(line)",
        ".. code::",
        "Literal::",
        "One sentence. Another one! A third?",
        "Ends with a stop.",
        "plain words without any end",
        "你好。世界\uff01再见",
        "cafe\u0301 nai\u0308ve \u1100\u1161\u11a8",
        "emoji \U0001f600\U0001f680 \U0001fae8",
        "trailing space \t",
        "\ufeffmark",
        "vt\x0bff\x0cnel\x85ls\u2028nbsp\u00a0",
        "x" * 70,
        "",
        "",
        "",
    ]
)
WHITE_SPACE = canonical.WHITE_SPACE.decode()
ODD = st.text(alphabet=st.sampled_from("ab1.!# -\t\n\r\x0b\x0c\u0301\u0327é漢\U0001f600\U0001fae8\x85"), max_size=30)
DOCUMENTS = st.tuples(
    st.lists(LINES | ODD, max_size=40),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from(["NFC", "NFD"]),
).map(lambda parts: unicodedata.normalize(parts[3], ("\ufeff" if parts[2] else "") + parts[1].join(parts[0])).encode())
GRAMMARS = st.sampled_from(list(Format))
SMALL = {"min_tokens": 6, "max_tokens": 24, "max_bytes": 100_000}


@settings(deadline=None, max_examples=150)
@given(DOCUMENTS, GRAMMARS)
def test_chunks_cover_all_solid_text_in_order_and_are_fragments_of_the_source(source, grammar):
    text = canonicalise(source)
    chunks, findings = cut(source, grammar, **SMALL)
    solid = str.maketrans("", "", WHITE_SPACE)
    assert "".join(chunk.text for chunk in chunks).translate(solid) == text.text.translate(solid)
    for before, after in pairwise(chunks):
        assert before.span.end <= after.span.start
    for chunk in chunks:
        assert chunk.text.translate(solid)
        assert findings or fragment(source[chunk.span.start : chunk.span.end]) == chunk.text


@settings(deadline=None, max_examples=150)
@given(DOCUMENTS, GRAMMARS)
def test_every_chunk_of_a_larger_document_lies_between_minimum_and_maximum(source, grammar):
    # A run of more than four tokens without a permitted cut may, with white space around it, weigh over SLACK.
    text = canonicalise(source).text
    places = [i for i, char in enumerate(text) if char not in WHITE_SPACE and is_boundary(char)]
    units = cumulative(text)
    ends = [0, *places, len(text.rstrip(WHITE_SPACE))]
    assume(all(units[b] - units[a] <= 4 * UNIT for a, b in pairwise(ends)))
    chunks, findings = cut(source, grammar, **SMALL)
    assert findings == ()
    if len(chunks) > 1:
        assert all(6 <= chunk.tokens <= 24 for chunk in chunks)


@settings(deadline=None, max_examples=60)
@given(DOCUMENTS, GRAMMARS)
def test_the_source_may_change_in_all_that_text_1_forgets(source, grammar):
    text = canonicalise(source).text
    other = "\ufeff" + text.replace("\n", " \t\r\n")  # a mark of its own to forget: the text may begin with another
    assert texts(source, grammar, **SMALL) == texts(other, grammar, **SMALL)


# ------------------------------------------------------------------------------------- the rules, read slowly


def slow_key(data, offset):
    window = (data[offset : offset + WINDOW] + bytes(WINDOW))[:WINDOW]
    state = SEED
    for part in range(0, WINDOW, 8):
        state = (state ^ int.from_bytes(window[part : part + 8], "little")) * FOLD % 2**64
        state ^= state >> 32
    for factor in FINISH:
        state = (state ^ state >> 33) * factor % 2**64
    return (state ^ state >> 33) >> 4


def slow_cut(text, grammar, minimum, maximum):
    """Pieces as (start, end) by the rules of tree.py, with lists, loops and recursion; no byte cap, no runs."""
    canonical = canonicalise(text.encode())
    text = canonical.text
    units = cumulative(text).tolist()
    packed = pack([canonical])
    places = read(packed, grammar).places
    starts = [len(packed.data[:at].decode()) for at in places.start.tolist()]
    words = [i for i in range(1, len(text)) if text[i] not in WHITE_SPACE and text[i - 1] in WHITE_SPACE]
    points = [i for i in range(1, len(text)) if text[i] not in WHITE_SPACE]
    sorts = (
        list(zip(starts, places.level.tolist(), strict=True)),
        [(i, Level.WORD) for i in words if is_boundary(text[i])],
        [(i, Level.POINT) for i in points if is_boundary(text[i])],
    )

    def end_before(position):
        return len(text[:position].rstrip(WHITE_SPACE))

    def pieces(start, end):
        if units[end] - units[start] <= maximum * UNIT:
            return [(start, end)]
        for places in sorts:
            legal = [
                (level, slow_key(text.encode(), len(text[:i].encode())), -i)
                for i, level in places
                if start < i < end
                and units[end_before(i)] - units[start] >= minimum * UNIT
                and units[end] - units[i] >= minimum * UNIT
            ]
            if legal:
                position = -max(legal)[2]
                return pieces(start, end_before(position)) + pieces(position, end)
        pytest.fail("no permitted cut")

    first = starts[0]
    return [text[start:end] for start, end in pieces(first, end_before(len(text)))]


@pytest.mark.parametrize("grammar", list(Format))
@pytest.mark.parametrize("seed", range(3))
def test_the_fast_cut_equals_a_slow_reading_of_the_rules(grammar, seed):
    rng = random.Random(seed)
    pool = [
        "# A b",
        "Words. And more words here",
        "- item",
        "",
        "",
        "漢字漢字。漢字",
        "y" * 60,
        "é" * 30,
        "same",
        "same",
    ]
    text = "top\n" + "\n".join(rng.choice(pool) for _ in range(80)) + "\nend"
    assert texts(text, grammar, min_tokens=6, max_tokens=24) == slow_cut(text, grammar, 6, 24)


def test_the_greatest_key_of_a_range_is_the_leftmost_of_equals_over_any_number_of_blocks():
    rng = random.Random(7)
    numbers = [rng.randrange(400) for _ in range(5 * BLOCK + 7)]
    ranges = [(0, len(numbers)), (5, 9), (3, BLOCK + 2), (BLOCK, 2 * BLOCK), (1023, 3 * BLOCK + 1), (77, 4000)]
    peaks = Peaks(np.array(numbers, dtype=np.uint64))
    best = [low + numbers[low:high].index(max(numbers[low:high])) for low, high in ranges]
    assert [peaks.peak(*pair) for pair in ranges] == best
    assert peaks.peaks(*np.array(ranges).T).tolist() == best


@settings(deadline=None, max_examples=40)
@given(st.lists(DOCUMENTS, max_size=6), GRAMMARS, st.integers(1, 200), st.integers(1, 40))
def test_what_a_document_becomes_does_not_depend_on_its_neighbours_or_on_the_size_of_anything_inside(
    sources, grammar, block, many
):
    chunker = StructuralChunker(**SMALL)
    documents = [canonicalise(source) for source in sources]
    alone = [chunker.cut(document, grammar) for document in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "BLOCK", block)
        patch.setattr(keys, "MANY", many)
        cuts = list(chunker.cut_many(documents, grammar))
    assert [(each.chunks(n), each.findings(n)) for each in cuts for n in range(len(each))] == alone


# ------------------------------------------------------------------------------------------------- stability


def golden_document():
    """Every grammar's main constructs, from arithmetic alone: `random` promises no stable choices over versions."""
    step = iter(range(10**6))

    def words(count):
        return " ".join(WORDS[(n * n * 7 + n * 13) % len(WORDS)] for n in (next(step) for _ in range(count)))

    parts = []
    for number in range(30):
        parts.append(f"{'#' * (1 + number % 4)} Section {number} {words(3)}")
        parts += [f"{words(20 + 9 * n)}. {words(11)}! {words(30)}\n{words(12)}." for n in range(number % 5)]
        parts.append("\n".join(f"- {words(9)}" for _ in range(number % 7)))
        parts.append(f"Part {number}\n^^^^^^^^\n\n{words(9)}::\n\n    {words(7)}\n\n    {words(30)}")
        parts.append("```\n" + "\n".join(f"    {words(5)}" for _ in range(3 * number)) + "\n```")
        parts.append("a | b\n--|--\n" + "\n".join(f"{words(2)} | \u6f22\u5b57\u3002{n}" for n in range(number)))
    return "\n\n".join(parts)


@pytest.mark.parametrize(
    ("grammar", "count", "digest"),
    [
        (Format.MARKDOWN, 500, "2ab6de93ea62cce5"),
        (Format.RST, 489, "9a04f98809df5efa"),
        (Format.TEXT, 499, "ab873139bc69f4b3"),
        (Format.CODE, 505, "191563392eddd3d5"),
    ],
)
def test_golden_cuts_of_structural_1(grammar, count, digest):
    # Another digest is another policy, and needs another id.
    made = texts(golden_document(), grammar, min_tokens=20, max_tokens=60)
    assert (len(made), hashlib.sha256("\0".join(made).encode()).hexdigest()[:16]) == (count, digest)


def test_an_edit_changes_the_chunks_around_it_and_no_others():
    parts = manual(11, 120)
    before = set(texts("\n\n".join(parts)))
    assert len(before) > 60
    changed = []
    for place in range(3, len(parts), 9):
        for edited in (
            [*parts[:place], "A sentence that nobody wrote before. " + parts[place], *parts[place + 1 :]],
            [*parts[:place], "A paragraph that is new here.", *parts[place:]],
            [*parts[:place], *parts[place + 1 :]],
        ):
            if edited[place].startswith("#"):
                continue
            changed.append(len(set(texts("\n\n".join(edited))) - before))
    assert max(changed) <= 6
    assert sum(changed) / len(changed) < 1.4


def test_an_unclosed_fence_changes_only_what_is_near_and_what_the_next_fence_closes():
    # The one stated exception to locality: an opened fence pairs with the closing line of the next one.
    parts = manual(3, 60)
    place = next(i for i in range(30, 60) if not parts[i].startswith("#"))
    before = set(texts("\n\n".join(parts)))
    opened = set(texts("\n\n".join([*parts[:place], "```\n" + parts[place], *parts[place + 1 :]])))
    assert len(opened - before) <= 2


def test_text_in_front_of_a_document_moves_spans_and_not_chunks():
    parts = manual(5, 60)
    before = cut("\n\n".join(parts))[0]
    after = cut("\n\n".join(["# New first section", prose(random.Random(1), 12), *parts]))[0]
    assert len({chunk.text for chunk in after} - {chunk.text for chunk in before}) <= 3
    assert before[-1].text == after[-1].text
    assert before[-1].span.start < after[-1].span.start


# ------------------------------------------------------------------------------------------------ field cases


def test_field_case_44_a_long_table_is_cut_only_between_rows():
    rows = [f"| row {n} | {sentence(random.Random(n))[:40]:40} | {n * n:8} |" for n in range(60)]
    table = "\n".join(["| name | text | number |", "|------|------|-------:|", *rows])
    assert len(table) >= 3600
    chunks, findings = cut(f"# Numbers\n\nAll of them:\n\n{table}\n\nThat was it.\n")
    assert findings == ()
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        assert chunk.level == Level.INSIDE
        assert chunk.text.split("\n")[0] in rows
    assert "\n".join(chunk.text for chunk in chunks).count("| row ") == 60


def test_field_case_44_a_long_fence_is_cut_only_at_its_lines_and_no_fence_line_stands_alone():
    lines = [f"    value_{n} = compute({n}, 'text. More text. And more.')" for n in range(90)]
    fence = "\n".join(["```python", *lines, "```"])
    assert len(fence) >= 5000
    chunks, _ = cut(f"# Code\n\nSee. This\n\n{fence}\n\nText after. More.\n")
    inside = [chunk for chunk in chunks if chunk.level == Level.INSIDE]
    assert len(inside) >= 2
    assert all(chunk.text.split("\n")[0] in lines for chunk in inside)
    assert not any(chunk.text in {"```python", "```"} or chunk.text.startswith("```\n") for chunk in chunks)


def test_field_case_44_a_block_that_fits_between_the_limits_stays_whole():
    rng = random.Random(4)
    fence = "```\n" + "\n".join(f"line {n} of code" for n in range(40)) + "\n```"
    text = "\n\n".join([prose(rng, 15), prose(rng, 15), fence, prose(rng, 15), prose(rng, 15)])
    assert any(fence in chunk for chunk in texts(text))


def test_field_case_45_sections_of_mixed_lengths_are_cut_in_one_pass_and_never_again_under_the_limit():
    rng = random.Random(45)
    lengths = (1, 2, 90, 3, 40, 1, 1, 25, 60, 2, 30, 8)
    text = "\n\n".join(f"## Section {n}\n\n{prose(rng, count)}" for n, count in enumerate(lengths))
    made = texts(text)
    assert all(160 <= estimate(chunk) <= 481 for chunk in made)
    assert [again for chunk in made for again in texts(chunk)] == made


# ------------------------------------------------------------------------------------- sizes and what forces them


def test_a_document_that_fits_is_one_chunk_with_its_title():
    (chunk,), findings = cut("\n\n# Title\n\nSome text.\n\n")
    assert (chunk.text, chunk.headings, chunk.level, findings) == (
        "# Title\n\nSome text.",
        ("Title",),
        Level.HEADING_1,
        (),
    )
    assert (chunk.span.start, chunk.span.end, chunk.span.first_line, chunk.span.last_line) == (2, 21, 3, 5)
    assert chunk.tokens == estimate(chunk.text)


@pytest.mark.parametrize("source", ["", "\n", " \t\r\n\x0b\x0c\n", "\ufeff", "\ufeff\n\n"])
def test_a_document_without_solid_text_has_no_chunks(source):
    assert cut(source) == ((), ())


def test_front_matter_is_no_chunk_text():
    text = canonicalise(b"---\ntitle: x\n---\n\n# Head\n\nBody\n")
    body = type(text)(text.data, text.data.index(b"\n\n"), text._positions, text._offsets)
    (chunk,), _ = StructuralChunker().cut(body, Format.MARKDOWN)
    assert chunk.text == "# Head\n\nBody"
    assert chunk.span.first_line == 5


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(1).randbytes(300_000)).decode(),
        "漢字" * 20_000,
        "word " * 40_000,
        "a" * 200_000,
        "same line\n" * 20_000,
        "# heading\n" * 10_000,
        "{'key': [1, 2, 3]}," * 10_000,
    ],
    ids=["base64", "chinese", "one line", "one letter", "same lines", "headings only", "minified"],
)
def test_text_without_structure_is_cut_to_size_like_any_other(text):
    chunks, findings = cut(text)
    assert findings == ()
    assert all(160 <= chunk.tokens <= 480 for chunk in chunks)


def test_words_are_preferred_to_code_points():
    words = [f"{n}abcdefgh" for n in range(3000)]
    assert [word for chunk in texts(" ".join(words)) for word in chunk.split(" ")] == words


def test_a_heading_stays_with_its_body():
    rng = random.Random(2)
    text = "\n\n".join(f"## Section {n}\n\n{prose(rng, 9)}\n\n{prose(rng, 9)}" for n in range(30))
    for chunk in texts(text):
        assert not chunk.split("\n")[-1].startswith("##")


def test_the_byte_cap_is_stronger_than_the_minimum():
    text = "\n".join(" " * 500 + "x" for _ in range(200))
    chunks, findings = cut(text, Format.CODE)
    assert findings == ()
    assert all(len(chunk.text.encode()) <= 7680 for chunk in chunks)
    assert any(chunk.tokens < 160 for chunk in chunks)


def test_a_run_without_a_permitted_cut_is_cut_at_the_byte_cap_and_reported():
    run = "a" + "\u0301" * 5000
    chunks, findings = cut(f"before\n\n{run}\n\nafter", min_tokens=10, max_tokens=100, max_bytes=1600)
    assert [finding.kind for finding in findings] == [FindingKind.UNSPLITTABLE]
    assert findings[0].place == ""
    assert findings[0].message.startswith("line 3: ")
    assert all(len(chunk.text.encode()) <= 1600 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == f"before{canonicalise(run.encode()).text}after"


def test_one_chunker_serves_many_threads():
    chunker = StructuralChunker(**SMALL)
    documents = [canonicalise("\n\n".join(manual(seed, 20)).encode()) for seed in range(8)]
    alone = [chunker.cut(document, Format.MARKDOWN) for document in documents]
    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lambda n: chunker.cut(documents[n % 8], Format.MARKDOWN), range(64)))
    assert results == alone * 8


def test_runs_are_reported_by_line_for_each_document_of_an_arena():
    run = "a" + "\u0301" * 600
    chunker = StructuralChunker(10, 100, 1600)
    documents = [canonicalise(("line\n\n" * n + f"{run}\n" * 2).encode()) for n in (0, 3)]
    (cuts,) = chunker.cut_many(documents, Format.TEXT)
    lines = [[finding.message.split(":")[0] for finding in cuts.findings(n)] for n in range(2)]
    assert lines == [["line 1", "line 2"], ["line 7", "line 8"]]


def test_a_run_over_the_maximum_but_under_the_byte_cap_is_kept_whole_and_reported():
    run = "\U0001fae8" * 100
    chunks, findings = cut(f"before {run} after", min_tokens=10, max_tokens=100, max_bytes=1600)
    assert any(run in chunk.text for chunk in chunks)
    assert "kept whole" in findings[0].message


def test_blank_lines_weigh_nothing_and_belong_to_no_chunk():
    rng = random.Random(9)
    paragraphs = [prose(rng, 6) for _ in range(30)]
    wide = texts(("\n" * 50).join(paragraphs), min_tokens=60, max_tokens=200)
    assert all(chunk == chunk.strip(WHITE_SPACE) for chunk in wide)


# -------------------------------------------------------------------------------------------------- headings


def test_a_chunk_has_the_headings_in_force_at_its_first_line_that_is_no_heading():
    rng = random.Random(6)
    text = "\n\n".join(["intro " * 300, "# A", "## B", prose(rng, 40), "### C", prose(rng, 20), "## D", prose(rng, 20)])
    chunks = cut(text)[0]
    paths = list(dict.fromkeys(chunk.headings for chunk in chunks))
    assert paths == [(), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert next(chunk for chunk in chunks if chunk.headings == ("A", "B")).text.startswith("# A\n\n## B\n\n")


def test_a_chunk_of_headings_only_is_not_under_a_heading_that_comes_after_it():
    chunks = cut("".join(f"# heading {n}\n" for n in range(500)))[0]
    for chunk in chunks:
        assert f"# {chunk.headings[-1]}" == chunk.text.split("\n")[-1]


def test_the_first_heading_is_the_documents_title():
    assert list(titles([canonicalise(b"text\n\nTitle\n=====\n")], Format.MARKDOWN)) == ["Title"]


# --------------------------------------------------------------------------------------------- configuration


def test_parameters_are_explicit_and_name_the_estimator():
    chunker = FACTORY.build({})
    assert chunker.id == POLICY_ID == "structural/1"
    assert dict(chunker.params) == {
        "estimator": "tokens/1",
        "max_bytes": 7680,
        "max_tokens": 480,
        "min_tokens": 160,
    }
    assert FACTORY.build({"min_tokens": 100, "max_tokens": 208}).max_bytes == 208 * 16
    assert FACTORY.build({"max_bytes": 4096}).max_bytes == 4096


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"overlap": 50}, ["overlap", "50", "min_tokens, max_tokens, max_bytes"]),
        ({"min_tokens": "192"}, ["min_tokens", "'192'", "whole number"]),
        ({"max_tokens": 480.0}, ["max_tokens", "480.0", "whole number"]),
        ({"max_bytes": True}, ["max_bytes", "True", "whole number"]),
        ({"min_tokens": 0}, ["min_tokens = 0", "at least 1"]),
        ({"min_tokens": 256}, ["max_tokens = 480", "2 x min_tokens + 8 = 520"]),
        ({"max_bytes": 1919}, ["max_bytes = 1919", "4 x max_tokens = 1920"]),
    ],
)
def test_wrong_settings_are_refused_by_name_value_and_rule(settings, words):
    with pytest.raises(ConfigError) as caught:
        FACTORY.build(settings)
    assert all(word in str(caught.value) for word in words)
