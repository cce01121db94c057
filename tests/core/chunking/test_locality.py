"""The law of locality (docs/chunking.md): what both cut trees agree on, outside the edit, is the same chunks."""

import random
import re
from dataclasses import dataclass

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from steadlith_core.chunking.keys import WINDOW
from steadlith_core.chunking.structural import StructuralChunker
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise

CHUNKER = StructuralChunker(min_tokens=6, max_tokens=24)
WORDS = re.findall("[a-z]+", "index plan apply root chunk store vector a the of and to in is it that was for on are")

# No part of these reaches over a blank line, so an edit decides nothing beyond the parts next to it.
PARAGRAPHS = (
    lambda rng: f"{'#' * rng.randint(1, 4)} {rng.choice(WORDS)} {rng.randint(0, 99)}",
    lambda rng: " ".join(sentence(rng) for _ in range(rng.randint(1, 6))),
    lambda rng: "\n".join(f"- {sentence(rng)}" for _ in range(rng.randint(1, 6))),
    lambda rng: "\n".join(sentence(rng) for _ in range(rng.randint(1, 6))),
    lambda rng: "漢字。" * rng.randint(1, 20),
    lambda rng: "x" * rng.randint(1, 200),
)


def sentence(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 12))).capitalize() + "."


@dataclass
class Tree:
    """Chunks of a text as (start, end, height) in bytes, and the range of them that a node spans."""

    data: bytes
    chunks: list

    def root(self, low, high):
        """The first cut that was made in chunks [low, high): the index of the chunk it begins."""
        return min(range(low + 1, high), key=lambda index: self.chunks[index][2])

    def texts(self, low, high):
        return [self.data[start:end] for start, end, _ in self.chunks[low:high]]


def tree(text):
    data = text.encode()
    chunks, _ = CHUNKER.cut(canonicalise(data), Format.MARKDOWN)
    return Tree(data, [(chunk.span.start, chunk.span.end, chunk.height) for chunk in chunks])


def agree(old, new, start, end, shift):
    """Walk down both trees as long as they make the same cut outside [start, end) of the old text.

    Yields for each such cut the chunks on its far side, old and new. `shift` is how far the text behind moved.
    """
    low, high, new_low, new_high = 0, len(old.chunks), 0, len(new.chunks)
    while high - low > 1 and new_high - new_low > 1:
        cut, new_cut = old.root(low, high), new.root(new_low, new_high)
        place, new_place = old.chunks[cut][0], new.chunks[new_cut][0]
        if place == new_place and place + WINDOW <= start:
            yield old.texts(low, cut), new.texts(new_low, new_cut)
            low, new_low = cut, new_cut
        elif place + shift == new_place and place >= end:
            yield old.texts(cut, high), new.texts(new_cut, new_high)
            high, new_high = cut, new_cut
        else:
            return


@settings(deadline=None, max_examples=250)
@given(st.integers(0, 10**9), st.integers(4, 40), st.data())
def test_beyond_the_last_cut_that_both_trees_make_nothing_changes(seed, count, data):
    rng = random.Random(seed)
    parts = [rng.choice(PARAGRAPHS)(rng) for _ in range(count)]
    at = data.draw(st.integers(0, count - 1))
    how = data.draw(st.sampled_from(["insert", "delete", "replace", "word"]))
    new_part = rng.choice(PARAGRAPHS)(rng)
    edited = {
        "insert": [*parts[:at], new_part, *parts[at:]],
        "delete": [*parts[:at], *parts[at + 1 :]],
        "replace": [*parts[:at], new_part, *parts[at + 1 :]],
        "word": [*parts[:at], parts[at].replace("a", "another"), *parts[at + 1 :]],
    }[how]
    # Chains of headings, and a heading with what is below, hang together: the reach is a paragraph more on both sides,
    # and all headings next to those.
    first, last = max(0, at - 1), min(count, at + 2)
    while first and parts[first - 1].startswith("#"):
        first -= 1
    while last < count and parts[last - 1].startswith("#"):
        last += 1
    start = len("\n\n".join(parts[:first]).encode())
    end = len("\n\n".join(parts[:last]).encode()) + 2
    old, new = tree("\n\n".join(parts)), tree("\n\n".join(edited))
    assume(len(old.chunks) > 2)
    for before, after in agree(old, new, start, end, len(new.data) - len(old.data)):
        assert before == after


def test_in_ordinary_text_the_trees_agree_on_most_and_an_edit_costs_a_chunk_or_two():
    # The law says nothing about how far down two trees agree; that is chance, and counted here.
    rng = random.Random(3)
    apart, changed, total = [], [], []
    for _ in range(60):
        parts = [rng.choice(PARAGRAPHS[1:4])(rng) for _ in range(120)]
        at = rng.randrange(10, 110)
        old, new = tree("\n\n".join(parts)), tree("\n\n".join([*parts[:at], sentence(rng), *parts[at:]]))
        start = len("\n\n".join(parts[: at - 1]).encode())
        end = len("\n\n".join(parts[: at + 1]).encode())
        agreed = agree(old, new, start, end, len(new.data) - len(old.data))
        total.append(len(old.chunks))
        apart.append(len(old.chunks) - sum(len(before) for before, _ in agreed))
        changed.append(len(set(new.texts(0, len(new.chunks))) - set(old.texts(0, len(old.chunks)))))
    assert sum(apart) < sum(total) / 5
    assert sum(changed) / len(changed) < 2
