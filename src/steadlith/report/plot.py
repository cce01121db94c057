"""A scatter plot as one SVG document of our own making.

1. The same points give the same bytes, everywhere: no clock, no random id, one decimal a coordinate.
2. Nothing is loaded from elsewhere: no script, no font, no style sheet. It is legible on light and on dark.
3. A shape and a label tell what colour tells, and `desc` has every figure in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from steadlith.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH, HEIGHT = 840, 520
LEFT, RIGHT, TOP, BOTTOM = 72, 40, 108, 66
"""The margins around the plane."""

MARGIN = 24
"""Where words begin that belong to no point."""

TICKS = 6
"""At most so many steps on an axis."""

CHARACTER = 7.0
"""About the width of one in a label, to keep labels apart."""

LINE = 17
"""From one line of a label to the next."""

UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "bytes"))

LIGHT = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e", "#0b7285")
DARK = ("#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#ff7b72", "#56d4dd")

STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:13px;fill:#1f2328}"
    ".paper{fill:#fff}.title{font-size:18px;font-weight:600}.soft{fill:#59636e}.label{font-weight:600}"
    ".grid{stroke:#e4e8ec}.axis{stroke:#8c959f}.line{fill:none;stroke-width:2;stroke-opacity:.35}"
    ".mark{stroke:#fff;stroke-width:1.5}"
    + "".join(f".f{number}{{fill:{colour}}}.l{number}{{stroke:{colour}}}" for number, colour in enumerate(LIGHT))
    + "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.soft{fill:#9198a1}"
    ".grid{stroke:#21262d}.axis{stroke:#656c76}.mark{stroke:#0d1117}"
    + "".join(f".f{number}{{fill:{colour}}}.l{number}{{stroke:{colour}}}" for number, colour in enumerate(DARK))
    + "}"
)


CORNERS = (
    ((-6, -6), (6, -6), (6, 6), (-6, 6)),
    ((0, -8), (8, 0), (0, 8), (-8, 0)),
    ((0, -8), (8, 6), (-8, 6)),
)
"""Square, diamond and triangle around a point; the first shape of all is a circle."""


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: bytes to the right, bytes up. Points of one `series` are joined; `note` stands below the label,
    `words` says all.
    """

    x: float
    y: float
    label: str
    note: str
    series: str
    words: str


@dataclass(frozen=True, slots=True)
class Axis:
    """From `least` to `most` in steps, drawn between two coordinates."""

    name: str
    least: int
    most: int
    step: int
    start: float
    end: float

    @classmethod
    def over(cls, name: str, values: Sequence[float], start: float, end: float, *, from_zero: bool) -> Axis:
        """An axis in round steps that holds `values` with some room on both sides."""
        least, most = (0.0 if from_zero else min(values)), max(values)
        room = (most - least) / 8 or most / 4 or 1
        least, most = max(0.0, least - (0 if from_zero else room)), most + room
        step = _round_step((most - least) / TICKS)
        return cls(name, int(least // step) * step, -int(-most // step) * step, step, start, end)

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        return self.start + (value - self.least) * (self.end - self.start) / (self.most - self.least)

    @property
    def ticks(self) -> range:
        """The values with a line of their own."""
        return range(self.least, self.most + 1, self.step)

    @property
    def unit(self) -> tuple[int, str]:
        """What the figures are counted in."""
        return next((unit for unit in UNITS if self.most >= 2 * unit[0]), UNITS[-1])


def bytes_text(size: float) -> str:
    """A size for people: three figures and a unit."""
    factor, unit = next((unit for unit in UNITS if size >= unit[0]), UNITS[-1])
    value = size / factor
    return f"{value:.0f} {unit}" if factor == 1 or value >= 100 else f"{value:.{1 if value >= 10 else 2}f} {unit}"


def scatter(title: str, subtitle: str, axes: tuple[str, str], points: Sequence[Point]) -> str:
    """The plot of at least one point."""
    x = Axis.over(axes[0], [point.x for point in points], LEFT, WIDTH - RIGHT, from_zero=False)
    y = Axis.over(axes[1], [point.y for point in points], HEIGHT - BOTTOM, TOP, from_zero=True)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    figures = " ".join(point.words for point in points)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="plot-title plot-desc">',
        f'<title id="plot-title">{_safe(title)}</title>',
        f'<desc id="plot-desc">{_safe(f"{subtitle}. Across: {x.name}. Up: {y.name}. {figures}")}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(MARGIN, 38, title, "title"),
        _text(MARGIN, 60, subtitle, "soft"),
        *_vertical(y),
        *_horizontal(x),
        *_series(x, y, points),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _vertical(axis: Axis) -> Iterator[str]:
    factor, unit = axis.unit
    yield _text(MARGIN, TOP - 14, f"{axis.name}, {unit}", "soft")
    for tick in axis.ticks:
        at = axis.at(tick)
        style = "grid" if tick else "axis"
        yield f'<line class="{style}" x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}"/>'
        yield _text(LEFT - 10, at + 4.5, f"{tick / factor:,.10g}", "soft", "end")


def _horizontal(axis: Axis) -> Iterator[str]:
    foot = HEIGHT - BOTTOM
    for tick in axis.ticks:
        at = axis.at(tick)
        yield f'<line class="axis" x1="{at:.1f}" y1="{foot}" x2="{at:.1f}" y2="{foot + 5}"/>'
        yield _text(at, foot + 21, f"{tick:,}", "soft", "middle")
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, f"{axis.name}, bytes", "soft", "middle")


def _series(x: Axis, y: Axis, points: Sequence[Point]) -> Iterator[str]:
    names = list(dict.fromkeys(point.series for point in points))
    for number, name in enumerate(names):
        own = [(x.at(point.x), y.at(point.y)) for point in points if point.series == name]
        for (x1, y1), (x2, y2) in pairwise(sorted(own)):
            style = f"line l{number % len(LIGHT)}"
            yield f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
    places = _Places([(x.at(point.x), y.at(point.y)) for point in points])
    for point in points:
        number = names.index(point.series)
        across, up = x.at(point.x), y.at(point.y)
        style = f'class="mark f{number % len(LIGHT)}"'
        yield f"<g><title>{_safe(point.words)}</title>{_shape(number, style, across, up)}</g>"
        yield from places.label(across, up, point.label, point.note)


def _shape(number: int, style: str, x: float, y: float) -> str:
    """A circle, square, diamond or triangle around a point: colour is not all that tells series apart."""
    kind = number % (1 + len(CORNERS))
    if not kind:
        return f'<circle {style} cx="{x:.1f}" cy="{y:.1f}" r="7"/>'
    path = " ".join(f"{x + right:.1f},{y + down:.1f}" for right, down in CORNERS[kind - 1])
    return f'<polygon {style} points="{path}"/>'


class _Places:
    """Finds room for labels: each takes the first place beside its point that is free, or the first of all."""

    SIDES = ((13, 20, 0.0), (-13, -24, 1.0), (14, -3, 0.0), (-14, -3, 1.0), (0, -29, 0.5), (0, 25, 0.5))
    """Where a label begins, right and down from its point, and how much of it lies to the left of there."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self._taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in points]

    def label(self, x: float, y: float, words: str, note: str) -> Iterator[str]:
        """Two lines for the point (x, y)."""
        width = max(len(words), len(note)) * CHARACTER
        boxes = []
        for right, down, before in self.SIDES:
            left, foot = x + right - width * before, y + down
            boxes.append(((left, foot - 12, left + width, foot + LINE + 4), foot, before))
        box, foot, before = next((each for each in boxes if self._free(each[0])), boxes[0])
        self._taken.append(box)
        anchor = {0.0: "start", 0.5: "middle", 1.0: "end"}[before]
        yield _text(box[0] + width * before, foot, words, "label", anchor)
        yield _text(box[0] + width * before, foot + LINE, note, "soft", anchor)

    def _free(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, foot = box
        inside = left >= LEFT and right <= WIDTH - 4 and top >= TOP and foot <= HEIGHT - BOTTOM
        return inside and all(
            right <= other[0] or other[2] <= left or foot <= other[1] or other[3] <= top for other in self._taken
        )


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_safe(words)}</text>'


def _safe(words: str) -> str:
    return escape(clean(words))


def _round_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `least`."""
    power = 1
    while power * 10 < least:
        power *= 10
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= least)
