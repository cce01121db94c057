"""`steadlith import`: adopt what another program cut and embedded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options
from steadlith.cli.changes import Seconds, approve
from steadlith.cli.progress import Counted, Progress
from steadlith.cli.stopping import stopping
from steadlith_core.planning.overrides import LARGE, OVERRIDES

if TYPE_CHECKING:
    from steadlith.imports import Import
    from steadlith.index import Index

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_file)
@options.config
@click.option(
    "--from",
    "form",
    required=True,
    type=click.Choice(["jsonl", "langchain", "steadlith-1"]),
    help="Whose files they are.",
)
@click.option("--source", metavar="NAME", help="The source that the documents are of; by default the only one.")
@click.option(
    "--path-key", default="source", show_default=True, metavar="KEY", help="The metadata that say a document's path."
)
@click.option("--strip", default="", metavar="PREFIX", help="What paths begin with that is no part of them here.")
@click.option("--record-manager", type=_file, metavar="FILE", help="LangChain's SQL record manager, a SQLite file.")
@click.option("--namespace", metavar="NAME", help="Which of the record manager's namespaces; by default the only one.")
@click.option("--cache", type=_file, metavar="FILE", help="The cache of steadlith 1.x, for damaged rows.")
@click.option("--only-found", is_flag=True, help="Leave out documents that are not in their source as they were cut.")
@click.option("--same-model", is_flag=True, help="The configured model made these vectors: you know that it did.")
@click.option("--apply", "do", is_flag=True, help="Do it; without, show what it would do.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(LARGE, "large", is_flag=True, help=OVERRIDES[LARGE])
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def import_(
    files: tuple[Path, ...],
    config: Path,
    form: str,
    source: str | None,
    path_key: str,
    strip: str,
    record_manager: Path | None,
    namespace: str | None,
    cache: Path | None,
    lock_timeout: float,
    *,
    only_found: bool,
    same_model: bool,
    do: bool,
    yes: bool,
    large: bool,
    json_output: bool,
) -> int:
    """Show what adopting the chunks and vectors in FILE... would do, and do it with --apply.

    Nothing is embedded: texts and vectors become part of the index as they are, until their document changes. Exit 1 if
    nothing of the files can be imported.
    """
    import steadlith
    from steadlith.imports import Request
    from steadlith.report import documents, importing

    request = Request(form, files, source, path_key, strip, record_manager, namespace, cache, only_found)
    with steadlith.open(config) as index:
        found = index.imports.preview(request)
        if not json_output:
            options.show(importing.preview(found, asked=do))
        elif not do or found.is_nothing:
            options.put(documents.dumps(importing.document(found)))
        if do and not found.is_nothing:
            index.imports.confirm(found, same_model=same_model)
            approve(yes=yes, json_output=json_output)
            _do(index, found, lock_timeout, large=large, json_output=json_output)
    return 1 if found.is_of_no_use else 0


def _do(index: Index, found: Import, lock_timeout: float, *, large: bool, json_output: bool) -> None:
    from steadlith.report import documents, importing

    with stopping() as stop:
        stop.gently()
        done = index.imports.apply(
            found,
            same_model=True,
            allow={LARGE} if large else (),
            lock_timeout=lock_timeout,
            told=Counted("Kept", "vectors"),
            report=Progress(),
            stop_requested=stop.requested,
        )
    if json_output:
        options.put(documents.dumps(importing.result_document(found, done)))
    else:
        options.show(importing.result(found, done))
