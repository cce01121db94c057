"""Documents without a source: what the index holds of them is all that there is.

1. It lists nothing, and says that nothing is known of any of its documents: what is recorded stays as it is.
2. They go when the source goes out of the configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_core.errors import DocumentError
from steadlith_core.ports import nothing_known
from steadlith_core.records import FindingKind, Listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_core.ports import FormatRule, Known, Settings
    from steadlith_core.records import Content, Stamp


class ImportedSource:
    """Nothing to read."""

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Nothing, and nothing is known."""
        del known
        yield Listed("", unread=("",))

    def read(self, path: str) -> Content:
        """Raises `DocumentError`, always."""
        raise DocumentError(FindingKind.MISSING, f"{path!r:.200} was imported, and has no source to be read from")

    def stamp(self, path: str) -> Stamp | None:
        """None: there is nothing that could have one."""
        del path
        return None

    def leaves_out(self, path: str) -> bool:
        """No: no setting leaves any of it out."""
        del path
        return False

    def place(self) -> bytes | None:
        """None: it is nowhere."""
        return None


class ImportedFactory:
    """Makes it; there is nothing to set."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> ImportedSource:
        """Raises `ConfigError` for any setting."""
        del root, private
        Table(f"sources.{name}", settings).only()
        return ImportedSource()

    def formats(self, settings: Settings) -> FormatRule:
        """No name is that of a document that could be read."""
        Table("formats", settings).only()
        return lambda path: None  # noqa: ARG005 -- the rule's own argument


FACTORY = ImportedFactory()
