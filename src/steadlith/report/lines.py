"""Lines for people: (style, words), rendered by rich on a terminal and plain everywhere else.

1. Glyphs carry the meaning; colour only repeats it.
2. Control characters from documents and file names never reach the terminal.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.records import Finding

Line: TypeAlias = "tuple[str, str]"
"""A style (empty for none) and the words of one line."""

Segments: TypeAlias = "tuple[Line, ...]"
"""One line of several styles."""

STYLES: Mapping[str, str] = {
    "+": "green",
    ">": "cyan",
    "~": "yellow",
    "-/+": "magenta",
    "=": "blue",
    "-": "red",
    "!": "yellow",
}
"""The colour that goes with each glyph."""

LISTED_FINDINGS = 10


def clean(text: str) -> str:
    """`text` with control, format and surrogate characters shown as escapes; tabs become spaces."""
    return "".join(
        char
        if unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else " "
        if char == "\t"
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def plural(count: int, word: str, several: str | None = None) -> str:
    """A number of things, in words; `several` where an s does not do."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def findings(found: Sequence[Finding], outcome: str) -> Iterator[Line]:
    """What needs a person's eye, each while they are few; `outcome` says what became of it."""
    if not found:
        return
    yield "", ""
    yield "bold yellow", f"Findings ({len(found):,}), {outcome}:"
    if len(found) > LISTED_FINDINGS:
        kinds = Counter(finding.kind for finding in found).most_common()
        yield STYLES["!"], f"! {', '.join(f'{count:,} {kind}' for kind, count in kinds)}; --json lists all"
        return
    for finding in found:
        yield STYLES["!"], f"! {clean(finding.place)}: {finding.kind}: {clean(finding.message)}"
