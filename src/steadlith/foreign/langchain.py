"""LangChain: an export of a vector store, and its SQL record manager, which knows which of it is alive.

1. The export is JSON Lines (`jsonl.py`); with a record manager a row that it does not know is passed over as deleted,
   and a record that the export does not have is told.
2. A record manager's namespaces are different indexes: of several, one has to be named.
3. A row that names no document is of the record's group, which is its source id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith.foreign import databases, jsonl, whole
from steadlith.foreign.lines import objects
from steadlith.foreign.rows import Passed, Why
from steadlith_core.errors import ImportFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from steadlith.foreign.rows import Read
    from steadlith.foreign.whole import Whole

TABLE = "upsertion_record"


@dataclass(frozen=True, slots=True)
class Export:
    """The exported files, and the record manager if there is one."""

    files: Sequence[Path]
    dimensions: int
    path_key: str
    records: Path | None = None
    namespace: str | None = None
    name: str = "langchain"

    def rows(self) -> Iterator[Read]:
        """Every line that is alive, and every record without one."""
        alive = None if self.records is None else self._records(self.records)
        missing = dict(alive or {})
        for file in self.files:
            for place, found in objects(file):
                if isinstance(found, Passed):
                    yield found
                    continue
                key = str(found.get("id"))
                missing.pop(key, None)
                if alive is not None and key not in alive:
                    yield Passed(place, Why.DELETED, f"the record manager does not know {key!r:.80}: it was deleted")
                    continue
                group = alive.get(key) if alive else None
                yield jsonl.read(place, found, self.path_key, self.dimensions, group)
        for key in missing:
            yield Passed(f"{TABLE}:{key:.80}", Why.ABSENT, "the record manager has it, and the export does not")

    def whole(self) -> Whole:
        """The files, and which namespace of the record manager."""
        if self.records is None:
            return whole.of_files(self.files, {})
        with databases.opened(self.records) as database:
            said = {"namespace": self._namespace(database)}
        return whole.of_files([*self.files, self.records], said)

    def _records(self, path: Path) -> Mapping[str, str | None]:
        """The group of every key of the namespace."""
        with databases.opened(path) as database:
            namespace = self._namespace(database)
            rows = database.execute(
                "SELECT key, group_id FROM upsertion_record WHERE namespace = ? ORDER BY key", (namespace,)
            )
            return {str(key): group if isinstance(group, str) else None for key, group in rows}

    def _namespace(self, database: Connection) -> str:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if TABLE not in tables:
            raise ImportFileError(f"{self.records} is no SQL record manager of LangChain: it has no table {TABLE}")
        found = [name for (name,) in database.execute("SELECT DISTINCT namespace FROM upsertion_record ORDER BY 1")]
        if self.namespace is not None:
            if self.namespace in found:
                return self.namespace
            there = ", ".join(map(repr, found)) or "none"
            raise UsageError(f"--namespace {self.namespace!r}: {self.records} has no such namespace; there are {there}")
        if len(found) != 1:
            there = ", ".join(map(repr, found)) or "none"
            raise UsageError(f"{self.records} has {len(found)} namespaces ({there}): say which, with --namespace")
        return str(found[0])
