"""What is to be imported, and which reader reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.foreign import jsonl, langchain, steadlith1
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from steadlith.foreign.rows import Reading

FORMS = ("jsonl", "langchain", "steadlith-1")
PATH_KEY = "source"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be imported: files of a `form`, the documents of which are of `source` (of the only one).

    A document's path is the metadata's `path_key`, without what it begins with (`strip`). `records` is LangChain's SQL
    record manager and `namespace` the one that is meant, `cache` the cache of steadlith 1.x. With `only_found`
    documents stay out of which not every chunk stands in the source as it is today.
    """

    form: str
    files: tuple[Path, ...]
    source: str | None = None
    path_key: str = PATH_KEY
    strip: str = ""
    records: Path | None = None
    namespace: str | None = None
    cache: Path | None = None
    only_found: bool = False


def reading(request: Request, dimensions: int) -> Reading:
    """What reads files of this form. Raises `UsageError` for what the form has not."""
    files = request.files
    if request.form not in FORMS:
        raise UsageError(f"--from {request.form!r}: choose from {', '.join(FORMS)}")
    for option, value, form in (
        ("--record-manager", request.records, "langchain"),
        ("--namespace", request.namespace, "langchain"),
        ("--cache", request.cache, "steadlith-1"),
    ):
        if value is not None and request.form != form:
            raise UsageError(f"{option} is for --from {form}, not for {request.form}")
    if request.namespace is not None and request.records is None:
        raise UsageError("--namespace is one of a record manager's: name its file with --record-manager")
    if not files:
        raise UsageError("say which FILE to import")
    match request.form:
        case "steadlith-1":
            if len(files) != 1:
                raise UsageError(f"an index of steadlith 1.x is one FILE, not {len(files)}; its cache is --cache FILE")
            return steadlith1.Index(files[0], dimensions, request.cache)
        case "langchain":
            return langchain.Export(files, dimensions, request.path_key, request.records, request.namespace)
        case _:
            return jsonl.Lines(files, dimensions, request.path_key)


def source(request: Request, names: Collection[str]) -> str:
    """The source that the documents are of. Raises `UsageError` for one that there is not."""
    if request.source is None and len(names) == 1:
        return next(iter(names))
    if request.source is None or request.source not in names:
        what = "say which source the documents are of" if request.source is None else f"--source {request.source!r}"
        raise UsageError(f"{what}: there are {', '.join(names)}")
    return request.source
