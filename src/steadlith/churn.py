"""Churn: how much text a policy would have had embedded while a history went on.

1. Every distinct chunk text counts once over the whole history: first in the first snapshot, else later. What is
   embedded is not embedded again, whichever document it comes back in.
2. The first snapshot is the first one that holds any text.
3. Every version of a document, its bytes and its format, is read once and cut once by each policy; what a chunk is does
   not depend on when it was made. Sizes and hashes are kept, no text.
4. A version that cannot be used is a finding and is passed over; by one policy alone, if that policy refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from steadlith import cutting
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.records import Finding, FindingKind
from steadlith_core.state.identity import text_hash
from steadlith_core.text.canonical import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steadlith.history import History, Version
    from steadlith_core.digest import Digest
    from steadlith_core.policies import Chunker
    from steadlith_core.records import Format
    from steadlith_core.text.canonical import CanonicalText

BATCH = 1 << 20
"""Bytes of text that are cut in one go."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy as it was asked for. `label` tells it from the others."""

    policy: str
    label: str
    chunker: Chunker


@dataclass(frozen=True, slots=True)
class Amount:
    """Distinct chunk texts: how many, and how much is in them."""

    chunks: int = 0
    bytes: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one policy would have had embedded: for the first snapshot, and `later`, after it."""

    contender: Contender
    first: Amount
    later: Amount
    largest_bytes: int
    largest_tokens: int

    @property
    def mean_bytes(self) -> float:
        """Of the chunks of the first snapshot."""
        return self.first.bytes / max(1, self.first.chunks)

    @property
    def mean_tokens(self) -> float:
        """Of the chunks of the first snapshot."""
        return self.first.tokens / max(1, self.first.chunks)


@dataclass(frozen=True, slots=True)
class Churn:
    """A replayed history. `commits` are the snapshots after the first, `edits` those of them with a version not seen
    before. `documents` are those of the last snapshot. `changed` counts the versions after the first snapshot, and
    `changed_bytes` their text.
    """

    first: str
    last: str
    commits: int
    edits: int
    documents: int
    versions: int
    changed: int
    changed_bytes: int
    measured: tuple[Measured, ...]
    findings: tuple[Finding, ...]

    def share(self, of: Measured) -> float | None:
        """What part of the changed documents' text was embedded; none if nothing changed."""
        return of.later.bytes / self.changed_bytes if self.changed_bytes else None


class _Read(NamedTuple):
    """One version on its way through all policies."""

    place: str
    text: CanonicalText
    format: Format


@dataclass(slots=True)
class _Tally:
    """What one policy made so far."""

    contender: Contender
    first: Amount = field(default_factory=Amount)
    later: Amount = field(default_factory=Amount)
    largest_bytes: int = 0
    largest_tokens: int = 0
    known: set[Digest] = field(default_factory=set)

    def take(self, versions: Sequence[_Read], findings: list[Finding], *, first: bool) -> None:
        """Cut some versions and count what was not there before; what the policy refuses goes to `findings`."""
        count = size = tokens = 0
        cut = cutting.cut(self.contender.chunker, [(version.text, version.format) for version in versions])
        for version, made in zip(versions, cut, strict=True):
            if isinstance(made, DocumentError):
                findings.append(Finding(version.place, FindingKind(made.kind), f"{self.contender.label}: {made}"))
                continue
            for chunk in made.chunks:
                name = text_hash(chunk.text)
                if not chunk.embed or name in self.known:
                    continue
                self.known.add(name)
                length = len(chunk.text.encode())
                count, size, tokens = count + 1, size + length, tokens + chunk.tokens
                self.largest_bytes = max(self.largest_bytes, length)
                self.largest_tokens = max(self.largest_tokens, chunk.tokens)
        before = self.first if first else self.later
        after = Amount(before.chunks + count, before.bytes + size, before.tokens + tokens)
        if first:
            self.first = after
        else:
            self.later = after

    @property
    def result(self) -> Measured:
        return Measured(self.contender, self.first, self.later, self.largest_bytes, self.largest_tokens)


def measure(
    history: History,
    contenders: Sequence[Contender],
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> Churn:
    """Replay `history` with every contender. `report` is told (done, total) after each snapshot.

    Raises `SourceError` for a history that cannot be read, or that never holds a text.
    """
    tallies = [_Tally(contender) for contender in contenders]
    seen: set[tuple[str, Format]] = set()
    findings: list[Finding] = []
    first = last = ""
    holds_text = False
    documents = commits = edits = versions = changed = changed_bytes = 0
    for done, snapshot in enumerate(history.snapshots(), 1):
        started = bool(first)
        fresh = [each for each in snapshot.changed if (each.content, each.format) not in seen]
        seen.update((each.content, each.format) for each in fresh)
        findings += snapshot.findings
        before = versions
        for batch in _batches(_reads(history, snapshot.name, _distinct(fresh), findings)):
            versions += len(batch)
            holds_text = holds_text or any(each.text.data[each.text.body :].strip(WHITE_SPACE) for each in batch)
            if started:
                changed += len(batch)
                changed_bytes += sum(len(each.text.data) - each.text.body for each in batch)
            for tally in tallies:
                tally.take(batch, findings, first=not started)
        if started:
            commits += 1
            edits += versions > before
        elif holds_text:
            first = snapshot.name
        last, documents = snapshot.name, snapshot.documents
        report(done, history.moments)
    if not first:
        raise SourceError(_nothing(history.moments, findings))
    measured = tuple(tally.result for tally in tallies)
    return Churn(first, last, commits, edits, documents, versions, changed, changed_bytes, measured, tuple(findings))


def _distinct(versions: Sequence[Version]) -> list[Version]:
    """One of each content and format, the first in path order."""
    return list({(each.content, each.format): each for each in reversed(versions)}.values())[::-1]


def _reads(history: History, name: str, versions: Sequence[Version], findings: list[Finding]) -> Iterator[_Read]:
    """The versions that can be used; `findings` takes the others."""
    for version in versions:
        place = f"{name}:{version.path}"
        try:
            yield _Read(place, cutting.read(history.read(version), version.format), version.format)
        except DocumentError as error:
            findings.append(Finding(place, FindingKind(error.kind), str(error)))


def _batches(versions: Iterator[_Read]) -> Iterator[list[_Read]]:
    batch, size = list[_Read](), 0
    for version in versions:
        batch.append(version)
        size += len(version.text.data)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _nothing(moments: int, findings: Sequence[Finding]) -> str:
    message = f"no document with text in {moments:,} snapshot" + ("s" if moments != 1 else "")
    if findings:
        message += f"; {len(findings):,} could not be used, the first: {findings[0].place}: {findings[0].message}"
    return f"{message}: nothing to measure"
