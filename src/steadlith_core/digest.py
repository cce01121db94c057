"""The one file that owns a digest: how it is made, printed, parsed and shortened.

1. A digest is 32 bytes of BLAKE3, keyed per kind: two kinds never agree on the same input (format.md 2).
2. It prints as `b3:` and 64 lower-case hexadecimal digits; nothing else calls `.hexdigest()`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Self

from blake3 import blake3

from steadlith_core import canon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PREFIX = "b3:"
SIZE = 32
SHORT = 12


class Digest(bytes):
    """32 bytes with a printed form. Compares, hashes and sorts as the bytes that it is."""

    __slots__ = ()

    def __new__(cls, raw: bytes) -> Self:
        """Wrap `raw`; `ValueError` unless it is exactly 32 bytes."""
        if len(raw) != SIZE:
            message = f"a digest has {SIZE} bytes, got {len(raw)}"
            raise ValueError(message)
        return bytes.__new__(cls, raw)

    def __str__(self) -> str:
        return PREFIX + self.hex()

    def __repr__(self) -> str:
        return f"Digest('{self}')"

    @property
    def short(self) -> str:
        """The first twelve hexadecimal digits, for people."""
        return self.hex()[:SHORT]

    @classmethod
    def parse(cls, printed: str) -> Self:
        """Read the printed form; `ValueError` shows what was given."""
        digits = printed.removeprefix(PREFIX)
        lower_hex = set(digits) <= set("0123456789abcdef")
        if not printed.startswith(PREFIX) or len(digits) != 2 * SIZE or not lower_hex:
            message = f"not a digest: {printed!r} (expected {PREFIX} and {2 * SIZE} lower-case hex digits)"
            raise ValueError(message)
        return cls(bytes.fromhex(digits))


@lru_cache(maxsize=256)
def hasher(kind: str, *constants: str | Digest) -> Callable[[bytes], Digest]:
    """H[kind] under that kind's constant fields: a keyed BLAKE3 (format.md 2.1).

    The key is derived once per (kind, constants); a call costs one keyed hash of its input.
    """
    key = _key(kind, constants)

    def hash_one(data: bytes) -> Digest:
        # Past the check of the length, which is right here, and which would be a tenth of the time.
        return bytes.__new__(Digest, blake3(data, key=key).digest())

    return hash_one


def hash_pieces(kind: str, pieces: Iterable[bytes]) -> Digest:
    """H[kind] of what the pieces make together, for kinds without constants; holds one piece at a time."""
    state = blake3(key=_key(kind, ()))
    for piece in pieces:
        state.update(piece)
    return Digest(state.digest())


def _key(kind: str, constants: Sequence[str | Digest]) -> bytes:
    # format.md 2.1: K[kind] = derive-key(context, canon(list of constant fields)).
    return blake3(canon.encode(list(constants)), derive_key_context=f"steadlith 2026-11 {kind}/1").digest()


_FRAME = canon.encode(bytes(SIZE))[: canon.HEADER]


def hash_digests(kind: str, digests: Iterable[Digest]) -> Digest:
    """What `hash_fields(kind, list of digests)` makes: of many, several times faster."""
    # format.md 1: each is framed alike, so the frame is what stands between them.
    return hasher(kind)(canon.list_of(canon.list_of(_FRAME.join((b"", *digests)))))


def hash_fields(kind: str, *fields: canon.Value) -> Digest:
    """H[kind] of the canonical list of `fields`, for kinds without constants."""
    return hasher(kind)(canon.encode(list(fields)))
