"""A source with something round its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.calls import Call, begun
from steadlith_core.ports import nothing_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.ports import Known, Source
    from steadlith_core.records import Content, Listed, Stamp

PORT = "source"


class WrappedSource:
    """The methods of `ports.Source`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Source, around: Around) -> None:
        self._inner = inner
        self._around = around

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """See `Source.list`."""
        return self._around(Call(PORT, "list", {}), lambda: begun(self._inner.list(known)))

    def read(self, path: str) -> Content:
        """See `Source.read`."""
        return self._around(Call(PORT, "read", {"path": path}), lambda: self._inner.read(path))

    def stamp(self, path: str) -> Stamp | None:
        """See `Source.stamp`."""
        return self._around(Call(PORT, "stamp", {"path": path}), lambda: self._inner.stamp(path))

    def leaves_out(self, path: str) -> bool:
        """See `Source.leaves_out`."""
        return self._around(Call(PORT, "leaves_out", {"path": path}), lambda: self._inner.leaves_out(path))

    def place(self) -> bytes | None:
        """See `Source.place`."""
        return self._around(Call(PORT, "place", {}), self._inner.place)
