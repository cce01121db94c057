"""The main job on a corpus: plan, apply, edit, plan, apply, search."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import edits
from contenders import BOTH, STATE, Contender
from corpus import Corpus
from process import Usage, medians, run

ROUNDS = 3
EDITED = 20
QUERIES = 20

PLAN_EMPTY = "plan from empty"
APPLY_EMPTY = "apply from empty"
PLAN_UNCHANGED = "plan, nothing changed"
PLAN_EDITED = f"plan, {EDITED} documents edited"
APPLY_WORD = "apply, one word edited"


@dataclass(frozen=True, slots=True)
class Search:
    """Seconds. `embedding` is the part of a warm search that makes the query's vector."""

    chunks: int
    first: float
    warm: float
    slow: float
    cpu: float
    embedding: float


@dataclass(frozen=True, slots=True)
class Spine:
    """What was measured on one corpus: by step and contender, and by contender."""

    corpus: Corpus
    steps: dict[str, dict[str, Usage]]
    search: dict[str, Search]
    disk: dict[str, int]


def measure(corpus: Corpus) -> Spine:
    """Each step several times, the contenders in turns."""
    folders = {one.name: one.project(corpus.name) for one in BOTH}
    for folder in folders.values():
        shutil.copytree(corpus.folder, folder / "docs", dirs_exist_ok=True)
    documents = corpus.documents
    steps: dict[str, dict[str, Usage]] = {}

    def step(name: str, act: Callable[[Contender, Path, int], Usage]) -> None:
        print(f"  {corpus.name}: {name}", flush=True)
        rounds = [{one.name: act(one, folders[one.name], number) for one in BOTH} for number in range(ROUNDS)]
        steps[name] = {one.name: medians(each[one.name] for each in rounds) for one in BOTH}

    def plan(one: Contender, folder: Path, _number: int) -> Usage:
        return run([one.program, *one.plan], folder)[0]

    def apply_empty(one: Contender, folder: Path, _number: int) -> Usage:
        shutil.rmtree(folder / STATE, ignore_errors=True)
        return run([one.program, *one.apply], folder)[0]

    def plan_edited(one: Contender, folder: Path, _number: int) -> Usage:
        with edits.many(folder / "docs", documents, EDITED):
            return run([one.program, *one.plan], folder)[0]

    def apply_word(one: Contender, folder: Path, number: int) -> Usage:
        edits.one_word(folder / "docs", documents, number)
        return run([one.program, *one.apply], folder)[0]

    step(PLAN_EMPTY, plan)
    step(APPLY_EMPTY, apply_empty)
    disk = {
        one.name: sum(path.stat().st_size for path in (folders[one.name] / STATE).iterdir() if path.is_file())
        for one in BOTH
    }
    step(PLAN_UNCHANGED, plan)
    step(PLAN_EDITED, plan_edited)
    step(APPLY_WORD, apply_word)

    asked = corpus.folder.parent / f"{corpus.name}-queries.json"
    asked.write_text(json.dumps(edits.queries(corpus.folder, documents, QUERIES)), "utf-8")
    print(f"  {corpus.name}: search", flush=True)
    search = {
        one.name: Search(**json.loads(run([one.python, one.inside("search"), asked], folders[one.name])[1]))
        for one in BOTH
    }
    return Spine(corpus, steps, search, disk)
