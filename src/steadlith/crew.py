"""The crew: processes that cut documents, this one and helpers beside it.

1. Answers come in the order in which texts were given: a plan does not depend on how many processes cut.
2. Helpers start where they pay: after `ALONE` bytes were cut in this process, and only if the caller allows them.
   Until one says that it is ready it is given nothing, so that a plan which ends meanwhile never waits for it.
3. A helper is a fresh interpreter, never a fork (threads and connections are open here), and imports no `__main__`.
   Only configuration and texts travel to it, and it cuts only if what it builds of them has our recipe.
4. A helper that dies or cannot answer loses nothing: what it was given is cut here, and so is all that follows.
5. Memory stays bounded: what is given and not yet taken is at most two stretches a process.
6. Whichever way the crew is left, no process stays: helpers are killed; one whose parent was killed finds nobody there.
"""

from __future__ import annotations

import sys
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from steadlith.border import adapter
from steadlith_core.errors import UsageError
from steadlith_core.planning.wanted import WantedChunk, WantedDocument, want_all
from steadlith_core.records import DocumentId, Finding, Span
from steadlith_core.rows import EntryRow, TextRow

# What starts processes and talks to them takes longer to load than a plan without changes may take: it is loaded late.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor
    from queue import SimpleQueue
    from subprocess import Popen
    from types import TracebackType

    from steadlith.assembly import Assembly
    from steadlith_core.errors import DocumentError
    from steadlith_core.planning.wanted import SourceText, Wanted

ALONE = 1 << 24
"""Bytes that this process cuts before it calls helpers (benchmarks/inside/ours_crew.py measures what they gain)."""

AHEAD = 2
"""Stretches that a process may have before it: one that it cuts, and one so that it need not wait for the next."""

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from steadlith.crew import work; work()"
"""What a helper runs; it finds modules where this process does."""

Cuts: TypeAlias = "list[Wanted | DocumentError]"


class Crew:
    """Cuts as `assembly` says, by at most `workers` processes, this one among them. To be left as a context."""

    def __init__(self, assembly: Assembly, workers: int) -> None:
        if workers < 1:
            raise UsageError(f"workers = {workers!r}: at least one process has to cut, this one")
        self._assembly = assembly
        self._workers = workers
        self._helpers = _Helpers()
        self._given: deque[_Given] = deque()
        self._cut_here = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._helpers.close()

    def give(self, texts: Sequence[SourceText]) -> None:
        """Have a stretch of texts cut: by a helper if one has room before it, else here and now."""
        if self._workers > 1 and self._cut_here >= ALONE and not self._helpers.called:
            self._helpers.call(self._assembly, self._workers - 1)
        if sum(given.is_open for given in self._given) < AHEAD * self._helpers.ready:
            self._given.append(_Given(texts, self._helpers.ask(texts), None))
        else:
            self._given.append(_Given(texts, None, self._cut(texts)))

    def answers(self, *, last: bool = False) -> Iterator[Wanted | DocumentError]:
        """What was made of the texts, one for each: of those that are done, and with `last` of all."""
        if last:  # from the end on, what no helper has begun is quicker cut here than waited for
            for place, given in reversed(list(enumerate(self._given))):
                if given.answer is not None and given.answer.cancel():
                    self._given[place] = _Given(given.texts, None, self._cut(given.texts))
        while self._given and (last or len(self._given) >= AHEAD * self._workers or not self._given[0].is_open):
            given = self._given.popleft()
            cuts = given.answer.result() if given.answer is not None else given.cuts
            yield from self._cut(given.texts) if cuts is None else cuts  # rule 4

    def _cut(self, texts: Sequence[SourceText]) -> Cuts:
        cutter = self._assembly.cutter
        self._cut_here += sum(len(text.content.body) for text in texts)
        with adapter(f"cutting by {cutter.chunker.id}"):
            return want_all(cutter, texts)


class _Given(NamedTuple):
    """A stretch with its answer: one that a helper will give (or none, if it cannot), or what was cut here."""

    texts: Sequence[SourceText]
    answer: Future[Cuts | None] | None
    cuts: Cuts | None

    @property
    def is_open(self) -> bool:
        return self.answer is not None and not self.answer.done()


class _Helpers:
    """The other processes, and for each a thread of ours that talks to it."""

    def __init__(self) -> None:
        self.called = False
        self._failed = False
        self._processes: list[Popen[bytes]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._began: list[Popen[bytes]] = []
        self._idle: SimpleQueue[Popen[bytes]]

    @property
    def ready(self) -> int:
        """How many there are to ask: none any more after one has failed."""
        return 0 if self._failed else len(self._began)

    def call(self, assembly: Assembly, count: int) -> None:
        """Start them; whatever keeps one from starting, nobody is asked then."""
        import pickle
        from concurrent.futures import ThreadPoolExecutor
        from queue import SimpleQueue
        from subprocess import DEVNULL, PIPE, Popen

        self.called = True
        self._idle = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, "steadlith-crew")
        if getattr(sys, "frozen", False):  # the executable is the caller's program, and would begin anew
            self._failed = True
            return
        try:
            first = pickle.dumps((assembly.config, assembly.cutter.recipe), pickle.HIGHEST_PROTOCOL)
            for _ in range(count):
                command = [sys.executable, "-c", PROGRAM, *sys.path]
                process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)  # noqa: S603 -- our own interpreter
                self._processes.append(process)
                self._threads.submit(self._meet, process, first)
        except Exception:  # noqa: BLE001 -- rule 4: no memory, no executable, a configuration that cannot travel
            self._failed = True

    def _meet(self, process: Popen[bytes], first: bytes) -> None:
        try:
            _answer(process, first)
        except Exception:  # noqa: BLE001 -- rule 4: it died, or cannot build the cutter
            self._failed = True
        else:
            self._idle.put(process)
            self._began.append(process)

    def ask(self, texts: Sequence[SourceText]) -> Future[Cuts | None]:
        """Have one of them cut these, as soon as one is free."""
        assert self._threads is not None
        return self._threads.submit(self._ask, texts)

    def _ask(self, texts: Sequence[SourceText]) -> Cuts | None:
        import pickle

        process = self._idle.get()
        try:
            if self._failed:
                return None
            cuts: Cuts = _answer(process, pickle.dumps(texts, pickle.HIGHEST_PROTOCOL))
        except Exception:  # noqa: BLE001 -- rule 4: it died, or something cannot travel, or memory is short
            self._failed = True
            return None
        else:
            return cuts
        finally:
            self._idle.put(process)

    def close(self) -> None:
        """End them, whatever they do."""
        for process in self._processes:
            process.kill()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):  # what it was not told before it was killed
                process.stdin.close()
            process.stdout.close()
            process.wait()


def _answer(process: Popen[bytes], message: bytes) -> Any:
    import pickle

    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(message)
    process.stdin.flush()
    return pickle.load(process.stdout)  # noqa: S301 -- it comes from our own process


def work() -> None:
    """What a helper does: build the cutter, then answer every stretch, until nobody is there to ask.

    It tells no error: it ends, and the one who asked finds out by itself what is wrong (rule 4).
    """
    import os
    import pickle
    import signal

    from steadlith.assembly import Assembly

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    asked = sys.stdin.buffer
    with suppress(EOFError, BrokenPipeError), os.fdopen(os.dup(1), "wb") as told:
        os.dup2(2, 1)  # whatever prints must not get between the answers
        config, recipe = pickle.load(asked)  # noqa: S301 -- it comes from the parent
        cutter = Assembly(config).cutter
        if cutter.recipe != recipe:
            return
        made_anew = _made_anew()
        cuts = want_all(cutter, ())  # which loads what cuts; this first answer says that we are ready
        while True:
            told.write(_packed(cuts, made_anew))
            told.flush()
            cuts = want_all(cutter, pickle.load(asked))  # noqa: S301 -- as above


def _packed(cuts: Cuts, reducers: Mapping[type, Callable[[Any], Any]]) -> memoryview:
    import io
    import pickle

    packed = io.BytesIO()
    pickler = pickle.Pickler(packed, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = reducers
    pickler.dump(cuts)
    return packed.getbuffer()


def _made_anew() -> dict[type, Callable[[Any], Any]]:
    """How the records of an answer travel: as calls of their classes, half the work of filling frozen ones in."""
    import copyreg

    records = (WantedDocument, WantedChunk, TextRow, EntryRow, Span, DocumentId, Finding)
    return {**copyreg.dispatch_table, **{record: _as_call(record) for record in records}}


def _as_call(record: type) -> Callable[[Any], tuple[type, tuple[Any, ...]]]:
    from dataclasses import fields
    from operator import attrgetter

    values = attrgetter(*(each.name for each in fields(record)))
    return lambda made: (record, values(made))
