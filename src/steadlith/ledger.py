"""The ledger: which documents are recorded, by folder, and what is known of their files without reading them.

1. A fingerprint file of this very head and configuration is believed: it names every recorded document.
2. Any other one is only asked for stamps: a document's stamp is believed if the file's digest for it is the one that
   the index has recorded.
3. Without a file, or where nothing may be believed (another recipe, `--no-stat-cache`), every document is read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from steadlith.blocks import Block, Record, Records, encode
from steadlith_core.records import DocumentId, KnownFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steadlith.blocks import Tally
    from steadlith.fingerprints import Fingerprints, Place
    from steadlith_core.rows import RecordedDocument


class Ledger(Protocol):
    """What the survey asks. Folders are those that hold recorded documents, and those that hold refused ones."""

    def sources(self) -> Iterable[str]:
        """Sources that have folders here."""
        ...

    def folders(self, source: str) -> Mapping[str, Tally]:
        """The folders of a source, each with what it holds directly. Made anew at each call: ask once."""
        ...

    def known(self, source: str, folder: str) -> KnownFolder | None:
        """What may be believed of a folder's documents without reading them."""
        ...

    def records(self, source: str, folder: str) -> Records:
        """All that is kept of a folder."""
        ...

    def block(self, source: str, folder: str) -> tuple[bytes, bytes]:
        """A folder's rules and its records as the fingerprint file has them."""
        ...

    def place(self, source: str) -> bytes | None:
        """The place of a source's root when it was last seen."""
        ...


class FileLedger:
    """A fingerprint file that is believed (rule 1)."""

    def __init__(self, file: Fingerprints) -> None:
        self._file = file

    def sources(self) -> Iterable[str]:
        """See `Ledger.sources`."""
        return self._file.sources()

    def folders(self, source: str) -> Mapping[str, Tally]:
        """See `Ledger.folders`."""
        return {folder: place.tally for folder, place in self._file.folders(source).items()}

    def known(self, source: str, folder: str) -> KnownFolder | None:
        """See `Ledger.known`."""
        place = self._place(source, folder)
        return KnownFolder(place.rules, Block(self._file.block(place)).identities()) if place else None

    def records(self, source: str, folder: str) -> Records:
        """See `Ledger.records`."""
        place = self._place(source, folder)
        return Records(Block(self._file.block(place))) if place else Records()

    def block(self, source: str, folder: str) -> tuple[bytes, bytes]:
        """See `Ledger.block`."""
        place = self._file.folders(source)[folder]
        return place.rules, self._file.block(place)

    def place(self, source: str) -> bytes | None:
        """See `Ledger.place`."""
        return self._file.places.get(source)

    def _place(self, source: str, folder: str) -> Place | None:
        return self._file.folders(source).get(folder)


class ManifestLedger:
    """All recorded documents; with `stamps`, those that a fingerprint file has for their bytes (rules 2 and 3)."""

    def __init__(self, recorded: Iterable[RecordedDocument], file: Fingerprints | None, *, stamps: bool) -> None:
        self._seen = file
        self._file = file if stamps else None
        self.documents = {document.id: document for document in recorded}
        self._tallies: dict[str, Mapping[str, Tally]] = {}
        self._names: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for id_ in self.documents:
            folder, name = split(id_.path)
            self._names[id_.source][folder].append(name)

    def sources(self) -> Iterable[str]:
        """See `Ledger.sources`."""
        return self._names.keys()

    def folders(self, source: str) -> Mapping[str, Tally]:
        """See `Ledger.folders`."""
        if source not in self._tallies:
            names = self._names.get(source, ())
            self._tallies[source] = {folder: self.records(source, folder).tally() for folder in names}
        return self._tallies[source]

    def known(self, source: str, folder: str) -> KnownFolder | None:
        """See `Ledger.known`."""
        place = self._file.folders(source).get(folder) if self._file else None
        if place is None:
            return None
        found = self._found(source, folder)
        return KnownFolder(place.rules, {name: record.identity for name, record in found.items()})

    def records(self, source: str, folder: str) -> Records:
        """See `Ledger.records`."""
        return Records(changed=dict(self._found(source, folder)))

    def block(self, source: str, folder: str) -> tuple[bytes, bytes]:
        """See `Ledger.block`."""
        place = self._file.folders(source).get(folder) if self._file else None
        return place.rules if place else b"", encode(self._found(source, folder))

    def place(self, source: str) -> bytes | None:
        """See `Ledger.place`."""
        return self._seen.places.get(source) if self._seen else None

    def _found(self, source: str, folder: str) -> Mapping[str, Record]:
        place = self._file.folders(source).get(folder) if self._file else None
        stamped = Records(Block(self._file.block(place))) if self._file and place else Records()
        found = {}
        for name in self._names.get(source, {}).get(folder, ()):
            document = self.documents[DocumentId(source, folder + name)]
            recorded = Record(b"", document.source_digest, document.metadata.get("format", ""))
            seen = stamped.get(name) or recorded
            found[name] = seen if seen[1:3] == recorded[1:3] else recorded
        return found


def split(path: str) -> tuple[str, str]:
    """A path's folder (empty, or ending in a slash) and its name there."""
    at = path.rfind("/") + 1
    return path[:at], path[at:]
