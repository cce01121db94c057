"""The file of a vocabulary: found, read once, and named by its bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from steadlith_core.digest import Digest

if TYPE_CHECKING:
    from steadlith_adapters.settings import Table


class Vocabulary(NamedTuple):
    """What a file holds, and the digest of that."""

    data: bytes
    digest: Digest


def read(table: Table, root: str) -> Vocabulary:
    """The file that `file` names, relative to `root`. Raises `ConfigError`; nothing is ever downloaded."""
    name = table.text("file", "")
    try:
        data = Path(root, name).expanduser().read_bytes()
    except OSError as error:
        raise table.wrong("file", name, f"a file that can be read ({error.strerror or error})") from error
    return Vocabulary(data, Digest(blake3(data).digest()))
