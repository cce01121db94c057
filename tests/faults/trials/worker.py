"""The processes of a race: writers that plan and apply, readers that search, each with a log of what it was told.

1. One launcher imports everything, then forks; nothing is open while it does, and all begin at one signal.
2. A writer that is refused (exit 4 or 5) goes on with its next round; any other error ends its process with 1.
3. Readers go on until every writer has ended, and look once more then; so do those who compact.

Usage: python -m trials.worker PLACE LOGS ROLE... with roles `write:WRITER:ROUNDS`, `plan:NAME:FILE` (one apply of a
saved plan of writer a), `read:NAME` and `compact:NAME`.
"""

import os
import sys
import time
import traceback
from pathlib import Path

from trials.history import ALREADY, COMMITTED, REFUSED, Log
from trials.place import EVERYTHING, Place

from steadlith import driver, hands, search  # noqa: F401 -- loaded before the fork, once
from steadlith_adapters.embedders import hash as hash_embedder  # noqa: F401
from steadlith_adapters.stores.sqlite import store  # noqa: F401
from steadlith_core.errors import SteadlithError
from steadlith_core.planning.planfile import load, plan_digest

MOST = 200
"""Hits asked for: more than there are chunks, so that an answer shows all of a generation."""


def apply_logged(log, place, writer, plan, lock_timeout):
    """Apply, and write down what was asked before and what was answered after."""
    number = log.began(
        what="apply",
        at=time.monotonic_ns(),
        base=plan.base.generation,
        plan=str(plan_digest(plan)),
        root=str(plan.target.corpus_root),
        content=place.content(writer),
    )
    try:
        done = place.open(writer).apply(plan, allow=EVERYTHING, lock_timeout=lock_timeout)
    except SteadlithError as error:
        if error.exit_code not in {4, 5}:
            raise
        log.ended(number, at=time.monotonic_ns(), outcome=REFUSED, generation=None)
        return
    outcome = ALREADY if done.already else COMMITTED
    log.ended(number, at=time.monotonic_ns(), outcome=outcome, generation=done.head.generation)


def write(place, log, writer, rounds):
    """Plan and apply one round after the other; every second one waits for the lock."""
    for number in range(int(rounds)):
        place.write(writer, number)
        apply_logged(log, place, writer, place.open(writer).plan(), 30.0 * (number % 2))


def plan(place, log, _name, file):
    """Apply a saved plan of writer a, waiting for the lock."""
    apply_logged(log, place, "a", load(Path(file).read_text("utf-8")), 30.0)


def read(place, log, _name, ended):
    """Search, list, and hold a snapshot over commits, in turn; the index is only opened by what reads."""
    index = place.open()
    looks = (searched, listed, held_long)
    is_last = False
    while not is_last:
        is_last = ended()
        for look in looks:
            number = log.began(what="read", at=time.monotonic_ns())
            log.ended(number, **look(place, index))


def compact(place, log, _name, ended):
    """Keep two generations, again and again."""
    is_last = False
    while not is_last:
        is_last = ended()
        number = log.began(what="compact")
        done = place.open().compact(keep=2, lock_timeout=30.0)
        log.ended(number, removed=done.done.removed.generations)
        time.sleep(0.02)  # the lock is not fair: others may have it too


def searched(_place, index):
    """All hits of a hybrid query, in one call."""
    answer = index.search("silver gamma part 1", limit=MOST)
    found = [(hit.document.path, hit.text) for hit in answer.hits]
    return {"at": time.monotonic_ns(), "generation": answer.generation, "content": found}


def listed(place, index):
    """All chunks of all documents, with the head's root."""
    with index.reader() as reader:
        return _shown(reader, place.held(reader), time.monotonic_ns())


def held_long(place, index):
    """What a snapshot shows after others have committed; it counts as read when it was opened."""
    with index.reader() as reader:
        at = time.monotonic_ns()
        time.sleep(0.2)
        return _shown(reader, place.held(reader), at)


def _shown(reader, content, at):
    return {
        "at": at,
        "generation": reader.generation,
        "content": content,
        "root": str(reader.head.corpus_root) if reader.generation else None,
    }


BESIDE = {"read": read, "compact": compact}
"""What goes on while others write."""


def fork(run, *arguments):
    """Run it in a process of its own, which ends with 1 and a traceback if it raises."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        run(*arguments)
        code = 0
    except BaseException:  # noqa: BLE001 -- the process ends here, whatever it was
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main(root, logs, *roles):
    """Fork every role, let all begin at once, and answer how many ended badly."""
    place = Place(root)
    begin, go = os.pipe()
    done = Path(logs) / "done"

    def play(kind, name, *arguments):
        os.close(go)
        os.read(begin, 1)  # the end of the pipe: everybody is there
        log = Log(Path(logs) / f"{kind}-{name}.log")
        if kind in BESIDE:
            BESIDE[kind](place, log, name, done.exists)
        else:
            {"write": write, "plan": plan}[kind](place, log, name, *arguments)

    children = {role: fork(play, *role.split(":")) for role in roles}
    os.close(begin)
    os.close(go)
    writers = [child for role, child in children.items() if role.split(":")[0] not in BESIDE]
    bad = sum(os.waitpid(child, 0)[1] != 0 for child in writers)
    done.touch()
    return bad + sum(os.waitpid(child, 0)[1] != 0 for child in children.values() if child not in writers)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
