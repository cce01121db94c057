"""The suite that every store must pass: subclass `StoreSuite` and override its one fixture."""

from steadlith_conformance.stores.suite import StoreSuite

__all__ = ["StoreSuite"]
