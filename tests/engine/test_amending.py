"""A configuration's text with other settings: every comment stays with what it is about."""

import tomllib

import pytest

from steadlith.amending import amended, in_store
from steadlith_core.errors import ConfigError

TEXT = """\
# where it is
[store]  # one file
type = "sqlite"
path = "x"  # beside
# what else could be set

# paid vectors
[cache]
type = "sqlite"
"""


def test_a_new_setting_stands_with_its_table_and_not_with_the_next_ones_comment():
    assert amended(TEXT, ["store.a=1", "store.b=text"]) == TEXT.replace(
        "could be set\n", 'could be set\na = 1\nb = "text"\n'
    )
    close = TEXT.replace("# what else could be set\n\n", "")
    assert amended(close, ["store.a=1"]) == close.replace("# beside\n", "# beside\na = 1\n")


def test_what_is_set_already_stays_where_it_is():
    assert amended(TEXT, ["store.path=y"]) == TEXT.replace('"x"', '"y"')
    assert amended(amended(TEXT, ["store.a=1"]), (), ["store.a"]) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[store]\n",
        TEXT,
        "store = {type = 'sqlite', path = 'x'}\n",
        "store.type = 'sqlite'\nstore.path = 'x'\n",
        "[cache]\ntype = 'sqlite'\n",
    ],
)
def test_another_store_has_no_setting_of_the_old_one(text):
    other = amended(in_store(text, "postgres"), ["store.schema=docs"])
    assert tomllib.loads(other)["store"] == {"type": "postgres", "schema": "docs"}
    assert {**tomllib.loads(text), "store": 0} == {**tomllib.loads(other), "store": 0}


def test_comments_survive_another_store():
    assert amended(in_store(TEXT, "postgres"), ["store.schema=docs"]) == TEXT.replace("sqlite", "postgres", 1).replace(
        'path = "x"  # beside\n', ""
    ).replace("could be set\n", 'could be set\nschema = "docs"\n')


@pytest.mark.parametrize("text", ["store = 3\n", "[store\n"])
def test_what_is_no_table_is_said(text):
    with pytest.raises(ConfigError, match=r"expected a table|is not TOML"):
        in_store(text, "postgres")
