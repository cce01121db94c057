"""Headings against markdown-it-py, and cuts inside a sentence as pysbd has them.

Usage: ours_headings.py FOLDER LANGUAGE MIN MAX. Markdown only.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cutting
import pysbd
import reading

from steadlith_core.chunking import arena, structure
from steadlith_core.records import Format
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise

EXAMPLES = 20

where, language, least, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
chunker = cutting.policy(least, most)
splitter = pysbd.Segmenter(language=language, clean=False, char_span=True)


def headings(content: bytes) -> set[tuple[int, int]]:
    """Ours: lines from 1, and levels. The only place that looks behind the chunker."""
    text = canonicalise(content)
    text = replace(text, body=frontmatter.read(text, Format.MARKDOWN, ()).end)
    packed = arena.pack([text])
    found = structure.read(packed, Format.MARKDOWN)
    shift = packed.origins[0] - packed.starts[0]
    starts = found.lines.start.tolist()
    return {
        (text.data.count(b"\n", 0, starts[heading.line] + shift) + 1, heading.rank)
        for heading in found.outline.headings
    }


def inside(body: str, paragraphs: Sequence[tuple[int, int]], start: int) -> tuple[bool, str]:
    """Whether a cut falls inside a paragraph, and if it is inside a sentence of it, what stands around it."""
    for first, end in paragraphs:
        if first < start < end:
            text, at = body[first:end].replace("\n", " "), start - first
            if any(span.start <= at and not text[span.start : at].strip() for span in splitter.segment(text)):
                return True, ""
            return True, f"{text[max(0, at - 60) : at]} | {text[at : at + 40]}"
    return False, ""


counts = {"documents": 0, "ours": 0, "theirs": 0, "both": 0, "cuts": 0, "in paragraphs": 0, "in sentences": 0}
disagreements, examples = [], []
for document in cutting.folder(chunker, where):
    if document.format is not Format.MARKDOWN:
        continue
    counts["documents"] += 1
    read = reading.markdown(document.body)
    ours = headings(Path(where, document.path).read_bytes())
    theirs = {(heading.line + document.front + 1, heading.level) for heading in read.headings}
    counts["ours"] += len(ours)
    counts["theirs"] += len(theirs)
    counts["both"] += len(ours & theirs)
    for who, only in (("ours", ours - theirs), ("markdown-it-py", theirs - ours)):
        disagreements += [f"{document.path}:{line}, level {level}: {who} only" for line, level in sorted(only)]
    for start in document.starts[1:]:
        counts["cuts"] += 1
        in_paragraph, around = inside(document.body, read.paragraphs, start)
        counts["in paragraphs"] += in_paragraph
        if around:
            counts["in sentences"] += 1
            examples.append(f"{document.path}: {around}")
shown = {"disagreements": disagreements[:EXAMPLES], "examples": examples[:EXAMPLES]}
print(json.dumps(counts | shown))
