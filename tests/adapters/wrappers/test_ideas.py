"""What each wrapper does when there is something to do: waiting, failing, recording, trying again."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_adapters.stores.memory import MemoryStore
from steadlith_adapters.wrappers.embedders import WrappedEmbedder
from steadlith_adapters.wrappers.faults import Fault, Faults, every, not_a_number, nth, short, without_last_number
from steadlith_adapters.wrappers.latency import Latency
from steadlith_adapters.wrappers.recording import Recorder, described
from steadlith_adapters.wrappers.retry import REPEATABLE, Retry
from steadlith_adapters.wrappers.sources import WrappedSource
from steadlith_adapters.wrappers.stores import WrappedStore
from steadlith_conformance.samples import SPACE, doc, pieces, stage, vector, write
from steadlith_core.applying.audit import answer_problems
from steadlith_core.errors import AdapterError, EmbeddingError, Failure, OutcomeUnknown, StaleHead
from steadlith_core.records import Listed

TEXTS = ["red apple", "green pear", "blue plum"]
DIMENSIONS = 256
ALWAYS = every(1)


@pytest.fixture
def embedder():
    return HASH.build({})


class Clock:
    """A clock that stands still but for its sleeps, and for `step` seconds at each look."""

    def __init__(self, step=0.0):
        self.now, self.waits, self.step = 0.0, [], step

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self):
        self.now += self.step
        return self.now


class TestFaults:
    @pytest.mark.parametrize(("turns", "failing"), [(nth(2), [2]), (every(3), [3, 6]), (ALWAYS, [1, 2, 3, 4, 5, 6])])
    def test_the_calls_that_are_due_fail_and_no_others(self, embedder, turns, failing):
        fault = Fault("embedder.embed_query", turns, before=EmbeddingError("no"))
        wrapped = WrappedEmbedder(embedder, Faults(fault))
        failed = []
        for turn in range(1, 7):
            wrapped.embed_documents(TEXTS)
            try:
                wrapped.embed_query("red")
            except EmbeddingError:
                failed.append(turn)
        assert failed == failing

    @pytest.mark.parametrize(("moment", "committed"), [("before", 1), ("after", 2)])
    def test_a_commit_fails_before_or_after_its_effect(self, moment, committed):
        store = MemoryStore()
        error = OutcomeUnknown("the line went dead")
        wrapped = WrappedStore(store, Faults(Fault("transaction.commit", nth(2), **{moment: error})))
        write(wrapped, {doc("a.md"): pieces("one")})
        with pytest.raises(OutcomeUnknown, match="the line went dead"):
            write(wrapped, {doc("b.md"): pieces("two")})
        assert store.head().generation == committed

    @pytest.mark.parametrize(
        ("spoil", "problem"),
        [
            (short, "2 vectors came back for 3 texts"),
            (without_last_number, "vector 0 has 255 dimensions, not 256"),
            (not_a_number, "vector 2 holds a value that is not finite"),
        ],
    )
    def test_an_answer_is_wrong_in_the_way_that_was_asked_for(self, embedder, spoil, problem):
        wrapped = WrappedEmbedder(embedder, Faults(Fault("embedder.embed_documents", ALWAYS, answer=spoil)))
        problems = answer_problems(len(TEXTS), DIMENSIONS, wrapped.embed_documents(TEXTS))
        assert problem in problems[0]

    def test_calls_are_counted_over_all_threads(self, embedder):
        wrapped = WrappedEmbedder(embedder, Faults(Fault("embedder.embed_query", nth(40), before=EmbeddingError("40"))))
        with ThreadPoolExecutor(4) as pool:
            outcomes = [pool.submit(wrapped.embed_query, "red") for _ in range(80)]
        assert sum(outcome.exception() is not None for outcome in outcomes) == 1

    def test_a_listing_fails_where_it_is_asked_for(self):
        source = WrappedSource(Listing(3), Faults(Fault("source.list", nth(1), before=OSError("gone"))))
        with pytest.raises(OSError, match="gone"):
            source.list()
        assert len(list(source.list())) == 3


class Listing:
    """A source of some folders; the listing fails at one of them, as often as is said."""

    def __init__(self, folders, *, fails_at=None, times=0):
        self.folders, self.fails_at, self.times = folders, fails_at, times

    def list(self, known=None):
        for number in range(self.folders):
            if number == self.fails_at and self.times:
                self.times -= 1
                message = "the share is away"
                raise ConnectionError(message)
            yield Listed(f"{number}/")


class TestLatency:
    def test_the_named_calls_wait_and_no_others(self, embedder):
        clock = Clock()
        wrapped = WrappedEmbedder(embedder, Latency({"embedder.embed_query": 0.25, "store.head": 9}, clock.sleep))
        wrapped.embed_documents(TEXTS)
        wrapped.embed_query("red")
        wrapped.embed_query("red")
        assert clock.waits == [0.25, 0.25]


def failing(times, error):
    return Faults(Fault("embedder.embed_documents", lambda turn: turn <= times, before=error))


def transient(retry_after=None):
    return EmbeddingError("429", failure=Failure.TRANSIENT, retry_after=retry_after)


class TestRetry:
    def wrapped(self, embedder, clock, fault, seconds=60.0):
        return WrappedEmbedder(WrappedEmbedder(embedder, fault), Retry(seconds, clock.sleep, clock))

    @pytest.mark.parametrize(
        ("times", "asked", "waits"),
        [
            (0, None, []),
            (4, None, [1.0, 2.0, 4.0, 8.0]),
            (7, None, [1.0, 2.0, 4.0, 8.0, 16.0, 29.0]),  # what is left of the budget, and then no more
            (1, 20.0, [20.0]),
            (1, 86_400.0, [60.0]),
        ],
    )
    def test_waits_grow_honour_the_provider_and_end_with_the_budget(self, embedder, times, asked, waits):
        clock = Clock()
        wrapped = self.wrapped(embedder, clock, failing(times, transient(asked)))
        if times == 7:
            with pytest.raises(EmbeddingError, match="429"):
                wrapped.embed_documents(TEXTS)
        else:
            assert wrapped.embed_documents(TEXTS) == embedder.embed_documents(TEXTS)
        assert clock.waits == waits

    def test_slow_failures_use_up_the_budget_too(self, embedder):
        clock = Clock(step=25.0)
        with pytest.raises(EmbeddingError):
            self.wrapped(embedder, clock, failing(99, transient())).embed_documents(TEXTS)
        assert clock.waits == [1.0, 2.0, 4.0]

    def test_without_a_budget_nothing_is_asked_twice(self, embedder):
        clock = Clock()
        with pytest.raises(EmbeddingError):
            self.wrapped(embedder, clock, failing(1, transient()), seconds=0).embed_documents(TEXTS)
        assert clock.waits == []

    @pytest.mark.parametrize(
        "error",
        [
            EmbeddingError("401"),
            EmbeddingError("too long", failure=Failure.INPUT),
            AdapterError("broken"),
            StaleHead("moved"),
            ValueError("a bug"),
        ],
        ids=str,
    )
    def test_what_does_not_pass_is_raised_at_once(self, embedder, error):
        clock = Clock()
        with pytest.raises(type(error)):
            self.wrapped(embedder, clock, failing(1, error)).embed_documents(TEXTS)
        assert clock.waits == []

    @pytest.mark.parametrize("lost", [ConnectionResetError("reset"), TimeoutError("timed out")], ids=str)
    def test_a_lost_connection_passes_bare_or_as_a_cause(self, embedder, lost):
        told = AdapterError("no answer")
        told.__cause__ = lost
        for error in (lost, told):
            clock = Clock()
            wrapped = self.wrapped(embedder, clock, failing(1, error))
            assert len(wrapped.embed_documents(TEXTS)) == 3
            assert clock.waits == [1.0]

    @pytest.mark.parametrize("moment", ["before", "after"])
    def test_a_write_is_never_made_twice(self, moment):
        store, clock = MemoryStore(), Clock()
        lost = Faults(Fault("transaction.commit", nth(1), **{moment: ConnectionResetError("reset")}))
        wrapped = WrappedStore(WrappedStore(store, lost), Retry(60.0, clock.sleep, clock))
        with pytest.raises(ConnectionResetError):
            write(wrapped, {doc("a.md"): pieces("one")})
        assert clock.waits == []
        assert store.head().generation == (moment == "after")

    def test_every_read_of_a_store_is_made_again(self):
        store, clock = MemoryStore(), Clock()
        write(store, {doc("a.md"): pieces("one")})
        reads = [name for name in REPEATABLE if name.startswith(("store.", "reader."))]
        lost = Faults(
            *(Fault(name, lambda turn: turn % 2 == 1, before=ConnectionResetError("reset")) for name in reads)
        )
        wrapped = WrappedStore(WrappedStore(store, lost), Retry(60.0, clock.sleep, clock))
        reader = wrapped.snapshot()
        assert [each.id for each in reader.documents()] == [doc("a.md")]
        assert [hit.entry for hit in reader.dense(SPACE, vector("one"), 5, reader.within([doc("a.md")]))] == [1]
        assert wrapped.head() == store.head()
        assert len(clock.waits) == 5

    def test_a_listing_begins_again_only_as_long_as_nothing_of_it_was_given(self):
        for fails_at, complete in ((0, True), (1, False)):
            clock = Clock()
            source = WrappedSource(Listing(3, fails_at=fails_at, times=1), Retry(60.0, clock.sleep, clock))
            if complete:
                assert [part.folder for part in source.list()] == ["0/", "1/", "2/"]
                assert clock.waits == [1.0]
                continue
            parts = source.list()
            assert next(parts).folder == "0/"
            with pytest.raises(ConnectionError):
                next(parts)
            assert clock.waits == []


SECRET = "the merger with Initech"


class TestRecording:
    def test_calls_are_recorded_in_order_with_sizes_and_without_texts(self, embedder):
        recorder = Recorder(clock=Clock(step=0.5))
        wrapped = WrappedEmbedder(embedder, recorder)
        wrapped.embed_documents([SECRET, "caf\udce9"])
        wrapped.embed_query(SECRET)
        first, second = recorder.records
        assert (first.number, first.call, first.error, first.seconds) == (1, "embedder.embed_documents", None, 0.5)
        assert first.arguments == {"texts": "2 items, 29 bytes"}
        assert first.answer == "2 items, 2048 bytes"
        assert second.arguments == {"text": "str of 23 bytes"}
        assert "Initech" not in repr(recorder.records)

    def test_a_whole_write_and_its_readers_leave_no_text_in_the_records(self):
        recorder = Recorder(digests=True)
        wrapped = WrappedStore(MemoryStore(), recorder)
        head = write(wrapped, {doc("secret-path.md"): pieces(SECRET, "other")})
        reader = wrapped.snapshot()
        reader.occurrences([1], 5)
        list(reader.documents())
        wrapped.begin(head).abort()
        calls = [record.call for record in recorder.records]
        assert calls[:2] == ["store.snapshot", "store.begin"]
        assert calls[-1] == "transaction.abort"
        texts = next(record for record in recorder.records if record.call == "transaction.put_texts")
        assert texts.arguments == {"rows": "rows: 2"}
        told = json.dumps([(record.arguments, record.answer) for record in recorder.records], default=str)
        assert not any(secret in told for secret in ("Initech", "secret-path"))

    def test_an_error_is_recorded_by_its_class_and_passed_on(self, embedder):
        recorder = Recorder()
        broken = WrappedEmbedder(embedder, failing(1, EmbeddingError(f"refused: {SECRET}")))
        wrapped = WrappedEmbedder(broken, recorder)
        with pytest.raises(EmbeddingError, match="Initech"):
            wrapped.embed_documents([SECRET])
        (record,) = recorder.records
        assert (record.answer, record.error) == (None, "EmbeddingError")
        assert "Initech" not in repr(record)

    def test_equal_runs_without_a_clock_make_equal_records(self, embedder):
        runs = []
        for _ in range(2):
            recorder = Recorder(digests=True)
            WrappedEmbedder(embedder, recorder).embed_documents(TEXTS)
            runs.append(recorder.records)
        assert runs[0] == runs[1]

    def test_digests_tell_equal_texts_from_other_ones_when_they_are_asked_for(self, embedder):
        recorder = Recorder(digests=True)
        wrapped = WrappedEmbedder(embedder, recorder)
        for text in ("red", "red", "tan"):
            wrapped.embed_query(text)
        said = [record.arguments["text"] for record in recorder.records]
        assert said[0] == said[1] != said[2]
        assert all(each.startswith("str of 3 bytes ") for each in said)

    def test_the_latest_are_kept_and_the_forgotten_counted(self, embedder):
        recorder = Recorder(most=3)
        wrapped = WrappedEmbedder(embedder, recorder)
        for _ in range(10):
            wrapped.embed_query("red")
        assert [record.number for record in recorder.records] == [8, 9, 10]
        assert recorder.forgotten == 7

    def test_threads_share_a_recorder(self, embedder):
        recorder, barrier = Recorder(), threading.Barrier(4)
        wrapped = WrappedEmbedder(embedder, recorder)

        def work(_):
            barrier.wait()
            for _ in range(50):
                wrapped.embed_query("red")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert [record.number for record in recorder.records] == list(range(1, 201))

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (None, "None"),
            (True, "True"),
            (7, "7"),
            (b"abc", "bytes of 3 bytes"),
            ("\u5206", "str of 3 bytes"),
            ([], "0 items"),
            ({"a": b"12"}, "1 items, 3 bytes"),
            (frozenset({b"a"}), "1 items"),
            ([1, 2], "2 items"),
            (SPACE, "Space"),
        ],
    )
    def test_a_value_is_described_by_kind_and_size(self, value, said):
        assert described(value) == said


def test_a_failed_write_through_every_wrapper_leaves_the_store_as_it_was():
    store, recorder, clock = MemoryStore(), Recorder(), Clock()
    wrapped = WrappedStore(store, Faults(Fault("transaction.put_document", nth(2), before=OSError("disk"))))
    for around in (recorder, Retry(60.0, clock.sleep, clock), Latency({"transaction.commit": 1.0}, clock.sleep)):
        wrapped = WrappedStore(wrapped, around)
    reader, transaction = wrapped.snapshot(), wrapped.begin(wrapped.head())
    with pytest.raises(OSError, match="disk"):
        stage(transaction, reader, {doc("a.md"): pieces("one"), doc("b.md"): pieces("two")})
    transaction.abort()
    assert store.head().generation == 0
    assert clock.waits == []
    assert [record.call for record in recorder.records if record.error] == ["transaction.put_document"]
