from dataclasses import replace

import pytest

from steadlith_core.chunking.packed import FIXED
from steadlith_core.digest import hash_fields
from steadlith_core.planning.pathrules import PathRule, content_hash, path_metadata
from steadlith_core.planning.wanted import Cutter, SourceText, want
from steadlith_core.records import Content, Format
from steadlith_core.state.template import TEMPLATES

RULES = (
    PathRule("*", {"kind": "guide", "team": "docs"}),
    PathRule("reference/*", {"kind": "reference"}),
    PathRule("*/[Aa]pi-?.md", {"level": "deep"}),
)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("a.md", {"kind": "guide", "team": "docs"}),
        ("reference/x/y.md", {"kind": "reference", "team": "docs"}),
        ("Reference/x.md", {"kind": "guide", "team": "docs"}),
        ("reference/v1/api-1.md", {"kind": "reference", "team": "docs", "level": "deep"}),
        ("api-1.md", {"kind": "guide", "team": "docs"}),
    ],
)
def test_later_rules_win_and_a_star_crosses_slashes(path, values):
    assert path_metadata(RULES, path) == values


@pytest.fixture
def how(build):
    chunker = FIXED.build({"max_words": 50})
    return Cutter(build.recipe(), chunker, TEMPLATES["plain"], {"docs": ("kind",)}, None, None, {"docs": RULES})


def metadata(how, build, text, attributes=()):
    content = Content(text.encode(), dict(attributes))
    return want(how, SourceText(build.id("reference/a.md"), Format.MARKDOWN, content))[0].metadata


def test_front_matter_wins_over_rules_and_what_the_source_says_over_both(how, build):
    usual = {"title": "", "format": "markdown", "team": "docs"}
    assert metadata(how, build, "words") == {**usual, "kind": "reference"}
    assert metadata(how, build, "---\nkind: news\n---\nwords") == {**usual, "kind": "news"}
    assert metadata(how, build, "---\nkind: news\n---\nwords", {"kind": "record"}) == {**usual, "kind": "record"}


def test_rules_of_another_source_say_nothing(how, build):
    other = replace(how, path_rules={"other": RULES})
    assert metadata(other, build, "words") == {"title": "", "format": "markdown"}


def test_rules_change_the_content_hash_and_their_absence_does_not():
    kept = {"docs": ("b", "a")}
    usual = hash_fields("content", {"docs": ["a", "b"]})
    assert content_hash(kept, {}) == content_hash(kept, {"docs": ()}) == usual
    hashes = {
        content_hash(kept, {"docs": RULES}),
        content_hash(kept, {"docs": RULES[::-1]}),
        content_hash(kept, {"docs": RULES[:1]}),
        content_hash(kept, {"more": RULES}),
        content_hash({}, {"docs": RULES}),
    }
    assert len(hashes - {usual}) == 5
