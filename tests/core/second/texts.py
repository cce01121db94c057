"""docs/format.md, section 8: canonical text, and where each of its code points stood in the source."""

import tomllib
import unicodedata

import yaml

from steadlith_core.text import unicode14

WHITE = " \t\v\f\n\r"  # 8.5


def _marks(table):
    marks = bytearray(0x110000)
    for entry in table.split():
        first, _, last = entry.partition("-")
        for code in range(int(first, 16), int(last or first, 16) + 1):
            marks[code] = 1
    return marks


UNASSIGNED, ATTACHED, INNER = (_marks(table) for table in (unicode14.UNASSIGNED, unicode14.ATTACHED, unicode14.INNER))


def starts_run(character):
    """Whether a boundary stands before this code point (8.4)."""
    return not UNASSIGNED[ord(character)] and not ATTACHED[ord(character)]


def is_boundary(character):
    """Whether a cut may fall before this code point (8.4)."""
    return starts_run(character) and not INNER[ord(character)]


def canonical(source):
    """The canonical text of a document, as a list of (code point, its first source byte, the byte behind it)."""
    return _canonical(source, document=True)


def fragment(source):
    """The canonical text of a piece of a document, as a string."""
    lines = "".join(unit[0] for unit in _canonical(source, document=False)).split("\n")
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def _canonical(source, *, document):
    units = []
    at = 0
    for character in source.decode("utf-8"):  # rule 1
        size = len(character.encode("utf-8"))
        units.append((character, at, at + size))
        at += size
    if document and units and units[0][0] == "\ufeff":
        units.pop(0)  # rule 2
    return _without_white_ends(_composed(_with_line_feeds(units)))


def _with_line_feeds(units):
    """Rule 3."""
    result = []
    for unit in units:
        if unit[0] == "\n" and result and result[-1][0] == "\r":
            result[-1] = ("\r\n", result[-1][1], unit[2])
        else:
            result.append(unit)
    return [
        ("\n", first, behind) if text in {"\r\n", "\r"} else (text, first, behind) for text, first, behind in result
    ]


def _composed(units):
    """Rule 4, and rule 7: what stands where in a part that changed."""
    result = []
    for run in _split(units, starts_run):
        if any(UNASSIGNED[ord(unit[0])] for unit in run):
            result.extend(run)
            continue
        for part in _split(run, lambda character: starts_run(unicodedata.normalize("NFD", character)[0])):
            text = "".join(unit[0] for unit in part)
            composed = unicodedata.normalize("NFC", text)
            if composed == text:
                result.extend(part)
                continue
            firsts = [unit[1] for unit in part] + [part[-1][2]] * len(composed)
            result.extend((character, firsts[at], part[-1][2]) for at, character in enumerate(composed))
    return result


def _split(units, starts):
    parts = []
    for unit in units:
        if not parts or starts(unit[0]):
            parts.append([])
        parts[-1].append(unit)
    return parts


def _without_white_ends(units):
    """Rule 5. A line feed stands where the white space before it started."""
    result = []
    white = []
    for unit in units:
        if unit[0] == "\n":
            result.append(("\n", white[0][1] if white else unit[1], unit[2]))
            white = []
        elif unit[0] in WHITE:
            white.append(unit)
        else:
            result.extend([*white, unit])
            white = []
    return result


class Refused(Exception):
    """A document whose front matter nobody can read is not cut (8.6)."""


def body_start(text):
    """The position in code points at which the body of a Markdown document starts (8.6)."""
    lines = text.split("\n")
    closing = {"---": ["---", "..."], "+++": ["+++"]}.get(lines[0])
    if closing is None or len(lines) < 2 or not lines[1]:
        return 0
    ends = [number for number, line in enumerate(lines) if number and line in closing]
    if not ends:
        return 0
    inside = "".join(line + "\n" for line in lines[1 : ends[0]])
    if len(inside.encode("utf-8")) > 65536:
        raise Refused("too large")
    if not (_is_yaml_mapping(inside) if lines[0] == "---" else _is_toml(inside)):
        return 0
    return min(len(text), sum(len(line) + 1 for line in lines[: ends[0] + 1]))


def _is_yaml_mapping(text):
    try:
        events = list(yaml.parse(text, yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, ArithmeticError):
        raise Refused("no YAML") from None
    nodes = []
    depth = documents = 0
    for event in events:
        if getattr(event, "anchor", None) is not None:
            raise Refused("an anchor or an alias")
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.NodeEvent):
            nodes.append(event)
            if depth > 32:
                raise Refused("too deep")
        depth += isinstance(event, yaml.CollectionStartEvent)
    if documents > 1:
        raise Refused("a second document")
    if nodes and not isinstance(nodes[0], yaml.MappingStartEvent):
        return False
    root = yaml.compose(text, yaml.BaseLoader)
    titles = [value for key, value in (root.value if root else []) if key.value == "title"]
    for node in titles[-1:]:  # the last one counts
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if any("\ud800" <= character <= "\udfff" for part in parts for character in part.value if _is_scalar(part)):
            raise Refused("a surrogate in the title")
    return True


def _is_scalar(node):
    return isinstance(node, yaml.ScalarNode)


def _is_toml(text):
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        raise Refused("no TOML") from None
    if text.count(".") > 4096:
        raise Refused("too many dots")
    return True
