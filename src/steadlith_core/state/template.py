"""Embed templates: what a model is given for a chunk.

1. A template has an id; another text for the same id is another id.
2. What a template adds to the chunk's own text is exactly what its context fields name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Template:
    """`fields` picks the context that enters the input; `render` makes the input from (text, fields)."""

    id: str
    fields: Callable[[tuple[str, ...]], tuple[str, ...]]
    render: Callable[[str, tuple[str, ...]], str]


def _breadcrumb(text: str, headings: tuple[str, ...]) -> str:
    return f"{' > '.join(headings)}\n\n{text}" if headings else text


TEMPLATES: Mapping[str, Template] = {
    # The text alone: an edit elsewhere in the document never re-embeds it.
    "plain": Template("plain/0", lambda _headings: (), lambda text, _fields: text),
    # The path of headings, then the text: finds more, and a renamed heading re-embeds what stands below it.
    "breadcrumb": Template("breadcrumb/0", lambda headings: headings, _breadcrumb),
}
