"""The golden vectors as questions with their answers, for an implementation in any language.

1. A question is a name and a JSON value; so is its answer. Bytes are hexadecimal digits, digests are as they are
   printed (`b3:...`), canonical values carry their type (`{"text": "x"}`, `{"integer": "1"}`).
2. The answer `null` means that what was given must be refused.
3. Both directions are asked: what one writes from records, one reads back into them.
"""

from __future__ import annotations

import json
from ast import literal_eval
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Case(NamedTuple):
    """One question; `wanted` is none where it must be refused."""

    name: str
    question: str
    given: Mapping[str, Any]
    wanted: Any


@cache
def vectors(name: str) -> Any:
    """A file of golden vectors."""
    return json.loads(files("steadlith_conformance").joinpath("vectors", f"{name}.json").read_text("utf-8"))


def tagged(value: Any) -> Any:
    """A canonical value with its types, as JSON alone cannot tell them."""
    match value:
        case None:
            return {"null": True}
        case bool():
            return {"boolean": value}
        case int():
            return {"integer": str(value)}
        case str():
            return {"text": value}
        case bytes():
            return {"bytes": value.hex()}
        case dict():
            return {"map": [[key, tagged(each)] for key, each in value.items()]}
        case _:
            return {"list": [tagged(each) for each in value]}


def untagged(value: Any) -> Any:
    """The canonical value that was tagged."""
    ((kind, held),) = value.items()
    match kind:
        case "null":
            return None
        case "integer":
            return int(held)
        case "bytes":
            return bytes.fromhex(held)
        case "list":
            return [untagged(each) for each in held]
        case "map":
            return {key: untagged(each) for key, each in held}
        case _:
            return held


def leaf(number: int) -> str:
    """The digest that samples use for a number."""
    return f"b3:{number:064x}"


def rows(count: int) -> list[dict[str, str]]:
    """The documents of a sample corpus."""
    return [{"source": "docs", "path": f"{number}.md", "root": leaf(number)} for number in range(count)]


def _identities() -> Iterator[Case]:
    yield Case("identities", "identities", {}, vectors("identities"))


def _encodings() -> Iterator[Case]:
    for each in vectors("encodings"):
        yield Case(each["value"], "encode", {"value": tagged(literal_eval(each["value"]))}, each["bytes"])


def _digests() -> Iterator[Case]:
    given: Mapping[str, tuple[str, dict[str, Any]]] = {
        "H[demo](empty list)": ("hash_fields", {"kind": "demo", "fields": []}),
        "H[demo](x, 1)": ("hash_fields", {"kind": "demo", "fields": [tagged("x"), tagged(1)]}),
        "H[demo] of bytes abc": ("hash_bytes", {"kind": "demo", "constants": [], "data": b"abc".hex()}),
        "H[demo with constants one, two] of bytes abc": (
            "hash_bytes",
            {"kind": "demo", "constants": ["one", "two"], "data": b"abc".hex()},
        ),
    }
    for name, digest in vectors("digests").items():
        yield Case(name, *given[name], digest)


def _texts() -> Iterator[Case]:
    for name, each in vectors("texts")["good"].items():
        wanted = {key: each[key] for key in ("canonical", "offsets", "fragment")}
        yield Case(name, "canonicalise", {"source": each["source"]}, wanted)
    for name, each in vectors("texts")["bad"].items():
        yield Case(name, "canonicalise", {"source": each["source"]}, None)


def _tokens() -> Iterator[Case]:
    for text, wanted in vectors("tokens").items():
        yield Case(text[:20], "estimate", {"text": text}, wanted)


def _cuts() -> Iterator[Case]:
    params = vectors("cuts")["params"]
    for name, each in vectors("cuts")["documents"].items():
        given = {"format": each["format"], "content": vectors("documents")[name], "params": params}
        yield Case(name, "cut", given, {key: each[key] for key in ("source", "chunks", "findings")})


def _state() -> Iterator[Case]:
    state, recipe = vectors("state"), vectors("manifests")["constants"]["recipe"]
    for count, root in state["tree"].items():
        yield Case(f"{count} leaves", "leaves_root", {"leaves": [leaf(number) for number in range(int(count))]}, root)
    family = [[-1, True], [-1, False], [1, True], [1, True]]
    documents: Mapping[str, tuple[int, int, dict[str, str], list[list[Any]]]] = {
        "empty": (0, 0, {"title": "", "format": "text"}, []),
        "two leaves": (1, 3, {"title": "T", "format": "markdown", "tags": "a, b"}, []),
        "a chunk, a parent and two parts": (0, 4, {}, family),
    }
    for name, (first, behind, metadata, topology) in documents.items():
        chunks = [leaf(number) for number in range(first, behind)]
        given = {"chunks": chunks, "metadata": metadata, "topology": topology}
        yield Case(name, "document_root", given, state["document"][name])
    yield Case("a key", "document_key", {"source": "docs", "path": "guide/\u00e4.md"}, state["key"])
    for count, wanted in state["tries"].items():
        yield Case(f"{count} documents", "corpus", {"rows": rows(int(count)), "recipe": recipe}, wanted)
    yield Case("an empty index", "empty_head", {}, state["empty"])
    context = {"template": "breadcrumb/0", "fields": ["A", "B"]}
    yield Case("a context", "context_hash", context, state["context"])
    for name, held in (("entry", state["context"]), ("entry that is not embedded", None)):
        entry: dict[str, Any] = {"text": "text", "title": "Title", "headings": ["A", "B"], "context_hash": held}
        yield Case(name, "entry_hash", entry, state[name])
    space: dict[str, Any] = {"model_id": "model/1", "params": {"dimensions": 4}, "dimensions": 4}
    yield Case("a space", "space_id", space, state["space"])
    yield Case("a vector key", "vector_key", {"text": "text", **space}, state["vector_key"])
    embedding = {"chunk_hash": leaf(1), "context_hash": state["context"], **space}
    yield Case("an embedding", "embedding_id", embedding, state["embedding_id"])


def _proofs() -> Iterator[Case]:
    held = vectors("proofs")
    for count, case in held["documents"].items():
        for number, each in enumerate([*case["present"], *case["absent"]]):
            name = f"{count} documents, proof {number}"
            yield Case(name, "verify", {"corpus": case["corpus"], **each}, True)
            if int(count) <= 33:
                yield Case(name, "prove", {"rows": rows(int(count)), "key": each["key"]}, each["proof"])
    for count, case in held["chunks"].items():
        document = {key: case[key] for key in ("corpus", "key", "document_root", "count", "metadata_hash")}
        for each in case["chunks"]:
            name = f"chunk {each['index']} of {count}"
            yield Case(name, "verify_chunk", {**document, **each}, True)
            own: dict[str, Any] = {"source": "docs", "path": "0.md", "root": case["document_root"]}
            chunks = [leaf(number) for number in range(case["count"])]
            asked: dict[str, Any] = {"rows": [own, *rows(33)[1:]], "chunks": chunks, "metadata": case["metadata"]}
            asked |= {"topology": case["topology"], "index": each["index"], "key": case["key"]}
            yield Case(name, "prove_chunk", asked, each["proof"])
    for name, each in held["refused"].items():
        yield Case(name, "verify", each, None)


def _manifests() -> Iterator[Case]:
    held = vectors("manifests")
    for name, each in held["manifests"].items():
        recipe = held["constants"]["recipe"] if each["recipe"] else None
        roots = {key: each[key] for key in ("corpus", "state", "sources")}
        given = {"recipe": recipe, "documents": each["documents"]}
        yield Case(name, "write_manifest", given, each["manifest"])
        yield Case(name, "read_manifest", {"manifest": each["manifest"]}, {**given, **roots})
    for name, manifest in held["refused"].items():
        yield Case(name, "read_manifest", {"manifest": manifest}, None)


def _cachefiles() -> Iterator[Case]:
    for name, each in vectors("cachefiles")["files"].items():
        yield Case(name, "write_cachefile", {"entries": each["entries"]}, each["file"])
        yield Case(name, "read_cachefile", {"file": each["file"]}, each["entries"])
    for name, file in vectors("cachefiles")["refused"].items():
        yield Case(name, "read_cachefile", {"file": file}, None)


def _quantization() -> Iterator[Case]:
    for name, each in vectors("quantization").items():
        for form in ("int8", "binary"):
            yield Case(name, "quantize", {"form": form, "vector": each["float32"]}, each[form])


_CASES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "identities": _identities,
    "encodings": _encodings,
    "digests": _digests,
    "texts": _texts,
    "tokens": _tokens,
    "cuts": _cuts,
    "state": _state,
    "proofs": _proofs,
    "manifests": _manifests,
    "cachefiles": _cachefiles,
    "quantization": _quantization,
}


def cases(name: str) -> tuple[Case, ...]:
    """The questions of one file of golden vectors."""
    return tuple(_CASES[name]())
