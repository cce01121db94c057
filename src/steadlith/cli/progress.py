"""Progress on stderr: one line that moves on a terminal, few lines elsewhere, what needs an eye everywhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from steadlith_core.events import Event

LINES = 10
"""Off a terminal, at most so many lines tell how far a run is."""

SHORT = 100
"""Fewer steps than that are over too soon to be told about off a terminal."""


class Progress:
    """Renders the events of one apply. Off a terminal, a run of one call is over too soon to be told about."""

    def __init__(self) -> None:
        self._copied = Counted("Copied", "chunks")
        self._several = False
        self._told = 0
        self._within_line = False

    def __call__(self, event: Event) -> None:
        """Take one event. A reader of stderr who went away stops no apply."""
        from steadlith_core.events import Copied, Embedded, Started

        with suppress(OSError):
            match event:
                case Embedded() if sys.stderr.isatty():
                    self._within_line = event.done < event.total
                    click.echo(f"\rEmbedding {event.done:,} of {event.total:,}", err=True, nl=not self._within_line)
                case Embedded():
                    self._count(event.done, event.total)
                case Copied():
                    self._copied(event.done, event.total)
                case Started():
                    self._several = event.batches > 1
                    if self._several and not sys.stderr.isatty():
                        click.echo(f"Embedding {event.embeddings:,} texts in {event.batches:,} calls…", err=True)
                case _:
                    self._say(event)

    def _count(self, done: int, total: int) -> None:
        reached = done * LINES // total
        if self._several and reached > self._told:
            self._told = reached
            click.echo(f"Embedded {done:,} of {total:,} texts", err=True)

    def _say(self, event: Event) -> None:
        from steadlith.report.text import clean

        words = _words(event)
        if words is not None:
            if self._within_line:
                click.echo(err=True)
                self._within_line = False
            click.echo(clean(words), err=True)


def _words(event: Event) -> str | None:
    """The sentence of an event; none for one that passes without a word."""
    from steadlith_core.events import Refused, Retrying, Waiting, Warned

    match event:
        case Waiting(message, seconds):
            return f"Waiting for the lock, at most {seconds:g} s: {message}"
        case Retrying(message, seconds, attempt):
            return f"{message}: waiting {seconds:.3g} s, then attempt {attempt}"
        case Refused(finding):
            return f"Warning: {finding.place}: {finding.message}"
        case Warned(message):
            return f"Warning: {message}"
        case _:
            return None


class Counted:
    """Renders how far a piece of work is: `Replayed 49 of 488 snapshots`. Off a terminal, a short one is not told."""

    def __init__(self, doing: str, what: str) -> None:
        self._doing = doing
        self._what = what
        self._told = 0

    def __call__(self, done: int, total: int) -> None:
        """Take one step. A reader of stderr who went away stops no work."""
        words = f"{self._doing} {done:,} of {total:,} {self._what}"
        with suppress(OSError):
            if sys.stderr.isatty():
                click.echo(f"\r{words}", err=True, nl=done == total)
            elif total >= SHORT and done * LINES // total > self._told:
                self._told = done * LINES // total
                click.echo(words, err=True)
