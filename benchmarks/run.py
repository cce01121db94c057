"""Measure this checkout against steadlith 1.0.1, side by side, and write docs/benchmarks.md: `make bench`.

`--quick` takes a sample, for work on the script itself; its report goes to .bench/benchmarks.md instead.
"""

import argparse
import os
import shutil
import time

import corpus
import memory
import replay
import report
import spine
import startup
from contenders import install_peer
from places import QUICK_REPORT, REPORT, ROOT, WORK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a sample only, not for comparison")
    quick = parser.parse_args().quick
    start, load = time.monotonic(), os.getloadavg()[0]
    install_peer()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)

    print("Start-up", flush=True)
    starts = startup.measure()
    print("Plan, apply, search", flush=True)
    spines = [spine.measure(each) for each in corpus.corpora(quick=quick)]
    print("Replay", flush=True)
    replays = replay.measure(quick=quick)
    if not replays:
        print("  left out: no bundles in ../shared/data/history")
    print("Memory", flush=True)
    large, used = memory.measure(quick=quick)

    place = QUICK_REPORT if quick else REPORT
    measured = report.Measured(starts, spines, replays, large, used, load, quick)
    place.write_text(report.render(measured), "utf-8")
    shutil.rmtree(WORK)
    print(f"Wrote {place.relative_to(ROOT)} after {(time.monotonic() - start) / 60:.0f} minutes.")


if __name__ == "__main__":
    main()
