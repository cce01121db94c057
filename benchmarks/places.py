"""Where things are: the checkout, the cache folder of the benchmarks, and the data that nobody here wrote."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".bench"
PEER_ENVIRONMENT = CACHE / "peer"
LANGCHAIN_ENVIRONMENT = CACHE / "langchain"
WORK = CACHE / f"work-{os.getpid()}"
"""Of this process: two runs at a time are in nobody's way, though both measure less."""

RESULTS = CACHE / "results.json"
QUICK_RESULTS = CACHE / "results-quick.json"
VECTORS = CACHE / "vectors.sqlite3"
INSIDE = ROOT / "benchmarks" / "inside"
REPORT = ROOT / "docs" / "benchmarks.md"
DRAFT = CACHE / "benchmarks.md"
HISTORY = ROOT.parent / "shared" / "data" / "history"
