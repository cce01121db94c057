"""Markdown of a plan: a summary for a pull request or a job's summary page, never larger than a comment may be.

1. Names and messages come from documents, sources and plan files: they are shown, never obeyed. They stand in code
   spans, where no link, no HTML, no mention and no mark-up takes effect, and hold no control character.
2. At most `LIMIT` characters: totals and cost always; each list as far as its share goes, "and N more".
3. The first line is a hidden marker, so that a bot can find its own comment and update it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith.report import sentences
from steadlith.report.entries import Renamed, entries, rows
from steadlith.report.lines import clean, plural
from steadlith_core.planning.steps import GLYPHS, NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from steadlith.report.entries import Entry
    from steadlith_core.planning.plan import Drift, Plan, Tripped
    from steadlith_core.records import Finding

    Item = TypeVar("Item")

LIMIT = 60_000
"""A comment may have 65,536 characters; what is around the summary needs some of them."""

MARKER = "<!-- steadlith-plan -->"

GUARDS, DRIFT, DOCUMENTS, FINDINGS = 6_000, 8_000, 26_000, 8_000
"""Most characters of each list. Together with what is always there they stay below `LIMIT`."""

NAME_LIMIT = 300
"""Most characters of one name or message: what is longer nobody reads."""

LISTED_SCOPE = 10


def plan(planned: Plan) -> str:
    """The plan as Markdown, with a final line end."""
    few = replace(planned, scope=planned.scope[:LISTED_SCOPE])
    parts = [
        f"{MARKER}\n\n### {_heading(planned)}\n",
        *(f"> {sentence}\n" for sentence in sentences.surroundings(few, code)),
        _section("Refused", planned.tripped, _guard, GUARDS),
        _section("Drift", planned.drift, _drift, DRIFT),
        f"{sentences.nothing(planned)}\n" if planned.is_empty else _totals(planned),
        _section("Documents", rows(entries(planned)), _row, DOCUMENTS, _documents),
        _section("Findings", planned.findings, _finding, FINDINGS),
        f"Made by {code(planned.tool)} against generation {planned.base.generation}.\n",
    ]
    return "\n".join(part for part in parts if part)


def code(text: str) -> str:
    """`text` as a code span, which shows it as it is; control characters are shown as escapes."""
    shown = clean(text) or " "
    if len(shown) > NAME_LIMIT:
        shown = shown[: NAME_LIMIT - 1] + "…"
    # CommonMark 6.1: a span ends at a run of as many back quotes as it began with, and one space at both ends is
    # taken away.
    quotes = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{quotes}{space}{shown}{space}{quotes}"


def _heading(planned: Plan) -> str:
    if planned.tripped:
        return "Steadlith plan: refused by a guard"
    nothing = "no repairs" if planned.repair_only else "no changes"
    return f"Steadlith plan: {nothing}" if planned.is_empty else "Steadlith plan"


def _totals(planned: Plan) -> str:
    counts = planned.counts
    rows = [
        f"| `{GLYPHS[kind]}` | {sentences.VERBS[name]} | {counts[name]:,} |"
        for kind, name in NAMES.items()
        if counts[name] or name in sentences.ALWAYS_COUNTED
    ]
    note = "`~` The index was made under another configuration; the new one is recorded."
    paragraphs = [
        "\n".join(["| | what | steps |", "|---|---|---:|", *rows, f"| | kept | {counts['keep']:,} |"]),
        f"Documents: {sentences.documents(planned, '')}.",
        sentences.embeddings(planned.cost, code),
        *sentences.mending(planned),
        *([note] if planned.recipe_changed else []),
        sentences.roots(planned),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _section(
    title: str,
    items: Sequence[Item],
    line: Callable[[Item], str],
    share: int,
    size: Callable[[Item], int] = lambda _: 1,
) -> str:
    """A heading and one line for each item, as many as its share has room for; `size` is what an item counts for."""
    if not items:
        return ""
    listed = list(_within(map(line, items), share))
    more = sum(map(size, items[len(listed) :]))
    rest = [f"- and {more:,} more"] if more else []
    return "\n".join([f"**{title}** ({sum(map(size, items)):,})", "", *listed, *rest, ""])


def _within(lines: Iterable[str], size: int) -> Iterator[str]:
    for line in lines:
        size -= len(line) + 1
        if size < 0:
            return
        yield line


def _guard(tripped: Tripped) -> str:
    return f"- {code(tripped.message)} (pass {code(tripped.override)} to apply if you mean it)"


def _drift(drift: Drift) -> str:
    return f"- `!` {code(drift.place)} {drift.kind}: {code(drift.message)} ({sentences.repair(drift)})"


def _row(row: Entry | Renamed) -> str:
    if isinstance(row, Renamed):
        return f"- `>` {code(row.old)} to {code(row.new)} ({plural(row.documents, 'document')})"
    name = code(str(row.change.id))
    if row.change.origin:
        name = f"{code(str(row.change.origin))} to {name}"
    counts = ", ".join(row.counts(code))
    return f"- `{row.glyph}` {name}" + (f" ({counts})" if counts else "")


def _documents(row: Entry | Renamed) -> int:
    return row.documents


def _finding(finding: Finding) -> str:
    return f"- `!` {code(finding.place)} {finding.kind}: {code(finding.message)}"
