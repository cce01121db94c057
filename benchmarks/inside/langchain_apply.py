"""The same job by LangChain: `index()`, its SQL record manager, its sqlite-vec store. In its own environment only.

1. `index()` needs a store that takes ids and deletes by them, and `SQLiteVec` does neither: `Store` adds just that.
2. This Python's own sqlite3 may not load extensions, so the store is given a connection of pysqlite3.
3. It is handed sections as its documents, which is what ours makes of them, so that it need not cut.
4. `cleanup="full"` is the mode that leaves the index as the sources are; it deletes last.
"""

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import generated
import sqlite_vec
import stepping
from langchain_classic.indexes import SQLRecordManager, index
from langchain_community.vectorstores import SQLiteVec
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pysqlite3 import dbapi2

HEADING = re.compile(r"^(?=#)", re.MULTILINE)
TABLE = "docs"


class Vectors(Embeddings):
    """The vectors that all get."""

    def __init__(self, embedding: generated.Embedding) -> None:
        self._embedding = embedding

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedding(texts)

    def embed_query(self, text: str) -> list[float]:
        return generated.vector(text)  # asked once, for its length


class Store(SQLiteVec):
    """With ids, and with deleting by them."""

    def create_table_if_not_exists(self) -> None:
        super().create_table_if_not_exists()
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS {TABLE}_ids(id TEXT PRIMARY KEY, number INTEGER NOT NULL)"
        )

    def add_texts(
        self, texts: Iterable[str], metadatas: list[dict] | None = None, *, ids: list[str], **kwargs: Any
    ) -> list[str]:
        numbers = super().add_texts(texts, metadatas, **kwargs)
        self._connection.executemany(f"INSERT INTO {TABLE}_ids VALUES (?, ?)", zip(ids, numbers, strict=True))
        self._connection.commit()
        return ids

    def delete(self, ids: list[str] | None = None, **_kwargs: Any) -> bool:
        for id_ in ids or ():
            found = self._connection.execute(f"DELETE FROM {TABLE}_ids WHERE id = ? RETURNING number", [id_])
            for (number,) in found.fetchall():
                self._connection.execute(f"DELETE FROM {TABLE} WHERE rowid = ?", [number])
                self._connection.execute(f"DELETE FROM {TABLE}_vec WHERE rowid = ?", [number])
        self._connection.commit()
        return True


def connected(file: Path) -> dbapi2.Connection:
    """What `SQLiteVec.create_connection` makes, by a SQLite that loads extensions."""
    connection = dbapi2.connect(str(file))
    connection.row_factory = dbapi2.Row
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.enable_load_extension(False)
    return connection


def documents(folder: Path) -> Iterator[Document]:
    """Every section of every file."""
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).as_posix()
        for section in HEADING.split(path.read_text("utf-8")):
            if section:
                yield Document(section.strip(), metadata={"source": name})


def apply(folder: Path, embedding: generated.Embedding) -> stepping.Told:
    state = folder / ".steadlith"
    state.mkdir(exist_ok=True)
    connection = connected(state / "vectors.sqlite3")
    store = Store(TABLE, connection, Vectors(embedding))
    records = SQLRecordManager("bench", db_url=f"sqlite:///{state / 'records.sqlite3'}")
    records.create_schema()
    start = time.perf_counter()
    result = index(
        documents(folder / "docs"), records, store, cleanup="full", source_id_key="source", key_encoder="blake2b"
    )
    done = time.perf_counter()
    (chunks,) = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchone()
    connection.close()
    return {"plan": 0.0, "apply": done - start - embedding.seconds, "chunks": chunks, **result}


if __name__ == "__main__":
    stepping.run(apply)
