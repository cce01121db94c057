"""`steadlith status`, `search` and `verify`: commands that only read the index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steadlith.cli import options

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith_core.digest import Digest


@click.command()
@options.config
@options.json
def status(config: Path, *, json_output: bool) -> None:
    """Show the committed state: generation, roots, counts, embedding spaces."""
    import steadlith
    from steadlith.report import documents, text

    with steadlith.open(config) as index:
        head = index.head()
    if json_output:
        options.put(documents.dumps(documents.status(head)))
    else:
        options.show(text.status(head))


@click.command()
@click.argument("query")
@options.config
@click.option("-k", "--limit", type=int, default=10, show_default=True, help="Most hits to return.")
@options.json
def search(query: str, config: Path, limit: int, *, json_output: bool) -> None:
    """Search for QUERY: by meaning and by words, with exact source spans.

    Put -- before a QUERY that begins with a dash.
    """
    import steadlith
    from steadlith.report import documents, text

    with steadlith.open(config) as index:
        found = index.search(query, limit=limit, parents=json_output)
    if json_output:
        options.put(documents.dumps(documents.answer(found)))
    else:
        options.show(text.answer(found))


@click.command()
@options.config
@click.option("--root", help="The corpus root that the index must have (b3:...).")
@click.option("--state-root", help="The state root that the index must have (b3:...).")
@options.json
def verify(config: Path, root: str | None, state_root: str | None, *, json_output: bool) -> int:
    """Recompute every root from what is stored; exit 2 if anything differs.

    No index is a difference too, unless you pin the roots of an empty one.
    """
    import steadlith
    from steadlith.report import documents, text

    with steadlith.open(config) as index:
        found = index.verify(root=_digest("--root", root), state_root=_digest("--state-root", state_root))
    pinned = root is not None or state_root is not None
    if found.generation == 0 and not (pinned and found.ok):
        missing = f"There is no index yet: run `steadlith apply`, or look at [store] in {config}"
        found = replace(found, problems=(missing, *found.problems))
    if json_output:
        options.put(documents.dumps(documents.verification(found)))
    else:
        options.show(text.verification(found))
    return 0 if found.ok else 2


def _digest(option: str, given: str | None) -> Digest | None:
    from steadlith_core.digest import Digest
    from steadlith_core.errors import UsageError

    try:
        return None if given is None else Digest.parse(given)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
