"""Whether the lexical index is the one that the texts give: it is made anew, and both are compared byte by byte.

1. FTS5 merges an index into one segment whose bytes follow from its rows alone (`optimize`): equal rows, equal bytes.
   So a copy of what is kept and an index made anew are merged, and compared block by block. A segment that was never
   merged is laid out otherwise, and `optimize` leaves a lone one as it is: so a row is put and deleted before it.
2. It is an answer in one direction: equal is equal. What differs in bytes may still have the same words; `wording`
   then compares word by word, ten times as slowly, and names the rows.
3. Both are temporary files of SQLite's; the index itself is only read. A thread merges the one while the other is made.
"""

from __future__ import annotations

from contextlib import closing
from itertools import zip_longest
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import lexical
from steadlith_adapters.stores.sqlite.apart import copy_table, lexical_index

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Row, Session

_SPARE = 2**63 - 1
"""A row that no entry has."""
_KEPT = ("config", "data", "idx", "docsize")
"""FTS5's own tables of a contentless index, each of them behind the index's name."""
_COMPARED = (
    # 1: how many rows and words there are, which every score depends on; 10 is the list of segments, whose numbers and
    # age tell nothing of the rows
    "SELECT block FROM lexical_data WHERE id = 1 OR id > 10 ORDER BY id",
    "SELECT id, sz FROM lexical_docsize ORDER BY id",
)
_MERGE = (
    f"INSERT INTO lexical(rowid, title) VALUES ({_SPARE}, 'x')",  # noqa: S608
    f"DELETE FROM lexical WHERE rowid = {_SPARE}",  # noqa: S608
    "INSERT INTO lexical(lexical) VALUES ('optimize')",
)
"""Each its own transaction, and so its own segment."""


def is_same(session: Session) -> bool:
    """Whether the lexical index holds exactly the words of all live entries. Raises for a text that cannot be read."""
    from concurrent.futures import ThreadPoolExecutor  # it loads what no plan needs

    # An older release declared its columns in another order.
    declared: str = session.value("SELECT sql FROM sqlite_schema WHERE name = 'lexical'")
    with (
        closing(lexical_index(declared)) as kept,
        closing(lexical_index(declared)) as made,
        ThreadPoolExecutor(max_workers=1) as beside,
    ):
        kept.run("BEGIN")
        for table in _KEPT:
            copy_table(session, kept, f"lexical_{table}")
        kept.run("COMMIT")
        merging = beside.submit(_merge, kept)
        lexical.begin(made)
        lexical.add_live(made, session)
        made.run("COMMIT")
        _merge(made)
        merging.result()
        return all(
            left == right
            for sql in _COMPARED
            for left, right in zip_longest(kept.stream(sql), made.stream(sql), fillvalue=_nothing)
        )


def _merge(index: Session) -> None:
    for statement in _MERGE:
        index.run(statement)


_nothing: Row = ()
