"""Codes of vectors, held to the formulas by plain arithmetic, and to the golden vectors."""

import json
import math
import struct
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core import vectors
from steadlith_core.digest import hash_fields
from steadlith_core.errors import UsageError
from steadlith_core.records import Space
from steadlith_core.retrieval import quantization
from steadlith_core.retrieval.quantization import BINARY, FLOAT32, INT8, QUANTIZATIONS

VECTORS = json.loads((files("steadlith_conformance") / "vectors" / "quantization.json").read_text("utf-8"))

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
rows = st.integers(1, 5).flatmap(
    lambda eighths: st.lists(st.lists(floats, min_size=8 * eighths, max_size=8 * eighths), min_size=1, max_size=6)
)


def array(given_rows):
    return np.array(given_rows, dtype="<f4")


def test_int8_is_the_unit_vector_in_levels_of_127():
    assert quantization.to_int8(array([[3, 4], [0, 0], [-4, 3]])).tolist() == [[76, 102], [0, 0], [-102, 76]]


def test_halves_are_rounded_away_from_zero_and_what_is_below_them_is_not():
    # Components of 0.5 and a length of 1 are 63.5 levels.
    assert quantization.to_int8(array([[0.5, -0.5, 0.5, -0.5]])).tolist() == [[64, -64, 64, -64]]
    # Just below half a level.
    below = np.nextafter(np.float32(0.5), np.float32(0)) / np.float32(127)
    rest = math.sqrt(1 - float(below) ** 2)
    assert quantization.to_int8(array([[below, rest]]))[0][0] == 0


@given(rows)
def test_int8_is_at_most_half_a_level_off_the_unit_vector(given_rows):
    codes = quantization.to_int8(array(given_rows))
    assert (codes.dtype, codes.shape) == (np.int8, array(given_rows).shape)
    assert codes.min() >= -127
    back = quantization.from_int8(codes)
    assert back.dtype == np.float32
    for row, decoded, code in zip(array(given_rows).tolist(), back.tolist(), codes.tolist(), strict=True):
        length = math.sqrt(math.fsum(value * value for value in row))
        unit = [value / length if length else 0.0 for value in row]
        for exact, near, level in zip(unit, decoded, code, strict=True):
            assert abs(exact - near) <= 0.5 / 127 + 1e-7
            assert near == pytest.approx(level / 127, abs=1e-7)


@given(rows)
def test_int8_of_opposite_vectors_is_opposite(given_rows):
    assert (quantization.to_int8(-array(given_rows)) == -quantization.to_int8(array(given_rows))).all()


@given(rows)
def test_a_bit_is_one_where_its_component_is_not_below_zero(given_rows):
    codes = quantization.to_binary(array(given_rows))
    for row, code in zip(given_rows, codes.tolist(), strict=True):
        assert [code[k // 8] >> (k % 8) & 1 for k in range(len(row))] == [int(value >= 0) for value in row]
    back = quantization.from_binary(codes)
    assert back.dtype == np.float32
    assert back.tolist() == [[1.0 if value >= 0 else -1.0 for value in row] for row in given_rows]


def test_binary_counts_bits_from_the_least_significant():
    # An extension that asks for > 0 would give 0x74.
    assert quantization.to_binary(array([[0, -1, 1, -1, 1, 1, 1, 0]])).tolist() == [[0xF5]]


@pytest.mark.parametrize("dimensions", [0, 1, 7, 9, 12, 4095])
def test_binary_refuses_dimensions_that_are_no_multiple_of_8(dimensions):
    with pytest.raises(UsageError, match=rf"multiple of 8, got {dimensions}$"):
        quantization.to_binary(np.zeros((1, dimensions), dtype=np.float32))


def test_binary_codes_of_no_bytes_are_refused():
    with pytest.raises(UsageError, match="got 0"):
        quantization.from_binary(np.zeros((1, 0), dtype=np.uint8))


@given(rows, st.sampled_from([INT8, BINARY]))
def test_a_vector_has_the_same_code_alone_and_among_others(given_rows, name):
    packed = [vectors.pack(row) for row in given_rows]
    dimensions = len(given_rows[0])
    together = quantization.codes(name, packed, dimensions)
    assert together == [quantization.codes(name, [each], dimensions)[0] for each in packed]
    assert {len(code) for code in together} == {dimensions if name == INT8 else dimensions // 8}


@given(rows)
def test_a_binary_code_is_the_code_of_what_it_stands_for(given_rows):
    codes = quantization.to_binary(array(given_rows))
    assert (quantization.to_binary(quantization.from_binary(codes)) == codes).all()


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_golden_vectors(name):
    case = VECTORS[name]
    packed = bytes.fromhex(case["float32"])
    dimensions = len(packed) // 4
    assert quantization.codes(INT8, [packed], dimensions)[0].hex() == case["int8"]
    if case["binary"] is None:
        assert quantization.problem(BINARY, dimensions)
    else:
        assert quantization.codes(BINARY, [packed], dimensions)[0].hex() == case["binary"]


@pytest.mark.parametrize(
    "bits",
    [
        0x00000000,
        0x80000000,  # minus zero
        0x7F800000,
        0xFF800000,  # infinities
        0x7FC00000,
        0xFFC12345,  # quiet NaNs
        0x00000001,
        0x807FFFFF,  # subnormal numbers
        0x7F7FFFFF,
        0x3F800000,
    ],
)
def test_float32_keeps_every_bit(bits):
    blob = struct.pack("<I", bits) + struct.pack("<f", 1.5)
    row = vectors.unpack(blob)
    assert row.dtype == np.dtype("<f4")
    assert vectors.pack(row) == blob
    assert vectors.matrix([blob, blob], 2).tobytes() == blob * 2


@pytest.mark.parametrize("size", [1, 2, 3, 5, 4095])
def test_float32_refuses_bytes_that_are_no_whole_number_of_components(size):
    with pytest.raises(ValueError, match=f"{size} bytes"):
        vectors.unpack(b"\0" * size)
    with pytest.raises(ValueError):
        vectors.matrix([b"\0" * size], 2)


def test_siblings_are_every_form_of_the_same_vectors():
    for name in QUANTIZATIONS:
        space = Space("m", hash_fields("p"), 8, name)
        found = quantization.siblings(space)
        assert found[0] == space
        assert sorted(each.quantization for each in found) == sorted(QUANTIZATIONS)
        assert {each.vectors_of for each in found} == {space.vectors_of}


def test_what_cannot_be_kept_is_said():
    assert quantization.problem(FLOAT32, 7) is None
    assert quantization.problem(INT8, 7) is None
    assert quantization.problem(BINARY, 16) is None
    assert "'Binary'" in quantization.problem("Binary", 8)
