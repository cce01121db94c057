"""A folder of documents with an index over it, driven through the Python API."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import steadlith
from steadlith import config as configuration
from steadlith import hands
from steadlith.assembly import Assembly
from steadlith.imports import Request
from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_core import vectors

CONFIG = """
[sources.docs]
path = "docs"
{source}
[chunking]
policy = "structural"
min_tokens = 16
max_tokens = 48
[embedding]
embedder = "hash"
dimensions = 32
{embedding}
{rest}
"""


class Site:
    """`docs/` and its index. Every call opens the index anew, as a new process would."""

    def __init__(self, root: Path, **tables):
        self.root = root
        self.docs = root / "docs"
        self.docs.mkdir(parents=True)
        self.configure(**tables)

    def configure(self, source="", embedding="", rest=""):
        text = CONFIG.format(source=source, embedding=embedding, rest=rest)
        (self.root / "steadlith.toml").write_text(text, "utf-8")

    def text(self):
        return (self.root / "steadlith.toml").read_text("utf-8")

    def under(self, store):
        """The configuration's text with another `[store]`, which stands at its end."""
        return self.text().partition("[store]")[0] + store

    def elsewhere(self, store):
        """The index of that text."""
        return Assembly(configuration.read(self.under(store), self.root / "steadlith.toml"))

    def move(self, store, **options):
        """Move the index to another store."""
        stores = self.open().migrations.stores
        return stores.apply(stores.plan(self.under(store)), **options)

    def write(self, path, content):
        place = self.docs / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return place

    def open(self):
        return steadlith.open(self.root)

    def plan(self):
        return self.open().plan()

    def apply(self, plan=None, **options):
        return self.open().apply(plan or self.plan(), **options)

    def files(self):
        """Every file below the root but the documents: name -> (bytes, mtime)."""
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and self.docs not in path.parents
        }

    def hits(self, query="alpha", limit=50):
        return self.open().search(query, limit=limit).hits


def article(name, sections=4, word="alpha"):
    """A Markdown document of several chunks, each with words of its own."""
    return "".join(
        f"# {name} {number}\n\n"
        + " ".join(f"{word} {name} {number} sentence {step} about topic{number * step}." for step in range(1, 6))
        + "\n\n"
        for number in range(1, sections + 1)
    )


@pytest.fixture
def site_at():
    """Make a site in a folder of your own choice."""
    return Site


@pytest.fixture
def make_site(tmp_path):
    def make(name="site", **tables):
        return Site(tmp_path / name, **tables)

    return make


@pytest.fixture
def site(make_site):
    return make_site()


@pytest.fixture(name="article", scope="session")
def article_fixture():
    return article


@pytest.fixture
def settled(site):
    """A site with three documents, applied."""
    for name in ("one", "two", "three"):
        site.write(f"{name}.md", article(name))
    site.apply()
    return site


@pytest.fixture
def churned(settled, article):
    """Five generations, the last of which changed something."""
    for number in range(4):
        settled.write("one.md", article(f"one {number}"))
        settled.apply()
    return settled


@pytest.fixture
def server(postgres_settings):
    """The `[store]` of an index on the server."""
    return "[store]\ntype = 'postgres'\n" + "".join(
        f"{key} = {value!r}\n" for key, value in postgres_settings().items()
    )


def touch_all(folder: Path, when=1_700_000_000):
    for path in folder.rglob("*"):
        os.utime(path, (when, when))


GOLDEN = Path(__file__).parent / "foreign" / "golden"


class Adopting:
    """Files of other programs, and importing them into a site that has the documents which they were made of."""

    def __init__(self, folder: Path, make_site):
        self.folder = folder
        self._make_site = make_site
        self.model = HASH.build({"dimensions": 32})

    def site(self, name="site", **tables):
        """The golden documents, and no index."""
        site = self._make_site(name, **tables)
        shutil.copytree(GOLDEN / "docs", site.docs, dirs_exist_ok=True)
        return site

    def request(self, form, **more):
        """What the real programs left (`steadlith-1`, `langchain`), or lines of our own (`jsonl`)."""
        whole = {
            "steadlith-1": {
                "files": (GOLDEN / "steadlith-1" / "index.sqlite3",),
                "cache": GOLDEN / "steadlith-1" / "cache.sqlite3",
            },
            "langchain": {
                "files": (GOLDEN / "langchain" / "export.jsonl",),
                "records": GOLDEN / "langchain" / "records.sqlite",
            },
            "jsonl": {},
        }[form]
        if form == "jsonl" and "files" not in more:
            more["files"] = (self.lines(self.paragraphs()),)
        return Request(form, **{**whole, "strip": "" if form == "jsonl" else "docs/", **more})

    def paragraphs(self):
        """The golden documents, a row for each paragraph."""
        for path in sorted((GOLDEN / "docs").rglob("*.md")):
            name = path.relative_to(GOLDEN / "docs").as_posix()
            for text in path.read_text("utf-8").strip().split("\n\n"):
                yield {"text": text, "document": name}

    def vector(self, text):
        return [float(number) for number in vectors.unpack(self.model.embed_query(text))]

    def lines(self, rows, name="chunks.jsonl"):
        """A file of these rows, each with the vector of its text unless it has one; text is a line as it is."""
        file = self.folder / name
        whole = (row if isinstance(row, str) or "vector" in row else self._with_vector(row) for row in rows)
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in whole), "utf-8")
        return file

    def _with_vector(self, row):
        return {"vector": self.vector(str(row.get("text", ""))), **row}

    def adopt(self, site, request):
        """Preview and do it; what was previewed, and how it ended."""
        imports = site.open().imports
        found = imports.preview(request)
        return found, imports.apply(found, same_model=True)


@pytest.fixture
def adopting(tmp_path, make_site):
    return Adopting(tmp_path, make_site)


@pytest.fixture
def embedding(monkeypatch):
    """Every text that a model was given to embed, the probe's too."""
    given = []
    kind = type(HASH.build({"dimensions": 32}))
    whole = kind.embed_documents

    def embed(self, texts):
        given.extend(texts)
        return whole(self, texts)

    monkeypatch.setattr(kind, "embed_documents", embed)
    return given


class Crash(BaseException):
    """What nothing catches."""


@pytest.fixture
def crashing(monkeypatch):
    """Die at the `number`-th effect, before it is performed or after; gives the effects that were begun."""

    @contextmanager
    def dying(number, *, after):
        seen = []
        whole = hands.Hands.perform

        def perform(self, effect):
            seen.append(effect)
            if len(seen) == number and not after:
                raise Crash
            outcome = whole(self, effect)
            if len(seen) == number:
                raise Crash
            return outcome

        with monkeypatch.context() as patch, suppress(Crash):
            patch.setattr(hands.Hands, "perform", perform)
            yield seen

    return dying


DYING = """
import os, signal, sys
number, when = int(sys.argv[2]), sys.argv[3]
seen = 0
def dying(whole):
    def call(self, *given):
        global seen
        seen += 1
        if seen == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = whole(self, *given)
        if seen == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    return call
"""

WHILE_WRITING = """
import steadlith
from steadlith import files
class Dying(files.Posix):
    pass
for name in ("create", "sync", "replace", "sync_folder", "remove"):
    setattr(Dying, name, dying(getattr(files.Posix, name)))
index = steadlith.open(sys.argv[1])
"""


@pytest.fixture
def killed():
    """Run a program about a site in a process of its own. Calls of what it makes `dying(...)` are counted together:
    it is killed at the `number`-th of them, before it or after.
    """

    def run(program, site, number, when, *arguments):
        command = [sys.executable, "-c", DYING + program, str(site.root), str(number), when, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def killed_while_writing(killed):
    """Run a program of two lines over `index`: what is planned, and then, with a file system that kills it at the
    `number`-th operation on a file of ours, before it or after, what is done.
    """

    def run(site, plan, do, number, when):
        return killed(f"{WHILE_WRITING}{plan}\nfiles.SYSTEM = Dying()\n{do}\n", site, number, when)

    return run
