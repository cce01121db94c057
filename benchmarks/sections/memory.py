"""Peak memory of one very large file: a plan of it, and the core alone. One run each: it is long and does not vary."""

from collections.abc import Iterable
from typing import Any

from contenders import BOTH, OURS
from corpus import markdown
from places import WORK
from process import run
from tables import Verdict, mb, table

SIZE = 50_000_000
QUICK_SIZE = 2_000_000
BAR, BEYOND = 10, 4
PLAN, CORE = "plan", "core alone"


def measure(*, quick: bool) -> Any:
    """The file's size, and what it took."""
    text = WORK / "large.md"
    text.write_text(markdown(QUICK_SIZE if quick else SIZE, seed=0), "utf-8")
    size = text.stat().st_size
    used: dict[str, dict[str, Any]] = {PLAN: {}, CORE: {}}
    for one in BOTH:
        folder = one.project("large")
        (folder / "docs" / "large.md").hardlink_to(text)
        for what, command in (
            (PLAN, [one.program, *one.plan]),
            (CORE, [one.python, one.inside("core"), "peak", "docs"]),
        ):
            print(f"  one file of {size / 1e6:.0f} MB: {one.name}, {what}", flush=True)
            used[what][one.name] = run(command, folder)[0]
    bare = {one.name: run([one.python, "-c", "pass"], WORK)[0]["memory"] for one in BOTH}
    return {"size": size, "bare": bare} | used


def verdicts(data: Any) -> Iterable[Verdict]:
    for what in (PLAN, CORE):
        times = data[what][OURS.name]["memory"] / data["size"]
        yield Verdict(
            f"one file of {data['size'] / 1e6:.0f} MB, {what}",
            f"peak memory under {BAR} times the file (beyond: {BEYOND})",
            f"{times:.1f}",
            times < BAR,
            times < BEYOND,
        )


def render(data: Any) -> Iterable[str]:
    yield (
        f"One Markdown file of {data['size'] / 1e6:.0f} MB, made up by the script; one run each. *Plan* is the command "
        "from empty; *core alone* reads, normalises, cuts and hashes it in process. The peak is that of the whole "
        f"process; a bare interpreter has {mb(data['bare'][OURS.name])}."
    )
    rows = [
        (
            what,
            name,
            f"{used['wall']:.1f} s",
            f"{used['cpu']:.1f} s",
            mb(used["memory"]),
            f"{used['memory'] / data['size']:.1f}",
        )
        for what in (PLAN, CORE)
        for name, used in data[what].items()
    ]
    yield table(("", "", "wall", "CPU", "peak memory", "times the file"), rows)
