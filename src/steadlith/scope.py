"""The scope of a plan: where documents may be removed (`plan --scope`).

Whoever feeds documents in lots means nothing by a missing one, but within the lot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from steadlith_core.records import DocumentId


def allows(scope: Sequence[str], sources: Collection[str]) -> Callable[[DocumentId], bool]:
    """Whether a document may be removed under `scope`: entries `SOURCE:PATH`, or `PATH` in any source.

    A path names one document or, with or without a slash at its end, all below a folder; an empty one the whole source.
    Without any entry everything may. Raises `UsageError` for an empty entry, and for a source that there is not (a path
    with a colon in it needs its source before it).
    """
    if not scope:
        return lambda _id: True
    places = [_place(entry, sources) for entry in scope]

    def may_go(id: DocumentId) -> bool:  # noqa: A002
        return any(
            source in (None, id.source) and (id.path == path or id.path.startswith(path and path + "/"))
            for source, path in places
        )

    return may_go


def _place(entry: str, sources: Collection[str]) -> tuple[str | None, str]:
    source, colon, path = entry.partition(":")
    if colon and source not in sources:
        raise UsageError(f"--scope {entry!r}: there is no source {source!r}; there are {', '.join(sources)}")
    if not entry:
        raise UsageError("--scope '': names no place; leave the option out to let documents go anywhere")
    return (source, path.rstrip("/")) if colon else (None, entry.rstrip("/"))
