"""The survey: one look at all sources, and what they show that the ledger does not know.

1. What could not be read keeps its recorded state and is a finding (invariant 5).
2. A document whose stamp or whose bytes are the recorded ones is not cut again, under the same recipe.
3. Memory grows with what changed: of an unchanged folder nothing is kept.
4. Chunks are made from the same bytes that were digested.
5. How many processes cut (`workers`) decides how long it takes, and nothing else.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from steadlith.blocks import Record, Refusal
from steadlith.border import adapter
from steadlith.crew import Crew
from steadlith.ledger import split
from steadlith_core.errors import DocumentError
from steadlith_core.planning.planfile import is_plan_file
from steadlith_core.planning.wanted import SourceText
from steadlith_core.ports import nothing_known
from steadlith_core.records import DocumentId, Finding, FindingKind, KnownFolder
from steadlith_core.state.identity import content_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith.assembly import Assembly
    from steadlith.blocks import Records
    from steadlith.ledger import Ledger
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import Wanted, WantedDocument
    from steadlith_core.ports import Source
    from steadlith_core.records import Format, Listed, SourceEntry

CUT_TOGETHER = 1 << 22
"""Bytes read after which they are cut: many documents together are cut faster than each, and all would fill memory."""

WHOLE_SOURCE = "/"
"""What a source says is unread when any of its documents may be."""


HELD = Refusal(FindingKind.HELD, "not read; what is recorded of it stays")
NOTHING_HELD = "neither in the sources nor in the index, so nothing is held by this name"

UNKNOWN = Record(b"", None)


class _Uncut(NamedTuple):
    text: SourceText
    digest: Digest
    identity: bytes
    recorded: Record
    asked: bool


@dataclass(slots=True)
class Survey:
    """What was seen. `only`, if given, are the documents to look at closely: others that changed are `left`.

    `may_go` says which documents may be removed, `stay` are those that are not read, whatever became of them, `as_is`
    those that count as unread while their bytes are the recorded ones; with `repair_only` nothing is wanted but
    recorded bytes. `believe` says that equal bytes are cut as they were. `force` are documents that are wanted even so.
    `taken_at`, if given, is when the look began, by the clock of the fingerprint file that will keep what is seen:
    `seen` is which folders were listed, with their rules; `held` the sources of which documents are missing and stay;
    `redrawn` the records of the folders in which anything is not as the ledger has it.
    """

    assembly: Assembly
    ledger: Ledger
    believe: bool
    only: frozenset[DocumentId] | None = None
    force: frozenset[DocumentId] = frozenset()
    may_go: Callable[[DocumentId], bool] = lambda _id: True
    stay: frozenset[DocumentId] = frozenset()
    as_is: frozenset[DocumentId] = frozenset()
    repair_only: bool = False
    taken_at: int | None = None
    workers: int = 1
    wanted: dict[DocumentId, WantedDocument] = field(default_factory=dict)
    gone: set[DocumentId] = field(default_factory=set)
    unread: set[DocumentId] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    left: list[DocumentId] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seen: dict[str, dict[str, bytes]] = field(default_factory=dict)
    redrawn: dict[tuple[str, str], Records] = field(default_factory=dict)
    places: dict[str, bytes | None] = field(default_factory=dict)
    _cuts: dict[tuple[DocumentId, Format, Digest], Wanted] = field(default_factory=dict)
    _met: set[DocumentId] = field(default_factory=set)
    _uncut: list[_Uncut] = field(default_factory=list)
    _uncut_bytes: int = 0
    _given: deque[_Uncut] = field(default_factory=deque)
    _crew: Crew = field(init=False)

    def look(self, sources: Mapping[str, Source]) -> None:
        """List all sources, read what the ledger does not vouch for, and cut what is not as recorded."""
        with Crew(self.assembly, self.workers) as self._crew:
            for name, source in sources.items():
                self._look(name, source)
            self._cut(last=True)
        self.assembly.cut_before.clear()
        self.assembly.cut_before.update(self._cuts)
        for name in self.ledger.sources():
            if name not in sources:
                folders = self.ledger.folders(name)
                self._settle(name, {id_ for folder in folders for id_ in self._all_of(name, folder)}, set())
        for id_ in sorted(self.stay - self._met):  # a name mistyped would hold nothing, and say nothing
            self.findings.append(Finding(str(id_), FindingKind.HELD, NOTHING_HELD))

    def keep(self, document: WantedDocument) -> None:
        """Note under which digest a document that could not be read is recorded now."""
        folder, word = split(document.id.path)
        row = self.redrawn[document.id.source, folder].get(word) or UNKNOWN
        self._redraw(document.id, row._replace(digest=document.source_digest))

    def _look(self, name: str, source: Source) -> None:
        seen = self.seen.setdefault(name, {})
        folders = self.ledger.folders(name)
        missing: set[DocumentId] = set()
        unread: set[str] = set()
        with adapter(f"listing source {name!r}"):
            self.places[name] = source.place()
            for part in source.list(partial(self._known, name) if self.believe else nothing_known):
                unread.update(part.unread)
                self.findings += (replace(finding, place=f"{name}:{finding.place}") for finding in part.findings)
                if part.entries or part.same:
                    seen[part.folder] = part.rules
                    if part.entries or folders[part.folder] != (len(part.same), len(part.same), 0):
                        missing |= self._folder(name, source, part)
        if not seen and not unread:
            message = "it lists no document at all: look at the source's path and at its include and exclude patterns"
            self.findings.append(Finding(f"{name}:", FindingKind.EMPTY_SOURCE, message))
        for folder in folders.keys() - seen.keys():
            missing |= self._all_of(name, folder)
        self._settle(name, missing, unread)

    def _known(self, name: str, folder: str) -> KnownFolder | None:
        """What the ledger knows of a folder, but for documents of which something is to be said whatever is known."""
        known = self.ledger.known(name, folder)
        asked = self.force | self.stay
        if known is None or not asked:
            return known
        believed = {
            word: identity
            for word, identity in known.identities.items()
            if DocumentId(name, folder + word) not in asked
        }
        return KnownFolder(known.rules, believed)

    def _folder(self, name: str, source: Source, part: Listed) -> set[DocumentId]:
        """Look at a folder that is not as it was; the recorded documents of it that were not listed."""
        kept = self.ledger.records(name, part.folder)
        rows = self.redrawn[name, part.folder] = kept.copy()
        refused = kept.refused
        for word in part.same if refused else ():
            if word in refused:
                self._refuse_again(DocumentId(name, part.folder + word), refused[word])
        words = set(part.same)
        for entry in part.entries:
            word = split(entry.path)[1]
            if self._read(DocumentId(name, entry.path), source, entry, kept.get(word)):
                words.add(word)
        gone = {word: kept.get(word) or UNKNOWN for word in kept.names - words}
        for word, record in gone.items():
            if record.digest is None:
                rows.drop(word)  # it was refused, and is not there any more
        return {DocumentId(name, part.folder + word) for word, record in gone.items() if record.digest is not None}

    def _read(self, id: DocumentId, source: Source, entry: SourceEntry, known: Record | None) -> bool:  # noqa: A002
        """Look at one listed file; whether it is a document."""
        recorded = (known or UNKNOWN)._replace(identity=b"", refusal=None)
        if id in self.stay:
            self._met.add(id)
            self._refuse_again(id, HELD)
            self._redraw(id, recorded)
            return True
        try:
            with adapter(f"reading {id}"):
                content = source.read(entry.path)
                identity = self._identity(source, entry)
        except DocumentError as error:
            self._refuse(id, error)
            self._redraw(id, recorded)
            return True
        if is_plan_file(content.body):
            return False
        digest = content_digest(content)
        same = (recorded.digest, recorded.format) == (digest, entry.format)
        if same and id in self.as_is and id not in self.force:
            self.unread.add(id)
            self._redraw(id, recorded._replace(identity=identity))
            return True
        asked = (self.only is None or id in self.only) and (same or not self.repair_only)
        if same and not (asked and (id in self.force or not self.believe)):
            self._redraw(id, recorded._replace(identity=identity))
            return True
        if self.repair_only and not asked:
            self.left.append(id)
            self._redraw(id, recorded)
            return True
        self._want(_Uncut(SourceText(id, entry.format, content), digest, identity, recorded, asked))
        return True

    def _want(self, uncut: _Uncut) -> None:
        before = self.assembly.cut_before.get((uncut.text.id, uncut.text.format, uncut.digest))
        if before is not None:
            self._wanted(uncut, before)
            return
        self._uncut.append(uncut)
        self._uncut_bytes += len(uncut.text.content.body)
        if self._uncut_bytes > CUT_TOGETHER:
            self._cut()

    def _cut(self, *, last: bool = False) -> None:
        """Have cut what was read and is not cut yet, and take what is done; with `last` all of it."""
        if self._uncut:
            self._crew.give([uncut.text for uncut in self._uncut])
            self._given += self._uncut
            self._uncut.clear()
            self._uncut_bytes = 0
        for cut in self._crew.answers(last=last):
            uncut = self._given.popleft()
            id_ = uncut.text.id
            if isinstance(cut, DocumentError):
                self._refuse(id_, cut)
                refusal = Refusal(cut.kind, str(cut))
                self._redraw(id_, uncut.recorded._replace(identity=uncut.identity, refusal=refusal))
            else:
                self._wanted(uncut, cut)

    def _wanted(self, uncut: _Uncut, cut: Wanted) -> None:
        document, findings = cut
        self._cuts[document.id, uncut.text.format, uncut.digest] = cut
        if not uncut.asked:
            self.left.append(document.id)
            self._redraw(document.id, uncut.recorded)
            return
        self.wanted[document.id] = document
        self.findings += findings
        self._redraw(document.id, Record(uncut.identity, uncut.digest, uncut.text.format))

    def _identity(self, source: Source, entry: SourceEntry) -> bytes:
        """What the document may be known by later: nothing if it changed while it was read, or too late to tell."""
        stamp = entry.stamp
        if self.taken_at is None or stamp is None or stamp.changed_at >= self.taken_at:
            return b""
        return stamp.identity if source.stamp(entry.path) == stamp else b""

    def _redraw(self, id: DocumentId, record: Record | None) -> None:  # noqa: A002
        folder, word = split(id.path)
        rows = self.redrawn[id.source, folder]
        if record is None or (record.digest is None and record.refusal is None):
            rows.drop(word)
        else:
            rows.put(word, record)

    def _refuse(self, id: DocumentId, error: DocumentError) -> None:  # noqa: A002
        self._refuse_again(id, Refusal(error.kind, str(error)))

    def _refuse_again(self, id: DocumentId, refusal: Refusal) -> None:  # noqa: A002
        self.findings.append(Finding(str(id), FindingKind(refusal.kind), refusal.message))
        self.unread.add(id)

    def _all_of(self, name: str, folder: str) -> set[DocumentId]:
        rows = self.redrawn.setdefault((name, folder), self.ledger.records(name, folder).copy())
        return {DocumentId(name, folder + word) for word in rows.recorded()}

    def _settle(self, name: str, missing: set[DocumentId], unread: set[str]) -> None:
        """What was not listed is gone, unless it stands where nothing is known."""
        self._met |= missing & self.stay
        folders = tuple(path for path in unread if not path or path.endswith("/"))
        unseen = {
            id_ for id_ in missing if WHOLE_SOURCE in unread or id_.path in unread or id_.path.startswith(folders)
        }
        self.unread |= unseen
        self._go(missing - unseen)
        if missing - self.gone:
            self.held.add(name)
        held = {id_ for id_ in missing - unseen if not self.may_go(id_)}
        self._tell(name, held, "not in the scope or held, so they stay")
        if WHOLE_SOURCE in unread:
            self._tell(name, unseen, "part of the source cannot be read, so they stay")

    def _tell(self, name: str, stay: set[DocumentId], why: str) -> None:
        """A finding for documents that are missing and stay all the same."""
        if stay:
            first = min(stay).path
            more = f" and {len(stay) - 1:,} more" if len(stay) > 1 else ""
            message = f"recorded documents are not listed any more, and {why}: {first}{more}"
            self.findings.append(Finding(f"{name}:", FindingKind.MISSING, message))

    def _go(self, gone: set[DocumentId]) -> None:
        for id_ in filter(self.may_go, gone):
            folder, word = split(id_.path)
            if self.repair_only or (self.only is not None and id_ not in self.only):
                self.left.append(id_)
                continue
            self.gone.add(id_)
            rows = self.redrawn.get((id_.source, folder))
            if rows is not None:
                rows.drop(word)
