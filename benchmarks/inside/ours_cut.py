"""Cut every version of a history by the structural chunker; prints what there would have been to embed."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from steadlith_adapters.sources.filesystem.formats import Formats
from steadlith_core.chunking.structural import FACTORY
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise

stream, least, most = sys.argv[1:]
chunker = FACTORY.build({"min_tokens": int(least), "max_tokens": int(most)})
formats = Formats()
first: set[str] = set()
later: set[str] = set()
with Path(stream).open(encoding="utf-8") as lines:
    for line in lines:
        is_first, path, content = json.loads(line)
        how = formats.of(path)
        text = canonicalise(content.encode())
        chunks, _ = chunker.cut(replace(text, body=frontmatter.read(text, how, ()).end), how)
        (first if is_first else later).update(chunk.text for chunk in chunks)

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
