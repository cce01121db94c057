"""Chunks as JSON Lines, whoever wrote them.

1. An object has a text (`text`, or `page_content`) and a vector (`vector`, or `embedding`); it may have an `id`,
   `metadata`, and the `document` that it is of. Every other key is passed over.
2. Without `document` the path is the metadata's: the value under the key that the caller names.
3. Where metadata have a whole `start_index`, it orders the chunks of a document; else they stand as in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith.foreign import whole
from steadlith.foreign.lines import objects
from steadlith.foreign.rows import Passed, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from steadlith.foreign.rows import Read
    from steadlith.foreign.whole import Whole

TEXT = ("text", "page_content")
VECTOR = ("vector", "embedding")
START = "start_index"


@dataclass(frozen=True, slots=True)
class Lines:
    """The files, in the order given."""

    files: Sequence[Path]
    dimensions: int
    path_key: str
    name: str = "jsonl"

    def rows(self) -> Iterator[Read]:
        """Every line."""
        for file in self.files:
            for place, found in objects(file):
                yield found if isinstance(found, Passed) else read(place, found, self.path_key, self.dimensions)

    def whole(self) -> Whole:
        """The files; they say nothing of themselves."""
        return whole.of_files(self.files, {})


def read(place: str, found: Mapping[str, Any], path_key: str, dimensions: int, document: str | None = None) -> Read:
    """The row of one object. `document` is the path where the object names none."""
    metadata = found.get("metadata")
    own: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    path = found.get("document", own.get(path_key, document))
    return row(
        place,
        found.get("id"),
        path,
        _first(found, TEXT),
        _first(found, VECTOR),
        metadata,
        dimensions,
        own.get(START),
    )


def _first(found: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((found[key] for key in keys if key in found), None)
