"""Plan files on disk: what `--out` may be, and files that are no plans."""

import os
import threading
from pathlib import Path

import pytest

from steadlith.cli import planfiles
from steadlith_core.errors import PlanFileError, UsageError


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path):
    file = tmp_path / "p.json"
    for content in ("first", "é"):
        planfiles.write(file, content)
        assert file.read_text("utf-8") == content
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path, there):
    target, link = tmp_path / "p.json", tmp_path / "link.json"
    link.symlink_to(target.name)
    if there:
        target.write_text("old", "utf-8")
    planfiles.write(link, "new")
    assert link.is_symlink()
    assert target.read_text("utf-8") == "new"


def test_a_link_to_itself_is_a_usage_error(tmp_path):
    link = tmp_path / "p.json"
    link.symlink_to(link.name)
    with pytest.raises(UsageError, match=r"--out .*p\.json"):
        planfiles.write(link, "new")
    assert link.is_symlink()


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    planfiles.write(pipe, "through")
    reader.join(timeout=10)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_an_open_descriptor_is_written_into():
    reading, writing = os.pipe()
    planfiles.write(Path(f"/dev/fd/{writing}"), "through")
    os.close(writing)
    with os.fdopen(reading) as stream:
        assert stream.read() == "through"


def test_a_device_is_written_into_and_a_full_one_is_a_usage_error(tmp_path):
    null = tmp_path / "null"
    null.symlink_to("/dev/null")
    planfiles.write(null, "gone")
    assert null.is_char_device()
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(UsageError, match="No space left"):
        planfiles.write(full, "x")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000])
def test_a_file_nested_too_deeply_is_no_plan(tmp_path, content):
    file = tmp_path / "p.json"
    file.write_text(content, "utf-8")
    with pytest.raises(PlanFileError, match="nested too deeply"):
        planfiles.load(file)
