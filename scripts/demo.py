"""The main job on real documents, shown as a user would type it: `make demo`, or `make demo DOCS=/path/to/folder`.

Leaves the folder demo/ with a working index to go on playing with.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "demo"
MARK = DEMO / ".made-by-make-demo"
STEADLITH = Path(sys.executable).parent / "steadlith"
EDIT = "Quarterly invoices are archived in the blue cabinet."


def say(text: str = "") -> None:
    print(text, flush=True)


def steadlith(*arguments: str, expect: int = 0) -> None:
    shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
    say(f"\n$ steadlith {shown}")
    done = subprocess.run([STEADLITH, *arguments], cwd=DEMO, check=False)
    if done.returncode != expect:
        sys.exit(f"demo: steadlith {shown} exited {done.returncode}, expected {expect}")


def prepare(documents: Path) -> None:
    if not documents.is_dir():
        sys.exit(f"demo: {documents} is not a folder")
    if DEMO.exists():
        if not MARK.exists():
            sys.exit(f"demo: {DEMO} is there and was not made by this script; move it away")
        shutil.rmtree(DEMO)
    # Copied elsewhere first: DOCS may be a folder that holds this checkout.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "docs"
        shutil.copytree(documents, copy, ignore=shutil.ignore_patterns(".git", ".venv", "demo"), symlinks=True)
        DEMO.mkdir()
        MARK.touch()
        shutil.move(copy, DEMO / "docs")


def edit_one() -> Path:
    """Add a sentence to a paragraph in the middle of the longest Markdown (or else text) document."""
    found = [path for path in DEMO.glob("docs/**/*") if path.suffix in {".md", ".rst", ".txt"} and path.is_file()]
    if not found:
        sys.exit("demo: no .md, .rst or .txt document to edit in that folder")
    path = max(found, key=lambda one: (one.stat().st_size, one))
    text = path.read_text("utf-8", errors="surrogateescape")
    paragraphs = [match.end() for match in re.finditer(r"(?<=\n\n)[A-Za-z][^\n]{40,}\.(?=\n\n)", text)]
    at = paragraphs[len(paragraphs) // 2] if paragraphs else len(text.rstrip())
    path.write_text(f"{text[:at]} {EDIT}{text[at:]}", "utf-8", errors="surrogateescape")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    prepare(parser.parse_args().docs.resolve())
    say(f"Demo folder: {DEMO}, with a copy of the documents in docs/")

    steadlith("init")
    steadlith("plan", "--no-steps")
    steadlith("apply", "--yes")
    steadlith("search", "what happens when apply is killed?", "--limit", "3")
    path = edit_one()
    say(f'\n$ edit {path.relative_to(DEMO)}   # one sentence added: "{EDIT}"')
    steadlith("plan", "--out", "plan.json", "--detailed-exitcode", expect=2)
    steadlith("apply", "plan.json")
    steadlith("apply", "plan.json")
    steadlith("search", "which cabinet holds the invoices?", "--limit", "1")
    steadlith("verify")
    steadlith("plan")
    say(f"\nThe index is in demo/. Go on with: cd demo && {STEADLITH} search 'your question'")


if __name__ == "__main__":
    main()
