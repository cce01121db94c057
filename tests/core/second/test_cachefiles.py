"""Cache files by the second implementation and by the real one."""

import json
import struct
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from second import cachefiles as second

from steadlith_core.cachefile import Unpacking, digest_of_end, pack
from steadlith_core.digest import hash_fields

VECTORS = json.loads((files("steadlith_conformance") / "vectors" / "cachefiles.json").read_text("utf-8"))


@pytest.mark.parametrize("name", VECTORS["refused"])
def test_it_refuses_what_must_be_refused(name):
    with pytest.raises(second.Bad):
        second.read(bytes.fromhex(VECTORS["refused"][name]))


values = st.floats(width=32, allow_nan=False, allow_infinity=False)
wide = st.lists(values, min_size=1, max_size=6).filter(any)
caches = st.dictionaries(st.integers(0, 50), wide, max_size=12)


@given(caches, st.integers(1, 80))
def test_both_implementations_write_the_same_bytes_and_read_them_in_any_pieces(cache, size):
    keyed = {hash_fields("demo", number): numbers for number, numbers in cache.items()}
    given = sorted((key, struct.pack(f"<{len(numbers)}f", *numbers)) for key, numbers in keyed.items())
    pieces = list(pack(given))
    data = b"".join(pieces)
    assert data == second.written(keyed.items())
    read = Unpacking([data[at : at + size] for at in range(0, len(data), size)])
    assert [entry for batch in read.batches() for entry in batch] == given
    assert [(key, list(numbers)) for key, numbers in second.read(data)] == [(key, keyed[key]) for key, _ in given]
    assert read.count == len(given)
    assert read.digest == digest_of_end(pieces[-1]) == data[-32:]
