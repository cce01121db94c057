"""Builders for planning and applying: documents as lists of texts, without a chunker."""

from collections import Counter
from types import SimpleNamespace

import pytest

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.planning.guards import Limits
from steadlith_core.planning.make import Terms, make_plan
from steadlith_core.planning.wanted import WantedChunk, WantedDocument
from steadlith_core.planning.world import World
from steadlith_core.records import DocumentId, Head, Recipe, Space, Span
from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument, TextRow, TrieRow
from steadlith_core.state import identity
from steadlith_core.state.moving import build as build_trie
from steadlith_core.state.moving import move
from steadlith_core.state.roots import corpus_root, empty_head, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key, trie_root


def space(model="model/1", dimensions=4, quantization="float32"):
    return Space(model, hash_fields("params", model), dimensions, quantization)


def recipe(**changes):
    values = {
        "normalizer_id": "text/1",
        "chunker_id": "test/0",
        "chunker_params_hash": hash_fields("params", "p"),
        "content_hash": hash_fields("content", []),
        "template_id": "plain/0",
        "lexical_id": "lexical/0",
        "spaces": (space(),),
    }
    return Recipe(**{**values, **changes})


def document_id(path):
    return DocumentId("docs", path)


def wanted(path, texts, how=None, metadata=None, source=None, headings=(), tree=None):
    """`tree` has the parent of each text, and whether it is embedded."""
    how = how or recipe()
    name = identity.chunk_hasher(how)
    headings = tuple(headings)
    tree = tree or [(-1, True)] * len(texts)
    chunks = []
    for position, (text, (parent, embed)) in enumerate(zip(texts, tree, strict=True)):
        text_hash = identity.text_hash(text)
        context = identity.context_hash(how.template_id, ()) if embed else None
        entry = EntryRow(identity.entry_hash(text_hash, "", headings, context), text_hash, "", headings, context)
        key = identity.vector_key(text, how.spaces[0].model_id, how.spaces[0].params_hash) if embed else None
        span = Span(position * 10, position * 10 + 9, position + 1, position + 1)
        given, tokens = (text, 3) if embed else ("", 0)
        chunks.append(WantedChunk(name(text), TextRow(text_hash, text), entry, key, given, span, tokens, parent))
    metadata = metadata or {"title": ""}
    root = document_root([chunk.chunk_hash for chunk in chunks], metadata, tree)
    digest = identity.source_digest((source or repr(texts)).encode())
    return WantedDocument(document_id(path), root, metadata, digest, tuple(chunks))


def committed(documents, how=None):
    """(head, recorded, chunks, entries) as a store would hold wanted documents after a first apply."""
    how = how or recipe()
    recorded, chunks, entries, number = {}, {}, {}, 0
    for document in documents:
        recorded[document.id] = RecordedDocument(
            document.id, document.root, document.metadata, document.source_digest, len(document.chunks)
        )
        rows = []
        for chunk in document.chunks:
            number += 1
            entries[chunk.entry.entry_hash] = chunk.entry
            rows.append(
                RecordedChunk(
                    number,
                    chunk.chunk_hash,
                    chunk.text.text_hash,
                    chunk.entry.entry_hash,
                    chunk.span,
                    chunk.parent,
                    chunk.entry.embed,
                )
            )
        chunks[document.id] = tuple(rows)
    trie = trie_root((document_key(id_), document.root) for id_, document in recorded.items())
    corpus = corpus_root(len(recorded), trie, normalizer_id=how.normalizer_id)
    plan_digest = Digest(b"\x07" * 32)
    head = Head("line", 1, corpus, state_root(corpus, how), how, plan_digest, len(recorded), number)
    return (head, recorded, chunks, entries) if documents else (empty_head(), {}, {}, {})


def world(before, after, *, how=None, now=None, available=(), findings=()):
    """The world between two lists of wanted documents; equal documents are left out of `wanted`."""
    how = how or recipe()
    head, recorded, chunks, entries = committed(before, how)
    now = now or how
    changed = {
        document.id: document
        for document in after
        if now != how or document.id not in recorded or recorded[document.id].source_digest != document.source_digest
    }
    vanished = frozenset(recorded) - {document.id for document in after}
    touched = {id_: chunks[id_] for id_ in chunks if id_ in changed or id_ in vanished}
    rows = {row.key: row for row in map(trie_row, recorded.values())}
    moved = move(
        Rows(rows),
        {document_key(id_): None for id_ in vanished} | {row.key: row for row in map(trie_row, changed.values())},
    )
    return World(
        head=head,
        recipe=now,
        config_digest=hash_fields("config", "c"),
        documents=len(recorded),
        total_chunks=head.chunks,
        folders=Counter((id_.source, id_.path[: id_.path.rfind("/") + 1]) for id_ in recorded),
        recorded={id_: recorded[id_] for id_ in touched},
        chunks=touched,
        entries=entries,
        wanted=changed,
        vanished=vanished,
        # Whatever is recorded has its vector, as an index does.
        available=frozenset(available)
        | {chunk.vector_key for document in before for chunk in document.chunks if chunk.vector_key is not None},
        moved=moved,
        findings=tuple(findings),
    )


def trie_row(document):
    return TrieRow(document_key(document.id), document.root, document.source_digest)


class Rows:
    """A corpus trie in memory, as a store would hold it after committing these rows."""

    def __init__(self, rows):
        self._rows = rows
        self._nodes = build_trie(rows.values()).put

    def nodes(self, prefixes):
        return {prefix: self._nodes[prefix] for prefix in prefixes if prefix in self._nodes}

    def rows(self, prefix):
        return [row for key, row in sorted(self._rows.items()) if key.hex().startswith(prefix)]


def terms(**changes):
    values = {
        "tool": "steadlith test",
        "batch_size": 2,
        "probe_texts": 8,
        "local": False,
        "price": None,
        "limits": Limits(),
    }
    return Terms(**{**values, **changes})


@pytest.fixture(scope="session")
def build():
    return SimpleNamespace(
        space=space,
        recipe=recipe,
        id=document_id,
        wanted=wanted,
        world=world,
        terms=terms,
        committed=committed,
        plan=lambda *args, **kwargs: make_plan(world(*args, **kwargs), terms()).plan,
    )
