"""Sequences to compare, the same in every process: 32-byte identities out of a seeded generator."""

from random import Random

BOILERPLATE = 40


def edited(size: int, edits: int, repeats: float, seed: int) -> tuple[list[bytes], list[bytes]]:
    """A document of `size` chunks, a share of them boilerplate, before and after edits of four kinds."""
    random = Random(seed)
    boilerplate = [random.randbytes(32) for _ in range(BOILERPLATE)]
    old = [random.choice(boilerplate) if random.random() < repeats else random.randbytes(32) for _ in range(size)]
    new = list(old)
    for number in range(edits):
        at = random.randrange(len(new))
        match number % 4:
            case 0:
                new.insert(at, random.randbytes(32))
            case 1:
                del new[at]
            case 2:
                new[at] = random.randbytes(32)
            case _:
                block = new[at : at + random.randint(1, 5)]
                del new[at : at + len(block)]
                to = random.randrange(len(new))
                new[to:to] = block
    return old, new


def adversarial() -> dict[str, tuple[list[bytes], list[bytes]]]:
    """Inputs that are quadratic for an exact comparison."""
    random = Random(7)
    a, b = random.randbytes(32), random.randbytes(32)
    few = [random.randbytes(32) for _ in range(8)]
    unique = [random.randbytes(32) for _ in range(100_000)]
    return {
        "ab x 4,000 against ba x 4,000": ([a, b] * 4_000, [b, a] * 4_000),
        "ab x 50,000 against ba x 50,000": ([a, b] * 50_000, [b, a] * 50_000),
        "eight values at random, 100,000 each": (random.choices(few, k=100_000), random.choices(few, k=100_000)),
        "100,000 of one value, between other ends": ([few[0], *[a] * 100_000, few[1]], [few[2], *[a] * 99_000, few[3]]),
        "100,000 unique values, reversed": (unique, unique[::-1]),
        "100,000 unique values, shuffled": (unique, random.sample(unique, len(unique))),
    }
