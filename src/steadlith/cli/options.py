"""Options that several commands share, and printing for both kinds of reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


def show(lines: Iterable[Line]) -> None:
    """Print lines on stdout: styled on a terminal, plain elsewhere; NO_COLOR is honoured."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for style, words in lines:
        console.print(Text(words, style=style if console.is_terminal else ""))
