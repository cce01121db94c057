"""Run by test_sqlite_first_commit: makes the first commit of an index, of which most is in the file before its end.

Usage: sqlite_first_writer.py FOLDER (races | waits | pauses | unlogged): say so and wait for a line before the write
begins, before the commit, or between the commit and the file's log; or die there. Prints what came of it.
"""

import sys

from dying import die

from steadlith_adapters.stores.sqlite import FACTORY, connection, lexical
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_conformance.samples import doc, pieces, stage
from steadlith_core.errors import SteadlithError

CHANGES = {doc(f"{number:03}.md"): pieces(f"page {number} " + "of many words " * 400) for number in range(200)}


def say(what):
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def awaited(what):
    say(what)
    sys.stdin.readline()


BETWEEN = {"unlogged": die, "pauses": lambda: awaited("committed")}


def main(folder, moment):
    connection.WRITE_CACHE_KIB = 160
    lexical.AT_ONCE = 100  # the words are indexed beside it, as of a large load
    if moment in BETWEEN:
        honest = Session.checkpoint
        Session.checkpoint = lambda session: BETWEEN[moment]() or honest(session)
    store = FACTORY.open({"path": "index.sqlite3"}, root=folder, readonly=False)
    head = store.head()
    if moment == "races":
        awaited("ready")
    try:
        write = store.begin(head)
        given = stage(write, store.snapshot(), CHANGES)
        if moment == "waits":
            awaited("staged")
        say(write.commit(given).generation)
    except SteadlithError as error:
        say(type(error).__name__)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
