"""`steadlith rollback`: back to a kept generation, its documents and its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options, planfiles
from steadlith.cli.changes import Seconds, approve
from steadlith.cli.progress import Progress
from steadlith.cli.stopping import stopping

if TYPE_CHECKING:
    from steadlith.index import Index
    from steadlith.rollback import Rollback


@click.command()
@click.argument("generation", required=False)
@options.config
@click.option("--apply", "do", is_flag=True, help="Do it; without, show what it would do.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the plan to this file.")
@click.option("--steps/--no-steps", default=None, help="List every step; by default while they are few.")
@click.option("--resume", is_flag=True, help="Put the configuration of a committed rollback in place.")
@click.option("--abort", is_flag=True, help="Drop what is left of a rollback that was not committed.")
@click.option("--force", is_flag=True, help="With --resume replace an edited configuration, with --abort keep it.")
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def rollback(
    generation: str | None,
    config: Path,
    out: Path | None,
    lock_timeout: float,
    *,
    do: bool,
    yes: bool,
    steps: bool | None,
    resume: bool,
    abort: bool,
    force: bool,
    json_output: bool,
) -> None:
    """Show what going back to GENERATION (12, head~1 or a name) would change, and do it with --apply.

    A receipt of a migration, a file, leads to the generation before it.

    It makes a new generation with the documents and the configuration of that one, and embeds nothing. No source is
    looked at: how the sources differ, the next plan shows.
    """
    import steadlith
    from steadlith.cli import ending

    _refuse_mixture(generation, do=do or yes or out is not None, end=resume + abort, force=force)
    with ending.opened(config) if resume or abort else steadlith.open(config) as index:
        if resume:
            _resume(index, lock_timeout, force=force, json_output=json_output)
        elif abort:
            _abort(index, lock_timeout, force=force, json_output=json_output)
        elif generation is not None:
            found = index.plan_rollback(_number(index, generation))
            _show(found, out, steps=steps, do=do, json_output=json_output)
            if do and not found.is_nothing:
                approve(yes=yes, json_output=json_output)
                _do(index, found, lock_timeout, json_output=json_output)


def _number(index: Index, name: str) -> int:
    """A generation by its name, or the one before the migration of a receipt."""
    receipt = Path(name)
    if receipt.suffix == ".json" and receipt.is_file():
        return index.migrations.before(receipt)
    return index.generations.find(name)


def _refuse_mixture(generation: str | None, *, do: bool, end: int, force: bool) -> None:
    if end > 1 or (end and (do or generation is not None)):
        raise click.UsageError("--resume and --abort end what another rollback began. Give one of them alone.")
    if not end and generation is None:
        raise click.UsageError("Say which GENERATION to go back to: `steadlith history` lists what is kept.")
    if force and not end:
        raise click.UsageError("--force is for --resume and --abort.")


def _show(found: Rollback, out: Path | None, *, steps: bool | None, do: bool, json_output: bool) -> None:
    from steadlith.report import documents, rollbacks

    if out is not None:
        planfiles.save(out, found.plan)
    if not json_output:
        options.show(rollbacks.preview(found, steps=steps, asked=do))
        if out is not None:
            click.echo(planfiles.written(out, found.plan), err=True)
    elif not do or found.is_nothing:
        options.put(documents.dumps(rollbacks.document(found)))


def _do(index: Index, found: Rollback, lock_timeout: float, *, json_output: bool) -> None:
    from steadlith.report import documents, rollbacks

    with stopping() as stop:
        stop.gently()
        done = index.apply(found.plan, lock_timeout=lock_timeout, report=Progress(), stop_requested=stop.requested)
    if json_output:
        options.put(documents.dumps(rollbacks.result_document(found, done)))
    else:
        options.show(rollbacks.result(found, done))


def _resume(index: Index, lock_timeout: float, *, force: bool, json_output: bool) -> None:
    from steadlith.report import documents, rollbacks

    done = index.migrations.finish(force=force, lock_timeout=lock_timeout)
    if json_output:
        options.put(documents.dumps(rollbacks.resumed_document(done)))
    else:
        options.show(rollbacks.resumed(done))


def _abort(index: Index, lock_timeout: float, *, force: bool, json_output: bool) -> None:
    from steadlith.report import documents, rollbacks

    dropped = index.migrations.abort(force=force, lock_timeout=lock_timeout)
    if json_output:
        options.put(documents.dumps(rollbacks.aborted_document(dropped=dropped)))
    else:
        options.show(rollbacks.aborted(dropped=dropped, force=force))
