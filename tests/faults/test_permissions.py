"""What may not be read or written, by a process without root's rights: told, nothing changed, nothing paid for."""

from dataclasses import dataclass

import pytest
from trials.place import Place

import steadlith

AS_NOBODY = """
import contextlib, io
from steadlith.cli.main import main

def typed(root, command):
    os.chdir(root)
    sys.argv = ["steadlith", *command]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return [code, out.getvalue(), err.getvalue()]

warm, root, path, mode, commands = arguments
for command in (*commands, ["plan", "--out", "no/such/folder"]):
    typed(warm, command)  # whatever is loaded late is loaded now
os.chmod(path, mode)
drop()
answer([typed(root, command) for command in commands])
"""
READING = (["plan"], ["status"], ["search", "silver"], ["verify"])
APPLY = ["apply", "--yes"]
OUT = ["plan", "--out", "plans/p.json"]
NOT_AT_ALL, NOT_WRITTEN, NOT_WRITTEN_INTO = 0o000, 0o444, 0o555


@dataclass(frozen=True)
class Denied:
    """`path` gets `mode`; these commands of `READING` still work, and `command` is refused with `code`, if any."""

    path: str
    mode: int
    works: tuple[str, ...]
    code: int = 1
    command: tuple[str, ...] = tuple(APPLY)


ALL = ("plan", "status", "search", "verify")
DENIED = {
    "the index": Denied(".steadlith/index.sqlite3", NOT_AT_ALL, ()),
    "the index, read only": Denied(".steadlith/index.sqlite3", NOT_WRITTEN, ALL),
    "the cache": Denied(".steadlith/cache.sqlite3", NOT_AT_ALL, ALL[1:]),
    "the cache, read only": Denied(".steadlith/cache.sqlite3", NOT_WRITTEN, ALL),
    "the state folder": Denied(".steadlith", NOT_AT_ALL, ()),
    "the state folder, read only": Denied(".steadlith", NOT_WRITTEN_INTO, ALL),
    "the lock": Denied(".steadlith/index.sqlite3.lock", NOT_AT_ALL, ALL),
    "the fingerprints": Denied(".steadlith/steadlith.fingerprints", NOT_AT_ALL, ALL, code=0),
    "the configuration": Denied("steadlith.toml", NOT_AT_ALL, (), code=64),
    "the folder of a source": Denied("docs-a", NOT_AT_ALL, ALL[1:]),
    "the folder of a plan file": Denied("plans", NOT_WRITTEN_INTO, ALL, code=64, command=tuple(OUT)),
}


def place_at(root):
    """One edit behind its folder, and open to everybody."""
    place = Place(root).settle("a")
    (root / "a.toml").rename(root / "steadlith.toml")
    (root / "plans").mkdir()
    for number in (1, 2):
        place.write("a", number)
        if number == 1:
            apply(root)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    return root


def apply(root):
    index = steadlith.open(root)
    return index.apply(index.plan())


@pytest.mark.parametrize("what", DENIED)
def test_it_is_told_and_changes_nothing_and_what_needs_it_not_works(public_path, as_nobody, tried, what):
    denied = DENIED[what]
    warm, root = place_at(public_path / "warm"), place_at(public_path / "place")
    before = steadlith.open(root).head()
    path = root / denied.path
    rights = path.stat().st_mode
    commands = [*READING, list(denied.command)]
    found = as_nobody(AS_NOBODY, str(warm), str(root), str(path), denied.mode, commands)
    path.chmod(rights)
    for command, (code, _, err) in zip(commands[:-1], found[:-1], strict=True):
        assert (code == 0) == (command[0] in denied.works), (command, err)
        assert code == 0 or path.name in err, (command, err)
    code, _, err = found[-1]
    assert code == denied.code, err
    assert "Traceback" not in err
    if code:
        assert path.name in err
        assert "Embedded" not in err, "it was paid for before it was refused"
        assert steadlith.open(root).head() == before
        done = apply(root)
        assert done.cached == 0
    assert steadlith.open(root).head().generation == before.generation + 1
    assert steadlith.open(root).plan().is_empty
    assert steadlith.open(root).verify().problems == ()
    tried(f"no rights to one of our files or folders: {what}", "a child that dropped root's rights", len(commands))
