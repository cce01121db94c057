"""`steadlith cache`: what is in the embedding cache, what goes, and how it travels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadlith.cli import options

if TYPE_CHECKING:
    from steadlith.cachecheck import Compared
    from steadlith.index import Index
    from steadlith_core.ports import Reader

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
UNITS |= {"tib": 2**40}


class Size(click.ParamType[int]):
    """A number of bytes: `500000000`, `500MB`, `2GiB`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read `value`, or fail as a usage error."""
        written = re.fullmatch(r"([0-9]{1,30}) ?([a-zA-Z]*)", str(value))
        if written is None or written[2].lower() not in UNITS:
            self.fail(f"{value!r} is no size: expected a number of bytes, 500MB or 2GiB.", param, ctx)
        return int(written[1]) * UNITS[written[2].lower()]


@click.group()
def cache() -> None:
    """The embedding cache: every vector that was paid for, by the text that it was made of."""


@cache.command()
@options.config
@options.json
def stats(config: Path, *, json_output: bool) -> None:
    """Count what is there: entries, bytes, dimensions, imported entries, days of use."""
    import steadlith
    from steadlith.report import cache as report
    from steadlith.report import cachedocuments, documents

    with steadlith.open(config) as index:
        found = index.cache.stats()
    if json_output:
        options.put(documents.dumps(cachedocuments.stats(found)))
    else:
        options.show(report.stats(found))


@cache.command()
@options.config
@click.option(
    "--unused-days", type=click.IntRange(min=1), metavar="N", help="Entries that no apply used for N days or more."
)
@click.option(
    "--max-bytes", type=Size(), metavar="SIZE", help="The least recently used, until the vectors take at most SIZE."
)
@click.option("--imported", is_flag=True, help="Entries that came out of a file.")
@click.option("--yes", "-y", is_flag=True, help="Remove them; without it they are only counted.")
@options.json
def prune(
    config: Path, unused_days: int | None, max_bytes: int | None, *, imported: bool, yes: bool, json_output: bool
) -> None:
    """Say which entries would go, or with --yes remove them and give their space back.

    An entry goes if any of the options names it. What is needed again is embedded again.
    """
    import steadlith
    from steadlith import caching
    from steadlith.report import cache as report
    from steadlith.report import cachedocuments, documents

    rule = caching.rule(unused_days=unused_days, max_bytes=max_bytes, imported=imported)
    with steadlith.open(config) as index:
        found = index.cache.prune(rule, do=yes)
    if json_output:
        options.put(documents.dumps(cachedocuments.pruned(found)))
    else:
        options.show(report.pruned(found))


@cache.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@options.config
@options.json
def export(file: Path, config: Path, *, json_output: bool) -> None:
    """Write all sound entries to FILE: the same bytes for the same entries, everywhere."""
    import steadlith
    from steadlith.report import cache as report
    from steadlith.report import cachedocuments, documents

    with steadlith.open(config) as index:
        found = index.cache.export(file)
    if json_output:
        options.put(documents.dumps(cachedocuments.exported(found, file)))
    else:
        options.show(report.exported(found, file))


@cache.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@options.config
@click.option("--trust", is_flag=True, help="You know who made FILE; no checksum shows a vector of another text.")
@options.json
def import_(file: Path, config: Path, *, trust: bool, json_output: bool) -> None:
    """Keep the entries of FILE that are not there yet, marked as imported.

    Nothing is kept unless all of FILE is sound, and no intact entry is replaced.
    """
    import steadlith
    from steadlith.cli.progress import Counted
    from steadlith.report import cache as report
    from steadlith.report import cachedocuments, documents

    with steadlith.open(config) as index:
        found = index.cache.load(file, trust=trust, told=Counted("Imported", "entries"))
    if json_output:
        options.put(documents.dumps(cachedocuments.imported(found, file)))
    else:
        options.show(report.imported(found, file))


@cache.command()
@options.config
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N", help="Also embed N texts of the index again, and compare."
)
@click.option("--repair", is_flag=True, help="Drop what is found, so that it is embedded anew when it is needed.")
@click.option("--yes", "-y", is_flag=True, help="Pay for the sample without being asked.")
@options.json
def verify(config: Path, sample: int | None, *, repair: bool, yes: bool, json_output: bool) -> int:
    """Check every entry against its checksum; exit 2 if any is damaged and not repaired.

    A vector that was replaced together with its checksum is found by --sample alone.
    """
    import steadlith
    from steadlith.report import cache as report
    from steadlith.report import cachedocuments, documents

    with steadlith.open(config) as index:
        checked = index.cache.check()
        compared = None
        if sample is not None:
            with index.reader() as reader:
                compared = _compared(index, reader, sample, yes=yes)
        bad = [kept.key for kept in checked.damaged]
        bad += [astray.asked.key for astray in compared.cache] if compared else []
        dropped = index.cache.drop(bad) if repair else None
    if json_output:
        options.put(documents.dumps(cachedocuments.verified(checked, compared, dropped)))
    else:
        options.show(report.verified(checked, compared, dropped))
    return 2 if (bad and not repair) or (compared and compared.index) else 0


def _compared(index: Index, reader: Reader, count: int, *, yes: bool) -> Compared:
    from steadlith.cli.progress import Counted
    from steadlith.report import sentences
    from steadlith_core.errors import ApprovalMissing

    drawn = index.cache.draw(reader, count)
    price = f"{sentences.tokens(drawn.cost)}, {sentences.money(drawn.cost)}"
    click.echo(f"Embedding {len(drawn.asked):,} texts again: {price}", err=True)
    if not (yes or drawn.cost.local):
        raise ApprovalMissing("a sample is paid for: pass --yes if you mean it")
    return index.cache.compare(reader, drawn, Counted("Embedded", "texts"))
