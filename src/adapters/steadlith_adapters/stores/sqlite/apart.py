"""A lexical index apart from the file: of entries that are chosen, in a temporary file of SQLite's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from steadlith_adapters.stores.sqlite.schema import CREATE_LEXICAL, CREATE_TERMS, PAGE_SIZE
from steadlith_adapters.stores.sqlite.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def lexical_index(declared: str = CREATE_LEXICAL) -> Iterator[Session]:
    """A session on an empty lexical index of its own, which goes when it is closed."""
    session = Session(apsw.Connection(""), "(temporary index)")
    try:
        session.run(f"PRAGMA page_size = {PAGE_SIZE}")
        session.run(declared)
        session.run(CREATE_TERMS)
        yield session
    finally:
        session.close()
