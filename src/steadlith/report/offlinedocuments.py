"""JSON documents about manifests, locks, differences and proofs; see `report.documents`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steadlith import proofs
from steadlith.report import documents
from steadlith_core.records import Head
from steadlith_core.state.proof import ChunkProven

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith.differences import Changed, Comparison, PlansCompared
    from steadlith.proofs import Proven
    from steadlith.report.offline import Texts
    from steadlith.verify import Verification
    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.records import DocumentId
    from steadlith_core.state.manifest import Header


def _document(kind: str, **values: Any) -> dict[str, Any]:
    return {"format_version": documents.FORMAT_VERSION, "kind": kind, **values}


def manifest(file: Path, header: Header, size: int) -> dict[str, Any]:
    """A manifest that was written."""
    return _document("steadlith-manifest", file=str(file), bytes=size, **_header(header))


def lock(file: Path, header: Header) -> dict[str, Any]:
    """A lock that was written."""
    return _document("steadlith-lock", file=str(file), **_header(header))


def _header(header: Header | Head) -> dict[str, Any]:
    """What the whole is. A generation that is compared has a number, and no sources root: it would cost reading all."""
    return {
        "corpus_root": str(header.corpus_root),
        "state_root": str(header.state_root),
        "sources_root": None if isinstance(header, Head) else str(header.sources_root),
        "generation": header.generation if isinstance(header, Head) else None,
        "documents": header.documents,
        "chunks": header.chunks,
    }


def verification(found: Verification, file: Path) -> dict[str, Any]:
    """How a manifest compares with what is pinned; its generation is null."""
    return {**documents.verification(found), "manifest": str(file)}


def comparison(found: Comparison, texts: Texts | None = None) -> dict[str, Any]:
    """What two states differ in; with `texts` the difference of each document's text as well."""
    return _document("steadlith-difference", old=_header(found.old), new=_header(found.new), **differing(found, texts))


def differing(found: Comparison, texts: Texts | None = None) -> dict[str, Any]:
    """What differs of the recipe and of the documents."""
    return {
        "same": found.same,
        "recipe": _facts(found.recipe),
        "documents": [_changed(each) | ({"text": list(texts(each))} if texts else {}) for each in found.documents],
    }


def _changed(each: Changed) -> dict[str, Any]:
    """How a document differs; its chunks are null where one of the states is a manifest."""
    return {
        "document": _id(each.id),
        "difference": str(each.kind),
        "origin": None if each.origin is None else _id(each.origin),
        "old_chunks": each.old_chunks,
        "new_chunks": each.new_chunks,
        "chunks": None if each.chunks is None else asdict(each.chunks),
    }


def plans(found: PlansCompared) -> dict[str, Any]:
    """What two plans differ in."""
    return _document(
        "steadlith-plan-difference",
        same=found.same,
        facts=_facts(found.facts),
        only_old=[_steps(change) for change in found.only_old],
        only_new=[_steps(change) for change in found.only_new],
        other_steps=[{"old": _steps(left), "new": _steps(right)} for left, right in found.other_steps],
    )


def _steps(change: DocumentChange) -> dict[str, Any]:
    return {"document": _id(change.id), "fate": str(change.fate), "steps": len(change.steps)}


def _facts(facts: tuple[tuple[str, str, str], ...]) -> list[dict[str, str]]:
    return [{"name": name, "old": old, "new": new} for name, old, new in facts]


def proven(found: Proven) -> dict[str, Any]:
    """What is proven: the claim, and what follows from it."""
    claim, corpus = found.claim, found.found.corpus
    values: dict[str, Any] = {"document": _id(claim.id), "corpus_root": str(found.root), "documents": corpus.documents}
    if isinstance(found.found, ChunkProven):
        chunk = found.found
        values |= {
            "claim": "chunk",
            "document_root": str(chunk.document_root),
            "chunk_hash": str(chunk.chunk_hash),
            "index": chunk.index,
            "count": chunk.count,
            "parent": None if chunk.parent < 0 else chunk.parent,
            "embed": chunk.embed,
        }
    elif claim.document_root is not None:
        values |= {"claim": "document", "document_root": str(claim.document_root)}
    else:
        values |= {"claim": "absence"}
    return _document("steadlith-proven", sentence=proofs.sentence(found), text_matches=found.text_matches, **values)


def _id(id: DocumentId) -> dict[str, str]:  # noqa: A002
    return {"source": id.source, "path": id.path}
