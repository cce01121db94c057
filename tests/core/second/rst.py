"""docs/format.md, section 13: reStructuredText."""

import re
import string

from .lines import Part

SENTENCES = True

GRID = re.compile(r"\+(?:[-=]+\+)+\Z")  # 13.2
SIMPLE = re.compile(r"=+(?: +=+)+\Z")  # 13.3
DIRECTIVE = re.compile(r"\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][A-Za-z0-9_:.+-]*)(::)(?=[ \t]|\Z)")  # 13.4
COMMENT = re.compile(r"\.\.[ \t]")  # 13.5
MARKER = re.compile(r"(?:[-*+\u2022]|(\(?(?:[0-9]{1,9}|[A-Za-z]|#)[.)]|:[^:]+:))(?=[ \t]|\Z)")  # 13.7
NAMES = """
code code-block sourcecode parsed-literal literalinclude highlight math raw table list-table csv-table toctree
autosummary productionlist graphviz plot ipython doctest testcode testoutput prompt image figure
"""  # 13.8
BLOCKS = set(NAMES.split())
PUNCTUATION = string.punctuation
BELOW = {"#": 1, "*": 1, "=": 2, "-": 3, "~": 4, "^": 5}
ABOVE_AND_BELOW = {"#": 1, "*": 1, "=": 1, "-": 2, "~": 3, "^": 4}
WHITE = " \t\v\f"


def part(lines, number, fresh, parts):
    line = lines[number]
    below = None if line.blank_below else lines[number + 1]

    if number and line.blank_above and announces_literal(lines[number - 1], parts[-1]):  # 13.1
        least = text_column(lines[number - 1])
        if column(line) > least:
            return indented_block(lines, number, number, least)

    if GRID.match(line.inner) and below is not None:  # 13.2
        starts = (line.indentation + "+", line.indentation + "|")
        if below.text.startswith(starts):
            last = number + 1
            while not lines[last].blank_below and lines[last + 1].text.startswith(starts):
                last += 1
            inside = [at for at in range(number + 1, last) if lines[at].text.startswith(line.indentation + "+-")]
            return Part("block", number, last, inside=inside)

    if SIMPLE.match(line.inner):  # 13.3
        return simple_table(lines, number)

    directive = DIRECTIVE.match(line.inner)
    if directive and directive.group(1).lower() in BLOCKS:  # 13.4
        return indented_block(lines, number, number + 1, column(line))
    if directive or COMMENT.match(line.inner):  # 13.4, 13.5
        return None

    return section(lines, number, fresh)


def column(line):
    return width(re.match(r"[ \t]*", line.text).group())


def width(text):
    at = 0
    for character in text:
        at = at // 8 * 8 + 8 if character == "\t" else at + 1
    return at


def announces_literal(line, above):
    return (
        above.kind == "ordinary"
        and line.text.endswith("::")
        and not DIRECTIVE.match(line.inner)
        and not COMMENT.match(line.inner)
    )


def text_column(line):
    marker = MARKER.match(line.inner)
    if not marker:
        return column(line)
    behind = len(line.indentation) + marker.end()
    while behind < len(line.text) and line.text[behind] in " \t":
        behind += 1
    return width(line.text[:behind])


def indented_block(lines, first, at, least):
    """A block from its first line, and on from `at` as long as the column is greater than `least`."""
    while at < len(lines) and column(lines[at]) > least:
        at += 1
    return Part("block", first, at - 1, inside=list(range(first + 2, at)))


def simple_table(lines, number):
    border = number
    closing = next_border(lines, border)
    if closing is not None and not lines[closing].blank_below:
        border, closing = closing, next_border(lines, closing)
    if closing is None or not lines[closing].blank_below:
        return None
    return Part("block", number, closing, inside=rows(lines, border, closing)[1:])


def next_border(lines, border):
    text = lines[border].text
    distance = 0
    for at in range(border + 1, len(lines)):
        distance += lines[at].gap + len(text)
        if distance > 65536:
            return None
        if lines[at].text.startswith(text):
            return at if lines[at].text == text else None
        distance += lines[at].size - len(text)
    return None


def rows(lines, border, closing):
    return [at for at in range(border + 1, closing) if len(lines[at].indentation) == len(lines[border].indentation)]


def section(lines, number, fresh):  # 13.6
    line = lines[number]
    if not fresh or line.blank_below:
        return None
    below = lines[number + 1]
    marker = MARKER.match(line.inner)
    titled = not line.indentation and line.size <= 1000 and not GRID.match(line.inner)
    titled = titled and not (is_one_character(line.text) and len(line.text) >= 2)
    if titled and not (marker and not is_number(marker)) and long_enough(below.text, line.text):
        return Part("heading", number, number + 1, rank=BELOW.get(below.text[0], 6), title=line.text.strip(WHITE))
    if is_rule(line.text) and len(line.text) >= 2 and not below.blank_below and below.size <= 1000:
        title = below.text.strip(WHITE)
        if lines[number + 2].text == line.text and long_enough(line.text, title):
            return Part("heading", number, number + 2, rank=ABOVE_AND_BELOW.get(line.text[0], 6), title=title)
    return None


def is_one_character(text):
    return text[0] in PUNCTUATION and text == text[0] * len(text)


def is_rule(text):
    return text != "::" and is_one_character(text)


def long_enough(text, title):
    return is_rule(text) and (len(text) >= 4 or len(text) >= len(title))


def is_number(marker):
    return marker.group(1) is not None and not marker.group(1).startswith(":")


def is_item(line):  # 13.7
    return MARKER.match(line.inner) is not None


def prose_start(line):
    directive = DIRECTIVE.match(line.inner)
    if directive:
        return len(line.indentation) + directive.end(2)  # 13.4
    marker = MARKER.match(line.inner)
    return len(line.indentation) + (marker.end(1) if marker and marker.group(1) else 0)  # 13.7


def ordinary_level(line, fresh):
    return 4 if DIRECTIVE.match(line.inner) or COMMENT.match(line.inner) else None  # 13.4, 13.5
