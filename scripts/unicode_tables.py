"""Write src/steadlith_core/text/unicode14.py, or say with --check whether it is current.

Runs only where the standard library's Unicode is 14.0.0 (Python 3.11): the table is what that version says.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import unicodedata
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = "14.0.0"
TARGET = Path(__file__).parent.parent / "src" / "steadlith_core" / "text" / "unicode14.py"

# A surrogate is assigned, but strict UTF-8 cannot carry one and `unicodedata` need not be asked about it.
CODE_POINTS = [*range(0xD800), *range(0xE000, 0x110000)]

# Hangul composes by arithmetic, not by the table: a vowel or final jamo may join what precedes it (UAX 15).
JAMO_SECONDS = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}

MODULE = '''"""Unicode 14.0 as far as text/1 needs it. Written by scripts/unicode_tables.py; do not edit.

Each table lists ranges of code points, first and last in hexadecimal. Surrogates are in none, as UTF-8 cannot
carry them.
"""

VERSION = "{version}"

# General category Cn.
UNASSIGNED = """
{unassigned}
"""

# Assigned, but no boundary of a run: combining class other than 0, or NFC_Quick_Check No or Maybe.
ATTACHED = """
{attached}
"""

# A boundary of a run that is also a later part of one code point's canonical decomposition, as U+0FB7 is of U+0F43:
# between the parts there is no place in the source, so no cut falls before it.
INNER = """
{inner}
"""
'''


def tables() -> dict[str, str]:
    """The ranges of every table, by its name in the module."""
    assigned = [point for point in CODE_POINTS if unicodedata.category(chr(point)) != "Cn"]
    # NFC_Quick_Check=No: never in NFC text. Maybe: the second of a pair that composes.
    never = {point for point in assigned if not unicodedata.is_normalized("NFC", chr(point))}
    seconds = JAMO_SECONDS | {second for point in assigned for second in _second(point, never)}
    classed = {point for point in assigned if unicodedata.combining(chr(point))}
    attached = never | seconds | classed
    parts = {ord(part) for point in assigned for part in unicodedata.normalize("NFD", chr(point))[1:]}
    return {
        "unassigned": _ranges(set(CODE_POINTS) - set(assigned)),
        "attached": _ranges(attached),
        "inner": _ranges(parts & set(assigned) - attached),
    }


def _second(point: int, never: set[int]) -> list[int]:
    """The second code point of a primary composite; exclusions are NFC_Quick_Check=No and thus none."""
    mapping = unicodedata.decomposition(chr(point))
    if not mapping or mapping.startswith("<") or point in never:
        return []
    return [int(mapping.split()[1], 16)]


def _ranges(points: Iterable[int]) -> str:
    """`0300-034E 0374`: consecutive code points as one word, wrapped to the project's line length."""
    words = []
    for _, group in groupby(enumerate(sorted(points)), lambda pair: pair[1] - pair[0]):
        members = [point for _, point in group]
        words.append("-".join(f"{point:04X}" for point in dict.fromkeys((members[0], members[-1]))))
    return textwrap.fill(" ".join(words), width=100, break_on_hyphens=False)


def main() -> int:
    """Write the module or compare it; 0 when it is current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the file is stale")
    arguments = parser.parse_args()
    if unicodedata.unidata_version != VERSION:
        print(f"the table needs Unicode {VERSION}, not {unicodedata.unidata_version}: run Python 3.11")
        return 2
    wanted = MODULE.format(version=VERSION, **tables())
    current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
    if arguments.check:
        print(f"{TARGET.name} is {'current' if current == wanted else 'stale: run scripts/unicode_tables.py'}")
        return int(current != wanted)
    TARGET.write_text(wanted, encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
