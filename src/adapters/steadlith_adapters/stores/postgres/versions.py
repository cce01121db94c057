"""How many documents and chunks the open rows hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_core.digest import SIZE as DIGEST_SIZE

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session

_COUNT = f"""
    SELECT count(*), coalesce(sum(length(v.leaves)), 0)::bigint FROM document_version v
    JOIN document d ON d.document = v.document
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_to = {OPEN}
    WHERE v.valid_to = {OPEN}"""  # noqa: S608


def count(session: Session) -> tuple[int, int]:
    """How many documents and chunks the open rows hold."""
    documents, size = session.run(_COUNT)[0]
    return documents, size // DIGEST_SIZE
