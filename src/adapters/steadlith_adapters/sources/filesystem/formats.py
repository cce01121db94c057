"""Which grammar a file is cut by, from its name alone.

1. A configured pattern decides first, in the order of the table; then a configured suffix, the longest that fits;
   then the built-in table. Everything else is text.
2. Suffixes compare without regard to case: `README.MD` is Markdown.
3. A file of a type that is never text is no document, and no finding either: pictures belong in a folder of documents.
   What the configuration gives a format is a document all the same. SVG is text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import raw
from steadlith_adapters.sources.filesystem.rules import Rules
from steadlith_core.records import Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core import canon

MARKDOWN = "md markdown mdx mkd mdown"
RST = "rst rest"
CODE = (
    "bash bat c cc cjs clj cljs cmake cpp cs css cxx dart el erl ex exs fish go gradle groovy h hh hpp hs hxx ini "
    "java jl js json jsonc jsx kt kts less lisp lua m mjs ml mli mm nim nix php pl pm proto ps1 py pyi pyx r rb rs "
    "sass scala scm scss sh sol sql swift tcl tf toml ts tsx v vb vim vue xml yaml yml zig zsh"
)

PICTURES = "png jpg jpeg gif webp ico bmp tiff"
MEDIA = "mp3 mp4 mov avi webm ogg wav flac woff woff2 ttf otf eot"
ARCHIVES = "zip gz bz2 xz zst tar 7z rar jar"
OFFICE = "pdf epub doc docx xls xlsx ppt pptx odt ods odp"
COMPILED = "exe dll so dylib a o obj class pyc pyo wasm bin"
DATA = "sqlite sqlite3 db parquet npy npz pkl"

BINARY = frozenset(
    f".{suffix}" for suffixes in (PICTURES, MEDIA, ARCHIVES, OFFICE, COMPILED, DATA) for suffix in suffixes.split()
)
"""Types that are never text. `.dat` is missing on purpose: it may be anything."""

SUFFIXES: Mapping[str, Format] = {
    f".{suffix}": format_
    for suffixes, format_ in ((MARKDOWN, Format.MARKDOWN), (RST, Format.RST), (CODE, Format.CODE))
    for suffix in suffixes.split()
}

NAMES: Mapping[str, Format] = dict.fromkeys(
    ("containerfile", "dockerfile", "gemfile", "jenkinsfile", "justfile", "makefile", "rakefile"), Format.CODE
)


@dataclass(frozen=True, slots=True)
class Formats:
    """The built-in table under what a configuration adds to it."""

    patterns: tuple[tuple[Rules, Format], ...] = ()
    suffixes: tuple[tuple[str, Format], ...] = ()

    @classmethod
    def configured(cls, table: Mapping[str, Format]) -> Formats:
        """From a table of suffixes (`.tpl`) and patterns (`*.tpl`, `legacy/`). `ValueError` for a bad pattern."""
        suffixes = {key.lower(): value for key, value in table.items() if _is_suffix(key)}
        return cls(
            patterns=tuple((Rules.strict([key]), value) for key, value in table.items() if not _is_suffix(key)),
            suffixes=tuple(sorted(suffixes.items(), key=lambda item: (-len(item[0]), item[0]))),
        )

    def admits(self, path: str) -> bool:
        """Whether the file at `path` may be a document: not of a binary type, or given a format all the same."""
        return _suffix(_name(path)) not in BINARY or self._configured(path) is not None

    def of(self, path: str) -> Format:
        """The format of the document at `path`."""
        configured = self._configured(path)
        if configured is not None:
            return configured
        name = _name(path)
        suffix = _suffix(name)
        return SUFFIXES.get(suffix, Format.TEXT) if suffix else NAMES.get(name, Format.TEXT)

    def spelled(self) -> list[canon.Value]:
        """All that decides, the built-in tables too, for a digest."""
        return [
            [[rules.spelled(), str(format_)] for rules, format_ in self.patterns],
            [[raw(suffix), str(format_)] for suffix, format_ in self.suffixes],
            {**SUFFIXES, **NAMES},
            sorted(BINARY),
        ]

    def _configured(self, path: str) -> Format | None:
        for rules, format_ in self.patterns:
            if rules.names(path):
                return format_
        name = _name(path)
        for suffix, format_ in self.suffixes:
            if name.endswith(suffix):
                return format_
        return None


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _suffix(name: str) -> str:
    _, dot, last = name.rpartition(".")
    return dot + last if dot else ""


def _is_suffix(key: str) -> bool:
    return key.startswith(".") and not set(key) & set("*?[/\\")
