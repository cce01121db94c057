"""`steadlith show`, of a saved plan or a generation; how a plan is put on stdout: as text, JSON or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steadlith import naming
from steadlith.cli import options, planfiles
from steadlith_core.errors import ConfigError, PlanFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith.cli.options import Command
    from steadlith.described import Described
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
@click.argument("what", metavar="FILE|GENERATION")
@options.config
@click.option("--steps/--no-steps", default=None, help="Of a plan, list every step; by default while they are few.")
@click.option("--configuration", is_flag=True, help="Of a generation, print the configuration that it noted, alone.")
@plan_format
@options.json
def show(
    what: str, config: Path, *, steps: bool | None, configuration: bool, form: str | None, json_output: bool
) -> None:
    """Show a saved plan FILE, or a kept GENERATION (12, head, head~1 or a name) and what it changed.

    A file comes before a name that was given. One that is called like 12 or head is written ./12.
    """
    form = chosen(form, json_output=json_output)
    found = _generation(what, config)
    if found is None:
        if configuration:
            raise click.UsageError(f"--configuration: {what} is a file; a generation notes a configuration.")
        put(planfiles.load(Path(what)), form, steps=steps)
    elif steps is not None or form == "markdown":
        raise click.UsageError(f"--steps and --format markdown are for plans, and {what} is a generation.")
    elif configuration and form != "json":
        _put_configuration(found)
    else:
        _put_generation(found, json_output=form == "json")


def _generation(what: str, config: Path) -> Described | None:
    """The generation that is meant; none if it is a file, which is shown wherever there is no index."""
    is_file, is_counted = Path(what).exists(), naming.is_counted(what)
    if is_file and is_counted:
        raise UsageError(
            f"{what} is a file here, and the name of a generation too: write ./{what} for the file; for the generation "
            "give it a name (`steadlith tag`), or move the file away"
        )
    if is_file:
        return None
    import steadlith

    try:
        with steadlith.open(config) as index:
            return index.generations.describe(index.generations.find(what))
    except (ConfigError, UsageError) as error:
        if is_counted:
            raise
        raise PlanFileError(
            f"cannot read plan file {what}: no such file, and no generation is named so; {planfiles.HINT}"
        ) from error


def _put_generation(found: Described, *, json_output: bool) -> None:
    from steadlith.report import described, documents

    if json_output:
        options.put(documents.dumps(described.document(found)))
    else:
        options.show(described.lines(found))


def _put_configuration(found: Described) -> None:
    text = found.generation.configuration
    if text is None:
        raise UsageError(f"generation {found.generation.number} noted no configuration")
    options.put_text(text.removesuffix("\n"))
