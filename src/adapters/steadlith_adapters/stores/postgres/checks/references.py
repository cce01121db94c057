"""Whether rows refer to rows that are there: what foreign keys would hold, checked by sets.

What only older generations show is history: no source can mend it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.session import Session

_MISSING = {
    "occurrences are of an entry that is missing": f"""
        SELECT count(*), count(*) FILTER (WHERE o.valid_to = {OPEN}) FROM occurrence o
        WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE e.entry = o.entry)""",  # noqa: S608
    "occurrences are of a document that is missing": f"""
        SELECT count(*), count(*) FILTER (WHERE o.valid_to = {OPEN}) FROM occurrence o
        WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.document = o.document)""",  # noqa: S608
    "vectors are of an entry or a space that is missing": """
        SELECT count(*), count(*) FROM vector v
        WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE e.entry = v.entry)
        OR NOT EXISTS (SELECT 1 FROM space s WHERE s.space = v.space)""",
}


def missing(session: Session) -> Iterator[Problem]:
    """Nothing that a row refers to is missing; texts and versions are looked at with the rows themselves."""
    for what, sql in _MISSING.items():
        found, at_head = session.run(sql)[0]
        if found:
            kind = DriftKind.INDEX_DAMAGED if at_head else DriftKind.HISTORY
            yield Problem(kind, f"{found} {what}")
