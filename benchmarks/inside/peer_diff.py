"""The same document by steadlith 1.0.1's `diff_document`. Usage: peer_diff.py SIZE EDITS REPEATS ROUNDS"""

import json
import sys
import time
from collections import Counter
from statistics import median

import diffing
from steadlith.content.manifest import DocumentManifest
from steadlith.index.plan import diff_document
from steadlith.models import ChunkRecord

BYTES = 2000

size, edits, repeats, rounds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])


def manifest(hashes: list[bytes]) -> DocumentManifest:
    """One chunk behind the other, all of one length."""
    rows = (ChunkRecord(each.hex(), n * BYTES, (n + 1) * BYTES, 400) for n, each in enumerate(hashes))
    return DocumentManifest("document.md", tuple(rows))


old, new = map(manifest, diffing.edited(size, edits, repeats, seed=1))
times = []
for _ in range(rounds):
    start = time.process_time()
    steps = diff_document(old, new, document_id="document.md")
    times.append(time.process_time() - start)
kinds = Counter(step.kind.value for step in steps)
print(json.dumps({"time": median(times)} | kinds))
