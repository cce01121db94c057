"""The order in which rows are put into a table, so that those that follow one another fill a page.

1. SQLite opens a page when the next row does not fit on the last one, and the rest of that one stays empty: rows of a
   sixth of a page, in the order in which they come, leave a tenth of each page to nothing.
2. What fills a page is so many of the larger rows, or one more of the smaller ones. They are parted where a page of the
   smaller ones is full in the mean; then a page of either is full in the mean, to the last one.
3. A page takes rows as they come, of its part, but for two: these are the pair of all that are left that fills it best.
4. Every row once, and the same sizes give the same order. Rows of one page stay as they come.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_HEADER = 8
ROW_HEADER = 9
"""Bytes beside a row's record: its place on the page, its length, and its number while that is below 2 to the 28th."""
TRIES = 4
"""Pairs compared for a page."""
ENOUGH = 8
"""Bytes left over that no other pair is looked for."""
_BITS = 20
"""Rows that are ordered together are fewer than 2 to this power."""
_POSITION = (1 << _BITS) - 1


def order(records: Sequence[int], page_size: int) -> list[int]:
    """The positions of records of these lengths, in the order in which they fill pages."""
    room = page_size - PAGE_HEADER
    sizes = [_on_page(length, page_size) for length in records]
    if sum(sizes) <= room:
        return list(range(len(sizes)))
    ranked = sorted(size << _BITS | position for position, size in enumerate(sizes))
    most = max(1, room * len(sizes) // sum(sizes))
    part = _parted(ranked, room, most + 1)
    pages = [*_pages(ranked[:part], room, most + 1), *_pages(ranked[part:], room, most)]
    return [position for page in sorted(map(sorted, pages)) for position in page]


def _on_page(length: int, page_size: int) -> int:
    """What a record takes of a page; a long one goes on on pages of its own."""
    most = page_size - 35
    if length <= most:
        return length + ROW_HEADER
    least = (page_size - 12) * 32 // 255 - 23
    rest = least + (length - least) % (page_size - 4)
    return (rest if rest <= most else least) + ROW_HEADER + 4


def _parted(ranked: Sequence[int], room: int, count: int) -> int:
    """How many of the smallest rows fill pages of `count` in the mean."""
    together = 0
    for position, key in enumerate(ranked):
        together += key >> _BITS
        if together * count > room * (position + 1):
            return position
    return len(ranked)


def _pages(left: list[int], room: int, count: int) -> list[list[int]]:
    """Pages of about `count` rows, of rows that are given as they are ranked: size and position."""
    coming = iter(sorted(left, key=_POSITION.__and__))
    taken: set[int] = set()
    pages = []
    ahead = next(coming, None)
    while left:
        page: list[int] = []
        rest = room
        while ahead is not None and len(page) < count - 2:
            if ahead not in taken:
                if ahead >> _BITS > rest:
                    break
                rest -= ahead >> _BITS
                page.append(ahead)
                del left[bisect_left(left, ahead)]
            ahead = next(coming, None)
        while best := _best(left, rest):
            for key in best:
                rest -= key >> _BITS
                page.append(key)
                del left[bisect_left(left, key)]
            taken.update(best)
        pages.append([key & _POSITION for key in page])
    return pages


def _best(left: Sequence[int], rest: int) -> tuple[int, ...]:
    """The two rows, or the one, that leave least of a page; none if none fits."""
    if len(left) < 2 or (left[0] >> _BITS) + (left[1] >> _BITS) > rest:
        last = _last_below(left, rest)
        return (left[last],) if last >= 0 else ()
    best, least = (left[0], left[1]), rest
    middle = _last_below(left, rest // 2)
    for one in range(middle, max(-1, middle - TRIES), -1):
        other = _last_below(left, rest - (left[one] >> _BITS))
        other -= other == one
        if other < 0:
            continue
        over = rest - (left[one] >> _BITS) - (left[other] >> _BITS)
        if over < least:
            best, least = (left[one], left[other]), over
        if over <= ENOUGH:
            break
    return best


def _last_below(left: Sequence[int], size: int) -> int:
    """Where the largest row of at most this size is."""
    return bisect_right(left, (size + 1 << _BITS) - 1) - 1
