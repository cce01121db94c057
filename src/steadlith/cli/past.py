"""`steadlith history`, `tag` and `restore`: what is kept of the past."""

from __future__ import annotations

from pathlib import Path

import click

from steadlith.cli import options, planfiles
from steadlith.cli.changes import Seconds


@click.command()
@options.config
@click.option("-n", "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Most to list; 0: all.")
@options.json
def history(config: Path, limit: int, *, json_output: bool) -> None:
    """List the kept generations, newest first: when, why, what was done, roots, and what changed of the recipe."""
    import steadlith
    from steadlith.report import documents, generations

    with steadlith.open(config) as index:
        kept, tags = index.history(), index.generations.tags()
    if json_output:
        options.put(documents.dumps(generations.document(kept, tags, limit or None)))
    else:
        options.show(generations.lines(kept, tags, limit or None))


@click.command()
@click.argument("generation", required=False)
@click.argument("name", required=False)
@options.config
@click.option("--delete", metavar="NAME", help="Take a name away.")
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def tag(
    generation: str | None,
    name: str | None,
    config: Path,
    delete: str | None,
    lock_timeout: float,
    *,
    json_output: bool,
) -> None:
    """Give GENERATION (12, head, head~1 or a name) the NAME; without both, list the names.

    What has a name is not compacted away, nor is anything that came later.
    """
    import steadlith
    from steadlith.report import documents, generations

    if (generation is None) != (name is None):
        raise click.UsageError(f"{generation}: say which NAME it is given.")
    if delete is not None and name is not None:
        raise click.UsageError("--delete takes a name away; give one in another call.")
    with steadlith.open(config) as index:
        past = index.generations
        if delete is not None:
            past.untag(delete, lock_timeout=lock_timeout)
        elif generation is not None and name is not None:
            past.tag(name, past.find(generation), lock_timeout=lock_timeout)
        tags = past.tags()
    if json_output:
        options.put(documents.dumps(generations.names_document(tags)))
    else:
        options.show(generations.names(tags))


@click.command()
@click.argument("document", metavar="DOC")
@options.config
@click.option("--at", default="head", show_default=True, metavar="GENERATION", help="12, head, head~1 or a name.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@options.json
def restore(document: str, config: Path, at: str, out: Path | None, *, json_output: bool) -> None:
    """Print the text of DOC as a kept generation has it: canonical, without front matter.

    DOC is source:path, or a path where there is one source.
    """
    import steadlith
    from steadlith.report import documents, generations

    with steadlith.open(config) as index:
        past = index.generations
        number = past.find(at)
        text = past.restore(document, at=number)
    if out is not None:
        planfiles.write(out, f"{text}\n")
    if json_output:
        options.put(documents.dumps(generations.restored(document, number, text)))
    elif out is None:
        options.put_text(text)
