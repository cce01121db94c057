"""`steadlith status`, `search` and `verify`: commands that only read the index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options
from steadlith.cli.offline import LOCK, digest

if TYPE_CHECKING:
    from steadlith.verify import Pinned, Verification


@click.command()
@options.config
@options.json
def status(config: Path, *, json_output: bool) -> None:
    """Show the committed state: generation, roots, counts, embedding spaces."""
    import steadlith
    from steadlith.report import documents, text

    with steadlith.open(config) as index:
        head, begun = index.head(), index.migrations.on_its_way()
    if json_output:
        options.put(documents.dumps(documents.status(head, begun)))
    else:
        options.show(text.status(head, begun))


@click.command()
@click.argument("query")
@options.config
@click.option("-k", "--limit", type=int, default=10, show_default=True, help="Most hits to return.")
@click.option(
    "--in", "places", multiple=True, metavar="PLACE", help="Only documents there: SOURCE:PATH, or PATH (repeatable)."
)
@click.option("--exact", is_flag=True, help="Compare every vector, whatever the store would spare.")
@click.option("--at", metavar="GENERATION", help="Search a kept generation as it was: 12, head~1 or a name.")
@options.json
def search(
    query: str, config: Path, limit: int, places: tuple[str, ...], at: str | None, *, exact: bool, json_output: bool
) -> None:
    """Search for QUERY: by meaning and by words, with exact source spans.

    Put -- before a QUERY that begins with a dash.
    """
    import steadlith
    from steadlith.report import documents, text

    with steadlith.open(config) as index:
        number = None if at is None else index.generations.find(at)
        found = index.search(query, limit=limit, parents=json_output, places=places, exact=exact, at=number)
    if found.note is not None:
        click.echo(text.clean(f"Note: {found.note}"), err=True)
    if json_output:
        options.put(documents.dumps(documents.answer(found)))
    else:
        options.show(text.answer(found))


@click.command()
@options.config
@click.option("--root", help="The corpus root that the index must have (b3:...).")
@click.option("--state-root", help="The state root that the index must have (b3:...).")
@click.option(
    "--locked",
    is_flag=False,
    flag_value=LOCK,
    metavar="[FILE]",
    help="Compare with a lock file; steadlith.lock if no FILE is named.",
)
@click.option("--manifest", type=click.Path(path_type=Path), help="Verify this manifest instead of the index.")
@click.option(
    "--refresh",
    type=click.Choice(["head", "full"]),
    help="How much to read: the head and what it vouches for, or everything (the default).",
)
@options.workers("Processes that may look at a large index; what is found is the same.")
@options.json
def verify(
    config: Path,
    root: str | None,
    state_root: str | None,
    locked: str | None,
    manifest: Path | None,
    refresh: str | None,
    workers: int,
    *,
    json_output: bool,
) -> int:
    """Recompute every root from what is stored; exit 2 if anything differs.

    No index is a difference too, unless you pin the roots of an empty one.
    """
    from steadlith.lockfile import load
    from steadlith.report import documents, text
    from steadlith.verify import Pinned
    from steadlith_core.errors import UsageError

    pinned = Pinned(
        root=digest("--root", root),
        state_root=digest("--state-root", state_root),
        lock=None if locked is None else load(Path(locked)),
    )
    if manifest is not None:
        if refresh is not None:
            raise UsageError(f"--refresh {refresh}: a manifest is always read whole; leave it out")
        return _verify_manifest(manifest, pinned, json_output=json_output)
    found = _verify_index(config, pinned, refresh or "full", workers)
    if json_output:
        options.put(documents.dumps(documents.verification(found)))
    else:
        options.show(text.verification(found))
    return 0 if found.ok else 2


def _verify_index(config: Path, pinned: Pinned, refresh: str, workers: int) -> Verification:
    import steadlith
    from steadlith.verify import Pinned, verify
    from steadlith_core.records import Level

    with steadlith.open(config) as index, index.reader() as reader:
        found = verify(
            reader,
            root=pinned.root,
            expected_state_root=pinned.state_root,
            lock=pinned.lock,
            level=Level(refresh),
            workers=workers,
        )
    if found.generation == 0 and not (pinned != Pinned() and found.ok):
        missing = f"There is no index yet: run `steadlith apply`, or look at [store] in {config}"
        found = replace(found, problems=(missing, *found.problems))
    return found


def _verify_manifest(file: Path, pinned: Pinned, *, json_output: bool) -> int:
    from steadlith import manifests
    from steadlith.report import documents, offline, offlinedocuments
    from steadlith.verify import verify_manifest

    found = verify_manifest(manifests.load(file), pinned)
    if json_output:
        options.put(documents.dumps(offlinedocuments.verification(found, file)))
    else:
        options.show(offline.verification(found, file))
    return 0 if found.ok else 2
