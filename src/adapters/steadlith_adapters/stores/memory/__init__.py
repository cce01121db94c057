"""The memory store: the reference that every other store is measured against, and the oracle of its tests."""

from steadlith_adapters.stores.memory.factory import FACTORY
from steadlith_adapters.stores.memory.store import MemoryStore

__all__ = ["FACTORY", "MemoryStore"]
