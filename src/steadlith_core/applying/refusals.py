"""Texts that the embedder refuses, named as people know them: by document and chunk.

1. A plan is carried out exactly or not at all (invariant 2): a text without a vector ends the run with an error, and
   what else was embedded is kept.
2. Where a text stands in many chunks, the first are named and the others counted.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from steadlith_core.errors import InputRefused
from steadlith_core.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.writes import Writes

MOST_PLACES = 3
MOST_LISTED = 20


def finding(key: Digest, why: SteadlithError, writes: Writes) -> Finding:
    """The text of `key`, with the chunks that it is the text of."""
    places = [
        f"{id_}:{chunk.span.first_line} (chunk {position})"
        for id_, position, chunk, needed in writes.needing()
        if needed == key
    ]
    more = f" and {len(places) - MOST_PLACES:,} more" if len(places) > MOST_PLACES else ""
    size = len(writes.inputs[key].encode())
    return Finding(", ".join(places[:MOST_PLACES]) + more, FindingKind.INPUT_REFUSED, f"{size:,} bytes: {why}")


def error(refused: Mapping[Digest, SteadlithError], writes: Writes, *, kept: int, left: int) -> InputRefused:
    """The error for all of `refused`; `kept` texts were embedded, `left` were not asked for any more."""
    found = sorted(finding(key, why, writes) for key, why in refused.items())
    lines = [f"{each.place}: {each.message}" for each in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        lines.append(f"and {len(found) - MOST_LISTED:,} more")
    asked = f"; {left:,} were not asked for any more" if left else ""
    summary = (
        f"the embedder refused {len(found):,} of {len(refused) + kept + left:,} texts, so nothing was applied; "
        f"{kept:,} are embedded and kept in the cache{asked}"
    )
    documents = () if left else _documents(refused, writes)
    way_out = _without(documents) if documents else "more was refused than embedded: look at the embedder's settings"
    return InputRefused("\n".join((summary, *lines, way_out)), documents=documents)


def _without(documents: Sequence[str]) -> str:
    named = [*map(quote, documents[:MOST_PLACES]), *(["..."] if len(documents) > MOST_PLACES else [])]
    return (
        f"plan again without their documents (steadlith plan {' '.join(f'--hold {name}' for name in named)}), or make "
        "these chunks smaller ([chunking] max_tokens, max_bytes); only what is missing is paid for"
    )


def _documents(refused: Collection[Digest], writes: Writes) -> tuple[str, ...]:
    """Who holds any of these texts."""
    return tuple(sorted({str(id_) for id_, _, _, key in writes.needing() if key in refused}))
