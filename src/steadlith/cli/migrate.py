"""`steadlith migrate`: to an index under another configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadlith.cli import options, planfiles
from steadlith.cli.changes import Seconds, approve, documents_of, hold, overrides, workers
from steadlith.cli.progress import Progress
from steadlith.cli.stopping import stopping

if TYPE_CHECKING:
    from steadlith.index import Index
    from steadlith.migrating import Migration
    from steadlith.running import How
    from steadlith_core.planning.plan import Tripped


@click.command()
@options.config
@click.option(
    "--store", metavar="TYPE", help="Move the index to a store of this type; its settings by --set store.KEY=."
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, as embedding.dimensions=512.")
@click.option("--unset", "dropped", multiple=True, metavar="KEY", help="A setting that goes.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A configuration file whose text takes the place of the one that is there.",
)
@click.option("--apply", "do", is_flag=True, help="Do it; without, show what it would do.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the plan to this file.")
@click.option("--steps/--no-steps", default=False, help="List every step.")
@click.option("--resume", is_flag=True, help="Go on with the migration that was begun, or end one that is committed.")
@click.option("--abort", is_flag=True, help="Drop a migration that was begun and not committed.")
@click.option("--force", is_flag=True, help="With --resume replace an edited configuration, with --abort keep it.")
@click.option("--sample", type=click.IntRange(min=1), help="Chunks to look for before the swap; usually 100.")
@click.option(
    "--questions",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Golden questions to ask before the swap: JSON lines.",
)
@click.option("--min-recall", type=click.FloatRange(0, 1), help="Swap nothing that finds a smaller share.")
@hold
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@click.option("--max-retry-time", type=Seconds(), help="Seconds that a failing call is made again for.")
@workers
@overrides
@options.json
def migrate(
    config: Path,
    store: str | None,
    settings: tuple[str, ...],
    dropped: tuple[str, ...],
    to: Path | None,
    out: Path | None,
    hold: tuple[str, ...],
    lock_timeout: float,
    *,
    max_retry_time: float | None,
    workers: int,
    sample: int | None,
    questions: Path | None,
    min_recall: float | None,
    do: bool,
    yes: bool,
    steps: bool,
    resume: bool,
    abort: bool,
    force: bool,
    json_output: bool,
    **allowed: bool,
) -> int:
    """Show what another configuration would change, and do it with --apply.

    The other configuration is the file as you edited it, or what --set, --unset and --to make of it. The new
    generation is built beside the live one, checked, and swapped in by one commit; the configuration file follows.
    Another [store] moves the index: it is copied there, verified, and nothing is embedded.
    """
    import steadlith
    from steadlith.cli import ending, moving

    checked = bool(out or questions or sample or min_recall is not None)
    if out is not None and (questions or sample or min_recall is not None):
        raise click.UsageError("A saved plan is checked as usual: leave --questions, --min-recall and --sample out.")
    _refuse_mixture(asks=bool(store or settings or dropped or to or do or checked), end=resume + abort, force=force)
    allow = frozenset(f"--{name.replace('_', '-')}" for name, given in allowed.items() if given)
    with stopping() as stop, ending.opened(config) if resume or abort else steadlith.open(config) as index:
        if abort and not moving.abort(index, lock_timeout, force=force, json_output=json_output):
            return _abort(index, lock_timeout, force=force, json_output=json_output)
        if abort:
            return 0
        text = None if resume else _wanted(index, to, store, settings, dropped)
        if moving.is_one(index, text):
            _refuse_plan_options(given=checked or steps or bool(hold))
            moving.move(index, text, lock_timeout, stop, do=do or resume, yes=yes, json_output=json_output)
            return 0
        if resume:
            found = index.migrations.begun(force=force, workers=workers)
            if found is None or found.is_nothing:
                return _finish(index, lock_timeout, force=force, json_output=json_output)
        else:
            _tell_begun(index)
            found = index.migrations.plan(
                steadlith.Look(held=documents_of(index, hold)),
                text=text,
                sample=sample,
                questions_file=questions,
                min_recall=min_recall,
                workers=workers,
            )
        do = do or resume
        _show(found, out, allow, steps=steps, do=do, json_output=json_output)
        if do and not found.is_nothing:
            _refuse_guarded(found, allow, json_output=json_output)
            approve(yes=yes, json_output=json_output)
            stop.gently()
            how = _how(allow, lock_timeout, max_retry_time, workers, stop.requested)
            _do(index, found, how, json_output=json_output)
        elif _stopping(found, allow):
            return 3
    return 0


def _refuse_mixture(*, asks: bool, end: int, force: bool) -> None:
    if end > 1 or (end and asks):
        raise click.UsageError("--resume and --abort end what another migration began. Give one of them alone.")
    if force and not end:
        raise click.UsageError("--force is for --resume and --abort.")


def _refuse_plan_options(*, given: bool) -> None:
    if given:
        raise click.UsageError(
            "A move to another store has no plan and no golden questions: leave out --out, --steps, --hold, --sample, "
            "--questions and --min-recall."
        )


def _wanted(
    index: Index, to: Path | None, store: str | None, settings: tuple[str, ...], dropped: tuple[str, ...]
) -> str:
    """The text of the configuration that is asked for."""
    from steadlith import amending

    text = index.config.text if to is None else _text(to)
    if store is not None:
        text = amending.in_store(text, store)
    return amending.amended(text, settings, dropped)


def _text(file: Path) -> str:
    import tomllib

    try:
        text = file.read_text("utf-8-sig")
        tomllib.loads(text)  # said here, where the file's name is known
    except tomllib.TOMLDecodeError as error:
        raise click.UsageError(f"{file} is not TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"cannot read {file}: {error}") from error
    return text


def _how(allow: frozenset[str], lock_timeout: float, max_retry_time: float | None, workers: int, stop: Any) -> How:
    from steadlith.running import How

    return How(allow, lock_timeout, max_retry_time, workers=workers, report=Progress(), stop_requested=stop)


def _stopping(found: Migration, allow: frozenset[str]) -> tuple[Tripped, ...]:
    """The guards that stop it; that another model embeds everything anew is what a migration is for."""
    from steadlith_core.planning.overrides import MODEL

    return tuple(each for each in found.plan.tripped if each.override not in allow | {MODEL})


def _refuse_guarded(found: Migration, allow: frozenset[str], *, json_output: bool) -> None:
    from steadlith.report import sentences
    from steadlith_core.applying.recheck import guard_problem
    from steadlith_core.errors import GuardRefused
    from steadlith_core.planning.overrides import MODEL

    problem = guard_problem(found.plan, allow | {MODEL})
    if problem is not None:
        raise problem if json_output else GuardRefused(sentences.refused(_stopping(found, allow), allow))


def _tell_begun(index: Index) -> None:
    begun = index.migrations.on_its_way()
    if begun is not None and not begun.is_move:
        click.echo("A migration was begun and is not committed; applying this one takes its place.", err=True)


def _show(
    found: Migration, out: Path | None, allow: frozenset[str], *, steps: bool, do: bool, json_output: bool
) -> None:
    from steadlith.report import documents, migrations

    if out is not None:
        planfiles.save(out, found.plan)
    if not json_output:
        shown = replace(found, plan=replace(found.plan, tripped=_stopping(found, allow)))
        options.show(migrations.preview(shown, steps=steps, asked=do))
        if out is not None:
            click.echo(planfiles.written(out, found.plan), err=True)
    elif not do or found.is_nothing:
        options.put(documents.dumps(migrations.document(found)))


def _do(index: Index, found: Migration, how: How, *, json_output: bool) -> None:
    from steadlith import receipts
    from steadlith.report import documents, migrations

    done = index.migrations.apply(found, how)
    receipt = receipts.find(index.config, done.head)
    if json_output:
        options.put(documents.dumps(migrations.result_document(found, done, receipt)))
    else:
        options.show(migrations.result(found, done, receipt))


def _finish(index: Index, lock_timeout: float, *, force: bool, json_output: bool) -> int:
    from steadlith.report import documents, migrations

    done = index.migrations.finish(force=force, lock_timeout=lock_timeout)
    if done is None and index.migrations.on_its_way() is not None:
        index.migrations.abort(lock_timeout=lock_timeout)  # what it was begun for came about otherwise
    if json_output:
        options.put(documents.dumps(migrations.ended_document(done)))
    else:
        options.show(migrations.ended(done))
    return 0


def _abort(index: Index, lock_timeout: float, *, force: bool, json_output: bool) -> int:
    from steadlith.report import documents, migrations

    dropped = index.migrations.abort(force=force, lock_timeout=lock_timeout)
    if json_output:
        options.put(documents.dumps(migrations.aborted_document(dropped=dropped)))
    else:
        options.show(migrations.aborted(dropped=dropped, force=force))
    return 0
