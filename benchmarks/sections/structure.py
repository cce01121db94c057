"""Headings and sentences, judged by readers that are not ours."""

from collections.abc import Iterable
from typing import Any

import corpus
from contenders import DEFAULT_SIZES, OURS
from places import WORK
from process import answer
from tables import ABSENT, Verdict, percent, table

LANGUAGES = {"fastapi-docs": "en", "fastapi-docs-ja": "ja", "fastapi-docs-zh": "zh"}
SIZES = (DEFAULT_SIZES, (128, 384), (24, 64))
DEFAULT, FORCED = SIZES[0], SIZES[-1]
HEADINGS, SENTENCES = 0.995, 0.01


def measure(*, quick: bool) -> Any:
    """The Markdown corpora."""
    found = []
    for name, language in list(LANGUAGES.items())[: 1 if quick else None]:
        one = corpus.latest(name)
        for least, most in SIZES if one else ():
            print(f"  {name}: {least} to {most}", flush=True)
            asked = [OURS.python, OURS.inside("headings"), one.folder, language, str(least), str(most)]
            found.append({"name": name, "sizes": [least, most]} | answer(asked, WORK))
    return found or None


def verdicts(data: Any) -> Iterable[Verdict]:
    at_default = [each for each in data if each["sizes"] == list(DEFAULT)]
    ours, theirs, both = (sum(each[key] for each in at_default) for key in ("ours", "theirs", "both"))
    said = f"{percent(2 * both / (ours + theirs))} ({theirs:,} headings)"
    yield Verdict("headings, F1 over (line, level)", "at least 99.5 %", said, 2 * both / (ours + theirs) >= HEADINGS)
    cuts, inside = (sum(each[key] for each in at_default) for key in ("cuts", "in sentences"))
    said = f"{percent(inside / cuts)} ({inside} of {cuts:,})"
    yield Verdict("cuts inside a sentence, Markdown", "under 1 %", said, inside / cuts < SENTENCES)


def render(data: Any) -> Iterable[str]:
    if not data:
        yield ABSENT
        return
    yield (
        "Headings: (line, level) as our grammar and as markdown-it-py (CommonMark with tables) has them, front matter "
        "aside. Sentences: a cut counts if it falls inside a paragraph as markdown-it-py has it, at a place where "
        "pysbd, given that paragraph on one line, begins no sentence; the share is that of all cuts. At the default "
        f"sizes almost every cut stands at a structure; {FORCED[0]} to {FORCED[1]} tokens force cuts into prose and "
        "show how the rules fare there: most of those have no end of a sentence that leaves the minimum."
    )
    rows = [
        (each["name"], *(f"{each[key]:,}" for key in ("ours", "theirs", "both")), _listed(each["disagreements"]))
        for each in data
        if each["sizes"] == list(DEFAULT)
    ]
    yield table(("corpus", "headings of ours", "of markdown-it-py", "of both", "disagreements"), rows)
    rows = [
        (
            each["name"],
            f"{each['sizes'][0]} to {each['sizes'][1]}",
            *(f"{each[key]:,}" for key in ("cuts", "in paragraphs", "in sentences")),
            percent(each["in sentences"] / each["cuts"]),
        )
        for each in data
    ]
    yield table(("corpus", "sizes", "cuts", "inside a paragraph", "inside a sentence", "share of the cuts"), rows)


def _listed(lines: list[str]) -> str:
    return "; ".join(lines) or "none"
