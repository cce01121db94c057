"""docs/format.md, sections 2 and 3: digests and identities. A digest is its 32 bytes here."""

from blake3 import blake3

from . import values

IDENTITY_SCHEMA = "identity/1"


def of_bytes(kind, data, constants=()):
    """`H[kind]` of the bytes (2.1)."""
    context = f"steadlith 2026-11 {kind}/1"
    key = blake3(values.encode(list(constants)), derive_key_context=context).digest()
    return blake3(data, key=key).digest()


def of_fields(kind, *fields):
    """`H[kind](x, y, ...)` (2.1)."""
    return of_bytes(kind, values.encode(list(fields)))


def printed(digest):
    return "b3:" + digest.hex()  # 2.2


def text_hash(text):
    return of_bytes("text", text.encode("utf-8"))  # 3.1


def chunk_hash(text, normalizer_id, chunker_id, params_hash):
    constants = [IDENTITY_SCHEMA, normalizer_id, chunker_id, params_hash]
    return of_bytes("chunk", text.encode("utf-8"), constants)  # 3.2


def context_hash(template_id, fields):
    return of_fields("context", template_id, list(fields))  # 3.3


def input_hash(text):
    return of_bytes("input", text.encode("utf-8"))  # 3.4


def vector_key(text, model_id, params_hash):
    return of_fields("vector", input_hash(text), model_id, params_hash)  # 3.5


def embedding_id(chunk, context, model_id, params_hash):
    return of_fields("embedding", chunk, context, model_id, params_hash)  # 3.6


def entry_hash(text, title, headings, context):
    return of_fields("entry", text, title, list(headings), context)  # 3.7: None for what is not embedded


def source_digest(data):
    return of_bytes("source", data)  # 3.8


def unread_digest(old):
    return of_fields("unread", old)  # 3.8


def params_hash(params):
    return of_fields("params", params)  # 3.9


def foreign_chunk_hash(text, policy):
    return chunk_hash(text, "verbatim/1", policy, params_hash({}))  # 3.11


def foreign_context_hash(model_id, params_hash, vector):
    return of_fields("foreign", model_id, params_hash, vector)  # 3.12


def foreign_vector_key(text, context):
    return of_fields("foreign-vector", text, context)  # 3.13
