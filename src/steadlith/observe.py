"""Observing: gather the three states into a `World`, reading and never writing.

1. What could not be read keeps its recorded state and is a finding (invariant 5).
2. A document whose bytes are the recorded ones is not cut again, under the same recipe.
3. Memory grows with what changed: texts of unchanged documents are never loaded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.digest import hash_fields
from steadlith_core.errors import DocumentError
from steadlith_core.planning.planfile import is_plan_file
from steadlith_core.planning.wanted import SourceText, rewant, want_all
from steadlith_core.planning.world import World
from steadlith_core.records import DocumentId, Finding, FindingKind, gather
from steadlith_core.rows import TrieRow
from steadlith_core.state.identity import content_digest
from steadlith_core.state.moving import move
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Reader, Source
    from steadlith_core.records import Recipe, SourceEntry
    from steadlith_core.rows import RecordedDocument

CUT_TOGETHER = 1 << 22
"""Bytes read after which they are cut: many documents together are cut faster than each, and all would fill memory."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A world, and the documents outside the asked-for ones that changed meanwhile (`left` for the next plan)."""

    world: World
    left: tuple[DocumentId, ...]


def observe(assembly: Assembly, reader: Reader, cache: Cache, *, only: frozenset[DocumentId] | None = None) -> Observed:
    """Look at everything; with `only`, leave every other document as it is recorded."""
    with adapter("reading the index"):
        head = reader.head
        recorded = {document.id: document for document in reader.documents()}
    same_recipe = head.recipe == assembly.cutter.recipe
    survey = _Survey(assembly, recorded, recorded if same_recipe else {}, only)
    for name, source in assembly.sources().items():
        survey.look(name, source)

    vanished = recorded.keys() - survey.seen - survey.unread
    if only is not None:
        survey.left += sorted(vanished - only)
        vanished &= only
    if not same_recipe:
        for id_ in sorted(survey.unread & recorded.keys()):
            survey.wanted[id_] = _as_recorded(assembly, reader, recorded[id_])

    touched = sorted((survey.wanted.keys() & recorded.keys()) | vanished)
    changes: dict[Digest, TrieRow | None] = {document_key(id_): None for id_ in vanished}
    for document in survey.wanted.values():
        key = document_key(document.id)
        changes[key] = TrieRow(key, document.root, document.source_digest)
    with adapter("reading the index"):
        chunks = {id_: reader.chunks(id_) for id_ in touched}
        entries = reader.entries(sorted({chunk.entry_hash for rows in chunks.values() for chunk in rows}))
        space = assembly.cutter.space
        needed = (chunk.vector_key for document in survey.wanted.values() for chunk in document.chunks)
        keys = sorted({key for key in needed if key is not None})
        cached = cache.contains(keys)
        available = cached | reader.held(space, [key for key in keys if key not in cached])
        moved = move(reader, changes)
    world = World(
        head=head,
        recipe=assembly.cutter.recipe,
        config_digest=assembly.config_digest,
        documents=head.documents,
        total_chunks=head.chunks,
        folders=Counter((id_.source, id_.path[: id_.path.rfind("/") + 1]) for id_ in recorded),
        recorded={id_: recorded[id_] for id_ in touched},
        chunks=chunks,
        entries=entries,
        wanted=survey.wanted,
        vanished=frozenset(vanished),
        available=frozenset(available),
        moved=moved,
        findings=tuple(survey.findings),
    )
    return Observed(world, tuple(survey.left))


@dataclass(slots=True)
class _Survey:
    """One look at all sources, and what they showed. `known` are the documents whose cuts may be believed."""

    assembly: Assembly
    recorded: Mapping[DocumentId, RecordedDocument]
    known: Mapping[DocumentId, RecordedDocument]
    only: frozenset[DocumentId] | None
    wanted: dict[DocumentId, WantedDocument] = field(default_factory=dict)
    seen: set[DocumentId] = field(default_factory=set)
    unread: set[DocumentId] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    left: list[DocumentId] = field(default_factory=list)
    uncut: list[SourceText] = field(default_factory=list)
    uncut_bytes: int = 0

    def look(self, name: str, source: Source) -> None:
        """List one source and read all that it lists."""
        with adapter(f"listing source {name!r}"):
            listing = gather(source.list())
        self.findings += (replace(finding, place=f"{name}:{finding.place}") for finding in listing.findings)
        folders = tuple(path for path in listing.unread if path.endswith("/"))
        files = set(listing.unread)
        self.unread.update(
            id_ for id_ in self.recorded if id_.source == name and (id_.path in files or id_.path.startswith(folders))
        )
        for entry in listing.entries:
            id_ = DocumentId(name, entry.path)
            try:
                self._read(id_, source, entry)
            except DocumentError as error:
                self._refuse(id_, error)
        self._cut()

    def _read(self, id: DocumentId, source: Source, entry: SourceEntry) -> None:  # noqa: A002
        with adapter(f"reading {id}"):
            content = source.read(entry.path)
        if is_plan_file(content.body):
            return
        self.seen.add(id)
        digest = content_digest(content)
        if self.only is not None and id not in self.only:
            if id not in self.recorded or self.recorded[id].source_digest != digest:
                self.left.append(id)
            return
        if id in self.known and self.known[id].source_digest == digest:
            return
        cut = self.assembly.cut_before.get((id, digest))
        if cut is not None:
            self.wanted[id] = cut[0]
            self.findings += cut[1]
            return
        self.uncut.append(SourceText(id, entry.format, content))
        self.uncut_bytes += len(content.body)
        if self.uncut_bytes > CUT_TOGETHER:
            self._cut()

    def _cut(self) -> None:
        """Cut what was read and is not cut yet."""
        with adapter(f"cutting by {self.assembly.cutter.chunker.id}"):
            wanted = want_all(self.assembly.cutter, self.uncut)
        for text, cut in zip(self.uncut, wanted, strict=True):
            if isinstance(cut, DocumentError):
                self._refuse(text.id, cut)
                continue
            self.wanted[text.id] = cut[0]
            self.findings += cut[1]
            self.assembly.cut_before[text.id, cut[0].source_digest] = cut
        self.uncut.clear()
        self.uncut_bytes = 0

    def _refuse(self, id: DocumentId, error: DocumentError) -> None:  # noqa: A002
        self.findings.append(Finding(str(id), FindingKind(error.kind), str(error)))
        self.unread.add(id)


def _as_recorded(assembly: Assembly, reader: Reader, document: RecordedDocument) -> WantedDocument:
    """A document that cannot be read now, cut as it was, under today's recipe."""
    was, now = reader.head.recipe, assembly.cutter.recipe
    digest = document.source_digest
    if was is not None and _decides_cuts(was) != _decides_cuts(now):
        # No bytes are cut like this today: whatever can be read here later is cut anew, the same bytes too.
        digest = hash_fields("unread", digest)
    with adapter("reading the index"):
        rows = reader.chunks(document.id)
        entries = reader.entries([row.entry_hash for row in rows])
        texts = reader.texts([row.text_hash for row in rows])
    chunks = [(row, entries[row.entry_hash], texts[row.text_hash]) for row in rows]
    return rewant(assembly.cutter, document.id, document.metadata, digest, chunks)


def _decides_cuts(recipe: Recipe) -> tuple[str, str, Digest, Digest]:
    return (recipe.normalizer_id, recipe.chunker_id, recipe.chunker_params_hash, recipe.content_hash)
