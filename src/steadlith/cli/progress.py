"""Progress on stderr: one line that moves on a terminal, few lines elsewhere, warnings everywhere."""

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
        self._several = False
        self._told = 0

    def __call__(self, event: Event) -> None:
        """Take one event. A reader of stderr who went away stops no apply."""
        with suppress(OSError):
            if sys.stderr.isatty():
                self._on_terminal(event)
            else:
                self._elsewhere(event)

    def _on_terminal(self, event: Event) -> None:
        from steadlith_core.events import Embedded

        if isinstance(event, Embedded):
            click.echo(f"\rEmbedding {event.done:,} of {event.total:,}", err=True, nl=event.done == event.total)
        else:
            self._warned(event)

    def _elsewhere(self, event: Event) -> None:
        from steadlith_core.events import Embedded, Started

        match event:
            case Started():
                self._several = event.batches > 1
                if self._several:
                    click.echo(f"Embedding {event.embeddings:,} texts in {event.batches:,} calls…", err=True)
            case Embedded() if self._several:
                reached = event.done * LINES // event.total
                if reached > self._told:
                    self._told = reached
                    click.echo(f"Embedded {event.done:,} of {event.total:,} texts", err=True)
            case _:
                self._warned(event)

    def _warned(self, event: Event) -> None:
        from steadlith.report.text import clean
        from steadlith_core.events import Warned

        if isinstance(event, Warned):
            click.echo(f"Warning: {clean(event.message)}", err=True)


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
