"""Build both wheels and use them in a clean environment: what a user installs must work without this checkout."""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP_LEVEL = {"steadlith", "steadlith_core", "steadlith_adapters"}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


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
        print(f"{engine.name} and {kit.name} work in a clean environment")


if __name__ == "__main__":
    main()
