"""What the factories of stores and of caches have in common: settings name a place, and asking about it costs nothing.

A suite says how its port opens, fills and looks (`_open`, `_fill`, `_empty`); the rules are the same.
"""

from __future__ import annotations

import copy
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import ConfigError, ForeignFile, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOREIGN = b"this is somebody's file, and none of ours at all\n" * 400


class PlaceRules:
    """The rules of a factory whose settings name one place, where nothing is yet."""

    @pytest.fixture
    def factory(self) -> Any:
        """The factory, the object that the entry point leads to."""
        raise NotImplementedError("override `factory`: the adapter's factory, the object that its entry point leads to")

    @pytest.fixture
    def settings(self) -> Mapping[str, Any]:
        """The table of a place where nothing is yet."""
        return {}

    @pytest.fixture
    def root(self, tmp_path: Path) -> str:
        """The folder of the configuration, with nothing in it."""
        folder = tmp_path / "root"
        folder.mkdir()
        return str(folder)

    def _open(self, factory: Any, settings: Mapping[str, Any], root: str, *, readonly: bool) -> Any:
        raise NotImplementedError

    def _fill(self, opened: Any) -> None:
        raise NotImplementedError

    def _empty(self, opened: Any) -> bool:
        raise NotImplementedError

    def _lasting(self, opened: Any) -> None:
        """End the rule where nothing outlives the process."""

    def test_an_unknown_setting_is_refused_by_name(self, factory: Any, settings: Mapping[str, Any], root: str) -> None:
        """A misspelt key that is passed over leads to another place. Raise `ConfigError` with it, in every method."""
        wrong = {**settings, "no_such_setting": 1}
        calls: tuple[Callable[[], object], ...] = (
            lambda: factory.files(wrong, root=root),
            lambda: self._open(factory, wrong, root, readonly=True),
            lambda: factory.troubles(wrong, root=root),
        )
        for call in calls:
            with pytest.raises(ConfigError, match="no_such_setting"):
                call()

    def test_asking_creates_nothing(self, factory: Any, settings: Mapping[str, Any], root: str) -> None:
        """A plan in a fresh folder leaves it as it was. Create what is needed with the first write."""
        before = copy.deepcopy(dict(settings))
        files = factory.files(settings, root=root)
        assert factory.files(settings, root=root) == files
        assert all(Path(path).is_absolute() for path in files)
        with closing(self._open(factory, settings, root, readonly=True)) as opened:
            assert self._empty(opened)
        assert list(factory.troubles(settings, root=root)) == []
        assert list(Path(root).iterdir()) == []
        assert settings == before, "the settings that were given were changed"

    def test_what_is_written_is_there_at_the_next_opening(
        self, factory: Any, settings: Mapping[str, Any], root: str
    ) -> None:
        """The same settings lead to the same place, for reading and for writing, and nothing is wrong with it."""
        with closing(self._open(factory, settings, root, readonly=False)) as opened:
            self._lasting(opened)
            self._fill(opened)
        for readonly in (True, False):
            with closing(self._open(factory, settings, root, readonly=readonly)) as opened:
                assert not self._empty(opened)
        assert list(factory.troubles(settings, root=root)) == []

    def test_no_file_of_ours_is_taken_for_a_document(
        self, factory: Any, settings: Mapping[str, Any], root: str
    ) -> None:
        """A source that lists the adapter's own files changes at every apply. `files` names all, logs, locks and notes,
        or the folder that they stand in.
        """
        own = {Path(path).resolve() for path in factory.files(settings, root=root)}
        with closing(self._open(factory, settings, root, readonly=False)) as opened:
            self._fill(opened)
            made = {path.resolve() for path in Path(root).rglob("*") if path.is_file()}
        assert {path for path in made if own.isdisjoint({path, *path.parents})} == set()

    def test_a_foreign_file_is_refused_and_left_alone(
        self, factory: Any, settings: Mapping[str, Any], root: str
    ) -> None:
        """A wrong path must not cost anybody a file. Mark your own, look for the mark, and raise `ForeignFile`."""
        files = factory.files(settings, root=root)
        if not files:
            inapplicable("the adapter keeps no files")
        path = Path(files[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FOREIGN)
        for readonly in (True, False):
            with pytest.raises((ForeignFile, StoreCorrupt)):
                self._empty(self._open(factory, settings, root, readonly=readonly))
        with pytest.raises(ForeignFile):
            factory.set_aside(settings, root=root)
        assert path.read_bytes() == FOREIGN

    def test_what_is_set_aside_makes_room_and_is_kept(
        self, factory: Any, settings: Mapping[str, Any], root: str
    ) -> None:
        """What is damaged is moved out of the way, so that a new one can be made, and nothing of it is deleted."""
        with closing(self._open(factory, settings, root, readonly=False)) as opened:
            self._lasting(opened)
            self._fill(opened)
        before = [path.read_bytes() for path in Path(root).rglob("*") if path.is_file()]
        assert factory.set_aside(settings, root=root)
        with closing(self._open(factory, settings, root, readonly=True)) as opened:
            assert self._empty(opened)
        after = [path.read_bytes() for path in Path(root).rglob("*") if path.is_file()]
        assert [content for content in before if content and content not in after] == []
