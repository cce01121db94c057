"""Fit the weights of the token estimate to a real tokeniser, and say how far off they are.

    python fit.py FOLDER            measure the weights that stand in tokens.py (and no others)
    python fit.py FOLDER --fit      fit weights first, print them and measure those
    python fit.py FOLDER --write    measure and write RESULTS.md and results.json beside this file

FOLDER is what `gather.py` made: `vocabularies/cl100k_base.tiktoken` and `corpora/GROUP/SOURCE/...`. Needed besides
Steadlith: numpy, scipy, tiktoken; tokenizers and sentencepiece for the further columns, which are left out without.

1. Pieces of 0.4 to 3 KB of canonical text, cut at line ends; a document is either fitted to or held out, by its name.
2. Least squares on estimate / real - 1 under bounds, each group with its own weight however many pieces it has.
3. Then whole numbers: rounded, and moved one at a time by one while that helps. Too low costs more than too high.
"""

import argparse
import base64
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

import numpy as np

from steadlith_core.errors import DocumentError
from steadlith_core.text import tokens
from steadlith_core.text.canonical import canonicalise

HERE = Path(__file__).parent
TARGET = "cl100k_base"
SMALLEST, LARGEST = 400, 3000
PER_DOCUMENT, PER_SOURCE = 12, 750_000
HELD_OUT = 0.3
TOO_LOW = 1.2
"""How much more an estimate that is too low costs in the fit than one that is too high."""

IMPORTANCE = {
    "english": 6.0, "python": 5.0, "chinese": 2.0, "japanese": 2.0, "korean": 0.5, "russian": 0.4, "javascript": 0.3,
    "german": 0.3, "french": 0.3, "greek": 0.2, "polish": 0.2, "vietnamese": 0.2, "tables": 0.2, "css": 0.1,
    "hindi": 0.1, "tamil": 0.1, "minified": 0.1, "base64": 0.1,
}  # fmt: skip
"""Groups that are fitted to, and how much each counts."""

BOUNDS = {
    "underscore": ((5, 255), (0, 255)), "latin mark": ((32, 48), (0, 0)), "semitic": ((32, 32), (0, 0)),
    "symbol": ((32, 48), (0, 0)), "kana": ((30, 40), (0, 0)), "mark": ((1, 255), (8, 255)),
}  # fmt: skip
"""Bounds of (each, start): what the corpora hold too little of must not pay for something else."""

PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}

KIND = np.frombuffer(tokens.KIND, dtype=np.uint8)
NAMES = list(tokens.WEIGHTS)
MULTI = [kind for kind, weight in enumerate(tokens.WEIGHTS.values()) if weight.first and weight.first[0] >= 0x80]


@dataclass(frozen=True)
class Piece:
    group: str
    source: str
    held_out: bool
    data: bytes


# ------------------------------------------------------------------------------------------------ corpora


def cut(data: bytes, rng: random.Random) -> list[bytes]:
    pieces, at = [], 0
    while len(data) - at >= SMALLEST:
        end = min(at + int(SMALLEST * (LARGEST / SMALLEST) ** rng.random()), len(data))
        if end < len(data):
            line_end = data.rfind(b"\n", at + SMALLEST, end)
            end = line_end + 1 if line_end > 0 else end
            while data[end] & 0xC0 == 0x80:
                end -= 1
        piece = data[at:end].strip(b"\n")
        if len(piece) >= SMALLEST:
            pieces.append(piece)
        at = end
    return pieces


def documents(corpora: Path) -> Iterator[Piece]:
    for source in sorted(corpora.glob("*/*")):
        group, rng, size = source.parent.name, random.Random(source.name), 0
        paths = sorted(path for path in source.rglob("*") if path.is_file())
        rng.shuffle(paths)
        for path in paths:
            name = path.relative_to(corpora).as_posix()
            held_out = hashlib.sha256(name.encode()).digest()[0] < 256 * HELD_OUT
            try:
                pieces = cut(canonicalise(path.read_bytes()).data, rng)
            except DocumentError:
                continue
            for piece in rng.sample(pieces, min(PER_DOCUMENT, len(pieces))):
                size += len(piece)
                yield Piece(group, source.name, held_out, piece)
            if size > PER_SOURCE:
                break


TABLE = re.compile(rb"(?:^[ ]*[|+][^\n]*\n){3,}", re.MULTILINE)


def tables(corpora: Path) -> Iterator[Piece]:
    """Markdown pipe tables and grid tables of all English documents, whatever was sampled of their prose."""
    for path in sorted(path for path in (corpora / "english").rglob("*") if path.is_file()):
        name = path.relative_to(corpora).as_posix()
        held_out = hashlib.sha256(name.encode()).digest()[0] < 256 * HELD_OUT
        for found in TABLE.findall(path.read_bytes())[:PER_DOCUMENT]:
            if len(found) >= 200:
                yield Piece("tables", path.relative_to(corpora).parts[1], held_out, found[:LARGEST].rsplit(b"\n", 1)[0])


def encoded() -> Iterator[Piece]:
    """Base64 of noise, in one line and in lines of 76 and 64: no document holds enough of it to be fitted to."""
    rng = random.Random(5)
    for number in range(100):
        blob = base64.b64encode(rng.randbytes(rng.randrange(400, 2000)))
        width = (len(blob), 76, 64)[number % 3]
        lines = b"\n".join(blob[at : at + width] for at in range(0, len(blob), width))
        yield Piece("base64", "noise", number < 100 * HELD_OUT, lines)


def extremes(pieces: list[Piece]) -> dict[str, bytes]:
    """Made texts that a weight by class is likely to misjudge."""
    rng = random.Random(3)
    words = [
        word for piece in pieces if piece.group == "english" for word in re.findall(rb"\b[a-z]{4,12}\b", piece.data)
    ]

    def some(letters: str, count: int = 3000) -> bytes:
        return "".join(rng.choices(letters, k=count)).encode()

    def lines(one: Callable[[], bytes]) -> bytes:
        return b"\n".join(one() for _ in range(40))

    def pick(count: int) -> list[bytes]:
        return rng.choices(words, k=count)

    return {
        "the letter a, 50,000 times": b"a" * 50_000,
        "random small letters": some(ascii_lowercase),
        "random capitals": some(ascii_uppercase),
        "random letters": some(ascii_letters),
        "random letters and digits": some(ascii_letters + digits),
        "random digits": some(digits),
        "base64, one line": base64.b64encode(rng.randbytes(3000)),
        "base64, lines of 76": base64.encodebytes(rng.randbytes(3000)),
        "hex, one line": rng.randbytes(1500).hex().encode(),
        "hex digests of 64": lines(lambda: rng.randbytes(32).hex().encode()),
        "hex digests of 40": lines(lambda: rng.randbytes(20).hex().encode()),
        "UUIDs": lines(lambda: re.sub(r"^(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", rng.randbytes(16).hex()).encode()),
        "300 words joined": b"".join(pick(300)),
        "8 words joined": lines(lambda: b"".join(pick(8))),
        "8 words joined, camel case": lines(lambda: b"".join(word.capitalize() for word in pick(8))),
        "3 words joined, camel case": lines(lambda: b"".join(word.capitalize() for word in pick(3))),
        "5 words joined by underscores": lines(lambda: b"_".join(pick(5))),
        "the same in capitals": lines(lambda: b"_".join(pick(5)).upper()),
        "URLs": lines(lambda: b"https://%s.example.com/%s/%s?q=%s" % tuple(pick(4))),
        "paths of 6 words": lines(lambda: b"/" + b"/".join(pick(6))),
        "rulers": (b"-" * 79 + b"\n" + b"=" * 79 + b"\n") * 5,
        "random emoji": "".join(chr(rng.randrange(0x1F600, 0x1F650)) for _ in range(500)).encode(),
        "random Han of the basic block": "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(500)).encode(),
        "Hebrew": "זהו משפט לדוגמה בעברית שנכתב כדי לבדוק כמה אסימונים יש בו.".encode(),
        "Arabic": "هذه جملة باللغة العربية كتبت لاختبار عدد الرموز.".encode(),
        "Thai": "นี่คือประโยคภาษาไทยสำหรับทดสอบจำนวนโทเค็น".encode(),
    }


# --------------------------------------------------------------------------------------------- tokenisers


Counter = Callable[[list[str]], list[int]]


def tiktoken_counter(path: Path, pattern: str, ranks: dict[bytes, int]) -> Counter:
    import tiktoken

    encoding = tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [len(found) for found in encoding.encode_ordinary_batch(texts)]


def counters(folder: Path) -> dict[str, Counter]:
    """Every tokeniser whose vocabulary and library are here; the others are named."""
    made: dict[str, Counter] = {}
    for name, pattern in PATTERNS.items():
        path = folder / f"{name}.tiktoken"
        if path.is_file():
            rows = (line.split() for line in path.read_bytes().splitlines() if line)
            made[name] = tiktoken_counter(path, pattern, {base64.b64decode(token): int(rank) for token, rank in rows})
    path = folder / "tekken.json"
    if path.is_file():
        held = json.loads(path.read_bytes())
        size = held["config"]["default_vocab_size"] - held["config"]["default_num_special_tokens"]
        ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in held["vocab"][:size]}
        made["tekken"] = tiktoken_counter(path, held["config"]["pattern"], ranks)
    for name in ("llama", "use"):
        path = folder / f"{name}.model"
        try:
            if path.is_file():
                import sentencepiece

                model = sentencepiece.SentencePieceProcessor(model_file=str(path))
                made[f"{name} (SentencePiece)"] = lambda texts, model=model: [len(ids) for ids in model.encode(texts)]
        except ImportError:
            break
    path = folder / "bert.json"
    try:
        if path.is_file():
            made["bert (WordPiece)"] = bert_counter(json.loads(path.read_bytes()))
    except ImportError:
        pass
    return made


def bert_counter(vocabulary: dict[str, int] | list[str]) -> Counter:
    from tokenizers import BertWordPieceTokenizer

    if isinstance(vocabulary, list):
        vocabulary = {token: index for index, token in enumerate(vocabulary)}
    model = BertWordPieceTokenizer(vocab=vocabulary, lowercase=True)
    return lambda texts: [len(found.ids) for found in model.encode_batch(texts, add_special_tokens=False)]


# ---------------------------------------------------------------------------------------------------- fit


def features(data: bytes) -> np.ndarray:
    """Code points by class, starts by class, and letters of rule 4, which count in neither."""
    kinds = KIND[np.frombuffer(data, dtype=np.uint8)]
    edges = np.flatnonzero(np.diff(kinds < tokens.WORDS, prepend=False, append=False))
    long = np.zeros(len(kinds), dtype=bool)
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        long[first + tokens.LONG_RUN : last] = True
    long &= kinds < tokens.LETTERS
    starts = np.append(True, kinds[1:] != kinds[:-1]) & ~long
    count = len(NAMES)
    each = np.bincount(kinds[~long], minlength=count)
    return np.concatenate([each, np.bincount(kinds[starts], minlength=count), [long.sum()]])


def bounds() -> tuple[np.ndarray, np.ndarray]:
    count = len(NAMES)
    low, high = np.zeros(2 * count), np.full(2 * count, 255.0)
    for name, pairs in BOUNDS.items():
        for column, (least, most) in zip((NAMES.index(name), count + NAMES.index(name)), pairs, strict=True):
            low[column], high[column] = least, most
    high[[count + kind for kind in MULTI]] = 0
    high[NAMES.index("continued")] = 0
    return low, high


def fit(matrix: np.ndarray, real: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Whole weights: each by class, start by class, the long letter as it stands in tokens.py."""
    from scipy.optimize import lsq_linear

    relative = matrix / (real * tokens.UNIT)[:, None]
    given = relative[:, -1] * tokens.LONG_LETTER
    low, high = bounds()
    root = np.sqrt(share)[:, None]
    # lsq_linear wants room between its bounds.
    solved = lsq_linear(relative[:, :-1] * root, (1 - given) * root[:, 0], (low, np.maximum(high, low + 1e-9)))
    weights = np.clip(np.rint(solved.x), low, high)

    def loss(ratio: np.ndarray) -> float:
        error = ratio - 1
        return float(share @ (error * error * np.where(error < 0, TOO_LOW, 1.0)))

    ratio = relative[:, :-1] @ weights + given
    best = loss(ratio)
    moved = True
    while moved:
        moved = False
        for column in range(len(weights)):
            for step in (-1.0, 1.0):
                while low[column] <= weights[column] + step <= high[column]:
                    tried = ratio + step * relative[:, column]
                    now = loss(tried)
                    if now >= best - 1e-12:
                        break
                    weights[column] += step
                    ratio, best, moved = tried, now, True
    return weights.astype(int)


def in_tokens() -> np.ndarray:
    rows = tokens.WEIGHTS.values()
    return np.array([weight.each for weight in rows] + [weight.start for weight in rows])


# ------------------------------------------------------------------------------------------------- report


@dataclass(frozen=True)
class Row:
    name: str
    pieces: int
    size: int
    mean: float
    deviation: float
    low: float
    high: float

    def markdown(self) -> str:
        return (
            f"| {self.name} | {self.pieces:,} | {self.size / 1024:,.0f} | {self.mean:.3f} | {self.deviation:.3f} "
            f"| {self.low:.2f} | {self.high:.2f} |"
        )


def row(name: str, sizes: np.ndarray, estimate: np.ndarray, real: np.ndarray) -> Row:
    ratio = estimate / real
    low, high = np.quantile(ratio, (0.01, 0.99))
    return Row(name, len(ratio), int(sizes.sum()), float(ratio.mean()), float(ratio.std()), float(low), float(high))


HEAD = "| {} | pieces | KiB | mean | deviation | 1 % | 99 % |\n|---|---:|---:|---:|---:|---:|---:|"


@dataclass(frozen=True)
class Measured:
    """One number per piece in every array; `real` by tokeniser."""

    pieces: list[Piece]
    groups: np.ndarray
    held: np.ndarray
    sizes: np.ndarray
    estimate: np.ndarray
    real: dict[str, np.ndarray]
    unseen: list[Row]

    def names(self) -> list[str]:
        named = [name for name in IMPORTANCE if (self.groups == name).any()]
        return named + sorted({*self.groups} - {*named})

    def held_out(self, name: str) -> np.ndarray:
        """The held-out pieces of a group; one that is never fitted to is held out whole."""
        return (self.groups == name) & (self.held | (name not in IMPORTANCE))

    def row(self, name: str, mask: np.ndarray) -> Row:
        return row(name, self.sizes[mask], self.estimate[mask], self.real[TARGET][mask])


@dataclass(frozen=True)
class MadeText:
    name: str
    size: int
    real: int
    estimate: int


def made_texts(texts: dict[str, bytes], weights: np.ndarray, counter: Counter) -> list[MadeText]:
    real = counter([data.decode() for data in texts.values()])
    return [
        MadeText(name, len(data), found, int(np.ceil(features(data) @ weights / tokens.UNIT)))
        for (name, data), found in zip(texts.items(), real, strict=True)
    ]


def measure_unseen(corpora: Path, weights: np.ndarray, counter: Counter) -> list[Row]:
    rows, pieces = [], list(documents(corpora))
    for group in sorted({piece.group for piece in pieces}):
        datas = [piece.data for piece in pieces if piece.group == group]
        guess = np.array([np.ceil(features(data) @ weights / tokens.UNIT) for data in datas])
        real = np.array(counter([data.decode() for data in datas]))
        rows.append(row(group, np.array([len(data) for data in datas]), guess, real))
    return rows


INTRODUCTION = """\
# How far the token estimate is off

Made by `fit.py --write` on {day}. Estimate / tokens of `{target}` over {count:,} pieces of {smallest} to
{largest:,} bytes of canonical text. Of each corpus {share:.0%} of the documents are held out, by name. Mean and
standard deviation of the ratio over pieces, and its quantiles. `gather.py` names packages and versions; besides them
came the documentation of fastapi (English, Japanese, Chinese), the PEPs, and modules of Python's standard library.

Classes, shares of the groups and the long run were chosen with the held-out errors in sight. The unseen documents
were measured once, afterwards.
"""


def report(measured: Measured, made: list[MadeText]) -> str:
    day = date.today()  # noqa: DTZ011
    count = len(measured.pieces)
    out = INTRODUCTION.format(
        day=day, target=TARGET, count=count, smallest=SMALLEST, largest=LARGEST, share=HELD_OUT
    ).splitlines()
    names = [name for name in measured.names() if measured.held_out(name).any()]
    if measured.unseen:
        out += ["", "## Unseen documents", "", HEAD.format("group"), *(one.markdown() for one in measured.unseen)]
    out += ["", "## Held-out documents", "", HEAD.format("group")]
    out += [measured.row(name, measured.held_out(name)).markdown() for name in names]
    out += ["", "## The documents fitted to", "", HEAD.format("group")]
    fitted = [(name, (measured.groups == name) & ~measured.held) for name in names if name in IMPORTANCE]
    out += [measured.row(name, mask).markdown() for name, mask in fitted]
    out += ["", "## Held-out documents by source", "", HEAD.format("source")]
    sources = np.array([f"{piece.group}: {piece.source}" for piece in measured.pieces])
    by_source = [(name, (sources == name) & measured.held) for name in sorted({*sources})]
    out += [measured.row(name, mask).markdown() for name, mask in by_source if mask.sum() >= 20]
    out += ["", "## Made texts", "", "| text | bytes | tokens | estimate | ratio |", "|---|---:|---:|---:|---:|"]
    out += [
        f"| {one.name} | {one.size:,} | {one.real:,} | {one.estimate:,} | {one.estimate / one.real:.2f} |"
        for one in made
    ]
    others = [name for name in measured.real if name != TARGET]
    out += ["", "## Other tokenisers, not fitted to", ""]
    out += [
        "Mean and deviation of the ratio on the same held-out documents: what a model with another vocabulary sees."
    ]
    out += ["", "| group | " + " | ".join(others) + " |", "|---|" + "---:|" * len(others)]
    for name in names:
        mask = measured.held_out(name)
        ratios = [measured.estimate[mask] / np.maximum(measured.real[other][mask], 1) for other in others]
        out.append(f"| {name} | " + " | ".join(f"{found.mean():.2f} ({found.std():.2f})" for found in ratios) + " |")
    return "\n".join(out) + "\n"


def as_json(measured: Measured, made: list[MadeText]) -> dict[str, object]:
    rows = (measured.row(name, measured.held_out(name)) for name in measured.names() if measured.held_out(name).any())
    return {
        "date": str(date.today()),  # noqa: DTZ011
        "estimator": tokens.ESTIMATOR_ID,
        "target": TARGET,
        "unit": tokens.UNIT,
        "weights": {name: [weight.each, weight.start] for name, weight in tokens.WEIGHTS.items()},
        "long": [tokens.LONG_RUN, tokens.LONG_LETTER],
        "unseen": {one.name: asdict(one) for one in measured.unseen},
        "held out": {one.name: asdict(one) for one in rows},
        "made": {one.name: round(one.estimate / one.real, 4) for one in made},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what gather.py made")
    parser.add_argument("--fit", action="store_true", help="fit weights, print them, measure those")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md and results.json beside this file")
    options = parser.parse_args()
    if options.fit and options.write:
        parser.error("--write reports the weights of tokens.py: put fitted weights there first")
    corpora, vocabularies = options.folder / "corpora", options.folder / "vocabularies"
    if not corpora.is_dir() or not (vocabularies / f"{TARGET}.tiktoken").is_file():
        print(f"skipped: {options.folder} holds no corpora or no {TARGET}.tiktoken; gather.py makes both")
        return
    try:
        count = counters(vocabularies)
    except ImportError as error:
        print(f"skipped: {error}; numpy, scipy and tiktoken are needed", file=sys.stderr)
        return

    pieces = [*documents(corpora), *tables(corpora), *encoded()]
    real = {name: np.array(counter([piece.data.decode() for piece in pieces])) for name, counter in count.items()}
    groups = np.array([piece.group for piece in pieces])
    held = np.array([piece.held_out for piece in pieces])
    sizes = np.array([len(piece.data) for piece in pieces])
    matrix = np.array([features(piece.data) for piece in pieces], dtype=float)

    weights = in_tokens()
    if options.fit:
        fitted = ~held & np.isin(groups, list(IMPORTANCE))
        number = {group: int((groups[fitted] == group).sum()) for group in IMPORTANCE}
        share = np.array([IMPORTANCE[group] / number[group] for group in groups[fitted]])
        weights = fit(matrix[fitted], real[TARGET][fitted].astype(float), share)
        for kind, name in enumerate(NAMES):
            print(f"{name:12} each {weights[kind]:3}  start {weights[len(NAMES) + kind]:3}")
    units = matrix @ np.append(weights, tokens.LONG_LETTER)
    if not options.fit:  # the features are a second statement of the rules: both must agree
        assert all(int(tokens.weigh(piece.data).sum()) == now for piece, now in zip(pieces, units, strict=True))
    estimate = np.ceil(units / tokens.UNIT)

    long = np.append(weights, tokens.LONG_LETTER)
    unseen = measure_unseen(options.folder / "unseen", long, count[TARGET])
    measured = Measured(pieces, groups, held, sizes, estimate, real, unseen)
    made = made_texts(extremes(pieces), long, count[TARGET])
    text = report(measured, made)
    print(text)
    if options.write:
        (HERE / "RESULTS.md").write_text(text, "utf-8")
        (HERE / "results.json").write_text(json.dumps(as_json(measured, made), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
