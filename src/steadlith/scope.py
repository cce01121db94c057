"""Places among the documents: where a plan may remove some (`plan --scope`), where a search looks (`search --in`).

Whoever feeds documents in lots means nothing by a missing one, but within the lot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from steadlith_core.records import DocumentId


def allows(scope: Sequence[str], sources: Collection[str], option: str = "--scope") -> Callable[[DocumentId], bool]:
    """Whether a document is in `scope`: entries `SOURCE:PATH`, or `PATH` in any source, as `option` was given them.

    A path names one document or, with or without a slash at its end, all below a folder; an empty one the whole
    source. Without any entry every document is. Raises `UsageError` for an empty entry, and for a source that there
    is not (a path with a colon in it needs its source before it).
    """
    if not scope:
        return lambda _id: True
    places = [_place(entry, sources, option) for entry in scope]

    def is_in(id: DocumentId) -> bool:  # noqa: A002
        return any(
            source in (None, id.source) and (id.path == path or id.path.startswith(path and path + "/"))
            for source, path in places
        )

    return is_in


def _place(entry: str, sources: Collection[str], option: str) -> tuple[str | None, str]:
    source, colon, path = entry.partition(":")
    if colon and source not in sources:
        known = ", ".join(sources)
        raise UsageError(f"{option} {entry!r}: there is no source {source!r}; there are {known}")
    if not entry:
        raise UsageError(f"{option} '': names no place; leave the option out for all documents")
    return (source, path.rstrip("/")) if colon else (None, entry.rstrip("/"))
