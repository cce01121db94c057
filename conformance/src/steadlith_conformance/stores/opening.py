"""What a rule asks of the adapter under test: stores by name."""

from __future__ import annotations

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
