"""Peak memory of a plan of one very large file. One run each: it is long, and peak memory does not vary."""

from contenders import BOTH
from corpus import markdown
from places import WORK
from process import Usage, run

SIZE = 50_000_000
QUICK_SIZE = 2_000_000


def measure(*, quick: bool) -> tuple[int, dict[str, Usage]]:
    """The file's size, and what planning it took."""
    text = WORK / "large.md"
    text.write_text(markdown(QUICK_SIZE if quick else SIZE, seed=0), "utf-8")
    used = {}
    for one in BOTH:
        print(f"  one file of {text.stat().st_size / 1e6:.0f} MB: {one.name}", flush=True)
        folder = one.project("large")
        (folder / "docs" / "large.md").hardlink_to(text)
        used[one.name] = run([one.program, *one.plan], folder)[0]
    return text.stat().st_size, used
