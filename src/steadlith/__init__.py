"""Steadlith: plan and apply for retrieval indexes.

>>> import steadlith
>>> index = steadlith.open("handbook")        # doctest: +SKIP
>>> plan = index.plan()                       # doctest: +SKIP
>>> index.apply(plan)                         # doctest: +SKIP

The names load when they are first used: `steadlith --help` passes through here and must not wait for the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadlith.explain import Explained
    from steadlith.index import Index, open  # noqa: A004 -- steadlith.open(path), as in gzip.open
    from steadlith.observe import Look
    from steadlith.search import Answer, Hit
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Level

__all__ = [
    "Answer",
    "Explained",
    "Hit",
    "Index",
    "Level",
    "Look",
    "Plan",
    "Result",
    "SteadlithError",
    "Verification",
    "open",
]

_HOMES = {
    "Answer": "steadlith.search",
    "Explained": "steadlith.explain",
    "Hit": "steadlith.search",
    "Index": "steadlith.index",
    "Level": "steadlith_core.records",
    "Look": "steadlith.observe",
    "Plan": "steadlith_core.planning.plan",
    "Result": "steadlith_core.applying.run",
    "SteadlithError": "steadlith_core.errors",
    "Verification": "steadlith.verify",
    "open": "steadlith.index",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)
