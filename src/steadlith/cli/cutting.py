"""`steadlith chunk`: how files are cut, without an index."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options, policies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from steadlith.cutting import CutDocument
    from steadlith_core.errors import SteadlithError
    from steadlith_core.policies import Chunker
    from steadlith_core.ports import FormatRule
    from steadlith_core.records import Format

STDIN = "-"
FORMATS = ("markdown", "rst", "text", "code")


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--policy", help="The chunking policy; by default the configuration's, else structural.")
@options.settings
@click.option("--format", "given", type=click.Choice(FORMATS), help="The grammar; by default that of the name.")
@click.option("--text", "texts", is_flag=True, help="Show the text with the cuts in it.")
@options.config_if_any
@options.json
def chunk(
    files: tuple[str, ...],
    policy: str | None,
    settings: Mapping[str, Any],
    given: str | None,
    config: Path | None,
    *,
    texts: bool,
    json_output: bool,
) -> int:
    """Show how each FILE is cut: boundaries, levels, sizes, hashes.

    FILE may be - for standard input. Needs no configuration and no index, and changes nothing. A FILE that cannot be
    cut is an error, and the others are shown.
    """
    from steadlith import cutting
    from steadlith.report import chunks, documents
    from steadlith_core.errors import SteadlithError
    from steadlith_core.records import Format

    name, table, root = policies.chosen(policy, config)
    chunker = cutting.policy(name, policies.merged(table, settings), root)
    formats = cutting.usual_formats()
    cut: list[CutDocument] = []
    failed: list[tuple[str, SteadlithError]] = []
    for file in files:
        try:
            document = _cut(chunker, file, Format(given) if given else None, formats)
        except SteadlithError as error:
            failed.append((file, error))
            options.complain(error, f"Error: {file}: ")
            continue
        if not json_output:
            options.draw([()] if cut else [])
            options.draw((chunks.text if texts else chunks.cuts)(document, chunker))
        cut.append(document)
    if json_output:
        options.put(documents.dumps(documents.chunks(chunker, cut, failed, texts=texts)))
    return 1 if failed else 0


def _cut(chunker: Chunker, file: str, given: Format | None, formats: FormatRule) -> CutDocument:
    from steadlith import cutting
    from steadlith_core.errors import DocumentError
    from steadlith_core.records import FindingKind, Format

    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise DocumentError(FindingKind.UNREADABLE_FILE, error.strerror or str(error)) from error
    except ValueError as error:  # a name that no file can have
        raise DocumentError(FindingKind.UNREADABLE_FILE, str(error)) from error
    return cutting.cut_document(chunker, file, given or formats(Path(file).name) or Format.TEXT, content)
