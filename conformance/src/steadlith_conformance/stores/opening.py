"""What a rule asks of the adapter under test: stores by name, and two ways round them.

A store cannot vouch for itself: what it keeps is read, and changed, behind its back. Both hooks are optional; without
one the rules that need it are reported as not run.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from steadlith_core.ports import Store


class MakeStore(Protocol):
    """Opens the index called `name`; each call with one name opens the same index again, as another process would.

    Names that were never used are absent indexes. Whoever provides it closes every store when the test is over.
    """

    def __call__(self, name: str = "index", *, readonly: bool = False) -> Store:
        """Open it."""
        ...


class Part(StrEnum):
    """What is kept, as far as rules damage it."""

    TEXT = "text"
    VECTOR = "vector"
    DOCUMENT_ROOT = "document root"
    HEAD_ROOT = "head root"


class RawRead(Protocol):
    """Reads all that the index called `name` keeps, in its files or tables, without asking the store.

    Texts stand in it as UTF-8 and vectors as float32, decoded where the store packs them; nothing is left out, also not
    what was deleted and can still be read. An absent index has no bytes.
    """

    def __call__(self, name: str = "index") -> bytes:
        """Read it."""
        ...


class RawWrite(Protocol):
    """Puts `new` where the index called `name` keeps `old`, without asking the store. No store is open meanwhile.

    `old` is the whole of what is meant, as long as `new`: a text in UTF-8, a vector in float32, the 32 bytes of a
    document's root or of the head's corpus root. Where it is kept more than once, all places are changed.
    """

    def __call__(self, part: Part, old: bytes, new: bytes, name: str = "index") -> None:
        """Change it."""
        ...
