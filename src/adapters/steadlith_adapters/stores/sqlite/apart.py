"""A lexical index apart from the file: of entries that are chosen, in a temporary file of SQLite's."""

from __future__ import annotations

import apsw

from steadlith_adapters.stores.sqlite.schema import CREATE_LEXICAL, CREATE_TERMS, PAGE_SIZE
from steadlith_adapters.stores.sqlite.session import Session


def lexical_index(declared: str = CREATE_LEXICAL) -> Session:
    """A session on an empty lexical index of its own, which goes when it is closed."""
    session = Session(apsw.Connection(""), "(temporary index)")
    try:
        session.run(f"PRAGMA page_size = {PAGE_SIZE}")
        session.run(declared)
        session.run(CREATE_TERMS)
    except BaseException:
        session.close()
        raise
    return session


def copy_table(session: Session, to: Session, table: str) -> None:
    """Make a table of FTS5's in another file what it is here. FTS5 remembers what it was asked before: see
    `schema.FORGET_TABLES`.
    """
    columns = session.value("SELECT count(*) FROM pragma_table_info(?)", table)
    to.run(f"DELETE FROM {table}")  # noqa: S608
    to.run_many(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", session.stream(f"SELECT * FROM {table}"))  # noqa: S608
