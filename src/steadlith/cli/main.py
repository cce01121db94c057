"""The command group, and the one place where an error becomes an exit code.

1. Data goes to stdout, everything else to stderr.
2. Every error shows its message, never a traceback; the exit codes are those of docs/cli.md. Only an error that
   nobody expected has a traceback, and only where STEADLITH_TRACEBACK is set.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

import click

from steadlith.cli import options
from steadlith.collecting import SELDOM
from steadlith_core.errors import Interrupted, SteadlithError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "steadlith"
COMPLETE = "_STEADLITH_COMPLETE"
"""Where a shell that completes a command line puts its question, as click has it."""

CODES = """\b
Exit codes:
  0    done, or no changes, or already applied
  1    error
  2    changes present (--detailed-exitcode); for verify, diff, doctor: something found
  3    refused by a guard, or approval missing
  4    lock held
  5    plan stale, rejected, or from another index
  6    stopped part-way, resumable
  64   usage
  130  interrupted before anything was written
"""


COMMANDS: Mapping[str, str] = {
    "init": "start:init",
    "plan": "changes:plan",
    "show": "showing:show",
    "apply": "changes:apply",
    "status": "reading:status",
    "history": "past:history",
    "rollback": "rollback:rollback",
    "migrate": "migrate:migrate",
    "import": "importing:import_",
    "tag": "past:tag",
    "restore": "past:restore",
    "search": "reading:search",
    "verify": "reading:verify",
    "diff": "comparing:diff",
    "manifest": "offline:manifest",
    "lock": "offline:lock",
    "prove": "offline:prove",
    "verify-proof": "offline:verify_proof",
    "cache": "caching:cache",
    "compact": "upkeep:compact",
    "backup": "upkeep:backup",
    "doctor": "upkeep:doctor",
    "chunk": "cutting:chunk",
    "measure": "measuring:measure",
}
"""Each command's module and function in `steadlith.cli`: loaded when it is asked for."""


class Commands(click.Group):
    """The group of `COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, loaded; none for a name that there is not."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"steadlith.cli.{module}"), function)
        return command


@click.group(
    cls=Commands,
    epilog=CODES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="steadlith")
@click.pass_context
def group(context: click.Context) -> None:
    """Plan and apply for retrieval indexes.

    See what would change, apply exactly that, prove what you have.
    """
    if context.invoked_subcommand is None:
        options.put(context.get_help())


def main() -> None:
    """Run one command and exit with its code."""
    # A plan makes many records that live as long as it does: looking for cycles among them is a quarter of its time.
    gc.set_threshold(*SELDOM)
    # The threads that come with numpy's matrices wait for work in a loop, beside whatever else this machine does: for
    # most commands there is none, and these sleep at once.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that cannot be shown here is shown as escapes
    sys.exit(_run())


def _run() -> int:
    code = None
    try:
        with options.reader_may_leave():
            code = _command()
    except click.exceptions.Exit as stop:  # after --help and --version
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return fail(Interrupted("Interrupted."), prefix="")
    except click.ClickException as error:
        return fail(UsageError(error.format_message()))
    except SteadlithError as error:
        return fail(error)
    except OSError as error:  # mostly stdout: a full disk, a closed descriptor
        options.silence()
        return fail(SteadlithError(str(error)))
    except Exception as error:  # noqa: BLE001 -- rule 2: a message is promised for whatever happens
        if "STEADLITH_TRACEBACK" in os.environ:
            traceback.print_exc()
        return fail(SteadlithError(f"internal error: {type(error).__name__}: {error} (please report it)"))
    return code if isinstance(code, int) else 0


def _command() -> object:
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, NAME, COMPLETE, instruction)
    # not group.main: it leaves with 1 of its own when the reader of stdout went away
    with group.make_context(NAME, sys.argv[1:]) as context:
        return group.invoke(context)


def fail(error: SteadlithError, *, prefix: str = "Error: ") -> int:
    """Tell the error: as JSON on stdout if JSON was asked for, and always as a sentence on stderr."""
    from steadlith.report import documents

    options.complain(error, prefix)
    try:
        if options.as_json(sys.argv[1:]):
            options.put(documents.dumps(documents.error(error)))
    except OSError:  # the sentence on stderr has to do; what stdout still holds must not fail again on the way out
        options.silence()
    return error.exit_code
