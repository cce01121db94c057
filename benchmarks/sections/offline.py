"""Proofs, differences and manifests of a generated million of documents, in memory."""

from collections.abc import Iterable
from typing import Any

from contenders import OURS
from places import INSIDE, ROOT
from process import answer
from tables import Verdict, table

DOCUMENT = "document proof, largest of the sampled, bytes"
ABSENCE = "absence proof, largest of the sampled, bytes"
CHUNK = "chunk proof at the largest document proof, bytes"
VERIFIED = ("verify a document proof, ms", "verify an absence proof, ms", "verify a chunk proof, ms")
FOUND = "find them, ms"


def measure(*, quick: bool) -> Any:
    """One process; every figure is CPU time of its own."""
    return answer([OURS.python, INSIDE / "ours_offline.py", "20000" if quick else "1000000"], ROOT)


def verdicts(data: Any) -> Iterable[Verdict]:
    for name, most in ((DOCUMENT, 4096), (ABSENCE, 4096), (CHUNK, 5120)):
        yield Verdict(name.removesuffix(", bytes"), f"under {most:,} bytes", f"{data[name]:,}", data[name] < most)
    slowest = max(data[name] for name in VERIFIED)
    yield Verdict("verifying a proof, the slowest kind", "under 1 ms", f"{slowest:.2f} ms", slowest < 1)
    yield Verdict(
        f"{data['differences']} differences of two tries", "under 20 ms", f"{data[FOUND]:.1f} ms", data[FOUND] < 20
    )


def render(data: Any) -> Iterable[str]:
    yield f"{data['documents']:,} documents; keys and roots are drawn, which is what digests look like."
    yield table(("", ""), [(name, f"{value:,}") for name, value in data.items() if name != "documents"])
