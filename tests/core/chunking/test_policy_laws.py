"""What every policy keeps, whatever it is given: spans, coverage, sizes, purity."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steadlith_conformance.chunkers import SOURCES
from steadlith_core.chunking import outline
from steadlith_core.chunking.router import FACTORY as ROUTER
from steadlith_core.chunking.router import built_in
from steadlith_core.chunking.topology import problems
from steadlith_core.chunking.words import SPACES
from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Format
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise, fragment, is_boundary
from steadlith_core.text.tokens import estimate

SMALL = {
    "cdc": {"min_words": 2, "max_words": 9, "divisor": 4, "backup_divisor": 2, "snap_words": 2},
    "fixed": {"max_words": 4},
    "late": {"child_max_words": 3, "child_overlap_words": 1, "parent_max_words": 8},
    "markdown": {"max_words": 5, "overlap_words": 2, "atomic": True},
    "plain": {"max_words": 5, "overlap_words": 1},
    "recursive": {"target_words": 6, "overlap_words": 2},
    "semantic": {"min_words": 1, "max_words": 9},
    "sentence": {"target_words": 6, "overlap_words": 0},
    "word": {"target_words": 4, "overlap_words": 1},
}
POLICIES = {name: built_in(name).build(table) for name, table in SMALL.items()}
POLICIES["router"] = ROUTER.build({"kinds": {"markdown": {"policy": "markdown"}, "default": {"policy": "cdc"}}})
MOST_WORDS = {"cdc": 9, "fixed": 4, "plain": 5, "recursive": 8, "semantic": 9, "sentence": 6, "word": 4}
CAP = 256

policies = pytest.mark.parametrize("name", POLICIES)


def read(source, grammar):
    """As planning reads a document, but one whose front matter is refused: it has none here."""
    text = canonicalise(source.encode())
    with suppress(DocumentError):
        return replace(text, body=frontmatter.read(text, grammar, ()).end)
    return text


@policies
def test_the_laws_hold_on_any_document(name):
    policy = POLICIES[name]

    @settings(max_examples=150, deadline=None)
    @given(SOURCES, st.sampled_from(Format))
    @example("", Format.MARKDOWN)
    @example("---\ntitle: T\n---\n\u0301x", Format.MARKDOWN)
    def check(source, grammar):
        content, text = source.encode(), read(source, grammar)
        chunks, findings = policy.cut(text, grammar)
        assert findings == ()
        for chunk in chunks:
            # Invariant 7, and what of a chunk follows from its text.
            assert fragment(content[chunk.span.start : chunk.span.end]) == chunk.text
            assert chunk.text == fragment(chunk.text.encode()) != ""
            assert chunk.tokens == estimate(chunk.text)
            assert chunk.span.first_line == _line(content, chunk.span.start)
        position = {text.offset(at): at for at in range(len(text.data), text.body - 1, -1)}
        first = next((at for at in range(text.body, len(text.data)) if text.data[at : at + 1].strip()), text.body)
        for chunk in chunks:
            start = position[chunk.span.start]
            assert start <= first or is_boundary(text.data[start : start + 4].decode(errors="ignore")[0])
        assert problems([chunk.parent for chunk in chunks]) == ()
        spans = [(chunk.span.start, chunk.span.end, chunk.parent) for chunk in chunks]
        assert len(set(spans)) == len(spans)
        assert (chunks, findings) == policy.cut(text, grammar)

    check()


def _line(content, offset):
    head = content[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return head.count(b"\n") + 1


@policies
def test_all_solid_text_is_in_a_chunk(name):
    policy = POLICIES[name]

    @settings(max_examples=150, deadline=None)
    @given(SOURCES, st.sampled_from(Format))
    def check(source, grammar):
        content, text = source.encode(), read(source, grammar)
        chunks, _ = policy.cut(text, grammar)
        held = bytearray(content)
        for chunk in chunks:
            held[chunk.span.start : chunk.span.end] = b" " * (chunk.span.end - chunk.span.start)
        held[: text.offset(text.body)] = b" " * text.offset(text.body)
        if name in {"markdown", "late", "router"} and len(chunks):  # headings stand in the path, not in the text
            for section in outline.read(text, grammar).sections:
                start, end = text.offset(section.start), text.offset(section.body)
                held[start:end] = b" " * (end - start)
        assert set(held.decode()) <= SPACES | {"\r", "\ufeff"}

    check()


@pytest.mark.parametrize("name", MOST_WORDS)
def test_sizes_are_kept(name):
    from steadlith_core.chunking import words

    @settings(max_examples=150, deadline=None)
    @given(SOURCES)
    def check(source):
        text = read(source, Format.TEXT)
        for chunk in POLICIES[name].cut(text, Format.TEXT)[0]:
            size = len(chunk.text.encode())
            found = len(words.read(chunk.text.encode(), 0, 1000))
            assert found <= MOST_WORDS[name]
            assert size <= CAP

    check()


@policies
def test_many_threads_get_what_one_gets(name):
    text = read("# A\n\nWords and more. 漢字です。\n\n```\nx\n```\n\n" * 40, Format.MARKDOWN)
    alone = POLICIES[name].cut(text, Format.MARKDOWN)
    with ThreadPoolExecutor(32) as pool:
        made = list(pool.map(lambda _: POLICIES[name].cut(text, Format.MARKDOWN), range(32)))
    assert all(answer == alone for answer in made)
    assert len(alone[0]) > 1


@policies
def test_a_policy_does_not_change(name):
    policy = POLICIES[name]
    with pytest.raises(FrozenInstanceError):
        setattr(policy, fields(policy)[0].name, 1)
    assert hash(policy) == hash(policy)
    assert all(isinstance(value, int | str | bool) for value in policy.params.values())
    assert policy.id == f"{name}/1"


@policies
@pytest.mark.parametrize("source", ["", "\n\n", " \t\r\n", "\ufeff", "\u3000\n\u00a0", "---\ntitle: x\n---\n"])
def test_a_document_without_text_has_no_chunks(name, source):
    assert POLICIES[name].cut(read(source, Format.MARKDOWN), Format.MARKDOWN) == ((), ())


@policies
def test_line_ends_and_composition_make_no_difference_to_the_texts(name):
    plain = "# Tête\n\ncafé noir. Été suit.\nune ligne\n\n" * 9
    written = plain.replace("\n", "\r\n").replace("é", "e\u0301")
    one, other = (
        [chunk.text for chunk in POLICIES[name].cut(read(source, Format.MARKDOWN), Format.MARKDOWN)[0]]
        for source in (plain, written)
    )
    assert one == other


@pytest.mark.parametrize("name", SMALL)
def test_every_policy_refuses_the_first_section_over_the_limit(name):
    text = read("One two three four five six seven eight nine ten. " * 20, Format.MARKDOWN)
    count = len(POLICIES[name].cut(text, Format.MARKDOWN)[0])
    assert count > 3
    build = built_in(name).build
    assert len(build({**SMALL[name], "max_sections": count}).cut(text, Format.MARKDOWN)[0]) == count
    with pytest.raises(DocumentError) as caught:
        build({**SMALL[name], "max_sections": count - 1}).cut(text, Format.MARKDOWN)
    assert caught.value.kind == FindingKind.TOO_MANY_SECTIONS
    assert build({**SMALL[name], "max_sections": 3}).params == POLICIES[name].params


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("unit", ["漢字", "x", "{'key':[1,2,3]},", "ภาษา", "# heading\n", "same line\n", "\n"])
def test_a_monotonous_text_costs_no_more_than_its_length(name, unit):
    text = read(unit * (60_000 // len(unit)), Format.MARKDOWN)
    chunks, findings = (
        built_in(name).build({"child_max_words": 99} if name == "late" else {}).cut(text, Format.MARKDOWN)
    )
    assert findings == ()
    assert sum(len(chunk.text) for chunk in chunks) <= 3 * len(text.data)
