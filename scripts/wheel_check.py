"""Build both wheels and use them in a clean environment: what a user installs must work without this checkout."""

import json
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP_LEVEL = {"steadlith", "steadlith_core", "steadlith_adapters"}
CARRIED = ("licenses/LICENSE", "report.schema.json", "vectors/documents.json", "py.typed", "entry_points.txt")
CERTIFIED = """
import pytest
from steadlith_adapters.stores.memory import MemoryStore
from steadlith_conformance.stores import StoreSuite

class TestMemory(StoreSuite):
    @pytest.fixture
    def make_store(self):
        histories = {}
        return lambda name="index", *, readonly=False: MemoryStore(histories.setdefault(name, []), readonly=readonly)
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def certify(python: Path, work: Path) -> None:
    """The kit certifies a store from its wheel alone: pytest loads the plug-in by itself, and the report says so."""
    (work / "test_memory.py").write_text(CERTIFIED, "utf-8")
    options = ("-q", "-W", "error", "-m", "not slow", "--conformance-strict", "--conformance-report", "report.json")
    printed = run(python, "-m", "pytest", *options, "test_memory.py", cwd=work)
    (adapter,) = json.loads((work / "report.json").read_text("utf-8"))["adapters"]
    if not adapter["conforms"] or adapter["capabilities"]["lexical"] != "bm25":
        sys.exit(f"the installed kit does not certify the memory store: {adapter['counts']}")
    if "conformance" not in printed:
        sys.exit(f"the installed kit shows no table:\n{printed}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", place / "dist", ROOT, cwd=place)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", place / "dist", ROOT / "conformance", cwd=place)
        engine, kit = sorted((place / "dist").glob("*.whl"), key=lambda path: "conformance" in path.name)
        with zipfile.ZipFile(engine) as archive:
            found = {name.split("/")[0] for name in archive.namelist() if ".dist-info" not in name}
        if found != TOP_LEVEL:
            sys.exit(f"{engine.name} holds {sorted(found)}, expected {sorted(TOP_LEVEL)}")
        with zipfile.ZipFile(kit) as archive:
            missing = [end for end in CARRIED if not any(name.endswith(end) for name in archive.namelist())]
        if missing:
            sys.exit(f"{kit.name} lacks {', '.join(missing)}")

        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", engine, kit, cwd=place)
        work = place / "work"
        (work / "docs").mkdir(parents=True)
        (work / "docs" / "a.md").write_text("# Hello\n\nA wheel that works alone.\n", "utf-8")
        command = place / "venv" / "bin" / "steadlith"
        run(command, "init", cwd=work)
        run(command, "apply", "--yes", cwd=work)
        run(command, "verify", cwd=work)
        if "docs:a.md" not in run(command, "search", "wheel", cwd=work):
            sys.exit("the installed wheel does not find what it indexed")
        if "No changes" not in run(command, "plan", cwd=work):
            sys.exit("the installed wheel plans changes where there are none")
        certify(python, work)
        print(f"{engine.name} and {kit.name} work in a clean environment")


if __name__ == "__main__":
    main()
