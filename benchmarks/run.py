"""Measure this checkout against steadlith 1.0.1, side by side, and write docs/benchmarks.md: `make bench`.

`--quick` takes a sample, for work on the scripts themselves. `--only NAME` measures one section; what former runs said
of the others stays. `--report` only writes the report. A quick or incomplete report goes to .bench/benchmarks.md.
"""

import argparse
import shutil
import time
from typing import Any

import page
import results
from contenders import install_peer
from places import DRAFT, QUICK_RESULTS, REPORT, RESULTS, ROOT, WORK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a sample only, not for comparison")
    parser.add_argument("--only", action="append", choices=page.SECTIONS, metavar="NAME", help="this section only")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the report")
    chosen = parser.parse_args()
    start = time.monotonic()
    kept = QUICK_RESULTS if chosen.quick else RESULTS
    install_peer()
    names = [] if chosen.report else chosen.only or list(page.SECTIONS)
    for name in names:
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        print(page.SECTIONS[name].title, flush=True)
        began = time.monotonic()
        about = results.entry()
        data: Any = page.SECTIONS[name].module.measure(quick=chosen.quick)
        if data is None:
            print("  left out: the data in ../shared/data is absent")
        known = results.load(kept) | {name: about | {"data": data, "took": time.monotonic() - began}}
        results.save(kept, known)
    shutil.rmtree(WORK, ignore_errors=True)
    known = results.load(kept)
    place = DRAFT if chosen.quick or page.SECTIONS.keys() - known.keys() else REPORT
    place.write_text(page.render(known, quick=chosen.quick), "utf-8")
    print(f"Wrote {place.relative_to(ROOT)} after {(time.monotonic() - start) / 60:.1f} minutes.")


if __name__ == "__main__":
    main()
