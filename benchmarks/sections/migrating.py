"""Migrations and going back: what another maximum re-embeds, kills, searches meanwhile, rollback of a large index.

1. The first two count, and are the same on every machine. A migration that is killed logs every text that the model was
   given, so that nothing is counted by what it says of itself.
2. Searches run in a process of their own before and during a migration, on the same cores.
"""

import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import corpus
import histories
from contenders import OURS
from places import INSIDE, WORK
from process import ENVIRONMENT, answer, run
from tables import Verdict, ms, table

LARGE = 25_400
"""Documents of half a million chunks."""
SMALL = 660
"""Documents of 13,000 chunks."""
QUICK = 25
KILLS = 20
ROUNDS, CHUNKS = 20, 20
CONFIG = """\
[sources.docs]
path = "docs"

[chunking]
min_tokens = 160
max_tokens = {maximum}

[embedding]
embedder = "{embedder}"
{dimensions}
"""


def measure(*, quick: bool) -> Any:
    """Counts first, then times."""
    texts = corpus.english(quick=False)
    words = WORK / "sentences.json"
    run([OURS.python, INSIDE / "generated.py", "sentences", texts.folder, words], WORK)
    less = QUICK if quick else 1
    return {
        "maximum": _maximum(),
        "killed": _killed(words, SMALL // less),
        "meanwhile": _meanwhile(words, SMALL // less),
        "rollback": _rollback(words, LARGE // less),
    }


def _site(name: str, *, embedder: str = "hash", dimensions: int | None = 384, maximum: int = 480) -> Path:
    folder = WORK / name
    (folder / "docs").mkdir(parents=True)
    made = "" if dimensions is None else f"dimensions = {dimensions}"
    text = CONFIG.format(embedder=embedder, dimensions=made, maximum=maximum)
    (folder / "steadlith.toml").write_text(text, "utf-8")
    return folder


def _maximum() -> Any:
    """From 512 to 480 tokens, over the newest state of a real history: tokens to embed, of all tokens."""
    repository = corpus.clone("peps-commits")
    if repository is None:
        return None
    print("  another maximum", flush=True)
    folder = _site("maximum", dimensions=64, maximum=512)
    (folder / "docs").rmdir()
    commit = histories.commits(repository, quick=False)[-1]
    subprocess.run(["git", "-C", repository, "worktree", "add", "-q", "--force", folder / "docs", commit], check=True)
    steadlith = Path(OURS.python).with_name("steadlith")
    first = json.loads(run([steadlith, "plan", "--json"], folder)[1])
    run([steadlith, "apply", "--yes"], folder)
    found = json.loads(run([steadlith, "migrate", "--set", "chunking.max_tokens=480", "--json"], folder)[1])
    return {
        "documents": found["plan"]["target"]["documents"],
        "chunks": found["plan"]["target"]["chunks"],
        "all": first["cost"]["tokens"],
        "tokens": found["plan"]["cost"]["tokens"],
        "counts": found["plan"]["counts"],
    }


def _killed(words: Path, documents: int) -> Any:
    """A change of model, killed again and again, wherever it is, and then let through."""
    print("  killed", flush=True)
    folder = _loaded("killed", words, documents)
    log = WORK / "given.log"
    command = [OURS.python, INSIDE / "ours_migrate.py", "migrate", folder, log, "embedding.dimensions=256"]
    draw, kills, whole = random.Random(7), 0, 2.5
    while kills < KILLS:
        child = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(draw.uniform(0.5, whole))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
            kills += 1
        else:
            assert child.returncode == 0, f"exit {child.returncode} from {command}"
            break
    told = None
    if kills == KILLS:
        told = json.loads(run(command, WORK)[1])
    given = Counter(log.read_text().split())
    return {"kills": kills, "given": sum(given.values()), "distinct": len(given), "last": told}


def _meanwhile(words: Path, documents: int) -> Any:
    """Searches before and during a migration."""
    print("  searches meanwhile", flush=True)
    folder = _loaded("meanwhile", words, documents)
    searching = subprocess.Popen(
        [OURS.python, INSIDE / "ours_migrate.py", "search", folder],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(10)
    began = time.time()
    told = answer(
        [OURS.python, INSIDE / "ours_migrate.py", "migrate", folder, WORK / "unused.log", "chunking.max_tokens=400"],
        WORK,
    )
    ended = time.time()
    found = json.loads(searching.communicate()[0])
    before = [took for at, took in found if at < began][20:]
    during = [took for at, took in found if began <= at < ended]
    return {
        "migration": told,
        "before": {"searches": len(before), "median": median(before), "p95": quantiles(before, n=20)[-1]},
        "during": {"searches": len(during), "median": median(during), "p95": quantiles(during, n=20)[-1]},
    }


def _rollback(words: Path, documents: int) -> Any:
    print("  rollback: load", flush=True)
    folder = _site("rollback", embedder="generated", dimensions=None)
    run([OURS.python, INSIDE / "generated.py", "write", words, folder / "docs", str(documents)], WORK)
    run([OURS.python, INSIDE / "ours_apply.py", folder], WORK)
    print("  rollback", flush=True)
    command = [OURS.python, INSIDE / "ours_migrate.py", "rollback", folder, str(documents), str(ROUNDS), str(CHUNKS)]
    return answer(command, WORK)


def _loaded(name: str, words: Path, documents: int) -> Path:
    folder = _site(name)
    run([OURS.python, INSIDE / "generated.py", "write", words, folder / "docs", str(documents)], WORK)
    run([Path(OURS.python).with_name("steadlith"), "apply", "--yes"], folder)
    return folder


def verdicts(data: Any) -> Iterable[Verdict]:
    if data["maximum"]:
        share = data["maximum"]["tokens"] / data["maximum"]["all"]
        yield Verdict("maximum from 512 to 480, PEPs: tokens re-embedded", "under 25 %", f"{share:.1%}", share < 0.25)
    killed = data["killed"]
    again = killed["given"] - killed["distinct"]
    most = 64 * killed["kills"]
    yield Verdict(
        f"a model migration killed {killed['kills']} times: texts given twice",
        f"at most the batches in flight, {most:,}",
        f"{again:,} of {killed['distinct']:,}",
        again <= most,
    )
    slower = data["meanwhile"]["during"]["median"] / data["meanwhile"]["before"]["median"]
    yield Verdict("searches during a migration", "at most 1.5 times slower", f"{slower:.2f}", slower <= 1.5)
    first = data["rollback"]["runs"][0]
    yield Verdict(
        f"rollback over {data['rollback']['rounds']} generations at {data['rollback']['chunks']:,} occurrences: store",
        "under 200 ms",
        ms(first["store"]),
        first["store"] < 0.2,
    )


def render(data: Any) -> Iterable[str]:
    if found := data["maximum"]:
        counts = ", ".join(f"{name} {count:,}" for name, count in found["counts"].items() if count)
        yield (
            "The maximum from 512 to 480 tokens, over the newest state of peps-commits "
            f"({found['documents']:,} documents, {found['chunks']:,} chunks): {counts}; {found['tokens']:,} of "
            f"{found['all']:,} tokens are embedded anew."
        )
    killed = data["killed"]
    yield (
        f"A change of model over {killed['distinct']:,} distinct texts, killed {killed['kills']} times at random "
        f"moments and gone on with: the model was given {killed['given']:,} texts."
    )
    yield "Searches in a process of their own, on the same two cores, before and during a change of the chunker:"
    rows = [
        (name, f"{one['searches']:,}", ms(one["median"]), ms(one["p95"]))
        for name, one in ((each, data["meanwhile"][each]) for each in ("before", "during"))
    ]
    yield table(("", "searches", "median", "p95"), rows)
    yield "Going back over all generations, and then back and forth; *store* is the commit:"
    runs = [
        (f"{run_['documents']:,}", ms(run_["plan"]), ms(run_["apply"]), ms(run_["store"]))
        for run_ in data["rollback"]["runs"]
    ]
    yield table(("documents changed", "plan", "apply", "of it the store"), runs)
