"""Proofs as files: a claim in words and digests, and the packed bytes that lead from it to a corpus root.

1. Making one reads the nodes of one path; it is verified under the head's root before it is given away.
2. Verifying one needs the file and the root, and nothing else: no configuration, no index, no network.
3. Nothing that a file says of itself counts: the key follows from the name, the root from the claim and the proof.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith.border import adapter
from steadlith_core.digest import Digest, hasher
from steadlith_core.errors import ProofError, ProofRejected, SteadlithError, StoreCorrupt, UsageError
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId
from steadlith_core.state import foreign
from steadlith_core.state.proof import ChunkProven, verify_absence, verify_chunk, verify_document
from steadlith_core.state.proofbytes import MAX_SIZE
from steadlith_core.state.proving import StoredTrie
from steadlith_core.state.trie import document_key
from steadlith_core.text.canonical import NORMALIZER_ID, fragment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.ports import Reader
    from steadlith_core.records import Recipe
    from steadlith_core.rows import RecordedChunk, RecordedDocument
    from steadlith_core.state.proof import AbsenceProven, DocumentProven

FORMAT_VERSION = "1.0"
KIND = "steadlith-proof"
MAX_FILE = 1 << 20
POSITION_DIGITS = 8
"""A CHUNK of more digits than this is a hash."""


@dataclass(frozen=True, slots=True)
class Chunker:
    """The constants of a chunk hash (format.md 3.2): with them somebody who has the text can compute it."""

    normalizer_id: str
    chunker_id: str
    chunker_params_hash: Digest


@dataclass(frozen=True, slots=True)
class Claim:
    """What a proof proves of the document `id`: its root, one of its chunks, or (neither) that it is not there."""

    id: DocumentId
    proof: bytes
    document_root: Digest | None = None
    chunk_hash: Digest | None = None
    chunker: Chunker | None = None


@dataclass(frozen=True, slots=True)
class Proven:
    """A claim that holds under `root`. `text_matches` is none where no text was asked about."""

    claim: Claim
    root: Digest
    found: DocumentProven | AbsenceProven | ChunkProven
    text_matches: bool | None = None


def prove(reader: Reader, id: DocumentId, chunk: str | None = None) -> Proven:  # noqa: A002
    """What is true of the document at the reader's head: that it is there, that a chunk of it is, or that it is not.

    Raises `UsageError` for a chunk that the document does not have, `StoreCorrupt` for an index that cannot prove what
    it committed.
    """
    with adapter("reading the index"):
        head = reader.head
        document = reader.find([id]).get(id)
        rows = reader.chunks(id) if document and chunk is not None else ()
        normalizer = head.recipe.normalizer_id if head.recipe else NORMALIZER_ID
        claim = _claim(StoredTrie(reader, normalizer_id=normalizer), id, document, rows, chunk, head.recipe)
    try:
        return verify(claim, head.corpus_root)
    except ProofError as error:
        raise StoreCorrupt(
            f"{id}: the index cannot prove what it committed ({error}); run `steadlith verify`"
        ) from error


def _claim(
    trie: StoredTrie,
    id: DocumentId,  # noqa: A002
    document: RecordedDocument | None,
    rows: Sequence[RecordedChunk],
    chunk: str | None,
    recipe: Recipe | None,
) -> Claim:
    key = document_key(id)
    if document is None:
        return Claim(id, trie.prove(key))
    if chunk is None:
        return Claim(id, trie.prove(key), document_root=document.root)
    assert recipe is not None  # there is a document
    position = _position(id, rows, chunk)
    hashes, topology = [row.chunk_hash for row in rows], [(row.parent, row.embed) for row in rows]
    try:
        proof = trie.prove_chunk(key, hashes, document.metadata, position, topology)
    except ValueError as error:
        raise StoreCorrupt(f"{id}: {error}; run `steadlith verify`") from error
    cut = foreign.cut_by(recipe, document.metadata)
    chunker = Chunker(cut.normalizer_id, cut.chunker_id, cut.chunker_params_hash)
    return Claim(id, proof, chunk_hash=hashes[position], chunker=chunker)


def _position(id: DocumentId, rows: Sequence[RecordedChunk], chunk: str) -> int:  # noqa: A002
    """The chunk that is meant: a position, or how its hash begins; of a chunk that is there twice, the first."""
    if chunk.isdecimal() and len(chunk) <= POSITION_DIGITS:
        if int(chunk) < len(rows):
            return int(chunk)
        raise UsageError(f"{id} has no chunk {chunk}: it has {len(rows)}, counted from 0")
    digits = chunk.removeprefix("b3:")
    found = [position for position, row in enumerate(rows) if row.chunk_hash.hex().startswith(digits)]
    hashes = sorted({rows[position].chunk_hash for position in found})
    if not digits or not hashes:
        raise UsageError(f"{id} has no chunk whose hash begins with {chunk!r}: give a position, or more of the hash")
    if len(hashes) > 1:
        names = ", ".join(each.short for each in hashes[:5])
        raise UsageError(f"{chunk!r} is how several chunks of {id} begin ({names}): give more of the hash")
    return found[0]


def verify(claim: Claim, root: Digest, text: bytes | None = None) -> Proven:
    """Whether the claim holds under `root`, and `text` is the proven chunk's.

    Raises `ProofError` for bytes that are no proof, `ProofRejected` for a proof of something else or another text.
    """
    key = document_key(claim.id)
    found: DocumentProven | AbsenceProven | ChunkProven
    if claim.chunk_hash is not None:
        found = verify_chunk(root, key, claim.chunk_hash, claim.proof)
    elif claim.document_root is not None:
        found = verify_document(root, key, claim.document_root, claim.proof)
    else:
        found = verify_absence(root, key, claim.proof)
    if text is None:
        return Proven(claim, root, found)
    if claim.chunk_hash is None or claim.chunker is None:
        raise UsageError("--text is for a proof of a chunk; this one is of a document")
    if claim.chunk_hash not in _chunk_hashes(text, claim.chunker):
        raise ProofRejected(f"the text is not that of the proven chunk, whose hash is {claim.chunk_hash}")
    return Proven(claim, root, found, text_matches=True)


def _chunk_hashes(text: bytes, chunker: Chunker) -> set[Digest]:
    """The hashes of a text as it is, and of the canonical text that it is a source of."""
    # format.md 3.2. Who made the file chose these constants, and cannot choose them so that another text has the hash.
    name = hasher("chunk", IDENTITY_SCHEMA, chunker.normalizer_id, chunker.chunker_id, chunker.chunker_params_hash)
    try:
        return {name(text), name(fragment(text).encode("utf-8"))}
    except SteadlithError:  # not UTF-8
        return {name(text)}


def dump(claim: Claim) -> str:
    """The proof file's text."""
    return json.dumps(document(claim), indent=1, sort_keys=True) + "\n"


def document(claim: Claim) -> dict[str, Any]:
    """The proof file as a JSON value (format.md 17)."""
    claimed: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "document": {"source": claim.id.source, "path": claim.id.path},
        "proof": b64encode(claim.proof).decode("ascii"),
    }
    if claim.document_root is not None:
        claimed["document_root"] = str(claim.document_root)
    if claim.chunk_hash is not None and claim.chunker is not None:
        claimed["chunk_hash"] = str(claim.chunk_hash)
        claimed["chunker"] = {
            "normalizer_id": claim.chunker.normalizer_id,
            "chunker_id": claim.chunker.chunker_id,
            "chunker_params_hash": str(claim.chunker.chunker_params_hash),
        }
    return claimed


def load(data: bytes) -> Claim:
    """The claim in a proof file's bytes. `ProofError` for anything that is not one that this version reads."""
    if len(data) > MAX_FILE:
        raise ProofError(f"not a proof file: {len(data)} bytes, and a proof has at most {MAX_SIZE}")
    try:
        body = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProofError(f"not a proof file: {error!s:.200}") from error
    if not isinstance(body, dict) or body.get("kind") != KIND:
        raise ProofError(f'not a proof file: expected an object with "kind": "{KIND}"')
    version = body.get("format_version")
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".", maxsplit=1)[0]:
        raise ProofError(f"a proof file of format {version!r}; this version reads {FORMAT_VERSION}")
    try:
        return _read(body)
    except ValueError as error:
        raise ProofError(f"not a proof file: {error}") from error


def _read(body: Mapping[str, Any]) -> Claim:
    named = body.get("document")
    if not isinstance(named, dict):
        message = f"document is {named!r:.60}, expected source and path"
        raise ValueError(message)  # noqa: TRY004 -- the file is wrong, not a caller's type
    chunker = None
    if "chunk_hash" in body:
        table = body.get("chunker")
        table = table if isinstance(table, dict) else {}
        chunker = Chunker(
            _text(table, "normalizer_id"), _text(table, "chunker_id"), Digest.parse(_text(table, "chunker_params_hash"))
        )
    return Claim(
        id=DocumentId(_text(named, "source"), _text(named, "path")),
        proof=b64decode(_text(body, "proof"), validate=True),
        document_root=Digest.parse(_text(body, "document_root")) if "document_root" in body else None,
        chunk_hash=Digest.parse(_text(body, "chunk_hash")) if chunker else None,
        chunker=chunker,
    )


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        message = f"{key} is {value!r:.60}, expected text"
        raise ValueError(message)  # noqa: TRY004 -- the file is wrong, not a caller's type
    # A lone surrogate has no UTF-8, so nothing that was hashed held one.
    value.encode("utf-8")
    return value


def sentence(proven: Proven) -> str:
    """What is proven, in words."""
    claim, corpus = proven.claim, proven.found.corpus
    size = f"{corpus.documents:,} document" + ("s" if corpus.documents != 1 else "")
    holds = f"The corpus {proven.root} of {size} holds"
    if isinstance(proven.found, ChunkProven):
        found = proven.found
        where = f"chunk {found.index} (of {found.count}) of {claim.id}"
        return f"{holds} {found.chunk_hash} as {where}" + (
            ", and the text is that chunk's." if proven.text_matches else "."
        )
    if claim.document_root is not None:
        return f"{holds} {claim.id} with the root {claim.document_root}."
    return f"{holds} no {claim.id}."
