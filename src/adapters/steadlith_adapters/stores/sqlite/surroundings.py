"""What can be seen to be wrong around an index file: its lock's record, sqlite-vec, and what any such file may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from steadlith_adapters.sqlite import surroundings
from steadlith_adapters.stores.sqlite import lock
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_core.errors import AdapterError
from steadlith_core.ports import Ailment, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def troubles(path: Path) -> Iterator[Trouble]:
    """See `StoreFactory.troubles`."""
    yield from surroundings.troubles(INDEX, path)
    left = lock.left_record(path)
    if left is not None:
        record, holder = left
        message = f"it names a writer that has ended: {holder}"
        way_out = "none needed: the lock itself is free, and the next writer takes it"
        yield Trouble(Ailment.LOCK_LEFT, str(record), message, way_out, grave=False, mendable=True)
    session = Session(apsw.Connection(":memory:"), str(path))
    try:
        session.load_vectors()
    except AdapterError as error:
        yield Trouble(Ailment.EXTENSION, "sqlite-vec", str(error))
    finally:
        session.close()
