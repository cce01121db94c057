"""Move the corpus trie of the index in this folder by changed documents. Prints milliseconds, the median of several."""

import json
import sys
import time
from itertools import islice
from statistics import median

import steadlith
from steadlith_core.digest import hash_fields
from steadlith_core.rows import TrieRow
from steadlith_core.state.moving import move
from steadlith_core.state.trie import document_key

changes = int(sys.argv[1])

with steadlith.open().reader() as reader:
    step = max(1, reader.head.documents // changes)
    chosen = [document.id for document in islice(reader.documents(), 0, None, step)][:changes]
    took = []
    for round_ in range(7):
        rows = {}
        for id_ in chosen:
            key = document_key(id_)
            rows[key] = TrieRow(key, hash_fields("root", round_), hash_fields("source", round_))
        start = time.perf_counter()
        moved = move(reader, rows)
        took.append(time.perf_counter() - start)
print(json.dumps({"milliseconds": median(took) * 1e3, "nodes": len(moved.put), "changes": len(chosen)}))
