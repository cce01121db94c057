"""`steadlith measure churn`: what a history would have cost, by policy and chunk size."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from steadlith.cli import options, planfiles, policies
from steadlith.cli.progress import Counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith.churn import Churn, Contender
    from steadlith_core.planning.cost import Price
    from steadlith_core.policies import Chunker

SIZES = "128-384,160-480,256-640"
LEAST, MOST = "min_tokens", "max_tokens"
PLOTS = (".svg", ".html")


def _sizes(_context: click.Context, _parameter: click.Parameter, given: str) -> tuple[tuple[int, int], ...]:
    pairs = [re.fullmatch(r"\s*([0-9]{1,7})-([0-9]{1,7})\s*", each) for each in given.split(",")]
    if not all(pairs):
        raise click.BadParameter(f"{given!r}: expected pairs of least and most tokens, as in {SIZES}")
    return tuple((int(pair[1]), int(pair[2])) for pair in pairs if pair)


def _money(_context: click.Context, _parameter: click.Parameter, given: str | None) -> Decimal | None:
    from steadlith.config import PRICE_LIMIT

    if given is None:
        return None
    try:
        money = Decimal(given)
    except InvalidOperation:
        money = Decimal("NaN")
    if not money.is_finite() or not 0 <= money < PRICE_LIMIT:
        raise click.BadParameter(f"{given!r}: expected a number from 0 up, less than {PRICE_LIMIT}")
    return money


@click.group()
def measure() -> None:
    """Measure policies on documents of your own; changes nothing."""


@measure.command()
@click.option(
    "--history",
    "place",
    required=True,
    type=click.Path(path_type=Path),
    help="A git repository (bare or not), or a folder whose sub-folders are snapshots.",
)
@click.option(
    "--policy",
    "names",
    multiple=True,
    help="A chunking policy, as often as there are; by default the configuration's, else structural.",
)
@click.option("--sizes", callback=_sizes, default=SIZES, show_default=True, help="Least and most tokens of a chunk.")
@options.settings
@click.option("--commits", type=click.IntRange(min=1), help="Only the last so many commits or snapshots.")
@click.option("--since", help="Only what came after this commit.")
@click.option("--path", "below", default="", help="Only this folder of the history.")
@click.option(
    "--price-per-million",
    metavar="PRICE",
    callback=_money,
    help="Of a million tokens; by default the configuration's price.",
)
@click.option("--currency", help="Of the price.  [default: USD]")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw it too: FILE.svg or FILE.html.")
@options.config_if_any
@options.json
def churn(
    place: Path,
    names: tuple[str, ...],
    sizes: tuple[tuple[int, int], ...],
    settings: Mapping[str, Any],
    commits: int | None,
    since: str | None,
    below: str,
    price_per_million: Decimal | None,
    currency: str | None,
    plot: Path | None,
    *,
    config: Path | None,
    json_output: bool,
) -> None:
    """Replay a history and show what its edits would have cost, by policy and chunk size.

    Every distinct chunk text counts once; what comes after the first snapshot is churn. A policy takes of --sizes what
    it has. Nothing is checked out or written but --plot.
    """
    from steadlith import cutting
    from steadlith.churn import measure as replay
    from steadlith.history import Stretch, history
    from steadlith.report import churn as report
    from steadlith.report import documents
    from steadlith_core.errors import UsageError

    if commits is not None and since is not None:
        raise UsageError("--commits and --since say the same thing in two ways; pass one of them")
    if plot is not None:
        _check_plot(plot)
    stretch = Stretch(commits, since, _below(below))
    price = _price(price_per_million, currency, config, named=bool(names))
    contenders = _contenders(names, config, settings, sizes)
    with history(place, stretch, cutting.usual_formats()) as found:
        measured = replay(found, contenders, Counted("Replayed", "snapshots"))
    if plot is not None:
        planfiles.write(plot, _drawn(measured, price, plot), "--plot")
        click.echo(f"Plot written to {plot}", err=True)
    if json_output:
        options.put(documents.dumps(documents.churn(measured, price)))
    else:
        options.show(report.table(measured, price))


def _contenders(
    names: Sequence[str], config: Path | None, settings: Mapping[str, Any], sizes: Sequence[tuple[int, int]]
) -> list[Contender]:
    """Every policy under each of the sizes; as the configuration has it too, and once as it is if it has no sizes.

    A table of `settings` under the name of a policy is for that policy alone.
    """
    from steadlith import cutting
    from steadlith.churn import Contender

    shared = {key: value for key, value in settings.items() if key not in names}
    made: dict[str, Contender] = {}
    for asked in names or (None,):
        name, table, root = policies.chosen(asked, config)
        above = policies.merged(shared, settings[name] if name in names and name in settings else {})
        given = policies.merged(table, above)
        taken = _takes(name, given, root) - above.keys()
        variants = [dict(zip((LEAST, MOST), pair, strict=True)) for pair in sizes] if taken else []
        for size in variants if variants and not table else [{}, *variants]:
            chunker = cutting.policy(name, given | {key: size[key] for key in size.keys() & taken}, root)
            label = _label(name, chunker)
            made.setdefault(label, Contender(name, label, chunker))
    return list(made.values())


def _takes(name: str, given: Mapping[str, Any], root: str) -> set[str]:
    """Which of the two sizes a policy has."""
    from steadlith import cutting
    from steadlith_core.errors import ConfigError

    try:
        chunker = cutting.policy(name, {})
    except ConfigError:  # a setting of it has no default
        chunker = cutting.policy(name, given, root)
    return {LEAST, MOST} & chunker.params.keys()


def _label(name: str, chunker: Chunker) -> str:
    """A policy with what it says about sizes."""
    sizes = [str(chunker.params[key]) for key in (LEAST, MOST) if key in chunker.params]
    return " ".join([name, *(["-".join(sizes)] if sizes else [])])


def _price(per_million: Decimal | None, currency: str | None, config: Path | None, *, named: bool) -> Price | None:
    from steadlith_core.errors import UsageError
    from steadlith_core.planning.cost import Price

    if per_million is not None:
        return Price(per_million, currency or "USD", None)
    if currency is not None:
        raise UsageError(f"--currency {currency}: of which price? pass --price-per-million too")
    found = None if named and config is None else policies.configuration(config)
    return found.embedding.price if found else None


def _below(path: str) -> str:
    """A folder of the history, as git writes it."""
    from steadlith_core.errors import UsageError

    folder = PurePosixPath(path)
    if folder.is_absolute() or ".." in folder.parts or "\0" in path:
        raise UsageError(f"--path {path!r}: expected a folder inside the history, relative to its top")
    return "" if folder == PurePosixPath() else str(folder)


def _check_plot(plot: Path) -> None:
    """Fail before the replay, not after it."""
    from steadlith_core.errors import UsageError

    if plot.suffix.lower() not in PLOTS:
        raise UsageError(f"--plot {plot}: the name ends in {' or '.join(PLOTS)}")
    if not plot.parent.is_dir():
        raise UsageError(f"--plot {plot}: there is no folder {plot.parent}")


def _drawn(measured: Churn, price: Price | None, plot: Path) -> str:
    from steadlith.report import churnplot

    return churnplot.html(measured, price) if plot.suffix.lower() == ".html" else churnplot.svg(measured)
