"""Opening an index to end what was begun, also where its configuration file cannot be read any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith.index import Index


def opened(path: Path) -> Index:
    """The index of this configuration; if that cannot be used, of the one that the journal beside it was begun over.

    Raises `ConfigError` where there is no journal that says which.
    """
    import steadlith
    from steadlith import config as configuration
    from steadlith import journals
    from steadlith_core.errors import ConfigError

    try:
        return steadlith.open(path)
    except ConfigError:
        before = journals.before(path)
        if before is None:
            raise
        return steadlith.Index(configuration.read(before, path))
