"""A file of records, line by line: one JSON object in each.

1. A line is looked at by itself: what is wrong with one never stops the others.
2. The file is UTF-8, with or without a byte order mark; lines end in LF or CRLF; blank lines are passed over.
3. A line longer than a document may be is passed over without being held in memory.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

from steadlith_adapters.sources.records.documents import Refused, document_of
from steadlith_core.records import FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.sources.records.documents import RecordDocument

MAX_LINE_BYTES = 64 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def lines(stream: IO[bytes]) -> Iterator[tuple[int, int, bytes | None]]:
    """Number, offset and bytes of each line that is not blank; no bytes for one that is too long."""
    number = offset = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        length = len(line)
        whole = length <= MAX_LINE_BYTES
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES + 1)
            length += len(rest)
        if not whole:
            yield number, offset, None
        elif not line.isspace() and line.strip() != BYTE_ORDER_MARK:
            yield number, offset, line
        offset += length


def line_at(stream: IO[bytes], offset: int) -> bytes:
    """The line that begins at `offset`."""
    stream.seek(offset)
    return stream.readline(MAX_LINE_BYTES + 1)


def document_in(line: bytes | None) -> RecordDocument:
    """The document in one line. Raises `Refused`."""
    if line is None:
        raise Refused(FindingKind.TOO_LARGE, f"has more than {MAX_LINE_BYTES} bytes; split the record, or remove it")
    try:
        value = json.loads(line.removeprefix(BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start} of the line); save the file as UTF-8"
        raise Refused(FindingKind.UNDECODABLE, message) from error
    except (ValueError, RecursionError) as error:
        # What a decoding error prints names a line of its own: this one line, which is always its first.
        why = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise Refused(FindingKind.UNDECODABLE, f"is not a JSON object ({why}); mend or remove it") from error
    return document_of(value)
