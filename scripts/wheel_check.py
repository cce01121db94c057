"""Build the wheels and use them in a clean environment: what a user installs must work without this checkout, and a
third party's package (tests/thirdparty) must be certified there by the kit.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
THIRD_PARTY = ROOT / "tests" / "thirdparty"
TOP_LEVEL = {"steadlith", "steadlith_core", "steadlith_adapters"}
CARRIED = ("licenses/LICENSE", "report.schema.json", "vectors/documents.json", "py.typed", "entry_points.txt")


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def certify(python: Path, example: Path, place: Path) -> None:
    """Install the third party's wheel as anybody would; pytest loads the plug-in by itself, and the kit judges."""
    run(python, "-m", "pip", "install", "--quiet", "--no-index", example, cwd=place)
    shutil.copytree(THIRD_PARTY / "tests", place / "certified" / "tests")
    shutil.copy(THIRD_PARTY / "pyproject.toml", place / "certified")
    options = ("-q", "--conformance-strict", "--conformance-report", "report.json")
    printed = run(python, "-m", "pytest", *options, cwd=place / "certified")
    report = json.loads((place / "certified" / "report.json").read_text("utf-8"))
    found = {each["adapter"].rpartition("::")[2]: each["conforms"] and each["complete"] for each in report["adapters"]}
    if found != dict.fromkeys(("TestExampleEmbedder", "TestExampleStore", "TestExampleStores"), True):
        sys.exit(f"the installed kit does not certify {example.name}: {found}")
    if "conformance" not in printed:
        sys.exit(f"the installed kit shows no table:\n{printed}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for project in (ROOT, ROOT / "conformance", THIRD_PARTY):
            run(sys.executable, "-m", "build", "--wheel", "--outdir", place / "dist", project, cwd=place)
        engine, kit, example = (
            next((place / "dist").glob(f"{name}-*.whl"))
            for name in ("steadlith", "steadlith_conformance", "steadlith_example")
        )
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
        certify(python, example, place)
        print(f"{engine.name} and {kit.name} work in a clean environment, and certify {example.name}")


if __name__ == "__main__":
    main()
