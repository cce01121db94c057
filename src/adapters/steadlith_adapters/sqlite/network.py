"""Whether a file would stand on a network file system, and the refusal if so.

1. SQLite needs locks that exclude every other machine and a log index in memory that all its processes share. A network
   file system gives the one unreliably and the other not at all; what comes of it is a damaged index, later.
2. The kernel's own table of mounts says what a path is on: the mount that is nearest above it, the last one if several
   are at one place. Where there is no such table (not Linux), nothing is said and nothing is refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNTS = Path("/proc/self/mountinfo")

NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "coda", "ncpfs", "davfs", "lustre", "beegfs", "gpfs"),
        *("pvfs2", "orangefs", "glusterfs", "wekafs", "panfs"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.cephfs", "fuse.davfs", "fuse.smbnetfs", "fuse.curlftpfs"),
        *("fuse.rclone", "fuse.s3fs", "fuse.goofys", "fuse.gcsfuse", "fuse.blobfuse", "fuse.blobfuse2", "fuse.juicefs"),
        *("fuse.seaweedfs", "fuse.mount-s3", "fuse.mfs", "fuse.moosefs", "fuse.lizardfs", "fuse.nfs"),
    }
)
"""Types as the table of mounts has them. Others that are remote may be missing here; none here is a local disk."""

_ESCAPE = re.compile(r"\\([0-7]{3})")


def mounted(table: str, path: str) -> tuple[str, str] | None:
    """The mount point that `path`, absolute and without links, is on, and the type of the file system there.

    `table` is a table of mounts as in `/proc/self/mountinfo`; none if it names nothing above `path`.
    """
    best = None
    for point, kind in _rows(table):
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best[0])):
            best = point, kind
    return best


def refuse(path: Path, setting: str) -> None:
    """Raise `ConfigError` if `path`, whether it is there or not, is on a network file system; `setting` names it."""
    try:
        table = MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return
    found = mounted(table, os.path.realpath(path))
    if found is not None and found[1] in NETWORK:
        point, kind = found
        message = (
            f"{setting}: {path} is on a network file system ({kind}, mounted at {point}), where SQLite's locks do not "
            "keep other machines out and its log cannot be shared, so it is refused; set a path on a local disk. "
            "What several machines write belongs into PostgreSQL, whose server does the locking "
            '(store.type = "postgres")'
        )
        raise ConfigError(message)


def _rows(table: str) -> Iterator[tuple[str, str]]:
    """Mount points and types. proc(5): fields by spaces, the fifth is the mount point with octal escapes; after any
    number of optional fields a lone hyphen, and then the type.
    """
    for line in table.splitlines():
        before, hyphen, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if hyphen and len(fields) > 4 and kind:
            yield _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4]), kind
