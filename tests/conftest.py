"""What all tests share: Hypothesis's profile, a child process without root's rights (faults of permission do not exist
for root, who runs the tests in CI), and the counts behind the table in docs/reliability.md.

1. A test calls `tried(fault, how, times)` for the faults that it has tried *and judged*: after its asserts.
2. `fault` is what a user fears ("a power cut while files are written"), `how` is how it is brought about. What stands
   after a colon is a variety: the varieties of a fault share a row of the table.
3. Every fault has its line in tests/faults/found.toml: what trying it has shown (`test_reliability.py`).
4. Where STEADLITH_TRIED names a folder, every process of the run leaves its counts there, so that a parallel run adds
   up: `scripts/reliability.py FOLDER` merges them into the page.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the examples are the same each time: a submission is judged by its change, not by a draw.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# A distribution of its own: tests/conformance/test_third_party.py installs it and runs its tests.
collect_ignore = ["thirdparty"]

TRIED = "STEADLITH_TRIED"
TRIES = pytest.StashKey[Counter]()
NOBODY = 65534

# The child imports as root (the interpreter may stand in a folder that nobody can enter), then drops its rights.
PRELUDE = """
import concurrent.futures.thread, json, os, sys
import urllib.parse  # pathlib's as_uri loads it when it is first needed, which is too late for nobody
def drop():
    os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
def answer(value):
    print(json.dumps(value))
arguments = json.loads(sys.argv[1])
"""


@pytest.fixture
def as_nobody():
    """Run a script that calls `drop()` once it has imported, and `answer(...)` once; returns what it answered."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can start a process as another user")

    def run(script, *arguments):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PRELUDE.format(nobody=NOBODY) + script, json.dumps(arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def public_path():
    """A folder that every user can enter and read; pytest's own belongs to its user alone."""
    path = Path(tempfile.mkdtemp(prefix="steadlith-public-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


class PostgresServer:
    """The server of `postgres_server.py`, as a test sees it: where it is, and what can be done to it."""

    def __init__(self):
        script = Path(__file__).with_name("postgres_server.py")
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.place = self._answer()

    @property
    def dsn(self):
        parts = ("host", "port", "user", "password", "dbname")
        # Without asking the server for TLS first: on loopback it has none, and every session would ask.
        return " ".join([*(f"{part}={self.place[part]}" for part in parts), "sslmode=disable", "gssencmode=disable"])

    def kill(self):
        """End every process of it at once."""
        self._ask("kill")

    def start(self):
        self._ask("start")

    def stop(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _ask(self, what):
        print(what, file=self._process.stdin, flush=True)
        self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, "the PostgreSQL server did not start; what it said stands above"
        return json.loads(line)


POSTGRES_DSN = "STEADLITH_TEST_POSTGRES"
"""The variable that holds where the run's server is, password and all."""


@pytest.fixture(scope="session")
def postgres_server():
    """A real server with pgvector for the whole run (each worker's own); POSTGRES_DSN leads to it."""
    server = PostgresServer()
    os.environ[POSTGRES_DSN] = server.dsn
    yield server
    del os.environ[POSTGRES_DSN]
    server.stop()


@pytest.fixture
def own_postgres_server():
    """A server that a test may kill."""
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture
def postgres_settings(postgres_server):
    """Call it for the settings of a store on the run's server, in a schema of its own, which goes with the server."""

    def settings(name="index", **more):
        schema = f"t{os.urandom(4).hex()}_{name}".replace("-", "_").lower()[:63]
        return {"dsn_env": POSTGRES_DSN, "schema": schema, **more}

    return settings


@pytest.fixture
def tried(request):
    """Call `tried(fault, how, times=1)` for each fault that was tried, once its outcome was found to be right."""
    tries = request.config.stash.setdefault(TRIES, Counter())

    def count(fault, how, times=1):
        tries[fault, how] += times

    return count


def pytest_sessionfinish(session):
    folder = os.environ.get(TRIED)
    tries = session.config.stash.get(TRIES, None)
    if folder and tries:
        rows = [{"fault": fault, "how": how, "times": times} for (fault, how), times in tries.items()]
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{worker}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


@pytest.fixture
def paid(monkeypatch):
    """How often each text was given to the model, probes aside."""
    from steadlith import hands
    from steadlith_core.applying import effects as fx

    counter = Counter()
    whole = hands.Hands.perform

    def perform(self, effect):
        if isinstance(effect, fx.Embed):
            counter.update(effect.texts)
        return whole(self, effect)

    monkeypatch.setattr(hands.Hands, "perform", perform)
    return counter


@pytest.fixture
def statements(monkeypatch):
    """Statements that sessions of SQLite indexes were given, whatever for, and one for each of many rows."""
    from steadlith_adapters.stores.sqlite.session import Session

    given = []
    for name in ("run", "run_many"):
        whole = getattr(Session, name)

        def counting(self, sql, *bindings, whole=whole):
            given.append(sql)
            return whole(self, sql, *bindings)

        monkeypatch.setattr(Session, name, counting)
    return given
