"""Sources to sabotage: a folder, wrapped."""

import os
import shutil
import unicodedata
from dataclasses import replace

import pytest
from sabotage.saboteurs import SOURCES as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_adapters.sources.filesystem import FACTORY
from steadlith_conformance.sources import SourceSuite
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.ports import nothing_known
from steadlith_core.records import Content, FindingKind, Format, KnownFolder, Listed, SourceEntry, Stamp

breaks, also = TABLE.breaks, TABLE.also


class Arena(SourceSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def root(self, tmp_path):
        return tmp_path / "documents"

    @pytest.fixture
    def put(self, root):
        def put(documents):
            for path, data in documents.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(data)

        return put

    @pytest.fixture
    def make_source(self, root, put):
        def make(documents):
            root.mkdir()
            put(documents)
            return Wrapped(FACTORY.build("docs", {}, root=str(root), private=()), "source", self.saboteur)

        return make

    @pytest.fixture
    def remove(self, root):
        return lambda path: (root / path).unlink()

    @pytest.fixture
    def lose_root(self, root):
        return lambda: shutil.rmtree(root)


def _turn(it):
    it.kept["turn"]["now"] = turn = it.kept["turn"].get("now", 0) + 1
    return turn


def _entries(change):
    """A listing with other entries."""

    def listing(it, known=nothing_known):
        for part in it.inner.list(known):
            yield replace(part, entries=tuple(change(it, entry) for entry in part.entries))

    return listing


@breaks("source.list", "test_an_empty_source_lists_nothing")
def lists_what_is_not_there(it, known=nothing_known):
    """An empty folder has a document."""
    parts = list(it.inner.list(known))
    return iter(parts or [Listed("", (SourceEntry("README.md", Format.MARKDOWN, 0),))])


@breaks("source.list", "test_everything_is_listed_once", "test_each_folder_is_one_part")
def double_listing(it, known=nothing_known):
    """A folder is listed twice."""
    parts = list(it.inner.list(known))
    return iter(parts + parts[:1])


@breaks("source.list", "test_everything_is_listed_once")
def the_last_is_forgotten(it, known=nothing_known):
    """The last document of a folder is not listed: it would be deleted."""
    for part in it.inner.list(known):
        yield replace(part, entries=part.entries[: max(1, len(part.entries) - 1)])


@breaks("source.list", "test_each_folder_is_one_part")
def folders_in_pieces(it, known=nothing_known):
    """A folder with many documents comes in several parts."""
    for part in it.inner.list(known):
        for entry in part.entries:
            yield replace(part, entries=(entry,))


@breaks("source.list", "test_a_folder_is_asked_for_at_most_once")
def asks_again_and_again(it, known=nothing_known):
    """What is known of a folder is asked for once a document."""

    def asked(folder):
        known(folder)
        return known(folder)

    return it.inner.list(asked)


@breaks("source.list", "test_paths_are_composed_and_sizes_are_given")
def paths_as_the_disk_has_them(it, known=nothing_known):
    """Paths are decomposed, as some disks keep them."""
    return _entries(lambda _, entry: replace(entry, path=unicodedata.normalize("NFD", entry.path)))(it, known)


@breaks("source.list", "test_paths_are_composed_and_sizes_are_given")
def no_sizes(it, known=nothing_known):
    """Every document is said to be empty."""
    return _entries(lambda _, entry: replace(entry, size=0))(it, known)


@breaks("source.list", "test_listing_again_gives_the_same_stamps")
def stamps_by_the_clock(it, known=nothing_known):
    """A stamp says when the listing was made."""
    turn = _turn(it)
    return _entries(lambda _, entry: replace(entry, stamp=Stamp(b"%d" % turn, 0)))(it, known)


@breaks("source.read", "test_a_stamp_stays_while_nothing_changes")
def reading_changes_the_stamp(it, path):
    """Reading a document changes when it was last used, and the stamp with it."""
    it.kept["read"][path] = True
    return it.inner.read(path)


@also(reading_changes_the_stamp, "source.stamp")
def _(it, path):
    found = it.inner.stamp(path)
    return Stamp(b"used " + found.identity, found.changed_at) if found and path in it.kept["read"] else found


@breaks("source.leaves_out", "test_what_is_not_there_is_not_left_out")
def absent_is_left_out(it, path):
    """What is not there is said to be left out by the settings."""
    return it.inner.stamp(path) is None


@breaks("source.place", "test_the_place_stays_the_same")
def another_place_each_time(it):
    """The root looks like another one at every look."""
    return b"%d" % _turn(it)


@breaks("source.list", "test_what_is_known_and_unchanged_is_the_same")
def nothing_is_ever_known(it, known=nothing_known):
    """What is known is asked for and not used."""
    for part in it.inner.list():
        known(part.folder)
        yield part


def _still(entry):
    return replace(entry, stamp=Stamp(entry.path.encode(), 0))


@breaks("source.list", "test_what_changed_has_another_stamp")
def stamps_never_change(it, known=nothing_known):
    """A stamp depends on the path alone: what changed is taken for what it was."""
    for part in it.inner.list():
        held = known(part.folder)
        entries = [_still(entry) for entry in part.entries]
        names = {entry.path[len(part.folder) :]: entry for entry in entries}
        same = {
            name
            for name, entry in names.items()
            if held and held.rules == part.rules and held.identities.get(name) == entry.stamp.identity
        }
        yield replace(
            part, entries=tuple(entry for name, entry in names.items() if name not in same), same=frozenset(same)
        )


@also(stamps_never_change, "source.stamp")
def _(it, path):
    return Stamp(path.encode(), 0) if it.inner.stamp(path) else None


@breaks(
    "source.list",
    "test_what_is_new_is_an_entry_and_what_is_gone_is_not_named",
    "test_what_is_known_never_changes_what_is_there",
)
def the_gone_are_the_same(it, known=nothing_known):
    """What is known and not there any more is said to be unchanged."""
    for part in it.inner.list(known):
        held = known(part.folder)
        new = {entry.path[len(part.folder) :] for entry in part.entries}
        yield replace(part, same=frozenset(held.identities.keys() - new)) if held else part


@breaks("source.list", "test_other_rules_bring_everything_back")
def rules_do_not_matter(it, known=nothing_known):
    """What was listed by other rules is believed."""
    rules = {part.folder: part.rules for part in it.inner.list()}

    def believed(folder):
        held = known(folder)
        return KnownFolder(rules.get(folder, b""), held.identities) if held else None

    return it.inner.list(believed)


@breaks("source.read", "test_reading_gives_the_exact_bytes_again_and_again")
def reads_as_text(it, path):
    """Line ends are translated."""
    return Content(it.inner.read(path).body.replace(b"\r\n", b"\n"))


@breaks("source.read", "test_reading_gives_the_exact_bytes_again_and_again")
def bytes_of_another_read(it, path):
    """A second read goes on where the first one ended."""
    again = it.kept["read"].get(path)
    it.kept["read"][path] = True
    return Content(b"") if again else it.inner.read(path)


@breaks("source.read", "test_a_document_that_vanished_is_said_to_have_vanished_or_read_as_it_was_listed")
def the_vanished_are_empty(it, path):
    """A document that vanished reads as an empty one."""
    try:
        return it.inner.read(path)
    except DocumentError as error:
        if error.kind is FindingKind.VANISHED and "/" not in path and path.startswith("a"):
            return Content(b"")
        raise


@breaks("source.read", "test_a_document_that_never_was_cannot_be_read")
def what_never_was_is_empty(it, path):
    """A document that never was reads as an empty one."""
    try:
        return it.inner.read(path)
    except DocumentError:
        if "no" in path:
            return Content(b"")
        raise


@breaks("source.read", "test_no_path_leads_out_of_the_source")
def paths_are_resolved(it, path):
    """A path with `..` is followed."""
    return it.inner.read(os.path.normpath(path).lstrip("/").replace("../", "") if path else path)


@breaks("source.list", "test_a_root_that_is_gone_is_an_error_and_no_empty_listing")
def a_lost_root_is_empty(it, known=nothing_known):
    """A root that cannot be listed has no documents: all of them would be deleted."""
    try:
        yield from it.inner.list(known)
    except SourceError:
        return


@breaks("source.list", "test_documents_have_stamps")
def no_stamps(it, known=nothing_known):
    """No document has a stamp: everything is read at every plan."""
    del known
    return _entries(lambda _, entry: replace(entry, stamp=None))(it)


@also(no_stamps, "source.stamp")
def _(it, path):
    return None
