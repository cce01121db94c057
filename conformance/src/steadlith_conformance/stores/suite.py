"""All rules for a store, as one class to inherit from.

1. A rule is an inherited test method (`steadlith_conformance.suite`).
2. No rule carries `@given`: two subclasses would share its state. Rules that need it use an inner function.
3. Scores are never compared between stores, only what the port promises about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.stores.backups import BackupRules
from steadlith_conformance.stores.capabilities import CapabilityRules
from steadlith_conformance.stores.checked import CheckedRules
from steadlith_conformance.stores.churn import ChurnRules
from steadlith_conformance.stores.commits import CommitRules
from steadlith_conformance.stores.compaction import CompactionRules
from steadlith_conformance.stores.dense import DenseRules
from steadlith_conformance.stores.filters import FilterRules
from steadlith_conformance.stores.histories import HistoryRules
from steadlith_conformance.stores.lexical import LexicalRules
from steadlith_conformance.stores.lifecycle import LifecycleRules
from steadlith_conformance.stores.listings import ListingRules
from steadlith_conformance.stores.machine import MachineRules
from steadlith_conformance.stores.mends import MendRules
from steadlith_conformance.stores.outside import OutsideRules
from steadlith_conformance.stores.overtaken import OvertakenRules
from steadlith_conformance.stores.parents import ParentRules
from steadlith_conformance.stores.quantized import QuantizedRules
from steadlith_conformance.stores.refusals import RefusalRules
from steadlith_conformance.stores.tags import TagRules
from steadlith_conformance.stores.tombstones import TombstoneRules
from steadlith_conformance.stores.tries import TrieRules
from steadlith_conformance.stores.words import ByWords
from steadlith_conformance.stores.writers import WriterRules
from steadlith_conformance.suite import Suite

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore, RawRead, RawWrite


class StoreSuite(
    LifecycleRules,
    CapabilityRules,
    CommitRules,
    CheckedRules,
    WriterRules,
    RefusalRules,
    TombstoneRules,
    HistoryRules,
    DenseRules,
    QuantizedRules,
    LexicalRules,
    FilterRules,
    ListingRules,
    ParentRules,
    TrieRules,
    MendRules,
    CompactionRules,
    OvertakenRules,
    ChurnRules,
    TagRules,
    BackupRules,
    OutsideRules,
    MachineRules,
    ByWords,
    Suite,
    port="store",
):
    """Subclass it in a test module and override `make_store`."""

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """A function that opens indexes by name (see `MakeStore`)."""
        message = "override the fixture `make_store` with one that opens your store"
        raise NotImplementedError(message)

    @pytest.fixture
    def raw_read(self) -> RawRead:
        """A function that reads what an index keeps without asking the store (see `RawRead`); it may be left out."""
        pytest.skip("the adapter gives no `raw_read`, so what it keeps was not looked at")

    @pytest.fixture
    def raw_write(self) -> RawWrite:
        """A function that changes what an index keeps without asking the store (see `RawWrite`); it may be left out."""
        pytest.skip("the adapter gives no `raw_write`, so damage was not tried")
