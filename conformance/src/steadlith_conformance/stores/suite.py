"""All rules for a store, as one class to inherit from.

1. A rule is an inherited test method; a subclass that overrides one cannot even be defined.
2. No rule carries `@given`: two subclasses would share its state. Rules that need it use an inner function.
3. Scores are never compared between stores, only what the port promises about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.stores.commits import CommitRules
from steadlith_conformance.stores.compaction import CompactionRules
from steadlith_conformance.stores.dense import DenseRules
from steadlith_conformance.stores.filters import FilterRules
from steadlith_conformance.stores.histories import HistoryRules
from steadlith_conformance.stores.lexical import LexicalRules
from steadlith_conformance.stores.lifecycle import LifecycleRules
from steadlith_conformance.stores.machine import MachineRules
from steadlith_conformance.stores.mends import MendRules
from steadlith_conformance.stores.parents import ParentRules
from steadlith_conformance.stores.quantized import QuantizedRules
from steadlith_conformance.stores.refusals import RefusalRules
from steadlith_conformance.stores.tombstones import TombstoneRules
from steadlith_conformance.stores.tries import TrieRules

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore


class StoreSuite(
    LifecycleRules,
    CommitRules,
    RefusalRules,
    TombstoneRules,
    HistoryRules,
    DenseRules,
    QuantizedRules,
    LexicalRules,
    FilterRules,
    ParentRules,
    TrieRules,
    MendRules,
    CompactionRules,
    MachineRules,
):
    """Subclass it in a test module and override `make_store`."""

    def __init_subclass__(cls) -> None:
        """Refuse to be silenced."""
        silenced = [name for name in vars(cls) if name.startswith("test_") and hasattr(StoreSuite, name)]
        if silenced:
            message = f"{cls.__name__} overrides rules of the kit: {', '.join(silenced)}"
            raise TypeError(message)

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """A function that opens indexes by name (see `MakeStore`)."""
        message = "override the fixture `make_store` with one that opens your store"
        raise NotImplementedError(message)
