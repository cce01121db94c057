"""Report the largest modules: past 300 lines, look for the second idea in it. A report, not a gate."""

from pathlib import Path

LIMIT = 300
SHOWN = 8


def main() -> None:
    root = Path(__file__).parent.parent
    sizes = sorted(
        (
            (sum(1 for line in path.read_text("utf-8").splitlines() if line.strip()), path.relative_to(root))
            for path in [*root.glob("src/**/*.py"), *root.glob("conformance/src/**/*.py")]
        ),
        reverse=True,
    )
    lines = [size for size, _ in sizes]
    print(f"{len(lines)} modules, median {lines[len(lines) // 2]} non-blank lines, largest:")
    for size, path in sizes[:SHOWN]:
        print(f"  {size:4}  {path}{'   <- over ' + str(LIMIT) if size > LIMIT else ''}")


if __name__ == "__main__":
    main()
