"""Run by test_postgres_faults: writes one generation, and waits or dies where it is told to.

Usage: postgres_writer.py SCHEMA (staged | settled | committing): stop before the commit, or with everything written and
nothing committed, or with COMMIT sent. It prints where it is, and goes on when it is told to by a line.
"""

import sys

from steadlith_adapters.stores.postgres import FACTORY
from steadlith_adapters.stores.postgres.session import Session
from steadlith_conformance.samples import SPACE, doc, pieces, space, stage


def main(schema, moment):
    store = FACTORY.open({"dsn_env": "STEADLITH_TEST_POSTGRES", "schema": schema}, root="/", readonly=False)
    head = store.head()
    number = head.generation + 1
    changes = {doc("a.md"): pieces(f"text of generation {number}", "kept"), doc(f"{number}.md"): pieces("more", "kept")}
    write = store.begin(head)
    given = stage(write, store.snapshot(), changes, [SPACE, space(quantization="int8")])
    whole = Session.run

    def run(session, sql, *values):
        if sql == "COMMIT" and moment == "settled":
            wait(moment)
        answer = whole(session, sql, *values)
        if sql == "COMMIT" and moment == "committing":
            wait(moment)
        return answer

    Session.run = run
    if moment == "staged":
        wait(moment)
    write.commit(given)
    store.close()


def wait(moment):
    sys.stdout.write(f"{moment}\n")
    sys.stdout.flush()
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
