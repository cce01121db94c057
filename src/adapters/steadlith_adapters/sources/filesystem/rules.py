"""Lists of patterns, and which folders of a work tree bring their own.

1. In one list the last pattern that names a path decides; none means that the list has no opinion.
2. A list speaks about paths relative to the folder it stands in; a deeper folder's list speaks first.
3. Patterns and paths are compared in NFC, so that a name matches however the disk spells it.
4. Only files of the tree count: a user's global excludes would make a plan depend on whose machine it ran on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import document_name, raw
from steadlith_adapters.sources.filesystem.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steadlith_adapters.sources.filesystem.patterns import Pattern
    from steadlith_core import canon


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one list, in order."""

    patterns: tuple[Pattern, ...] = ()

    @classmethod
    def strict(cls, lines: Iterable[str]) -> Rules:
        """Rules from a configuration: `ValueError` shows a pattern that can match nothing."""
        patterns = (compile_pattern(document_name(line)) for line in lines)
        return cls(tuple(pattern for pattern in patterns if pattern is not None))

    @classmethod
    def lenient(cls, data: bytes) -> Rules:
        """Rules from the bytes of a `.gitignore`; as in git, a line that can match nothing is passed over."""
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        patterns = []
        for line in document_name(text).split("\n"):
            try:
                pattern = compile_pattern(line.removesuffix("\r"))
            except ValueError:
                continue
            if pattern is not None:
                patterns.append(pattern)
        return cls(tuple(patterns))

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """What the last pattern that names `path` says: yes, no (it began with `!`), or nothing."""
        name = path.rpartition("/")[2]
        for pattern in reversed(self.patterns):
            if pattern.names(path, name, folder=folder):
                return pattern.positive
        return None

    def spelled(self) -> list[canon.Value]:
        """All that decides, for a digest."""
        return [
            [pattern.positive, pattern.folders_only, pattern.whole_path, raw(pattern.regex.pattern)]
            for pattern in self.patterns
        ]

    def names(self, path: str) -> bool:
        """Whether a file at `path`, or a folder above it, is what these rules are about."""
        parts = path.split("/")
        verdict = self.decide(path, folder=False)
        while verdict is None and len(parts) > 1:
            parts.pop()
            verdict = self.decide("/".join(parts), folder=True)
        return verdict is True
