"""Files that are written whole or not at all: what is beside them, and what they keep."""

import os

import pytest

from steadlith import files
from steadlith_core.errors import UsageError


def test_what_another_writer_is_writing_is_left_alone(tmp_path):
    file = tmp_path / "p.json"
    slow = files.Replacement(file)
    slow.stream.write(b"slow")
    files.write(file, [b"fast"])
    assert file.read_bytes() == b"fast"
    slow.finish()
    assert file.read_bytes() == b"slow"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    file = tmp_path / "p.json"
    files.write(file, [b"one"])
    file.chmod(0o640)
    files.write(file, [b"two"])
    assert file.stat().st_mode & 0o777 == 0o640


def test_the_leftover_of_a_killed_writer_with_our_number_blocks_nothing(tmp_path):
    """In a container every run may be process 1."""
    file = tmp_path / "p.json"
    for name in (f".p.json.{os.getpid()}.tmp", ".p.json.1.tmp"):
        (tmp_path / name).write_bytes(b"half")
    files.save(file, [b"whole"])
    assert list(tmp_path.iterdir()) == [file]


def test_a_name_with_a_pattern_s_signs_in_it_sweeps_its_own_leftovers_only(tmp_path):
    (tmp_path / ".p[1].json.x.tmp").write_bytes(b"half")
    (tmp_path / ".p1.json.x.tmp").write_bytes(b"another file's")
    files.write(tmp_path / "p[1].json", [b"whole"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".p1.json.x.tmp", "p[1].json"]


def test_pieces_that_fail_leave_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "m"
    file.write_bytes(b"old")

    def failing():
        yield b"new"
        raise UsageError("nothing more")

    with pytest.raises(UsageError, match="nothing more"):
        files.save(file, failing())
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
