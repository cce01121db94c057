"""Front matter of a Markdown document: fields to keep, and the position where the body begins.

1. A block opens on the very first line, `---` (YAML, closed by `---` or `...`) or `+++` (TOML, closed by `+++`).
   Without a closing line there is none, only a thematic break; nor is there one when a blank line follows at once
   (Pandoc's rule) or when a YAML block holds no mapping.
2. A scalar is kept as the string that is written, never as a date, number or boolean. A list of scalars is its items
   joined by ", "; anything nested deeper is not kept.
3. The block is untrusted: at most 64 KiB, no deep nesting, no anchors or aliases; no tag is obeyed, no object built.
4. Messages tell the place and never the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, Any

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from yaml.events import Event

    from steadlith_core.text.canonical import CanonicalText

SPACE = " \t\v\f\n\r"
MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_DOTS = 4096
"""In a TOML block. Every dot may nest a key, and `tomllib` takes quadratic time over them: 25 seconds for 30,000."""

_CLOSING = {
    b"---\n": re.compile(rb"\n(?:---|\.\.\.)(?:\n|\Z)"),
    b"+++\n": re.compile(rb"\n\+\+\+(?:\n|\Z)"),
}

# A line `key: plain words` that means the same to every reader of YAML: no quote, tag or bracket in front, no comment,
# no nested mapping. Most blocks have no other lines, and PyYAML takes a millisecond for each block.
_PLAIN_LINE = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.-]{0,63}):"
    r"(?: +([A-Za-z0-9\xa0-\u2027\u202a-\ud7ff](?:[ -\"$-9;-~\xa0-\u2027\u202a-\ud7ff]|:(?=[!-~]))*))?"
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a block says. `end` is the canonical position after its closing line, 0 when there is none."""

    end: int = 0
    title: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


def read(text: CanonicalText, format: Format, kept: Sequence[str]) -> FrontMatter:  # noqa: A002
    """The front matter of a document, with the fields named in `kept` in that order.

    `title` is the block's title whether or not it is kept as a field. Raises `DocumentError` (front_matter) for a
    block that is too large, cannot be parsed, or names anchors.
    """
    closing = _CLOSING.get(text.data[:4]) if format is Format.MARKDOWN else None
    # From the line feed of the opening line on, so that the next line may already be the closing one.
    closed = closing.search(text.data, 3) if closing else None
    if closed is None or text.data[4:5] == b"\n":
        return FrontMatter()
    size = closed.start() + 1 - 4
    if size > MAX_BYTES:
        raise _refused(f"the front matter has {size} bytes, {MAX_BYTES} are read; shorten it")
    block = text.data[4 : closed.start() + 1].decode()
    data = _yaml(block) if text.data[:1] == b"-" else _toml(block)
    if data is None:
        return FrontMatter()
    values = {key: value for key in ("title", *kept) if (value := _written(data.get(key))) is not None}
    for key, value in values.items():
        # A lone surrogate can be written as an escape, and nothing that is hashed or stored can hold it.
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise _refused(f"{key!r} in the front matter has an escape that is no character; write the character")
    title = values.get("title", "").strip(SPACE)
    return FrontMatter(closed.end(), title, {key: values[key] for key in kept if key in values})


def _written(value: object) -> str | None:
    """A scalar as a string, a list of scalars joined; none for anything else, which is not kept."""
    match value:
        case str():
            return value
        case bool():  # before int: a bool is one in Python
            return str(value).lower()
        case int():
            return str(value)
        case date() | time():  # and datetime, which is a date
            return value.isoformat()
        case list():
            items = [None if isinstance(item, list) else _written(item) for item in value]
            return None if None in items else ", ".join(item for item in items if item is not None)
        case _:
            return None


def _toml(block: str) -> Mapping[str, object]:
    import tomllib

    dots = block.count(".")
    if dots > MAX_DOTS:
        raise _refused(f"the front matter has {dots} dots, TOML with up to {MAX_DOTS} is read; shorten it")
    try:
        return tomllib.loads(block, parse_float=str)
    except (ValueError, RecursionError):  # a number of too many digits is no TOMLDecodeError
        raise _refused("the front matter between `+++` lines is no TOML; check it with any TOML reader") from None


def _yaml(block: str) -> Mapping[str, object] | None:
    lines = [_PLAIN_LINE.fullmatch(line) for line in block.split("\n") if line]
    plain = {match[1]: match[2] or "" for match in lines if match}
    return plain if all(lines) else _parsed_yaml(block)


def _parsed_yaml(block: str) -> Mapping[str, object] | None:
    """The outermost mapping of a YAML block, the last value of a repeated key; none if it is no mapping."""
    import yaml

    try:
        # The pure Python parser on purpose: libyaml is not everywhere and differs in detail.
        root = _document(yaml.parse(block, Loader=yaml.BaseLoader))
    except yaml.MarkedYAMLError as error:
        where = f" at line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise _refused(f"the front matter is no YAML{where}; quote the value there, or correct it") from None
    except (yaml.YAMLError, ArithmeticError, ValueError):  # an unprintable character, or an escape beyond Unicode
        raise _refused("the front matter has a character that YAML does not allow; leave it out") from None
    return root if isinstance(root, dict) else None


def _document(events: Iterator[Event]) -> object:
    """The only document of a stream as strings, lists and dictionaries; an empty stream is an empty mapping."""
    import yaml

    next(events)  # the start of the stream
    if isinstance(next(events), yaml.StreamEndEvent):
        return {}
    root = _node(next(events), events, 0)
    next(events)  # the end of the document
    if not isinstance(next(events), yaml.StreamEndEvent):
        raise _refused("the front matter holds a second YAML document; close the block before it")
    return root


def _node(event: Event, events: Iterator[Event], depth: int) -> object:
    """One value. Made from events, so that a hostile block is left at its first hostile event."""
    import yaml

    if depth > MAX_DEPTH:
        raise _refused(f"the front matter is nested deeper than {MAX_DEPTH} levels; flatten it")
    # An alias carries the anchor that it names.
    if getattr(event, "anchor", None) is not None:
        raise _refused("the front matter uses anchors (`&name`, `*name`); write the value out, or quote it")
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    is_list = isinstance(event, yaml.SequenceStartEvent)
    items: list[Any] = []
    while not isinstance(event := next(events), yaml.CollectionEndEvent):
        items.append(_node(event, events, depth + 1))
    if is_list:
        return items
    return {key: value for key, value in zip(items[::2], items[1::2], strict=True) if isinstance(key, str)}


def _refused(message: str) -> DocumentError:
    return DocumentError(FindingKind.FRONT_MATTER, message)
