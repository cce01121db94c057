"""Questions with passages that answer them, out of the headings that authors wrote, as sections/judged.py has it.

Usage: questions.py FORMAT FOLDER OUT EACH DOCUMENTS, FORMAT being markdown or rst. Writes the documents without their
headings' words to OUT/docs, questions and all passages to OUT/questions.json; prints how many of both there are.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

import reading

SEED = 20170615
NEUTRAL = "Section"
LEAST_PASSAGE = 300
LEAST_WORDS = 2
MOST_A_DOCUMENT = 4
LEFT_OUT = {"release-notes.md"}
"""One list of thousands of one-line changes, and a third of its corpus."""

ANCHOR = re.compile(r"\s*\{[^{}]*\}\s*$")
MARKS = re.compile(r"[`*_#]|<[^>]*>")
WORD = re.compile(r"[A-Za-z]{3,}")
RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}$")


class Section(NamedTuple):
    """A heading's words, and where the section's own text stands in the neutral document, in bytes."""

    title: str
    start: int
    end: int


class Question(NamedTuple):
    """The words that are asked, and the one passage that answers them."""

    query: str
    path: str
    start: int
    end: int


def headings_of_markdown(lines: list[str]) -> dict[int, tuple[int, str, str]]:
    """By first line: the line behind the heading, its words, and what is written instead."""
    found = {}
    for heading in reading.markdown("\n".join(lines)).headings:
        line = lines[heading.line]
        words = ANCHOR.sub("", line.lstrip("# "))
        found[heading.line] = heading.line + 1, words, f"{'#' * heading.level} {NEUTRAL}"
    return found


def headings_of_rst(lines: list[str]) -> dict[int, tuple[int, str, str]]:
    """As above; a title is a line after a blank one, underlined over its whole length."""
    found = {}
    for number in range(1, len(lines) - 1):
        line, under = lines[number], lines[number + 1]
        if line and line[0].isalnum() and not lines[number - 1] and RULE.match(under) and len(under) >= len(line):
            found[number] = number + 2, line, f"{NEUTRAL}\n{under}"
    return found


def neutral(text: str, how: str) -> tuple[str, str, list[Section]]:
    """The document without its headings' words, its title, and its sections."""
    lines = text.replace("\r\n", "\n").split("\n")
    headings = (headings_of_markdown if how == "markdown" else headings_of_rst)(lines)
    title = next((line[7:] for line in lines[:9] if line.startswith("Title: ")), "") if how == "rst" else ""
    parts: list[str] = []
    sections: list[Section] = []
    words, start, at, number = "", 0, 0, 0
    while number < len(lines):
        if number in headings:
            sections.append(Section(words, start, at))
            number, heading, instead = headings[number]
            words = plain(heading)
            title = title or words
            parts.append(instead + "\n")
            at += len(parts[-1].encode())
            start = at
        else:
            parts.append(lines[number] + "\n")
            at += len(parts[-1].encode())
            number += 1
    sections.append(Section(words, start, at))
    return "".join(parts), title, sections[1:]


def plain(words: str) -> str:
    """A heading's words without markup."""
    return " ".join(MARKS.sub(" ", words).split())


def questions(
    folder: Path, out: Path, how: str, each: int, documents: int
) -> tuple[list[Question], dict[str, list[tuple[int, int]]]]:
    """Questions in the order of documents, and every passage of every document that is indexed."""
    random = Random(SEED)
    paths = sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".rst"} and path.name not in LEFT_OUT)
    chosen = sorted(random.sample(paths, min(documents, len(paths))))
    read = {path: neutral(path.read_text("utf-8"), how) for path in chosen}
    known = Counter(section.title.casefold() for _, _, sections in read.values() for section in sections)
    found: list[Question] = []
    passages: dict[str, list[tuple[int, int]]] = {}
    for path, (text, title, sections) in read.items():
        name = path.relative_to(folder)
        (out / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (out / "docs" / name).write_text(text, "utf-8")
        long = [section for section in sections if section.end - section.start >= LEAST_PASSAGE]
        passages[name.as_posix()] = [(section.start, section.end) for section in long]
        fit = [
            section
            for section in long
            if len(WORD.findall(section.title)) >= LEAST_WORDS
            and known[section.title.casefold()] == 1
            and section.title != title
        ]
        found += [
            Question(f"{title} {section.title}", name.as_posix(), section.start, section.end)
            for section in random.sample(fit, min(MOST_A_DOCUMENT, len(fit)))
        ]
    return sorted(random.sample(found, min(each, len(found))), key=lambda one: (one.path, one.start)), passages


if __name__ == "__main__":
    made, passages = questions(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[1], int(sys.argv[4]), int(sys.argv[5]))
    Path(sys.argv[3], "questions.json").write_text(json.dumps([made, passages]), "utf-8")
    about = {"questions": len(made), "documents": len(passages), "passages": sum(map(len, passages.values()))}
    print(json.dumps(about | {"examples": [one.query for one in made[:5]]}))
