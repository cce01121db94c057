"""The same corpus has the same roots on every machine: other path, order, time, hash seed, locale, Python."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from blake3 import blake3

import steadlith
from steadlith_core.planning.planfile import dump

ROOT = Path(__file__).parent.parent.parent
VECTORS = ROOT / "conformance" / "src" / "steadlith_conformance" / "vectors"
PLAN = """
import sys
import steadlith
from steadlith_core.planning.planfile import dump
sys.stdout.write(dump(steadlith.open(sys.argv[1]).plan()))
"""


@pytest.fixture
def corpus(article):
    documents = {f"{folder}{name}.md": article(name) for folder in ("", "a/", "ä/b/") for name in "xyz"}
    documents["z.rst"] = "Title\n=====\n\nalpha words.\n\nPart\n----\n\nMore alpha words.\n"
    documents["文.md"] = "# 标题\n\n" + "数据库事务必须满足原子性。" * 20 + "\n"
    documents["code.py"] = "def alpha():\n    return 1\n\n\ndef beta():\n    return 2\n"
    return documents


def fill(site, corpus, seed):
    names = list(corpus)
    random.Random(seed).shuffle(names)
    for number, name in enumerate(names):
        path = site.write(name, corpus[name])
        os.utime(path, (seed * 1000 + number, seed * 1000 + number))
    return site


def plan_elsewhere(site, python=sys.executable, **environment):
    run = subprocess.run(
        [python, "-c", PLAN, str(site.root)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **environment},
        check=True,
    )
    return run.stdout


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1"},
        {"LC_ALL": "C", "LANG": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"},
    ],
    ids=str,
)
def test_field_case_16_and_17_two_machines_make_the_same_plan_byte_for_byte(make_site, corpus, environment):
    here = fill(make_site("here"), corpus, 1)
    there = fill(make_site("quite/another/place"), corpus, 2)
    assert plan_elsewhere(there, **environment) == dump(here.plan())


def test_the_order_of_edits_leaves_no_trace(make_site, corpus, article):
    straight, winding = make_site("straight"), make_site("winding")
    fill(straight, corpus, 1).apply()
    for number, name in enumerate(sorted(corpus, reverse=True)):
        winding.write(name, article(f"draft{number}"))
        winding.write(f"extra/{number}.md", article(f"extra{number}"))
    winding.apply()
    for name, text in corpus.items():
        winding.write(name, text)
    for path in (winding.docs / "extra").iterdir():
        path.unlink()
    winding.apply(allow=["--allow-removals"])
    left, right = straight.open().head(), winding.open().head()
    assert (left.corpus_root, left.state_root) == (right.corpus_root, right.state_root)


def test_batch_size_and_concurrency_decide_no_root(make_site, corpus):
    heads = []
    for number, (size, workers) in enumerate([(1, 1), (7, 4), (64, 2)]):
        site = make_site(f"s{number}", embedding=f"batch_size = {size}\nconcurrency = {workers}")
        heads.append(fill(site, corpus, number).apply().head)
    assert len({(head.corpus_root, head.state_root) for head in heads}) == 1


def test_field_case_05_a_model_that_is_not_bit_reproducible_changes_no_root(make_site, corpus, monkeypatch):
    from steadlith_adapters.embedders import hash as module
    from steadlith_core import vectors

    kind = type(module.FACTORY.build({"dimensions": 32}))
    whole = kind.embed_documents
    noise = random.Random(3)

    def noisy(self, texts):
        rows = vectors.matrix(whole(self, texts), 32)
        return [vectors.pack([value + noise.uniform(-1e-7, 1e-7) for value in row]) for row in rows]

    monkeypatch.setattr(kind, "embed_documents", noisy)
    heads = [fill(make_site(name), corpus, 1).apply().head for name in ("a", "b")]
    assert heads[0].state_root == heads[1].state_root


def test_golden_vectors_are_current_here():
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "golden.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


RELEASED = {
    "cachefiles.json": "e7dafec85908143abefe921de56c9916",
    "cuts.json": "adba045c11a4e623881299b26b6b2569",
    "digests.json": "ca565bd7454d425403e0ba6e0d44cbf9",
    "documents.json": "5fa15e5942cbbb214482633958ea496e",
    "foreign.json": "7dff1947479d4709789d17c2ab55216d",
    "encodings.json": "deab6b038a28ebe5312715795536f8c7",
    "identities.json": "0919c501167912e4cd15093e92ee9549",
    "manifests.json": "08788f855ca0d94c502ba95cb3f9571b",
    "proofs.json": "ecd25ff3a21ab400c01d9831901f5667",
    "quantization.json": "5b76f270f979c8b4a35d5ea9852e034b",
    "state.json": "0d7d33de05a7f8740f2656bdf97e089c",
    "texts.json": "0c1903e3a7c58df6e8d77c7e24c5af7a",
    "tokens.json": "becc79a770379678b039249a6fb5ec34",
}
"""BLAKE3 of the vectors of released ids. What such an id makes of the same bytes never changes: if one of these has to
change, an id has to change first, and its vectors go into a file of their own."""


def test_vectors_of_released_ids_are_frozen():
    assert {path.name: blake3(path.read_bytes()).hexdigest()[:32] for path in VECTORS.iterdir()} == RELEASED


def test_the_whole_is_pinned(make_site, corpus):
    """Canonical bytes, cuts, documents, corpus and state: one number that any change of them changes."""
    site = fill(make_site(), corpus, 1)
    target = json.loads(dump(site.plan()))["target"]
    assert target["documents"] == 12
    pinned = json.loads((Path(__file__).parent / "pinned.json").read_text("utf-8"))
    assert target == pinned


def test_opening_twice_gives_the_same_answer(settled):
    first, second = (steadlith.open(settled.root).search("alpha two topic4", limit=20) for _ in range(2))
    assert first == second
