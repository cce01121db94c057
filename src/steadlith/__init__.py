"""Steadlith: plan and apply for retrieval indexes.

>>> import steadlith
>>> index = steadlith.open("handbook")        # doctest: +SKIP
>>> plan = index.plan()                       # doctest: +SKIP
>>> index.apply(plan)                         # doctest: +SKIP
"""

from steadlith.index import Index, open  # noqa: A004 -- steadlith.open(path), as in gzip.open
from steadlith.search import Answer, Hit
from steadlith.verify import Verification
from steadlith_core.applying.run import Result
from steadlith_core.errors import SteadlithError
from steadlith_core.planning.plan import Plan

__all__ = ["Answer", "Hit", "Index", "Plan", "Result", "SteadlithError", "Verification", "open"]
