"""Checks in other processes: those that take longest, while this one makes the others.

1. Each process opens the file by itself, reads only, and takes a snapshot of its own. Its answer counts if that shows
   the generation that is asked about.
2. A process that cannot start, dies, or saw another generation loses nothing: what it was given is checked here.
3. None stays: they are killed when the checks are over, however that comes; one whose parent was killed ends by itself.
4. They are called for large indexes only: to start an interpreter takes as long as to check some thousand chunks.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from steadlith_adapters.stores.sqlite import generations
from steadlith_core.errors import SteadlithError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from subprocess import Popen

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import Problem

PAYS = 10_000
"""Chunks of an index from which on other processes are called."""
PROGRAM = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from steadlith_adapters.stores.sqlite.checks.beside import work; work(*sys.argv[1:4])"
)
"""What such a process runs; it finds modules where this one does."""
Found: TypeAlias = "Mapping[str, Sequence[Problem]]"


@contextmanager
def beside(session: Session, shares: Sequence[Sequence[str]]) -> Iterator[Others]:
    """Processes that make checks of the session's file, each those that its share names; if that pays."""
    generation = _paying(session) if shares else None
    helpers = [] if generation is None else [_Helper(session.path, generation, share) for share in shares]
    try:
        yield Others(helpers)
    finally:
        for helper in helpers:
            helper.end()


def _paying(session: Session) -> int | None:
    """The generation that others are to look at, if they are to."""
    if getattr(sys, "frozen", False):  # the executable is the caller's own program, and would begin anew
        return None
    try:
        head = generations.read_head(session)
    except SteadlithError:
        return None  # said by the check of the head
    return head.generation if head.chunks >= PAYS else None


class Others:
    """The processes that were called, maybe none."""

    def __init__(self, helpers: Sequence[_Helper]) -> None:
        self._helpers = helpers

    def answer(self, check: str) -> Sequence[Problem] | None:
        """What a check found, once it is done; none for one that is to be made here."""
        for helper in self._helpers:
            if check in helper.share:
                return helper.found.get(check)
        return None


class _Helper:
    def __init__(self, path: str, generation: int, share: Sequence[str]) -> None:
        from subprocess import DEVNULL, PIPE, Popen

        self.share = share
        self._process: Popen[bytes] | None = None
        command = [sys.executable, "-c", PROGRAM, path, str(generation), ",".join(share), *sys.path]
        with suppress(OSError):  # rule 2
            self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)  # noqa: S603 -- our own interpreter

    @cached_property
    def found(self) -> Found:
        """Its answer, waited for; nothing if it has none."""
        import pickle

        if self._process is None or self._process.stdout is None:
            return {}
        try:
            found: Found = pickle.load(self._process.stdout)  # noqa: S301 -- it comes from our own process
        except Exception:  # noqa: BLE001 -- rule 2: it died, or could not read
            return {}
        return found

    def end(self) -> None:
        """End it, whatever it does."""
        if self._process is not None:
            self._process.kill()
            with self._process:  # closes the pipes and waits
                pass


def work(path: str, generation: str, share: str) -> None:
    """What such a process does: make its checks, and say what they found, all at once.

    It tells no error: it ends, and the one who asked finds out by itself what is wrong (rule 2).
    """
    import os
    import pickle
    import signal
    from threading import Thread

    from steadlith_adapters.stores.sqlite import connection
    from steadlith_adapters.stores.sqlite.checks import levels

    def end_with_the_parent() -> None:
        sys.stdin.buffer.read()  # nothing is ever said: it returns when nobody is there to say it
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    Thread(target=end_with_the_parent, daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as told:
        os.dup2(2, 1)  # whatever prints must not get between
        session = connection.reading(Path(path))
        if session is None:
            return
        session.run("BEGIN")
        if generations.read_head(session).generation == int(generation):
            found = {name: list(levels.made(session, name)) for name in share.split(",")}
            told.write(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
