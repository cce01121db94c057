"""The tables of an index file, and what marks a file as ours.

1. An open row has `valid_to` = OPEN, never NULL: a row is visible at G if `valid_from <= G < valid_to`.
2. Tombstones live on occurrences and versions; texts, entries and vectors are kept once per distinct content.
3. The whole schema is made inside the first commit's transaction, so a file has all of it or none of it.
4. A change here is a new SCHEMA_VERSION, with the statements that lead to it from the one before; what reads must bear
   the older files, too.
5. An index over hashes holds the first eight bytes of each: they lie anywhere, so every byte of them costs pages of a
   small change. Who looks for a hash asks for these and for the whole (`is_one_of`, `is_same_hash`), and asks two
   indexes (`hashes`). No index says that a hash stands once: who writes looks first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.sqlite.kind import FileKind
from steadlith_core.errors import ForeignFile, LockHeld

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

APPLICATION_ID = 0x53544C32  # "STL2"
SCHEMA_VERSION = 7
OLDEST_READABLE = 3
PAGE_SIZE = 8_192
PREFIX = 8
"""Bytes of a hash that its index holds."""
OPEN = 2**63 - 1


def prefix(column: str) -> str:
    """What an index over hashes holds of a column."""
    return f"substr({column}, 1, {PREFIX})"


def is_one_of(column: str) -> str:
    """A hash is one of several, as `hashes.find` asks for it."""
    return f"{prefix(column)} IN ({{}}) AND {column} IN ({{}})"


def is_same_hash(column: str, other: str) -> str:
    """A hash is that of another column."""
    return f"{prefix(column)} = {prefix(other)} AND {column} = {other}"


INDEX = FileKind(
    noun="index",
    setting="store.path",
    application_id=APPLICATION_ID,
    schema_version=SCHEMA_VERSION,
    oldest_readable=OLDEST_READABLE,
    table_of_1x="index_meta",
    rebuild="apply again: the cache keeps the embeddings",
    no_database=ForeignFile,
    busy=LockHeld,
)

# The body first: in each list of places FTS5 names every column but the first one, at two bytes a word and row.
CREATE_LEXICAL = """CREATE VIRTUAL TABLE lexical USING fts5(
    body, headings, title, content='', contentless_delete=1, tokenize='porter unicode61'
)"""
# Words are gathered in that many bytes of memory before they are written as a segment; as many segments as `automerge`
# are left alone before they are merged (FTS5 would merge four, and so write the index once more every fourth commit).
TUNE_LEXICAL = (
    "INSERT INTO lexical(lexical, rank) VALUES ('hashsize', 16777216)",
    "INSERT INTO lexical(lexical, rank) VALUES ('automerge', 8)",
)


class Hashed(NamedTuple):
    """A table that is asked by hash: its indexes, of settled rows and of recent ones, and the number that parts them;
    the table that gives the numbers is called as they are.
    """

    names: tuple[str, str]
    columns: str
    number: str


HASHED = {
    "text": Hashed(("text_by_hash", "text_by_hash_recent"), prefix("text_hash"), "text"),
    "entry": Hashed(("entry_by_hash", "entry_by_hash_recent"), prefix("entry_hash"), "entry"),
    "vector": Hashed(("vector_by_key", "vector_by_key_recent"), f"space, {prefix('vector_key')}", "entry"),
}


def by_hash(table: str, settled: int) -> tuple[str, ...]:
    """What makes the two indexes of a table whose rows are settled up to this number."""
    hashed = HASHED[table]
    return tuple(
        f"CREATE INDEX {name} ON {table}({hashed.columns}) WHERE {hashed.number} {side} {settled}"
        for name, side in zip(hashed.names, ("<=", ">"), strict=True)
    )


_CREATE_BY_HASH = tuple(statement for table in HASHED for statement in by_hash(table, 0))
CREATE_TERMS = "CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, row)"

# a row once the index was compacted: a generation that is missing below `oldest` is missing on purpose
CREATE_COMPACTED = "CREATE TABLE compacted(id INTEGER PRIMARY KEY CHECK (id = 1), oldest INTEGER NOT NULL) STRICT"

# told: what a generation says of itself beyond its state; one that an older release made has no row
CREATE_TOLD = (
    "CREATE TABLE configuration(configuration BLOB PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE told(
        number INTEGER PRIMARY KEY REFERENCES generation(number), why TEXT NOT NULL,
        configuration BLOB REFERENCES configuration(configuration), seal BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE tag(
        name TEXT PRIMARY KEY, number INTEGER NOT NULL REFERENCES generation(number)
    ) STRICT, WITHOUT ROWID""",
)

# Rows as they come, found by an index. Clustered by document, as until schema 5, a new row stands beside the old one on
# a page that is full, and three pages are written for it. A table that was made so stays so until it is compacted.
CREATE_VERSIONS = {
    # occurrences: 8 bytes an id, in source order; leaves: 32 bytes a chunk hash, in the same order; parents: 4 bytes a
    # parent's position, -1 without one, and no bytes at all where no chunk has one; seal: over the ids and the entry
    # hashes they stand for (the root is over leaves and parents).
    "document_version": """CREATE TABLE document_version(
        document INTEGER NOT NULL REFERENCES document(document),
        valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL, root BLOB NOT NULL, seal BLOB NOT NULL,
        metadata BLOB NOT NULL, occurrences BLOB NOT NULL, leaves BLOB NOT NULL, parents BLOB NOT NULL,
        PRIMARY KEY (document, valid_from)
    ) STRICT""",
    # version: the valid_from of its document version; positions: four u32 a chunk (start, end, first and last line).
    # A respan closes one row of a version and opens another.
    "span": """CREATE TABLE span(
        document INTEGER NOT NULL, version INTEGER NOT NULL, valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
        source_digest BLOB NOT NULL, seal BLOB NOT NULL, positions BLOB NOT NULL,
        PRIMARY KEY (document, version, valid_from),
        FOREIGN KEY (document, version) REFERENCES document_version(document, valid_from)
    ) STRICT""",
}

CREATE = (
    # lineage, roots and recipe are those of the head when `number` was committed; `seal` is over all other columns
    """CREATE TABLE generation(
        number INTEGER PRIMARY KEY, parent INTEGER NOT NULL, lineage TEXT NOT NULL,
        corpus_root BLOB NOT NULL, state_root BLOB NOT NULL, recipe BLOB NOT NULL, plan_digest BLOB NOT NULL,
        documents INTEGER NOT NULL, chunks INTEGER NOT NULL, at TEXT NOT NULL, summary BLOB NOT NULL,
        seal BLOB NOT NULL
    ) STRICT""",
    # the one row that makes a generation visible; next_occurrence only grows, so ids are never used twice
    """CREATE TABLE head(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        generation INTEGER NOT NULL REFERENCES generation(number),
        next_occurrence INTEGER NOT NULL
    ) STRICT""",
    # key: H[key] of (source, path), which the corpus trie is ordered by
    """CREATE TABLE document(
        document INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, key BLOB NOT NULL UNIQUE,
        UNIQUE (source, path)
    ) STRICT""",
    # the head's corpus trie: every node by its prefix in hexadecimal digits, leaves without their rows
    """CREATE TABLE trie_node(
        prefix TEXT PRIMARY KEY, documents INTEGER NOT NULL, digest BLOB NOT NULL, sources BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
    *CREATE_VERSIONS.values(),
    "CREATE TABLE text(text INTEGER PRIMARY KEY, text_hash BLOB NOT NULL, body TEXT NOT NULL) STRICT",
    # context_hash: NULL if it is not embedded, and so never live
    # live: at least one open occurrence uses it; then it has a lexical row and its vectors are searched
    """CREATE TABLE entry(
        entry INTEGER PRIMARY KEY, entry_hash BLOB NOT NULL,
        text INTEGER NOT NULL REFERENCES text(text), title TEXT NOT NULL, headings BLOB NOT NULL,
        context_hash BLOB, live INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    # one id may have many rows over time (a relocation closes one and opens another), at most one of them open
    """CREATE TABLE occurrence(
        occurrence INTEGER NOT NULL, valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
        document INTEGER NOT NULL REFERENCES document(document), entry INTEGER NOT NULL REFERENCES entry(entry),
        PRIMARY KEY (occurrence, valid_from)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX occurrence_entry ON occurrence(entry)",
    # vec_table: readers look its name up in their snapshot, so a compaction may copy into another table
    """CREATE TABLE space(
        space INTEGER PRIMARY KEY, space_id BLOB NOT NULL UNIQUE, model_id TEXT NOT NULL,
        params_hash BLOB NOT NULL, dimensions INTEGER NOT NULL, quantization TEXT NOT NULL,
        vec_table TEXT NOT NULL
    ) STRICT""",
    # what the vec0 row of (space, entry) was made from, and a checksum of both; readable without the extension
    """CREATE TABLE vector(
        space INTEGER NOT NULL REFERENCES space(space), entry INTEGER NOT NULL REFERENCES entry(entry),
        vector_key BLOB NOT NULL, checksum BLOB NOT NULL,
        PRIMARY KEY (space, entry)
    ) STRICT, WITHOUT ROWID""",
    *_CREATE_BY_HASH,
    # contentless: texts are kept once; contentless_delete: a row leaves without its old text being given again
    CREATE_LEXICAL,
    *TUNE_LEXICAL,
    # views of the lexical table's dictionary, without storage of their own: how common a term is, and where it stands
    CREATE_TERMS,
    "CREATE VIRTUAL TABLE lexical_instances USING fts5vocab(lexical, instance)",
    CREATE_COMPACTED,
    *CREATE_TOLD,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

FORGET_TABLES = "PRAGMA writable_schema = RESET"
"""Have SQLite read the schema anew, and every virtual table what it remembers of its own tables."""

# What keeps a UNIQUE column is stored like any other index, and can be dropped once the schema calls it one: so no
# text is copied to another table, which would take as much of the disk again until the index is compacted.
_NOT_UNIQUE = (
    "PRAGMA writable_schema = ON",
    """UPDATE sqlite_schema SET sql = replace(sql, '_hash BLOB NOT NULL UNIQUE', '_hash BLOB NOT NULL')
    WHERE type = 'table' AND name IN ('text', 'entry')""",
    """UPDATE sqlite_schema SET name = 'whole_' || tbl_name,
        sql = 'CREATE UNIQUE INDEX whole_' || tbl_name || ' ON ' || tbl_name || '(' || tbl_name || '_hash)'
    WHERE name IN ('sqlite_autoindex_text_1', 'sqlite_autoindex_entry_1')""",
    FORGET_TABLES,
    "DROP INDEX whole_text",
    "DROP INDEX whole_entry",
)

MIGRATIONS: Mapping[int, Sequence[str]] = {
    3: (*TUNE_LEXICAL, CREATE_COMPACTED),
    4: CREATE_TOLD,
    5: (
        *_NOT_UNIQUE,
        f"CREATE INDEX text_by_hash ON text({prefix('text_hash')})",
        f"CREATE INDEX entry_by_hash ON entry({prefix('entry_hash')})",
        "DROP INDEX IF EXISTS vector_by_key",
        f"CREATE INDEX vector_by_key ON vector(space, {prefix('vector_key')})",
        "DROP TABLE IF EXISTS lexical",
        CREATE_LEXICAL,
        *TUNE_LEXICAL,
    ),
    6: (*(f"DROP INDEX IF EXISTS {hashed.names[0]}" for hashed in HASHED.values()), *_CREATE_BY_HASH),
}
"""What leads from a schema to the next one."""


def names(version: int) -> frozenset[str]:
    """The tables and indexes that a file of this schema has."""
    today = found = _named("CREATE", CREATE)
    for older in reversed(range(version, SCHEMA_VERSION)):
        found = found - _named("CREATE", MIGRATIONS[older]) | _named("DROP", MIGRATIONS[older]) & today
    return found


def _named(verb: str, statements: Iterable[str]) -> frozenset[str]:
    return frozenset(found[1] for found in (re.match(rf"{verb} [A-Z ]+ (\w+)", sql) for sql in statements) if found)
