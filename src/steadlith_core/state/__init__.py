"""Identities and Merkle state: what a text, a chunk, a document, a corpus and an index are called."""
