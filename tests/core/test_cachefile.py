"""Cache files: golden vectors both ways, and bytes that are no cache file."""

import json
import struct
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core import cachefile
from steadlith_core.cachefile import Unpacking, pack
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import CacheFileError

VECTORS = json.loads((files("steadlith_conformance") / "vectors" / "cachefiles.json").read_text("utf-8"))
REASONS = {
    "a byte after the end": "bytes after its end",
    "a vector of zeros": "without a direction",
    "a vector that is not a number": "without a direction",
    "a vector that is not finite": "without a direction",
    "an entry left out under the same end": "has 1 entries and says that there are 2",
    "an entry twice": "one is there twice",
    "another digest": "its digest is another",
    "another key under the same checksum": "its checksum is another",
    "another magic": "does not begin as one",
    "another vector under the same checksum": "its checksum is another",
    "another version": "of version 2; this version reads 1",
    "cut short in an entry": "an entry has 68 bytes|cut short",
    "cut short in the end": "the digest has 32 bytes, 31 are there",
    "empty": "cut short at byte 0",
    "entries out of order": "out of order",
    "more entries than are there": "says that there are 3",
    "no end": "cut short",
    "too many dimensions": "claims 65537 dimensions",
}


def read(data, size=None):
    size = size or max(1, len(data))
    unpacking = Unpacking([data[at : at + size] for at in range(0, len(data), size)])
    return [entry for batch in unpacking.batches() for entry in batch]


def entries(count, dimensions=3):
    numbers = range(1, count + 1)
    return sorted(
        (hash_fields("demo", number), struct.pack(f"<{dimensions}f", *[number] * dimensions)) for number in numbers
    )


@pytest.mark.parametrize("name", VECTORS["files"])
def test_the_reader_reads_and_the_writer_writes(name):
    case = VECTORS["files"][name]
    given = [(Digest.parse(entry["key"]), bytes.fromhex(entry["vector"])) for entry in case["entries"]]
    assert read(bytes.fromhex(case["file"])) == given
    assert b"".join(pack(given)).hex() == case["file"]


@pytest.mark.parametrize("name", VECTORS["refused"])
def test_what_must_be_refused_is_refused_for_its_reason(name):
    data = bytes.fromhex(VECTORS["refused"][name])
    with pytest.raises(CacheFileError, match=REASONS[name]):
        read(data)


def test_every_refusal_has_its_reason_here():
    assert VECTORS["refused"].keys() == REASONS.keys()


def test_every_flipped_bit_is_refused():
    data = bytearray(b"".join(pack(entries(3))))
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(CacheFileError):
                read(bytes(data))
            data[place] ^= 1 << bit
    assert len(read(bytes(data))) == 3


def test_every_shorter_file_is_refused():
    data = b"".join(pack(entries(3)))
    for size in range(len(data)):
        with pytest.raises(CacheFileError):
            read(data[:size])


@settings(max_examples=300)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_end_in_entries_or_in_a_cache_file_error(data, begun):
    whole = (b"\x8bSLV\x01" if begun else b"") + data
    try:
        found = read(whole)
    except CacheFileError:
        return
    assert b"".join(pack(found)) == whole


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (entries(2)[::-1], "out of order"),
        (entries(1) * 2, "there twice"),
        ([(hash_fields("demo"), b"12345")], "5 bytes"),
        ([(hash_fields("demo"), b"")], "0 bytes"),
        ([(hash_fields("demo"), bytes(8))], "without a direction"),
        ([(hash_fields("demo"), struct.pack("<f", float("nan")))], "without a direction"),
        ([(hash_fields("demo"), b"\x01" * 4 * 65_537)], "262148 bytes"),
    ],
)
def test_the_writer_refuses_what_a_reader_would(given, why):
    with pytest.raises(CacheFileError, match=why):
        list(pack(given))


def test_entries_are_given_out_before_the_rest_is_read():
    """What is kept is a batch, whatever the size of the file."""
    head, *records = pack(entries(3 * cachefile.JUDGED))
    asked = []

    def pieces():
        yield head
        for record in records:
            asked.append(record)
            yield record

    batches = Unpacking(pieces()).batches()
    for turn in range(1, 4):
        assert len(next(batches)) == cachefile.JUDGED
        assert len(asked) == turn * cachefile.JUDGED


def test_more_bytes_than_any_cap_pass_through():
    """Of half a gigabyte and more, in vectors as wide as they may be; one batch of them is held."""
    numbers = struct.pack("<65536f", *range(1, 65_537))
    count = 2100
    keys = sorted(hash_fields("demo", number) for number in range(count))
    size = 0

    def pieces():
        nonlocal size
        for piece in pack((key, numbers) for key in keys):
            size += len(piece)
            yield piece

    unpacking = Unpacking(pieces())
    at = 0
    for batch in unpacking.batches():
        assert [key for key, _ in batch] == keys[at : at + len(batch)]
        at += len(batch)
    assert (at, unpacking.count) == (count, count)
    assert size > 512 << 20


def test_a_claim_of_many_dimensions_costs_nothing():
    with pytest.raises(CacheFileError, match="cut short"):
        read(b"\x8bSLV\x01" + (65_536).to_bytes(4, "big"))


def test_the_checksum_of_an_entry_is_the_one_that_a_cache_keeps():
    key, vector = entries(1)[0]
    assert next(iter(list(pack([(key, vector)]))[1:2]))[-32:] == cachefile.entry_checksum(key + vector)
