"""`steadlith compact`, `backup` and `doctor`: what an index needs besides plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options
from steadlith.cli.changes import Seconds

if TYPE_CHECKING:
    from steadlith.doctor import Diagnosis
    from steadlith.index import Index
    from steadlith.repairing import Repaired


@click.command()
@options.config
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Keep the last N generations; all by default.")
@click.option("--erase", multiple=True, metavar="DOC", help="Remove every trace of a document that was removed before.")
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def compact(
    config: Path,
    keep: int | None,
    erase: tuple[str, ...],
    lock_timeout: float,
    *,
    yes: bool,
    json_output: bool,
) -> int:
    """Show what removing old generations would give back, and do it with --yes.

    Exits 6 if an erased document is not gone from the files yet, because somebody reads them.
    """
    import steadlith
    from steadlith.report import documents, upkeep, upkeepdocuments

    with steadlith.open(config) as index:
        asked = index.compactable(keep=keep, erase=erase)
        if not json_output:
            options.show(upkeep.compactable(asked))
        if asked.is_nothing or not (yes or _approved("Remove it for good?", json_output=json_output)):
            if json_output:
                options.put(documents.dumps(upkeepdocuments.compactable(asked)))
            elif not asked.is_nothing:
                options.show([("", "Nothing was changed: pass --yes to do it.")])
            return 0
        done = index.compact(keep=keep, erase=erase, lock_timeout=lock_timeout)
    if json_output:
        options.put(documents.dumps(upkeepdocuments.compacted(done)))
    else:
        options.show(upkeep.compacted(done))
    return 6 if done.held_back and done.asked.erased else 0


def _approved(question: str, *, json_output: bool) -> bool:
    """Whether somebody is there and says yes."""
    if json_output or not sys.stdin.isatty():
        return False
    return click.confirm(f"\n{question}", err=True)


@click.command()
@options.config
@click.option("--repair", is_flag=True, help="Set right what can be, from the sources, the index and the cache.")
@click.option("-y", "--yes", is_flag=True, help="Pay for what neither the cache nor the index has.")
@click.option("--lock-timeout", type=Seconds(), default=0.0, help="Seconds to wait for the lock.")
@options.json
def doctor(config: Path, lock_timeout: float, *, repair: bool, yes: bool, json_output: bool) -> int:
    """Look at all of a set-up, and name what is wrong with it and the way out; exit 2 if anything is.

    Looking changes nothing. A repair that would cost stops before it does, and exits 3.
    """
    import steadlith
    from steadlith import doctor as doctoring
    from steadlith_core.errors import ConfigError

    try:
        index = steadlith.open(config)
    except ConfigError as error:
        return _tell(doctoring.of_configuration(error), json_output=json_output)
    with index:
        if not repair:
            return _tell(index.examine(), json_output=json_output)
        return _repair(index, lock_timeout, yes=yes, json_output=json_output)


def _tell(found: Diagnosis, *, json_output: bool) -> int:
    from steadlith.report import documents, upkeep, upkeepdocuments

    if json_output:
        options.put(documents.dumps(upkeepdocuments.diagnosis(found)))
    else:
        options.show(upkeep.diagnosis(found))
    return 0 if found.ok else 2


def _repair(index: Index, lock_timeout: float, *, yes: bool, json_output: bool) -> int:
    from steadlith.report import documents, upkeep, upkeepdocuments

    def put(done: Repaired) -> None:
        if json_output:
            options.put(documents.dumps(upkeepdocuments.repaired(done)))
        else:
            options.show(upkeep.repaired(done))

    done = index.repair(pay=yes, lock_timeout=lock_timeout)
    put(done)
    if done.unpaid is not None and _approved("Pay for it?", json_output=json_output):
        done = index.repair(pay=True, lock_timeout=lock_timeout)
        put(done)
    if done.unpaid is not None:
        return 3
    return 0 if done.left.ok else 2


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@options.config
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@options.json
def backup(file: Path, config: Path, *, force: bool, json_output: bool) -> None:
    """Copy the index to FILE, verified, while others read and write it.

    The copy is an index: to restore it, put it in the place of the index file.
    """
    import steadlith
    from steadlith.report import documents, upkeep, upkeepdocuments

    with steadlith.open(config) as index:
        made = index.backup(file, replace=force)
    if json_output:
        options.put(documents.dumps(upkeepdocuments.backed_up(made)))
    else:
        options.show(upkeep.backed_up(made))
