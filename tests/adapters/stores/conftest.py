"""What tests of stores in files share: damage by a statement, and reading where nothing may be written."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from steadlith_adapters.stores.sqlite import connection

# Loaded while this Python can still be read: root may write anywhere, so the reading is done as nobody.
AS_NOBODY = """
import concurrent.futures.thread, os, sys
import numpy
import urllib.parse  # pathlib's as_uri loads it when it is first needed, which is too late for nobody
from steadlith_adapters.stores.sqlite import FACTORY, connection
from steadlith_conformance.samples import SPACE, vector
session = connection.empty()
session.load_vectors()
session.close()
store = FACTORY.open({{"path": "none"}}, root=sys.argv[1], readonly=True)
list(store.snapshot().documents())
store.close()
query = vector("one")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    store = FACTORY.open({{"path": "index.sqlite3"}}, root=sys.argv[1], readonly=True)
    reader = store.snapshot()
    print({asked})
    store.close()
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def change():
    """Run statements on the tables of an index file, and commit them; how many rows the last of them changed."""

    def run(index, *statements):
        writing = connection.writing(index)
        writing.load_vectors()
        for statement in statements:
            writing.run(statement)
        changed = writing.changed()
        writing.run("COMMIT")
        writing.close()
        return changed

    return run


@pytest.fixture
def outside():
    """A folder outside pytest's own, which only its user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="steadlith-outside-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.fixture
def read_as_nobody():
    """What somebody who may not write in a folder is told of its index: `asked`, of a `store` and a `reader`."""

    def run(folder, asked):
        folder.chmod(0o555)
        command = [sys.executable, "-c", AS_NOBODY.format(asked=asked), str(folder)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        folder.chmod(0o700)
        return found.stdout.strip()

    return run
