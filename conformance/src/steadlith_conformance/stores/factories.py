"""What the factory of every store must do, as a class to inherit: override `factory`, and `settings` if need be."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from steadlith_conformance.places import PlaceRules
from steadlith_conformance.samples import doc, pieces, write
from steadlith_conformance.suite import Suite, inapplicable
from steadlith_core.errors import ConfigError, LockHeld

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from steadlith_core.ports import Lock, Store, StoreFactory

LONG = 60.0
"""Seconds that nobody has to wait for."""


class StoreFactorySuite(PlaceRules, Suite, port="store"):
    """The rules of `ports.StoreFactory` and `ports.Lock`."""

    @pytest.fixture
    def lock(self, factory: StoreFactory, settings: Mapping[str, Any], root: str) -> Callable[[str, float], Lock]:
        """A lock of the index, for a holder who waits so long."""
        return lambda holder, timeout: factory.lock(settings, root=root, timeout=timeout, holder=holder)

    def _open(self, factory: StoreFactory, settings: Mapping[str, Any], root: str, *, readonly: bool) -> Store:
        return factory.open(settings, root=root, readonly=readonly)

    def _fill(self, opened: Store) -> None:
        write(opened, {doc("a.md"): pieces("one")})

    def _empty(self, opened: Store) -> bool:
        return opened.head().generation == 0

    def _lasting(self, opened: Store) -> None:
        if opened.capabilities.durability == "process":
            inapplicable("the store lives as long as its process")

    def test_a_lock_with_an_unknown_setting_is_refused(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """The lock of another index would protect nothing. Raise `ConfigError` with the key."""
        with pytest.raises(ConfigError, match="no_such_setting"):
            factory.lock({**settings, "no_such_setting": 1}, root=root, timeout=0, holder="a rule")

    def test_no_lock_is_taken_for_a_document(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str, tmp_path: Path
    ) -> None:
        """Lock files stand beside the index and come and go. `files` names them as well."""
        own = {str(path) for path in factory.files(settings, root=root)}
        lock = factory.lock(settings, root=root, timeout=0, holder="a rule")
        lock.acquire()
        made = {str(path) for path in (tmp_path / "root").rglob("*") if path.is_file()}
        lock.release()
        assert made - own == set()

    def test_one_holds_the_lock_and_the_others_are_told_who(self, lock: Callable[[str, float], Lock]) -> None:
        """Two applies at once would do everything twice. One acquires; the other is told who holds it (`LockHeld`)."""
        first, second = lock("apply 1", 0), lock("apply 2", 0)
        first.acquire()
        with pytest.raises(LockHeld, match="apply 1"):
            second.acquire()
        first.release()
        second.acquire()
        with pytest.raises(LockHeld, match="apply 2"):
            first.acquire()
        second.release()

    def test_a_lock_that_is_not_held_may_be_given_back(self, lock: Callable[[str, float], Lock]) -> None:
        """Callers release in a `finally`. It must not free a lock that somebody else holds."""
        first, second = lock("apply 1", 0), lock("apply 2", 0)
        second.release()
        first.acquire()
        second.release()
        with pytest.raises(LockHeld):
            lock("apply 3", 0).acquire()
        first.release()
        first.release()

    def test_who_waits_for_the_lock_gets_it(self, lock: Callable[[str, float], Lock]) -> None:
        """Within its timeout a second apply waits, and goes on when the first has ended."""
        first, second, got = lock("apply 1", 0), lock("apply 2", LONG), threading.Event()
        first.acquire()

        def wait() -> None:
            second.acquire()
            got.set()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        assert not got.wait(0.2)
        first.release()
        assert got.wait(LONG), "the lock was given back, and who waited for it never got it"
        thread.join()
        second.release()
