"""The same as ours_cut.py by steadlith 1.0.1's default chunker. Runs in the peer's environment only."""

import json
import sys
from pathlib import Path

from steadlith import CDCChunker, CDCParams

chunker = CDCChunker(CDCParams())
first: set[str] = set()
later: set[str] = set()
with Path(sys.argv[1]).open(encoding="utf-8") as lines:
    for line in lines:
        is_first, path, content = json.loads(line)
        chunks = chunker.split(content.removeprefix("\ufeff"), {"path": path})
        (first if is_first else later).update(chunk.page_content for chunk in chunks)

embedded = [len(text.encode()) for text in later - first]
sizes = [len(text.encode()) for text in first]
print(
    json.dumps(
        {
            "embedded_bytes": sum(embedded),
            "embedded_texts": len(embedded),
            "mean": sum(sizes) / len(sizes),
            "largest": max(sizes + embedded),
        }
    )
)
