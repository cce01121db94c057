"""The golden vectors as questions, and the core's answers."""

from contextlib import suppress

import pytest

from steadlith_conformance.formats import FILES, FormatSuite
from steadlith_conformance.questions import cases, untagged
from steadlith_core import canon
from steadlith_core.cachefile import Unpacking as CacheReader
from steadlith_core.cachefile import pack as pack_cache
from steadlith_core.chunking.structural import POLICY_ID, StructuralChunker
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.errors import SteadlithError
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId, Format, Space
from steadlith_core.retrieval.quantization import codes, problem
from steadlith_core.rows import TrieRow
from steadlith_core.state import identity, proof
from steadlith_core.state import recipe as recipes
from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument
from steadlith_core.state.manifestreading import Unpacking
from steadlith_core.state.manifestwriting import pack
from steadlith_core.state.moving import build
from steadlith_core.state.proving import Trie
from steadlith_core.state.roots import corpus_root, empty_head, sources_root, space_id, state_root
from steadlith_core.state.tree import document_root, leaves_root
from steadlith_core.state.trie import document_key
from steadlith_core.text.canonical import NORMALIZER_ID, canonicalise, fragment
from steadlith_core.text.tokens import ESTIMATOR_ID, cumulative, estimate


def parsed(given, *names):
    return [None if given[name] is None else Digest.parse(given[name]) for name in names]


def trie_of(given):
    return Trie((document_key(DocumentId(row["source"], row["path"])), Digest.parse(row["root"])) for row in given)


def space_of(given):
    return given["model_id"], identity.params_hash(given["params"])


class Core:
    """Our own answers, one method a question."""

    def identities(self, given):
        return {
            "identity_schema": IDENTITY_SCHEMA,
            "normalizer_id": NORMALIZER_ID,
            "chunker_id": POLICY_ID,
            "estimator_id": ESTIMATOR_ID,
        }

    def encode(self, given):
        return canon.encode(untagged(given["value"])).hex()

    def hash_fields(self, given):
        return str(hash_fields(given["kind"], *map(untagged, given["fields"])))

    def hash_bytes(self, given):
        return str(hasher(given["kind"], *given["constants"])(bytes.fromhex(given["data"])))

    def canonicalise(self, given):
        content = bytes.fromhex(given["source"])
        text = canonicalise(content)
        return {
            "canonical": text.data.hex(),
            "offsets": [text.offset(len(text.text[:at].encode())) for at in range(len(text.text) + 1)],
            "fragment": fragment(content).encode().hex(),
        }

    def estimate(self, given):
        return {"units": int(cumulative(given["text"])[-1]), "tokens": estimate(given["text"])}

    def cut(self, given):
        content, params = bytes.fromhex(given["content"]), given["params"]
        sizes = {name: params[name] for name in ("min_tokens", "max_tokens", "max_bytes")}
        chunks, findings = StructuralChunker(**sizes).cut(canonicalise(content), Format(given["format"]))
        name = hasher("chunk", IDENTITY_SCHEMA, NORMALIZER_ID, POLICY_ID, identity.params_hash(params))
        return {
            "source": str(identity.source_digest(content)),
            "chunks": [
                {
                    "start": chunk.span.start,
                    "end": chunk.span.end,
                    "first_line": chunk.span.first_line,
                    "level": chunk.level,
                    "tokens": chunk.tokens,
                    "headings": list(chunk.headings),
                    "text_hash": str(identity.text_hash(chunk.text)),
                    "chunk_hash": str(name(chunk.text.encode())),
                }
                for chunk in chunks
            ],
            "findings": [str(finding.kind) for finding in findings],
        }

    def leaves_root(self, given):
        return str(leaves_root(list(map(Digest.parse, given["leaves"]))))

    def document_root(self, given):
        topology = [tuple(each) for each in given["topology"]]
        return str(document_root(list(map(Digest.parse, given["chunks"])), given["metadata"], topology))

    def document_key(self, given):
        return str(document_key(DocumentId(given["source"], given["path"])))

    def corpus(self, given):
        trie = trie_of(given["rows"])
        recipe = recipes.decode(bytes.fromhex(given["recipe"]))
        return {
            "trie": str(trie.root),
            "corpus": str(trie.corpus_root),
            "state": str(state_root(trie.corpus_root, recipe)),
        }

    def empty_head(self, given):
        return {"corpus": str(empty_head().corpus_root), "state": str(empty_head().state_root)}

    def context_hash(self, given):
        return str(identity.context_hash(given["template"], tuple(given["fields"])))

    def entry_hash(self, given):
        (context,) = parsed(given, "context_hash")
        return str(
            identity.entry_hash(identity.text_hash(given["text"]), given["title"], tuple(given["headings"]), context)
        )

    def space_id(self, given):
        return str(space_id(Space(*space_of(given), given["dimensions"])))

    def vector_key(self, given):
        return str(identity.vector_key(given["text"], *space_of(given)))

    def embedding_id(self, given):
        return str(identity.embedding_id(*parsed(given, "chunk_hash", "context_hash"), *space_of(given)))

    def verify(self, given):
        claim, made = parsed(given, "corpus", "key"), bytes.fromhex(given["proof"])
        if "document_root" in given:
            proof.verify_document(*claim, *parsed(given, "document_root"), made)
        else:
            proof.verify_absence(*claim, made)
        return True

    def prove(self, given):
        return trie_of(given["rows"]).prove(*parsed(given, "key")).hex()

    def verify_chunk(self, given):
        made = bytes.fromhex(given["proof"])
        proven = proof.verify_chunk(*parsed(given, "corpus", "key", "chunk_hash"), made)
        said = [proven.document_root, proven.metadata_hash, proven.index, proven.count]
        return said == [*parsed(given, "document_root", "metadata_hash"), given["index"], given["count"]]

    def prove_chunk(self, given):
        chunks = list(map(Digest.parse, given["chunks"]))
        (key,) = parsed(given, "key")
        topology = [tuple(each) for each in given["topology"]]
        return trie_of(given["rows"]).prove_chunk(key, chunks, given["metadata"], given["index"], topology).hex()

    def write_manifest(self, given):
        recipe = None if given["recipe"] is None else recipes.decode(bytes.fromhex(given["recipe"]))
        documents = [
            ManifestDocument(
                DocumentId(each["source"], each["path"]),
                *parsed(each, "root", "source_digest"),
                each["metadata"],
                tuple(
                    ManifestChunk(
                        *parsed(chunk, "chunk_hash", "text_hash", "entry_hash", "context_hash"), chunk["parent"]
                    )
                    for chunk in each["chunks"]
                ),
            )
            for each in given["documents"]
        ]
        trie = build(TrieRow(document_key(each.id), each.root, each.source_digest) for each in documents).after
        corpus = corpus_root(trie.count, trie.digest)
        roots = corpus, state_root(corpus, recipe), sources_root(trie)
        header = Header(recipe, *roots, len(documents), sum(len(each.chunks) for each in documents))
        return b"".join(pack(header, documents)).hex()

    def read_manifest(self, given):
        reading = Unpacking([bytes.fromhex(given["manifest"])])
        documents = [
            {
                "source": each.id.source,
                "path": each.id.path,
                "root": str(each.root),
                "source_digest": str(each.source_digest),
                "metadata": dict(each.metadata),
                "chunks": [
                    {
                        "chunk_hash": str(chunk.chunk_hash),
                        "text_hash": str(chunk.text_hash),
                        "entry_hash": str(chunk.entry_hash),
                        "context_hash": None if chunk.context_hash is None else str(chunk.context_hash),
                        "parent": chunk.parent,
                    }
                    for chunk in each.chunks
                ],
            }
            for each in reading.documents()
        ]
        header = reading.header
        return {
            "recipe": None if header.recipe is None else recipes.encode(header.recipe).hex(),
            "documents": documents,
            "corpus": str(header.corpus_root),
            "state": str(header.state_root),
            "sources": str(header.sources_root),
        }

    def write_cachefile(self, given):
        entries = [(Digest.parse(each["key"]), bytes.fromhex(each["vector"])) for each in given["entries"]]
        return b"".join(pack_cache(entries)).hex()

    def read_cachefile(self, given):
        reading = CacheReader([bytes.fromhex(given["file"])])
        return [{"key": str(key), "vector": vector.hex()} for batch in reading.batches() for key, vector in batch]

    def quantize(self, given):
        vector = bytes.fromhex(given["vector"])
        dimensions = len(vector) // 4
        if problem(given["form"], dimensions):
            return None
        return codes(given["form"], [vector], dimensions)[0].hex()


def asked(implementation, *refusals):
    def answer(question, given):
        with suppress(*refusals):
            return getattr(implementation, question)(given)

    return answer


class TestCore(FormatSuite):
    @pytest.fixture
    def answer(self):
        return asked(Core(), SteadlithError)


@pytest.mark.parametrize("name", FILES)
def test_every_question_is_named_and_every_file_asks_both_what_is_right_and_what_is_refused(name):
    found = cases(name)
    assert {case.question for case in found} == set(FILES[name][1])
    if name in {"texts", "proofs", "manifests", "cachefiles"}:
        assert any(case.wanted is None for case in found)


def test_a_wrong_answer_is_named():
    suite = TestCore()
    with pytest.raises(AssertionError, match="hello world: estimate has another answer"):
        suite.test_texts_weigh_what_the_table_says(
            lambda question, given: (
                {"units": 59, "tokens": 3} if given["text"] == "hello world" else asked(Core())(question, given)
            )
        )
    with pytest.raises(AssertionError, match="must refuse it"):
        suite.test_proofs_are_made_and_verified_and_others_refused(
            lambda question, given: True if question == "verify" else asked(Core())(question, given)
        )
