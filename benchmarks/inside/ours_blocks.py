"""Sizes of chunks, and blocks that were cut though they fit. Usage: ours_blocks.py FOLDER MIN MAX"""

import json
import sys
from bisect import bisect_right
from collections import Counter

import cutting
import reading

from steadlith_core.records import FindingKind, Format

EXAMPLES = 20

where, least, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chunker = cutting.policy(least, most)
cap = int(chunker.params["max_bytes"])
counts: Counter[str] = Counter()
fitting: Counter[str] = Counter()
cut: Counter[str] = Counter()
examples = []
for document in cutting.folder(chunker, where):
    counts["documents"] += 1
    counts["chunks"] += len(document.chunks)
    exempt = sum(finding.kind is FindingKind.UNSPLITTABLE for finding in document.findings)
    counts["unsplittable"] += exempt
    large = cutting.tokens(document.body.strip()) > most
    over = [chunk for chunk in document.chunks if chunk.tokens > most]
    under = [chunk for chunk in document.chunks if chunk.tokens < least] if large else []
    counts["over"] += len(over)
    counts["under"] += len(under)
    counts["over, unexplained"] += 0 if exempt else len(over)
    counts["under, unexplained"] += 0 if exempt else len(under)
    counts["over the cap"] += sum(len(chunk.text.encode()) > cap for chunk in document.chunks)
    blocks = reading.rst(document.body) if document.format is Format.RST else reading.markdown(document.body).blocks
    for block in blocks:
        if cutting.tokens(document.body[block.start : block.end].strip("\n")) > most:
            continue
        fitting[block.kind] += 1
        next_start = bisect_right(document.starts, block.start)
        indented = block.start + len(document.body[block.start :]) - len(document.body[block.start :].lstrip())
        inside = [start for start in document.starts[next_start : next_start + 9] if indented < start < block.end]
        if inside:
            cut[block.kind] += 1
            line = document.front + document.body.count("\n", 0, block.start) + 1
            examples.append(f"{document.path}:{line} {block.kind} of {block.end - block.start} code points")
sizes = {"fitting": dict(fitting), "cut": dict(cut), "examples": examples[:EXAMPLES]}
print(json.dumps(dict(counts) | sizes))
