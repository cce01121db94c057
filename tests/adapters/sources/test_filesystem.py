"""A folder as a source: the rules of the kit, and what only a disk can do."""

import contextlib
import inspect
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
import unicodedata
from pathlib import Path

import pytest

from steadlith_adapters.caches.sqlite import FACTORY as CACHE
from steadlith_adapters.sources.filesystem import FACTORY, formats, reading
from steadlith_adapters.stores.sqlite import FACTORY as STORE
from steadlith_conformance.sources import SourceSuite
from steadlith_core.errors import ConfigError, DocumentError, SourceError
from steadlith_core.records import FindingKind, Format, KnownFolder, gather


def source(root, private=(), **settings):
    return FACTORY.build("docs", settings, root=str(root), private=[str(path) for path in private])


def paths(listing):
    return [entry.path for entry in listing.entries]


def kinds(listing):
    return [(finding.place, finding.kind) for finding in listing.findings]


def put(root, *names, data=b"text\n"):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def refused(origin, path):
    with pytest.raises(DocumentError) as caught:
        origin.read(path)
    return caught.value.kind


class TestFilesystem(SourceSuite):
    @pytest.fixture
    def make_source(self, tmp_path):
        def make(documents):
            for path, data in documents.items():
                put(tmp_path, path, data=data)
            return source(tmp_path)

        return make

    @pytest.fixture
    def put(self, tmp_path):
        return lambda documents: [put(tmp_path, path, data=data) for path, data in documents.items()]

    @pytest.fixture
    def remove(self, tmp_path):
        return lambda path: (tmp_path / path).unlink()

    @pytest.fixture
    def lose_root(self, tmp_path):
        return lambda: shutil.rmtree(tmp_path)


class TestFilesystemWithoutFolderHandles(TestFilesystem):
    """The way files are opened where the system cannot open them relative to a folder."""

    @pytest.fixture(autouse=True)
    def resolve_instead(self, monkeypatch):
        monkeypatch.setattr(reading, "CAN_OPEN_IN_FOLDER", False)


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"pth": "."}, "pth"),
            ({"path": 3}, "path = 3"),
            ({"path": ""}, "path = ''"),
            ({"path": "missing"}, "'missing'"),
            ({"path": "file.md"}, "not a folder"),
            ({"include": "*.md"}, "include = '\\*.md'"),
            ({"include": [1]}, "include = \\[1\\]"),
            ({"exclude": ["[a"]}, "never closed"),
            ({"exclude": ["a\\"]}, "backslash"),
            ({"gitignore": 1}, "gitignore = 1"),
            ({"max_file_bytes": True}, "max_file_bytes = True"),
            ({"max_file_bytes": 0}, "max_file_bytes = 0"),
            ({"formats": ["md"]}, "formats"),
            ({"formats": {".tpl": "html"}}, "markdown, rst, text, code"),
            ({"formats": {"[a": "text"}}, "never closed"),
        ],
    )
    def test_a_wrong_setting_is_named_with_its_value(self, tmp_path, settings, named):
        put(tmp_path, "file.md")
        with pytest.raises(ConfigError, match=named):
            source(tmp_path, **settings)

    def test_the_path_is_relative_to_the_configuration_or_absolute(self, tmp_path):
        put(tmp_path, "docs/a.md")
        assert paths(gather(source(tmp_path, path="docs").list())) == ["a.md"]
        assert paths(gather(source("/", path=str(tmp_path / "docs")).list())) == ["a.md"]

    def test_include_and_exclude_are_patterns_as_in_a_gitignore(self, tmp_path):
        put(tmp_path, "a.md", "a.txt", "docs/b.md", "docs/c.txt", "docs/old/d.md", "docs/old/new/e.md", "x/docs/f.txt")
        listed = lambda **settings: paths(gather(source(tmp_path, **settings).list()))  # noqa: E731
        assert listed(include=["*.md"]) == ["a.md", "docs/b.md", "docs/old/d.md", "docs/old/new/e.md"]
        assert listed(include=["/docs"]) == ["docs/b.md", "docs/c.txt", "docs/old/d.md", "docs/old/new/e.md"]
        assert listed(include=["docs/", "!old/", "new/"]) == [
            "docs/b.md",
            "docs/c.txt",
            "docs/old/new/e.md",
            "x/docs/f.txt",
        ]
        assert listed(include=["*.md"], exclude=["old"]) == ["a.md", "docs/b.md"]
        assert listed(exclude=["docs", "!docs/b.md"]) == ["a.md", "a.txt"]
        assert listed(include=["docs/**"]) == listed(include=["/docs/"])
        assert listed(include=[]) == []

    def test_formats_follow_the_suffix_and_the_table_of_the_configuration(self, tmp_path):
        put(tmp_path, "a.MD", "b.rst", "c.py", "d", "e.tpl", "f.d.tpl", "g.unknown", "old/h.md", "Makefile", ".hidden")
        formats = {".tpl": "markdown", ".d.TPL": "code", "old/": "text"}
        listing = gather(source(tmp_path, formats=formats, hidden=True).list())
        assert {entry.path: entry.format for entry in listing.entries} == {
            ".hidden": Format.TEXT,
            "Makefile": Format.CODE,
            "a.MD": Format.MARKDOWN,
            "b.rst": Format.RST,
            "c.py": Format.CODE,
            "d": Format.TEXT,
            "e.tpl": Format.MARKDOWN,
            "f.d.tpl": Format.CODE,
            "g.unknown": Format.TEXT,
            "old/h.md": Format.TEXT,
        }

    def test_types_that_are_never_text_are_no_documents_unless_they_are_given_a_format(self, tmp_path):
        put(tmp_path, "a.md", "logo.svg", "table.dat", "png", "old/b.txt")
        put(tmp_path, "Logo.PNG", "old/scan.pdf", "site.tar.gz", "data.db", "lib.so", data=b"\0")
        (tmp_path / "link.png").symlink_to("old/b.txt")
        origin = source(tmp_path)
        listing = gather(origin.list())
        assert paths(listing) == ["a.md", "logo.svg", "old/b.txt", "png", "table.dat"]
        assert (listing.findings, listing.unread) == ((), ())
        assert paths(gather(source(tmp_path, include=["*.png"]).list())) == []
        for path in ("Logo.PNG", "old/scan.pdf"):
            assert refused(origin, path) == FindingKind.VANISHED
        chosen = source(tmp_path, formats={".DB": "code", "*.pdf": "markdown"})
        found = {entry.path: entry.format for entry in gather(chosen.list()).entries}
        assert (found.pop("data.db"), found.pop("old/scan.pdf")) == (Format.CODE, Format.MARKDOWN)
        assert list(found) == paths(listing)
        assert chosen.read("data.db").body == b"\0"

    def test_no_type_is_both_text_and_binary(self):
        assert formats.BINARY.isdisjoint(formats.SUFFIXES)

    def test_a_locale_that_cannot_spell_names_is_told_with_the_way_out(self, tmp_path):
        script = (
            "import sys\n"
            "from steadlith_adapters.sources.filesystem import FACTORY\n"
            "from steadlith_core.errors import ConfigError\n"
            "try:\n"
            "    FACTORY.build('docs', {}, root=sys.argv[1], private=[])\n"
            "except ConfigError as error:\n"
            "    print(error)\n"
        )
        ascii_only = {"PYTHONUTF8": "0", "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}
        command = [sys.executable, "-c", script, str(tmp_path)]
        done = subprocess.run(command, env={**os.environ, **ascii_only}, capture_output=True, text=True, check=False)
        assert "PYTHONUTF8=1" in done.stdout, done.stderr


class TestOurOwnFiles:
    def test_our_own_files_and_their_side_files_are_no_documents(self, tmp_path):
        settings = {"path": "data/index.txt"}
        own = [*STORE.files(settings, root=str(tmp_path)), *CACHE.files({"path": "data/cache"}, root=str(tmp_path))]
        side = [f"data/index.txt{end}" for end in ("", "-wal", "-shm", "-journal", ".lock", ".lock.info")]
        side += [f"data/cache{end}" for end in ("", "-wal", "-shm", "-journal")]
        put(tmp_path, "a.md", "data/index.txt.md", "data/other.txt", "data/cache-walk", *side)
        put(tmp_path, ".steadlith/cache.sqlite3", "deep/.steadlith/x")
        origin = source(tmp_path, private=own)
        assert paths(gather(origin.list())) == ["a.md", "data/cache-walk", "data/index.txt.md", "data/other.txt"]
        for path in (*side, ".steadlith/cache.sqlite3", "deep/.steadlith/x"):
            assert refused(origin, path) == FindingKind.VANISHED

    def test_they_are_recognised_through_a_linked_root(self, tmp_path):
        put(tmp_path, "real/a.md", "real/index.txt")
        (tmp_path / "link").symlink_to("real")
        for one, other in (("link", "real"), ("real", "link")):
            origin = source(tmp_path, path=one, private=[tmp_path / other / "index.txt"])
            assert paths(gather(origin.list())) == ["a.md"]


class TestLinks:
    def test_a_link_out_of_the_source_is_a_finding_and_never_read(self, tmp_path):
        put(tmp_path, "secret.md", "outside/b.md", "docs/a.md")
        (tmp_path / "docs" / "file.md").symlink_to("../secret.md")
        (tmp_path / "docs" / "folder").symlink_to("../outside")
        (tmp_path / "docs" / "gone.md").symlink_to("../nothing.md")
        origin = source(tmp_path, path="docs")
        listing = gather(origin.list())
        assert paths(listing) == ["a.md"]
        assert kinds(listing) == [(name, FindingKind.LINK_OUTSIDE) for name in ("file.md", "folder", "gone.md")]
        assert {"file.md", "folder/"} <= set(listing.unread)
        for path in ("file.md", "folder/b.md", "gone.md"):
            assert refused(origin, path) == FindingKind.LINK_OUTSIDE

    def test_a_link_inside_the_source_adds_nothing_that_is_listed_already(self, tmp_path):
        put(tmp_path, "a.md", "deep/b.md")
        (tmp_path / "link.md").symlink_to("a.md")
        (tmp_path / "again").symlink_to("deep")
        listing = gather(source(tmp_path).list())
        assert paths(listing) == ["a.md", "deep/b.md"]
        assert (listing.findings, listing.unread) == ((), ())

    def test_a_link_to_a_file_that_is_not_in_scope_itself_is_a_document(self, tmp_path):
        put(tmp_path, "CHANGES.md", "docs/a.md", "secret/key.md", ".git/config")
        (tmp_path / "docs" / "changes.md").symlink_to("../CHANGES.md")
        (tmp_path / "docs" / "key.md").symlink_to("../secret/key.md")
        (tmp_path / "docs" / "config").symlink_to("../.git/config")
        origin = source(tmp_path, include=["docs/"], exclude=["secret/"])
        listing = gather(origin.list())
        assert paths(listing) == ["docs/a.md", "docs/changes.md"]
        assert origin.read("docs/changes.md").body == b"text\n"
        assert listing.entries[1].size == 5
        for path in ("docs/key.md", "docs/config", "secret/key.md"):
            assert refused(origin, path) == FindingKind.VANISHED

    def test_a_link_to_a_file_over_the_limit_is_unread_not_gone(self, tmp_path):
        put(tmp_path, "z/large.md", data=b"123456")
        (tmp_path / "link.md").symlink_to("z/large.md")
        listing = gather(source(tmp_path, max_file_bytes=5).list())
        assert kinds(listing) == [("link.md", FindingKind.TOO_LARGE), ("z/large.md", FindingKind.TOO_LARGE)]
        assert listing.unread == ("link.md", "z/large.md")

    def test_loops_and_links_to_nothing_end(self, tmp_path):
        put(tmp_path, "a.md", "deep/b.md")
        (tmp_path / "deep" / "up").symlink_to("..")
        (tmp_path / "deep" / "self").symlink_to("self")
        (tmp_path / "one").symlink_to("two")
        (tmp_path / "two").symlink_to("one")
        (tmp_path / ".#lock.md").symlink_to("user@host.123")
        listing = gather(source(tmp_path).list())
        assert paths(listing) == ["a.md", "deep/b.md"]
        assert listing.findings == ()

    def test_a_folder_swapped_for_a_link_after_the_listing_is_not_followed(self, tmp_path):
        put(tmp_path, "docs/deep/a.md", "docs/b.md", "outside/a.md")
        origin = source(tmp_path, path="docs")
        gather(origin.list())
        shutil.rmtree(tmp_path / "docs" / "deep")
        (tmp_path / "docs" / "deep").symlink_to("../outside")
        (tmp_path / "docs" / "b.md").unlink()
        (tmp_path / "docs" / "b.md").symlink_to("../outside/a.md")
        for fresh in (origin, source(tmp_path, path="docs")):
            assert refused(fresh, "deep/a.md") == FindingKind.LINK_OUTSIDE
            assert refused(fresh, "b.md") == FindingKind.LINK_OUTSIDE


class TestOddities:
    def test_pipes_and_sockets_are_findings_and_never_opened(self, tmp_path, monkeypatch):
        put(tmp_path, "a.md")
        os.mkfifo(tmp_path / "pipe.md")
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.md")
            origin = source(tmp_path)
            listing = gather(origin.list())
            assert paths(listing) == ["a.md"]
            assert kinds(listing) == [("pipe.md", FindingKind.NOT_A_FILE), ("socket.md", FindingKind.NOT_A_FILE)]
            assert refused(origin, "pipe.md") == FindingKind.NOT_A_FILE
            assert refused(origin, "socket.md") == FindingKind.NOT_A_FILE

    def test_a_file_over_the_limit_is_unread_not_gone(self, tmp_path):
        put(tmp_path, "a.md", data=b"12345")
        put(tmp_path, "b.md", data=b"123456")
        origin = source(tmp_path, max_file_bytes=5)
        listing = gather(origin.list())
        assert paths(listing) == ["a.md"]
        assert kinds(listing) == [("b.md", FindingKind.TOO_LARGE)]
        assert listing.unread == ("b.md",)
        assert refused(origin, "b.md") == FindingKind.TOO_LARGE

    def test_a_name_that_is_not_utf8_is_a_finding_with_its_bytes_shown(self, tmp_path):
        root = os.fsencode(tmp_path)
        try:
            Path(os.fsdecode(root + b"/caf\xe9.md")).touch()
        except OSError:
            pytest.skip("this file system refuses names that are not UTF-8")
        Path(os.fsdecode(root + b"/d\xff")).mkdir()
        put(tmp_path, "a.md")
        listing = gather(source(tmp_path).list())
        assert paths(listing) == ["a.md"]
        assert kinds(listing) == [("caf\\xe9.md", FindingKind.NAME_NOT_UTF8), ("d\\xff", FindingKind.NAME_NOT_UTF8)]
        assert gather(source(tmp_path, exclude=["caf*", "d*"]).list()).findings == ()

    def test_names_that_differ_by_case_are_indexed_and_told(self, tmp_path):
        put(tmp_path, "Readme.md", "README.md", "A/x.md", "a/x.md", "a/y.md")
        listing = gather(source(tmp_path).list())
        assert len(listing.entries) == 5
        assert kinds(listing) == [
            (path, FindingKind.NAME_CONFLICT) for path in ("A/x.md", "README.md", "Readme.md", "a/x.md")
        ]
        assert listing.unread == ()

    def test_names_that_differ_by_composition_are_unread(self, tmp_path):
        put(tmp_path, "caf\u00e9.md", "cafe\u0301.md", "e\u0301/a.md", "\u00e9/b.md", "fine.md")
        listing = gather(source(tmp_path).list())
        assert paths(listing) == ["fine.md"]
        assert [kind for _, kind in kinds(listing)] == [FindingKind.NAME_CONFLICT] * 2
        assert {"caf\u00e9.md", "\u00e9/"} <= set(listing.unread)

    def test_a_decomposed_name_is_listed_composed_and_read(self, tmp_path):
        put(tmp_path, "e\u0301/cafe\u0301.md", data=b"found")
        origin = source(tmp_path)
        assert paths(gather(origin.list())) == ["\u00e9/caf\u00e9.md"]
        assert origin.read("\u00e9/caf\u00e9.md").body == b"found"
        assert source(tmp_path).read("\u00e9/caf\u00e9.md").body == b"found"
        assert all(unicodedata.is_normalized("NFC", path) for path in paths(gather(origin.list())))

    def test_a_tree_deeper_than_the_stack_is_listed(self, tmp_path):
        deep = tmp_path.joinpath(*["d"] * 150)
        deep.mkdir(parents=True)
        (deep / "a.md").touch()
        origin = source(tmp_path)
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        try:
            assert len(gather(origin.list()).entries) == 1
        finally:
            sys.setrecursionlimit(usual)


def learned(origin):
    return {
        part.folder: KnownFolder(part.rules, {e.path[len(part.folder) :]: e.stamp.identity for e in part.entries})
        for part in origin.list()
    }


def looked_at_again(origin, known):
    """The documents that a listing with `known` gives as entries, and those it gives as unchanged."""
    parts = list(origin.list(known.get))
    same = sorted(part.folder + name for part in parts for name in part.same)
    return paths(gather(parts)), same


class TestKnown:
    def test_unchanged_documents_are_not_matched_against_any_rule(self, tmp_path, monkeypatch):
        put(tmp_path, "a.md", "deep/b.md")
        origin = source(tmp_path)
        known = learned(origin)
        put(tmp_path, "deep/new.md")
        asked = []
        honest = origin._scope.admits
        monkeypatch.setattr(origin._scope, "admits", lambda folder, name: asked.append(name) or honest(folder, name))
        assert looked_at_again(origin, known) == (["deep/new.md"], ["a.md", "deep/b.md"])
        assert asked == ["new.md"]
        put(tmp_path, "a.md", data=b"other size")
        assert looked_at_again(origin, known)[0] == ["a.md", "deep/new.md"]
        assert asked == ["new.md"] * 2

    def test_identity_and_time_are_those_of_the_file(self, tmp_path):
        put(tmp_path, "a.md")
        os.utime(tmp_path / "a.md", ns=(1, 2**62))
        status = (tmp_path / "a.md").stat()
        [entry] = gather(source(tmp_path).list()).entries
        numbers = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        assert entry.stamp.identity == struct.pack("<QQQqq", *numbers)
        assert entry.stamp.changed_at == 2**62

    @pytest.mark.parametrize(
        "edit",
        [
            lambda path: path.write_bytes(b"other size"),
            lambda path: os.utime(path, ns=(5, 5)),
            lambda path: path.rename(path.with_name("x")) and put(path.parent, path.name),
            lambda path: path.chmod(0o640),
        ],
    )
    def test_any_change_of_a_file_makes_it_an_entry(self, tmp_path, edit):
        put(tmp_path, "a.md", "b.md")
        origin = source(tmp_path, include=["*.md"])
        known = learned(origin)
        time.sleep(0.02)  # the file system's clock ticks
        edit(tmp_path / "a.md")
        assert looked_at_again(origin, known) == (["a.md"], ["b.md"])

    @pytest.mark.parametrize(
        "settings",
        [
            {"exclude": ["x"]},
            {"include": ["*"]},
            {"formats": {".md": "text"}},
            {"hidden": True},
            {"max_file_bytes": 9},
            {"gitignore": False},
        ],
    )
    def test_another_setting_brings_everything_back(self, tmp_path, settings):
        put(tmp_path, "a.md", "deep/b.md")
        known = learned(source(tmp_path))
        assert looked_at_again(source(tmp_path, **settings), known) == (["a.md", "deep/b.md"], [])

    def test_a_rule_that_decides_nothing_else_leaves_other_folders_alone(self, tmp_path):
        put(tmp_path, "a.md", "deep/b.md", "deep/c.txt", "deep/er/d.md", "other/e.md")
        origin = source(tmp_path)
        known = learned(origin)
        put(tmp_path, "deep/.gitignore", data=b"*.txt\n")
        assert looked_at_again(origin, known) == (["deep/b.md", "deep/er/d.md"], ["a.md", "other/e.md"])
        known = learned(origin)
        put(tmp_path, "deep/.gitignore", data=b"# the same\n*.txt\n\n")
        assert looked_at_again(origin, known)[0] == []

    def test_an_ignore_file_above_the_source_and_a_file_of_ours_are_rules_too(self, tmp_path):
        put(tmp_path, "docs/a.md", "docs/b.md")
        (tmp_path / ".git").mkdir()
        known = learned(source(tmp_path, path="docs"))
        private = [tmp_path / "docs" / "b.md"]
        assert looked_at_again(source(tmp_path, path="docs", private=private), known) == (["a.md"], [])
        put(tmp_path, ".gitignore", data=b"b.md\n")
        assert looked_at_again(source(tmp_path, path="docs"), known) == (["a.md"], [])

    def test_what_became_something_else_is_what_it_became(self, tmp_path):
        put(tmp_path, "a.md", "b.md", "c.md", "d.md", "e.md", "out/x.md", "in.txt")
        origin = source(tmp_path, path=".", exclude=["out/"], include=["*.md"], max_file_bytes=5)
        known = learned(origin)
        for name in ("a.md", "b.md", "c.md"):
            (tmp_path / name).unlink()
        os.mkfifo(tmp_path / "a.md")
        (tmp_path / "b.md").mkdir()
        put(tmp_path, "b.md/inside.md")
        (tmp_path / "c.md").symlink_to("in.txt")
        put(tmp_path, "d.md", data=b"far too large")
        parts = list(origin.list(known.get))
        listing = gather(parts)
        assert paths(listing) == ["b.md/inside.md", "c.md"]
        assert [name for part in parts for name in part.same] == ["e.md"]
        assert kinds(listing) == [("a.md", FindingKind.NOT_A_FILE), ("d.md", FindingKind.TOO_LARGE)]
        assert listing.unread == ("d.md",)

    def test_a_link_changes_with_itself_and_with_its_target(self, tmp_path):
        put(tmp_path, "one.txt", "two.txt")
        (tmp_path / "link.md").symlink_to("one.txt")
        origin = source(tmp_path, include=["*.md"])
        known = learned(origin)
        assert looked_at_again(origin, known) == ([], ["link.md"])
        [stamp] = [entry.stamp for entry in gather(origin.list()).entries]
        assert origin.stamp("link.md") == stamp
        put(tmp_path, "one.txt", data=b"other size")
        assert looked_at_again(origin, known) == (["link.md"], [])
        known = learned(origin)
        (tmp_path / "link.md").unlink()
        (tmp_path / "link.md").symlink_to("two.txt")
        assert looked_at_again(origin, known) == (["link.md"], [])

    def test_a_twin_of_an_unchanged_document_is_told(self, tmp_path):
        put(tmp_path, "caf\u00e9.md", "e\u0301.md", "b.md")
        origin = source(tmp_path)
        known = learned(origin)
        assert looked_at_again(origin, known) == ([], ["b.md", "caf\u00e9.md", "\u00e9.md"])
        put(tmp_path, "cafe\u0301.md")
        listing = gather(origin.list(known.get))
        assert kinds(listing) == [("caf\u00e9.md", FindingKind.NAME_CONFLICT)]
        assert "caf\u00e9.md" in listing.unread
        assert looked_at_again(origin, known) == ([], ["b.md", "\u00e9.md"])

    def test_unchanged_names_that_differ_by_case_are_told_again(self, tmp_path):
        put(tmp_path, "Readme.md", "README.md", "A/x.md", "a/deep/y.md", "A/deep/Y.md", "a/z.md")
        origin = source(tmp_path)
        known = learned(origin)
        first, again = gather(origin.list()), gather(origin.list(known.get))
        assert again.entries == ()
        assert again.findings == first.findings
        assert [place for place, _ in kinds(first)] == ["A/deep/Y.md", "README.md", "Readme.md", "a/deep/y.md"]

    def test_folders_come_down_in_the_order_of_names(self, tmp_path):
        put(tmp_path, "b/x.md", "a/z/y.md", "a/y.md", "c.md", "a/b/c/d.md")
        assert [part.folder for part in source(tmp_path).list()] == ["", "a/", "a/b/c/", "a/z/", "b/"]

    def test_a_listing_holds_one_folder_in_memory(self, tmp_path):
        for folder in range(20):
            put(tmp_path, *(f"{folder}/{number}.md" for number in range(100)))
        known = learned(source(tmp_path))
        tracemalloc.start()
        try:
            for _ in source(tmp_path).list(known.get):
                pass
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 100_000  # all 2,000 documents at once take 700,000

    def test_a_link_does_not_wait_for_the_folder_of_its_target(self, tmp_path):
        put(tmp_path, "z/target.md", "z/large.md", "z/.hidden.md", data=b"123456")
        put(tmp_path, "y/.gitignore", data=b"ignored.md\n")
        put(tmp_path, "y/ignored.md", "y/fine.md")
        for name in ("z/target.md", "z/.hidden.md", "y/ignored.md", "y/fine.md", "y/no.md"):
            (tmp_path / ("a-" + name.replace("/", "-"))).symlink_to(name)
        listing = gather(source(tmp_path).list())
        assert paths(listing) == ["y/fine.md", "z/large.md", "z/target.md"]
        assert (listing.findings, listing.unread) == ((), ())


class TestLeftOut:
    def test_what_the_rules_leave_out_is_told_from_what_is_not_there(self, tmp_path):
        put(tmp_path, "a.md", "drafts/deep/b.md", ".env", "pic.png", "deep/c.tmp", "deep/cafe\u0301.tmp", "index.db")
        put(tmp_path, "deep/.gitignore", data=b"*.tmp\n")
        put(tmp_path, "out/x.md")
        (tmp_path / "link.md").symlink_to("drafts/deep/b.md")
        (tmp_path / "dangling.tmp").symlink_to("nothing")
        origin = source(tmp_path, exclude=["drafts/", "out", "dangling*"], private=[tmp_path / "index.db"])
        left_out = ["drafts/deep/b.md", ".env", "pic.png", "deep/c.tmp", "deep/caf\u00e9.tmp", "index.db", "out/x.md"]
        for _ in range(2):
            for path in (*left_out, "link.md", "dangling.tmp"):
                assert origin.leaves_out(path), path
            for path in (
                "a.md",
                "drafts",
                "drafts/no.md",
                "drafts/deep",
                "no/x.md",
                "deep/no.tmp",
                "../x",
                "a.md/b",
                "",
            ):
                assert not origin.leaves_out(path), path
            gather(origin.list())

    def test_a_folder_is_not_left_out_for_not_being_a_document(self, tmp_path):
        put(tmp_path, "deep/a.md", "b.txt")
        origin = source(tmp_path, include=["*.md"])
        assert origin.leaves_out("b.txt")
        assert not origin.leaves_out("deep")

    def test_another_folder_at_the_same_place_is_told(self, tmp_path):
        put(tmp_path, "docs/a.md")
        origin = source(tmp_path, path="docs")
        before = origin.place()
        (tmp_path / "docs").rename(tmp_path / "old")
        assert origin.place() is None
        put(tmp_path, "docs/a.md")
        assert origin.place() not in (None, before)
        assert before == struct.pack("<QQ", (tmp_path / "old").stat().st_dev, (tmp_path / "old").stat().st_ino)


class TestFaults:
    def test_a_root_that_is_gone_stops_the_listing(self, tmp_path):
        put(tmp_path, "docs/a.md")
        origin = source(tmp_path, path="docs")
        shutil.rmtree(tmp_path / "docs")
        with pytest.raises(SourceError, match="docs"):
            gather(origin.list())
        assert refused(origin, "a.md") == FindingKind.VANISHED

    def test_what_may_not_be_read_is_unread_not_gone(self, public_path, as_nobody):
        put(public_path, "a.md", "locked/b.md", "locked/deep/c.md", "rules/.gitignore", "rules/d.md", "e.md")
        (public_path / "locked").chmod(0o700)
        (public_path / "rules" / ".gitignore").chmod(0o600)
        (public_path / "e.md").chmod(0o600)
        listed, findings, unread, kind = as_nobody(
            """
from steadlith_adapters.sources.filesystem import FACTORY
from steadlith_core.errors import DocumentError
from steadlith_core.records import gather
drop()
origin = FACTORY.build("docs", {}, root=arguments[0], private=[])
listing = gather(origin.list())
try:
    origin.read("e.md")
except DocumentError as error:
    kind = error.kind
answer([[entry.path for entry in listing.entries], [[f.place, f.kind] for f in listing.findings], listing.unread, kind])
""",
            str(public_path),
        )
        assert listed == ["a.md", "e.md"]
        assert findings == [["locked/", "unreadable_folder"], ["rules/", "unreadable_folder"]]
        assert unread == ["locked/", "rules/"]
        assert kind == "unreadable_file"

    def test_a_root_that_may_not_be_read_stops_the_listing(self, public_path, as_nobody):
        put(public_path, "docs/a.md")
        (public_path / "docs").chmod(0o711)
        message = as_nobody(
            """
from steadlith_adapters.sources.filesystem import FACTORY
from steadlith_core.errors import SourceError
from steadlith_core.records import gather
drop()
try:
    gather(FACTORY.build("docs", {}, root=arguments[0], private=[]).list())
except SourceError as error:
    answer(str(error))
""",
            str(public_path / "docs"),
        )
        assert "nothing is known" in message

    def test_a_file_that_grows_or_shrinks_while_it_is_read_is_not_believed(self, tmp_path, monkeypatch):
        put(tmp_path, "a.md", data=b"x" * 100)
        origin = source(tmp_path)
        honest = os.fstat
        for change in (lambda: os.truncate(tmp_path / "a.md", 50), lambda: put(tmp_path, "a.md", data=b"y" * 200)):
            changes = [change]

            def fstat(file, changes=changes):
                status = honest(file)
                if changes and status.st_size:
                    changes.pop()()
                return status

            monkeypatch.setattr(reading.os, "fstat", fstat)
            assert refused(origin, "a.md") == FindingKind.CHANGED_WHILE_READING
            monkeypatch.setattr(reading.os, "fstat", honest)
            assert origin.read("a.md").body

    def test_a_file_that_vanishes_during_the_listing_is_unread(self, tmp_path, monkeypatch):
        put(tmp_path, "a.md", "b.md")
        origin = source(tmp_path)
        honest = origin._scope.admits

        def admits(folder, name):
            if name == "b.md":
                (tmp_path / "b.md").unlink()
            return honest(folder, name)

        monkeypatch.setattr(origin._scope, "admits", admits)
        listing = gather(origin.list())
        assert paths(listing) == ["a.md"]
        assert kinds(listing) == [("b.md", FindingKind.VANISHED)]
        assert listing.unread == ("b.md",)

    def test_no_file_handle_stays_open(self, tmp_path):
        handles = Path("/proc/self/fd")
        if not handles.exists():
            pytest.skip("open files are counted in /proc")
        put(tmp_path, "a.md", "deep/b.md", data=b"123456")
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "deep" / ".gitignore").mkdir()
        origin = source(tmp_path, max_file_bytes=6)
        before = len(list(handles.iterdir()))
        gather(origin.list())
        for path in ("a.md", "deep/b.md", "deep", "pipe", "no/x", "deep/b.md/x", "no.md"):
            with contextlib.suppress(DocumentError):
                origin.read(path)
        assert len(list(handles.iterdir())) == before

    def test_threads_may_read_at_once(self, tmp_path):
        put(tmp_path, *(f"{number}/a.md" for number in range(50)))
        origin = source(tmp_path)
        failures = []

        def work():
            try:
                for number in range(50):
                    origin.read(f"{number}/a.md")
            except DocumentError as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_hidden_files_and_folders_are_out_of_scope_unless_asked_for(tmp_path):
    put(tmp_path, ".env", ".cache/a.md", "docs/.draft.md", "docs/b.md")
    assert [entry.path for entry in gather(source(tmp_path).list()).entries] == ["docs/b.md"]
    hidden = source(tmp_path, hidden=True)
    assert [entry.path for entry in gather(hidden.list()).entries] == [
        ".cache/a.md",
        ".env",
        "docs/.draft.md",
        "docs/b.md",
    ]
    with pytest.raises(DocumentError):
        source(tmp_path).read(".env")
