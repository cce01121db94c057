"""What a write puts, until it commits: temporary tables of its session, filled by COPY.

1. Nothing that others read or write is touched but new rows of vector tables: so writes do not wait for each other, and
   one that is aborted, loses or dies leaves nothing to be cleaned but those rows, which nobody ever sees.
2. Temporary tables are not logged and end with the transaction.
3. Rows of one name are numbered by `at` as they were put: in a write that mends the last one stands, otherwise the
   first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.postgres.session import Session

CREATE = """
CREATE TEMP TABLE staged_text(at bigint, text_hash bytea, body bytea) ON COMMIT DROP;
CREATE INDEX ON staged_text(text_hash);
CREATE TEMP TABLE staged_entry(at bigint, entry bigint, entry_hash bytea, text_hash bytea, title bytea, headings bytea,
    context_hash bytea) ON COMMIT DROP;
CREATE INDEX ON staged_entry(entry_hash);
CREATE TEMP TABLE staged_vector(space bigint, entry bigint, vector_key bytea, checksum bytea) ON COMMIT DROP;
CREATE INDEX ON staged_vector(entry, space);
CREATE TEMP TABLE replaced_vector(at bigint, space bigint, entry bigint, vector_key bytea, checksum bytea, vector bytea)
    ON COMMIT DROP;
CREATE TEMP TABLE staged_version(at bigint PRIMARY KEY, key bytea, source bytea, path bytea, root bytea, seal bytea,
    metadata bytea, occurrences bytea, leaves bytea, parents bytea, source_digest bytea, span_seal bytea,
    positions bytea, document bigint) ON COMMIT DROP;
CREATE TEMP TABLE staged_claim(occurrence bigint, at bigint, entry_hash bytea) ON COMMIT DROP;
CREATE TEMP TABLE staged_close(key bytea, name text) ON COMMIT DROP;
CREATE TEMP TABLE staged_respan(key bytea, name text, chunks bigint, source_digest bytea, seal bytea, positions bytea)
    ON COMMIT DROP
"""

OF_DOCUMENTS = ("staged_version", "staged_claim", "staged_close", "staged_respan")
TABLES = ("staged_text", "staged_entry", "staged_vector", "staged_version", "staged_claim")
_COLUMNS = {
    "staged_text": ("at, text_hash, body", ("int8", "bytea", "bytea")),
    "staged_entry": (
        "at, entry, entry_hash, text_hash, title, headings, context_hash",
        ("int8", "int8", *["bytea"] * 5),
    ),
    "staged_vector": ("space, entry, vector_key, checksum", ("int8", "int8", "bytea", "bytea")),
    "replaced_vector": (
        "at, space, entry, vector_key, checksum, vector",
        ("int8", "int8", "int8", "bytea", "bytea", "bytea"),
    ),
    "staged_version": (
        (
            "at, key, source, path, root, seal, metadata, occurrences, leaves, parents, source_digest, span_seal, "
            "positions"
        ),
        ("int8", *["bytea"] * 12),
    ),
    "staged_claim": ("occurrence, at, entry_hash", ("int8", "int8", "bytea")),
    "staged_close": ("key, name", ("bytea", "text")),
    "staged_respan": (
        "key, name, chunks, source_digest, seal, positions",
        ("bytea", "text", "int8", "bytea", "bytea", "bytea"),
    ),
}


def put(session: Session, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Add rows, in the order of the table's columns above."""
    if rows:
        columns, types = _COLUMNS[table]
        session.copy(f"{table}({columns})", types, rows)


def analyze(session: Session) -> None:
    """Let the planner know how much was put: it would take a temporary table for a small one."""
    session.run(f"ANALYZE {', '.join(TABLES)}")


def utf8(text: str) -> bytes:
    """A text as bytes: a lone half of a surrogate pair is no UTF-8, and comes back as it was put all the same."""
    return text.encode("utf-8", "surrogatepass")
