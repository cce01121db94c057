"""What happens to stdout and stderr: readers that leave, full disks, poor encodings, errors nobody expected."""

import json
import os
import subprocess
import sys

import pytest

from steadlith.index import Index

PROGRAM = [sys.executable, "-c", "from steadlith.cli import main; main()"]


@pytest.fixture
def many(folder):
    """So many documents that a plan is more than a pipe holds."""
    for number in range(1500):
        (folder / "docs" / f"{number}-{'long' * 20}.md").write_text(f"Text {number}.\n", "utf-8")
    return folder


def into_nobody(folder, *arguments):
    """Run a command whose stdout has no reader any more."""
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    "arguments", [["plan"], ["plan", "--json"], ["status"], [], ["--help"], ["plan", "--help"], ["--version"]]
)
def test_a_reader_who_left_is_no_error(folder, arguments):
    assert into_nobody(folder, *arguments) == (0, "")


def test_a_reader_who_leaves_in_the_middle_is_no_error(many):
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", '"$@" | head -n 1', "-", *PROGRAM, "plan", "--steps"],
        cwd=many,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout.count("\n"), ran.stderr) == (0, 1, "")


def test_a_reader_who_left_changes_neither_the_exit_code_nor_what_is_done(cli, folder):
    assert into_nobody(folder, "plan", "--detailed-exitcode") == (2, "")
    assert into_nobody(folder, "apply", "--yes") == (0, "")
    assert json.loads(cli("status", "--json").out)["generation"] == 1


@pytest.mark.parametrize("arguments", [["plan"], ["plan", "--json"], ["status"], ["--help"], ["nonsense", "--json"]])
def test_a_full_disk_below_stdout_is_an_error_with_a_message(folder, arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 -- a device
        ran = subprocess.run(
            [*PROGRAM, *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == (64 if "nonsense" in arguments else 1)
    assert ran.stderr.startswith("Error: ")
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_name_that_the_encoding_lacks_is_shown_as_escapes(folder):
    (folder / "docs" / "文.md").write_text("# 文\n\n文。\n", "utf-8")
    ran = subprocess.run(
        [*PROGRAM, "plan"],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "+ docs:\\u6587.md" in ran.stdout


def test_an_error_nobody_expected_is_one_line_and_a_traceback_only_on_request(cli, folder, monkeypatch):
    def broken(*_arguments, **_options):
        raise ZeroDivisionError("by\x1bzero")

    monkeypatch.setattr(Index, "plan", broken)
    monkeypatch.delenv("STEADLITH_TRACEBACK", raising=False)
    message = "Error: internal error: ZeroDivisionError: by\\x1bzero (please report it)\n"
    ran = cli("plan")
    assert (ran.code, ran.out, ran.err) == (1, "", message)
    assert json.loads(cli("plan", "--json").out)["exit_code"] == 1
    monkeypatch.setenv("STEADLITH_TRACEBACK", "1")
    told = cli("plan")
    assert told.code == 1
    assert told.err.startswith("Traceback (most recent call last)")
    assert told.err.endswith(message)


def test_a_place_that_cannot_be_written_is_one_line(cli, folder):
    (folder / ".steadlith" / ".gitignore").unlink()
    (folder / ".steadlith" / ".gitignore").mkdir()
    ran = cli("init", "--force")
    assert ran.code == 64
    assert ran.err.startswith("Error: ")
    assert ".gitignore" in ran.err
    assert ran.err.count("\n") == 1
