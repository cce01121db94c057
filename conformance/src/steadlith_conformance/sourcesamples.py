"""Sample documents for sources: names and bytes that trip who is careless; and paths that lead where none may."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENTS: Mapping[str, bytes] = {
    "a.md": b"# A\n",
    "B.md": b"# B\r\n\r\ntext",
    "empty.txt": b"",
    "deep/er/c.rst": b"C\n=\n",
    "deep/d.py": b"print(1)\n",
    "deep.md": b"sorts before deep/",
    "binary.dat": bytes(range(256)),
    "\u00e9t\u00e9/\u5206\u5757.md": "# \u5206\u5757\n".encode(),
    "\uffee.md": b"after the first plane's letters",
    "\U0001f642.md": b"in the second plane",
    "with space.md": b"s",
}

ESCAPES = (
    "../a.md",
    "deep/../../a.md",
    "deep/../a.md",
    "/etc/passwd",
    "/a.md",
    "./a.md",
    "a.md/",
    "",
    ".",
    "..",
    "a\0.md",
    "deep//d.py",
)
