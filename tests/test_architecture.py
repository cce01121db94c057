"""ARCHITECTURE.md says what is true: the tests that it names exist, and so do the rooms."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def test_every_test_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", TEXT)
    assert len(named) > 20
    for path, name in named:
        source = (ROOT / path).read_text("utf-8")
        assert not name or f"def {name}(" in source, f"{path}::{name}"


def test_every_room_of_the_core_has_a_row():
    for room in (ROOT / "src" / "steadlith_core").iterdir():
        if room.name not in {"__pycache__", "__init__.py", "py.typed"}:
            name = f"{room.name}/" if room.is_dir() else room.name
            assert f"`{name}`" in TEXT, name
