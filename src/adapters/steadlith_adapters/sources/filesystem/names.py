"""Names on disk, and as documents and people see them.

1. A document's path is NFC as the core's text is: by Unicode 14.0, whatever this Python brings.
2. A name that is not UTF-8 has no document path; for people its odd bytes are escaped.
"""

from __future__ import annotations

import os

from steadlith_core.text import composition


def document_name(name: str) -> str:
    """A name (or a path) as it stands in a document's path."""
    return composition.composed(name)


def is_text(name: str) -> bool:
    """Whether a name on disk is UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(name: str) -> str:
    """A name with the bytes that are not text escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def raw(name: str) -> bytes:
    """The bytes of a name, or of a pattern, whether they are text or not."""
    return name.encode("utf-8", "surrogatepass")
