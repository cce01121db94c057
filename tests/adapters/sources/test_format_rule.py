"""The rule of formats agrees with what a source over the same settings lists, as far as names tell."""

import pytest

from steadlith_adapters.sources.filesystem import FACTORY
from steadlith_core import Format
from steadlith_core.errors import ConfigError
from steadlith_core.records import gather

NAMES = (
    *("a.md", "B.RST", "notes", "Makefile", "pic.png", "x.tpl", ".hidden.md", ".github/b.md", ".git/c.md"),
    *("deep/d.py", "deep/er/e.md", "drafts/f.md", "deep/drafts/g.md", "old/h.md", "\u5206\u5757.md"),
)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hidden": True},
        {"exclude": ["drafts/"]},
        {"include": ["deep/", "*.md"], "exclude": ["/drafts/"]},
        {"formats": {".tpl": "markdown", "old/": "text", "*.png": "code"}},
    ],
)
def test_the_rule_names_the_documents_that_a_source_lists(tmp_path, settings):
    for name in NAMES:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("Text.\n", "utf-8")
    listing = gather(FACTORY.build("docs", settings, root=str(tmp_path), private=()).list())
    rule = FACTORY.formats(settings)
    assert {name: format_ for name in NAMES if (format_ := rule(name))} == {
        entry.path: entry.format for entry in listing.entries
    }


def test_the_rule_opens_nothing_and_needs_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("*\n")
    assert FACTORY.formats({"path": "nowhere"})("a.md") is Format.MARKDOWN


def test_a_setting_that_is_wrong_is_refused():
    with pytest.raises(ConfigError, match="colour"):
        FACTORY.formats({"colour": "red"})
