r"""One line of a `.gitignore`, compiled: git's wildmatch as a regular expression.

1. A pattern is asked about the path itself, never about what lies below a match: the walk does not enter an
   excluded folder, so "nothing below an excluded folder can be re-included" holds by construction.
2. No pattern can make matching slow: a star is closed as soon as what follows it is found (an atomic group).
3. `tests/adapters/sources/test_gitignore.py` compares the whole with the installed git on random trees. Known to
   differ: `a**/b`, whose stars gitignore(5) calls plain ones while git takes them for folders.

Not `pathspec`: asked in a walk, it differs from git on ordinary patterns (docs/adr/0005-ignore-rules-are-gits.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

NOTHING = "(?!)"
ONE = "[^/]"

# gitignore(5) leaves classes to fnmatch(3); wildmatch.c knows these, in ASCII.
POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled line: what it says (`positive`, or the opposite after a `!`) about the paths that it names."""

    positive: bool
    folders_only: bool
    whole_path: bool
    regex: re.Pattern[str]

    def names(self, path: str, name: str, *, folder: bool) -> bool:
        """Whether this names `path` itself; `name` is its last part."""
        if self.folders_only and not folder:
            return False
        return self.regex.fullmatch(path if self.whole_path else name) is not None


@lru_cache(maxsize=4096)
def compile_pattern(line: str) -> Pattern | None:
    """The pattern on one line; none for a blank line or a comment. `ValueError` for one that can match nothing."""
    body = _without_trailing_spaces(line)
    if not body or body.startswith("#"):
        return None
    positive = not body.startswith("!")
    body = body.removeprefix("!")
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    if not body:
        return None  # "/" and "!" name nothing, as in git
    # gitignore(5): a slash at the beginning or in the middle makes the pattern relative to its own folder.
    whole_path = "/" in body
    return Pattern(positive, folders_only, whole_path, re.compile(_translate(body.removeprefix("/")), re.DOTALL))


def _without_trailing_spaces(line: str) -> str:
    """gitignore(5): trailing spaces are ignored unless they are quoted with a backslash."""
    end = at = 0
    while at < len(line):
        quoted = line[at] == "\\"
        at += 2 if quoted else 1
        if quoted or line[at - 1] != " ":
            end = at
    return line[:end]


def _translate(glob: str) -> str:
    """A regular expression for the whole of a path (or of a name)."""
    sections: list[list[str]] = [[""]]  # one for each "**/" and one before; in it fixed text, cut at its stars
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            stars = len(glob) - at - len(glob[at:].lstrip("*"))
            bounded = stars > 1 and (at == 0 or glob[at - 1] == "/")
            at += stars
            if bounded and at == len(glob):
                sections[-1][-1] += ".*"  # "/**" at the end: everything inside
            elif bounded and glob[at] == "/":
                sections.append([""])  # "**/": in any folder, or in none
                at += 1
            else:
                sections[-1].append("")
        elif char == "?":
            sections[-1][-1] += ONE
            at += 1
        elif char == "[":
            expression, at = _class(glob, at + 1)
            sections[-1][-1] += expression
        else:
            at += char == "\\"
            if at == len(glob):
                raise ValueError(f"the pattern {glob!r} ends in a lone backslash, so it can match nothing")
            sections[-1][-1] += re.escape(glob[at])
            at += 1
    spelled = [_closed(section, f"{ONE}*", f"{ONE}*?") for section in sections]
    return _closed(spelled, "(?:.*/)?", "(?:.*?/)??")


def _closed(parts: list[str], longest: str, shortest: str) -> str:
    """`parts` with a wildcard between them. The shortest way to the next part is always good enough, so it is
    never tried again (rule 2), except for the last: that one has to reach the end.
    """
    first, *rest = parts
    if not rest:
        return first
    return first + "".join(f"(?>{shortest}{part})" for part in rest[:-1]) + longest + rest[-1]


def _class(glob: str, start: int) -> tuple[str, int]:
    """The bracket expression whose inside begins at `start`, and where the pattern goes on after it."""
    at = start
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    first = at
    members: list[str] = []
    while glob[at : at + 1] != "]" or at == first:
        if named := re.compile(r"\[:([^\]]*):\]").match(glob, at):
            if named[1] not in POSIX:
                raise ValueError(f"the pattern {glob!r} names an unknown class {named[0]}, so it can match nothing")
            members.append(POSIX[named[1]])
            at = named.end()
            continue
        low, at = _member(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("]", ""):
            high, at = _member(glob, at + 1)
            if low <= high:  # a range that runs backwards is empty
                members.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            members.append(re.escape(low))
    inside = "".join(members)
    if not inside:
        return (ONE if negated else NOTHING), at + 1
    # A bracket expression never matches a slash, whatever it holds.
    return f"(?!/)[{'^' if negated else ''}{inside}]", at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    """One character of a bracket expression, unquoted, and the position after it."""
    at += glob[at : at + 1] == "\\"
    if at >= len(glob):
        raise ValueError(f"the pattern {glob!r} has a bracket that is never closed, so it can match nothing")
    return glob[at], at + 1
