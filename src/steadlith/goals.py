"""Goals: what an apply leads to, where that is not just the sources under the configuration that is in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith.assembly import Assembly
    from steadlith.checking import Checked
    from steadlith_core.planning.make import Planned, Terms
    from steadlith_core.ports import Cache, Reader, Store


class Goal(Protocol):
    """Where an apply goes: under which configuration, made of what, and judged by whom before anybody sees it."""

    @property
    def command(self) -> str:
        """The command that brings it about, and ends it when it was killed."""
        ...

    @property
    def why(self) -> str:
        """Why its generation is made, in a few words."""
        ...

    @property
    def assembly(self) -> Assembly:
        """The configuration that it is made under."""
        ...

    @property
    def replaces(self) -> str | None:
        """The text of the configuration file that this one's takes the place of; none if no journal is needed."""
        ...

    @property
    def asked(self) -> Mapping[str, Any]:
        """What whoever goes on with it must know, as a JSON value."""
        ...

    def planned(self, store: Store, terms: Terms) -> Planned | None:
        """The plan, made again from the index as it is now; none if it is made from the sources."""
        ...

    def check(self, reader: Reader, cache: Cache) -> Checked | None:
        """Judge what would be the head; none where nothing is asked. Raises `ChecksFailed`."""
        ...
