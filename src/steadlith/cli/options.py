"""Options that several commands share, and printing for both kinds of reader."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from steadlith.report.text import Line, Segments
    from steadlith_core.errors import SteadlithError

Command = TypeVar("Command", bound="Callable[..., Any]")

MOST_WORKERS = 8
"""More would only wait: one process reads for all of them, and takes their answers."""


def config(command: Command) -> Command:
    """`--config FILE`."""
    return click.option(
        "-c",
        "--config",
        "config",
        type=click.Path(path_type=Path),
        default=Path("steadlith.toml"),
        show_default=True,
        help="The configuration file.",
    )(command)


def config_if_any(command: Command) -> Command:
    """`--config FILE` of a command that works without one."""
    return click.option(
        "-c",
        "--config",
        "config",
        type=click.Path(path_type=Path),
        help="The configuration file; by default steadlith.toml, where there is one.",
    )(command)


def workers(purpose: str) -> Callable[[Command], Command]:
    """`--workers N`, and what they are for."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        default=lambda: min(os.cpu_count() or 1, MOST_WORKERS),
        show_default=f"the number of cores, at most {MOST_WORKERS}",
        help=purpose,
    )


def settings(command: Command) -> Command:
    """`--set KEY=VALUE`, as often as needed, gathered into one table."""
    return click.option(
        "--set",
        "settings",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_gather,
        help="A setting of the policy, as in the [chunking] table; as often as needed.",
    )(command)


def _gather(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    from steadlith.cli.policies import merged

    table: dict[str, Any] = {}
    for pair in given:
        table = merged(table, _setting(pair))
    return table


def _setting(pair: str) -> dict[str, Any]:
    """`KEY=VALUE` as a line of TOML; a value that is no TOML is text, unless it begins as a string, a list or table."""
    import tomllib

    from steadlith.amending import BEGINNINGS

    key, equals, value = pair.partition("=")
    for written in (value,) if value.strip().startswith(BEGINNINGS) else (value, _quoted(value)):
        try:
            table = tomllib.loads(f"{key} = {written}")
        except ValueError:
            continue
        if equals and key.strip() and "\n" not in pair:
            return table
    raise click.BadParameter(f"{pair!r}: expected KEY=VALUE, for example max_tokens=384")


def _quoted(value: str) -> str:
    """`value` as text in TOML."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def json(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "json_output", is_flag=True, help="Print one JSON document on stdout.")(command)


def as_json(arguments: list[str]) -> bool:
    """Whether the command line asks for JSON, for errors that come before it was understood."""
    asked = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(one in {"--json", "--format=json"} or (one, next_) == ("--format", "json") for one, next_ in asked)


def put(text: str) -> None:
    """Print text on stdout as it is."""
    with reader_may_leave():
        click.echo(text)


def put_text(text: str) -> None:
    """Print a text of somebody's on stdout: as it is, but on a terminal without what would be obeyed there."""
    from steadlith.report.lines import clean

    put("\n".join(map(clean, text.split("\n"))) if sys.stdout.isatty() else text)


def show(lines: Iterable[Line]) -> None:
    """Print lines on stdout: styled on a terminal, plain elsewhere; NO_COLOR is honoured."""
    draw((line,) for line in lines)


def draw(lines: Iterable[Segments]) -> None:
    """As `show`, lines of several styles each."""
    if not _may_be_styled():
        with reader_may_leave():
            for line in lines:
                sys.stdout.write("".join(words for _, words in line) + "\n")
            sys.stdout.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    with reader_may_leave():
        for line in lines:
            text = Text()
            for style, words in line:
                text.append(words, style if console.is_terminal else "")
            console.print(text)


def _may_be_styled() -> bool:
    """Whether rich has anything to decide: whatever it knows of terminals, it need not be loaded for a pipe."""
    return sys.stdout.isatty() or any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def complain(error: SteadlithError, prefix: str = "Error: ") -> None:
    """Tell an error on stderr, a sentence for each of its lines."""
    from steadlith.report import text

    with suppress(OSError):  # nobody is left to tell
        for line in str(error).split("\n"):
            click.echo(text.clean(f"{prefix}{line}"), err=True)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """A reader of stdout who leaves (`| head`) ends the output, not the command: its exit code stays true."""
    try:
        yield
    except BrokenPipeError:
        silence()
    except SystemExit as stop:  # how rich says the same
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        silence()


def silence() -> None:
    """Send the rest of stdout nowhere, what Python still holds for it included."""
    with suppress(OSError):  # a stdout that is no file has nothing to be redirected
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
