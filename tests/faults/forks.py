"""A process that has everything loaded, and forks one child for each job it reads: a line of JSON in, a line out.

A child is as good as a new process (no file is open before the fork), and starts in a tenth of the time. What it wants
known even if it is killed it notes in a file that no fault touches.
"""

import json
import os
import shutil
import signal
import sys
import time
import traceback
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
import sqlite_vec
from faults import vfs
from faults.fate import Fate
from faults.filesystem import FaultyFiles

import steadlith
from steadlith import files
from steadlith.cli import changes, offline, reading  # noqa: F401 -- loaded before the fork
from steadlith.cli.main import main
from steadlith.fingerprints import Fingerprints
from steadlith_adapters.caches.sqlite import cache as caches
from steadlith_adapters.caches.sqlite import file as cache_file
from steadlith_adapters.embedders import hash as embedders
from steadlith_adapters.stores.sqlite import connection as store_file
from steadlith_adapters.stores.sqlite import schema, session, store, transaction  # noqa: F401 -- as above
from steadlith_core.applying.audit import PROBE_TEXTS
from steadlith_core.digest import Digest

DIMENSIONS = 64
PATIENCE = 120
"""Seconds after which a child counts as hung. Nothing here takes five."""


class Notes:
    """Lines that outlive a kill and a power cut."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __call__(self, kind, *values):
        os.write(self._file, (json.dumps([kind, *values]) + "\n").encode())


def watch(notes):
    """Note each commit that was acknowledged, each vector that the cache took, and each text that was paid for."""
    run, put, embed = session.Session.run, caches.SqliteCache.put, embedders.HashEmbedder.embed_documents

    def noting_run(self, sql, *bindings):
        rows = run(self, sql, *bindings)
        if sql == "COMMIT":
            notes("committed")
        return rows

    def noting_put(self, vectors):
        put(self, vectors)
        notes("kept", *map(str, vectors))

    def noting_embed(self, texts):
        if tuple(texts) != PROBE_TEXTS:
            notes("paid", *(sha256(text.encode()).hexdigest() for text in texts))
        return embed(self, texts)

    session.Session.run, caches.SqliteCache.put = noting_run, noting_put
    embedders.HashEmbedder.embed_documents = noting_embed


def sabotage(level):
    """Have index and cache written with less than `synchronous = FULL`: the campaign must notice."""
    run, open_writing = session.Session.run, cache_file.open_writing

    def careless(self, sql, *bindings):
        return run(self, f"PRAGMA synchronous = {level}" if sql == "PRAGMA synchronous = FULL" else sql, *bindings)

    def careless_cache(path):
        connection = open_writing(path)
        connection.execute(f"pragma synchronous = {level}").fetchall()
        return connection

    session.Session.run, cache_file.open_writing = careless, careless_cache


def command(notes, root, arguments, fault=None, pages=20, level=None, careless=False):
    """Type a command in `root`, with a page cache of `pages`, so that a commit spills into the log on its way."""
    os.chdir(root)
    fate = Fate(**(fault or {}))
    installed = vfs.install(fate)
    files.SYSTEM = FaultyFiles(fate, careless=careless)
    apsw.connection_hooks.append(lambda connection: connection.execute(f"PRAGMA cache_size = {pages}").fetchall())
    store_file.WRITE_CACHE_KIB = pages * schema.PAGE_SIZE // 1024
    watch(notes)
    if level:
        sabotage(level)
    sys.argv = ["steadlith", *arguments]
    try:
        main()
    finally:
        notes("seen", *fate.seen)
        del installed


def judge(notes, root, kept=()):
    """What a new process finds: the head, what is wrong with it, rows by kind, and which vectors the cache lost."""
    index = steadlith.open(root)
    verified = index.verify()
    head = index.head()
    place = Path(root, ".steadlith/index.sqlite3")
    wanted = [Digest.parse(key) for key in kept]
    with closing(index._assembly.open_cache(readonly=True)) as cache:
        lost = len(set(wanted) - cache.contains(wanted, DIMENSIONS))
    answer = {
        "generation": head.generation,
        "corpus": str(head.corpus_root),
        "state": str(head.state_root),
        "problems": list(verified.problems),
        "lost": lost,
        "fingerprints": fingerprints(Path(root, ".steadlith/steadlith.fingerprints")),
        "rows": rows(place) if head.generation else {},
        "hits": [hit.text for hit in index.search("how is the index kept", limit=5).hits] if head.generation else [],
    }
    notes("judged", answer)


def fingerprints(place):
    found = Fingerprints.open(place)
    if found is None:
        return "damaged" if place.exists() else "absent"
    found.close()
    return "usable"


def rows(place):
    """How many of each there are, counted by SQLite alone."""
    connection = apsw.Connection(str(place))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    try:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        assert checked == [("ok",)], checked

        def count(sql):
            return connection.execute(sql).fetchall()[0][0]

        live = count("SELECT count(*) FROM entry WHERE live = 1")
        assert live == count("SELECT count(*) FROM lexical_docsize")
        assert live == count("SELECT count(*) FROM vec_1_1 WHERE live = 1")
        assert live == count("SELECT count(*) FROM vec_1_1 v JOIN entry e ON e.entry = v.rowid WHERE e.live = 1")
        return {
            "live": live,
            "open": count(f"SELECT count(*) FROM occurrence WHERE valid_to = {2**63 - 1}"),
            "documents": count(f"SELECT count(*) FROM document_version WHERE valid_to = {2**63 - 1}"),
        }
    finally:
        connection.close()


JOBS = {"command": command, "judge": judge}


def child(job, folder):
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    code = 70
    try:
        JOBS[job.pop("job")](Notes(folder / "notes"), **job)
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException:  # noqa: BLE001 -- told on stderr, which the test reads
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(process):
    """How the child ended: its exit code, the negative of the signal that killed it, or "hung"."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return "hung"


def serve(folder):
    for line in sys.stdin:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        process = os.fork()
        if not process:
            child(json.loads(line), folder)
        code = ended(process)
        notes = folder / "notes"
        told = [json.loads(note) for note in notes.read_text("utf-8").splitlines()] if notes.exists() else []
        out, err = (
            (folder / name).read_text("utf-8", "replace") if (folder / name).exists() else "" for name in ("out", "err")
        )
        sys.stdout.write(json.dumps({"code": code, "notes": told, "out": out, "err": err}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
