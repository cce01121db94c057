"""A folder as a source: the rules of the kit, and what only a disk can do."""

import contextlib
import inspect
import os
import shutil
import socket
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import pytest

from steadlith_adapters.caches.sqlite import FACTORY as CACHE
from steadlith_adapters.sources.filesystem import FACTORY, formats, reading
from steadlith_adapters.stores.sqlite import FACTORY as STORE
from steadlith_conformance.sources import SourceSuite
from steadlith_core.errors import ConfigError, DocumentError, SourceError
from steadlith_core.records import FindingKind, Format, gather


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
    def remove(self, tmp_path):
        return lambda path: (tmp_path / path).unlink()


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
