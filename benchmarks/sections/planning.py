"""Plans over 2,000 documents of 36 MB: nothing changed, twenty edits, every file touched."""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import corpus
import edits
from contenders import BOTH, OURS, PEER, Contender
from places import ROOT, WORK
from process import Usage, medians, run
from tables import Verdict, mb, ms, table

ROUNDS = 7
DOCUMENTS = 2000
BYTES = 37_700_000
EDITED = 20

UNCHANGED = "nothing changed"
EDITS = f"{EDITED} documents edited"
TOUCHED = "every file touched"
BARE = "a bare interpreter"


def measure(*, quick: bool) -> Any:
    """Every step in turns; the peer once a step, since it takes as long for each."""
    english = corpus.english(quick=quick)
    if english is None:
        return None
    many = _enlarge(english.folder, DOCUMENTS // 10 if quick else DOCUMENTS, BYTES // 10 if quick else BYTES)
    documents = sorted(path.relative_to(many) for path in many.rglob("*") if path.is_file())
    folders = {one.name: one.project("planning") for one in BOTH}
    for one in BOTH:
        shutil.copytree(many, folders[one.name] / "docs", dirs_exist_ok=True)
        run([one.program, *one.apply], folders[one.name])
        run([one.program, *one.apply], folders[one.name])  # what the first apply saw too young is old enough now
    steps: dict[str, dict[str, Usage]] = {}

    def step(name: str, act: Callable[[Contender, Path], Usage]) -> None:
        print(f"  {name}", flush=True)
        rounds = {OURS.name: ROUNDS, PEER.name: 1}
        steps[name] = {one.name: medians(act(one, folders[one.name]) for _ in range(rounds[one.name])) for one in BOTH}

    def plan(one: Contender, folder: Path) -> Usage:
        return run([one.program, *one.plan], folder)[0]

    def plan_edited(one: Contender, folder: Path) -> Usage:
        with edits.many(folder / "docs", documents, EDITED):
            return plan(one, folder)

    def plan_touched(one: Contender, folder: Path) -> Usage:
        for path in documents:
            os.utime(folder / "docs" / path)
        return plan(one, folder)

    step(UNCHANGED, plan)
    with edits.many(folders[OURS.name] / "docs", documents, EDITED):
        _, printed = run([OURS.program, "plan", "--json"], folders[OURS.name])
    run([OURS.program, *OURS.apply], folders[OURS.name])  # the edits were taken back, with younger stamps
    step(EDITS, plan_edited)
    step(TOUCHED, plan_touched)
    bare = medians(run([OURS.python, "-c", "pass"], ROOT)[0] for _ in range(ROUNDS))
    return {
        "documents": len(documents),
        "size": sum((many / path).stat().st_size for path in documents),
        "steps": steps,
        "bare": bare,
        "json": len(printed.encode()),
    }


def _enlarge(folder: Path, how_many: int, size: int) -> Path:
    """The documents again and again, each copy with words of its own, until there are enough; then cut to `size`."""
    place = WORK / "many"
    texts = [path for path in sorted(folder.rglob("*")) if path.suffix in {".md", ".rst"}]
    mean, made, total = size / how_many, 0, 0
    while made < how_many:
        path = texts[made % len(texts)]
        text = path.read_text("utf-8")
        copy = made // len(texts)
        if copy:
            text = re.sub(r"\n\n(?=\w)", f"\n\nEdition {copy}: ", text)
        room = int(mean * (made + 1)) - total
        text = text[: max(400, 2 * room)]
        target = place / f"{copy:02}" / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        total += target.write_bytes(text.encode())
        made += 1
    return place


def verdicts(data: Any) -> Iterable[Verdict]:
    ours = {name: each[OURS.name] for name, each in data["steps"].items()}
    bare = data["bare"]["wall"]
    for name, most in ((UNCHANGED, 0.15), (EDITS, 0.3), (TOUCHED, 0.5)):
        beyond = ours[name]["wall"] - bare
        yield Verdict(f"plan, {name}", f"under {most} s beyond a bare interpreter", f"{beyond:.2f} s", beyond < most)
    memory = ours[UNCHANGED]["memory"]
    yield Verdict(f"plan, {UNCHANGED}", "under 60 MB of memory", mb(memory), memory < 60e6)
    yield Verdict(f"plan --json, {EDITS}", "under 100 KB", f"{data['json'] / 1e3:.0f} KB", data["json"] < 100e3)


def render(data: Any) -> Iterable[str]:
    yield (
        f"{data['documents']:,} documents, {data['size'] / 1e6:.1f} MB: FastAPI's documentation and Python's PEPs, the "
        f"later copies with words of their own. Ours: {ROUNDS} runs a step; the peer, which reads and cuts everything "
        "each time: one. Ours was applied twice, as an index is that is applied daily: then every stamp is believed."
    )
    rows = []
    for name, each in data["steps"].items():
        ours, peer = each[OURS.name], each[PEER.name]
        for who, used in (("ours", ours), ("peer", peer)):
            beyond = used["wall"] - data["bare"]["wall"]
            label = name if who == "ours" else ""
            rows.append((label, who, f"{used['wall']:.2f} s", ms(beyond), f"{used['cpu']:.2f} s", mb(used["memory"])))
    yield table(("plan", "", "wall", "beyond bare", "CPU", "peak memory"), rows)
    yield f"`plan --json` with {EDITS}: {data['json'] / 1e3:.0f} KB."
