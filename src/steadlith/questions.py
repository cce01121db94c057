"""Golden questions: what an index must find, one JSON object a line.

`{"question": "how do I go back?", "documents": ["docs:history.md"]}`: one of the documents must be among the hits. A
document is `source:path`, or a path where there is one source.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith.explain import document_id
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from steadlith_core.records import DocumentId


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the documents of which it must find one."""

    text: str
    documents: frozenset[DocumentId]


def load(file: Path, sources: Collection[str]) -> tuple[Question, ...]:
    """The questions of a file. `UsageError` names the line that is none."""
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read {file}: {error}"
        raise UsageError(message) from error
    found = [_question(f"{file}:{number}", line, sources) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        message = f"{file} holds no question"
        raise UsageError(message)
    return tuple(found)


def _question(place: str, line: str, sources: Collection[str]) -> Question:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"{place} is not JSON: {error}"
        raise UsageError(message) from error
    text = value.get("question") if isinstance(value, dict) else None
    documents = value.get("documents") if isinstance(value, dict) else None
    if not isinstance(text, str) or not text.strip() or not _names(documents):
        message = (
            f'{place}: expected {{"question": "...", "documents": ["source:path", ...]}} with at least one document, '
            f"got {line:.80}"
        )
        raise UsageError(message)
    return Question(text, frozenset(document_id(name, sources) for name in _names(documents)))


def _names(value: Any) -> Iterable[str]:
    return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else ()
