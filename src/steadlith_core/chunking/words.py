"""Words: what most policies count, as arrays of byte positions into canonical text.

1. A word is a run without white space; here, and only here, white space is that of Unicode (a fixed table), so a
   no-break space parts two words. Kana and ideographs (U+3040 to U+9FFF) are words one by one, each with the opening
   brackets before it (of U+3000 to U+303F) and whatever else follows it.
2. A run longer than `LONG` bytes falls into words of at most so many, at places where a cut is allowed: base64 and
   scripts without spaces have words like any text. A run that has no such place is one word, whatever its length.
3. A word that is the first of its line begins with the line's indentation, so that what is cut before it keeps it.
4. The pieces [starts[i], ends[j]) are trimmed (`canonical.trim`), and a cut before any word is allowed; together the
   words hold every byte that is no white space. What stands between two words of a piece belongs to it.
5. Only a run over a policy's byte cap is cut where no cut is allowed; such runs are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.text.canonical import INLINE_SPACE, WHITE_SPACE, is_boundary, trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Truths = npt.NDArray[np.bool_]

LONG = 64
"""Most bytes of a word that can be cut at all, and of an indentation that is kept with a word."""

TWO_BYTE_SPACES = "\x85\xa0"
THREE_BYTE_SPACES = "\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

SPACES = frozenset(WHITE_SPACE.decode() + TWO_BYTE_SPACES + THREE_BYTE_SPACES)
"""Every white space of rule 1."""

SOLID = bytes(byte not in WHITE_SPACE for byte in range(256))
INLINE = bytes(byte in INLINE_SPACE for byte in range(256))

SPACE_LEADS = np.array([0xE1 <= byte <= 0xE3 for byte in range(256)])
IS_SPACE = np.zeros(1 << 18, dtype=np.bool_)
"""Whether three bytes, of which the first is E1, E2 or E3, are a white space: by their lowest 18 bits."""
IS_SPACE[[int.from_bytes(space.encode(), "big") & (1 << 18) - 1 for space in THREE_BYTE_SPACES]] = True

OPENS = np.array([byte in b"\x88\x8a\x8c\x8e\x90\x94\x96\x98\x9a" for byte in range(256)])
"""Whether a code point of U+3000 to U+303F is an opening bracket, by its last byte."""

FEED = 0x0A
FIRST_COMBINING = 0xCC
"""Lead byte of U+0300: a code point with a lower one may always be cut before."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of `data[body:]`, in order: word `i` is `data[heads[i]:ends[i]]`.

    A piece that begins with it begins at `starts[i]`, which differs by the line's indentation. All three are int64 of
    shape (words,) and rise.

    `forced` are the runs [start, end) that were cut by rule 5.
    """

    data: bytes
    heads: Integers
    starts: Integers
    ends: Integers
    forced: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.starts)

    def index(self, position: int) -> int:
        """The first word that begins at or after a byte position, `len(self)` if none does. O(log words)."""
        return int(np.searchsorted(self.starts, position, "left"))

    def within(self, index: int, size: int) -> int:
        """Behind the last word of the longest piece from word `index` on of at most `size` bytes; one word at least."""
        return max(index + 1, int(np.searchsorted(self.ends, int(self.starts[index]) + size, "right")))

    def range(self, first: int, last: int) -> tuple[int, int]:
        """Byte range of the piece of words [first, last), which is not empty."""
        return int(self.starts[first]), int(self.ends[last - 1])


def read(data: bytes, body: int, cap: int) -> Words:
    """The words of canonical `data` from the byte position `body` on, for chunks of at most `cap` bytes (> 2 x LONG).

    O(bytes), vectorised; a Python step for each long run only.
    """
    spaced = data if data.isascii() else _with_plain_spaces(data)
    solid = _flags(spaced, SOLID, body)
    heads = np.flatnonzero(_heads(data, solid, body)) + body
    starts = _with_indentation(spaced, body, heads)
    if not data.isascii():
        solid = _flags(data, SOLID, body)  # at its end a piece gives up what `trim` gives up, and no wider space
        heads, starts = _permitted(data, body, heads, starts)
    ends = _ends(starts, solid, body)
    extra, forced = _long_runs(data, starts, heads, ends, cap)
    if extra:
        heads = np.sort(np.append(heads, extra))
        starts = np.sort(np.append(starts, extra))
        ends = _ends(starts, solid, body)
    return Words(data, heads, starts, ends, forced)


def _with_plain_spaces(data: bytes) -> bytes:
    """The text with every white space beyond ASCII as so many spaces: no position moves."""
    for space in TWO_BYTE_SPACES:
        data = data.replace(space.encode(), b"  ")
    raw = np.frombuffer(data, dtype=np.uint8)
    at = np.flatnonzero(SPACE_LEADS[raw])
    lead, second, third = (raw[at + offset].astype(np.int64) for offset in range(3))
    at = at[IS_SPACE[(lead & 3) << 16 | second << 8 | third]]
    if not len(at):
        return data
    plain = raw.copy()
    for offset in range(3):
        plain[at + offset] = 0x20
    return plain.tobytes()


def _flags(data: bytes, table: bytes, body: int) -> Truths:
    return np.frombuffer(data.translate(table), dtype=np.bool_)[body:]


def _heads(data: bytes, solid: Truths, body: int) -> Truths:
    heads = solid.copy()
    heads[1:] &= ~solid[:-1]
    if not data.isascii():
        raw = np.frombuffer(data, dtype=np.uint8)[body:]
        # The lead bytes of U+3000 to U+9FFF are E3 to E9; E3 80 begins the punctuation below U+3040.
        wide = (raw - np.uint8(0xE3)) <= 0xE9 - 0xE3
        mark = np.flatnonzero(wide[:-2] & (raw[:-2] == 0xE3) & (raw[1:-1] == 0x80))
        opening = mark[OPENS[raw[mark + 2]]]
        wide[mark] = False
        wide[opening] = True
        heads |= wide & solid
        heads[opening[opening + 3 < len(heads)] + 3] = False
    return heads


def _with_indentation(spaced: bytes, body: int, heads: Integers) -> Integers:
    raw = np.frombuffer(spaced, dtype=np.uint8)
    lines = np.flatnonzero(raw[body:-1] == FEED) + body + 1
    if body < len(raw) and (body == 0 or raw[body - 1] == FEED):
        lines = np.append(body, lines)
    following = np.append(lines[1:], len(raw))
    indented = np.frombuffer(INLINE, dtype=np.bool_)[raw[lines]]
    lines, following = lines[indented], following[indented]
    first = np.searchsorted(heads, lines)
    head = np.append(heads, len(raw))[first]
    near = (head < following) & (head - lines <= LONG)
    starts = heads.copy()
    starts[first[near]] = lines[near]
    return starts


def _permitted(data: bytes, body: int, heads: Integers, starts: Integers) -> tuple[Integers, Integers]:
    """Without the words that a cut must not fall before; they continue the word in front of them, or the first one
    begins where the text does, which is no cut.
    """
    raw = np.frombuffer(data + bytes(3), dtype=np.uint8)
    rare = np.flatnonzero(raw[starts] >= FIRST_COMBINING)
    if not len(rare):
        return heads, starts
    codes = _code_points(raw, starts[rare])
    forbidden = [code for code in np.unique(codes).tolist() if not _begins(code)]
    kept = np.ones(len(starts), dtype=np.bool_)
    kept[rare[np.isin(codes, forbidden)]] = False
    if not kept[0]:
        kept[0] = True
        starts[0] = trim(data, body, len(data))[0]
    return heads[kept], starts[kept]


@lru_cache(maxsize=1 << 14)
def _begins(code: int) -> bool:
    return is_boundary(chr(code))


def _code_points(raw: npt.NDArray[np.uint8], positions: Integers) -> Integers:
    """The code points that start at positions, all of two bytes or more."""
    lead, second, third, fourth = (raw[positions + offset].astype(np.int64) for offset in range(4))
    two = (lead & 0x1F) << 6 | second & 0x3F
    three = (lead & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
    four = (lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F
    return np.where(lead < 0xE0, two, np.where(lead < 0xF0, three, four))


def _ends(starts: Integers, solid: Truths, body: int) -> Integers:
    """Where each word ends: without the white space before the next one."""
    if not len(starts):
        return starts
    run_ends = np.flatnonzero(solid & ~np.append(solid[1:], False)) + 1
    following = np.append(starts[1:] - body, len(solid))
    last = run_ends[np.searchsorted(run_ends, following, "right") - 1]
    return np.where(solid[following - 1], following, last) + body


def _long_runs(
    data: bytes, starts: Integers, heads: Integers, ends: Integers, cap: int
) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """More places to begin a word, by rules 2 and 5, and the runs of rule 5."""
    extra: list[int] = []
    forced: list[tuple[int, int]] = []
    for index in np.flatnonzero(ends - heads > LONG).tolist():
        at, head, end = int(starts[index]), int(heads[index]), int(ends[index])
        if data[head:end].isascii():
            extra += range(head + LONG, end, LONG)
            continue
        for place in (*_places(data, head, end), end):
            if place - at > cap:
                forced.append((at, place))
                extra += _characters(data, at, place, cap)
            if place < end:
                extra.append(place)
            at = place
    return extra, tuple(forced)


def _places(data: bytes, start: int, end: int) -> Iterator[int]:
    """Permitted places in (start, end): the last within `LONG` bytes of the one before, else the next."""
    at, last, position = start, start, start
    for char in data[start:end].decode():
        if position > start and is_boundary(char) and char not in SPACES:
            if position - at > LONG:
                at = last if last > at else position
                yield at
            last = position
        position += len(char.encode())
    if end - at > LONG and last > at:
        yield last


def _characters(data: bytes, start: int, end: int, cap: int) -> Iterator[int]:
    """Starts of code points in (start, end), as far apart as `cap` bytes allow."""
    at = start
    while end - at > cap:
        at += cap
        while data[at] & 0xC0 == 0x80:
            at -= 1
        yield at
