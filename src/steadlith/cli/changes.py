"""`steadlith plan`, `show` and `apply`: the three commands around a plan."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadlith.cli import options, planfiles
from steadlith.cli.progress import Progress
from steadlith.cli.stopping import stopping

if TYPE_CHECKING:
    from steadlith.cli.options import Command

OVERRIDES = {
    "--allow-removals": "Let many documents, a folder or many chunks go.",
    "--allow-empty": "Let a source go from some documents to none.",
    "--allow-model-change": "Let every chunk be embedded anew.",
    "--allow-cost": "Let the budget of [guards] paid_tokens be exceeded.",
}
"""The options that override guards, each with its help."""


def overrides(command: Command) -> Command:
    """One option for each of `OVERRIDES`."""
    for flag, words in reversed(OVERRIDES.items()):
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


@click.command()
@options.config
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the plan to this file.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit 2 when there are changes.")
@click.option("--steps/--no-steps", default=None, help="List every step; by default while they are few.")
@options.json
def plan(config: Path, out: Path | None, *, detailed_exitcode: bool, steps: bool | None, json_output: bool) -> int:
    """Show what would change, and what it costs.

    Needs no credential and no network, loads no model, and changes nothing.
    """
    import steadlith
    from steadlith.report import documents, text
    from steadlith_core.planning import planfile

    with steadlith.open(config) as index:
        planned = index.plan()
    if out is not None:
        planfiles.write(out, planfile.dump(planned))
    if json_output:
        options.put(documents.dumps(documents.plan(planned)))
    else:
        options.show(text.plan(planned, steps=steps))
        if out is not None:
            click.echo(f"Plan written to {out}; apply exactly this with: steadlith apply {out}", err=True)
    if planned.tripped:
        return 3
    return 2 if detailed_exitcode and not planned.is_empty else 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--steps/--no-steps", default=None, help="List every step; by default while they are few.")
@options.json
def show(file: Path, *, steps: bool | None, json_output: bool) -> None:
    """Show a saved plan FILE."""
    from steadlith.report import documents, text

    saved = planfiles.load(file)
    if json_output:
        options.put(documents.dumps(documents.plan(saved)))
    else:
        options.show(text.plan(saved, steps=steps))


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options.config
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@overrides
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def apply(
    file: Path | None, config: Path, lock_timeout: float, *, yes: bool, json_output: bool, **allowed: bool
) -> None:
    """Do what a plan says: the saved plan FILE, or a new one after you said yes.

    A plan FILE is never asked about; it is refused if the index or a planned document moved since.
    """
    import steadlith
    from steadlith.report import documents, text
    from steadlith_core.applying.recheck import guard_problem

    allow = frozenset(f"--{name.replace('_', '-')}" for name, given in allowed.items() if given)
    with stopping() as stop, steadlith.open(config) as index:
        if file is not None:
            planned = planfiles.load(file)
        else:
            planned = index.plan()
            if not json_output:
                options.show(text.plan(planned, steps=None, hint="steadlith plan --steps"))
            problem = guard_problem(planned, allow)
            if problem is not None:
                raise problem
            if planned.is_empty:
                if json_output:
                    options.put(documents.dumps(documents.unchanged(index.head())))
                return
            _approve(yes=yes, json_output=json_output)
        stop.gently()
        done = index.apply(
            planned,
            allow=allow,
            lock_timeout=lock_timeout,
            report=Progress(),
            stop_requested=stop.requested,
        )
    if json_output:
        options.put(documents.dumps(documents.result(done)))
    else:
        options.show(text.result(done))


def _approve(*, yes: bool, json_output: bool) -> None:
    from steadlith_core.errors import ApprovalMissing

    if yes:
        return
    if json_output or not sys.stdin.isatty():
        raise ApprovalMissing("there are changes and nobody to ask: pass --yes, or save a plan and apply that file")
    if not click.confirm("\nApply this plan?", err=True):
        raise ApprovalMissing("not applied")
