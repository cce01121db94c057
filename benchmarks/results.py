"""What was measured, kept between runs: one entry a section, with when and under what load it was taken."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from places import ROOT

Results = dict[str, dict[str, Any]]


def load(place: Path) -> Results:
    """All sections of former runs; none without the file."""
    return json.loads(place.read_text("utf-8")) if place.exists() else {}


def entry() -> dict[str, Any]:
    """The circumstances of a measurement that begins now."""
    dirty = bool(_git("status", "--porcelain", "--", "src"))
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": _git("rev-parse", "--short", "HEAD") + (" and changes" if dirty else ""),
        "load": round(os.getloadavg()[0], 1),
    }


def save(place: Path, results: Results) -> None:
    """Keep all, at once."""
    new = place.with_suffix(".new")
    new.write_text(json.dumps(results, indent=1), "utf-8")
    new.replace(place)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
