"""`steadlith show`, and how a plan is put on stdout: as text, as JSON or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith.cli import options, planfiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith.cli.options import Command
    from steadlith_core.planning.plan import Plan
    from steadlith_core.rows import RecordedDocument

FORMATS = ("text", "json", "markdown")


def plan_format(command: Command) -> Command:
    """`--format NAME` of a command that prints a plan."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="How to print the plan: text (the default), json, or markdown for a pull request.",
    )(command)


def chosen(form: str | None, *, json_output: bool) -> str:
    """The format that `--format` and `--json` ask for together. A usage error if they contradict each other."""
    if json_output and form not in {None, "json"}:
        raise click.UsageError(f"--json and --format {form}: choose one of them.")
    return "json" if json_output else form or "text"


def put(
    planned: Plan,
    form: str,
    *,
    steps: bool | None,
    hint: str = "--steps",
    kept: Sequence[RecordedDocument] = (),
) -> None:
    """Print a plan on stdout in one of `FORMATS`; `steps` and `hint` are those of the text.

    `kept` are documents without a step, listed after those with one, or beside the plan in JSON.
    """
    if form == "json":
        from steadlith.report import documents

        options.put(documents.dumps(documents.plan(planned, kept)))
    elif form == "markdown":
        from steadlith.report import markdown

        options.put(markdown.plan(planned).rstrip("\n"))
    else:
        from steadlith.report import text

        options.show(text.plan(planned, steps=steps, hint=hint, kept=kept))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--steps/--no-steps", default=None, help="List every step; by default while they are few.")
@plan_format
@options.json
def show(file: Path, *, steps: bool | None, form: str | None, json_output: bool) -> None:
    """Show a saved plan FILE."""
    form = chosen(form, json_output=json_output)
    put(planfiles.load(file), form, steps=steps)
