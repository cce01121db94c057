"""docs/format.md, section 12: Markdown."""

import re

from .lines import Part

SENTENCES = True

ATX = re.compile(r"(#{1,6})(?:[ \t]|\Z)")  # 12.1
FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")  # 12.2
COMMENT = "<!--"  # 12.3
TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?:[ \t/>]|\Z)")
RAW = {"pre", "script", "style", "textarea"}
UNDERLINE = re.compile(r" {0,3}(=+|-+)\Z")  # 12.4
DELIMITER = re.compile(r"[ \t]*[|:-][ \t|:-]*\Z")  # 12.5
MARKER = re.compile(r"(?:[-*+]|([0-9]{1,9}[.)]))(?:[ \t]|\Z)")  # 12.6
NAMES = """
address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt
fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link
main menu menuitem nav noframes ol optgroup option p param picture search section summary svg table tbody td tfoot
th thead title tr track ul video
"""  # 12.7
BLOCKS = set(NAMES.split())
WHITE = " \t\v\f"


def shallow(line):
    return len(line.indentation) <= 3 and "\t" not in line.indentation


def part(lines, number, fresh, parts):
    line = lines[number]
    if shallow(line) and line.size <= 1000 and ATX.match(line.inner):  # 12.1
        marks = ATX.match(line.inner).group(1)
        return Part("heading", number, number, rank=len(marks), title=title(line.inner[len(marks) :]))
    block = fence(lines, number) or html(lines, number)
    if block:
        return block
    if not might_be_underlined(line):
        return None
    below = None if line.blank_below else lines[number + 1]
    if below is None:
        return None
    if fresh and shallow(line) and line.size <= 1000 and UNDERLINE.match(below.text):  # 12.4
        rank = 1 if "=" in below.text else 2
        return Part("heading", number, number + 1, rank=rank, title=title(line.inner))
    if "|" in line.text and DELIMITER.match(below.text) and "|" in below.text and "-" in below.text:  # 12.5
        last = number + 1
        while not lines[last].blank_below and "|" in lines[last + 1].text:
            last += 1
        return Part("block", number, last, inside=list(range(number + 3, last + 1)))
    return None


def title(text):
    text = text.strip(WHITE)
    text = re.sub(r"[ \t]*\{:?[ \t]*[#.][^{}]*\}\Z", "", text)
    text = re.sub(r"(\A|[ \t])#+\Z", r"\1", text)
    return text.strip(WHITE)


def fence(lines, number):  # 12.2
    opened = FENCE.match(lines[number].inner)
    if not opened:
        return None
    marks = opened.group(1) or opened.group(2)
    closing = re.compile(r"[ \t]*" + marks[0] + "{" + str(len(marks)) + r",}\Z")
    for last in range(number + 1, len(lines)):
        if closing.match(lines[last].text):
            return Part("block", number, last, inside=list(range(number + 2, last)))
    return None


def html(lines, number):  # 12.3
    line = lines[number]
    if not shallow(line):
        return None
    if line.inner.startswith(COMMENT):
        return html_until(lines, number, "-->", len(line.indentation) + len(COMMENT))
    tag = TAG.match(line.inner)
    if not tag:
        return None
    if tag.group(1).lower() in RAW:
        return html_until(lines, number, f"</{tag.group(1)}>", 0)
    if tag.group(1).lower() in BLOCKS:
        last = number
        while not lines[last].blank_below:
            last += 1
        return Part("block", number, last, inside=list(range(number + 1, last)))
    return None


def html_until(lines, number, end, behind):
    for last in range(number, len(lines)):
        if lines[last].text.find(end, behind if last == number else 0) >= 0:
            return Part("block", number, last, inside=list(range(number + 1, last)))
    return None


def might_be_underlined(line):
    inner = line.inner
    opens = ATX.match(inner) or FENCE.match(inner) or inner.startswith(COMMENT) or TAG.match(inner)
    return not MARKER.match(inner) and not inner.startswith(">") and not opens


def is_item(line):  # 12.6
    return MARKER.match(line.inner) is not None


def prose_start(line):
    marker = MARKER.match(line.inner)
    return len(line.indentation) + (marker.end(1) if marker and marker.group(1) else 0)


def ordinary_level(line, fresh):
    return None
