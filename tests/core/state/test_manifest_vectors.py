"""The golden vectors of manifests work both ways: the reader reads them, and the writer writes them."""

import json
from importlib.resources import files

import pytest

from steadlith_core.digest import Digest
from steadlith_core.errors import ManifestError
from steadlith_core.records import DocumentId
from steadlith_core.state import recipe as recipes
from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument
from steadlith_core.state.manifestreading import Unpacking
from steadlith_core.state.manifestwriting import pack

VECTORS = json.loads((files("steadlith_conformance") / "vectors" / "manifests.json").read_text("utf-8"))
RECIPE = recipes.decode(bytes.fromhex(VECTORS["constants"]["recipe"]))
REASONS = {
    "a byte after the end": "bytes after its end",
    "a chunk hash that does not follow": "docs:a: its chunks and metadata lead to the root",
    "a document root that does not follow": "docs:a: its chunks and metadata lead to the root",
    "a document twice": "one is there twice",
    "a field more": "fields that it cannot have",
    "a longer number": "not in its shortest form",
    "a parent before the first chunk": "chunk 0 has no parent 1 places before it",
    "a path that is no UTF-8": "no UTF-8",
    "a reference to nothing": "a reference to text 5, which is not there",
    "a state root that does not follow": "the state root is",
    "a text twice": "written out that a reference can name",
    "another byte under the same checksum": "the checksum is another",
    "another corpus root": "lead to the corpus root",
    "another magic": "does not begin as one",
    "another schema": "made under 'identity/2'",
    "another sources root": "lead to the sources root",
    "another version": "of version 2; this version reads 1",
    "cut short": "the checksum has 32 bytes, 31 are there",
    "documents out of order": "out of order",
    "empty": "cut short at byte 0",
    "fewer documents than are there": "the checksum is another",
    "less shared than could be": "more of the path is shared",
    "metadata out of order": "metadata out of order",
    "more chunks than are there": "the header counts 2 and 1",
    "more shared than there is": "2 bytes shared with a path of 1",
    "no recipe": "2 documents without a recipe",
    "no source": "names no source",
    "the same source as another": "is the same",
}


def documents(case):
    for entry in case["documents"]:
        chunks = [
            ManifestChunk(
                *(Digest.parse(chunk[name]) for name in ("chunk_hash", "text_hash", "entry_hash")),
                None if chunk["context_hash"] is None else Digest.parse(chunk["context_hash"]),
                chunk["parent"],
            )
            for chunk in entry["chunks"]
        ]
        digests = (Digest.parse(entry[name]) for name in ("root", "source_digest"))
        yield ManifestDocument(DocumentId(entry["source"], entry["path"]), *digests, entry["metadata"], tuple(chunks))


def header(case):
    roots = (Digest.parse(case[name]) for name in ("corpus", "state", "sources"))
    chunks = sum(len(entry["chunks"]) for entry in case["documents"])
    return Header(RECIPE if case["recipe"] else None, *roots, len(case["documents"]), chunks)


@pytest.mark.parametrize("name", VECTORS["manifests"])
def test_the_reader_reads_and_the_writer_writes(name):
    case = VECTORS["manifests"][name]
    unpacking = Unpacking([bytes.fromhex(case["manifest"])])
    assert unpacking.header == header(case)
    assert list(unpacking.documents()) == list(documents(case))
    assert b"".join(pack(header(case), documents(case))).hex() == case["manifest"]


@pytest.mark.parametrize("name", VECTORS["refused"])
def test_the_reader_refuses_what_must_be_refused_for_its_reason(name):
    with pytest.raises(ManifestError, match=REASONS[name]):
        list(Unpacking([bytes.fromhex(VECTORS["refused"][name])]).documents())


def test_every_refusal_has_its_reason_here():
    assert VECTORS["refused"].keys() == REASONS.keys()
