"""docs/format.md, sections 4 to 6: the tree of a document, the trie of the corpus, the roots."""

from .identities import IDENTITY_SCHEMA, of_bytes, of_fields


def leaves_root(leaves):
    if not leaves:
        return of_bytes("empty", b"")  # 4.1
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):  # 4.1: the largest power of two below n
        left *= 2
    return of_bytes("node", leaves_root(leaves[:left]) + leaves_root(leaves[left:]))  # 4.2


def leaf(chunk_hash, distance=0, embedded=True):
    if distance == 0 and embedded:
        return of_bytes("leaf", chunk_hash)  # 4.1
    return of_fields("branch", chunk_hash, distance, embedded)


def document_root(chunk_hashes, metadata, topology=None):
    """`topology`: of each chunk the index of its parent, -1 without one, and whether it is embedded."""
    topology = topology or [(-1, True)] * len(chunk_hashes)
    root = leaves_root(
        [
            leaf(chunk, 0 if parent < 0 else index - parent, embedded)
            for index, (chunk, (parent, embedded)) in enumerate(zip(chunk_hashes, topology, strict=True))
        ]
    )
    return of_fields("document", len(chunk_hashes), root, of_fields("metadata", metadata))  # 4.3


def document_key(source, path):
    return of_fields("key", source, path)  # 5.1


def nibble(key, depth):
    return int(key.hex()[depth], 16)  # 9.3


def trie_root(documents, depth=0):
    """`documents`: a map of key to document root, all with the same first `depth` nibbles."""
    if len(documents) <= 32:
        return trie_leaf(sorted(documents.items()))
    children = []
    for number in range(16):
        child = {key: root for key, root in documents.items() if nibble(key, depth) == number}
        if child:
            children.append((number, trie_root(child, depth + 1)))
    return trie_node(children)


def trie_leaf(rows):
    return of_fields("trie-leaf", [field for row in rows for field in row])  # 5.2


def trie_node(children):
    return of_fields("trie-node", [field for child in children for field in child])  # 5.3


def corpus_root(count, trie, normalizer_id):
    return of_fields("corpus", IDENTITY_SCHEMA, normalizer_id, count, trie)  # 6.1


def state_root(corpus, spaces, lexical_id, template_id):
    """`spaces`: (space id, dimensions, quantization) each."""
    return of_fields("state", corpus, [list(space) for space in spaces], lexical_id, template_id)  # 6.2


def space_id(model_id, params_hash, dimensions, quantization):
    return of_fields("space", model_id, params_hash, dimensions, quantization)  # 6.3
