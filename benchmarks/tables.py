"""How figures are written: tables, numbers, and what is said about a bar."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ABSENT = "Left out: the data in `../shared/data` was absent."


@dataclass(frozen=True, slots=True)
class Verdict:
    """One bar and what this run says about it. `beyond` is the bar behind the bar, if there is one and it is met."""

    work: str
    bar: str
    measured: str
    met: bool
    beyond: bool = False

    @property
    def said(self) -> str:
        """`met`, `met, and beyond`, or `not met`."""
        return ("met, and beyond" if self.beyond else "met") if self.met else "**not met**"


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ms(seconds: float) -> str:
    """Milliseconds."""
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


def mb(size: float) -> str:
    """Megabytes of a million bytes."""
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.2f} MB"


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{share * 100:.2f} %"
