"""Retrieval by size of chunk: do the default sizes find passages as well as other sizes do?

1. Questions and answers are those of TREC CAR's automatic judgements (Dietz, Verma, Radlinski, Craswell: TREC Complex
   Answer Retrieval Overview, 2017): the title of a document and a heading in it are the query, the text that the author
   put below that heading is the passage that answers it.
2. The words of all headings are taken out of what is indexed, or a query would find itself. Their places and levels
   stay, since the chunker lives by them.
3. Passages are ranked, not chunks: a chunk stands for the passages with which it shares at least half of the shorter of
   both, so that no size is favoured by the counting. Chunks are counted beside that.
4. Everything is seeded; intervals come from a paired bootstrap over questions.
"""

from collections.abc import Iterable, Sequence
from math import log2, sqrt
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

import corpus
from contenders import DEFAULT_SIZES, OURS
from places import VECTORS, WORK
from process import answer, run
from tables import ABSENT, Verdict, table

SIZES = ((128, 384), (192, 512), (256, 640), DEFAULT_SIZES)
DEFAULT = SIZES.index(DEFAULT_SIZES)
FORMATS = {"fastapi-docs": "markdown", "peps-commits": "rst"}
QUESTIONS, DOCUMENTS = 400, 200
SAMPLES, SEED = 1000, 1
BAR = 0.01
BUDGET = 6000
"""Bytes of hits: about four chunks at the default sizes."""
TOGETHER = "both arms"

CONFIG = """\
[sources.docs]
path = "docs"

[chunking]
min_tokens = {least}
max_tokens = {most}

[embedding]
embedder = "use"

[cache]
path = "{cache}"
"""


def measure(*, quick: bool) -> Any:
    """Each corpus at each size."""
    found = []
    for name, how in FORMATS.items():
        if one := corpus.latest(name):
            found.append(_corpus(name, one.folder, how, 40 if quick else QUESTIONS, 20 if quick else DOCUMENTS))
    return found or None


def _corpus(name: str, folder: Path, how: str, questions: int, documents: int) -> Any:
    out = WORK / f"judged-{name}"
    out.mkdir()
    asked = [OURS.python, OURS.inside("judged").with_name("questions.py"), how, folder, out]
    about = answer([*asked, str(questions), str(documents)], WORK)
    rows = []
    for least, most in SIZES:
        print(f"  {name}: {least} to {most}", flush=True)
        project = out / f"{least}-{most}"
        project.mkdir()
        (project / "docs").symlink_to(out / "docs")
        (project / "steadlith.toml").write_text(CONFIG.format(least=least, most=most, cache=VECTORS), "utf-8")
        run([OURS.program, *OURS.apply], project)
        rows.append(
            {"sizes": [least, most]} | answer([OURS.python, OURS.inside("judged"), out / "questions.json"], project)
        )
    return {"name": name, "rows": rows} | about


def recall(_chunk: int, _read: int, before: int, among: int) -> float:
    """Recall@5 over passages: the share of orders in which the one asked for is among the first five."""
    return max(0, min(5 - before, among)) / among if among else 0.0


def gain(_chunk: int, _read: int, before: int, among: int) -> float:
    """nDCG@10 over passages, the mean over all orders of those that come together."""
    return sum(1 / log2(rank + 1) for rank in range(before + 1, min(before + among, 10) + 1)) / among if among else 0.0


def recall_of_chunks(chunk: int, _read: int, _before: int, _among: int) -> float:
    """Recall@5 over chunks."""
    return float(1 <= chunk <= 5)


def gain_of_chunks(chunk: int, _read: int, _before: int, _among: int) -> float:
    """nDCG@10 over chunks."""
    return 1 / log2(chunk + 1) if 1 <= chunk <= 10 else 0.0


def within(chunk: int, read: int, _before: int, _among: int) -> float:
    """Recall within the same amount of text."""
    return float(chunk > 0 and read <= BUDGET)


JUDGED = {"recall@5": recall, "nDCG@10": gain}
BY_CHUNKS = {"recall@5, chunks": recall_of_chunks, "nDCG@10, chunks": gain_of_chunks}
METRICS = JUDGED | BY_CHUNKS | {f"recall in {BUDGET:,} bytes": within}


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """95 % of the means of samples drawn with replacement: paired, when these are differences by question."""
    random = Random(SEED)
    means = sorted(mean(random.choices(differences, k=len(differences))) for _ in range(SAMPLES))
    return means[round(SAMPLES * 0.025)], means[round(SAMPLES * 0.975)]


def losses(data: Any, metric: str, arm: str) -> tuple[int, list[float]]:
    """The best size over all questions of both corpora, and what the default loses against it, by question."""
    score = METRICS[metric]
    scores = [[score(*found) for each in data for found in each["rows"][n]["ranks"][arm]] for n in range(len(SIZES))]
    best = max(range(len(SIZES)), key=lambda n: (mean(scores[n]), n == DEFAULT))
    return best, [a - b for a, b in zip(scores[best], scores[DEFAULT], strict=True)]


def verdicts(data: Any) -> Iterable[Verdict]:
    for metric in JUDGED:
        best, differences = losses(data, metric, TOGETHER)
        low, high = interval(differences)
        said = (
            f"{mean(differences) * 100:.1f} points against {SIZES[best][0]} to {SIZES[best][1]} "
            f"(95 %: {low * 100:+.1f} to {high * 100:+.1f})"
        )
        yield Verdict(
            f"{metric} of the default sizes, judged set",
            "at most 1 point lost against the best of three sizes",
            said,
            mean(differences) <= BAR,
        )


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        "Protocol: the automatic judgements of TREC CAR (Dietz, Verma, Radlinski, Craswell: *TREC Complex Answer "
        "Retrieval Overview*, 2017). A query is the title of a document and one heading in it; the passage that "
        "answers it is what the author wrote below that heading, up to the next one. Headings with fewer than two "
        "words, or that stand in the corpus more than once, or with less than 300 bytes below them ask nothing; at "
        "most four of a document do. In what is indexed the words of all headings are replaced by the word "
        "*Section*, or a query would find itself. Answers come from `steadlith apply` and `search` with the "
        "embedder `use`; *dense* and *lexical* are its arms alone. FastAPI's release notes, a list of one-line "
        "changes, are left out; of the PEPs a seeded sample is indexed."
    )
    yield (
        "As in TREC CAR what is ranked are passages, the same ones whatever the chunks: a hit stands for every "
        "passage of 300 bytes or more with which it shares at least half of the shorter of both, in no order (tied "
        "ranks as McSherry and Najork have them, *Computing Information Retrieval Performance Measures Efficiently "
        "in the Presence of Tied Scores*, 2008: the mean over all orders); a passage counts once, and a hit on none "
        "counts as a wrong one. So a chunk over three sections takes three ranks. Beside that the same over "
        "*chunks* as they are ranked, where a fixed number of hits gives larger chunks more text to be right in, "
        f"and the recall in the same amount of text: a hit counts if it ends within the first {BUDGET:,} bytes of "
        f"hits. Intervals are 95 %: where sizes are compared by a paired bootstrap over questions, {SAMPLES:,} "
        "samples, seeded, else by the standard error."
    )
    for each in data:
        yield f"### {each['name']}"
        yield (
            f"{each['questions']} questions, {each['documents']} documents, {each['passages']:,} passages. "
            f"The first: {_quoted(each['examples'])}."
        )
        rows = [
            (
                f"{row['sizes'][0]} to {row['sizes'][1]}",
                f"{row['chunks']:,}",
                arm,
                *(_with_interval([score(*found) for found in ranks]) for score in METRICS.values()),
            )
            for row in each["rows"]
            for arm, ranks in row["ranks"].items()
        ]
        yield table(("sizes", "chunks", "arm", *METRICS), rows)
    rows = []
    for metric in METRICS:
        for arm in data[0]["rows"][0]["ranks"]:
            best, differences = losses(data, metric, arm)
            low, high = interval(differences)
            rows.append(
                (
                    metric,
                    arm,
                    f"{SIZES[best][0]} to {SIZES[best][1]}",
                    f"{mean(differences) * 100:.1f}",
                    f"{low * 100:+.1f} to {high * 100:+.1f}",
                )
            )
    yield "What the default loses, over all questions of both corpora, in points:"
    yield table(("measure", "arm", "best size", "the default loses", "95 %"), rows)


def _with_interval(scores: Sequence[float]) -> str:
    error = stdev(scores) / sqrt(len(scores))
    return f"{mean(scores):.1%} (+-{1.96 * error:.1%})"


def _quoted(queries: Sequence[str]) -> str:
    return "; ".join(f"*{query.replace('*', '')}*" for query in queries)
