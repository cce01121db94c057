"""Lost connections, killed clients, killed servers and races: the old generation or the new one, never half of it."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from steadlith_adapters.stores.postgres import FACTORY
from steadlith_adapters.stores.postgres.session import Session
from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    generation,
    moved,
    pieces,
    space,
    stage,
    stage_rows,
    text_row,
    vector,
    versions,
    write,
)
from steadlith_core.errors import AdapterError, LockHeld, OutcomeUnknown, StaleHead, SteadlithError

WRITER = Path(__file__).with_name("postgres_writer.py")
DSN = "STEADLITH_TEST_POSTGRES"
SPACES = (SPACE, space(quantization="int8"))
FIRST = {doc("a.md"): pieces("text of generation 1", "kept")}


@pytest.fixture
def settings(postgres_settings):
    return postgres_settings()


@pytest.fixture
def store(settings):
    with closing(open_store(settings)) as store:
        yield store


def open_store(settings, *, readonly=False):
    return FACTORY.open(settings, root="/", readonly=readonly)


def is_sound(settings):
    with closing(open_store(settings, readonly=True)) as store, closing(store.snapshot()) as reader:
        found = list(reader.problems(full=True))
    assert found == []
    return True


def end_sessions(dsn):
    """What an administrator does, or a failover: every session of ours is ended."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'steadlith'"
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({ours}) s")


# ---------------------------------------------------------------------------------------- lost connections


def test_a_reader_whose_session_is_ended_says_so_and_the_next_one_reads(postgres_server, settings, store):
    head = write(store, FIRST)
    reader = store.snapshot()
    end_sessions(postgres_server.dsn)
    with pytest.raises(AdapterError, match=r"the connection was lost .*take another snapshot"):
        reader.chunks(doc("a.md"))
    with pytest.raises(AdapterError, match="the connection was lost"):
        list(reader.problems(full=True))
    reader.close()
    assert store.head() == head
    with closing(store.snapshot()) as again:
        assert len(again.chunks(doc("a.md"))) == 2


def test_an_idle_session_that_was_ended_is_replaced_without_a_word(postgres_server, settings, store):
    head = write(store, FIRST)
    for ask in (store.head, store.history, store.snapshot, lambda: store.removable(1)):
        store.head()
        end_sessions(postgres_server.dsn)
        ask()
    assert store.head() == head


@pytest.mark.parametrize("point", ["put", "commit"])
def test_a_write_whose_session_is_ended_leaves_nothing(postgres_server, settings, store, point):
    head = write(store, FIRST)
    transaction = store.begin(head)
    given = stage(transaction, store.snapshot(), {doc("b.md"): pieces("two")})
    end_sessions(postgres_server.dsn)
    go_on = {
        "put": lambda: transaction.put_texts([text_row(Piece("three"))]),
        "commit": lambda: transaction.commit(given),
    }
    with pytest.raises(AdapterError, match="the connection was lost"):
        go_on[point]()
    transaction.abort()
    assert store.head() == head
    assert is_sound(settings)
    assert write(store, {doc("b.md"): pieces("two")}).generation == 2


class Proxy:
    """A way to the server that can be cut: what was sent after that never arrives, and nobody is told."""

    def __init__(self, port):
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs = []
        self.cut_at = None
        self.refusing = self.deaf = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._to))
            self._pairs.append((client, server))
            for source, target, watched in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pump, args=(source, target, watched), daemon=True).start()

    def _pump(self, source, target, watched):
        try:
            while data := source.recv(65536):
                if watched and self.cut_at and self.cut_at[0] in data:
                    after = self.cut_at[1]
                    if after:
                        self.deaf = True
                        target.sendall(data)
                        time.sleep(0.3)  # the answer is on its way, and goes nowhere
                    # All of it before the cut: whoever was cut off may come back at once, and is to be heard.
                    self.refusing, self.deaf, self.cut_at = self.cut_at[2], False, None
                    self.cut()
                    return
                if watched or not self.deaf:
                    target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            with suppress(OSError):  # closed by the other way's thread
                end.shutdown(socket.SHUT_RDWR)  # closing alone says nothing while that thread still listens
            end.close()

    def cut(self):
        for pair in tuple(self._pairs):  # and nobody who comes back meanwhile
            for end in pair:
                with suppress(OSError):  # closed already
                    end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.close()
        self.cut()


@pytest.fixture
def proxy(postgres_server):
    proxy = Proxy(postgres_server.place["port"])
    yield proxy
    proxy.close()


@pytest.fixture
def through(proxy, postgres_server, settings, monkeypatch):
    """Settings that lead through the proxy."""
    monkeypatch.setenv("STEADLITH_TEST_POSTGRES_PROXY", f"{postgres_server.dsn} port={proxy.port}")
    return {**settings, "dsn_env": "STEADLITH_TEST_POSTGRES_PROXY"}


COMMIT = b"\0COMMIT\0"
"""The statement as the protocol has it."""
COMMITS = {"before the server hears of it": False, "after the server heard of it": True}


@pytest.mark.parametrize("heard", COMMITS.values(), ids=COMMITS.keys())
def test_a_commit_without_an_answer_is_looked_up(proxy, through, settings, store, heard):
    """Cut off at COMMIT: whoever asks again is told what really happened."""
    head = write(store, FIRST)
    with closing(open_store(through)) as cut:
        transaction = cut.begin(head)
        given = stage(transaction, cut.snapshot(), {doc("b.md"): pieces("two")})
        proxy.cut_at = (COMMIT, heard, False)
        if heard:
            assert transaction.commit(given).generation == 2
        else:
            with pytest.raises(AdapterError, match="nothing was committed, generation 2 is not there") as raised:
                transaction.commit(given)
            assert not isinstance(raised.value, OutcomeUnknown)
    assert store.head().generation == (2 if heard else 1)
    assert is_sound(settings)


@pytest.mark.parametrize("heard", COMMITS.values(), ids=COMMITS.keys())
def test_a_commit_that_cannot_be_looked_up_is_unknown(proxy, through, settings, store, heard):
    head = write(store, FIRST)
    with closing(open_store(through)) as cut:
        transaction = cut.begin(head)
        given = stage(transaction, cut.snapshot(), {doc("b.md"): pieces("two")})
        proxy.cut_at = (COMMIT, heard, True)
        with pytest.raises(OutcomeUnknown, match="run `steadlith status` before trying again") as raised:
            transaction.commit(given)
        assert raised.value.exit_code == 6
    assert store.head().generation == (2 if heard else 1)
    assert is_sound(settings)
    if heard:
        with pytest.raises(StaleHead):
            store.begin(head)
    else:
        assert write(store, {doc("b.md"): pieces("two")}).generation == 2


def test_a_commit_that_is_still_under_way_is_waited_for(proxy, through, settings, store, monkeypatch):
    """The answer is lost, and the server not done yet: what is said must stay true."""
    head = write(store, FIRST)
    with closing(open_store(through)) as cut:
        transaction = cut.begin(head)
        given = stage(transaction, cut.snapshot(), {doc("b.md"): pieces("two")})
        whole, held, late = Session.run, [], []

        def run(session, sql, *values):
            if sql != "COMMIT" or held:
                return whole(session, sql, *values)
            # The client is cut off, while its session lives on for a while before it commits.
            held.append(session)
            late.append(threading.Timer(0.5, lambda: whole(session, sql, *values)))
            late[0].start()
            raise AdapterError("the answer is lost")

        monkeypatch.setattr(Session, "run", run)
        monkeypatch.setattr(Session, "close", lambda session: None if session in held else session._connection.close())
        assert transaction.commit(given).generation == 2
        late[0].join()
        held[0]._connection.close()
    assert store.head().generation == 2


# --------------------------------------------------------------------------------------------- killed


@contextmanager
def writer(settings, moment):
    command = [sys.executable, WRITER, settings["schema"], moment]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == f"{moment}\n"
        yield process
        process.kill()


@pytest.mark.parametrize(("moment", "survives"), [("staged", False), ("settled", False), ("committing", True)])
def test_a_killed_client_leaves_the_old_generation_or_the_new_one(settings, store, moment, survives):
    write(store, FIRST, spaces=SPACES)
    before = sessions()
    with writer(settings, moment) as process:
        assert sessions() - before  # one of an earlier test may end meanwhile
        process.kill()
        process.wait()
    until(lambda: sessions() <= before)
    assert store.head().generation == (2 if survives else 1)
    assert is_sound(settings)
    head = write(store, {doc("z.md"): pieces("next")}, spaces=SPACES)
    assert head.generation == (3 if survives else 2)
    assert is_sound(settings)


def sessions():
    """The server's sessions of ours."""
    with psycopg.connect(os.environ[DSN], autocommit=True) as connection:
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'steadlith'"
        return {pid for (pid,) in connection.execute(query)}


def until(true, seconds=20):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_killed_server_comes_back_with_the_old_generation_or_the_new_one(own_postgres_server, monkeypatch):
    """SIGKILL to every process of the server, at each moment of a commit in turn."""
    kill_at_every_moment(own_postgres_server, monkeypatch, ["staged", "settled", "committing"])


@pytest.mark.slow
def test_a_killed_server_comes_back_whole_however_often(own_postgres_server, monkeypatch):
    kill_at_every_moment(own_postgres_server, monkeypatch, ["staged", "settled", "committing"] * 5)


def kill_at_every_moment(server, monkeypatch, moments):
    monkeypatch.setenv(DSN, server.dsn)
    settings = {"dsn_env": DSN, "schema": "index"}
    with closing(open_store(settings)) as store:
        write(store, FIRST, spaces=SPACES)
        for moment in moments:
            before = store.head()
            with writer(settings, moment) as process:
                server.kill()
                process.stdin.write("\n")
                process.stdin.close()
                process.wait()
            with pytest.raises(AdapterError):
                store.head()
            server.start()
            after = store.head()
            assert after.generation == before.generation + (moment == "committing")
            assert is_sound(settings)
            write(store, {doc("z.md"): pieces(f"after {moment} {after.generation}")}, spaces=SPACES)
        assert is_sound(settings)


@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_writing_comes_back_whole(own_postgres_server, monkeypatch):
    """At no moment of ours: while writes follow each other as fast as they can."""
    monkeypatch.setenv(DSN, own_postgres_server.dsn)
    settings = {"dsn_env": DSN, "schema": "index"}
    with closing(open_store(settings)) as store:
        write(store, FIRST)
        for delay in (0.05, 0.11, 0.17, 0.23, 0.31):
            committed = []

            def write_on(store=store, committed=committed):
                with suppress(AdapterError):
                    while True:
                        number = store.head().generation
                        committed.append(write(store, {doc(f"{number}.md"): pieces(f"number {number}", "kept")}))

            thread = threading.Thread(target=write_on)
            thread.start()
            time.sleep(delay)
            own_postgres_server.kill()
            thread.join()
            own_postgres_server.start()
            head = store.head()
            assert head.generation - (committed[-1].generation if committed else head.generation) in {0, 1}
            assert is_sound(settings)


# ---------------------------------------------------------------------------------------------- races


def test_field_case_36_of_two_writers_at_once_one_is_told_who_holds_the_lock(settings, tmp_path):
    hold = (
        "import sys; from steadlith_adapters.stores.postgres import FACTORY\n"
        f"lock = FACTORY.lock({settings!r}, root='/', timeout=5, holder='steadlith apply')\n"
        "lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout.readline() == "held\n"
        second = make_lock(settings, timeout=0)
        with pytest.raises(LockHeld) as raised:
            second.acquire()
        assert f"steadlith apply, process {first.pid} on {socket.gethostname()}, since 20" in str(raised.value)
        assert raised.value.exit_code == 4
        with pytest.raises(LockHeld, match=r"\(waited 0.2 s\)"):
            make_lock(settings, timeout=0.2).acquire()
        first.kill()  # and the server frees what it held
        first.wait()
    waiting = make_lock(settings, timeout=20)
    waiting.acquire()
    waiting.release()
    waiting.release()


def make_lock(settings, *, timeout, holder="this test"):
    return FACTORY.lock(settings, root="/", timeout=timeout, holder=holder)


def test_locks_of_two_indexes_do_not_know_each_other(postgres_settings):
    left, right = (make_lock(postgres_settings(name), timeout=0) for name in ("left", "right"))
    left.acquire()
    right.acquire()
    left.release()
    right.release()


def test_a_long_holder_is_cut_and_the_process_still_told(settings):
    lock = make_lock(settings, timeout=0, holder="é" * 200)
    lock.acquire()
    with pytest.raises(LockHeld, match=f"process {os.getpid()} on "):
        make_lock(settings, timeout=0).acquire()
    lock.release()


def test_field_case_37_of_two_hosts_with_one_plan_exactly_one_commits(settings, store):
    """Two connections, no lock between them: the head is compared where it is swapped."""
    head = write(store, FIRST)
    changes = {doc("b.md"): pieces("two")}
    with closing(open_store(settings)) as left, closing(open_store(settings)) as right:
        writes = [each.begin(head) for each in (left, right)]
        plans = [stage(each, store.snapshot(), changes) for each in writes]
        outcomes = in_parallel([lambda pair=pair: pair[0].commit(pair[1]) for pair in zip(writes, plans, strict=True)])
    assert sorted(type(each).__name__ for each in outcomes) == ["Head", "StaleHead"]
    assert [each.number for each in store.history()] == [1, 2]
    assert len(store.snapshot().chunks(doc("b.md"))) == 1
    assert is_sound(settings)


def test_field_case_37_racing_again_and_again_loses_no_update(settings, store):
    """Each host writes until its own change is in: every change is in the end, once."""
    write(store, FIRST)
    hosts = [open_store(settings) for _ in range(3)]

    def insist(number):
        changes = {doc(f"{number}.md"): pieces(f"of host {number}", "kept")}
        while True:
            with closing(hosts[number].snapshot()) as reader:
                trie, head = moved(reader, versions(changes)), reader.head
            try:
                transaction = hosts[number].begin(head)
                stage_rows(transaction, changes)
                transaction.put_nodes(trie.put, trie.dropped)
                return transaction.commit(generation(head, trie.after, head.chunks + 2))
            except StaleHead:
                continue

    outcomes = in_parallel([lambda number=number: insist(number) for number in range(3)])
    assert sorted(head.generation for head in outcomes) == [2, 3, 4]
    assert {each.id.path for each in store.snapshot().documents()} == {"a.md", "0.md", "1.md", "2.md"}
    assert is_sound(settings)
    for host in hosts:
        host.close()


def test_first_writers_at_once_make_one_index(settings):
    stores = [open_store(settings) for _ in range(4)]
    outcomes = in_parallel([lambda store=store: write(store, FIRST) for store in stores])
    assert sorted(type(each).__name__ for each in outcomes) == ["Head", "StaleHead", "StaleHead", "StaleHead"]
    assert is_sound(settings)
    for store in stores:
        store.close()


def in_parallel(calls):
    """What each call answers or raises, all of them started together."""
    barrier, outcomes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(place, call):
        barrier.wait()
        try:
            outcomes[place] = call()
        except SteadlithError as error:
            outcomes[place] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_a_compaction_waits_for_no_write_and_a_write_for_no_end(settings, store):
    head = write(store, FIRST)
    with closing(open_store({**settings, "lock_timeout": 1})) as other:
        transaction = store.begin(head)
        with pytest.raises(LockHeld, match="another write is in progress"):
            other.compact(head, 1)
        transaction.abort()
        assert other.compact(head, 1).given_back


def test_what_a_reader_still_needs_is_given_back_later(settings, store):
    write(store, FIRST)
    write(store, {doc("a.md"): pieces("other")})
    reader = store.snapshot()
    first = store.compact(store.head(), 2)
    assert not first.given_back
    assert len(reader.dense(SPACE, vector("q"), 5)) == 1
    assert store.removable(2).bytes > 0
    reader.close()
    second = store.compact(store.head(), 2)
    assert second.given_back
    assert store.removable(2).is_nothing
    assert tables(settings) >= {"full_1_2"}
    assert "full_1_1" not in tables(settings)


def test_dead_rows_that_anybody_may_still_see_are_given_back_later(settings, store):
    """Another program's snapshot, which has not even looked at our tables, makes the server keep what was erased."""
    write(store, {doc("a.md"): pieces("erased")})
    write(store, {doc("a.md"): None, doc("b.md"): pieces("kept")})
    with psycopg.connect(os.environ[DSN]) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        assert not store.compact(store.head(), 2, scrub=True).given_back
        assert store.removable(2).bytes > 0
    assert store.compact(store.head(), 2).given_back
    assert store.removable(2).is_nothing
    assert is_sound(settings)


def test_a_dump_that_runs_holds_back_no_compaction_but_its_space(settings, store):
    write(store, {doc("a.md"): pieces("erased")})
    write(store, {doc("a.md"): None, doc("b.md"): pieces("kept")})
    with psycopg.connect(os.environ[DSN]) as dump, closing(open_store({**settings, "lock_timeout": 1})) as hasty:
        dump.execute(f"LOCK TABLE {settings['schema']}.text IN ACCESS SHARE MODE")
        done = hasty.compact(hasty.head(), 2)
        assert (done.removed.texts, done.given_back) == (1, False)
    assert store.compact(store.head(), 2).given_back


def tables(settings):
    with psycopg.connect(os.environ[DSN]) as connection:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        return {name for (name,) in connection.execute(query, (settings["schema"],))}


# --------------------------------------------------------------------------------------------- timeouts


def test_a_statement_that_takes_too_long_is_stopped_and_names_its_setting(settings, store):
    write(store, FIRST)
    with closing(open_store({**settings, "statement_timeout": 1})) as hasty, closing(hasty.snapshot()) as reader:
        with pytest.raises(AdapterError, match=r"raise store\.statement_timeout"):
            reader._session.run("SELECT pg_sleep(30)")
        assert hasty.head().generation == 1


def test_a_row_that_somebody_holds_is_waited_for_as_long_as_the_setting_says(settings, store):
    head = write(store, FIRST)
    with psycopg.connect(os.environ[DSN]) as other, closing(open_store({**settings, "lock_timeout": 1})) as hasty:
        other.execute(f"SELECT 1 FROM {settings['schema']}.head FOR UPDATE")
        transaction = hasty.begin(head)
        transaction.put_texts([text_row(Piece("two"))])
        transaction.put_entries([entry_row(Piece("two"))])
        given = stage(transaction, store.snapshot(), {doc("b.md"): pieces("two")})
        with pytest.raises(LockHeld, match="another session is in the way"):
            transaction.commit(given)
    assert store.head() == head


def test_a_server_that_is_not_there_is_said_so(postgres_server, settings, monkeypatch):
    monkeypatch.setenv("STEADLITH_NOWHERE", f"{postgres_server.dsn} port=1")
    nowhere = {**settings, "dsn_env": "STEADLITH_NOWHERE"}
    with pytest.raises(AdapterError, match=r"no connection .*check the server"):
        open_store(nowhere)
    (trouble,) = FACTORY.troubles(nowhere, root="/")
    assert "no connection" in trouble.message
    assert postgres_server.place["password"] not in trouble.message
