"""The policy `cdc`: equality with a slow reading of its rules, sizes, snapping, and what an edit moves."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.chunking import breaks, words
from steadlith_core.chunking.cdc import FACTORY, PARAGRAPH, CdcChunker
from steadlith_core.chunking.keys import FINISH, FOLD, SEED
from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.rolling import BASE, fingerprints, symbols
from steadlith_core.errors import ConfigError
from steadlith_core.records import FindingKind, Format
from steadlith_core.text.canonical import canonicalise

MODULUS = 1 << 64


def cut(source, **sizes):
    return CdcChunker(**sizes).cut(canonicalise(source.encode()), Format.TEXT)


def texts(source, **sizes):
    return [chunk.text for chunk in cut(source, **sizes)[0]]


def prose(seed, count, vocabulary=600):
    rng = random.Random(seed)
    parts = []
    for _ in range(count):
        parts.append(f"w{rng.randrange(vocabulary)}")
        parts.append(rng.choices([" ", ". Then ", "\n", "\n\n", "\n  "], [30, 3, 3, 2, 1])[0])
    return "".join(parts)


# ------------------------------------------------------------------------------------------------ slow oracle


def slow_symbol(word):
    state = SEED
    for at in range(0, len(word), 8):
        left = len(word) - at
        part = int.from_bytes(word[at : at + 8].ljust(8, b"\0"), "little") << 8 * max(8 - left, 0) & MODULUS - 1
        state = ((state ^ part) * FOLD + left) % MODULUS
        state ^= state >> 32
    return state


def slow_fingerprint(window):
    state = sum(symbol * BASE**power for power, symbol in enumerate(reversed(window))) % MODULUS
    for factor in FINISH:
        state ^= state >> 33
        state = state * factor % MODULUS
    return state ^ state >> 33


def slow_chunks(found, policy):
    """Word ranges, word by word, as the rules at the top of the module say."""
    begun = set(breaks.paragraphs(found).tolist())
    named = [
        (slow_symbol(found.data[head:end]) + (PARAGRAPH if index in begun else 0)) % MODULUS
        for index, (head, end) in enumerate(zip(found.heads.tolist(), found.ends.tolist(), strict=True))
    ]
    prints = [slow_fingerprint(named[max(0, i + 1 - policy.window_words) : i + 1]) for i in range(len(named))]
    cap = policy.params["max_bytes"]
    chunks, start = [], 0
    while start < len(named):
        end, backup, snaps = start + 1, None, True
        while True:
            size = end - start
            if size >= policy.min_words and prints[end - 1] % policy.divisor == 0:
                break
            if size >= policy.min_words and prints[end - 1] % policy.backup_divisor == 0:
                backup = end
            if end == len(named):
                snaps = False
                break
            if size == policy.max_words or found.ends[end] - found.starts[start] > cap:
                end = backup or end
                break
            end += 1
        if snaps and policy.snap_words:
            low = max(start + policy.min_words, end - policy.snap_words)
            for find in (breaks.paragraphs, breaks.sentences):
                near = [
                    place
                    for place in find(found).tolist()
                    if low <= place <= min(start + policy.max_words, end + policy.snap_words)
                    and found.ends[place - 1] - found.starts[start] <= cap
                ]
                if near:
                    end = min(near, key=lambda place, end=end: (abs(place - end), place))
                    break
        chunks.append((start, end))
        start = end
    return chunks


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(0, 250),
    st.integers(1, 12),
    st.integers(1, 20),
    st.integers(1, 6),
    st.sampled_from([(2, 1), (5, 2), (16, 4)]),
    st.sampled_from([0, 0, 3, 8]),
    st.sampled_from(["", "x" * 40 + "\n", "長い文章。" * 30, " " * 150]),
)
def test_chunks_are_those_of_a_slow_reading(seed, count, least, more, window, divisors, snap, insert):
    source = prose(seed, count // 2) + insert + prose(seed + 1, count // 2)
    sizes = {"window_words": window, "divisor": divisors[0], "backup_divisor": divisors[1], "snap_words": snap}
    policy = CdcChunker(min_words=least, max_words=least + more, max_bytes=256, **sizes)
    found = words.read(canonicalise(source.encode()).data, 0, 256)
    assert list(policy._chunks(found)) == slow_chunks(found, policy)


@settings(max_examples=200)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(1, 30))
def test_symbols_and_fingerprints_are_those_of_a_slow_reading(parts, window):
    data = b"".join(parts)
    ends = np.cumsum([0, *map(len, parts)])
    named = symbols(data, ends[:-1], ends[1:])
    assert named.tolist() == [slow_symbol(part) for part in parts]
    slow = [slow_fingerprint(named.tolist()[max(0, i + 1 - window) : i + 1]) for i in range(len(parts))]
    assert fingerprints(named, window).tolist() == slow


def test_a_word_and_its_beginning_have_different_symbols():
    parts = [b"a", b"a\0", b"a\0\0\0\0\0\0\0", b"a\0\0\0\0\0\0\0\0", b"aaaaaaaa", b"aaaaaaaaa", b"b"]
    ends = np.cumsum([0, *map(len, parts)])
    assert len(set(symbols(b"".join(parts), ends[:-1], ends[1:]).tolist())) == len(parts)


# ----------------------------------------------------------------------------------------------------- sizes


def test_sizes_are_kept_and_most_cuts_are_by_the_first_divisor():
    chunks = texts(prose(1, 60_000))
    sizes = [len(chunk.split()) for chunk in chunks]
    assert all(180 <= size <= 640 for size in sizes[:-1])
    assert 300 < sum(sizes) / len(sizes) < 450
    assert sum(size == 640 for size in sizes) < len(sizes) // 20


@pytest.mark.parametrize("text", ["x" * 200_000, "漢字" * 30_000, "ภาษาไทย" * 5000], ids=["base64", "chinese", "thai"])
def test_a_run_without_spaces_is_cut_to_size(text):
    chunks, findings = cut(text)
    assert findings == ()
    assert len(chunks) > 5
    assert all(len(chunk.text.encode()) <= 640 * 16 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_run_that_may_not_be_cut_is_cut_at_the_byte_cap_and_reported():
    run = "\u0301" * 600
    chunks, findings = cut(f"before\n\nb{run} after", min_words=1, max_words=10)
    assert [finding.kind for finding in findings] == [FindingKind.UNSPLITTABLE]
    assert findings[0].message.startswith("line 3: 1201 bytes")
    assert all(len(chunk.text.encode()) <= 256 for chunk in chunks)


# -------------------------------------------------------------------------------------------------- stability


def test_an_edit_moves_the_cuts_near_it_only():
    source = prose(2, 40_000)
    before, after = texts(source), texts(f"A few new words.\n\n{source}")
    assert len(set(after) - set(before)) <= 4
    assert len(before) > 90


def test_indentation_and_line_breaks_move_no_cut_and_paragraphs_may():
    source = " ".join(prose(3, 9000).split())
    wrapped = source.replace(" w1", "\n   w1")
    assert [chunk.split() for chunk in texts(wrapped)] == [chunk.split() for chunk in texts(source)]
    assert [chunk.split() for chunk in texts(source.replace(" w1", "\n\nw1"))] != [
        chunk.split() for chunk in texts(source)
    ]


# ---------------------------------------------------------------------------------------------------- snapping


def test_snapping_moves_cuts_to_paragraphs_then_sentences_within_reach():
    source = prose(4, 40_000)
    loose, snapped = cut(source)[0], cut(source, snap_words=24)[0]
    share = [sum(chunk.level != Level.WORD for chunk in made) / len(made) for made in (loose, snapped)]
    levels = [Level(chunk.level) for chunk in snapped]
    assert share[0] < 0.35
    assert share[1] > 0.8
    assert levels.count(Level.PARAGRAPH) > len(levels) // 2
    assert all(180 <= len(chunk.text.split()) <= 640 for chunk in snapped[:-1])


# --------------------------------------------------------------------------------------------- configuration


def test_snapping_is_a_parameter_only_while_it_is_on():
    off = FACTORY.build({"snap_words": 0, "max_sections": 9})
    assert off.id == "cdc/1"
    assert (
        off.params
        == FACTORY.build({}).params
        == {
            "backup_divisor": 64,
            "divisor": 256,
            "max_bytes": 10240,
            "max_words": 640,
            "min_words": 180,
            "window_words": 8,
        }
    )
    assert FACTORY.build({"snap_words": 24}).params == {**off.params, "snap_words": 24}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_words": 0}, ["min_words = 0", "at least 1"]),
        ({"min_words": 640}, ["max_words = 640", "at least 641", "more than min_words"]),
        ({"window_words": 0}, ["window_words = 0"]),
        ({"divisor": 64}, ["divisor = 64", "more than backup_divisor = 64"]),
        ({"backup_divisor": 0}, ["backup_divisor = 0"]),
        ({"snap_words": -1}, ["snap_words = -1", "0 is no snapping"]),
        ({"max_bytes": 2559}, ["max_bytes = 2559", "2560"]),
        ({"snap": 3}, ["snap = 3", "cdc/1", "snap_words"]),
    ],
)
def test_wrong_settings_are_refused_by_name_value_and_rule(settings, words):
    with pytest.raises(ConfigError) as caught:
        FACTORY.build(settings)
    assert all(word in str(caught.value) for word in words)
