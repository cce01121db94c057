"""Where documents come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steadlith_core.ports.settings import Settings
    from steadlith_core.records import Content, Format, KnownFolder, Listed, Stamp

Known: TypeAlias = "Callable[[str], KnownFolder | None]"
"""What an earlier look kept of a folder, none if nothing. Asked at most once a folder in a listing; or not at all."""


def nothing_known(_folder: str) -> KnownFolder | None:
    """Of no folder anything is known: everything is listed."""
    return None


class Source(Protocol):
    """Documents below one root. Never writes."""

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Everything in scope, each folder that holds documents once, in any order, as parts that need little memory.

        Called first, once or more a run, and read to its end: only then is what was not listed known to be gone. What
        cannot be known goes to `unread`. Raises `SourceError`, at any part, if the root itself cannot be listed, so
        that nothing is taken for deleted.
        """
        ...

    def read(self, path: str) -> Content:
        """One listed document, consistent over the read. May be called again.

        Raises `DocumentError` with `.kind` (a `FindingKind`) when it vanished, changed or cannot be read.
        """
        ...

    def stamp(self, path: str) -> Stamp | None:
        """The document's stamp as it is now, none if that cannot be told. Asked after a read: a stamp that is not the
        listing's says that the bytes may be newer than it. Never raises for a document that is gone.
        """
        ...

    def leaves_out(self, path: str) -> bool:
        """Whether something stands at `path` that the settings leave out. Asked of documents that are not listed."""
        ...

    def place(self) -> bytes | None:
        """What tells this root from another one at the same path (an unmounted disk), if there is such a thing."""
        ...


FormatRule: TypeAlias = "Callable[[str], Format | None]"
"""The format of the document that a path names, none where it never names a document. Asked once a path; pure."""


class SourceFactory(Protocol):
    """Makes sources from configuration."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> Source:
        """A source over `settings`, relative to the folder `root`; `private` are our own files, never documents.

        Raises `ConfigError` naming key, value and choices.
        """
        ...

    def formats(self, settings: Settings) -> FormatRule:
        """The rule by which a source over `settings` tells documents and their formats, as far as names tell.

        For documents that no source lists now: an older commit's, a file somebody names. Opens nothing, needs no
        folder. Raises `ConfigError`.
        """
        ...
