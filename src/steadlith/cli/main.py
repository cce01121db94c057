"""The command group, and the one place where an error becomes an exit code.

1. Data goes to stdout, everything else to stderr.
2. Every error shows its message, never a traceback; the exit codes are those of docs/cli.md.
"""

from __future__ import annotations

import sys

import click

from steadlith.cli.options import as_json
from steadlith_core.errors import SteadlithError, UsageError

CODES = """\b
Exit codes:
  0    done, or no changes, or already applied
  1    error
  2    changes present (--detailed-exitcode); for verify: differences found
  3    refused by a guard, or approval missing
  4    lock held
  5    plan stale, rejected, or from another index
  6    stopped part-way, resumable
  64   usage
  130  interrupted before anything was written
"""


@click.group(epilog=CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="steadlith")
def group() -> None:
    """Plan and apply for retrieval indexes.

    See what would change, apply exactly that, prove what you have.
    """


def main() -> None:
    """Run one command and exit with its code."""
    from steadlith.cli import changes, reading, start

    for command in (start.init, changes.plan, changes.show, changes.apply):
        group.add_command(command)
    for command in (reading.status, reading.search, reading.verify):
        group.add_command(command)
    try:
        code = group.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort:
        click.echo("Interrupted.", err=True)
        code = 130
    except click.ClickException as error:
        code = fail(UsageError(error.format_message()))
    except SteadlithError as error:
        code = fail(error)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away: nobody is left to tell
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def fail(error: SteadlithError) -> int:
    """Tell the error: as JSON on stdout if JSON was asked for, and always as a sentence on stderr."""
    from steadlith.report import documents, text

    if as_json(sys.argv[1:]):
        click.echo(documents.dumps(documents.error(error)))
    for line in str(error).split("\n"):
        click.echo(f"Error: {text.clean(line)}", err=True)
    return error.exit_code
