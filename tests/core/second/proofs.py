"""docs/format.md, section 9: verify a proof. Slow, and by the letter."""

from . import trees
from .identities import IDENTITY_SCHEMA, of_bytes, of_fields

DOCUMENT, ABSENCE, CHUNK = 1, 2, 3  # 9.2


class Refused(Exception):
    """The bytes are no proof, or not of this claim."""


def verify(corpus_root, kind, key, claim, proof):
    """Whether the proof shows the claim: a document root, a chunk hash, or none for an absence."""
    try:
        return _root(kind, key, claim, proof) == corpus_root
    except Refused:
        return False


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, count):
        if len(self.data) < count:
            raise Refused("cut short")  # 9.7, 1
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def name(self):
        length = self.number(1)
        demand(1 <= length <= 64, "the length of an id")
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("an id is no UTF-8") from None


def demand(truth, what):
    if not truth:
        raise Refused(what)


def _root(kind, key, claim, proof):
    """The corpus root that the claim and the proof lead to."""
    reader = Reader(proof)
    demand(reader.take(4) == bytes.fromhex("8b534c50"), "magic")
    demand(reader.take(1) == b"\x01", "version")
    demand(reader.number(1) == kind and kind in {DOCUMENT, ABSENCE, CHUNK}, "kind")  # 9.8
    schema, normalizer_id = reader.name(), reader.name()
    demand(schema == IDENTITY_SCHEMA, "schema")  # 9.7, 2
    count = reader.number(8)
    demand(reader.take(32) == key, "key")  # 9.8
    part = _chunk_part(reader) if kind == CHUNK else None
    nodes, rows = _way(reader, kind, key)
    demand(not reader.data, "bytes behind the proof")  # 9.7, 1
    _check(kind, key, count, nodes, rows)

    document_root = claim if kind != CHUNK else _document_root(claim, *part)
    digest = None
    if rows is not None:  # 9.8, 2
        digest = trees.trie_leaf(sorted([*rows, (key, document_root)] if kind != ABSENCE else rows))
    for children in reversed(nodes):  # 9.8, 3
        digest = trees.trie_node([(number, digest if other is None else other) for number, other in children])
    return trees.corpus_root(count, digest, normalizer_id)  # 9.8, 4


def _chunk_part(reader):
    """9.4"""
    index, leaves, distance = reader.number(4), reader.number(4), reader.number(4)
    embedded = reader.take(1)
    demand(index < leaves and distance <= index and embedded in {b"\x00", b"\x01"}, "chunk part")
    metadata_hash = reader.take(32)
    siblings = []
    at, last = index, leaves - 1
    while last:
        if at % 2 == 1:
            siblings.append(("left", reader.take(32)))
        elif at < last:
            siblings.append(("right", reader.take(32)))
        at //= 2
        last //= 2
    return leaves, distance, embedded == b"\x01", metadata_hash, siblings


def _way(reader, kind, key):
    """9.5 and 9.6: the children of each inner node, None for what is found below; and the rows, None without a leaf."""
    nodes = []
    while True:
        bitmap = reader.number(2)
        if bitmap == 0:
            return nodes, [(reader.take(32), reader.take(32)) for _ in range(reader.number(1))]
        demand(len(nodes) < 63, "too deep")
        own = trees.nibble(key, len(nodes))
        numbers = [number for number in range(16) if bitmap & 2**number]
        nodes.append([(number, None if number == own else reader.take(32)) for number in numbers])
        if own not in numbers:
            demand(kind == ABSENCE, "a way without a leaf proves an absence only")
            return nodes, None


def _check(kind, key, count, nodes, rows):
    """9.7, 3 to 6"""
    if rows is None:
        demand(count > 32, "document count")
        return
    keys = [row[0] for row in rows]
    depth = len(nodes)
    demand(keys == sorted(set(keys)) and key not in keys, "the order of rows")
    demand(all(row.hex()[:depth] == key.hex()[:depth] for row in keys), "a row of another leaf")
    held = len(rows) + (kind != ABSENCE)
    demand(held <= 32, "a leaf holds at most 32")
    demand(held >= 1 or not nodes, "an empty leaf")
    demand(count > 32 if nodes else count == held, "document count")


def _document_root(chunk_hash, leaves, distance, embedded, metadata_hash, siblings):
    """9.8, 1"""
    digest = trees.leaf(chunk_hash, distance, embedded)
    for side, sibling in siblings:
        digest = of_bytes("node", sibling + digest if side == "left" else digest + sibling)
    return of_fields("document", leaves, digest, metadata_hash)
