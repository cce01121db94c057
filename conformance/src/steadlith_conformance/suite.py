"""What every suite of the kit is: a class of rules that an adapter's author inherits and cannot silence.

1. A rule is a method `test_...`; its name is the sentence that it demands, its docstring says why and what to do.
2. A suite names its port when it is defined. A class below it is an adapter under test: it overrides fixtures, adds
   tests of its own, and replaces no rule. What it cannot keep yet stands in one file, with a reason (`expected.py`).
3. A rule is a MUST, unless it is marked `should`: a SHOULD that fails is told and does not fail the run.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Function = TypeVar("Function", bound=Callable[..., Any])

_LEVEL = "__conformance_level__"

INAPPLICABLE = "does not apply: "
"""How the reason of a rule begins that asks for what the adapter says it does not do."""


class Level(StrEnum):
    """How much a rule demands (RFC 2119's words)."""

    MUST = "MUST"
    SHOULD = "SHOULD"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, as reports and messages name it."""

    name: str
    level: Level
    advice: str
    """Its docstring: why it is demanded, what usually breaks it, the way out."""
    function: Callable[..., Any]

    @property
    def sentence(self) -> str:
        """The name as a sentence."""
        return self.name.removeprefix("test_").replace("_", " ")


def should(rule: Function) -> Function:
    """Mark a rule as a SHOULD: what an adapter may lack, and its users would miss."""
    setattr(rule, _LEVEL, Level.SHOULD)
    return rule


def inapplicable(reason: str) -> NoReturn:
    """End a rule that asks for what the adapter says it does not do; reports show the reason."""
    import pytest

    pytest.skip(INAPPLICABLE + reason)


class Suite:
    """Base of all suites."""

    port: ClassVar[str]
    """Which port the rules are about."""
    rules: ClassVar[Mapping[str, Rule]] = {}
    """Every rule by name."""

    def __init_subclass__(cls, *, port: str | None = None) -> None:
        """Gather the rules of a suite; refuse an adapter's class that replaces some."""
        if port is not None:
            cls.port = port
            _refuse_one_name_for_two(cls)
            cls.rules = {name: _rule(cls, name) for name in sorted(dir(cls)) if name.startswith("test_")}
        elif silenced := cls.silenced():
            message = (
                f"{cls.__name__} overrides rules of the kit: {', '.join(silenced)}. A rule that cannot be kept yet is "
                "named in the file of expected failures (docs/conformance.md)"
            )
            raise TypeError(message)

    @classmethod
    def silenced(cls) -> list[str]:
        """Rules that are no longer the kit's."""
        return [name for name, rule in cls.rules.items() if inspect.getattr_static(cls, name) is not rule.function]


def _refuse_one_name_for_two(suite: type[Suite]) -> None:
    """Of two rules of one name one would never run, and nobody would know."""
    owners: dict[str, str] = {}
    for base in suite.__mro__:
        for name in vars(base):
            if name.startswith("test_") and owners.setdefault(name, base.__name__) != base.__name__:
                message = f"{suite.__name__}: {owners[name]} and {base.__name__} both have a rule {name}"
                raise TypeError(message)


def _rule(suite: type[Suite], name: str) -> Rule:
    function = inspect.getattr_static(suite, name)
    return Rule(name, getattr(function, _LEVEL, Level.MUST), inspect.cleandoc(function.__doc__ or ""), function)
