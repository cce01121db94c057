"""The source of what no source has: it lists nothing, reads nothing, and lets nothing be deleted."""

import pytest

from steadlith_adapters.sources.imported import FACTORY, ImportedSource
from steadlith_core.errors import ConfigError, DocumentError
from steadlith_core.ports import SourceFactory
from steadlith_core.records import FindingKind, gather

FACTORY_AS_PORT: SourceFactory = FACTORY


@pytest.fixture
def source():
    return FACTORY.build("old", {}, root=".", private=())


def test_it_lists_nothing_and_knows_nothing(source):
    listing = gather(source.list())
    assert (listing.entries, listing.findings, listing.unread) == ((), (), ("",))


def test_nothing_can_be_read(source):
    assert isinstance(source, ImportedSource)
    with pytest.raises(DocumentError, match="was imported") as raised:
        source.read("a.md")
    assert raised.value.kind == FindingKind.MISSING
    assert source.stamp("a.md") is None
    assert source.place() is None
    assert not source.leaves_out("a.md")


def test_it_has_no_settings_and_no_formats():
    with pytest.raises(ConfigError, match="none, it takes no settings"):
        FACTORY.build("old", {"path": "x"}, root=".", private=())
    assert FACTORY.formats({})("a.md") is None
