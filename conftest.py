"""README.md and docs/ run as tests: every `>>>` and every `$` in them must be true today.

A ```python block runs as a program, a ```console block runs its `$` commands, both in a folder of the page's own that
starts with a copy of docs/examples. What a command prints, and `[exit N]` for a code other than 0, must be what stands
below it (`...` matches anything).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.rest import DocTestParser

ROOT = Path(__file__).parent


def commands(block: str) -> Iterator[tuple[str, str]]:
    """(command, expected output) pairs of a console block."""
    for piece in ("\n" + block).split("\n$ ")[1:]:
        command, _, expected = piece.partition("\n")
        yield command, expected.rstrip("\n")


def run(command: str, folder: Path, more: Mapping[str, str] | None = None) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 -- the documentation is written for a shell
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120", **(more or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.rstrip("\n") + (f"\n[exit {done.returncode}]" if done.returncode else "")


def served(page: str, namespace: dict[str, Any]) -> Mapping[str, str]:
    """The variable that leads to a server of the page's own, on the pages about servers."""
    if Path(page).name not in {"postgres.md", "moving.md"}:
        return {}
    if "server" not in namespace:
        script = ROOT / "tests" / "postgres_server.py"
        server = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        place = json.loads(server.stdout.readline() if server.stdout else "")
        parts = ("host", "port", "user", "password", "dbname")
        namespace |= {"server": server, "dsn": " ".join(f"{part}={place[part]}" for part in parts)}
    return {"STEADLITH_POSTGRES": namespace["dsn"]}


def evaluate_console(example: Example) -> str | None:
    for command, expected in commands(example.parsed):
        printed = run(command, example.namespace["folder"], served(example.path, example.namespace))
        if not OutputChecker().check_output(expected + "\n", printed.strip("\n") + "\n", ELLIPSIS):
            return f"$ {command}\nexpected:\n{expected}\nprinted:\n{printed}"
    return None


def evaluate_python(example: Example) -> str | None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.parsed],
        cwd=example.namespace["folder"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr or None


def setup(namespace: dict[str, Any]) -> None:
    namespace["folder"] = Path(tempfile.mkdtemp()) / "work"
    shutil.copytree(ROOT / "docs" / "examples", namespace["folder"])


def teardown(namespace: dict[str, Any]) -> None:
    if "server" in namespace:
        namespace["server"].communicate()  # its input ends, and so does it
    shutil.rmtree(namespace["folder"].parent)


pytest_collect_file = Sybil(
    parsers=[
        DocTestParser(optionflags=ELLIPSIS),
        CodeBlockParser(language="console", evaluator=evaluate_console),
        CodeBlockParser(language="python", evaluator=evaluate_python),
    ],
    patterns=["README.md", "docs/*.md", "docs/adapters/*.md"],
    setup=setup,
    teardown=teardown,
).pytest()
