"""`steadlith show`, and a plan as text and as Markdown, with names that want to be more than names."""

import json
import re
from dataclasses import replace

import pytest

from steadlith.report import markdown, text
from steadlith_core.planning.plan import Drift, Fate, Repair, Tripped
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Add, Move, Reason, Rekey
from steadlith_core.records import DocumentId, DriftKind, Finding, FindingKind, Level

HOSTILE = [
    "</details><img src=x onerror=alert(1)>.md",
    "[click](https://evil.example)`.md",
    "``a`b```.md",
    "`",
    " a | b | c ",
    "www.evil.example/@everyone #1 <!-- x -->",
    "line\nbreak\r\n# heading\x1b[31m\u202e\u2028",
    "https://evil.example/![x](y)",
    "a" * 5000,
    "\udcff.md",
]
TALE = Drift("docs:two.md", DriftKind.VECTOR, "1 vector is gone", Repair.REWRITE)


def lines(planned, steps=None):
    return [words for _, words in text.plan(planned, steps=steps)]


def outside_code(page):
    """What CommonMark reads as mark-up: the page without its code spans."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", page)


# ------------------------------------------------------------------------------------------------- show


def test_show_has_three_formats_and_json_stays(saved, cli):
    plain = cli("show", "p.json")
    assert plain.out == cli("show", "p.json", "--format", "text").out
    assert "Plan: 2 to add (0 cached), 0 to delete" in plain.out
    assert json.loads(cli("show", "p.json", "--json").out) == json.loads(saved.read_text("utf-8"))
    assert cli("show", "p.json", "--format", "json").out == cli("show", "p.json", "--json").out
    assert cli("show", "p.json", "--format", "markdown").out.startswith(markdown.MARKER)


@pytest.mark.parametrize(
    ("arguments", "part"), [(("--format", "yaml"), "yaml"), (("--json", "--format", "text"), "choose")]
)
def test_formats_that_are_none_or_contradict_are_usage_errors(saved, cli, arguments, part):
    ran = cli("show", "p.json", *arguments)
    assert (ran.code, part in ran.err) == (64, True)


def test_a_file_that_is_no_plan_is_an_error_in_every_format(folder, cli):
    (folder / "p.json").write_text("{}", "utf-8")
    for form in ("text", "json", "markdown"):
        assert cli("show", "p.json", "--format", form).code == 1


# ------------------------------------------------------------------------------------------------- text


def test_drift_is_a_section_of_its_own_with_its_repair(planned):
    shown = lines(replace(planned, drift=(TALE,)))
    assert shown[0] == "Drift (1), the index is not as it was committed:"
    assert shown[1].startswith("! docs:two.md: vector: 1 vector is gone (repaired by writing it anew")
    assert all("Drift" not in line for line in lines(planned))


@pytest.mark.parametrize("repair", Repair)
def test_every_repair_is_said(planned, repair):
    drifted = replace(planned, drift=(replace(TALE, repair=repair),))
    said = lines(drifted)[1].rsplit("(", 1)[1]
    assert len({said, *(lines(replace(planned, drift=(replace(TALE, repair=other),)))[1] for other in Repair)}) == 5
    assert said.rstrip(")") in markdown.plan(drifted)


def test_much_drift_is_counted_and_listed_whole_when_asked_for(planned):
    drift = tuple(replace(TALE, place=f"docs:{number}.md") for number in range(50))
    drifted = replace(planned, drift=drift)
    assert "(and 30 more; --json lists all)" in lines(drifted)
    assert sum(line.startswith("! docs:") for line in lines(drifted, steps=True)) == 50


def test_preview_scope_and_level_are_said_where_they_are_not_as_usual(planned):
    for form in ("\n".join(lines(planned)), markdown.plan(planned)):
        assert all(word not in form for word in ("Preview", "Scope", "level"))
    unusual = replace(planned, preview=True, scope=("docs:a/", "docs:b.md"), level=Level.FULL)
    for form in ("\n".join(lines(unusual)), markdown.plan(unusual)):
        assert "cannot be applied" in form
        assert re.search(r"only in `?docs:a/`?, `?docs:b\.md`?\.", form)
        assert "at level full: it is as it was committed" in form


def test_documents_that_are_written_anew_are_counted(planned):
    mended = replace(planned, mended=(DocumentId("docs", "a.md"),))
    for form in ("\n".join(lines(mended)), markdown.plan(mended)):
        assert "Written anew because of drift: 1 document." in form
    assert "Written anew" not in "\n".join(lines(planned)) + markdown.plan(planned)


def test_a_move_shows_from_and_to(planned):
    old, new = DocumentId("docs", "old.md"), DocumentId("docs", "zz.md")
    digest = planned.config_digest
    steps = (
        Move(old, 1, 0, digest, Reason.RELOCATED),
        Rekey(old, 2, 1, digest, digest, digest, 3, False, Reason.CHUNKER),
    )
    change = replace(planned.changes[-1], id=new, origin=old, steps=steps)
    shown = lines(replace(planned, changes=(change,)), steps=True)
    assert shown[0].startswith("> docs:old.md -> docs:zz.md")
    assert "    > docs:old.md chunk 1 -> docs:zz.md chunk 0" in shown[1]
    assert "from docs:old.md, vector reused, about 3 tokens" in shown[2]
    within = replace(change, steps=(Move(None, 1, 0, digest, Reason.REORDERED),))
    assert "    > chunk 1 -> 0" in lines(replace(planned, changes=(within,)), steps=True)[1]


def test_what_is_free_is_shown_apart(planned):
    def said(**values):
        return next(
            line for line in lines(replace(planned, cost=replace(planned.cost, **values))) if "Embeddings" in line
        )

    assert said(cached=1200, rekeyed=3).endswith("; free: 1,200 cached, 3 rekeyed; besides, 8 probe texts.")
    assert said(embeddings=0, rekeyed=2) == "Embeddings: none needed; free: 2 rekeyed."
    assert said(embeddings=0) == "Embeddings: none needed."


def test_who_counted_is_said_and_how_far_that_is_off(planned):
    def said(**values):
        return "\n".join(lines(replace(planned, cost=replace(planned.cost, **values))))

    assert "about 1,204 tokens (estimate, usually within 15 %)" in said(tokens=1204)
    assert ", 1,204 tokens (counted by tiktoken:x)" in said(tokens=1204, counted_by="tiktoken:x", error_percent=0)
    assert "about 1,204 tokens (counted by x)" in said(tokens=1204, counted_by="x", error_percent=None)
    assert "cost unknown (no price in the configuration)" in said(local=False)
    assert "about 0.02 EUR, price of 2026-11-01" in said(amount="0.02", currency="EUR", price_as_of="2026-11-01")


# --------------------------------------------------------------------------------------------- markdown


def hostile(planned):
    digest = planned.config_digest
    add = (Add(0, digest, digest, 3, True, Reason.NEW_DOCUMENT),)
    ids = sorted(DocumentId("docs", name) for name in HOSTILE)
    return replace(
        planned,
        tool=HOSTILE[0],
        changes=tuple(replace(planned.changes[0], id=id_, fate=Fate.ADDED, steps=add) for id_ in ids),
        cost=replace(planned.cost, counted_by=HOSTILE[1], error_percent=0, currency=HOSTILE[2], amount=HOSTILE[0]),
        scope=tuple(HOSTILE),
        findings=tuple(Finding(name, FindingKind.BINARY, name) for name in HOSTILE),
        drift=tuple(Drift(name, DriftKind.TEXT, name, Repair.NONE) for name in HOSTILE),
        tripped=tuple(Tripped(name, name, name) for name in HOSTILE),
    )


def test_markdown_has_totals_documents_cost_guards_findings_and_drift(planned):
    full = replace(
        planned,
        drift=(TALE,),
        tripped=(Tripped("budget", "too much", "--allow-cost"),),
        findings=(Finding("docs:x", FindingKind.BINARY, "NUL"),),
    )
    page = markdown.plan(full)
    for part in (
        "### Steadlith plan: refused by a guard",
        "| | what | steps |",
        "| `+` | add | 2 |",
        "Documents: all 2 are new.",
        "Embeddings: 2 in 1 call, about",
        "- `+` `docs:a.md` (1 add)",
        "- `too much` (pass `--allow-cost` to apply if you mean it)",
        "- `!` `docs:x` binary: `NUL`",
        "- `!` `docs:two.md` vector: `1 vector is gone`",
    ):
        assert part in page
    assert page.splitlines()[0] == markdown.MARKER


def test_markdown_of_no_changes_says_so(planned):
    empty = replace(planned, changes=(), recipe_changed=False)
    assert "### Steadlith plan: no changes" in markdown.plan(empty)
    assert "|" not in markdown.plan(empty)


def test_nothing_that_comes_from_elsewhere_is_mark_up(planned):
    page = markdown.plan(hostile(planned))
    ours = re.compile(rf"{markdown.MARKER}|### |\*\*(Refused|Drift|Documents|Findings)\*\*")
    bare = ours.sub("", outside_code(page))
    assert not re.search(r"[<\[\]@#`\\*_]|https?:|www\.|evil|onerror", bare)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ud800-\udfff]", page)
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {4}
    page.encode("utf-8")


@pytest.mark.parametrize("name", ["", " ", "`", "``", "a`", "`a", "a``b`c", "x" * 1000])
def test_a_code_span_shows_any_name(name):
    span = markdown.code(name)
    assert outside_code(f"a {span} b") == "a  b"
    quotes = re.match(r"`+", span)[0]
    assert quotes not in span.strip("`").strip()


def test_markdown_is_capped_by_sections(planned):
    count = 5000
    ids = [DocumentId("docs", f"{number:05}/{'`<&' * 60}.md") for number in range(count)]
    names = HOSTILE * 300
    huge = replace(
        hostile(planned),
        changes=tuple(replace(planned.changes[0], id=id_) for id_ in ids),
        findings=tuple(Finding(name, FindingKind.BINARY, "`" * 5000) for name in names),
        drift=tuple(Drift(name, DriftKind.TEXT, name, Repair.NONE) for name in names),
        tripped=tuple(Tripped(name, name, name) for name in names),
        scope=tuple(names),
    )
    page = markdown.plan(huge)
    assert len(page) <= markdown.LIMIT
    assert page.count("- and ") == 4
    listed = sum(line.startswith(("- `~`", "- `+`")) for line in page.splitlines())
    assert f"- and {count - listed:,} more" in page
    assert listed > 50
    assert outside_code(page).count("Embeddings:") == 1


def test_the_same_plan_gives_the_same_page(planned):
    assert markdown.plan(planned) == markdown.plan(load(dump(planned)))
