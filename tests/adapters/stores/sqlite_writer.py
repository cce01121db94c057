"""Run by test_sqlite_crashes: writes one generation, in a float32 and a quantized space, and dies where it is told to,
as a power cut would have it. Its commit makes the indexes over hashes anew, too.

Usage: sqlite_writer.py FOLDER (staged | N): die before the commit, or in the middle of the N-th write to any file.
"""

import sys

from dying import DyingVFS, die

from steadlith_adapters.stores.sqlite import FACTORY, hashes
from steadlith_conformance.samples import SPACE, doc, pieces, space, stage


def main(folder, moment):
    hashes.FEW = 0
    vfs = DyingVFS()
    DyingVFS.left = -1 if moment == "staged" else int(moment)
    store = FACTORY.open({"path": "index.sqlite3"}, root=folder, readonly=False)
    head = store.head()
    number = head.generation + 1
    changes = {doc("a.md"): pieces(f"text of generation {number}", "kept"), doc(f"{number}.md"): pieces("more", "kept")}
    write = store.begin(head)
    given = stage(write, store.snapshot(), changes, [SPACE, space(quantization="int8")])
    if moment == "staged":
        die()
    write.commit(given)
    store.close()
    del vfs


if __name__ == "__main__":
    main(*sys.argv[1:])
