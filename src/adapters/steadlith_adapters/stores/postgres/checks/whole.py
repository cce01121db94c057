"""The schema as a whole, its head, and what the head vouches for.

All but `pages` and `counts` ask a fixed number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import generations, spaces, trie, versions
from steadlith_adapters.stores.postgres.border import ConnectionLost
from steadlith_adapters.stores.postgres.schema import INDEXES, OPEN, TABLES
from steadlith_core.errors import SteadlithError
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem
from steadlith_core.state.moving import EMPTY
from steadlith_core.state.roots import corpus_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.session import Session


_THERE = """
    SELECT relname::text FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"""


def tables(session: Session) -> Iterator[Problem]:
    """Every table and index is there; the tables of spaces too."""
    there = {name for (name,) in session.run(_THERE)}
    of_spaces = {name for table in spaces.find_all(session) for name in table.names}
    for name in sorted((TABLES.keys() | INDEXES.keys() | of_spaces) - there):
        yield Problem(DriftKind.INDEX_DAMAGED, f"the table or index {name} is missing")


def pages(session: Session) -> Iterator[Problem]:
    """Every row can be read: where the server keeps checksums of its pages, reading compares them."""
    for name in TABLES:
        session.run("SAVEPOINT table_begins")
        try:
            for _ in session.stream(f"SELECT t.* FROM {name} t"):  # noqa: S608
                pass
        except ConnectionLost:
            raise
        except SteadlithError as error:
            session.run("ROLLBACK TO SAVEPOINT table_begins")
            yield Problem(DriftKind.INDEX_DAMAGED, f"the table {name} cannot be read: {error}")


def head(session: Session) -> Iterator[Problem]:
    """The head points at the last generation, which is as it was committed and can be read."""
    row = session.one("SELECT generation, next_occurrence FROM head")
    last = session.value("SELECT max(number) FROM generation")
    number, following = row or (None, None)
    if number != (last or 0):
        # No write can mend this: what the arms hold is the last generation's, and the head shows another one.
        message = f"the head points at generation {number}, the last one committed is {last}"
        yield Problem(DriftKind.INDEX_DAMAGED, message)
    if number == 0:
        return
    used = session.value("SELECT max(occurrence) FROM occurrence")
    if following is not None and used is not None and following <= used:
        message = f"the head would give out occurrence {following} again; {used} is in use"
        yield Problem(DriftKind.HEAD, message)
    if number is not None and not generations.is_sealed(session, number):
        yield Problem(DriftKind.HEAD, f"generation {number}, the head's, is not as it was committed: its seal differs")
    generations.read_head(session)


def topmost(session: Session) -> Iterator[Problem]:
    """The topmost node of the corpus trie leads to the head's root and counts its documents."""
    committed = generations.read_head(session)
    if committed.recipe is None:
        return
    top = trie.nodes(session, [""]).get("", EMPTY)
    root = corpus_root(top.count, top.digest, normalizer_id=committed.recipe.normalizer_id)
    if root != committed.corpus_root:
        message = f"the topmost trie node leads to the corpus root {root}, the head has {committed.corpus_root}"
        yield Problem(DriftKind.NODES, message)
    if top.count != committed.documents:
        message = f"the topmost trie node counts {top.count} documents, the head has {committed.documents}"
        yield Problem(DriftKind.COUNTS, message)


def counts(session: Session) -> Iterator[Problem]:
    """The head counts the rows that it shows."""
    committed = generations.read_head(session)
    documents, chunks = versions.count(session)
    if (documents, chunks) != (committed.documents, committed.chunks):
        message = (
            f"the head has {committed.documents} documents and {committed.chunks} chunks, "
            f"the schema holds {documents} and {chunks}"
        )
        yield Problem(DriftKind.COUNTS, message)
    # A version keeps its list of occurrences; the rows themselves are counted apart.
    rows = session.value("SELECT count(*) FROM occurrence WHERE valid_to = %s", OPEN)
    if rows != committed.chunks:
        yield Problem(DriftKind.COUNTS, f"the head has {committed.chunks} chunks, {rows} occurrences are open")
