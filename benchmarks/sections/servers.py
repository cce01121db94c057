"""A server beside the file: PostgreSQL with pgvector, loaded and asked, and both stores through one history.

1. The server is the tests' own, started for the section on this machine, with its defaults: durable, nothing tuned.
2. The same generated documents and vectors go to SQLite, to PostgreSQL, and to a table that one would make by hand.
3. A history is replayed end to end over both stores: plans, roots and what the dense arm finds must be the same.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import corpus
import histories
from contenders import OURS
from places import INSIDE, ROOT, WORK
from process import answer, run
from tables import Verdict, ms, table

DOCUMENTS = 5_080
"""A hundred thousand chunks."""
TOPICS = 100_000
"""Chunks of 75 words, with vectors about topics."""
QUICK = 25
QUESTIONS, ROUNDS = 40, 5
COMMITS = 400
VARIABLE = "STEADLITH_BENCH_DSN"
SQLITE, EXACT, GRAPH = "SQLite", "PostgreSQL", "PostgreSQL, HNSW"
CONFIG = """\
[sources.docs]
path = "docs"

[embedding]
embedder = "hash"
dimensions = 384

"""


def measure(*, quick: bool) -> Any:
    """Everything, on one server."""
    texts = corpus.english(quick=False)
    words = WORK / "sentences.json"
    gathered = int(run([OURS.python, INSIDE / "generated.py", "sentences", texts.folder, words], WORK)[1])
    less = QUICK if quick else 1
    with server() as dsn:
        stores = {
            SQLITE: '[store]\ntype = "sqlite"\n',
            EXACT: _postgres("bench_exact"),
            GRAPH: _postgres("bench_graph", ann="hnsw", ann_from="1000"),
        }
        rows = {name: _store(name, table_, words, DOCUMENTS // less, dsn) for name, table_ in stores.items()}
        byhand = _byhand(words, DOCUMENTS // less, dsn)
        agreeing = _agreeing(dsn, quick=quick)
    return {
        "sentences": gathered,
        "source": texts.what,
        "rows": rows,
        "byhand": byhand,
        "agreeing": agreeing,
        "topics": answer([OURS.python, ROOT / "benchmarks" / "postgres.py", str(TOPICS // less)], ROOT),
    }


@contextmanager
def server() -> Iterator[str]:
    """The connection string of a server that lasts as long as the section."""
    child = subprocess.Popen(
        [sys.executable, ROOT / "tests" / "postgres_server.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    assert child.stdout
    try:
        told = json.loads(child.stdout.readline())
        yield (
            f"host={told['host']} port={told['port']} user={told['user']} password={told['password']} "
            f"dbname={told['dbname']}"
        )
    finally:
        child.stdin.close()
        child.wait()


def _postgres(schema: str, **more: str) -> str:
    settings = {"type": "postgres", "dsn_env": VARIABLE, "schema": schema} | more
    lines = (f"{key} = {value if value.isdigit() else json.dumps(value)}" for key, value in settings.items())
    return "\n".join(["[store]", *lines]) + "\n"


def _store(name: str, store: str, words: Path, documents: int, dsn: str) -> Any:
    folder = WORK / name.replace(", ", "-").lower()
    (folder / "docs").mkdir(parents=True)
    (folder / "steadlith.toml").write_text(CONFIG + store, "utf-8")
    script, environment = [OURS.python, OURS.inside("stores")], {VARIABLE: dsn}
    print(f"  {name}: load", flush=True)
    load = json.loads(run([*script, "load", folder, words, str(documents)], WORK, environment=environment)[1])
    print(f"  {name}: questions", flush=True)
    asked = [*script, "ask", folder, words, str(QUESTIONS), str(ROUNDS)]
    return {"load": load, "ask": json.loads(run(asked, WORK, environment=environment)[1])}


def _byhand(words: Path, documents: int, dsn: str) -> Any:
    folder = WORK / "byhand"
    (folder / "docs").mkdir(parents=True)
    (folder / "steadlith.toml").write_text(CONFIG, "utf-8")
    print("  by hand: load and questions", flush=True)
    command = [OURS.python, INSIDE / "byhand_pgvector.py", folder, words, str(documents), str(QUESTIONS), str(ROUNDS)]
    return json.loads(run(command, WORK, environment={"BYHAND_DSN": dsn})[1])


def _agreeing(dsn: str, *, quick: bool) -> Any:
    folder = corpus.clone("fastapi-commits")
    if folder is None:
        return None
    every = histories.commits(folder, quick=quick)[:COMMITS]
    place = WORK / "agreeing"
    place.mkdir()
    (place / "sqlite.toml").write_text('[store]\ntype = "sqlite"\n', "utf-8")
    (place / "postgres.toml").write_text(_postgres("bench_history"), "utf-8")
    questions = place / "questions.json"
    questions.write_text(json.dumps(QUESTIONS_ASKED), "utf-8")
    print(f"  {len(every)} commits over both stores", flush=True)
    command = [OURS.python, OURS.inside("agreeing"), place, folder, ",".join(every), questions]
    stores = [place / "sqlite.toml", place / "postgres.toml"]
    path = os.environ.get("PATH", os.defpath)
    return json.loads(run([*command, *stores], WORK, environment={VARIABLE: dsn, "PATH": path})[1])


QUESTIONS_ASKED = (
    "how to declare a request body",
    "path parameters with types",
    "dependency injection with yield",
    "background tasks after returning a response",
    "OAuth2 with password and bearer tokens",
    "testing with a database override",
    "CORS middleware",
    "deploy in a container",
    "response model and extra fields",
    "WebSockets",
)


def verdicts(data: Any) -> Iterable[Verdict]:
    yield from _verdicts_of_topics(data["topics"])
    exact, graph = data["rows"][EXACT], data["rows"][GRAPH]
    chunks = exact["load"]["chunks"]
    alone = chunks / exact["load"]["vectors_alone"]
    size = f"chunks of {exact['load']['text'] / chunks:,.0f} bytes"
    yield Verdict(
        f"PostgreSQL, {size}: vectors alone, by COPY", "at least 60,000 a second", f"{alone:,.0f}", alone >= 60_000
    )
    whole = chunks / sum(exact["load"]["wall"].values())
    yield Verdict(
        f"PostgreSQL, {size}: first load, all of it", "at least 5,000 chunks a second", f"{whole:,.0f}", whole >= 5000
    )
    taken = graph["ask"]["times"]["hybrid"][0]
    what = f"PostgreSQL, HNSW, {size}: hybrid search in {chunks:,}, query vector given, warm"
    yield Verdict(what, "under 15 ms", ms(taken), taken < 0.015)
    least, passing = graph["ask"]["least_filtered"], graph["ask"]["passing"]
    full = min(passing, 50)
    yield Verdict("PostgreSQL, HNSW: 50 hits where 1 % passes", "full", f"{least} of {full}", least == full)
    agreeing = data["agreeing"]
    if agreeing:
        # Guards are overridden: it is a replay.
        same = agreeing["same_roots"] and not agreeing["other_plans"] and not agreeing["other_answers"]
        measured = (
            "the same" if same else f"{len(agreeing['other_plans'])} plans, {len(agreeing['other_answers'])} answers"
        )
        yield Verdict("both stores over `fastapi-commits`", "equal roots, steps, answers", measured, same)


def _verdicts_of_topics(data: Any) -> Iterable[Verdict]:
    size = f"chunks of {data['words']} words"
    copied, loaded, (hybrid, _) = data["copied"], data["loaded"], data["hybrid"]
    what = f"PostgreSQL, {size}: vectors alone, by COPY"
    yield Verdict(what, "at least 60,000 a second", f"{copied:,.0f}", copied >= 60_000)
    what = f"PostgreSQL, {size}: first load, all of it"
    yield Verdict(what, "at least 5,000 chunks a second", f"{loaded:,.0f}", loaded >= 5000)
    what = f"PostgreSQL, HNSW, {size}: hybrid search in {data['chunks']:,}, query vector given, warm"
    yield Verdict(what, "under 15 ms", f"{hybrid:.1f} ms", hybrid < 15)


def render(data: Any) -> Iterable[str]:
    topics = data["topics"]
    yield (
        f"First {topics['chunks']:,} chunks of {topics['words']} words whose frequencies are those of a language, four "
        "words a query, and vectors about topics, of 384 dimensions, through the store's port: "
        f"{topics['copied']:,.0f} vectors a second alone, {topics['loaded']:,.0f} chunks a second in one write of all. "
        f"The graph takes {topics['graph']:.0f} s and finds {topics['recall']:.1%} of the ten nearest; a full check "
        f"takes {topics['checked']:.0f} s. *Hybrid* is all that a search asks the store for: both arms, cosines, and "
        "where the best ten stand."
    )
    asked = {name: value for name, value in topics.items() if isinstance(value, list)}
    rows = [(name, f"{median:.1f} ms", f"{most:.1f} ms") for name, (median, most) in asked.items()]
    yield table(("50 hits", "median", "slowest"), rows)
    yield "Then larger chunks, with more words a query, which is more to load and to rank:"
    load = data["rows"][SQLITE]["load"]
    yield (
        f"{load['documents']:,} documents generated out of {data['sentences']:,} sentences ({data['source']}), cut "
        f"into {load['chunks']:,} chunks of {load['text'] / load['chunks']:,.0f} bytes; vectors of 384 dimensions by "
        "the embedder `hash`, made while no clock runs. The server runs on the same machine, over loopback, with the "
        "defaults of PostgreSQL 18 and pgvector 0.8. *By hand* is one table with a generated `tsvector`, filled by "
        "COPY in batches of 250 documents that each commit, its indexes made afterwards, and two queries fused by "
        "rank; it keeps no history, no spans, no checksums and no roots. Loads are one run."
    )
    rows = []
    for name, row in data["rows"].items():
        whole = sum(row["load"]["wall"].values())
        chunks = row["load"]["chunks"]
        alone = f"{chunks / row['load']['vectors_alone']:,.0f}"
        rows.append((name, f"{whole:.1f} s", f"{chunks / whole:,.0f}", alone))
    byhand = data["byhand"]
    whole = byhand["load"] + byhand["indexing"]
    indexing = f"of which {byhand['indexing']:.1f} s making indexes"
    rows.append(("by hand", f"{whole:.1f} s ({indexing})", f"{byhand['chunks'] / whole:,.0f}", "-"))
    yield table(("store", "first load", "chunks a second", "vectors a second, alone, in a write of their own"), rows)
    graph = "the graph is made after the commit, within the load's time"
    yield (
        f"HNSW: {graph}. {QUESTIONS} questions, {ROUNDS} rounds, warm; *hybrid* is a whole search for 10 hits with the "
        "query vector given, *dense* and *lexical* are one arm asked for 50. Questions are eight words of a sentence, "
        "and some of them stand in most chunks. A vector of `hash` counts words, and a chunk here is ten sentences "
        "drawn from everywhere: nearly all are as far from a question as any other, which is the hardest case for a "
        "graph; see its recall. A model's vectors of texts about something are not so "
        "([postgres](adapters/postgres.md#measured)). Median, and ninth decile:"
    )
    ways = tuple(data["rows"][SQLITE]["ask"]["times"])
    rows = [
        (way, *(" / ".join(map(ms, row["ask"]["times"][way])) for row in data["rows"].values()), "-") for way in ways
    ]
    rows[0] = (*rows[0][:-1], " / ".join(map(ms, byhand["hybrid"])))
    recall = tuple(f"{row['ask']['recall']:.1%}" for row in data["rows"].values())
    filled = tuple(f"{row['ask']['least_filtered']} of 50" for row in data["rows"].values())
    rows += [("recall@10 of the dense arm", *recall, "-"), ("least hits where 1 % passes", *filled, "-")]
    yield table(("", *data["rows"], "by hand"), rows)
    yield from _agreement(data["agreeing"])


def _agreement(found: Any) -> Iterator[str]:
    if not found:
        yield "Left out: the history `fastapi-commits` was absent."
        return
    sqlite, postgres = found["seconds"]
    yield (
        f"`fastapi-commits` end to end, {found['commits']} commits planned and applied over each store "
        f"({found['steps']:,} steps, {found['chunks']:,} chunks at the end): {len(found['other_plans'])} plans differ, "
        f"roots are {'equal' if found['same_roots'] else 'NOT equal'}, both verify: {all(found['sound'])}. Of "
        f"{found['questions']} questions asked on the way the dense arm answers {len(found['other_answers'])} "
        "otherwise; of the ten chunks that each store's own ranking of words puts first, "
        f"{found['lexical_share']:.0%} are the same. SQLite took "
        f"{sqlite:.0f} s, PostgreSQL {postgres:.0f} s."
    )
