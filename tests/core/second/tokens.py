"""docs/format.md, section 10: the token estimate."""

# 10.3: the class, its first bytes, each, start
TABLE = """
lower       61-7A        3   11
upper       41-5A        5   10
digit       30-39        12  39
underscore  5F           6   1
space       09,0B-0D,20  0   7
feed        0A           0   44
continued   80-BF        0   0
latin-mark  C0-C2        48  0
latin       C3-C9        59  0
greek       CA-CF        32  0
cyrillic    D0-D3        14  0
semitic     D4-DF        32  0
indic       E0-E1        41  0
symbol      E2           41  0
kana        E3,EE-EF     31  0
han         E4-E9        33  0
hangul      EA-ED        34  0
astral      F0-FF        101 0
"""


def _classes():
    classes = [("mark", 2, 23)] * 256  # all others
    for line in TABLE.split("\n")[1:-1]:
        name, ranges, each, start = line.split()
        for entry in ranges.split(","):
            first, _, last = entry.partition("-")
            for byte in range(int(first, 16), int(last or first, 16) + 1):
                classes[byte] = (name, int(each), int(start))
    return classes


CLASSES = _classes()
WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
LETTERS = WORD - frozenset("0123456789")


def weights(text):
    """What each code point of a document's canonical text weighs, in 1/32 token."""
    result = []
    before = None  # the class of the byte before
    run = 0  # how many bytes of the word run stand before
    for character in text:
        name, each, start = CLASSES[character.encode("utf-8")[0]]
        if character in LETTERS and run >= 24:
            result.append(20)  # 10.2
        else:
            result.append(each if name == before else each + start)  # 10.1
        before = name if ord(character) < 0x80 else "continued"
        run = run + 1 if character in WORD else 0
    return result


def size(weight):
    return (weight + 31) // 32  # 10.4: rounded up
