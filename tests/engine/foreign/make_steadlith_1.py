"""Makes golden/steadlith-1/: an index and a cache as steadlith 1.0.1 writes them, and what it answers to queries.

Run it by an interpreter that has that release: `python -m venv E; E/bin/pip install steadlith==1.0.1;
E/bin/python tests/engine/foreign/make_steadlith_1.py`. The index has a tombstone: one document was another once.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
QUERIES = ("a counterweight below the deck", "spring tides and the moon", "flour water salt")
CONFIG = """\
[sources]
include = ["docs/**/*.md"]

[chunker]
min_tokens = 20
max_tokens = 60
window_words = 8

[embedding]
provider = "hash"
dimensions = 32
"""


def run(folder: Path, *words: str) -> str:
    program = Path(sys.executable).with_name("steadlith")
    return subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def main() -> None:
    target = GOLDEN / "steadlith-1"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(GOLDEN / "docs", folder / "docs")
        (folder / "steadlith.toml").write_text(CONFIG, "utf-8")
        notes = folder / "docs" / "notes.md"
        now = notes.read_text("utf-8")
        notes.write_text("# Notes\n\nNothing is written here yet.\n", "utf-8")
        run(folder, "index")
        notes.write_text(now, "utf-8")
        run(folder, "index", "--allow-delete")
        answers = [json.loads(run(folder, "query", query, "--json", "-k", "3")) for query in QUERIES]
        for file in ("index", "cache"):
            database = sqlite3.connect(folder / ".steadlith" / f"{file}.sqlite3")
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("VACUUM")
            database.close()
            shutil.copy(folder / ".steadlith" / f"{file}.sqlite3", target)
    said = [
        {
            "query": answer["query"],
            "vector": vector(answer["query"]),
            "matches": [{"document": each["document_id"], "text": each["text"]} for each in answer["matches"]],
        }
        for answer in answers
    ]
    (target / "answers.json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")


def vector(query: str) -> list[float]:
    """What that release's own embedder makes of a query."""
    from steadlith.embed.providers import create_provider

    from steadlith.config import load_config

    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "steadlith.toml"
        file.write_text(CONFIG, "utf-8")
        return list(create_provider(load_config(file).embedding).embed([query])[0])


if __name__ == "__main__":
    main()
