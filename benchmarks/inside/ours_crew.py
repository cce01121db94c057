"""What helpers gain: time of a first plan with one and with two processes, by the size of the corpus.

    python benchmarks/inside/ours_crew.py FOLDER [ROUNDS] [MEGABYTES,...] [WORKERS,...]

Documents are the Markdown and plain texts of FOLDER again and again, each copy under a heading of its own. Rounds
take turns and the least of each counts, since other work runs on the machine: `wall`, `own_cpu` of the first process,
`helpers_cpu` of the others. `alone` is what the first process cuts before it calls helpers: as it is, and nothing.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIG = '[sources.docs]\npath = "docs"\n[embedding]\nembedder = "hash"\ndimensions = 32\n'
SUFFIXES = {".md", ".txt", ".rst"}


def write(root: Path, texts: list[bytes], size: int) -> None:
    (root / "steadlith.toml").write_text(CONFIG, "utf-8")
    written = number = 0
    while written < size:
        content = b"# Copy %d\n\n%s" % (number, texts[number % len(texts)])
        place = root / "docs" / str(number % 100) / f"{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        written += len(content)
        number += 1


def one(root: str, workers: int, alone: int) -> None:
    """In a process of its own: the times of one plan, and its digest."""
    import steadlith
    from steadlith import crew
    from steadlith_core.planning.planfile import plan_digest

    crew.ALONE = alone
    wall, cpu = time.perf_counter(), time.process_time()
    plan = steadlith.open(root).plan(workers=workers)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = {"wall": wall, "own_cpu": cpu, "helpers_cpu": others.ru_utime + others.ru_stime}
    print(json.dumps([seconds, str(plan_digest(plan))]))


def measured(root: str, workers: int, alone: int) -> tuple[dict[str, float], str]:
    command = [sys.executable, __file__, "--one", root, str(workers), str(alone)]
    seconds, digest = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return seconds, digest


def main(folder: str, rounds: str = "3", sizes: str = "8,16,32,64,128", workers: str = "1,2") -> None:
    from steadlith import crew

    texts = [path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.suffix in SUFFIXES]
    cases = [(1, crew.ALONE)]
    for count in map(int, workers.split(",")):
        cases += [(count, crew.ALONE), (count, 0)] if count > 1 else []
    table = []
    for size in map(int, sizes.split(",")):
        with tempfile.TemporaryDirectory() as root:
            write(Path(root), texts, size << 20)
            best: dict[str, dict[str, float]] = {}
            digests = set()
            for _ in range(int(rounds)):
                for count, alone in cases:
                    seconds, digest = measured(root, count, alone)
                    name = f"{count} workers, {alone >> 20} MB alone" if count > 1 else "1 worker"
                    least = best.setdefault(name, seconds)
                    best[name] = {key: round(min(least[key], seconds[key]), 3) for key in seconds}
                    digests.add(digest)
            assert len(digests) == 1, "the plan depends on the workers"
            table.append({"megabytes": size, "seconds": best})
            print(table[-1], file=sys.stderr)
    print(json.dumps({"alone": crew.ALONE, "rounds": int(rounds), "plans": table}, indent=1))


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(*sys.argv[1:])
