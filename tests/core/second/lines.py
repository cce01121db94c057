"""docs/format.md, section 11: lines, parts, places and sentences. Positions are code points of the canonical text."""

import re
from dataclasses import dataclass, field

from . import texts

INDENTATION = re.compile(r"[ \t\v\f]*")


@dataclass
class Line:
    start: int
    text: str
    gap: int  # line feeds directly before it
    blank_above: bool  # or the body's first
    blank_below: bool  # or the body's last

    @property
    def end(self):
        return self.start + len(self.text)

    @property
    def indentation(self):
        return INDENTATION.match(self.text).group()

    @property
    def inner(self):
        """What follows the indentation."""
        return self.text[len(self.indentation) :]

    @property
    def size(self):
        return len(self.text.encode("utf-8"))


@dataclass
class Part:
    """A heading, a block or an ordinary line (11.2), with the numbers of its first and last line."""

    kind: str
    first: int
    last: int
    level: int = 4
    rank: int = 0
    title: str = ""
    inside: list = field(default_factory=list)  # numbers of the lines that are places of level 0


def lines_of(text, body):
    """The body's lines that are not blank, and where the body starts and ends."""
    end = len(text.rstrip(texts.WHITE))
    result = []
    start = body
    gap = 0
    for line in text[body:end].split("\n"):
        if line:
            blank = gap != 1 or not result
            result.append(Line(start, line, gap, blank, blank_below=True))
            if len(result) > 1:
                result[-2].blank_below = blank
            gap = 0
        gap += 1
        start += len(line) + 1
    return result, (result[0].start if result else end), end


def parts_of(lines, rules):
    """11.2: `rules.part(lines, number, fresh, parts)` answers a heading, a block, or None for an ordinary line."""
    parts = []
    number = 0
    while number < len(lines):
        fresh = lines[number].blank_above or parts[-1].kind != "ordinary"
        part = rules.part(lines, number, fresh, parts)
        if part is None:
            part = Part("ordinary", number, number, _level(lines, number, fresh, rules))
        parts.append(part)
        number = part.last + 1
    return parts


def _level(lines, number, fresh, rules):
    special = rules.ordinary_level(lines[number], fresh)
    if special is not None:
        return special
    if fresh:
        return 4  # 11.3
    if rules.is_item(lines[number]) or (rules.SENTENCES and ends_sentence(lines[number - 1].text)):
        return 3
    return 1


def chains_of(parts):
    """11.5: lists of headings between which nothing stands, and the part behind each (or None)."""
    chains = []
    for number, part in enumerate(parts):
        if part.kind == "heading":
            behind = parts[number + 1] if number + 1 < len(parts) else None
            if number and parts[number - 1].kind == "heading":
                chains[-1] = ([*chains[-1][0], part], behind)
            else:
                chains.append(([part], behind))
    return chains


def places_of(text, lines, parts, rules):
    """A map of position to level (11.1)."""
    levels = {id(part): 11 - part.rank if part.kind == "heading" else part.level for part in parts}
    for chain, behind in chains_of(parts):
        greatest = max(levels[id(part)] for part in chain)
        for part in chain:
            levels[id(part)] = 1
        if behind is not None:
            levels[id(behind)] = 1
        if behind is not None or chain[0] is parts[0]:
            levels[id(chain[0])] = greatest
    places = {}
    for part in parts:
        places[lines[part.first].start] = levels[id(part)]  # 11.4
        for number in part.inside:
            places[lines[number].start] = 0
        if part.kind == "ordinary" and rules.SENTENCES:
            for at in sentences(lines[part.first].text, rules.prose_start(lines[part.first])):
                places[lines[part.first].start + at] = 2
    first = lines[0].start if lines else None
    return {at: level for at, level in places.items() if at == first or texts.is_boundary(text[at])}


STOPS = ".!?"
WIDE_STOPS = "\u3002\uff01\uff1f"
CLOSERS = "\"')]}*_\u2019\u201d"
WIDE_CLOSERS = "\u300b\u300d\u300f\u3011\uff09\u2019\u201d"


def sentences(line, prose):
    """Where in a line a sentence starts behind another (11.6)."""
    for stop in range(prose, len(line)):
        if line[stop] in STOPS:
            closers, white_must = CLOSERS, True
        elif line[stop] in WIDE_STOPS:
            closers, white_must = WIDE_CLOSERS, False
        else:
            continue
        at = _behind_closers(line, stop + 1, closers)
        white = at
        while at < len(line) and line[at] in texts.WHITE:
            at += 1
        if at < len(line) and (at > white or not white_must):
            yield at


def ends_sentence(line):
    """11.7"""
    for stop, character in enumerate(line):
        closers = CLOSERS if character in STOPS else CLOSERS + WIDE_CLOSERS if character in WIDE_STOPS else None
        if closers is not None and _behind_closers(line, stop + 1, closers) == len(line):
            return True
    return False


def _behind_closers(line, at, closers):
    limit = at + 7
    while at < min(limit, len(line)) and line[at] in closers:
        at += 1
    return at
