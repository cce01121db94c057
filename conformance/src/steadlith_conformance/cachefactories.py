"""What the factory of every cache must do, as a class to inherit: override `factory`, and `settings` if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith_conformance.cachesamples import TODAY, samples
from steadlith_conformance.places import PlaceRules
from steadlith_conformance.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.ports import Cache, CacheFactory


class CacheFactorySuite(PlaceRules, Suite, port="cache"):
    """The rules of `ports.CacheFactory`."""

    def _open(self, factory: CacheFactory, settings: Mapping[str, Any], root: str, *, readonly: bool) -> Cache:
        return factory.open(settings, root=root, readonly=readonly, today=TODAY)

    def _fill(self, opened: Cache) -> None:
        opened.put(samples(3))

    def _empty(self, opened: Cache) -> bool:
        return opened.stats().entries == 0
