import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core import canon

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(values)
def test_decoding_gives_back_what_was_encoded(value):
    decoded = canon.decode(canon.encode(value))
    assert decoded == value
    assert canon.encode(decoded) == canon.encode(value)


def typed(value):
    """The value with its types, so that True is not 1; a map without its order."""
    if isinstance(value, dict):
        return "map", frozenset((key, typed(item)) for key, item in value.items())
    if isinstance(value, list):
        return "list", tuple(typed(item) for item in value)
    return type(value).__name__, value


@given(values, values)
def test_different_values_have_different_bytes(left, right):
    assert (canon.encode(left) == canon.encode(right)) == (typed(left) == typed(right))


@given(st.binary(max_size=40))
def test_whatever_decodes_is_the_one_encoding_of_its_value(data):
    try:
        value = canon.decode(data)
    except (ValueError, RecursionError):
        return
    assert canon.encode(value) == data


def test_true_and_one_and_text_one_are_three_values():
    assert len({canon.encode(True), canon.encode(1), canon.encode("1"), canon.encode(b"1")}) == 4


def test_maps_are_ordered_by_the_utf8_bytes_of_their_keys():
    # U+FF5E sorts before U+1F600 in UTF-8, and after it in UTF-16.
    assert canon.encode({"\U0001f600": 1, "\uff5e": 2}) == canon.encode({"\uff5e": 2, "\U0001f600": 1})
    keys = list(canon.decode(canon.encode({"\U0001f600": 1, "\uff5e": 2})))
    assert keys == ["\uff5e", "\U0001f600"]


@pytest.mark.parametrize("bad", [1.5, object(), {1: "x"}])
def test_what_has_no_encoding_is_a_type_error_that_shows_it(bad):
    with pytest.raises(TypeError, match=r"no canonical encoding|text keys"):
        canon.encode(bad)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"t",
        b"x" + bytes(8),
        b"t" + (5).to_bytes(8, "big") + b"abc",
        canon.encode(1) + b"\x00",
        b"i" + (2).to_bytes(8, "big") + b"\x01\x00",  # minus zero
        b"i" + (3).to_bytes(8, "big") + b"\x00\x00\x01",  # not the shortest
        b"o" + (1).to_bytes(8, "big") + b"\x02",
        b"m" + (len(canon.encode("b") + canon.encode(1))).to_bytes(8, "big") + canon.encode("b"),
    ],
)
def test_bytes_that_encode_cannot_have_made_are_refused(data):
    with pytest.raises(ValueError):
        canon.decode(data)


def test_map_keys_out_of_order_or_twice_are_refused():
    def pairs(*items):
        body = b"".join(canon.encode(key) + canon.encode(1) for key in items)
        return b"m" + len(body).to_bytes(8, "big") + body

    assert canon.decode(pairs("a", "b")) == {"a": 1, "b": 1}
    for bad in (pairs("b", "a"), pairs("a", "a")):
        with pytest.raises(ValueError, match="out of order or twice"):
            canon.decode(bad)


def test_deep_nesting_is_refused_before_it_exhausts_the_stack():
    data = b""
    for _ in range(500):
        data = b"l" + len(data).to_bytes(8, "big") + data
    with pytest.raises(ValueError, match="nested deeper"):
        canon.decode(data)
