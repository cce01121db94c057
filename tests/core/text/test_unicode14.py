"""The shipped table is Unicode 14.0, and composing by it agrees with that version wherever it is at hand."""

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steadlith_core.text import composition, unicode14

ROOT = Path(__file__).parents[3]
HAS_14 = unicodedata.unidata_version == unicode14.VERSION
SAMPLE = [chr(point) for point in (*range(0x3400), *range(0xA000, 0xD800, 7), *range(0xF900, 0x11A00))]


def unassigned(char):
    return composition._within(char, unicode14.UNASSIGNED)


ASSIGNED = st.characters(codec="utf-8").filter(lambda char: not unassigned(char))
ATTACHED = st.sampled_from(
    [
        chr(point)
        for first, last in (word.split("-") for word in unicode14.ATTACHED.split() if "-" in word)
        for point in (int(first, 16), int(last, 16))
    ]
)
JAMO = st.characters(min_codepoint=0x1100, max_codepoint=0x11FF)
CLUSTERS = st.lists(ASSIGNED | ATTACHED | ATTACHED | JAMO | st.sampled_from("aeo\u0f42\u0f43"), max_size=40)


def compose(text):
    pieces, done = [], 0
    for start, end, new in composition.changes(text):
        assert done <= start < end
        assert new != text[start:end]
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


@pytest.mark.skipif(not HAS_14, reason="needs a Python with Unicode 14.0 (3.11)")
def test_the_file_is_what_its_script_writes():
    script = ROOT / "scripts" / "unicode_tables.py"
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "unicode14.py is current\n")


def test_tables_are_ascending_and_disjoint():
    edges = composition._edges(unicode14.UNASSIGNED, unicode14.ATTACHED)
    assert list(edges) == sorted(edges)
    for table in (unicode14.UNASSIGNED, unicode14.ATTACHED, unicode14.INNER):
        own = composition._edges(table)
        assert list(own) == sorted(set(own))


def test_every_code_point_below_the_first_mark_is_a_boundary():
    assert all(composition._starts_run(chr(point)) for point in range(0x300))
    assert not composition._starts_run("\u0300")


def test_assigned_code_points_are_known_to_the_running_python():
    assert not [char for char in SAMPLE if not unassigned(char) and unicodedata.category(char) == "Cn"]


def test_boundaries_are_as_the_running_python_has_them():
    for char in SAMPLE:
        if composition._starts_run(char):
            assert unicodedata.combining(char) == 0
            assert unicodedata.is_normalized("NFC", char)
            assert unicodedata.is_normalized("NFC", "e" + char)


@settings(max_examples=250)
@given(CLUSTERS.map("".join))
@example("a\u0301\u0323" * 20)
@example("\u212b\u0301a\u212b")
def test_composing_by_runs_is_nfc_where_every_code_point_is_assigned(text):
    assert compose(text) == unicodedata.normalize("NFC", text)


@settings(max_examples=200)
@given(st.lists(ASSIGNED | ATTACHED | st.sampled_from("e\u0378\U0001e08f"), max_size=12).map("".join))
def test_composing_again_changes_nothing(text):
    assert compose(compose(text)) == compose(text)


def test_whatever_is_normalised_is_accepted_by_runs_too():
    text = "".join(SAMPLE)
    normalised = unicodedata.normalize("NFC", text)
    assert compose(normalised) == normalised
