"""`steadlith plan`, `show` and `apply`: the three commands around a plan."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith_core.events import Event
    from steadlith_core.planning.plan import Plan

OVERRIDES = ("--allow-removals", "--allow-empty", "--allow-model-change", "--allow-cost")


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
        _write(out, planfile.dump(planned))
    if json_output:
        click.echo(documents.dumps(documents.plan(planned)))
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

    saved = _load(file)
    if json_output:
        click.echo(documents.dumps(documents.plan(saved)))
    else:
        options.show(text.plan(saved, steps=steps))


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@options.config
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--allow-removals", is_flag=True, help="Let many documents, a folder or many chunks go.")
@click.option("--allow-empty", is_flag=True, help="Let a source go from some documents to none.")
@click.option("--allow-model-change", is_flag=True, help="Let every chunk be embedded anew.")
@click.option("--allow-cost", is_flag=True, help="Let the budget of [guards] paid_tokens be exceeded.")
@click.option("--lock-timeout", type=click.FloatRange(min=0), default=0.0, help="Seconds to wait for the lock.")
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
    with steadlith.open(config) as index:
        if file is not None:
            planned = _load(file)
        else:
            planned = index.plan()
            if not json_output:
                options.show(text.plan(planned, steps=None))
            problem = guard_problem(planned, allow)
            if problem is not None:
                raise problem
            if planned.is_empty:
                if json_output:
                    click.echo(documents.dumps(documents.unchanged(index.head())))
                return
            _approve(yes=yes, json_output=json_output)
        with _stopping() as stop_requested:
            done = index.apply(
                planned,
                allow=allow,
                lock_timeout=lock_timeout,
                report=_progress,
                stop_requested=stop_requested,
            )
    if json_output:
        click.echo(documents.dumps(documents.result(done)))
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


def _load(file: Path) -> Plan:
    from steadlith_core.errors import PlanFileError
    from steadlith_core.planning import planfile

    try:
        return planfile.load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFileError(f"cannot read plan file {file}: {error}") from error


def _write(file: Path, content: str) -> None:
    """Replace `file` whole or not at all."""
    from steadlith_core.errors import UsageError

    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as stream:
            stream.write(content)
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(f"--out {file}: {error.strerror or error}") from error


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """While applying, the first SIGINT or SIGTERM asks the run to stop at the next safe point."""
    asked: list[int] = []

    def ask(number: int, _frame: object) -> None:
        if asked:
            os._exit(130)  # asked twice: leave now; the next run finds the old state, or resumes from the cache
        asked.append(number)
        click.echo("Stopping at the next safe point; ask again to leave at once.", err=True)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _progress(event: Event) -> None:
    """Progress on stderr: one line that moves on a terminal, warnings everywhere."""
    from steadlith.report.text import clean
    from steadlith_core.events import Embedded, Warned

    match event:
        case Warned():
            click.echo(f"Warning: {clean(event.message)}", err=True)
        case Embedded() if sys.stderr.isatty():
            click.echo(f"\rEmbedding {event.done:,} of {event.total:,}", err=True, nl=event.done == event.total)
        case _:
            pass
