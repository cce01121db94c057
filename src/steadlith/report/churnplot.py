"""The churn of a history as a picture: SVG, or an HTML page with the picture and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from steadlith.report import churn as report
from steadlith.report.plot import Point, bytes_text, scatter
from steadlith.report.text import clean

if TYPE_CHECKING:
    from steadlith.churn import Churn, Measured
    from steadlith_core.planning.cost import Price

TITLE = "What edits cost, by chunk size"
AXES = ("mean chunk", "embedded after the first snapshot")

PAGE_STYLE = """\
:root{color-scheme:light dark}
body{margin:2rem auto;max-width:60rem;padding:0 1rem;font:15px/1.5 system-ui,sans-serif;color:#1f2328;background:#fff}
svg{max-width:100%;height:auto}
div{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:.35rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid #d0d7de}
th:first-child,td:first-child{text-align:left}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}}
"""


def svg(churn: Churn) -> str:
    """The plot: chunk size across, churn up."""
    points = [
        Point(
            x=each.mean_bytes,
            y=each.later.bytes,
            label=each.contender.label,
            note=bytes_text(each.later.bytes),
            series=each.contender.policy,
            words=_words(churn, each),
        )
        for each in churn.measured
    ]
    return scatter(TITLE, report.heading(churn), AXES, points)


def html(churn: Churn, price: Price | None) -> str:
    """A page that needs nothing but itself."""
    head, *rows = report.cells(churn, price)
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(TITLE)}: {_safe(report.heading(churn))}</title>",
        f"<style>\n{PAGE_STYLE}</style></head><body><main>",
        svg(churn).rstrip("\n"),
        f"<p>{_safe(report.counts(churn))}</p>",
        "<div><table><thead><tr>" + "".join(f'<th scope="col">{_safe(cell)}</th>' for cell in head),
        "</tr></thead><tbody>",
        *("<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>" for row in rows),
        "</tbody></table></div>",
        *(f"<p>{_safe(note)}</p>" for note in report.notes(price)),
        "</main></body></html>",
    ]
    return "\n".join(lines) + "\n"


def _words(churn: Churn, measured: Measured) -> str:
    share = churn.share(measured)
    part = "" if share is None else f", {share:.1%} of the text of the changed documents"
    return (
        f"{measured.contender.label}: chunks of {measured.mean_bytes:,.0f} bytes on average, "
        f"{bytes_text(measured.later.bytes)} embedded after the first snapshot{part}."
    )


def _safe(words: str) -> str:
    return escape(clean(words))
