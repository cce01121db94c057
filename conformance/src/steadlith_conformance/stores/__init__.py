"""The suites that every store must pass: subclass `StoreSuite` and `StoreFactorySuite`, and override their fixtures."""

from steadlith_conformance.stores.factories import StoreFactorySuite
from steadlith_conformance.stores.suite import StoreSuite

__all__ = ["StoreFactorySuite", "StoreSuite"]
