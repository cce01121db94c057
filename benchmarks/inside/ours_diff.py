"""The sequence diff: its time, whether what it keeps is a longest common subsequence, and hostile inputs.

Usage: ours_diff.py SIZE EDITS REPEATS ROUNDS FULL. Run under several hash seeds, it has to print the same `result`.
"""

import hashlib
import json
import sys
import time
from difflib import SequenceMatcher
from statistics import median

import diffing
from rapidfuzz.distance import LCSseq

from steadlith_core.planning.diff import diff

size, edits, repeats, rounds, full = (
    int(sys.argv[1]),
    int(sys.argv[2]),
    float(sys.argv[3]),
    int(sys.argv[4]),
    bool(int(sys.argv[5])),
)


def seconds(old: list[bytes], new: list[bytes]) -> float:
    start = time.process_time()
    diff(old, new)
    return time.process_time() - start


old, new = diffing.edited(size, edits, repeats, seed=1)
found = diff(old, new)
answer: dict[str, object] = {"result": hashlib.sha256(repr(found).encode()).hexdigest()}
if full:
    answer |= {"time": median(seconds(old, new) for _ in range(rounds))}
    answer |= {"kept": len(found.kept), "moved": len(found.moved), "gone": len(found.gone), "new": len(found.new)}
    start = time.process_time()
    answer["longest"] = LCSseq.similarity(old, new)
    answer["rapidfuzz"] = time.process_time() - start
    start = time.process_time()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    answer["difflib"] = time.process_time() - start
    answer["difflib kept"] = sum(block.size for block in blocks)
    answer["hostile"] = {name: seconds(*pair) for name, pair in diffing.adversarial().items()}
print(json.dumps(answer))
