"""docs/format.md, section 15: where a document is cut."""

from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from . import lines, markdown, plain, rst, texts, tokens

RULES = {"markdown": markdown, "rst": rst, "text": plain.TEXT, "code": plain.CODE}


@dataclass(frozen=True)
class Chunk:
    text: str
    start: int  # bytes of the source
    end: int
    first_line: int
    last_line: int
    headings: tuple
    level: int
    tokens: int


def cut(source, format_, min_tokens, max_tokens, max_bytes):
    """The chunks of a document's bytes."""
    return Document(source, format_, min_tokens, max_tokens, max_bytes).chunks()


def inside(places, start, end):
    return [place for place in places if start < place[0] < end]


class Document:
    def __init__(self, source, format_, min_tokens, max_tokens, max_bytes):
        rules = RULES[format_]
        self.units = texts.canonical(source)
        self.text = "".join(unit[0] for unit in self.units)
        body = texts.body_start(self.text) if format_ == "markdown" else 0  # 8.6
        self.lines, self.start, self.end = lines.lines_of(self.text, body)
        self.parts = lines.parts_of(self.lines, rules)
        self.places = lines.places_of(self.text, self.lines, self.parts, rules)
        solid = [
            at
            for at in range(self.start, self.end)
            if self.text[at] not in texts.WHITE and texts.is_boundary(self.text[at])
        ]
        self.kinds = [
            sorted(self.places.items()),  # 15.4
            [(at, -1) for at in solid if at and self.text[at - 1] in texts.WHITE],  # 15.5: starts of words
            [(at, -2) for at in solid],  # 15.5
        ]
        self.least, self.most, self.most_bytes = 32 * min_tokens, 32 * max_tokens, max_bytes
        self.weights = [0, *accumulate(tokens.weights(self.text))]
        self.bytes = [0, *accumulate(len(character.encode("utf-8")) for character in self.text)]
        self.body = self.text[: self.end].encode("utf-8")

    def chunks(self):
        if self.start == self.end:
            return []
        spans = self.cut(self.start, self.end, self.places[self.start])  # 15.3
        return [self.chunk(start, end, level) for start, end, level in spans]

    def weight(self, start, end):
        return self.weights[end] - self.weights[start]  # 10.4

    def size(self, start, end):
        return self.bytes[end] - self.bytes[start]

    def cut(self, start, end, level):
        """15.3: the chunks of a span, as (start, end, level). A list of spans in place of recursion: it may go deep."""
        chunks = []
        spans = [(start, end, level)]
        while spans:
            start, end, level = spans.pop()
            if self.weight(start, end) <= self.most and self.size(start, end) <= self.most_bytes:
                chunks.append((start, end, level))
                continue
            place = self.place(start, end)
            if place is None:
                chunks.extend(self.run(start, end, level))
                continue
            at, level_behind = place
            spans.append((at, end, level_behind))
            if self.stripped(start, at) > start:
                spans.append((start, self.stripped(start, at), level))
        return chunks

    def place(self, start, end):
        """Where a span is cut, and the level there."""
        for kind in self.kinds:  # 15.4, 15.5
            good = [place for place in inside(kind, start, end) if min(self.left(start, place[0], end)) >= self.least]
            if good:
                return max(good, key=lambda place: (place[1], self.hash(place[0]), -place[0]))
        for kind in self.kinds:  # 15.6
            candidates = inside(kind, start, end)
            if candidates:
                return max(candidates, key=lambda place: (min(self.left(start, place[0], end)), -place[0]))
        return None

    def stripped(self, start, end):
        while end > start and self.text[end - 1] in texts.WHITE:
            end -= 1
        return end

    def left(self, start, at, end):
        """15.4: what a place leaves on both sides."""
        return self.weight(start, self.stripped(start, at)), self.weight(at, end)

    @cache  # noqa: B019 -- a document does not live long
    def hash(self, at):
        """15.2: the upper 60 bits."""
        behind = self.body[self.bytes[at] : self.bytes[at] + 24].ljust(24, b"\0")
        whole = 2**64
        s = 0x9E3779B97F4A7C15
        for word in (behind[0:8], behind[8:16], behind[16:24]):
            s = ((s ^ int.from_bytes(word, "little")) * 0xD6E8FEB86659FD93) % whole
            s ^= s >> 32
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            s = ((s ^ (s >> 33)) * factor) % whole
        return (s ^ (s >> 33)) >> 4

    def run(self, start, end, level):
        """15.7"""
        if self.size(start, end) <= self.most_bytes:
            return [(start, end, level)]
        pieces = []
        while start < end:
            behind = start + 1
            while behind < end and self.size(start, behind + 1) <= self.most_bytes:
                behind += 1
            first, last = self.without_blank_lines(start, behind), self.stripped(start, behind)
            if first < last:
                pieces.append((first, last, level))
            start, level = behind, -2
        return pieces

    def without_blank_lines(self, start, end):
        for at in range(start, end):
            if self.text[at] == "\n":
                start = at + 1
            elif self.text[at] not in texts.WHITE:
                break
        return start

    def chunk(self, start, end, level):
        return Chunk(
            text=self.text[start:end],
            start=self.units[start][1],  # 8.7
            end=self.units[end][1] if end < len(self.units) else self.units[-1][2],  # 8.7
            first_line=1 + self.text.count("\n", 0, start),
            last_line=1 + self.text.count("\n", 0, end),
            headings=tuple(self.headings(start, end)),
            level=level,
            tokens=tokens.size(self.weight(start, end)),
        )

    def headings(self, start, end):
        """15.8"""
        chains = [chain for chain, _ in lines.chains_of(self.parts)]
        going = []
        for chain in chains:
            if self.position(chain[0]) <= start:
                inside = any(self.position(heading) > start for heading in chain)
                going.extend(heading for heading in chain if self.position(heading) < (end if inside else start + 1))
        force = []
        for heading in going:
            force = [other for other in force if other.rank < heading.rank] + [heading]
        return [heading.title for heading in force if heading.title]

    def position(self, heading):
        return self.lines[heading.first].start
