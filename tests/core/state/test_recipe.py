import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core import canon
from steadlith_core.digest import Digest
from steadlith_core.records import Recipe, Space
from steadlith_core.state import recipe as recipes

digests = st.binary(min_size=32, max_size=32).map(Digest)
spaces = st.builds(Space, st.text(), digests, st.integers(1, 8192), st.sampled_from(["float32", "int8"]))
recipe_values = st.builds(
    Recipe,
    normalizer_id=st.text(),
    chunker_id=st.text(),
    chunker_params_hash=digests,
    content_hash=digests,
    template_id=st.text(),
    lexical_id=st.text(),
    spaces=st.lists(spaces, max_size=3).map(tuple),
)


@given(recipe_values)
def test_decode_gives_back_what_encode_was_given(recipe):
    decoded = recipes.decode(recipes.encode(recipe))
    assert decoded == recipe
    assert type(decoded.content_hash) is Digest


@given(recipe_values, recipe_values)
def test_only_equal_recipes_have_equal_bytes(left, right):
    assert (recipes.encode(left) == recipes.encode(right)) == (left == right)


def _space(**changes):
    return {"model_id": "m", "params_hash": bytes(32), "dimensions": 8, "quantization": "float32"} | changes


def _sample(**changes):
    zero = bytes(32)
    fields = {
        "normalizer_id": "text/1",
        "chunker_id": "structural/1",
        "chunker_params_hash": zero,
        "content_hash": zero,
        "template_id": "t",
        "lexical_id": "l",
        "spaces": [_space()],
    }
    return canon.encode(fields | changes)


def test_the_sample_that_the_refusals_start_from_is_a_recipe():
    assert recipes.decode(_sample()).spaces[0].dimensions == 8


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "cut short"),
        (canon.encode([]), "a recipe is a map"),
        (_sample(extra=1), "extra"),
        (_sample(chunker_id=7), "chunker_id"),
        (_sample(content_hash=b"short"), "32 bytes"),
        (_sample(spaces=b"none"), "spaces"),
        (_sample(spaces=[{}]), "a space is a map"),
        (_sample(spaces=[_space(dimensions=True)]), "dimensions"),
        (_sample(spaces=[_space(dimensions=0)]), "1 to 8192"),
    ],
)
def test_other_bytes_are_refused_by_name(data, named):
    with pytest.raises(ValueError, match=named):
        recipes.decode(data)
