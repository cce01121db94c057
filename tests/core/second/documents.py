"""Random documents made of every construct that docs/format.md names, right and slightly wrong."""

WORDS = [
    "a", "one", "Two", "word", "longer", "sentence", "snake_case", "x1", "2026", "v1.2", "HTTP", "e.g.", "U.S.", "-",
    "+",
]  # fmt: skip
UNUSUAL = [
    "\u6570\u636e\u5e93", "\u4e8b\u52a1\u3002\u4e0b\u4e00", "\u662f\uff01\u300d\u5426", "\uff1f\u300f\uff09",
    "\u3002\u3002", "\u304b\u3099", "\u30c6\u30b9\u30c8", "\u3002" + "\u300d" * 7 + "\u5426",
    "\u3002" + "\u300d" * 8 + "\u5426", "\uff01" + "\u300b\u300d\u300f\u3011\uff09\u2019\u201d\u300b\u300d",
    "\uff01" + "\u300b\u300d\u300f\u3011\uff09\u2019\u201d", "\u3002*", "\u3002)", '\u3002"', "e\u0301", "\u00e9",
    "A\u030a\u0323", "\u212b", "\u1112\u1161\u11ab", "\ud55c\uae00", "\u1100\u1161", "\u0301", "\u0301\u0301",
    "q\u0307\u0323", "\u0f43", "\u0f42\u0fb7", "\u0fb5", "\u0f71\u0f72", "\u0958", "\u0378", "e\u0378\u0301",
    "\U0001e08f\u0301", "\u0378 \u0301", "\u0378\n\u0301", "a\n\u0301b", "\U0001f600", "\U0001d15e", "\U0002f800",
    "\u2028", "\u0085", "\u00a0", "\u2003", "\u2000", "\ufeff", "\0", "\v", "\f", "\t", "\x1c", "\x1f",
    "\u0416\u0443\u043a", "\u05e9\u05dc", "\u0939\u093f", "\u1100", "\u1161", "\u11a8", "\uffff", "\u0345",
    "\u03b1\u0345",
]  # fmt: skip
RUNS = [
    "x" * 23, "x" * 24, "x" * 25, "Ab" * 20, "a1" * 30, "aGVsbG8gd29ybGQ" * 6, "9" * 40, "_" * 30, "." * 30,
    "ab-" * 20, "x" * 26 + "_" + "y" * 30, "\u0301" * 90, "\u0378" * 60, "e" + "\u0323\u0301" * 50, "\u1161" * 40,
    "\u4e00" * 40, "\U0001f600" * 15, " " * 70 + "x", "." + " " * 600 + "y", "?" + "\t" * 80 + "z",
    "a!" + "\v" * 9 + "b",
]  # fmt: skip
STOPS = [
    ".", "!", "?", "...", "?!", "\u3002", "\uff01", "\uff1f", ":", "::", ";", ",", "",
]  # fmt: skip
CLOSERS = [
    '"', "'", ")", "]", "}", "*", "_", "\u2019", "\u201d", "\u300b", "\u300d", "\u300f", "\u3011", "\uff09", "`",
]  # fmt: skip
INDENTATIONS = [
    "", "", "", "", "", "", " ", "  ", "   ", "    ", "     ", "\t", " \t", "\v", "\f ", "      ", "        ",
]  # fmt: skip
MARKERS = [
    "- ", "* ", "+ ", "-", "*", "-\t", "1. ", "1) ", "123456789. ", "1234567890. ", "1.", "12)\t", "(1) ", "(a) ",
    "a. ", "#. ", "#) ", "i) ", "\u2022 ", "\u2022", ":field: ", ":a b: ", ":: ", ":x:", ": ", "> ", ">", "(1.",
    "-\v", "1.x ", "- - ", "* 1. ", "\u0661. ", "\u00e9. ", "1. - ",
]  # fmt: skip
MARKDOWN = [
    "# One", "## Two", "### Three ###", "###### Six", "####### seven", "#", "##", "# #", "## Two \\##", "# a#",
    "# {#id}", "## Named {#id}", "## Named {: .c }", "# A {:  #b} ##", "# A ## {.x}", "# a {#b{}", "#\tTab\t#\t",
    "#\vx", "#x", "# \u3000x\u00a0", "# a{.b}", "# {.a} {.b}", "## # #", "# ##", "# a # ##", "# .{}", "# a \v#",
    "# a {:\v.b}", "===", "---", "=", "-", " ==", "   ---", "    ---", "\t---", "= =", "--- ---", "==-", "***", "--",
    "- -", "```", "````", "```python", "``` a`b", "~~~", "~~~~~", "~~~ a`b~", "``", "`````", "  ```", "\t```",
    "``````", "> ```", "- ```", "```\v", "\v```", "```  x", "<!-- note", "-->", "<!-- one line -->", "<!---->",
    "<!-->", "<!--->",
    "text -->", "<!-- a --> b", "<!--a", "x <!-- y", "<pre>", "</pre>", "<PRE>", "</PRE>", "<pre", "<pre/>",
    "<script src='x'>", "</script>", "<style>x</style>", "<textarea>", "</textarea>", "</Pre>", "<Pre>", "a</pre>",
    "<prex>", "<pre >x</pre >", "<div>", "</div>", "<DIV class='a'>", "<table>", "<tr><td>x</td></tr>", "</table>",
    "<h1>", "<h7>", "<span>", "<a>", "<p", "<p/", "<p>text", "<1>", "< p>", "<p\v>", "<details>",
    "<section>x. Y</section>", "<x1>", "</x", "<\u00e9>", "<br>", "<hr/>", "<\u212ain>", "<\u017fection>",
    "<lin\u212a>", "<d\u0131v>", "| a | b |", "|---|---|", "| 1 | 2 |", "a | b", "--|--", ":-: | -:", "|-", "-|", "|",
    "|:", "||", "x|y|z.", "| - |", "\t|--|", "\v|--|", "--- | \v", "- | -", "+ | b", "`a|b`", "> a|b", "# a|b",
    "<b>|", "1. |", "---|", "+++", "...", "+++ ", "key: value", "a = 1", "title: A", "- x", "# only", "\\# no",
]  # fmt: skip
RST = [
    "====", "===", "==", "=", "----", "---", "--", "-", "~~~~", "^^^^", "####", "****", "++++", "....", "::::", "::",
    ":::", '""""', "____", "``", "\\\\\\\\", "....::", "==== x", "=-=-", "\u2014\u2014\u2014\u2014", "...", "..",
    "....", "Title", "A", "An\u00e9", " Title", "A title that is long", "\u6807\u9898", "Title.", "Title::",
    "1. Number", "(a) Letter", "- item", ":f: x", "====\v", "e\u0301e\u0301e\u0301", "+--+--+", "+==+==+",
    "| a | b |", "+--+", "+-", "++", "+-+ x", "+=-+", "+ a", "|", "| x", "+-----+--", "+--+|", "+-=+--+", "+",
    "== ==", "=== ===", "a  b", "== == ==", "=  =", "= = =", "==  == ", "== x ==", "== \t==", "  == ==", "-- --",
    "   a  b", "Text::", "::", "- item::", "1. item::", "(a)  item::", ":f:\titem::", "\u2022 x::", ".. comment::",
    ".. x::", "a: :", "\u2022 \u00e9::", "-\tx::", "- ::", ":a: ::", "Ends::.", ":b c::", "  literal", "    deeper",
    "   three", "\tliteral", " \tmixed", "        eight", " one", "     five", "       seven.  X", "          ten",
    "\vx", " \v x", "  - x", "  - y::", ".. note::", ".. note:: text. More. Here", ".. code-block:: python",
    ".. code::", ".. image:: a.png", ".. |x| image:: a.png", ".. |x y| replace:: z. Z z", ".. CODE::",
    ".. Code-Block:: x", ".. c:function:: f", ".. a::b:: c", ".. figure::x", ".. figure:: x", ".. table::\ttext",
    "..  math::", "..\tmath::", ".. || math::", ".. |a|math::", ".. |a|b| math::", ".. 1x::", ".. -x::", ".. raw ::",
    ".. raw:: ::", ".. raw:::", ".. _t: x", ".. [1] x. Y", "..", ".. ", "..x", ".. comment. A comment. B", "..\tc",
    "... x", "   .. code::", "   .. note::", "\t.. code::", ".. \u212a::", ".. highli\u0262ht::",
    ".. te\u017ftcode::", ":field: value. More", ":f: x", ":a b: y", ":a:b: y", ":param x: It is. So", ":a:", ":a:b",
    "::a: x", ": a: x",
]  # fmt: skip
CODE = [
    "def f():", "class A:", "    return 1", "\treturn 2", "}", "{", "#include <x>", "  // note. And", "if (a) {",
    '"""Doc. More."""', "x = 1", "@decorator", "    ", "\vy", "end.",
]  # fmt: skip

FRONT_MATTER = [
    "title: A", "tags: [a, b]", "# comment", "key:", "  - x", "a: {b: 1}", "bad: [", "just text", "a = 1", 'b = "x"',
    "[c]", "", "...", "--- x", "when: 2026-99-99", "a: 1", "a: *x", "- item", "b: &x 1", "? x", "!!python/object:x y",
    "\tz: 1", "%TAG", "\u00e9: \x00", "null", "{}", "k: |", "    text", "'",
]  # fmt: skip


def document(random, format_):
    """Source bytes."""
    own = {"markdown": MARKDOWN, "rst": RST, "text": MARKDOWN[:30] + RST[:30], "code": CODE}[format_]
    exotic = random.choice([0.0, 0.0, 0.1, 0.4])
    blank = random.choice([0.05, 0.2, 0.5])
    special = random.choice([0.2, 0.5, 0.8, 1.0])
    lines = []
    for _ in range(random.randint(1, random.choice([4, 12, 30]))):
        if lines and random.random() < 0.15:
            line = random.choice(lines)  # borders, rules and fences that come back
        elif random.random() < special:
            line = random.choice(INDENTATIONS if random.random() < 0.2 else [""]) + random.choice(own)
            if random.random() < 0.2:
                line += random.choice([" ", ".", "::", "", "\t"]) + prose(random, exotic)
        else:
            line = random.choice(INDENTATIONS)
            line += random.choice(MARKERS) if random.random() < 0.3 else ""
            line += prose(random, exotic)
        if random.random() < 0.002:
            line += random.choice([" ", ""]) + random.choice(["x", "yz ", "\u4e00"]) * random.randint(300, 1100)
        lines.append(line)
        while random.random() < blank:
            lines.append(random.choice(["", "", "", "", " ", "\t", "\f"]))
    if random.random() < 0.1:
        lines = [*front_matter(random), *lines]
    end = random.choice(["\n", "\n", "\n", "\r\n", "\r", None])
    text = random.choice(["", "", "", "", "\ufeff", "\n", "\n \n", "  ", "\ufeff\ufeff"])
    for line in lines:
        text += line + random.choice(["", "", "", "", " ", "\t", "\v"]) + (end or random.choice(["\n", "\r\n", "\r"]))
    text = text if random.random() < 0.5 else text[: -random.randint(1, 3)]
    return text.encode("utf-8")


def prose(random, exotic):
    words = []
    for _ in range(random.randint(1, random.choice([2, 8, 20]))):
        word = random.choice(UNUSUAL) if random.random() < exotic else random.choice(WORDS)
        if random.random() < exotic / 4:
            word = "".join(random.choice(UNUSUAL) for _ in range(random.randint(2, 12)))
        if random.random() < 0.02:
            word = random.choice(RUNS)
        if random.random() < 0.25:
            word += random.choice(STOPS)
            if random.random() < 0.3:
                word += "".join(random.choice(CLOSERS) for _ in range(random.randint(1, 9)))
        words.append(word)
        words.append(random.choice([" ", " ", " ", " ", " ", "  ", "\t", "\v", "\u00a0", ""]))
    return "".join(words[:-1] if random.random() < 0.8 else words)


def front_matter(random):
    mark = random.choice(["---", "---", "---", "+++"])
    chosen = [random.choice(FRONT_MATTER) for _ in range(random.randint(0, 4))]
    return [mark, *chosen, random.choice([mark, mark, mark, "...", "---", "--- "])]
