"""The main job on a corpus: plan, apply, edit, plan, apply, search."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import corpus
import edits
from contenders import BOTH, OURS, PEER, STATE, Contender
from corpus import Corpus
from places import ROOT
from process import Usage, answer, medians, run
from tables import Verdict, mb, ms, table

ROUNDS = 3
EDITED = 20
QUERIES = 20

PLAN_EMPTY = "plan from empty"
APPLY_EMPTY = "apply from empty"
PLAN_UNCHANGED = "plan, nothing changed"
PLAN_EDITED = f"plan, {EDITED} documents edited"
APPLY_WORD = "apply, one word edited"


def measure(*, quick: bool) -> Any:
    """Each corpus, the smaller first; and a bare interpreter, to be taken off."""
    bare = medians(run([OURS.python, "-c", "pass"], ROOT)[0] for _ in range(ROUNDS))
    return {"bare": bare["wall"], "corpora": [_corpus(one) for one in corpus.corpora(quick=quick)]}


def _corpus(documents_of: Corpus) -> Any:
    """Each step several times, the contenders in turns."""
    folders = {one.name: one.project(documents_of.name) for one in BOTH}
    for folder in folders.values():
        shutil.copytree(documents_of.folder, folder / "docs", dirs_exist_ok=True)
    documents = documents_of.documents
    steps: dict[str, dict[str, Usage]] = {}

    def step(name: str, act: Callable[[Contender, Path, int], Usage]) -> None:
        print(f"  {documents_of.name}: {name}", flush=True)
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

    asked = documents_of.folder.parent / f"{documents_of.name}-queries.json"
    asked.write_text(json.dumps(edits.queries(documents_of.folder, documents, QUERIES)), "utf-8")
    print(f"  {documents_of.name}: search", flush=True)
    search = {one.name: answer([one.python, one.inside("search"), asked], folders[one.name]) for one in BOTH}
    return {
        "name": documents_of.name,
        "what": documents_of.what,
        "documents": len(documents),
        "size": documents_of.size,
        "steps": steps,
        "search": search,
        "disk": disk,
    }


def verdicts(data: Any) -> Iterable[Verdict]:
    main, bare = data["corpora"][-1], data["bare"]
    steps = {name: each[OURS.name] for name, each in main["steps"].items()}
    faster = main["steps"][PLAN_EMPTY][PEER.name]["cpu"] / steps[PLAN_EMPTY]["cpu"]
    same, edited = steps[PLAN_UNCHANGED]["wall"] - bare, steps[PLAN_EDITED]["wall"] - bare
    word = steps[APPLY_WORD]
    found = main["search"][OURS.name]
    asked = found["warm"] - found["embedding"]
    yield Verdict(PLAN_EMPTY, "at least 22 times less CPU than the peer", f"{faster:.1f} times less", faster >= 22)
    yield Verdict(PLAN_UNCHANGED, "under 0.15 s beyond a bare interpreter", f"{same:.2f} s", same < 0.15)
    yield Verdict(PLAN_EDITED, "under 0.3 s beyond a bare interpreter", f"{edited:.2f} s", edited < 0.3)
    yield Verdict(APPLY_WORD, "under 1 MB written", f"{word['written'] / 1e6:.2f} MB", word["written"] < 1e6)
    wall = word["wall"] - bare
    yield Verdict(APPLY_WORD, "under 0.2 s beyond a bare interpreter", f"{wall:.2f} s", wall < 0.2)
    yield Verdict("search, warm, query vector given", "under 3 ms", ms(asked), asked < 0.003)


def render(data: Any) -> Iterable[str]:
    yield f"Budgets are judged on `{data['corpora'][-1]['name']}`."
    for one in data["corpora"]:
        yield from _render(one)


def _render(one: Any) -> Iterable[str]:
    yield f"### {one['name']}"
    yield (
        f"{one['what']}: {one['documents']} documents, {one['size'] / 1e6:.1f} MB. {ROUNDS} runs of each "
        "step, each a process of its own that prints totals. An apply includes the plan that it carries out."
    )
    rows = []
    for step, each in one["steps"].items():
        ours, peer = each[OURS.name], each[PEER.name]
        rows += [_step(step, "ours", ours, ""), _step("", "peer", peer, f"{peer['cpu'] / ours['cpu']:.1f}")]
    yield table(("step", "", "wall", "CPU", "peer's CPU : ours", "peak memory", "written", "to disk"), rows)
    yield (
        f"Search in process, {QUERIES} queries of four words from the documents, asked in turns; *slow* is the "
        "90th percentile. Ours asks a dense and a lexical arm, the peer has the dense one only."
    )
    names = ("", "chunks", "first", "warm", "slow", "warm, CPU", "of it the query's vector", "files after apply")
    rows = [
        (
            each.name,
            f"{(found := one['search'][each.name])['chunks']:,}",
            *(ms(found[what]) for what in ("first", "warm", "slow", "cpu", "embedding")),
            mb(one["disk"][each.name]),
        )
        for each in BOTH
    ]
    yield table(names, rows)


def _step(step: str, who: str, used: Any, ratio: str) -> tuple[str, ...]:
    return (
        step,
        who,
        f"{used['wall']:.2f} s",
        f"{used['cpu']:.2f} s",
        ratio,
        mb(used["memory"]),
        mb(used["written"]),
        mb(used["to_disk"]),
    )
