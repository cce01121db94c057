"""A backup is the index as it was committed, in a file of its own, or it is refused."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import doc, pieces, write
from steadlith_conformance.stores.histories import manifest
from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith_conformance.stores.opening import MakeStore


class BackupRules:
    """What the port says of `backup`."""

    def test_a_backup_is_what_was_committed(self, make_store: MakeStore, tmp_path: Path) -> None:
        """A copy is only as good as what it can give back: all kept generations, and nothing that came later.

        The copy is open for reading: `begin` on it raises `UsageError`. A store that has no file raises `UsageError`
        for `backup`, and says what to do instead.
        """
        store, target = make_store(), tmp_path / "copies" / "copy"
        target.parent.mkdir()
        write(store, {doc("a.md"): pieces("one", "two")})
        write(store, {doc("b.md"): pieces("three")})
        try:
            copy = store.backup(str(target))
        except UsageError as error:
            assert not target.exists()
            inapplicable(f"the store makes no copies ({error})")
        write(store, {doc("c.md"): pieces("four")})
        with closing(copy):
            assert copy.history() == store.history()[:2]
            for number in (1, 2):
                with closing(copy.snapshot(number)) as old, closing(store.snapshot(number)) as new:
                    assert manifest(old) == manifest(new)
            with closing(copy.snapshot()) as reader:
                assert list(reader.problems(full=True)) == []
            with pytest.raises(UsageError):
                copy.begin(copy.head())
        assert target.exists()

    def test_a_backup_replaces_no_file(self, make_store: MakeStore, tmp_path: Path) -> None:
        """Whatever is at that place is somebody's. Raise `UsageError`, and leave it as it is."""
        store, target = make_store(), tmp_path / "copy"
        write(store, {doc("a.md"): pieces("one")})
        target.write_bytes(b"somebody's")
        with pytest.raises(UsageError):
            store.backup(str(target))
        assert target.read_bytes() == b"somebody's"

    def test_an_absent_index_has_no_backup(self, make_store: MakeStore, tmp_path: Path) -> None:
        """An empty copy would be taken for one that holds something. Raise `UsageError`, and leave no file."""
        with pytest.raises(UsageError):
            make_store().backup(str(tmp_path / "copy"))
        assert not (tmp_path / "copy").exists()
