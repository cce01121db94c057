"""The churn of a history as a table of trade-offs: chunk size against what every edit costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.report.text import clean, findings
from steadlith_core.planning import cost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.churn import Churn, Measured
    from steadlith.report.text import Line
    from steadlith_core.planning.cost import Price

UNKNOWN = "-"
COLUMNS = (
    *(("", "policy"), ("mean", "bytes"), ("mean", "tokens"), ("largest", "bytes"), ("largest", "tokens")),
    *(("first", "chunks"), ("embedded", "bytes"), ("embedded", "tokens"), ("embedded", "chunks")),
    *(("an edit", "bytes"), ("of changed", "text")),
)
COST = (("cost of", "first"), ("cost of", "later"))
"""Columns that are there where a price is known."""


def amount(tokens: int, price: Price | None) -> str | None:
    """What `tokens` cost, as the plan says it; none without a price."""
    return cost.amount(tokens, price)


def table(churn: Churn, price: Price | None) -> Iterator[Line]:
    """The history in two lines, the table, and what was passed over."""
    yield "bold", heading(churn)
    yield "", counts(churn)
    yield "", ""
    yield from _table(churn, price)
    yield "", ""
    for note in notes(price):
        yield "", note
    yield from findings(churn.findings, "those versions were passed over")


def heading(churn: Churn) -> str:
    """Which history, in one line."""
    commits = f"{churn.commits:,} snapshot" + ("s" if churn.commits != 1 else "")
    return f"{clean(churn.first)} to {clean(churn.last)}: {commits} after the first, {churn.edits:,} with new text"


def counts(churn: Churn) -> str:
    """How much was read."""
    return (
        f"{churn.versions:,} versions of documents, {churn.changed:,} of them after the first snapshot "
        f"({churn.changed_bytes:,} bytes); {churn.documents:,} documents at the end"
    )


def notes(price: Price | None) -> Iterator[str]:
    """How to read the table."""
    yield "Each distinct chunk text counts once; `embedded` is what came after the first snapshot."
    if price is None:
        yield "Cost unknown: no price was given (--price-per-million)."
    else:
        yield f"Cost in {clean(price.currency)}, at {price.per_million} for a million tokens; tokens are estimates."


def cells(churn: Churn, price: Price | None) -> list[tuple[str, ...]]:
    """The table without its looks: a heading and one row for each policy."""
    columns = COLUMNS + (COST if price else ())
    head = tuple(" ".join(words).strip() for words in columns)
    return [head, *(tuple(_row(churn, each, price)) for each in churn.measured)]


def _table(churn: Churn, price: Price | None) -> Iterator[Line]:
    above, below = zip(*(COLUMNS + (COST if price else ())), strict=True)
    rows = [above, below, *cells(churn, price)[1:]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, (first, *others) in enumerate(rows):
        figures = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "" if number > 1 else "bold", "  ".join([first.ljust(widths[0]), *figures]).rstrip()


def _row(churn: Churn, measured: Measured, price: Price | None) -> Iterator[str]:
    later, share = measured.later, churn.share(measured)
    yield clean(measured.contender.label)
    yield f"{measured.mean_bytes:,.0f}"
    yield f"{measured.mean_tokens:,.0f}"
    yield f"{measured.largest_bytes:,}"
    yield f"{measured.largest_tokens:,}"
    yield f"{measured.first.chunks:,}"
    yield f"{later.bytes:,}"
    yield f"{later.tokens:,}"
    yield f"{later.chunks:,}"
    yield f"{later.bytes / churn.edits:,.0f}" if churn.edits else UNKNOWN
    yield UNKNOWN if share is None else f"{share:.1%}"
    if price is not None:
        yield amount(measured.first.tokens, price) or UNKNOWN
        yield amount(later.tokens, price) or UNKNOWN
