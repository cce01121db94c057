"""JSON documents: what `--json` prints. One object on stdout, each with `format_version` and `kind`.

1. A minor version adds keys; another major version may change them (as for plan files).
2. Digests print as `b3:` and hex, document ids as {"source", "path"}.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from steadlith.report.chunks import level_name
from steadlith.report.churn import amount
from steadlith_core.planning import planfile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from steadlith.churn import Amount, Churn, Measured
    from steadlith.cutting import CutDocument, Named
    from steadlith.journals import Journal
    from steadlith.search import Answer
    from steadlith.verify import Verification
    from steadlith_core.applying.run import Result
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.cost import Price
    from steadlith_core.planning.plan import Plan
    from steadlith_core.policies import Chunker
    from steadlith_core.records import DocumentId, Finding, Head, Span
    from steadlith_core.rows import RecordedDocument

FORMAT_VERSION = "1.0"


def dumps(document: dict[str, Any]) -> str:
    """One line of ASCII JSON with sorted keys: no byte of a document reaches a terminal raw."""
    return json.dumps(document, sort_keys=True)


def _document(kind: str, **values: Any) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "kind": kind, **values}


def plan(planned: Plan, kept: Sequence[RecordedDocument] = ()) -> dict[str, Any]:
    """The plan file's own document, checksum included; beside it `kept_documents`, if any are to be listed."""
    listed = [{"source": each.id.source, "path": each.id.path, "chunks": each.chunk_count} for each in kept]
    return planfile.document(planned) | ({"kept_documents": listed} if listed else {})


def init(config: Path, embedder: str, why: str) -> dict[str, Any]:
    """What `init` wrote and what it chose."""
    return _document("steadlith-init", config=str(config), embedder=embedder, why=why)


def status(head: Head, begun: Journal | None = None) -> dict[str, Any]:
    """The committed state, and why a change was begun that is not committed."""
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
        begun=None if begun is None else begun.why,
    )


def result(done: Result, held: Sequence[DocumentId] = ()) -> dict[str, Any]:
    """How an apply ended, and which documents its plan held."""
    values = status(done.head)
    values |= {"kind": "steadlith-apply", "already_applied": done.already, "unchanged": done.unchanged}
    counts = {"embedded": done.embedded, "cached": done.cached, "calls": done.calls, "retries": done.retries}
    return values | counts | {"held": [{"source": id_.source, "path": id_.path} for id_ in held]}


def answer(found: Answer) -> dict[str, Any]:
    """The hits of a query, best first."""
    hits = [
        {
            "document": {"source": hit.document.source, "path": hit.document.path},
            "title": hit.title,
            "headings": list(hit.headings),
            "span": _span(hit.span),
            "text": hit.text,
            "parent": hit.parent,
            "score": hit.score,
            "dense": hit.dense,
            "lexical": hit.lexical,
            "chunk_hash": str(hit.chunk_hash),
            "source_digest": str(hit.source_digest),
        }
        for hit in found.hits
    ]
    return _document("steadlith-answer", query=found.query, generation=found.generation, note=found.note, hits=hits)


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


def chunks(
    chunker: Chunker, cut: Sequence[CutDocument], failed: Sequence[tuple[str, SteadlithError]], *, texts: bool
) -> dict[str, Any]:
    """Documents as a policy cuts them, with the text of each chunk if `texts`; `errors` are those that could not be."""
    return _document(
        "steadlith-chunks",
        policy={"id": chunker.id, "params": dict(chunker.params)},
        documents=[
            {
                "path": document.name,
                "format": str(document.format),
                "bytes": document.size,
                "chunks": [_chunk(index, named, texts=texts) for index, named in enumerate(document.chunks)],
                "findings": [_finding(finding) for finding in document.findings],
            }
            for document in cut
        ],
        errors=[{"path": path, "error": type(raised).__name__, "message": str(raised)} for path, raised in failed],
    )


def _chunk(index: int, named: Named, *, texts: bool) -> dict[str, Any]:
    chunk = named.chunk
    values = {
        "index": index,
        "span": _span(chunk.span),
        "bytes": len(chunk.text.encode()),
        "tokens": chunk.tokens,
        "level": chunk.level,
        "level_name": level_name(chunk.level),
        "height": chunk.height,
        "headings": list(chunk.headings),
        "text_hash": str(named.text_hash),
        "chunk_hash": str(named.chunk_hash),
        "parent": None if chunk.parent < 0 else chunk.parent,
        "embed": chunk.embed,
    }
    return values | ({"text": chunk.text} if texts else {})


def churn(found: Churn, price: Price | None) -> dict[str, Any]:
    """A replayed history; figures that are not known are null."""
    return _document(
        "steadlith-churn",
        history={
            "first": found.first,
            "last": found.last,
            "snapshots_after_first": found.commits,
            "edits": found.edits,
            "documents": found.documents,
            "versions": found.versions,
            "changed_versions": found.changed,
            "changed_bytes": found.changed_bytes,
        },
        price=None if price is None else {"per_million": str(price.per_million), "currency": price.currency},
        policies=[_measured(found, each, price) for each in found.measured],
        findings=[_finding(finding) for finding in found.findings],
    )


def _measured(found: Churn, measured: Measured, price: Price | None) -> dict[str, Any]:
    chunker, edits, share = measured.contender.chunker, found.edits, found.share(measured)
    return {
        "policy": measured.contender.policy,
        "label": measured.contender.label,
        "id": chunker.id,
        "params": dict(chunker.params),
        "mean": {"bytes": round(measured.mean_bytes, 1), "tokens": round(measured.mean_tokens, 1)},
        "largest": {"bytes": measured.largest_bytes, "tokens": measured.largest_tokens},
        "first": _amount(measured.first, price),
        "later": _amount(measured.later, price),
        "per_edit": {
            "bytes": round(measured.later.bytes / edits, 1) if edits else None,
            "tokens": round(measured.later.tokens / edits, 1) if edits else None,
        },
        "share": None if share is None else round(share, 4),
    }


def _amount(embedded: Amount, price: Price | None) -> dict[str, Any]:
    return {
        "chunks": embedded.chunks,
        "bytes": embedded.bytes,
        "tokens": embedded.tokens,
        "cost": amount(embedded.tokens, price),
    }


def _span(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end, "first_line": span.first_line, "last_line": span.last_line}


def _finding(finding: Finding) -> dict[str, str]:
    return {"place": finding.place, "kind": str(finding.kind), "message": finding.message}


def error(raised: SteadlithError) -> dict[str, Any]:
    """An error, with the exit code that goes with it."""
    return _document("steadlith-error", error=type(raised).__name__, message=str(raised), exit_code=raised.exit_code)
