"""One history replayed end to end, once over each store: what differs. Prints one JSON object.

Usage: ours_agreeing.py FOLDER CLONE COMMITS QUESTIONS.json STORE.toml...     each STORE.toml is a [store] table
"""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import steadlith
from steadlith_adapters.embedders.hash import FACTORY
from steadlith_core.planning.plan import Plan
from steadlith_core.records import Head
from steadlith_core.text.query import terms
from steadlith_core.vectors import unit

CONFIG = """\
[sources.docs]
path = "docs"

[embedding]
embedder = "hash"
dimensions = 256

"""
HITS = 10
EMBEDDER = FACTORY.build({"dimensions": 256})


def main() -> None:
    folder, clone, commits, questions = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(","), sys.argv[4]
    asked = json.loads(Path(questions).read_text("utf-8"))
    sites = [Site(folder / Path(store).stem, Path(store)) for store in sys.argv[5:]]
    other_plans, other_answers, steps, shares = [], [], 0, []
    for number, commit in enumerate(commits):
        told = [site.move_to(clone, commit) for site in sites]
        steps += sum(len(change.steps) for change in told[0].changes)
        other_plans += [commit for plan in told[1:] if comparable(plan) != comparable(told[0])]
        if number in {0, len(commits) // 2, len(commits) - 1}:
            for question in asked:
                dense = [site.dense(question) for site in sites]
                other_answers += [question for each in dense[1:] if each != dense[0]]
                lexical = [site.lexical(question) for site in sites]
                every = set.union(*lexical)
                shares.append(len(set.intersection(*lexical)) / len(every) if every else 1.0)
    heads = [site.head() for site in sites]
    print(
        json.dumps(
            {
                "commits": len(commits),
                "steps": steps,
                "other_plans": other_plans,
                "same_roots": len({(head.corpus_root, head.state_root) for head in heads}) == 1,
                "sound": [site.sound() for site in sites],
                "chunks": heads[0].chunks,
                "questions": len(shares),
                "other_answers": other_answers,
                "lexical_share": sum(shares) / len(shares),
                "seconds": [site.seconds for site in sites],
            }
        )
    )


def comparable(plan: Plan) -> Plan:
    """A plan without what names its own index, and what its store says of itself."""
    return replace(plan, base=replace(plan.base, lineage=None), store={}, config_digest=None)


class Site:
    """An index of its own over documents of its own."""

    def __init__(self, root: Path, store: Path) -> None:
        self.root, self.seconds = root, 0.0
        (root / "docs").mkdir(parents=True)
        (root / "steadlith.toml").write_text(CONFIG + store.read_text("utf-8"), "utf-8")

    def move_to(self, clone: str, commit: str) -> Plan:
        shutil.rmtree(self.root / "docs")
        (self.root / "docs").mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=clone, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", self.root / "docs"], input=archive, check=True)
        start = time.perf_counter()
        with steadlith.open(self.root) as index:
            plan = index.plan()
            index.apply(plan, allow=[each.override for each in plan.tripped])
        self.seconds += time.perf_counter() - start
        return plan

    def head(self) -> Head:
        with steadlith.open(self.root) as index:
            return index.head()

    def sound(self) -> bool:
        with steadlith.open(self.root) as index:
            return bool(index.verify().ok)

    def dense(self, question: str) -> list[tuple[float, tuple[str, ...]]]:
        """The nearest texts: by falling score, those that tie together. Which of those at the edge are left out, the
        store's own numbers decide; so they are not compared.
        """
        vector = unit(EMBEDDER.embed_query(question))
        with steadlith.open(self.root) as index, index.reader() as reader:
            space = reader.head.recipe.spaces[0]
            hits = reader.dense(space, vector, HITS)
            texts = {hit.entry: reader.occurrences([hit.entry], 1)[0].text for hit in hits}
        tied: dict[float, set[str]] = {}
        for hit in hits:
            tied.setdefault(round(hit.score, 6), set()).add(texts[hit.entry])
        return [(score, tuple(sorted(found))) for score, found in tied.items()][:-1]

    def lexical(self, question: str) -> set[str]:
        """The ten that the words lead to first: how they are ranked is each store's own."""
        with steadlith.open(self.root) as index, index.reader() as reader:
            hits = reader.lexical(terms(question), HITS)
            return {reader.occurrences([hit.entry], 1)[0].text for hit in hits}


if __name__ == "__main__":
    main()
