"""`steadlith init`: a commented configuration to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steadlith.cli import options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("folder", required=False)
@click.option("--embedder", help="The embedder; by default `use` where it is installed, else `hash`.")
@click.option("--force", is_flag=True, help="Replace an existing configuration.")
@options.config
@options.json
def init(folder: str | None, embedder: str | None, config: Path, *, force: bool, json_output: bool) -> None:
    """Write a steadlith.toml for the documents in FOLDER.

    FOLDER is relative to the configuration file; by default `docs` where there is such a folder, else all of it.
    """
    from steadlith.report import documents
    from steadlith.starter import start

    started = start(config, folder, embedder, force=force)
    if json_output:
        options.put(documents.dumps(documents.init(config, started.embedder, started.why)))
        return
    options.show(
        [
            ("bold green", f"Wrote {config}"),
            ("", f"Source:   docs, the folder {started.folder!r}"),
            ("", f"Embedder: {started.embedder} ({started.why})"),
            ("", "Next:     steadlith plan"),
        ]
    )
