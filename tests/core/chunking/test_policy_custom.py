"""A policy of somebody else's package is found by its entry point, and is no setting that stays behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
from dataclasses import dataclass

from steadlith_core.errors import ConfigError
from steadlith_core.records import Chunk, Span
from steadlith_core.text.tokens import estimate


@dataclass(frozen=True)
class Lines:
    """A chunk for every line that is not blank."""

    id: str = "lines/1"

    @property
    def params(self):
        return {}

    def cut(self, text, format):
        pieces, at = [], text.body
        for line in text.data[text.body :].splitlines(keepends=True):
            end = at + len(line.rstrip())
            if end > at:
                pieces.append((at, end))
            at += len(line)
        spans = text.spans(pieces)
        made = [(text.data[start:end].decode(), span) for (start, end), span in zip(pieces, spans)]
        return tuple(Chunk(line, span, (), 1, estimate(line)) for line, span in made), ()


class Factory:
    def build(self, settings):
        if settings:
            raise ConfigError(f"unknown key {min(settings)} for the lines/1 chunker; it has none")
        return Lines()


FACTORY = Factory()
'''


@pytest.fixture
def site(tmp_path):
    """A folder with an installed distribution in it, as an installer leaves it."""
    folder = tmp_path / "site"
    info = folder / "somebodys_lines-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "somebodys_lines.py").write_text(MODULE, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-lines\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[steadlith.chunkers]\nlines = somebodys_lines:FACTORY\n", "utf-8")
    return folder


def steadlith(folder, site, *arguments):
    code = "import sys; from steadlith.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(site), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def project(folder, policy):
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "a.md").write_text("one line\nanother line\n\n# third\n", "utf-8")
    (folder / "steadlith.toml").write_text(
        f'[sources.docs]\npath = "docs"\n[chunking]\n{policy}\n[embedding]\nembedder = "hash"\n', "utf-8"
    )


def test_a_policy_of_another_package_cuts_and_goes_when_it_is_no_longer_named(tmp_path, site):
    project(tmp_path, 'policy = "lines"')
    applied = steadlith(tmp_path, site, "apply", "--yes")
    assert applied.returncode == 0, applied.stderr
    status = json.loads(steadlith(tmp_path, site, "status", "--json").stdout)
    assert _find(status, "chunks") == 3
    project(tmp_path, 'policy = "structural"')
    applied = steadlith(tmp_path, site, "apply", "--yes", "--allow-removals")
    assert applied.returncode == 0, applied.stderr + applied.stdout
    assert _find(json.loads(steadlith(tmp_path, site, "status", "--json").stdout), "chunks") == 1


def _find(value, key):
    """The first number under `key`, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get(key), int):
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := _find(item, key)) is not None), None)
    return None


def test_its_own_settings_are_its_own_to_refuse(tmp_path, site):
    project(tmp_path, 'policy = "lines"\nmax_words = 3')
    refused = steadlith(tmp_path, site, "plan")
    assert refused.returncode != 0
    assert "unknown key max_words for the lines/1 chunker" in refused.stderr + refused.stdout


def test_without_the_package_the_name_is_unknown(tmp_path):
    project(tmp_path, 'policy = "lines"')
    refused = steadlith(tmp_path, Path(tmp_path), "plan")
    assert refused.returncode != 0
    assert "chunking.policy = 'lines'" in " ".join((refused.stderr + refused.stdout).split())
