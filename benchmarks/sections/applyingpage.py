"""What applying.py measured, as Markdown, and what it says of the bars."""

from collections.abc import Iterable, Iterator
from typing import Any

from contenders import LANGCHAIN, LANGCHAIN_PACKAGES, OURS, PEER, PEER_VERSION
from tables import Verdict, mb, ms, table

FIRST = "first load"
NOTHING = "nothing changed"
EDIT = "500 chunks reworded"
WORD = "one word"

TEXT, VECTORS = 1.6, 1.3
"""How many times its text, and its vectors, an index may take on disk."""
HELD = 300
"""Bytes a chunk that an apply may keep in memory while it goes on: a tenth of the chunk's text and vector."""
BESIDES_CHECKS = "recomputing from below"


def verdicts(data: Any) -> Iterable[Verdict]:
    store, small = data["store"], data["whole"][0]
    load, check = store["load"], store["verify"]
    many = f"of {_about(load['occurrences'])} chunks"

    edit, apply = store["edit"]["store"], store["steps"][EDIT]["apply"]
    yield Verdict(f"{EDIT} {many}, the store", "under 150 ms", ms(edit), edit < 0.15)
    yield Verdict(f"{EDIT} {many}, apply besides embedding", "under 150 ms", ms(apply), apply < 0.15)

    rate = load["occurrences"] / sum(load["wall"].values())
    yield Verdict(f"first load {many}, the store", "at least 18,000 a second", f"{rate:,.0f}", rate >= 18_000)

    held, what = _held(data), "memory of a first load beyond its plan"
    yield Verdict(what, f"grows by under {HELD} bytes a chunk", f"{held:,.0f}", held < HELD)

    written = small["steps"][WORD]["written"]
    what = f"{WORD} of {_about(small['steps'][FIRST]['chunks'])} chunks"
    yield Verdict(what, "under 1 MB written, log, checkpoint and cache", mb(written), written < 1e6)

    bar, most = f"at most text + 60 % of it + {VECTORS} x vectors", _allowed(load)
    measured = f"{mb(load['disk'])} where {mb(most)} are allowed"
    yield Verdict(f"index {many} on disk", bar, measured, load["disk"] <= most)

    rows = check["chunks"] / (check["wall"]["whole"] - check["lexical"])
    what, bar = "verify --refresh=full: rows, text, vectors", "at least 150,000 chunks a second"
    yield Verdict(what, bar, f"{rows:,.0f}", rows >= 150_000)
    words = check["chunks"] / check["lexical"]
    yield Verdict("verify --refresh=full: lexical rows", "at least 15,000 a second", f"{words:,.0f}", words >= 15_000)


def _about(count: float) -> str:
    return f"{round(count, -3 if count >= 10_000 else 0):,.0f}"


def _allowed(load: Any) -> float:
    return TEXT * load["text"] + VECTORS * load["vectors"]


def _held(data: Any) -> float:
    """By how much the memory of an apply beyond its plan's grows, in bytes a chunk."""
    fewer, more = data["memory"]
    beyond = [each["load"]["memory"] - each["plan"] for each in (fewer, more)]
    return (beyond[1] - beyond[0]) / (more["load"]["chunks"] - fewer["load"]["chunks"])


def render(data: Any) -> Iterable[str]:
    load = data["store"]["load"]
    yield (
        f"Documents generated out of {data['sentences']:,} sentences ({data['source']}): the largest are "
        f"{load['documents']:,} documents, which our default policy cuts into {load['occurrences']:,} chunks of "
        f"{load['text'] / load['occurrences']:,.0f} bytes, no two alike. Vectors of 384 dimensions, float32, are a "
        "cheap function of the text, the same for all; wall and CPU are without the time that they took. *Written* are "
        "the bytes of all write calls in process: log, checkpoint, cache and fingerprints. An apply of one document "
        "comes before, so that start-up is not measured. *Embedded* counts eight probe texts of ours."
    )
    yield from _store(data["store"])
    yield from _whole(data)
    yield from _memory(data)
    yield from _beside(data["beside"])


def _store(store: Any) -> Iterator[str]:
    load, edit, check = store["load"], store["edit"], store["verify"]
    whole = sum(load["wall"].values())
    yield f"### The store alone, {load['occurrences']:,} chunks"
    yield (
        "Through the store's own port, as an apply writes: one transaction from nothing, and 5 edits of two chunks in "
        "each of 250 documents. Rows are cut, hashed and planned by the core while no clock runs. The load is one run, "
        "the edits are medians. Words are indexed by a thread beside the load, whose CPU counts. These edits come soon "
        "after a load: what a long row of them writes, and that some wait for merges, is told by "
        "[ADR 0015](adr/0015-recent-hashes-apart.md)."
    )
    rows = [(name, f"{wall:.2f} s", f"{load['cpu'][name]:.2f} s") for name, wall in load["wall"].items()]
    rows.append(("all of the load", f"{whole:.2f} s", f"{sum(load['cpu'].values()):.2f} s"))
    yield table(("load", "wall", "CPU"), rows)
    yield table(
        ("", ""),
        [
            ("chunks a second", f"{load['occurrences'] / whole:,.0f}"),
            ("written", mb(load["written"])),
            ("on disk after the checkpoint", mb(load["disk"])),
            ("text; vectors", f"{mb(load['text'])}; {mb(load['vectors'])}"),
            (f"text + 60 % of it + {VECTORS} x vectors", mb(_allowed(load))),
            ("peak memory of the process, lots of 250 documents", mb(load["memory"])),
            (f"edit of {edit['chunks']} chunks in {edit['documents']} documents: the commit", ms(edit["store"])),
            ("looking up what is recorded for it; planning it", f"{ms(edit['look'])}; {ms(edit['plan'])}"),
            ("written by it", mb(edit["written"])),
            ("on disk after 5 such edits and the applies below", mb(edit["disk"])),
        ],
    )
    yield (
        f"A full verification of the {check['chunks']:,} chunks that came of all this, by check; "
        f"{mb(check['memory'])} of memory."
    )
    parts = {name: wall for name, wall in check["wall"].items() if name != "whole"}
    parts[BESIDES_CHECKS] = check["wall"]["whole"] - sum(parts.values())
    long = {name: wall for name, wall in parts.items() if wall >= check["wall"]["whole"] / 200}
    rows = [(name, f"{wall:.2f} s", f"{check['chunks'] / wall:,.0f}") for name, wall in long.items()]
    rows.append(("the others", f"{sum(parts.values()) - sum(long.values()):.2f} s", ""))
    for all_, wall in (
        ("all, by one process", check["wall"]["whole"]),
        ("all, by two: the lexical rows in the other", check["by_two"]),
    ):
        rows.append((all_, f"{wall:.2f} s", f"{check['chunks'] / wall:,.0f}"))
    yield table(("check", "wall", "chunks a second"), rows)


def _whole(data: Any) -> Iterator[str]:
    yield "### Plan and apply in process"
    yield (
        "The first load is one run. The largest was loaded through the store's port, and its files looked at once. "
        "*Apply* is without the plan and looks at all sources again, as every apply does."
    )
    sizes = [(each["steps"], each["steps"][FIRST]["chunks"]) for each in data["whole"]]
    sizes.append((data["store"]["steps"], data["store"]["load"]["occurrences"]))
    rows = [
        (f"{chunks:,.0f}", name, ms(step["plan"]), ms(step["apply"]), *_step(step))
        for steps, chunks in sizes
        for name, step in steps.items()
    ]
    yield table(("chunks", "step", "plan", "apply", "both", "CPU", "embedded", "written", "peak memory"), rows)
    rows = [
        (f"{each['steps'][FIRST]['chunks']:,.0f}", name, mb(size))
        for each in data["whole"]
        for name, size in each["disk"].items()
        if size
    ]
    yield table(("chunks", "file after these steps", ""), rows)


def _memory(data: Any) -> Iterator[str]:
    yield "### Memory of a first load"
    yield (
        "Peak memory of a process that only plans it, and of one that plans and applies. A chunk has about 1,400 bytes "
        f"of text and 1,536 of vector; from one size to the other apply keeps {_held(data):,.0f} bytes of each beyond "
        "its plan."
    )
    rows = []
    for each in data["memory"]:
        plan, load = each["plan"], each["load"]
        speed = load["chunks"] / load["wall"]
        rows.append(
            (f"{load['chunks']:,.0f}", mb(plan), mb(load["memory"]), mb(load["memory"] - plan), f"{speed:,.0f}")
        )
    yield table(("chunks", "plan", "plan and apply", "beyond the plan", "chunks a second, plan and apply"), rows)


def _beside(parties: Any) -> Iterator[str]:
    versions = ", ".join(f"`{each}`" for each in LANGCHAIN_PACKAGES)
    yield f"### Beside steadlith {PEER_VERSION} and LangChain's `index()`"
    yield (
        f"LangChain is {versions}. `index()` wants a store that takes ids and deletes by them; `SQLiteVec` does "
        "neither, so it is subclassed to do just that, on a connection of pysqlite3, since this Python's own sqlite3 "
        'may not load extensions. `cleanup="full"` is the mode that leaves the index as the sources are. It is given '
        "the sections as its documents, so that it cuts nothing. It reads and hashes everything each time, and so does "
        "the peer. Ours has a lexical index and a cache of vectors besides, the peer a cache; LangChain has neither. "
        f"Ours: medians of {parties[OURS.name]['rounds']}; the others: one run of each step."
    )
    rows = []
    names = {OURS.name: "ours", PEER.name: "peer", LANGCHAIN.name: "LangChain"}
    for step in (FIRST, NOTHING, EDIT, WORD):
        for party, each in parties.items():
            used = each["steps"][step]
            times = used["wall"] / parties[OURS.name]["steps"][step]["wall"]
            rows.append((step if party == OURS.name else "", names[party], *_step(used), f"{times:.1f}"))
    yield table(("step", "", "wall", "CPU", "embedded", "written", "peak memory", "times ours by wall"), rows)
    rows = [
        (names[party], f"{each['steps'][FIRST]['chunks']:,.0f}", mb(sum(each["disk"].values())))
        for party, each in parties.items()
    ]
    yield table(("", "chunks", "files after these steps"), rows)


def _step(step: Any) -> tuple[str, ...]:
    return (
        f"{step['wall']:.2f} s",
        f"{step['cpu']:.2f} s",
        f"{step['embedded']:,.0f}",
        mb(step["written"]),
        mb(step["memory"]),
    )
