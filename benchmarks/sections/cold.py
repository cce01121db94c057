"""The cold core against the peer's: everything read, normalised, cut and hashed up to the root, once."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import corpus
from contenders import BOTH, OURS, PEER, Contender
from corpus import Corpus
from process import answer, middle, run
from tables import ABSENT, Verdict, ms, table

ROUNDS = 3
CORE = 0
"""The core that everything but the two processes runs on."""

BARS = {"english": (22, 30), "cjk": (9, 12), "cjk-manuals": (9, 12)}
TWO = 50


def measure(*, quick: bool) -> Any:
    """Both corpora that are here, the contenders in turns."""
    found = [one for make in (corpus.english, corpus.cjk, corpus.manuals) if (one := make(quick=quick))]
    return [_corpus(one, 1 if quick else ROUNDS) for one in found] or None


def _corpus(one: Corpus, rounds: int) -> Any:
    folders = {contender.name: contender.project(f"cold-{one.name}") for contender in BOTH}
    for folder in folders.values():
        _link(one, folder / "docs")
    ours, plain, peer, twice, command = [], [], [], [], []
    for number in range(rounds):
        print(f"  {one.name}: round {number + 1} of {rounds}", flush=True)
        ours.append(_inside(OURS, folders[OURS.name], "files", CORE))
        plain.append(_inside(OURS, folders[OURS.name], "plain", CORE))
        peer.append(_inside(PEER, folders[PEER.name], "files", CORE))
        twice.append(_inside(OURS, folders[OURS.name], "twice", None))
        command.append(run([PEER.program, *PEER.plan], folders[PEER.name], core=CORE)[0])
    assert ours[0]["documents"] == peer[0]["documents"]
    assert ours[0]["root"] == twice[0]["root"]
    for each in (*ours, *plain, *peer, *twice):
        del each["root"]
    return {
        "name": one.name,
        "what": one.what,
        "rounds": rounds,
        "ours": middle(ours),
        "plain": middle(plain),
        "peer": middle(peer),
        "twice": middle(twice),
        "command": middle(command),
    }


def _inside(one: Contender, folder: Path, how: str, core: int | None) -> Any:
    return answer([one.python, one.inside("core"), how, "docs"], folder, core=core)


def _link(one: Corpus, docs: Path) -> None:
    for path in one.documents:
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).hardlink_to(one.folder / path)


def verdicts(data: Any) -> Iterable[Verdict]:
    for each in data:
        least, beyond = BARS[each["name"]]
        ratio = each["peer"]["cpu"] / each["ours"]["cpu"]
        said = f"{ratio:.1f} times less CPU than the peer's core, {_times(each, 'plan'):.1f} than its plan"
        bar = f"{least} times (beyond: {beyond})"
        yield Verdict(f"cold core, {each['name']}, one core", bar, said, ratio >= least, ratio >= beyond)
        if each["name"] == "english":
            two = each["peer"]["wall"] / each["twice"]["wall"]
            yield Verdict(
                "cold core, english, two processes", f"beyond: {TWO} times", f"{two:.1f} times", two >= TWO, two >= TWO
            )


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        "*Ours*: list and read the files, normalise, front matter, cut, hash every chunk and every file, the root of "
        "every document, the trie and the corpus root. *Peer, its core*: its `build_target_manifest`, which lists, "
        "reads, normalises, cuts and hashes the same files, and the root over it. *Peer, its plan*: its "
        "`prepare_index`, which is the core and the comparison with an empty index. Both in process, start of the "
        "interpreter and imports excluded (both cut a word before), each run a fresh process on one core, in turns; "
        "CPU time. *By command* is the peer's `steadlith plan` with all that. *Two processes* is wall time of two "
        "workers that are there already (paths in, roots out) against the peer's core by wall time; their start is "
        "beside it. *As if all were plain text* is the same without a grammar, which the peer does not have: what ours "
        "takes beyond that is headings, fences, tables and HTML. Where documents are small and full of those, as "
        "FastAPI's translations are (a heading or a block every 450 bytes), a step of Python for each is the largest "
        "part, and the peer, which reads words, is at its fastest on text without spaces; so the ratio is smallest "
        "there."
    )
    for each in data:
        ours, peer = each["ours"], each["peer"]
        yield f"### {each['name']}"
        yield (
            f"{each['what']}: {ours['documents']:.0f} documents, {ours['bytes'] / 1e6:.1f} MB; {each['rounds']} runs. "
            f"{ours['chunks']:,.0f} chunks of ours, {peer['chunks']:,.0f} of the peer's."
        )
        speed = ours["bytes"] / 1e6
        rows = [
            ("ours, the core", ms(ours["cpu"]), f"{speed / ours['cpu']:.1f}", "1.0"),
            (
                "ours, as if all were plain text",
                ms(each["plain"]["cpu"]),
                f"{speed / each['plain']['cpu']:.1f}",
                f"{each['plain']['cpu'] / ours['cpu']:.1f}",
            ),
            ("peer, its core", ms(peer["cpu"]), f"{speed / peer['cpu']:.1f}", f"{peer['cpu'] / ours['cpu']:.1f}"),
            ("peer, its plan", ms(peer["plan"]), f"{speed / peer['plan']:.1f}", f"{_times(each, 'plan'):.1f}"),
            (
                "peer, its plan by command",
                ms(each["command"]["cpu"]),
                f"{speed / each['command']['cpu']:.1f}",
                f"{each['command']['cpu'] / ours['cpu']:.1f}",
            ),
        ]
        yield table(("one core", "CPU", "MB/s", "times ours"), rows)
        rows = [
            ("ours, one process", ms(ours["wall"]), f"{peer['wall'] / ours['wall']:.1f}"),
            (
                f"ours, two processes (started in {ms(each['twice']['start'])})",
                ms(each["twice"]["wall"]),
                f"{peer['wall'] / each['twice']['wall']:.1f}",
            ),
            ("peer, its core", ms(peer["wall"]), "1.0"),
        ]
        yield table(("by wall time", "wall", "faster than the peer"), rows)


def _times(each: Any, what: str) -> float:
    return each["peer"][what] / each["ours"]["cpu"]
