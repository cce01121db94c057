"""Find the sizes at which our chunks of a first snapshot are as large as `target` bytes on average; prints them.

Usage: ours_equal.py STREAM TARGET. The default's proportion of minimum to maximum stays. The mean grows about as the
sizes do, so that scaling by what is missing is there after a few cuts.
"""

import json
import sys
from pathlib import Path

import cutting

from steadlith_core.chunking.structural import MAX_TOKENS, MIN_TOKENS

TOLERANCE = 0.005
STEPS = 12

stream, wanted = sys.argv[1:]
target = float(wanted)
with Path(stream).open(encoding="utf-8") as lines:
    documents = [(path, content.encode()) for is_first, path, content in map(json.loads, lines) if is_first]


def mean(least: int, most: int) -> float:
    """Bytes of the distinct chunks."""
    chunker = cutting.policy(least, most)
    cut = (cutting.cut(chunker, path, content) for path, content in documents)
    texts = {chunk.text for document in cut for chunk in document.chunks}
    return sum(len(text.encode()) for text in texts) / len(texts)


best = (0, 0, float("inf"))
scale = 1.0
for _ in range(STEPS):
    least, most = round(MIN_TOKENS * scale), round(MAX_TOKENS * scale)
    found = mean(least, most)
    if abs(found - target) < abs(best[2] - target):
        best = (least, most, found)
    if abs(found / target - 1) <= TOLERANCE:
        break
    scale *= target / found
print(json.dumps({"min_tokens": best[0], "max_tokens": best[1], "mean": best[2]}))
