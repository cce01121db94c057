"""Chunking: where one document is cut into the pieces that are embedded and searched.

`parts.py` is the vocabulary, `markdown.py`, `rst.py` and `plain.py` are grammars that speak it, `structure.py` turns
what they say into candidate cuts, `keys.py` and `tree.py` choose among them, `structural.py` is the default policy.
"""
