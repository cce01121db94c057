"""The command line in process: arguments in, (exit code, stdout, stderr) out."""

import os
import pty
import subprocess
import sys
from typing import NamedTuple

import pytest

from steadlith.cli.main import main
from steadlith_core.planning.planfile import load


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capfd, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["steadlith", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        return Ran(stopped.value.code, out, err)

    return run


@pytest.fixture
def folder(tmp_path, cli):
    """A folder with two documents and a configuration, nothing applied."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Apples\n\nApples are red or green.\n\n# Pears\n\nPears are sweet.\n", "utf-8")
    (docs / "b.md").write_text("# Bridges\n\nBridges cross rivers.\n", "utf-8")
    assert cli("init", "--embedder", "hash").code == 0
    return tmp_path


@pytest.fixture
def saved(folder, cli):
    """The file of the first plan."""
    assert cli("plan", "--out", "p.json").code == 0
    return folder / "p.json"


@pytest.fixture
def planned(saved):
    """The first plan."""
    return load(saved.read_text("utf-8"))


@pytest.fixture
def at_a_terminal(folder):
    """Run a command in `folder` on a pseudo-terminal and type an answer; (exit code, all that was printed)."""

    def run(answer, *arguments):
        master, slave = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", "from steadlith.cli import main; main()", *arguments],
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
            close_fds=True,
        ) as child:
            os.close(slave)
            os.write(master, answer.encode() + b"\n")
            seen = b""
            while True:
                try:
                    data = os.read(master, 4096)
                except OSError:  # the child closed its side
                    break
                if not data:
                    break
                seen += data
            code = child.wait(timeout=30)
        os.close(master)
        return code, seen.decode()

    return run
