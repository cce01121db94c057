import pytest
from blake3 import blake3

from steadlith_core import canon
from steadlith_core.digest import Digest, hash_fields, hasher


def test_a_digest_prints_with_its_prefix_and_parses_back():
    digest = Digest(bytes(range(32)))
    assert str(digest) == "b3:" + bytes(range(32)).hex()
    assert Digest.parse(str(digest)) == digest
    assert repr(digest) == f"Digest('{digest}')"
    assert digest.short == "000102030405"


@pytest.mark.parametrize("bad", ["", "b3:", "b3:" + "0" * 63, "B3:" + "0" * 64, "b3:" + "A" * 64, "0" * 64])
def test_a_bad_printed_form_is_refused_and_shown(bad):
    with pytest.raises(ValueError, match="not a digest"):
        Digest.parse(bad)


def test_a_digest_has_32_bytes():
    with pytest.raises(ValueError, match="32 bytes, got 31"):
        Digest(bytes(31))


def test_kinds_and_constants_separate_domains():
    names = {hasher("a")(b"x"), hasher("b")(b"x"), hasher("a", "1")(b"x"), hasher("a", "1", "2")(b"x")}
    assert len(names) == 4


def test_the_keyed_hash_is_the_one_of_the_format_document():
    key = blake3(canon.encode(["one"]), derive_key_context="steadlith 2026-11 demo/1").digest()
    assert hasher("demo", "one")(b"data") == blake3(b"data", key=key).digest()
    assert hash_fields("demo", "x", 1) == hasher("demo")(canon.encode(["x", 1]))
