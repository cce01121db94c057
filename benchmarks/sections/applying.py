"""Apply and the store: a first load, edits, disk, memory and verification of up to half a million chunks.

1. Documents are generated out of sentences that authors wrote (inside/generated.py), 384 dimensions, float32.
2. Vectors are a cheap function of the text, the same for all, and the time they take is taken off.
3. The store alone is driven through its port; everything else is plan and apply in process, start-up excluded.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import corpus
from contenders import LANGCHAIN, OURS, PEER, STATE, Party, install_langchain
from places import INSIDE, WORK
from process import middle, run
from sections import applyingpage
from sections.applyingpage import EDIT, FIRST, NOTHING, WORD

STORE = 25_400
"""Documents of half a million chunks: each is cut into 19.7."""
WHOLE = (660, 5_080)
LOADS = (2_540, 10_160)
OTHERS = 1_016
QUICK = 25
"""How much smaller all of it is in a quick run."""
CHANGED = 500
ROUNDS = 5

OUR_CONFIG = """\
[sources.docs]
path = "docs"

[embedding]
embedder = "generated"
"""
PEER_CONFIG = """\
[sources]
include = ["docs/**/*.md"]

[chunker]
min_tokens = 170
primary_mask_bits = 6
backup_mask_bits = 5

[embedding]
provider = "hash"
dimensions = 384
"""
CONFIG = {OURS.name: OUR_CONFIG, PEER.name: PEER_CONFIG}

verdicts, render = applyingpage.verdicts, applyingpage.render


def measure(*, quick: bool) -> Any:
    """The store first; then ours from small to large; then the others beside it."""
    install_langchain()
    texts = corpus.english(quick=quick) or corpus.corpora(quick=quick)[-1]
    words = WORK / "sentences.json"
    gathered = _generated("sentences", texts.folder, words)
    less = QUICK if quick else 1
    return {
        "source": texts.what,
        "sentences": gathered,
        "store": _store(words, STORE // less),
        "whole": [_whole(OURS, words, count // less, rounds=ROUNDS) for count in WHOLE],
        "memory": [_memory(words, count // less) for count in LOADS],
        "beside": {
            one.name: _whole(one, words, OTHERS // less, rounds=ROUNDS if one is OURS else 1)
            for one in (OURS, PEER, LANGCHAIN)
        },
    }


def _store(words: Path, documents: int) -> Any:
    """Load, whole applies on what was loaded, edits through the port, and a verification of all that came of it."""
    folder = _folder(OURS, "store")
    _say(OURS, documents, "the store alone: load")
    script = [OURS.python, OURS.inside("store")]
    used, told = run([*script, "load", folder, words, str(documents)], WORK)
    load = json.loads(told) | {"memory": used["memory"]}
    _generated("write", words, folder / "docs", documents)
    _apply(OURS, folder)  # the first look at these files, which reads them all
    steps = _steps(OURS, folder, documents, rounds=ROUNDS)
    _say(OURS, documents, "the store alone: edits, verify")
    edit = json.loads(run([*script, "edit", folder, words, str(documents), str(CHANGED), str(ROUNDS)], WORK)[1])
    used, told = run([*script, "verify", folder], WORK)
    shutil.rmtree(folder)
    return {"load": load, "edit": edit, "verify": json.loads(told) | {"memory": used["memory"]}, "steps": steps}


def _whole(party: Party, words: Path, documents: int, *, rounds: int) -> Any:
    """A first load and what follows; only the load is one run."""
    folder = _folder(party, f"whole-{documents}")
    size = _generated("write", words, folder / "docs", documents)
    _say(party, documents, FIRST)
    steps = {FIRST: _apply(party, folder)} | _steps(party, folder, documents, rounds=rounds)
    disk = {path.name: path.stat().st_size for path in sorted((folder / STATE).iterdir()) if path.is_file()}
    shutil.rmtree(folder)
    return {"documents": documents, "bytes": size, "rounds": rounds, "steps": steps, "disk": disk}


def _steps(party: Party, folder: Path, documents: int, *, rounds: int) -> Any:
    """Nothing changed; many chunks reworded; one word."""
    found = {}
    _say(party, documents, NOTHING)
    found[NOTHING] = middle(_apply(party, folder) for _ in range(rounds))
    for name, changed in ((EDIT, CHANGED), (WORD, 1)):
        _say(party, documents, name)
        first = 1 + rounds * (name == WORD)  # the round decides which documents, and which words
        found[name] = _apply(party, folder, documents, changed, first, rounds)
    return found


def _memory(words: Path, documents: int) -> Any:
    """Peak memory of a plan from nothing, and of that plan and its apply."""
    folder = _folder(OURS, f"memory-{documents}")
    _generated("write", words, folder / "docs", documents)
    _say(OURS, documents, "memory")
    plan = _apply(OURS, folder, environment={"PLAN_ONLY": "1"})
    load = _apply(OURS, folder)
    shutil.rmtree(folder)
    return {"plan": plan["memory"], "load": load}


def _apply(
    party: Party, folder: Path, *edits: Path | int, environment: Mapping[str, str] | None = None
) -> dict[str, float]:
    """The median of what one process tells of its applies, and its peak memory."""
    command = [party.python, party.inside("apply"), folder, *map(str, edits)]
    used, told = run(command, WORK, environment=environment)
    return middle(json.loads(told)) | {"memory": used["memory"]}


def _generated(what: str, *arguments: Path | int) -> int:
    return int(run([OURS.python, INSIDE / "generated.py", what, *map(str, arguments)], WORK)[1])


def _folder(party: Party, name: str) -> Path:
    folder = WORK / party.name / name
    folder.mkdir(parents=True)
    if party.name in CONFIG:
        (folder / "steadlith.toml").write_text(CONFIG[party.name], "utf-8")
    return folder


def _say(party: Party, documents: int, what: str) -> None:
    print(f"  {documents:,} documents: {party.name}, {what}", flush=True)
