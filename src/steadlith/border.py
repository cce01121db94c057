"""The one border where what an adapter raises becomes ours.

1. Our typed errors pass unchanged; anything else becomes `AdapterError`, with its cause chained.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steadlith_core.errors import AdapterError, SteadlithError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def adapter(doing: str) -> Iterator[None]:
    """Run adapter code; `doing` tells the reader of the error what was being done."""
    try:
        yield
    except SteadlithError:
        raise
    except Exception as error:
        raise AdapterError(f"{doing}: {type(error).__name__}: {error}") from error
