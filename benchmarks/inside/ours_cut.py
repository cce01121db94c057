"""Cut every version of a history by the structural chunker; prints what there would have been to embed."""

import json
import sys
from pathlib import Path

import cutting

stream, least, most = sys.argv[1:]
chunker = cutting.policy(int(least), int(most))
first: set[str] = set()
later: set[str] = set()
with Path(stream).open(encoding="utf-8") as lines:
    for line in lines:
        is_first, path, content = json.loads(line)
        document = cutting.cut(chunker, path, content.encode())
        (first if is_first else later).update(chunk.text for chunk in document.chunks)

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
