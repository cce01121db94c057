"""Makes golden/langchain/: what LangChain's `index()` leaves, in a SQL record manager and an export of a vector store.

Run it by an interpreter that has `langchain-classic`, `langchain-text-splitters`, `SQLAlchemy[asyncio]`, `numpy` and
`blake3`, with this checkout's src and src/adapters on PYTHONPATH: the vectors are those of our own hash embedder.
The export is older than the record manager: one document went, another was written anew since.
"""

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path

from langchain_classic.indexes import SQLRecordManager, index
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from steadlith_adapters.embedders.hash import FACTORY
from steadlith_core.vectors import unpack

GOLDEN = Path(__file__).parent / "golden"
MODEL = FACTORY.build({"dimensions": 32})
GONE = ("docs/old.md", "# Old\n\nThis was written once, and is gone since.\n")
BEFORE = ("docs/notes.md", "# Notes\n\nNothing is written here yet.\n")


class Vectors(Embeddings):
    """Those of the hash embedder."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(value) for value in unpack(vector)] for vector in MODEL.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in unpack(MODEL.embed_query(text))]


def cut(texts: dict[str, str]) -> list[Document]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=240, chunk_overlap=60, add_start_index=True)
    documents = [Document(text, metadata={"source": path, "lang": "en"}) for path, text in texts.items()]
    return splitter.split_documents(documents)


def main() -> None:
    target = GOLDEN / "langchain"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    paths = sorted((GOLDEN / "docs").rglob("*.md"))
    now = {path.relative_to(GOLDEN).as_posix(): path.read_text("utf-8") for path in paths}
    store = InMemoryVectorStore(Vectors())
    exported: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.sqlite"
        manager = SQLRecordManager("docs/demo", db_url=f"sqlite:///{file}")
        manager.create_schema()
        for texts in ({**now, BEFORE[0]: BEFORE[1], GONE[0]: GONE[1]}, now):
            index(cut(texts), manager, store, cleanup="full", source_id_key="source", key_encoder="sha256")
            exported |= {key: dict(row) for key, row in store.store.items()}
        database = sqlite3.connect(file)
        # When it was written is the only thing that differs from run to run.
        database.execute("UPDATE upsertion_record SET updated_at = 1700000000, uuid = key")
        database.commit()
        database.execute("VACUUM")
        database.close()
        shutil.copy(file, target)
    with (target / "export.jsonl").open("w", encoding="utf-8") as out:
        for row in exported.values():
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
