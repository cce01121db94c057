"""The list of a plan's documents: who goes on where, what stands in one line, and where the list ends."""

from dataclasses import replace

import pytest

from steadlith.report import markdown, text
from steadlith_core.planning.plan import DocumentChange, Fate
from steadlith_core.planning.steps import Add, Delete, Move, Reason, Update
from steadlith_core.records import DocumentId


def id_(path):
    return DocumentId("docs", path)


@pytest.fixture
def make(planned):
    """A plan of these changes, for an index that holds `documents` after it."""

    def plan(*changes, documents=700, **values):
        changes = tuple(sorted(changes, key=lambda change: change.id))
        target = replace(planned.target, documents=documents)
        return replace(planned, changes=changes, target=target, kept_chunks=9863, **values)

    return plan


@pytest.fixture
def step(planned):
    """Steps, by what differs between them."""
    digest = planned.config_digest

    class Steps:
        def add(self, position):
            return Add(position, digest, digest, 1, True, Reason.NEW_TEXT)

        def delete(self, position, reason=Reason.TEXT_GONE):
            return Delete(position, digest, reason)

        def moves(self, origin, count, start=0):
            return tuple(Move(id_(origin), n, start + n, digest, Reason.RELOCATED) for n in range(count))

    return Steps()


def added(path, *steps, origin=None, kept=0):
    return DocumentChange(id_(path), Fate.ADDED, id_(origin) if origin else None, None, kept, steps)


def changed(path, *steps, kept=0):
    return DocumentChange(id_(path), Fate.CHANGED, None, None, kept, steps)


def removed(path, *steps):
    return DocumentChange(id_(path), Fate.REMOVED, None, None, 0, steps)


def lines(planned, steps=None, hint="--steps"):
    return [words for _, words in text.plan(planned, steps=steps, hint=hint)]


def listed(planned, steps=None):
    shown = lines(planned, steps)
    return shown[: shown.index("")]


# ------------------------------------------------------------------------------------------------- totals


def test_totals_say_how_many_documents_change_and_go(make, step):
    def said(*changes, documents):
        planned = make(*changes, documents=documents)
        total = next(line for line in lines(planned) if line.startswith("Plan: ")).rpartition("kept; ")[2]
        short = next(line for line in markdown.plan(planned).splitlines() if line.startswith("Documents: "))
        return total, short

    one, two = changed("a", step.add(0)), changed("b", step.add(0))
    gone = [removed(f"g{number}", step.delete(0)) for number in range(1100)]
    assert said(one, documents=700) == ("1 of 700 documents changes.", "Documents: 1 of 700 changes.")
    assert said(one, two, documents=7000) == ("2 of 7,000 documents change.", "Documents: 2 of 7,000 change.")
    assert said(one, two, documents=2)[0] == "all 2 documents change."
    assert said(one, documents=1) == ("the only document changes.", "Documents: the only one changes.")
    assert said(one, added("c"), gone[0], documents=9)[0] == "2 of 9 documents change, 1 is removed."
    assert said(one, *gone[:2], documents=9)[0] == "1 of 9 documents changes, 2 are removed."
    assert said(*gone, documents=0) == ("all 1,100 documents go.", "Documents: all 1,100 go.")
    assert said(*gone[:2], documents=8)[0] == "2 of 10 documents go."
    assert said(gone[0], documents=8)[0] == "1 of 9 documents goes."
    assert said(gone[0], documents=0)[0] == "the only document goes."
    assert said(added("a"), added("b"), documents=2)[0] == "all 2 documents are new."
    assert said(added("a", origin="o"), removed("o"), documents=1)[0] == "the only document changes."


def test_a_changed_configuration_alone_changes_no_document(make):
    planned = make(recipe_changed=True)
    assert "9,863 kept; no document changes." in "\n".join(lines(planned))
    assert "Documents: none changes." in markdown.plan(planned)


def test_merged_and_split_documents_are_not_removed(make, step):
    merged = added("c", *step.moves("a", 36), *step.moves("b", 2, 36), origin="b")
    planned = make(merged, removed("a", step.delete(36)), removed("b"))
    assert "1 of 700 documents changes." in "\n".join(lines(planned))
    assert listed(planned)[0] == "- docs:a  (1 delete, 36 went to docs:c)"
    assert "- `-` `docs:a` (1 delete, 36 went to `docs:c`)" in markdown.plan(planned)
    split = [added(path, *step.moves("a", 2), origin="a") for path in ("b", "c")]
    assert "2 of 700 documents change." in "\n".join(lines(make(*split, removed("a"))))


def test_a_document_whose_end_went_elsewhere_says_where(make, step):
    heirs = [added(f"h{number}", *step.moves("a", 2)) for number in range(4)]
    for count, words in ((1, "2 went to docs:h0"), (2, "2 went to docs:h0, 2 went to docs:h1")):
        assert listed(make(changed("a", kept=3), *heirs[:count]))[0] == f"~ docs:a  (3 kept, {words})"
    assert listed(make(changed("a", kept=1234), *heirs))[0] == "~ docs:a  (1,234 kept, 8 went to 4 documents)"


# ------------------------------------------------------------------------------------------------ renames


def test_what_is_left_of_a_renamed_document_goes_under_its_new_name(make, step):
    renamed = added("new", step.add(0), *step.moves("old", 2, 1), origin="old")
    planned = make(renamed, removed("old", step.delete(2)))
    shown = listed(planned, steps=True)
    assert shown[0] == "> docs:old -> docs:new"
    assert [line.split("  ")[2] for line in shown[1:]] == [
        *("+ chunk 0", "> docs:old chunk 0 -> docs:new chunk 1", "> docs:old chunk 1 -> docs:new chunk 2"),
        "- chunk 2",
    ]
    assert listed(planned, steps=False) == ["> docs:old -> docs:new  (1 add, 2 move, 1 delete)"]
    page = markdown.plan(planned)
    assert "**Documents** (1)\n\n- `>` `docs:old` to `docs:new` (1 add, 2 move, 1 delete)\n" in page


def test_of_several_that_continue_a_document_the_first_has_what_is_left(make, step):
    heirs = [added(path, *step.moves("old", 1), origin="old") for path in ("x", "y")]
    assert listed(make(*heirs, removed("old", step.delete(2))), steps=False) == [
        "> docs:old -> docs:x  (1 move, 1 delete)",
        "> docs:old -> docs:y  (1 move)",
    ]


def test_no_claimed_origin_hides_a_removal(make, step):
    gone = replace(removed("old", step.delete(0)), origin=id_("old"))
    survivor = replace(changed("x", step.add(0)), origin=id_("old"))
    shown = "\n".join(listed(make(gone, survivor), steps=False))
    assert "docs:old -> docs:old  (1 delete)" in shown
    assert "docs:old -> docs:x  (1 add)" in shown


def test_many_renames_of_one_folder_are_one_line(make, step):
    def moved(count, new="renamed/deep"):
        pairs = [(f"sub/deep/{number}.md", f"{new}/{number}.md") for number in range(count)]
        return [
            change for old, path in pairs for change in (removed(old), added(path, *step.moves(old, 5), origin=old))
        ]

    row = "> docs:sub/ -> docs:renamed/  (21 documents)"
    edited = changed("zz", step.add(0))
    assert listed(make(*moved(21), edited))[:2] == [row, "~ docs:zz  (1 add)"]
    assert "**Documents** (22)\n\n- `>` `docs:sub/` to `docs:renamed/` (21 documents)\n" in markdown.plan(
        make(*moved(21), edited)
    )
    assert sum(line.startswith("> docs:sub/") for line in listed(make(*moved(21)), steps=True)) == 21
    assert sum(line.startswith("> docs:sub/deep/") for line in listed(make(*moved(4)), steps=False)) == 4
    assert listed(make(*moved(5, "deep")), steps=False) == ["> docs:sub/ -> docs:  (5 documents)"]


def test_a_rename_with_an_edit_stands_by_itself(make, step):
    changes = []
    for number in range(7):
        edit = (step.add(5),) if number == 3 else ()
        new = f"new/{'other' if number == 5 else number}"
        changes += [
            added(new, *step.moves(f"old/{number}", 5), *edit, origin=f"old/{number}"),
            removed(f"old/{number}"),
        ]
    assert listed(make(*changes), steps=False) == [
        "> docs:old/ -> docs:new/  (5 documents)",
        "> docs:old/3 -> docs:new/3  (1 add, 5 move)",
        "> docs:old/5 -> docs:new/other  (5 move)",
    ]


# ------------------------------------------------------------------------------------------------- others


def test_what_the_settings_leave_out_says_so_in_every_form(make, step):
    planned = make(removed("a", step.delete(0, Reason.OUT_OF_SCOPE)), removed("b", step.delete(0)))
    assert listed(planned, steps=False) == [
        "- docs:a  (1 delete, left out by the settings now)",
        "- docs:b  (1 delete)",
    ]
    assert listed(planned, steps=True)[0] == "- docs:a  (left out by the settings now)"
    assert "- `-` `docs:a` (1 delete, left out by the settings now)\n- `-` `docs:b` (1 delete)" in markdown.plan(
        planned
    )


def test_updates_of_chunk_after_chunk_are_one_line(make, step):
    headings = [Update(position, Reason.HEADINGS) for position in (1, 2, 3, 5)]
    other = [Update(6, Reason.PARENT), Update(7, Reason.PARENT)]
    shown = listed(
        make(changed("a", Update(None, Reason.METADATA), *headings, *other, step.delete(1), step.delete(2))), steps=True
    )
    assert shown[1:6] == [
        "    ~ document  no embedding  (metadata)",
        "    ~ chunks 1-3  no embedding  (headings)",
        "    ~ chunk 5  no embedding  (headings)",
        "    ~ chunks 6-7  no embedding  (parent)",
        shown[5],
    ]
    assert [line[:13] for line in shown[5:]] == ["    - chunk 1", "    - chunk 2"]


def test_a_list_without_steps_ends_and_the_totals_follow(make, step):
    planned = make(*(changed(f"{number:04}", step.add(0)) for number in range(700)))
    for steps in (None, False):
        shown = lines(planned, steps, hint="steadlith plan --steps")
        assert sum(line.startswith("~ ") for line in shown) == 60
        assert shown[60:62] == ["... and 640 more documents (steadlith plan --steps lists all)", ""]
        assert shown[62].startswith("Plan: 700 to add")
    assert sum(line.startswith("~ ") for line in lines(planned, steps=True)) == 700
    assert "... and 1 more document (--steps lists all)" in lines(replace(planned, changes=planned.changes[:61]))
    assert not any("more document" in line for line in lines(replace(planned, changes=planned.changes[:60])))


def test_documents_that_are_kept_are_listed_before_the_totals(cli, folder):
    cli("apply", "--yes")
    assert cli("plan", "--all").out == (
        "  docs:a.md  (1 kept)\n  docs:b.md  (1 kept)\nNo changes. The index matches the sources.\n"
    )
    (folder / "docs" / "a.md").write_text("Other.\n", "utf-8")
    shown = cli("plan", "--all").out.splitlines()
    assert shown.index("  docs:b.md  (1 kept)") + 2 == next(n for n, line in enumerate(shown) if "Plan: " in line)
