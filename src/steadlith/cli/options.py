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

    from steadlith.report.text import Line

Command = TypeVar("Command", bound="Callable[..., Any]")


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


def json(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "json_output", is_flag=True, help="Print one JSON document on stdout.")(command)


def as_json(arguments: list[str]) -> bool:
    """Whether the command line asks for JSON, for errors that come before it was understood."""
    return "--json" in arguments


def put(text: str) -> None:
    """Print text on stdout as it is."""
    with reader_may_leave():
        click.echo(text)


def show(lines: Iterable[Line]) -> None:
    """Print lines on stdout: styled on a terminal, plain elsewhere; NO_COLOR is honoured."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    with reader_may_leave():
        for style, words in lines:
            console.print(Text(words, style=style if console.is_terminal else ""))


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
