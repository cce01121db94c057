"""Where things are: the checkout, the cache folder of the benchmarks, and the data that nobody here wrote."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".bench"
PEER_ENVIRONMENT = CACHE / "peer"
WORK = CACHE / "work"
INSIDE = ROOT / "benchmarks" / "inside"
REPORT = ROOT / "docs" / "benchmarks.md"
QUICK_REPORT = CACHE / "benchmarks.md"
HISTORY = ROOT.parent / "shared" / "data" / "history"
