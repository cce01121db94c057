"""Guards on real documents: ordinary edits of sixty of them never trip one, disasters do.

The documents are pages of this project's own documentation, and sections of the longest ones.
"""

import re
import shutil
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
COUNT = 60
WHOLE = 40
NEW = "A new paragraph that nobody wrote before, with a number of words of its own, put in by this edit.\n"


def pages():
    """Sixty Markdown documents by path: forty whole pages, then the sections of the longest ones."""
    files = sorted(DOCS.rglob("*.md"))
    found = {str(path.relative_to(DOCS)): path.read_text("utf-8") for path in files[:WHOLE]}
    for path in sorted(files, key=lambda path: (-path.stat().st_size, path)):
        for number, section in enumerate(re.split(r"(?m)^(?=## )", path.read_text("utf-8"))[1:]):
            found.setdefault(f"sections/{path.stem}/{number:02}.md", section)
    return dict(list(found.items())[:COUNT])


PAGES = pages()


def paragraphs(text):
    return text.split("\n\n")


def at(rows, where):
    return {"front": 0, "middle": len(rows) // 2, "end": len(rows) - 1}[where]


def insert(text, where):
    rows = paragraphs(text)
    place = at(rows, where) + (where == "end")
    return "\n\n".join([*rows[:place], NEW.strip(), *rows[place:]])


def delete(text, where):
    rows = paragraphs(text)
    place = at(rows, where)
    return "\n\n".join([*rows[:place], *rows[place + 1 :]]) if len(rows) > 1 else text


def replaced(text, where):
    rows = paragraphs(text)
    rows[at(rows, where)] = NEW.strip()
    return "\n\n".join(rows)


def edited(kind, where):
    return lambda path, text: {path: kind(text, where)}


def renamed(path, text):
    return {f"renamed/{path}": text}


def split(path, text):
    rows = paragraphs(text)
    half = len(rows) // 2
    return {path: "\n\n".join(rows[:half]) + "\n", path[:-3] + "-more.md": "\n\n".join(rows[half:])}


EDITS = {
    **{f"insert at the {where}": edited(insert, where) for where in ("front", "middle", "end")},
    **{f"delete at the {where}": edited(delete, where) for where in ("front", "middle", "end")},
    **{f"replace at the {where}": edited(replaced, where) for where in ("front", "middle", "end")},
    "append": lambda path, text: {path: f"{text}\n\n{NEW}"},
    "rename": renamed,
    "split": split,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("sixty") / "site"


@pytest.fixture
def sixty(site_at, home):
    """The documents and their index: made by the first test, put back by every other."""
    if home.exists():
        return reopened(site_at, home)
    site = site_at(home)
    for path, text in PAGES.items():
        site.write(path, text)
    site.apply()
    return site


def reopened(site_at, root):
    site = object.__new__(site_at)
    site.root, site.docs = root, root / "docs"
    return site


def edit(site, made, path):
    if path not in made:
        (site.docs / path).unlink()
    for new, text in made.items():
        site.write(new, text)


def undo(site, made, path):
    for new in made:
        if new != path:
            (site.docs / new).unlink()
    site.write(path, PAGES[path])


def guards(site):
    return {tripped.guard: tripped.message for tripped in site.plan().tripped}


def test_there_are_sixty_documents_of_many_sizes(sixty):
    assert len(PAGES) == COUNT
    sizes = sorted(map(len, PAGES.values()))
    assert sizes[-1] > 20 * sizes[0]
    assert sixty.open().head().chunks > 10 * COUNT


@pytest.mark.parametrize("kind", EDITS)
def test_an_ordinary_edit_of_any_document_trips_no_guard(sixty, kind):
    for path in PAGES:
        made = EDITS[kind](path, PAGES[path])
        edit(sixty, made, path)
        try:
            planned = sixty.plan()
        finally:
            undo(sixty, made, path)
        assert planned.tripped == (), path
        assert planned.changes or made == {path: PAGES[path]}


@pytest.mark.parametrize("kind", [kind for kind in EDITS if "delete" not in kind])
def test_nor_does_the_same_edit_of_all_of_them_at_once(sixty, kind):
    made = {path: EDITS[kind](path, PAGES[path]) for path in PAGES}
    for path in PAGES:
        edit(sixty, made[path], path)
    try:
        planned = sixty.plan()
    finally:
        for path in PAGES:
            undo(sixty, made[path], path)
    assert planned.tripped == ()
    assert len(planned.changes) >= COUNT


@pytest.fixture
def copied(sixty, tmp_path, site_at):
    """The same index over a copy of its documents, to be ruined."""
    shutil.copytree(sixty.root, tmp_path / "copy")
    return reopened(site_at, tmp_path / "copy")


def test_an_emptied_folder_is_a_disaster(copied):
    shutil.rmtree(copied.docs / "sections")
    found = guards(copied)
    assert "docs:sections/" in found["removed_folder"]
    assert "removed_documents" in found


def test_an_emptied_source_is_a_disaster(copied):
    shutil.rmtree(copied.docs)
    copied.docs.mkdir()
    assert "docs" in guards(copied)["emptied_source"]


def test_another_root_folder_is_a_disaster_if_a_single_document_goes_with_it(copied):
    copied.apply()  # so that what is remembered is this folder
    shutil.move(copied.docs, copied.root / "away")
    shutil.copytree(copied.root / "away", copied.docs)
    assert guards(copied) == {}
    (copied.docs / min(PAGES)).unlink()
    assert list(guards(copied)) == ["replaced_root"]


def test_the_rest_of_a_folder_left_out_by_the_settings_is_told_as_such(copied):
    copied.configure(source='exclude = ["sections/"]\n')
    assert "leave them out now" in guards(copied)["removed_folder"]
