"""`steadlith plan` and `apply`: making a plan and doing it."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadlith.cli import options, planfiles, showing
from steadlith.cli.progress import Progress
from steadlith.cli.stopping import stopping
from steadlith_core.planning.overrides import OVERRIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from steadlith.cli.options import Command
    from steadlith.explain import Explained
    from steadlith.index import Index
    from steadlith_core.applying.run import Result
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedDocument


def overrides(command: Command) -> Command:
    """One option for each of `OVERRIDES`."""
    for flag, words in reversed(list(OVERRIDES.items())):
        command = click.option(flag, is_flag=True, help=words)(command)
    return command


class Seconds(click.FloatRange):
    """A time that ends: not negative, not infinite, a number."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read `value`, or fail as a usage error."""
        seconds = float(super().convert(value, param, ctx))
        return seconds if math.isfinite(seconds) else self.fail(f"{value} is not a number of seconds.", param, ctx)


hold = click.option(
    "--hold",
    multiple=True,
    metavar="DOC",
    help="Leave this document as it is recorded, or out: SOURCE:PATH, or PATH of the only source.",
)

workers = options.workers("Processes that may cut documents when there are many; what comes out is the same.")


@click.command()
@options.config
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the plan to this file.")
@click.option("--detailed-exitcode", "--check", "detailed", is_flag=True, help="Exit 2 when there are changes.")
@click.option("--scope", multiple=True, metavar="PLACE", help="Remove documents only here: SOURCE:PATH, or PATH.")
@click.option(
    "--refresh",
    type=click.Choice(["head", "full"]),
    default="head",
    show_default=True,
    help="How closely to compare the index with what it recorded.",
)
@hold
@click.option("--refresh-only", is_flag=True, help="Plan repairs of the index, and nothing else.")
@click.option("--no-stat-cache", is_flag=True, help="Read every document; the plan is the same.")
@workers
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Plan against an exported manifest: no index and no cache is needed.",
)
@click.option("--explain", metavar="DOC", help="Say why each step of this document is taken.")
@click.option(
    "--estimate",
    type=click.Choice(["tokens", "exact"]),
    default="tokens",
    show_default=True,
    help="Estimate the tokens to pay for, or count them by [embedding.tokenizer].",
)
@click.option("--all", "everything", is_flag=True, help="List what is kept, too.")
@click.option("--steps/--no-steps", default=None, help="List every step; by default while they are few.")
@showing.plan_format
@options.json
def plan(
    config: Path,
    out: Path | None,
    scope: tuple[str, ...],
    hold: tuple[str, ...],
    refresh: str,
    against: Path | None,
    explain: str | None,
    estimate: str,
    form: str | None,
    workers: int,
    *,
    detailed: bool,
    everything: bool,
    refresh_only: bool,
    no_stat_cache: bool,
    steps: bool | None,
    json_output: bool,
) -> int:
    """Show what would change, and what it costs.

    Needs no credential and no network, loads no model, and changes nothing.
    """
    import steadlith
    from steadlith_core.records import Level

    form = showing.chosen(form, json_output=json_output)
    if explain is not None and (everything or estimate == "exact"):
        raise click.UsageError("--explain speaks of one document. Leave --all and --estimate exact out.")
    if explain is not None and form == "markdown":
        raise click.UsageError("--explain is printed as text or JSON. Leave --format markdown out.")
    if explain is not None and against is not None:
        raise click.UsageError("--explain needs the index: a manifest holds no texts. Leave --against out.")
    kept: tuple[RecordedDocument, ...] = ()
    found: Explained | None = None
    with steadlith.open(config) as index:
        look = steadlith.Look(Level(refresh), scope, repair_only=refresh_only, held=documents_of(index, hold))
        if explain is not None:
            found = index.explain(explain, look, stat_cache=not no_stat_cache, workers=workers)
            planned = found.plan
        else:
            exact = estimate == "exact"
            planned = index.plan(look, stat_cache=not no_stat_cache, against=against, exact=exact, workers=workers)
            kept = index.kept(planned, against=against) if everything else ()
    if out is not None:
        planfiles.save(out, planned)
    if found is not None:
        _put_explanation(found, form)
    else:
        showing.put(planned, form, steps=steps, kept=kept)
    if out is not None and form == "text":
        click.echo(planfiles.written(out, planned), err=True)
    if planned.tripped:
        return 3
    return 2 if detailed and not planned.is_empty else 0


def _put_explanation(found: Explained, form: str) -> None:
    from steadlith.report import documents, explanation

    if form == "json":
        options.put(documents.dumps(explanation.document(found)))
    else:
        options.show(explanation.text(found))


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options.config
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@overrides
@hold
@click.option("--no-stat-cache", is_flag=True, help="Read every document; what is done is the same.")
@workers
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@click.option(
    "--max-retry-time",
    type=Seconds(),
    help="Seconds for which a failing call to the embedder is made again; by default as configured.",
)
@options.json
def apply(
    file: Path | None,
    config: Path,
    hold: tuple[str, ...],
    lock_timeout: float,
    max_retry_time: float | None,
    workers: int,
    *,
    yes: bool,
    no_stat_cache: bool,
    json_output: bool,
    **allowed: bool,
) -> int:
    """Do what a plan says: the saved plan FILE, or a new one after you said yes.

    A plan FILE is never asked about; it is refused if the index or a planned document moved since. Without FILE,
    documents of which the embedder refuses a text are held back, and the rest is applied.
    """
    import steadlith
    from steadlith.report import documents, sentences, text
    from steadlith_core.errors import InputRefused

    if file is not None and hold:
        raise click.UsageError("--hold is for a new plan; a saved one says itself what it holds. Plan again with it.")
    allow = frozenset(f"--{name.replace('_', '-')}" for name, given in allowed.items() if given)
    refused: tuple[str, ...] = ()
    with stopping() as stop, steadlith.open(config) as index:
        look = partial(index.plan, stat_cache=not no_stat_cache, workers=workers)
        ask = partial(_plan_and_ask, look, allow, yes=yes, json_output=json_output)
        planned = planfiles.load(file) if file is not None else ask(documents_of(index, hold))
        while True:
            stop.gently()
            do = partial(
                index.apply,
                planned,
                allow=allow,
                lock_timeout=lock_timeout,
                max_retry_time=max_retry_time,
                stat_cache=not no_stat_cache,
                workers=workers,
                report=Progress(),
                stop_requested=stop.requested,
            )
            try:
                done = do() if file is not None or not planned.is_empty else _remember(do, index)
                break
            except InputRefused as error:
                # Under another model what is held and recorded is embedded anew: holding it again helps nothing.
                if file is not None or not set(error.documents) - set(map(str, planned.held)):
                    raise
                refused += error.documents
                stop.at_once()
                click.echo(text.clean(sentences.going_on(error.documents)), err=True)
                planned = ask((*planned.held, *documents_of(index, error.documents)))
    if json_output:
        options.put(documents.dumps(documents.result(done, planned.held)))
    elif file is not None or not planned.is_empty:
        options.show(text.result(done))
    if refused:
        click.echo(f"Error: {text.clean(sentences.held_back(refused))}", err=True)
    return 1 if refused else 0


def _plan_and_ask(
    look: Callable[..., Plan],
    allow: frozenset[str],
    held: tuple[DocumentId, ...],
    *,
    yes: bool,
    json_output: bool,
) -> Plan:
    """A new plan, shown and agreed to."""
    import steadlith
    from steadlith.report import sentences, text
    from steadlith_core.applying.recheck import guard_problem
    from steadlith_core.errors import GuardRefused

    planned = look(look=steadlith.Look(held=held))
    if not json_output:
        tripped = tuple(each for each in planned.tripped if each.override not in allow)
        shown = replace(planned, tripped=tripped)
        options.show(text.plan(shown, steps=None, hint="steadlith plan --steps"))
    problem = guard_problem(planned, allow)
    if problem is not None:
        raise problem if json_output else GuardRefused(sentences.refused(planned.tripped, allow))
    if not planned.is_empty:
        approve(yes=yes, json_output=json_output)
    return planned


def documents_of(index: Index, names: Iterable[str]) -> tuple[DocumentId, ...]:
    """The documents that were named."""
    names = tuple(names)
    if not names:
        return ()  # and nothing is loaded
    from steadlith.explain import document_id

    return tuple(document_id(name, index.config.sources) for name in names)


def _remember(do: Callable[[], Result], index: Index) -> Result:
    """Nothing is to be done; that it cannot even be remembered, where nothing may be written or another one writes, is
    no failure.
    """
    from steadlith_core.applying.run import Result
    from steadlith_core.errors import AdapterError, LockHeld

    try:
        return do()
    except (AdapterError, LockHeld):
        return Result(index.head(), already=False, embedded=0, cached=0, unchanged=True)


def approve(*, yes: bool, json_output: bool) -> None:
    """Ask for a yes, unless it was given. `ApprovalMissing` without one."""
    from steadlith_core.errors import ApprovalMissing

    if yes:
        return
    if json_output or not sys.stdin.isatty():
        raise ApprovalMissing("there are changes and nobody to ask: pass --yes, or save a plan and apply that file")
    if not click.confirm("\nApply this plan?", err=True):
        raise ApprovalMissing("not applied")
