"""What tells, without reading, that a file still has the bytes it had.

1. Five numbers of the file itself: device, inode, size, and when its bytes and its entry last changed.
2. A document that is a link also depends on where it leads: both files count, the younger change is its own.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from steadlith_core.records import Stamp

if TYPE_CHECKING:
    import os

IDENTITY = struct.Struct("<QQQqq")
PLACE = struct.Struct("<QQ")


def stamp_of(status: os.stat_result, target: os.stat_result | None = None) -> Stamp:
    """The stamp of a file; of a link with the file it leads to as `target`."""
    modified, changed = status.st_mtime_ns, status.st_ctime_ns
    identity = IDENTITY.pack(status.st_dev, status.st_ino, status.st_size, modified, changed)
    changed_at = max(modified, changed)
    if target is None:
        return Stamp(identity, changed_at)
    behind = stamp_of(target)
    return Stamp(identity + behind.identity, max(changed_at, behind.changed_at))
