"""JSON documents: what `--json` prints. One object on stdout, each with `format_version` and `kind`.

1. A minor version adds keys; another major version may change them (as for plan files).
2. Digests print as `b3:` and hex, document ids as {"source", "path"}.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from steadlith_core.planning import planfile

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith.search import Answer
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Head

FORMAT_VERSION = "1.0"


def dumps(document: dict[str, Any]) -> str:
    """One line of ASCII JSON with sorted keys: no byte of a document reaches a terminal raw."""
    return json.dumps(document, sort_keys=True)


def _document(kind: str, **values: Any) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "kind": kind, **values}


def plan(planned: Plan) -> dict[str, Any]:
    """The plan file's own document, checksum included."""
    return planfile.document(planned)


def init(config: Path, embedder: str, why: str) -> dict[str, Any]:
    """What `init` wrote and what it chose."""
    return _document("steadlith-init", config=str(config), embedder=embedder, why=why)


def status(head: Head) -> dict[str, Any]:
    """The committed state."""
    recipe = head.recipe
    return _document(
        "steadlith-status",
        lineage=head.lineage,
        generation=head.generation,
        corpus_root=str(head.corpus_root),
        state_root=str(head.state_root),
        documents=head.documents,
        chunks=head.chunks,
        spaces=[] if recipe is None else planfile.recipe_document(recipe)["spaces"],
        recipe=None if recipe is None else planfile.recipe_document(recipe),
    )


def result(done: Result) -> dict[str, Any]:
    """How an apply ended."""
    values = status(done.head)
    values |= {"kind": "steadlith-apply", "already_applied": done.already}
    return values | {"embedded": done.embedded, "cached": done.cached}


def unchanged(head: Head) -> dict[str, Any]:
    """An apply that had nothing to do."""
    values = status(head) | {"kind": "steadlith-apply", "already_applied": False}
    return values | {"embedded": 0, "cached": 0}


def answer(found: Answer) -> dict[str, Any]:
    """The hits of a query, best first."""
    hits = [
        {
            "document": {"source": hit.document.source, "path": hit.document.path},
            "title": hit.title,
            "headings": list(hit.headings),
            "span": {
                "start": hit.span.start,
                "end": hit.span.end,
                "first_line": hit.span.first_line,
                "last_line": hit.span.last_line,
            },
            "text": hit.text,
            "score": hit.score,
            "dense": hit.dense,
            "lexical": hit.lexical,
            "chunk_hash": str(hit.chunk_hash),
            "source_digest": str(hit.source_digest),
        }
        for hit in found.hits
    ]
    return _document("steadlith-answer", query=found.query, generation=found.generation, hits=hits)


def verification(found: Verification) -> dict[str, Any]:
    """What was recomputed and what is wrong."""
    return _document(
        "steadlith-verification",
        ok=found.ok,
        generation=found.generation,
        corpus_root=str(found.corpus_root),
        state_root=str(found.state_root),
        documents=found.documents,
        chunks=found.chunks,
        problems=list(found.problems),
    )


def error(raised: SteadlithError) -> dict[str, Any]:
    """An error, with the exit code that goes with it."""
    return _document("steadlith-error", error=type(raised).__name__, message=str(raised), exit_code=raised.exit_code)
