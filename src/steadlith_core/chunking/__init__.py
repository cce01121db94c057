"""Chunking: where one document is cut into the pieces that are embedded and searched.

The default policy, in the order in which a text goes through it: `arena.py` puts many documents into one stretch of
bytes; `scan.py`, the per-byte stage, finds lines and sentences (`walks.py` steps over bytes); a grammar
(`markdown.py`, `rst.py`, `plain.py`, with `items.py`) says in the words of `parts.py` what the lines are;
`structure.py` makes places of it where a cut may fall; `keys.py` orders them, `tree.py` cuts, `rest.py` where there is
no structure; `cuts.py` holds the result, packed; `structural.py` is the policy.

The others: `words.py` and `breaks.py` see words and breaks, `packing.py` packs them, `pieces.py` makes chunks;
`packed.py`, `sections.py`, `late.py`, `cdc.py` (with `rolling.py`), `semantic.py` and `router.py` are policies;
`outline.py` is their door to the grammars, `topology.py` judges parents, `settings.py` reads tables. `together.py` puts
any policy to work on many documents.
"""
